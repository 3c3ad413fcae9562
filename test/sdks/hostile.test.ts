/** A service that lies to a wrapped client: its answers are changed below the client's own request. */
import { TurnkeyClient } from "@turnkey/http";
import { ApiKeyStamper } from "@turnkey/core";
import { afterAll, describe, expect, it } from "vitest";
import { UnverifiedMethodError, reportOf, verified } from "../../src/adapters/index.js";
import { type ClientError } from "../../src/client/index.js";
import { startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TWO_ACCOUNTS } from "../lab/support.js";
import { type AnyClient, SDKS, type Sdk, inputOf, placeOf } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { ids, organizationId, policy } = lab;
const place = placeOf(lab);
const FAST = { policy, pollIntervalMs: 1, pollAttempts: 3 };
const RENAME = { walletId: ids.walletId, walletName: "renamed" };

interface Sent {
  readonly path: string;
  readonly body: Json;
  readonly more: readonly unknown[];
}
type Lie = (answer: Json, sent: Sent, index: number) => unknown;

/** A wrapped client whose service lies, and what was sent. */
function lied(sdk: Sdk, lie: Lie, client = sdk.client(place)): { readonly client: AnyClient; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const honest = client.request.bind(client) as (...args: unknown[]) => Promise<Json>;
  client.request = async (path: string, body: unknown, ...more: unknown[]): Promise<unknown> => {
    const one = { path, body: JSON.parse(JSON.stringify(body)) as Json, more };
    const index = sent.push(one) - 1;
    return lie(await honest(path, body, ...more), one, index);
  };
  return { client: verified(client, FAST), sent };
}

const isSubmit = ({ path }: Sent): boolean => path.includes("/submit/");
const call = (sdk: Sdk, client: AnyClient, method = "updateWallet", parameters: Json = RENAME): Promise<Json> =>
  client[method]!(inputOf(sdk, method, organizationId, parameters));

describe.each(SDKS)("$name", (sdk) => {
  it("requests app proofs where the SDK sends the flag", async () => {
    const { client, sent } = lied(sdk, (answer) => answer);
    const flagged = sdk.isFlat ? { ...RENAME, generateAppProofs: false } : RENAME;
    for (const parameters of [RENAME, flagged]) await call(sdk, client, "updateWallet", parameters);
    const flags = sent
      .filter(isSubmit)
      .map(({ body }) => [body["generateAppProofs"], body["parameters"].generateAppProofs as unknown]);
    const [beside, among, both] = [
      [true, undefined],
      [undefined, true],
      [true, true],
    ];
    const expected = { http: [beside, beside], "sdk-server": [among, among], core: [beside, both] };
    expect(flags).toEqual(expected[sdk.name]);
  });

  it("returns ordinary objects, and each verified value has its own report", async () => {
    const client = verified(sdk.client(place), FAST);
    const [one, other] = [await call(sdk, client, "createWallet", TWO_ACCOUNTS), await call(sdk, client)];
    for (const object of [one, one["activity"], one["activity"].result])
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(reportOf(one)).not.toBe(reportOf(other));
    expect([{ ...one }, null, "x", undefined].map(reportOf)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("says that evidence could not be fetched, and not to submit again", async () => {
    const { client } = lied(sdk, (answer, { path }) => {
      if (path.includes("boot_proof")) throw Object.assign(new Error("Turnkey error 7: no"), { code: 7 });
      return answer;
    });
    const error = await rejectionOf<ClientError>(call(sdk, client));
    expect([error.name, error.code]).toEqual(["ClientError", "evidence"]);
    expect(error.message).toMatch(/HTTP 403.*do not submit it again/s);
  });

  it("refuses a method that the client's class does not have", () => {
    const own = Object.assign(sdk.client(place), { own: async () => ({ activity: {} }) });
    expect(() => verified(own, FAST)["own"]!()).toThrow(UnverifiedMethodError);
  });

  it("stamps no submit before it refuses", async () => {
    const base = sdk.client(place) as AnyClient & Json;
    let stamps = 0;
    for (const name of ["stamper", "apiKeyStamper"])
      if (base[name] !== undefined) {
        const theirs = base[name] as { stamp: (body: string) => Promise<unknown> };
        base[name] = { stamp: (body: string) => (stamps++, theirs.stamp(body)) } as never;
      }
    const client = verified(base, FAST);
    await rejectionOf(client["stampUpdateWallet"]!(inputOf(sdk, "updateWallet", organizationId, RENAME)));
    expect(stamps).toBe(0);
    await client["stampGetUser"]!({ organizationId, userId: ids.userId });
    expect(stamps).toBe(1);
  });

  it("throws TypeError for other objects and options", () => {
    const client = sdk.client(place);
    for (const other of [null, {}, { request: 1 }, { request: async () => ({}) }])
      expect(() => verified(other as never, FAST)).toThrow(TypeError);
    for (const options of [{}, { policy: {} }, { ...FAST, more: 1 }, { ...FAST, evidence: {} }, { ...FAST, now: 1 }])
      expect(() => verified(client, options as never)).toThrow(TypeError);
  });
});

it("http without an organization says so before it sends", async () => {
  const { client, sent } = lied(SDKS[0]!, (answer) => answer);
  const input = inputOf(SDKS[0]!, "updateWallet", organizationId, RENAME);
  expect((await rejectionOf(client["updateWallet"]!({ ...input, organizationId: undefined }))).message).toMatch(
    /not sent: expected type, organizationId/,
  );
  expect(sent).toEqual([]);
  const stamper = new ApiKeyStamper({ apiPublicKey: lab.apiKey.publicKey, apiPrivateKey: lab.apiKey.privateKey });
  const own = verified(new TurnkeyClient({ baseUrl: lab.baseUrl }, stamper), FAST);
  const { activity } = await own.updateWallet(inputOf(SDKS[0]!, "updateWallet", organizationId, RENAME) as never);
  expect(activity.result.updateWalletResult?.walletId).toBe(ids.walletId);
});

it("core polls, and queries evidence, with the stamper of the call", async () => {
  const sdk = SDKS[2]!;
  const base = sdk.client(place) as AnyClient & Json;
  base["attestedStamper"] = base["apiKeyStamper"]!;
  base["apiKeyStamper"] = { stamp: () => Promise.reject(new Error("the other stamper")) } as never;
  const pending = ({ activity }: Json): Json => ({ activity: { ...activity, status: "ACTIVITY_STATUS_PENDING" } });
  const { client } = lied(sdk, (answer, _, index) => (index === 0 ? pending(answer) : answer), base);
  expect(reportOf(await client["updateWallet"]!({ organizationId, ...RENAME }, "attested"))?.verdict).toBe("verified");
});
