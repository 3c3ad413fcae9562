/** A watch of a service that lies, fails and recovers, by a clock of its own. */
import { afterAll, describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { verifyBootProof } from "../../src/bootproof.js";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { ServiceError } from "../../src/door/errors.js";
import { startLab } from "../../src/lab/index.js";
import { FetchError, type WatchOptions, askService, watch } from "../../src/run/index.js";
import { type Given, MemoryStore, SimulatedClock, START, type Seen, at } from "./watch-support.js";
import { watched as watching } from "./watch-support.js";

const clock = new SimulatedClock();
const lab = await startLab({ now: clock.now });
const policy = parsePolicy({ ...lab.policyFile, maxAge: "30m" });
const anyAge = parsePolicy(lab.policyFile);
afterAll(() => lab.close());
/** What the network makes of a request; undefined: it lets it through. */
type Interference = (() => Response) | undefined;

let interference: Interference;
const client = createClient({
  baseUrl: lab.baseUrl,
  organizationId: lab.organizationId,
  stamper: await apiKeyStamper(lab.apiKey),
  maxRetries: 0,
  now: clock.now,
  fetch: async (input, init) => interference?.() ?? fetch(input, init),
});

const lost: Interference = () => {
  throw new TypeError("fetch failed");
};
const answering =
  (status: number, body: string, headers: Record<string, string> = {}): Interference =>
  () =>
    new Response(body, { status, headers });

const signerEnclave = lab.enclaves.filter(({ app }) => app === "signer").at(-1)!.enclaveId;

const ask = askService(client);

/** A watch of a service that answers so, until the answers end. */
async function watched(
  answers: readonly ((app: string) => JsonValue | null)[],
  more: Given = {},
): Promise<Seen & { readonly summary: NonNullable<Seen["summary"]> }> {
  const polls = new Map<string, number>();
  const answer = (name: string): JsonValue | null => {
    const poll = polls.get(name) ?? 0;
    polls.set(name, poll + 1);
    return answers[Math.min(poll, answers.length - 1)]!(name);
  };
  const seen = await watching(answer, { apps: ["signer"], policy: anyAge, most: answers.length, ...more });
  if (seen.error !== null) throw seen.error;
  return seen as Seen & { readonly summary: NonNullable<Seen["summary"]> };
}

describe("a watch", () => {
  it("of many names sends four requests at once, also after the service demanded a pause", async () => {
    const apps = Array.from({ length: 40 }, (_, index) => `app ${index}`);
    let [running, most, isLimited] = [0, 0, true];
    const newest = async (): Promise<JsonValue> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (!isLimited) return { boot: 1 };
      isLimited = false;
      const facts = { status: 429, grpcCode: null, serviceMessage: null, details: [], category: null };
      throw new ServiceError({ ...facts, retryAfterMs: 60_000 }, { operation: "get_boot_proof" } as never);
    };
    const { summary } = await watched([], { apps, newest, once: true, most: Infinity, refusal: null });
    expect([summary.polls, most]).toEqual([40, 4]);
  });

  it("ends at once if the whole first poll is refused for its credentials", async () => {
    const refused = (): never => {
      throw new FetchError("credentials", "HTTP 401");
    };
    await expect(watched([refused, refused])).rejects.toThrow(FetchError);
    const half = (app: string): JsonValue => (app === "signer" ? { boot: 1 } : refused());
    expect((await watched([half, half], { apps: ["signer", "other"], most: 4 })).messages).toHaveLength(1);
  });

  it("treats a response that is too large as a failure", async () => {
    const { news, messages } = await watched([() => ({ a: "x".repeat(3 * 1024 * 1024) })]);
    expect(news).toEqual([]);
    const message = expect.stringContaining("bytes as JSON text, expected at most 2097152") as string;
    expect(messages).toMatchObject([{ event: "outage", kind: "answer", message }]);
  });

  it("records the verdict of the evidence in its line, also where a value cannot be read again", async () => {
    const whole = (await ask({ app: "signer" }, new AbortController().signal)) as JsonObject;
    const answers = [null, Infinity, NaN, -0].map((createdAt) => () => ({ ...whole, createdAt }) as JsonValue);
    const one = await watched([...answers, () => ({ ...whole, owner: "\ud800" })], { clock, most: 6, refusal: null });
    expect(one.news.map(({ failed }) => failed!.includes("boot.decode"))).toEqual([false, true]);
    expect(one.messages[0]).toMatchObject({ event: "outage", kind: "answer" });
    for (const { bootProofs, at: time, verdict } of one.news) {
      const { report } = await verifyBootProof(bootProofs![0], { policy: anyAge, now: new Date(time) });
      expect(report.verdict).toBe(verdict);
    }
  });

  it("compares the boot proof of a key with that key", async () => {
    const [first, second] = lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    const asked = { apps: [], ephemeralKeys: [first!.toUpperCase()], once: true, clock };
    const right = await watched([() => null], { ...asked, newest: ask });
    expect(right.news).toMatchObject([{ verdict: "verified", ephemeralKey: first }]);
    const wrong = await watched([() => null], {
      ...asked,
      newest: (_, signal) => ask({ ephemeralKey: second! }, signal),
    });
    expect(wrong.news.map(({ failed }) => failed)).toEqual([["bind.key"]]);
  });

  it("distinguishes an unknown organization from an application without a boot proof", async () => {
    const nobody = () => ask({ app: "nobody" }, new AbortController().signal);
    await expect(nobody()).resolves.toBe(null);
    interference = answering(404, '{"code":5,"details":[{"turnkeyErrorCode":"ORGANIZATION_NOT_FOUND"}]}');
    await expect(nobody()).rejects.toMatchObject({ name: "FetchError", kind: "credentials" });
    interference = undefined;
  });

  it("reports why a refusal was not delivered, for any thrown value", async () => {
    const refusal = (): never => {
      throw "no address" as unknown as Error;
    };
    const { messages } = await watched([() => ({ boot: 1 })], { once: true, most: Infinity, refusal });
    expect(messages.map((message) => "message" in message && message.message)).toEqual(["no address", "no address"]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["nothing", { apps: [] }, /options\.apps, options\.ephemeralKeys: expected at least one/],
    ["the same twice", { apps: ["a", "a"] }, /expected no name twice/],
    ["no key", { ephemeralKeys: ["04"] }, /hex digits, expected 260/],
    ["no policy", { policy: undefined }, /options\.policy is required/],
    ["another option", { interval: 1 }, /options\.interval: unknown/],
    ["a listener that is none", { onEntry: 7 }, /options\.onEntry: /],
    ["a log that is none", { log: {} }, /options\.log: expected a RunLog/],
    ["no interval", { intervalMs: 10 }, /expected a whole number of 1000 to 86400000/],
    ["more than a timer has", { intervalMs: 2 ** 31 }, /expected a whole number of 1000 to 86400000/],
    ["outages of fewer than no poll", { outageAfter: -1 }, /outageAfter: expected a whole number of 0 to 1000000/],
    ["too many messages", { outageRepeatMs: 1000 }, /outageRepeatMs: expected a whole number of 60000 to 604800000/],
    ["an interval of silence", { maxSilenceMs: 60_000 }, /maxSilenceMs: expected 60001 to 604800000/],
  ])("refuses %s", async (_, more, message) => {
    const options = { apps: ["a"], policy, newest: async () => null, ...new SimulatedClock(), ...more };
    await expect(watch(options as unknown as WatchOptions)).rejects.toThrow(message);
  });
});

it("with strict acceptance records and announces a boot proof with a warning as a refusal", async () => {
  // The lab's root is not AWS's.
  const store = new MemoryStore();
  const run = (acceptance: "standard" | "strict"): ReturnType<typeof watched> =>
    watched([() => null], { newest: ask, log: store.opened(), once: true, most: Infinity, acceptance, clock });
  // With the sign of life that is due.
  expect((await run("standard")).summary).toMatchObject({ recorded: 2, refused: [] });
  const strict = await run("strict");
  expect(strict.summary).toMatchObject({ recorded: 2, refused: [{ app: "signer" }], waiting: [] });
  expect(strict.refusals).toMatchObject([{ n: 3, verdict: "verified", failed: [] }]);
  expect((strict.refusals[0]!["refusedFor"] as string[]).join()).toContain("not to AWS");
  // Read from the file, it is still a refusal, and no news.
  expect((await run("strict")).summary).toMatchObject({ recorded: 0, refused: [{ app: "signer" }] });
  expect((await run("standard")).summary).toMatchObject({ recorded: 1, refused: [] });
});

it("reports each poll: failures, refusals, and the time of the newest verified document", async () => {
  const before = [(): unknown => (interference = lost), (): unknown => (interference = undefined)];
  before.push(() => lab.setFault("altered-document"));
  lab.restartEnclave(signerEnclave);
  const startedAt = clock.now();
  const newest: WatchOptions["newest"] = (one, signal) => {
    before.shift()?.();
    return ask(one, signal);
  };
  const { polls } = await watched([() => null], { newest, clock, most: 3, refusal: null });
  lab.setFault(null);
  const { evidenceAt } = polls[1]!;
  expect(polls.map((one) => [one.failure?.kind, one.isRefused, one.refusals, one.evidenceAt])).toEqual([
    // Before its first verdict, nothing is known of a name.
    ["unreachable", null, 0, null],
    [undefined, false, 0, evidenceAt],
    // The time in a rejected document is its maker's.
    [undefined, true, 1, evidenceAt],
  ]);
  expect(Math.abs(evidenceAt!.getTime() - startedAt.getTime())).toBeLessThanOrEqual(60_000);
  expect(polls.map(({ polls: count, recorded }) => [count, recorded])).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
  expect(polls.map((one) => one.watched)).toEqual(polls.map(() => ({ app: "signer" })));
});

it("reports the status at the start, and when it changes", async () => {
  const refusal = (): never => {
    throw new Error("HTTP 500");
  };
  const { statuses } = await watching(() => ({ boot: 1 }), { most: 5, refusal });
  const { policyDigest } = statuses[0]!;
  expect(policyDigest).toMatch(/^[0-9a-f]{64}$/);
  const unsigned = { policyExpiresAt: null, isFeedContradicted: false };
  const status = { settingRefusedSince: null, settingReadAt: START, policyDigest, ...unsigned };
  expect(statuses).toEqual([
    { ...status, undelivered: { count: 0, oldest: null } },
    { ...status, undelivered: { count: 1, oldest: new Date(at(0)) } },
  ]);
});
