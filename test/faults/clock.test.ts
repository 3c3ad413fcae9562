/** A client whose clock is set back or forward by hours. */
import { describe, expect, it } from "vitest";
import { type ClientError, ServiceError } from "../../src/client/index.js";
import { AT, fakeFetch, rejectionOf, testClient } from "../client/support.js";

const HOUR = 3_600_000;

describe("the client", () => {
  it("stamps each submit with the present, and names the clock where that is refused", async () => {
    let now = AT;
    const { fetch, requests } = fakeFetch(() => ({ status: 400, body: { code: 3, message: "timestamp too old" } }));
    const client = await testClient({ fetch, now: () => now });
    for (const hours of [0, -5, 7]) {
      now = new Date(AT.getTime() + hours * HOUR);
      const error = await rejectionOf<ClientError>(client.updateWallet({ walletId: "w" }));
      expect([error.effect, error.message]).toEqual(["none", expect.stringContaining("check this machine's clock")]);
    }
    expect(requests.map(({ body }) => Number(body["timestampMs"]) - AT.getTime())).toEqual([0, -5 * HOUR, 7 * HOUR]);
  });

  it.each([
    [-5, 0],
    [5, 5 * HOUR],
  ])("does not wait for hours, where Retry-After is a date and the clock is %i hours late", async (late, wanted) => {
    const waits: number[] = [];
    const { fetch } = fakeFetch(() => ({ status: 429, headers: { "retry-after": AT.toUTCString() }, body: {} }));
    const client = await testClient({ fetch, waits, now: () => new Date(AT.getTime() - late * HOUR), maxRetries: 1 });
    const error = await rejectionOf<ServiceError>(client.getLatestBootProof({ appName: "signer" }));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.retryAfterMs).toBe(wanted);
    expect(Math.max(0, ...waits)).toBeLessThanOrEqual(30_000);
  });
});
