/** Threads that end: by process.exit, out of memory, by an uncaught error. Needs `npm run build`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { localJudge } from "../../src/run/index.js";
import type { Batch } from "../../src/run/judge.js";
import { TOO_SLOW, UNJUDGED } from "../../src/run/judge.js";
import { threadJudge } from "../../src/run/node.js";
import { testFolder } from "../support/folder.js";
import { vector } from "../cli/support.js";

const folder = testFolder();
const setting = { policy: null, now: "2025-09-17T21:00:00.000Z", bootProofs: [] };

/** Verifies nothing; does what an entry says. */
const module = pathToFileURL(join(folder, "thread.mjs")).href;
writeFileSync(
  new URL(module),
  `import { existsSync, writeFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
let judged = 0;
const answerTo = async ({ bytes, ends, expected, marks }) => {
  const results = [];
  const entries = ends.map((end, at) => Buffer.from(bytes.subarray(at === 0 ? 0 : ends[at - 1], end)).toString());
  // A thread that has not begun, however long it takes.
  if (entries[0] === "slow start") await new Promise((resolve) => setTimeout(resolve, 1500));
  marks[ends.length] = 1;
  // As four at once are.
  if (entries.includes("never")) marks.fill(1, 0, 4);
  for (const [at, end] of ends.entries()) {
    judged++;
    marks[at] = 1;
    const entry = Buffer.from(bytes.subarray(at === 0 ? 0 : ends[at - 1], end)).toString();
    if (entry === "exit") process.exit(0);
    if (entry === "once" && !existsSync(${JSON.stringify(join(folder, "once"))})) {
      writeFileSync(${JSON.stringify(join(folder, "once"))}, "");
      process.exit(1);
    }
    if (entry === "memory") { const all = []; for (;;) all.push(new Array(100000).fill({}).map(() => ({}))); }
    if (entry === "error") {
      setImmediate(() => { throw new Error("nobody caught it"); });
      await new Promise(() => {});
    }
    if (entry === "hang") for (;;);
    if (entry === "never") await new Promise(() => {});
    if (entry === "wait") await new Promise((resolve) => setTimeout(resolve, 250));
    if (entry === "reject") throw new Error("the setting is none");
    const reason = entry === "count" ? String(judged) : expected?.[at];
    results.push({ verdict: "verified", failed: [], warnings: [], ...(reason && { reason }) });
    marks[at] = 2;
  }
  return { results: { forms: results, order: [...results.keys()] } };
};
parentPort.on("message", async (batch) =>
  parentPort.postMessage(await answerTo(batch).catch((error) => ({ error }))));
`,
);

const batch = (...entries: readonly string[]): Batch => ({ entries: entries.map((entry) => Buffer.from(entry)) });

describe("threads", () => {
  it("return the same results as this process", async () => {
    const boot = readFileSync(vector("boot-proofs/bootproof-1.json"), "utf8");
    const batches = [batch(boot, "", "{}"), batch(boot.replace('"', "'")), batch(boot)];
    const threads = threadJudge(setting, { threads: 2 });
    const here = await localJudge(setting);
    const judged = await Promise.all(batches.map((each) => threads.judge(each)));
    for (const [index, { results, slowest }] of judged.entries()) {
      expect(results).toEqual((await here.judge(batches[index]!)).results);
      expect(slowest!.milliseconds).toBeGreaterThanOrEqual(0);
    }
    expect(judged[0]!.results[0]!.verdict).toBe("authentic");
    // What was handed over is still there for who reads on.
    expect(Buffer.from(batches[2]!.entries[0]!).toString()).toBe(boot);
    await threads.close();
  });

  it.each(["exit", "memory", "error"])("find the entry that ends them (%s), and continue", async (poison) => {
    const judge = threadJudge(setting, { threads: 2, module, maxHeapMiB: 32 });
    const entries = Array.from({ length: 9 }, (_, at) => (at === 5 ? poison : "good"));
    const others = [batch("good", "good"), batch(poison), batch("good")];
    const judged = await Promise.all([batch(...entries), ...others].map((each) => judge.judge(each)));
    const results = judged.flatMap((each) => each.results);
    expect(results).toHaveLength(13);
    for (const [at, result] of results.entries())
      if (at === 5 || at === 11) expect(result).toEqual(UNJUDGED);
      else expect(result.verdict).toBe("verified");
    await judge.close();
  });

  it.each(["hang", "never"])("stop the entry that takes too long (%s), and continue", async (poison) => {
    const judge = threadJudge(setting, { threads: 2, module, entryTimeoutMs: 400 });
    const entries = Array.from({ length: 9 }, (_, at) => (at === 3 ? poison : "good"));
    const start = performance.now();
    const batches = [batch(...entries), batch("good"), batch(poison)];
    const judged = await Promise.all(batches.map((each) => judge.judge(each)));
    const results = judged.flatMap((each) => each.results);
    expect(results).toHaveLength(11);
    for (const [at, result] of results.entries())
      if (at === 3 || at === 10) expect(result).toEqual(TOO_SLOW);
      else expect(result.verdict).toBe("verified");
    expect(judged.map(({ slowest }) => slowest)).toEqual([
      { at: 3, milliseconds: 400 },
      undefined,
      { at: 0, milliseconds: 400 },
    ]);
    // Three times for the first: with the others, and twice alone.
    expect(performance.now() - start).toBeGreaterThan(1200);
    await judge.close();
  });

  it("limit each entry, not the batch, and do not count the start of a thread", async () => {
    const judge = threadJudge(setting, { threads: 1, module, entryTimeoutMs: 1000 });
    const entries = ["slow start", ...Array.from({ length: 6 }, () => "wait")];
    const { results } = await judge.judge(batch(...entries));
    expect(results.map(({ verdict }) => verdict)).toEqual(entries.map(() => "verified"));
    // Still the same thread.
    const [again] = (await judge.judge(batch("count"))).results;
    expect(again!.reason).toBe("8");
    await judge.close();
  });

  it("have a limit that is a time", () => {
    for (const entryTimeoutMs of [0, -1, NaN, Infinity])
      expect(() => threadJudge(setting, { entryTimeoutMs })).toThrow(
        /^options\.entryTimeoutMs: expected a whole number of 1 or more/,
      );
  });

  it("mark what they judge: a limit far below an entry's time leaves it unjudged", async () => {
    const boot = readFileSync(vector("boot-proofs/bootproof-1.json"), "utf8");
    const large = Buffer.from(`[${Array.from({ length: 200 }, () => boot).join(",")}]`);
    const judge = threadJudge(setting, { threads: 1, entryTimeoutMs: 1 });
    const { results } = await judge.judge({ entries: [large, Buffer.from("{}")] });
    expect(results.map(({ reason }) => reason)).toEqual([TOO_SLOW.reason, expect.stringMatching(/empty JSON object/)]);
    await judge.close();
  });

  it("have the expectation of each entry, in parts of a batch too", async () => {
    const judge = threadJudge(setting, { threads: 2, module });
    const entries = Array.from({ length: 7 }, (_, at) => (at === 3 ? "exit" : "good"));
    const expected = entries.map((_, at) => (at === 5 ? null : `of ${at + 1}`));
    const { results } = await judge.judge({ ...batch(...entries), expected });
    const reasons = [1, 2, 3, UNJUDGED.reason, 5, undefined, 7];
    expect(results.map(({ reason }) => reason)).toEqual(
      reasons.map((of) => (typeof of === "number" ? `of ${of}` : of)),
    );
    await judge.close();
    const both = { ...batch("", ""), expected: ["{}", '{"organizationId":"o"}'] };
    const real = threadJudge(setting, { threads: 1 });
    const here = await localJudge(setting);
    expect((await real.judge(both)).results).toEqual((await here.judge(both)).results);
    await real.close();
  });

  it("try an entry again, alone", async () => {
    const judge = threadJudge(setting, { threads: 1, module });
    const { results } = await judge.judge(batch("once"));
    expect(results).toEqual([{ verdict: "verified", failed: [], warnings: [] }]);
    await judge.close();
  });

  it("make no verdict of errors that are not about an entry", async () => {
    const judge = threadJudge(setting, { threads: 1, module });
    await expect(judge.judge(batch("good", "reject"))).rejects.toThrow("the setting is none");
    await judge.close();
    const none = threadJudge(setting, { threads: 2, module: "file:///no/such/module.mjs" });
    await expect(none.judge(batch("good"))).rejects.toThrow(/no thread can be started/);
    await none.close();
  });

  it("end at once when they are closed", async () => {
    const judge = threadJudge(setting, { threads: 1, module });
    const judged = [judge.judge(batch("memory")), judge.judge(batch("good"))];
    const all = Promise.allSettled(judged);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await judge.close();
    expect((await all).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});
