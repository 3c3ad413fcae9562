/** A judge returns batches at any time; results are in order, and the number in flight is bounded. */
import { fc, runs } from "../support/property.js";
import { describe, expect, it } from "vitest";
import { numberOf, ownBatch, partOf } from "../../src/run/batch.js";
import {
  type AuditResult,
  type Batch,
  type Judge,
  type JudgedBatch,
  judgeBatch,
  localJudge,
  resultLine,
  runAudit,
} from "../../src/run/index.js";
import { UNJUDGED_REASON } from "../../src/run/judge.js";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function* batches(sizes: readonly number[], entryOf = (n: number): string => `${n}`): Generator<Batch> {
  let first = 1;
  for (const [index, size] of sizes.entries()) {
    const entries = Array.from({ length: size }, (_, at) => new TextEncoder().encode(entryOf(first + at)));
    yield { index, first, entries };
    first += size;
  }
}

async function* slowly<T>(items: Iterable<T>, wait: () => Promise<void>): AsyncGenerator<T> {
  for (const item of items) {
    await wait();
    yield item;
  }
}

const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick++) await new Promise((resolve) => setImmediate(resolve));
};

/** An entry "bad" is rejected. */
const resultOf = (n: number, entry: Uint8Array): AuditResult =>
  text(entry) === "bad"
    ? { n, verdict: "rejected", failed: ["boot.key"] as never, stale: true }
    : {
        n,
        verdict: "verified",
        failed: [],
        deployments: ["one"],
        documentTimes: [`2026-01-0${1 + (n % 9)}`, `2026-02-0${1 + (n % 9)}`],
      };

class FakeJudge implements Judge {
  readonly concurrency: number;
  readonly #delay: () => number;
  inFlight = 0;
  most = 0;
  asked = 0;

  constructor(concurrency: number, delay: () => number = () => 0) {
    this.concurrency = concurrency;
    this.#delay = delay;
  }

  async judge({ index, first, entries }: Batch): Promise<JudgedBatch> {
    this.asked++;
    this.most = Math.max(this.most, ++this.inFlight);
    await ticks(this.#delay());
    this.inFlight--;
    const milliseconds = index === 3 ? 50 : 1;
    return {
      index,
      results: entries.map((entry, at) => resultOf(first + at, entry)),
      slowest: { n: first, milliseconds },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe("an audit", () => {
  it("writes results in the order of the input, with few in flight", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 6 })),
        async (sizes, concurrency, delays) => {
          const next = (): number => delays.next().value as number;
          const judge = new FakeJudge(concurrency, next);
          const lines: string[] = [];
          let written = 0;
          let ahead = 0;
          const { end, summary } = await runAudit({
            source: slowly(batches(sizes), () => ticks(next())),
            judge,
            write: async ({ lines: text }) => {
              await ticks(next());
              lines.push(...text.split("\n").slice(0, -1));
              ahead = Math.max(ahead, judge.asked - written);
              written++;
            },
          });
          const count = sizes.reduce((sum, size) => sum + size, 0);
          expect(end).toBe("done");
          expect(lines).toEqual(
            Array.from({ length: count }, (_, at) => resultLine(resultOf(at + 1, new Uint8Array()))),
          );
          expect([summary.entries, summary.accepted, written]).toEqual([count, count, sizes.length]);
          expect(judge.most).toBeLessThanOrEqual(2 * concurrency);
          expect(ahead).toBeLessThanOrEqual(2 * concurrency + 1);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("counts all results, and continues earlier counts", async () => {
    const entryOf = (n: number): string => (n % 3 === 0 ? "bad" : "good");
    const first = await runAudit({
      source: slowly(batches([3, 3], entryOf), () => ticks(0)),
      judge: new FakeJudge(2),
      write: () => {},
    });
    expect(first.summary).toEqual({
      entries: 6,
      accepted: 4,
      verdicts: { verified: 4, authentic: 0, rejected: 2, malformed: 0 },
      stale: 2,
      withoutExpected: 0,
      failures: {},
      deployments: { one: 4 },
      oldest: "2026-01-02",
      newest: "2026-02-06",
    });
    const { summary, slowest } = await runAudit({
      source: slowly(batches([1, 1, 1, 1, 1], entryOf), () => ticks(0)),
      judge: new FakeJudge(2),
      write: () => {},
      summary: first.summary,
    });
    expect([summary.entries, summary.accepted, summary.deployments["one"]]).toEqual([11, 8, 8]);
    expect(slowest).toEqual({ n: 4, milliseconds: 50 });
  });

  it("writes only the lines of failures on request", async () => {
    const lines: string[] = [];
    await runAudit({
      source: slowly(
        batches([2, 2, 2], (n) => (n === 4 ? "bad" : "good")),
        () => ticks(0),
      ),
      judge: new FakeJudge(2),
      write: (part) => void lines.push(part.lines),
      onlyFailures: true,
    });
    expect(lines.map((part) => part.split("\n").length - 1)).toEqual([0, 1, 0]);
    expect(JSON.parse(lines[1]!)).toMatchObject({ n: 4, verdict: "rejected" });
  });

  it("ends with the first failure in the order of the input", async () => {
    for (let round = 0; round < 10; round++) {
      let written = "";
      const { end, summary } = await runAudit({
        source: slowly(
          batches([2, 2, 3, 2], (n) => (n >= 6 ? "bad" : "good")),
          () => ticks(0),
        ),
        judge: new FakeJudge(4, () => Math.floor(Math.random() * 8)),
        write: ({ lines }) => void (written += lines),
        failFast: true,
      });
      expect(end).toBe("failed");
      expect(summary.entries).toBe(6);
      expect(written.split("\n").map((line) => (line === "" ? 0 : (JSON.parse(line) as AuditResult).n))).toEqual([
        1, 2, 3, 4, 5, 6, 0,
      ]);
    }
  });

  it("writes results while the source waits, and can be interrupted then", async () => {
    const controller = new AbortController();
    const written: number[] = [];
    let reads = 0;
    const wait = (): Promise<void> => (++reads <= 2 ? ticks(1) : new Promise<void>(() => {}));
    const source = slowly(batches([1, 1, 1]), wait);
    const { end, summary } = await runAudit({
      source,
      judge: new FakeJudge(1),
      signal: controller.signal,
      write: ({ batch }) => {
        written.push(batch.first);
        if (written.length === 2) setTimeout(() => controller.abort(), 10);
      },
    });
    expect([end, summary.entries, written]).toEqual(["aborted", 2, [1, 2]]);
    const before = await runAudit({
      source: slowly(batches([1]), () => ticks(0)),
      judge: new FakeJudge(1),
      signal: AbortSignal.abort(),
      write: () => expect.unreachable(),
    });
    expect(before.end).toBe("aborted");
  });

  it("ends with an error of source, judge or writer, and refuses results for other entries", async () => {
    const run = { source: slowly(batches([1, 1]), () => ticks(0)), judge: new FakeJudge(1), write: (): void => {} };
    const failing = (message: string) => (): never => {
      throw new Error(message);
    };
    await expect(runAudit({ ...run, source: slowly(batches([1]), failing("source")) })).rejects.toThrow("source");
    await expect(runAudit({ ...run, write: failing("write") })).rejects.toThrow("write");
    const judges = (judge: (batch: Batch) => Promise<JudgedBatch>): Judge => Object.assign(new FakeJudge(1), { judge });
    const source = (): AsyncGenerator<Batch> => slowly(batches([2, 2]), () => ticks(0));
    const dead = judges(() => Promise.reject(new Error("judge")));
    await expect(runAudit({ ...run, source: source(), judge: dead })).rejects.toThrow("judge");
    for (const wrong of [
      { index: 0, results: [resultOf(1, new Uint8Array())] },
      { index: 0, results: [2, 1].map((n) => resultOf(n, new Uint8Array())) },
      { index: 1, results: [1, 2].map((n) => resultOf(n, new Uint8Array())) },
    ])
      await expect(runAudit({ ...run, source: source(), judge: judges(() => Promise.resolve(wrong)) })).rejects.toThrow(
        "the results of entries 1 to 2 are not theirs",
      );
  });
});

describe("a batch in this process", () => {
  it("tries an entry again after an error, and reports a second error", async () => {
    let [failures, attempts] = [0, 0];
    const auditor = {
      judge: (n: number, entry: Uint8Array): Promise<AuditResult> => {
        if (text(entry) === "bad") attempts++;
        if (text(entry) === "bad" || (text(entry) === "2" && failures++ === 0)) throw new Error("no matter");
        return Promise.resolve(resultOf(n, entry));
      },
    };
    const [batch] = batches([4], (n) => (n === 3 ? "bad" : `${n}`));
    let now = 0;
    const { results, slowest } = await judgeBatch(auditor, batch!, () => (now += now));
    expect(results.map(({ verdict }) => verdict)).toEqual(["verified", "verified", "malformed", "verified"]);
    expect(results[2]!.reason).toBe(UNJUDGED_REASON);
    expect(slowest).toEqual({ n: 1, milliseconds: 0 });
    expect(attempts).toBe(2);
  });

  it("says how long the slowest entry took", async () => {
    const [batch] = batches([1]);
    let now = 1000;
    const judge = (n: number, entry: Uint8Array): Promise<AuditResult> => {
      now += 30;
      return Promise.resolve(resultOf(n, entry));
    };
    expect((await judgeBatch({ judge }, batch!, () => now)).slowest).toEqual({ n: 1, milliseconds: 30 });
  });

  it("is judged by a setting", async () => {
    const judge = await localJudge({ policy: null, now: "2026-01-01T00:00:00.000Z", bootProofs: [] });
    const [one, two] = batches([2, 1], () => "{}");
    const judged = await Promise.all([judge.judge(one!), judge.judge(two!)]);
    expect(judged.map(({ index, results }) => [index, results.map(({ n, verdict }) => `${n} ${verdict}`)])).toEqual([
      [0, ["1 malformed", "2 malformed"]],
      [1, ["3 malformed"]],
    ]);
    await judge.close();
  });
});

describe("a batch with gaps", () => {
  const entries = [1, 2, 3].map((byte) => Uint8Array.of(byte));
  const gapped = { index: 0, first: 4, numbers: [4, 7, 9], entries };

  it("keeps the number of each entry in its parts and copies", () => {
    expect(partOf(gapped, 1, 3)).toEqual({ first: 5, numbers: [7, 9], entries: entries.slice(1) });
    expect(ownBatch(gapped)).toEqual(gapped);
    expect([5, 6].map((n) => numberOf(partOf(gapped, 1, 3), n))).toEqual([7, 9]);
    expect(numberOf({ first: 4 }, 6)).toBe(6);
  });

  it("has a number for each entry", () => {
    expect(() => ownBatch({ ...gapped, numbers: [4] })).toThrow(/^batch\.numbers: expected a number for each entry$/);
  });
});
