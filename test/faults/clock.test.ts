/** A clock that is set back or forward by hours, in the middle of whatever runs. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ClientError, ServiceError } from "../../src/client/index.js";
import { parsePolicy } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type WatchMessage, FetchError, localJudge, verifyRun, watch } from "../../src/run/index.js";
import { type RunEntry, type RunLine, type WatchResult, isResult } from "../../src/run/line.js";
import { queueJudge, runWorker } from "../../src/run/queue.js";
import { AT, fakeFetch, rejectionOf, testClient } from "../client/support.js";
import { streamOf, textOf } from "../run/lines.js";
import { entriesOf, resultsBy, resultsHere, settingOf } from "../run/queue-support.js";
import { NO_REDIS, redisServer } from "../support/redis.js";

const HOUR = 3_600_000;
afterEach(() => vi.useRealTimers());

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

const lab = new Forge();
const { bootProof, anchorPem } = forgeEvidence({ lab, at: AT });
const policy = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)], { maxAge: "3h" })));

/** Polls at these moments, in minutes from the boot. */
async function watched(
  minutes: readonly number[],
  newest: () => Promise<typeof bootProof>,
): Promise<{ lines: RunLine[]; messages: WatchMessage[] }> {
  const [lines, messages]: [RunLine[], WatchMessage[]] = [[], []];
  const ended = new AbortController();
  let poll = 0;
  await watch({
    policy,
    apps: [String(bootProof["enclaveApp"])],
    newest,
    now: () => new Date(AT.getTime() + minutes[poll]! * 60_000),
    sleep: async () => void (++poll === minutes.length && ended.abort()),
    random: () => 0,
    onEntry: (line) => lines.push(line as RunLine),
    onMessage: (message) => messages.push(message),
    signal: ended.signal,
  });
  return { lines, messages };
}

describe("the watch", () => {
  it("says by which check a boot proof is of another time, and that it is good again", async () => {
    const { lines } = await watched([1, 2, -300, 3, 600, 4], () => Promise.resolve(bootProof));
    const results = lines.map(({ entry }) => entry).filter((entry) => isResult(entry)) as RunEntry<WatchResult>[];
    expect(results.map(({ n, verdict, stale, failed }) => [n, verdict, stale, failed.length > 0])).toEqual([
      [1, "verified", undefined, false],
      [2, "rejected", undefined, true],
      [3, "verified", undefined, false],
      [4, "rejected", true, true],
      [5, "verified", undefined, false],
    ]);
    expect(results[1]!.details.map(({ detail }) => detail).join()).toMatch(/later than now/);
    expect(await verifyRun([streamOf(textOf(lines))])).toMatchObject({ intact: true, entries: 5 });
  });

  it("goes on saying that nothing is watched, where the clock was set back", async () => {
    const minutes = [0, 1, -300, -299, -298, 400];
    const refused = (): Promise<never> => Promise.reject(new FetchError("missing", "none"));
    const { messages } = await watched(minutes, refused);
    expect(
      messages.map((message) => [(message.at.getTime() - AT.getTime()) / 60_000, "again" in message && message.again]),
    ).toEqual([
      [0, false],
      [-300, true],
      [400, true],
    ]);
  });
});

describe.skipIf(NO_REDIS)("audit and worker, by a queue", () => {
  it("come to the same results, whatever the clock does meanwhile", async () => {
    const redis = await redisServer();
    vi.useFakeTimers({ toFake: ["Date"] });
    const ended = new AbortController();
    const [setting, entries, start] = [settingOf(), entriesOf(120), Date.now()];
    const steps = [-5, 7, -30 * 24, 0];
    let batches = 0;
    const judgeOf = async (...args: Parameters<typeof localJudge>): ReturnType<typeof localJudge> => {
      const judge = await localJudge(...args);
      return {
        ...judge,
        judge: async (batch) => {
          vi.setSystemTime(start + steps[batches++ % steps.length]! * HOUR);
          await new Promise((resolve) => setTimeout(resolve, 50));
          return judge.judge(batch);
        },
      };
    };
    try {
      const worker = runWorker(redis.url, setting, { workers: 1, signal: ended.signal, judgeOf });
      const results = await resultsBy(await queueJudge(redis.url, setting), entries);
      expect(results).toEqual(await resultsHere(setting, entries));
      ended.abort();
      expect((await worker).entries).toBe(entries.length);
    } finally {
      await redis.close();
    }
  });
});
