/** The segments of an audit with a state: nights, growth, kills, other options, ends that nobody reported. */
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import {
  type AuditSetting,
  type Judge,
  NO_ENTRIES,
  auditSetting,
  judgeBatch,
  localJudge,
} from "../../src/audit/index.js";
import { type AuditFilesEnd, type AuditFilesOptions, ExpectedEntries, auditFiles } from "../../src/audit/node.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type * as Whole from "../../src/disk/whole.js";
import { fastTestFolder } from "../support/folder.js";

/** Called after each write of a state. */
let onSaved: (path: string) => void = () => {};
vi.mock("../../src/disk/whole.js", async (original) => {
  const real = await original<typeof Whole>();
  const writeSynced = async (path: string, text: string): Promise<void> => {
    await real.writeSynced(path, text);
    onSaved(path);
  };
  return { ...real, writeSynced };
});
// Each part of the results is followed by a state.
let milliseconds = 0;
vi.spyOn(performance, "now").mockImplementation(() => (milliseconds += 1000));
const version = vi.hoisted(() => ({ name: "bootproof", version: "1.0.0" }));
vi.mock("../../src/version.js", () => ({ TOOL: version }));

const folder = fastTestFolder();
let count = 0;
const pathOf = (name: string): string => join(folder, `${name}-${count++}`);
const nightOf = (day: number): string => `2026-01-${String(day).padStart(2, "0")}T03:17:00.000Z`;
const setting: AuditSetting = { policy: null, now: nightOf(1), bootProofs: [] };
const policyOf = (byte: string): AuditSetting["policy"] => ({
  text: JSON.stringify({ policy: "bootproof/1", deployments: [{ manifestHash: byte.repeat(32) }] }),
});
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A judge that accepts all entries but `bad`, and names the present as the reason. */
const judging =
  (onBatch: () => void = () => {}) =>
  ({ now }: AuditSetting): Judge => ({
    concurrency: 2,
    judge(batch) {
      onBatch();
      const judge = (
        n: number,
        entry: Uint8Array,
      ): Promise<{ n: number; verdict: "verified" | "rejected"; failed: []; reason: string }> =>
        Promise.resolve({ n, verdict: text(entry) === "bad" ? "rejected" : "verified", failed: [], reason: now });
      return judgeBatch({ judge }, batch);
    },
    close: () => Promise.resolve(),
  });

interface Run {
  readonly inputs: string[];
  readonly out: string;
  readonly state: string;
}
const runOf = (content: string | Uint8Array): Run & { readonly input: string } => {
  const input = pathOf("input");
  writeFileSync(input, content);
  return { input, inputs: [input], out: pathOf("out"), state: pathOf("state") };
};
const audited = (
  { inputs, out, state }: Run,
  day: number,
  more: Partial<AuditFilesOptions> = {},
): Promise<AuditFilesEnd> =>
  auditFiles({
    inputs,
    out,
    state,
    batchEntries: 1,
    setting: { ...setting, now: nightOf(day) },
    judge: judging(),
    ...more,
  });

/** Ends a run as a kill would, when so many batches were judged. */
const killed = async (run: Run, day: number, batches: number, more: Partial<AuditFilesOptions> = {}): Promise<void> => {
  let begun = 0;
  const judge = judging(() => {
    if (++begun > batches) throw new Error("killed");
  });
  await expect(audited(run, day, { ...more, judge })).rejects.toThrow("killed");
};

/** Returns the day by which each entry was judged. */
const daysOf = ({ out }: Run): number[] =>
  readFileSync(out, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => new Date((JSON.parse(line) as { reason: string }).reason).getUTCDate());

interface Saved {
  readonly segments: readonly {
    readonly first: number;
    readonly asked?: Readonly<Record<string, string>>;
    readonly results: { readonly length: number; readonly digest: string };
  }[];
  readonly end: string | null;
}
const savedOf = ({ state }: Run): Saved => JSON.parse(readFileSync(state, "utf8")) as Saved;
const firstsOf = (run: Run): number[] => savedOf(run).segments.map(({ first }) => first);

async function* streamOf(content: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

describe("a night that resumes an audit", () => {
  it("judges what was added by its own present, and old entries never again", async () => {
    const lab = new Forge();
    const proofAt = (at: string): string => JSON.stringify(forgeEvidence({ lab, at: new Date(at) }).bootProof);
    const { anchorPem } = forgeEvidence({ lab, at: new Date(nightOf(1)) });
    const policy = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)], { maxAge: "2h" })));
    const run = runOf("");
    for (let day = 1; day <= 3; day++) {
      const fresh = proofAt(nightOf(day).replace("T03", "T02"));
      const stale = proofAt(nightOf(day).replace("T03", "T00"));
      appendFileSync(run.input, `${fresh}\n${stale}\n`);
      const { added, summary } = await audited(run, day, {
        setting: auditSetting({ policy, now: new Date(nightOf(day)) }),
        judge: localJudge,
      });
      expect([added.entries, added.verdicts.verified, added.stale, summary.entries]).toEqual([2, 1, 1, 2 * day]);
    }
    expect(firstsOf(run)).toEqual([1, 3, 5]);
    // The state is written again and again, so a night costs it little.
    const later = savedOf(run).segments.slice(1);
    expect(later.map((segment) => Object.keys(segment).join())).toEqual(Array(2).fill("first,now,results"));
    expect(readFileSync(run.state).length).toBeLessThan(4500 + 2 * 300);
  });

  it("makes no segment if nothing was added, and none of empty lines", async () => {
    const run = runOf("one\n");
    await audited(run, 1);
    const results = readFileSync(run.out);
    for (const day of [2, 3]) {
      const nobody = (): never => expect.unreachable();
      const end = await audited(run, day, { judge: nobody });
      expect(end).toMatchObject({ end: "done", before: 1, added: { entries: 0 }, summary: { entries: 1 } });
      appendFileSync(run.input, "\n \n");
    }
    expect([firstsOf(run), savedOf(run).end, readFileSync(run.out)]).toEqual([[1], "done", results]);
    appendFileSync(run.input, "two\n");
    expect(await audited(run, 4)).toMatchObject({ emptyLines: 4, added: { entries: 1 } });
    expect([firstsOf(run), daysOf(run)]).toEqual([
      [1, 6],
      [1, 4],
    ]);
  });

  it("leaves what is added while it reads to the next one, killed or not", async () => {
    const [whole, broken] = [runOf("a\nb\nc"), runOf("a\nb\nc")];
    /** The last line is completed when the first entry is judged: it began in the extent. */
    const growing = (run: typeof whole): (() => void) => {
      let hasGrown = false;
      return () => {
        if (!hasGrown) appendFileSync(run.input, "c\nd\ne");
        hasGrown = true;
      };
    };
    expect((await audited(whole, 1, { judge: judging(growing(whole)) })).summary.entries).toBe(3);
    const results = readFileSync(whole.out, "utf8");
    const grow = growing(broken);
    let begun = 0;
    const judge = judging(() => {
      grow();
      if (++begun > 2) throw new Error("killed");
    });
    await expect(audited(broken, 1, { judge })).rejects.toThrow("killed");
    const end = await audited(broken, 2);
    expect(readFileSync(broken.out, "utf8").startsWith(results)).toBe(true);
    expect([daysOf(broken), firstsOf(broken), end.summary.entries]).toEqual([[1, 1, 1, 2, 2], [1, 4], 5]);
    await audited(whole, 2);
    expect(readFileSync(whole.out, "utf8")).toBe(readFileSync(broken.out, "utf8"));
  });

  it("leaves a line without a line feed that is added while it reads", async () => {
    const run = runOf("a\nb\n");
    const judge = judging(() => writeFileSync(run.input, "a\nb\nc"));
    expect((await audited(run, 1, { judge })).summary.entries).toBe(2);
    await audited(run, 2);
    expect(daysOf(run)).toEqual([1, 1, 2]);
  });

  it("leaves what was added to the next one if stdin cannot be read again", async () => {
    const run = runOf("three\n");
    const stdin = (): AsyncIterable<Uint8Array> => streamOf("one\ntwo\n");
    const inputs = ["-", run.input];
    await killed(run, 1, 1, { inputs, stdin: stdin() });
    appendFileSync(run.input, "four\n");
    await audited(run, 2, { inputs, stdin: stdin() });
    expect(daysOf(run)).toEqual([1, 1, 1]);
    await audited(run, 3, { inputs, stdin: stdin() });
    expect(daysOf(run)).toEqual([1, 1, 1, 3]);
  });

  it.each<[string, (run: { readonly inputs: string[] }) => void]>([
    ["lines", ({ inputs }) => appendFileSync(inputs[0]!, "five\n")],
    ["gzip, by a member", ({ inputs }) => appendFileSync(inputs[0]!, gzipSync("five\n"))],
    ["a folder", ({ inputs }) => writeFileSync(join(inputs[0]!, "five"), "five")],
    ["stdin", () => {}],
  ])("finishes an unfinished segment by its present, and then judges what was added: %s", async (kind, grow) => {
    const run = { ...runOf("one\ntwo\nthree\nfour\n"), state: pathOf("state") };
    const path = pathOf("folder");
    if (kind.startsWith("gzip")) writeFileSync(run.input, gzipSync("one\ntwo\nthree\nfour\n"));
    if (kind === "a folder") {
      mkdirSync(join(path, "a"), { recursive: true });
      for (const name of ["a/z", "a.b", "b", "c"]) writeFileSync(join(path, name), name);
      run.inputs.splice(0, 1, path);
    }
    const more = (): Partial<AuditFilesOptions> =>
      kind === "stdin" ? { inputs: ["-"], stdin: streamOf(readFileSync(run.input)) } : {};
    await killed(run, 1, 2, more());
    grow(run);
    const end = await audited(run, 2, more());
    expect([end.end, end.included]).toEqual(["done", end.before]);
    const wanted = kind === "stdin" ? [1, 1, 1, 1] : [1, 1, 1, 1, 2];
    expect([daysOf(run), firstsOf(run)]).toEqual([wanted, kind === "stdin" ? [1] : [1, 5]]);
  });

  it("writes the same bytes, wherever its state was written last", async () => {
    const run = runOf(Array.from({ length: 12 }, (_, at) => `${at === 7 ? "bad" : `entry ${at}`}\n`).join(""));
    for (const day of [1, 2]) {
      const moments: Run[] = [];
      onSaved = (path) => {
        const moment = { ...run, state: pathOf("state"), out: pathOf("out") };
        copyFileSync(path, moment.state);
        copyFileSync(run.out, moment.out);
        moments.push(moment);
      };
      const { end, added } = await audited(run, day);
      onSaved = () => {};
      expect([end, moments.length]).toEqual(["done", day === 1 ? 15 : 5]);
      for (const [at, moment] of moments.entries()) {
        // As a kill in the middle of a write leaves it.
        appendFileSync(moment.out, '{"n":99,"verd');
        writeFileSync(`${moment.state}.new`, "{");
        const again = await audited(moment, 9);
        expect(readFileSync(moment.out, "utf8")).toBe(readFileSync(run.out, "utf8"));
        expect(existsSync(`${moment.state}.lock`)).toBe(false);
        // The last write says that the end was reported.
        const isReported = at === moments.length - 1;
        expect(again.added).toEqual(isReported ? NO_ENTRIES : added);
      }
      appendFileSync(run.input, "more\nbad\n");
    }
    expect(daysOf(run)).toEqual([...Array.from({ length: 12 }, () => 1), 2, 2]);
  });
});

describe("an audit that would judge otherwise than before", () => {
  const expectedOf = (...entries: [entry: string, id: string][]): Promise<ExpectedEntries> =>
    ExpectedEntries.read(
      (async function* () {
        for (const [entry, id] of entries) {
          const line = { entry: createHash("sha256").update(entry).digest("hex"), expected: { organizationId: id } };
          yield Buffer.from(`${JSON.stringify(line)}\n`);
        }
      })(),
    );
  const OTHERS: Readonly<Record<string, () => Partial<AuditSetting>>> = {
    "--policy": () => ({ policy: policyOf("ab") }),
    "the trust anchors": () => ({ trustAnchors: [] }),
    "--boot-proof": () => ({ bootProofs: ["{}"] }),
    "--provenance": () => ({ provenance: ["{}"] }),
  };

  it.each(Object.keys(OTHERS))("begins a segment with the next entry, and says so: %s", async (name) => {
    const run = runOf("one\ntwo\nthree\n");
    await killed(run, 1, 2);
    const judgedBy: unknown[] = [];
    const onSegment = vi.fn();
    const other = { ...setting, ...OTHERS[name]!(), now: nightOf(2) };
    const judge = (own: AuditSetting): Judge => (judgedBy.push(own), judging()(own));
    const end = await audited(run, 2, { setting: other, judge, onSegment });
    expect([end.summary.entries, daysOf(run), firstsOf(run)]).toEqual([3, [1, 1, 2], [1, 3]]);
    expect(judgedBy).toEqual([expect.objectContaining(other)]);
    expect(onSegment.mock.calls).toEqual([[{ first: 3, now: nightOf(2), changed: [name] }]]);
    // Without anything to judge there is no segment, and nothing to say.
    await audited(run, 3, { onSegment });
    expect([onSegment.mock.calls.length, firstsOf(run)]).toEqual([1, [1, 3]]);
  });

  it("begins a segment for another version", async () => {
    const run = runOf("one\ntwo\n");
    await killed(run, 1, 1);
    const onSegment = vi.fn();
    version.version = "1.0.1";
    try {
      await audited(run, 2, { onSegment });
    } finally {
      version.version = "1.0.0";
    }
    const changed = ["the version of bootproof"];
    expect(onSegment.mock.calls).toEqual([[{ first: 2, now: nightOf(2), changed }]]);
    expect([daysOf(run), savedOf(run).segments.map(({ asked }) => asked!["the version of bootproof"])]).toEqual([
      [1, 2],
      ["1.0.0", "1.0.1"],
    ]);
  });

  it("begins with another limit of age, and not with a state that has none", async () => {
    const run = runOf("one\n");
    const policed = { ...setting, policy: policyOf("ab") };
    await audited(run, 1, { setting: policed });
    appendFileSync(run.input, "two\n");
    const onSegment = vi.fn();
    await audited(run, 2, { setting: { ...policed, maxAgeMs: 60_000 }, onSegment });
    expect(onSegment.mock.calls).toMatchObject([[{ changed: ["--max-age"] }]]);
  });

  it("is refused with options that are not of a segment, also after its end", async () => {
    const run = runOf("one\n");
    await audited(run, 1);
    const found = [run.state, run.out].map((path) => readFileSync(path, "utf8"));
    for (const [more, name] of [
      [{ onlyFailures: true }, "--only-failures"],
      [{ failFast: true }, "--fail-fast"],
      [{ setting: { ...setting, at: "now" } }, "--at"],
      [{ setting: { ...setting, allowDebug: true } }, "--allow-debug"],
      [{ setting: { ...setting, acceptance: "strict" } }, "--fail-on-warning"],
      [{ inputs: [runOf("one\n").input] }, "INPUT"],
    ] as const)
      await expect(audited({ ...run, inputs: [...run.inputs] }, 2, more as Partial<AuditFilesOptions>)).rejects.toThrow(
        `other options: ${name}. `,
      );
    expect([run.state, run.out].map((path) => readFileSync(path, "utf8"))).toEqual(found);
  });

  it("judges by a given present only what no unfinished segment has", async () => {
    const run = runOf("one\ntwo\n");
    await killed(run, 1, 1);
    await expect(audited(run, 2, { isNowGiven: true })).rejects.toThrow(`judged by --now ${nightOf(1)}: repeat it`);
    appendFileSync(run.input, "three\n");
    await expect(audited(run, 2, { isNowGiven: true })).rejects.toMatchObject({ file: run.state });
    await audited(run, 1, { isNowGiven: true });
    appendFileSync(run.input, "four\n");
    await audited(run, 2, { isNowGiven: true });
    expect(daysOf(run)).toEqual([1, 1, 1, 2]);
  });

  it("counts lines of expectations as met if their file was only continued", async () => {
    const [one, two, three] = (["one", "two", "three"] as const).map((entry): [string, string] => [entry, "a"]) as [
      [string, string],
      [string, string],
      [string, string],
    ];
    const run = runOf("one\ntwo\n");
    expect((await audited(run, 1, { expected: await expectedOf(one, two) })).unmet!.count).toBe(0);
    appendFileSync(run.input, "three\n");
    const grown = await audited(run, 2, { expected: await expectedOf(one, two, three) });
    expect([grown.unmet, firstsOf(run)]).toEqual([{ count: 0, first: [] }, [1, 3]]);
    // Nothing is added: no segment has these lines, and they are unmet all the same.
    const rewritten = await expectedOf(["one", "b"], three);
    const unmet = {
      count: 2,
      first: [expect.objectContaining({ line: 1 }), expect.objectContaining({ line: 2 })],
    };
    expect((await audited(run, 3, { expected: rewritten })).unmet).toEqual(unmet);
    expect((await audited(run, 3, { expected: await expectedOf(one, two, three) })).unmet!.count).toBe(0);
    // A night without expectations does not forget what was met, and its own entries were compared with nothing.
    appendFileSync(run.input, "four\n");
    await audited(run, 4);
    const last = await audited(run, 5, { expected: await expectedOf(one, two, three, ["four", "a"]) });
    expect(last.unmet).toMatchObject({ count: 1, first: [{ line: 4 }] });
    // Lines of another file count from their own beginning.
    appendFileSync(run.input, "five\n");
    const other = await audited(run, 6, { expected: await expectedOf(["five", "a"], ["six", "a"]) });
    expect(other.unmet).toMatchObject({ count: 1, first: [{ line: 2 }] });
    appendFileSync(run.input, "six\n");
    const all = await audited(run, 6, { expected: await expectedOf(["five", "a"], ["six", "a"]) });
    expect(all.unmet).toEqual({ count: 0, first: [] });
    expect((await audited(run, 7, { expected: await expectedOf(one, two, three) })).unmet).toMatchObject({ count: 3 });
  });
});

describe("an unfinished segment", () => {
  it.each<[string, Uint8Array, Uint8Array]>([
    ["packed again", gzipSync("one\ntwo\nthree\n"), gzipSync("one\ntwo\nthree\nfour\n")],
    ["packed to less", gzipSync("one\ntwo\nthree\nxxxxxxxxxxxxx\n".repeat(9)), gzipSync("one\ntwo\nthree\n")],
    ["unpacked", gzipSync("one\ntwo\n".repeat(30)), Buffer.from("one\ntwo\n".repeat(30))],
    ["incomplete when it began", gzipSync("one\ntwo\nthree\n").subarray(0, -3), gzipSync("one\ntwo\nthree\n")],
  ])("ends where it was killed if its gzip was %s, and the run says so", async (_, first, second) => {
    const run = runOf(first);
    await killed(run, 1, 1);
    writeFileSync(run.input, second);
    const onSegment = vi.fn();
    await audited(run, 2, { onSegment });
    expect([daysOf(run)[0], firstsOf(run)[1]]).toEqual([1, 2]);
    expect(new Set(daysOf(run).slice(1))).toEqual(new Set([2]));
    const changed = ["INPUT (its gzip was packed again, or was incomplete)"];
    expect(onSegment.mock.calls).toEqual([[{ first: 2, now: nightOf(2), changed }]]);
  });

  it.each<[string, (run: Run & { readonly input: string }) => void]>([
    ["cut behind its position", ({ input }) => writeFileSync(input, "one\ntwo\n")],
    ["a file among its files", ({ inputs }) => writeFileSync(join(inputs[0]!, "bb"), "new")],
    ["a first input that grew", ({ inputs }) => appendFileSync(inputs[0]!, "four\n")],
  ])("is refused with an input that changed behind its position, and unchanged: %s", async (kind, change) => {
    const run = runOf("one\ntwo\nthree\n");
    if (kind.startsWith("a first")) run.inputs.push(runOf("last\n").input);
    if (kind.startsWith("a file")) {
      const path = pathOf("folder");
      mkdirSync(path);
      for (const name of ["a", "b", "c"]) writeFileSync(join(path, name), name);
      run.inputs.splice(0, 1, path);
    }
    await killed(run, 1, 1);
    const saved = savedOf(run);
    change(run);
    await expect(audited(run, 2)).rejects.toMatchObject({ name: "AuditInputError", file: run.inputs.at(-1) });
    if (!kind.startsWith("a first")) expect(savedOf(run)).toEqual(saved);
  });
});

describe("the entries since the last reported end", () => {
  it("include those of runs that were killed, also between the end and its report", async () => {
    const run = runOf("one\nbad\nthree\n");
    await killed(run, 1, 2);
    const failing = (): never => {
      throw new Error("killed");
    };
    await expect(audited(run, 1, { onEnd: failing })).rejects.toThrow("killed");
    expect(savedOf(run).end).toBe("done");
    const counts = ({ added, included, before }: AuditFilesEnd): number[] => [
      added.entries,
      added.accepted,
      included,
      before,
    ];
    appendFileSync(run.input, "four\n");
    const seen: unknown[] = [];
    const onEnd = (end: AuditFilesEnd): void => void seen.push([end, savedOf(run)]);
    const end = await audited(run, 2, { onEnd });
    expect(counts(end)).toEqual([4, 3, 3, 3]);
    expect(seen).toEqual([[end, expect.objectContaining({ end: "done", added: end.added })]]);
    expect(counts(await audited(run, 3))).toEqual([0, 0, 0, 4]);
    expect(savedOf(run)).toMatchObject({ added: NO_ENTRIES, summary: end.summary });
  });

  it("are not reported by an interruption, and --fail-fast fails each time", async () => {
    const run = runOf("bad\ntwo\n");
    const controller = new AbortController();
    const onProgress = (): void => controller.abort();
    const aborted = await audited(run, 1, { signal: controller.signal, onProgress });
    expect([aborted.end, aborted.added.accepted, aborted.added.entries > 0]).toEqual([
      "aborted",
      aborted.added.entries - 1,
      true,
    ]);
    expect((await audited(run, 1)).added).toMatchObject({ entries: 2, accepted: 1 });
    const fast = runOf("one\nbad\nthree\n");
    for (const day of [1, 2, 3]) {
      const { end, added } = await audited(fast, day, { failFast: true });
      expect([end, added.entries]).toEqual(["failed", day === 1 ? 2 : 0]);
    }
  });
});

describe("the results of segments", () => {
  it("are all compared before more is written, and the message names the segment", async () => {
    const run = runOf("one\ntwo\n");
    await audited(run, 1);
    appendFileSync(run.input, `${"three\n".repeat(2000)}`);
    await audited(run, 2, { batchEntries: 512 });
    appendFileSync(run.input, "last\n");
    const results = readFileSync(run.out, "utf8");
    expect(results.length).toBeGreaterThan(64 * 1024);
    for (const [from, to, segment] of [
      ['"n":1,', '"n":9,', "segment 1, which begins with entry 1,"],
      ['"n":3,', '"n":7,', "segment 2, which begins with entry 3,"],
    ] as const) {
      writeFileSync(run.out, results.replace(from, to));
      await expect(audited(run, 3)).rejects.toThrow(segment);
      expect(readFileSync(run.out, "utf8")).toBe(results.replace(from, to));
    }
    writeFileSync(run.out, results);
    expect((await audited(run, 3)).added.entries).toBe(1);
    let rest = readFileSync(run.out, "utf8");
    for (const { results: mark } of savedOf(run).segments) {
      expect(mark.digest).toBe(createHash("sha256").update(rest.slice(0, mark.length)).digest("hex"));
      rest = rest.slice(mark.length);
    }
    expect(rest).toBe("");
  });
});
