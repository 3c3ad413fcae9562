/** A judge returns batches at any time; results are in order, and the number in flight is bounded. */
import { describe, expect, it } from "vitest";
import { type EntryResult, type Judge, judgeBatch, localJudge } from "../../src/run/index.js";
import type { Batch, JudgedBatch } from "../../src/run/judge.js";
import { UNJUDGED, joined, ownBatch, partOf } from "../../src/run/judge.js";
import { Pipeline } from "../../src/run/pipeline.js";
import { fc, runs } from "../support/property.js";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const GOOD: EntryResult = { verdict: "verified", failed: [], warnings: [] };

function* batches(sizes: readonly number[]): Generator<Batch> {
  let first = 1;
  for (const size of sizes) {
    yield { entries: Array.from({ length: size }, (_, at) => new TextEncoder().encode(`${first + at}`)) };
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

class FakeJudge implements Judge {
  readonly concurrency: number;
  readonly #delay: () => number;
  inFlight = 0;
  most = 0;
  asked = 0;

  constructor(concurrency: number, delay: () => number = () => 0) {
    [this.concurrency, this.#delay] = [concurrency, delay];
  }

  async judge({ entries }: Batch): Promise<JudgedBatch> {
    this.asked++;
    this.most = Math.max(this.most, ++this.inFlight);
    await ticks(this.#delay());
    this.inFlight--;
    return { results: entries.map((entry) => ({ ...GOOD, reason: text(entry) })) };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const NO_JUDGE = (): Promise<Judge> => Promise.reject(new Error("no judge"));

describe("a pipeline", () => {
  it("yields batches in the order of the source, with few in flight", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 6 })),
        async (sizes, concurrency, delays) => {
          const next = (): number => delays.next().value as number;
          const judge = new FakeJudge(concurrency, next);
          const pipeline = new Pipeline(
            slowly(batches(sizes), () => ticks(next())),
            () => Promise.resolve(judge),
          );
          const found: string[] = [];
          let [taken, ahead] = [0, 0];
          for (let one = await pipeline.next(); one !== null; one = await pipeline.next()) {
            found.push(...one.judged.results.map(({ reason }) => reason!));
            if (one.batch.entries.length > 0) ahead = Math.max(ahead, judge.asked - ++taken);
            await ticks(next());
          }
          const count = sizes.reduce((sum, size) => sum + size, 0);
          expect(found).toEqual(Array.from({ length: count }, (_, at) => `${at + 1}`));
          expect(judge.most).toBeLessThanOrEqual(2 * concurrency);
          expect(ahead).toBeLessThanOrEqual(2 * concurrency);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("yields results while the source waits, and is left then", async () => {
    let reads = 0;
    const wait = (): Promise<void> => (++reads <= 2 ? ticks(1) : new Promise<void>(() => {}));
    const pipeline = new Pipeline(slowly(batches([1, 1, 1]), wait), () => Promise.resolve(new FakeJudge(1)));
    for (const reason of ["1", "2"]) expect((await pipeline.next())!.judged.results).toEqual([{ ...GOOD, reason }]);
    const next = pipeline.next();
    await pipeline.close();
    expect(await Promise.race([next, ticks(3)])).toBe(undefined);
  });

  it("rejects with an error of source or judge, and refuses other results than the entries have", async () => {
    const failing = (): Promise<never> => Promise.reject(new Error("source"));
    await expect(new Pipeline(slowly(batches([1]), failing), NO_JUDGE).next()).rejects.toThrow("source");
    const judging = (judge: Judge["judge"]): Promise<unknown> =>
      new Pipeline(
        slowly(batches([2]), () => ticks(0)),
        () => Promise.resolve(Object.assign(new FakeJudge(1), { judge })),
      ).next();
    await expect(judging(() => Promise.reject(new Error("judge")))).rejects.toThrow("judge");
    await expect(
      new Pipeline(
        slowly(batches([1]), () => ticks(0)),
        NO_JUDGE,
      ).next(),
    ).rejects.toThrow("no judge");
    for (const results of [[], [GOOD], [GOOD, GOOD, GOOD]])
      await expect(judging(() => Promise.resolve({ results }))).rejects.toThrow(
        `${results.length} results of 2 entries`,
      );
  });
});

describe("a batch in this process", () => {
  const [batch] = batches([4]);

  it("tries an entry again after an error, and reports a second error", async () => {
    let [failures, attempts] = [0, 0];
    const judge = (entry: Uint8Array): Promise<EntryResult> => {
      if (text(entry) === "3") attempts++;
      if (text(entry) === "3" || (text(entry) === "2" && failures++ === 0)) throw new Error("no matter");
      return Promise.resolve(GOOD);
    };
    const marks: string[] = [];
    const { results } = await judgeBatch({ judge }, batch!, undefined, (at, isDone) => marks.push(`${at} ${isDone}`));
    expect(results).toEqual([GOOD, GOOD, UNJUDGED, GOOD]);
    expect(attempts).toBe(2);
    expect(marks.sort()).toEqual([0, 1, 2, 3].flatMap((at) => [`${at} false`, `${at} true`]));
  });

  it("says how long the slowest entry took", async () => {
    let now = 1000;
    const judge = (entry: Uint8Array): Promise<EntryResult> => {
      if (text(entry) === "1") now += 30;
      return Promise.resolve(GOOD);
    };
    expect((await judgeBatch({ judge }, partOf(batch!, 0, 1), () => now)).slowest).toEqual({ at: 0, milliseconds: 30 });
    const parts = [
      { results: [GOOD], slowest: { at: 0, milliseconds: 1 } },
      { results: [GOOD], slowest: { at: 0, milliseconds: 2 } },
    ];
    expect(joined(parts)).toEqual({ results: [GOOD, GOOD], slowest: { at: 1, milliseconds: 2 } });
  });

  it("is judged by a setting, and has an expectation or null for each entry", async () => {
    const judge = await localJudge({ policy: null, now: "2026-01-01T00:00:00.000Z", bootProofs: [] });
    const { results } = await judge.judge(batch!);
    expect(results.map(({ verdict }) => verdict)).toEqual(Array(4).fill("malformed"));
    await judge.close();
    expect(partOf({ ...batch!, expected: ["a", null, "b", "c"] }, 1, 3)).toMatchObject({ expected: [null, "b"] });
    expect(() => ownBatch({ ...batch!, expected: ["a"] })).toThrow(/^batch\.expected: expected an expectation or null/);
  });
});
