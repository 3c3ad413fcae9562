/** An audit in files: one chained file of results, and runs that go on behind it or are refused. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  type AuditSetting,
  type EntryResult,
  type Judge,
  auditSetting,
  judgeBatch,
  verifyRun,
} from "../../src/run/index.js";
import { type AuditEnd, type AuditFilesOptions, ExpectedEntries, auditFiles, runStreams } from "../../src/run/node.js";
import { NO_LINES, lineText } from "../../src/run/line.js";
import { sha256Hex } from "../../src/run/node-file.js";
import { NOW, forge, optionsOf } from "../attacks/support.js";
import { fastTestFolder } from "../support/folder.js";

const folder = fastTestFolder();
let count = 0;
const pathOf = (name: string): string => join(folder, `${name}-${count++}`);
const fileOf = (content: string | Uint8Array): string => {
  const path = pathOf("input");
  writeFileSync(path, content);
  return path;
};

const setting: AuditSetting = { policy: null, now: "2026-01-01T00:00:00.000Z", bootProofs: [] };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const GOOD: EntryResult = { verdict: "verified", failed: [], warnings: [], deployments: ["signer"] };
const BAD: EntryResult = { verdict: "rejected", failed: ["policy.pcrs"], warnings: [] };

/** Keeps what it judged. `onBatch` is called before each batch. */
function judging(onBatch: (index: number) => void = () => {}): { judged: string[]; judge: () => Judge } {
  const judged: string[] = [];
  let batches = 0;
  const judge = (): Judge => ({
    concurrency: 2,
    async judge(batch) {
      onBatch(batches++);
      return judgeBatch(
        {
          judge: (entry) => {
            judged.push(text(entry));
            if (text(entry).startsWith("poison")) throw new Error("poison");
            return Promise.resolve(text(entry).startsWith("bad") ? BAD : GOOD);
          },
        },
        batch,
      );
    },
    close: () => Promise.resolve(),
  });
  return { judged, judge };
}

const LINES = Array.from({ length: 1000 }, (_, at) => (at === 700 ? "bad" : `entry ${at}`)).join("\n");
const input = fileOf(LINES);

type Options = Partial<AuditFilesOptions> & Pick<AuditFilesOptions, "out">;
const audited = (options: Options): Promise<AuditEnd> =>
  auditFiles({ inputs: [input], setting, batchEntries: 64, judge: judging().judge, ...options });
const resumed = (options: Options): Promise<AuditEnd> => audited({ ...options, resume: true });

/** The lines of a file of results that are results: place, verdict and present. */
const resultsOf = (path: string): string[] =>
  linesOf(path).flatMap(({ file, line, verdict, at }) =>
    verdict === undefined ? [] : `${file}:${line} ${verdict} ${at}`,
  );
interface Line extends Record<string, unknown> {
  readonly event?: string;
}
const linesOf = (path: string): Line[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
const eventsOf = (path: string): (string | undefined)[] => linesOf(path).flatMap(({ event }) => event ?? []);

const whole = async (options: Partial<AuditFilesOptions> = {}): Promise<string> => {
  const out = pathOf("whole");
  await audited({ out, ...options });
  return out;
};

/** An audit that ends in the middle, as a kill would. */
async function killed(options: Options, batches: number): Promise<void> {
  const fail = (index: number): void => {
    if (index >= batches) throw new Error("killed");
  };
  await expect(audited({ ...options, judge: judging(fail).judge })).rejects.toThrow("killed");
}

const refusal = async (work: Promise<unknown>): Promise<{ code: string; message: string; advice: string | null }> =>
  work.then(
    () => Promise.reject(new Error("not refused")),
    (error: { code: string; message: string; advice: string | null }) => error,
  );

describe("a file of results", () => {
  it("is a chain of started, one line for each entry, stopped", async () => {
    const out = await whole();
    const [first, second, ...rest] = linesOf(out);
    expect(first).toMatchObject({
      run: "bootproof-run/1",
      n: 1,
      previous: "0".repeat(64),
      event: "started",
      watched: null,
    });
    expect(second).toMatchObject({
      n: 2,
      file: /[^/]+$/.exec(input)![0],
      line: 1,
      entry: sha256Hex("entry 0"),
      verdict: "verified",
    });
    expect(second).toMatchObject({
      deployments: ["signer"],
      policyDigest: null,
      settingDigest: first!["settingDigest"],
    });
    expect(rest.at(-1)).toMatchObject({ n: 1002, event: "stopped" });
    expect(await verifyRun(runStreams([out]))).toMatchObject({ intact: true, complete: true, entries: 1002 });
  });

  it("is the same for the same input, setting and present, and on stdout", async () => {
    let lines = "";
    await audited({ out: (text) => void (lines += text) });
    expect(lines).toBe(readFileSync(await whole(), "utf8"));
    expect(lines).toBe(readFileSync(await whole({ batchEntries: 7 }), "utf8"));
  });

  it.each([true, false])("is never the log of a watch, also one after a rename (resume: %s)", async (resume) => {
    const [out, at] = [pathOf("log"), setting.now];
    const text = lineText(NO_LINES, at, { event: "alive", since: at, polls: [{ app: "signer", good: 1, failed: 0 }] });
    writeFileSync(out, `${text}\n`);
    await expect(audited({ out, resume })).rejects.toThrow("it is the log of a watch");
    expect(readFileSync(out, "utf8")).toBe(`${text}\n`);
  });

  it("is not made for inputs that are no lines", async () => {
    const out = pathOf("none");
    await expect(audited({ inputs: [fileOf("[\n{},\n{}\n]")], out })).rejects.toMatchObject({ name: "RunInputError" });
    expect(existsSync(out)).toBe(false);
  });

  it("reports counts, and the place of the slowest entry", async () => {
    const out = pathOf("out");
    const { end, reported, total, included } = await audited({ out });
    expect({ end, included }).toEqual({ end: "done", included: 0 });
    expect(reported).toMatchObject({ entries: 1000, accepted: 999, verdicts: { verified: 999, rejected: 1 } });
    expect(reported).toMatchObject({ failures: { "policy.pcrs": 1 }, deployments: { signer: 999 } });
    expect(total).toEqual(reported);
  });

  it("names entries that could not be judged, and judges them again when it is resumed", async () => {
    const inputs = [fileOf("entry\npoison\nentry")];
    const out = pathOf("out");
    const end = await audited({ inputs, out });
    expect(end.reported.verdicts).toMatchObject({ verified: 2, unjudged: 1 });
    expect(end.unjudged).toMatchObject([{ line: 2 }]);
    const { judged, judge } = judging();
    expect((await resumed({ inputs, out, judge })).reported).toMatchObject({ entries: 1, verdicts: { unjudged: 1 } });
    expect(judged).toEqual(["poison", "poison"]);
    expect((await resumed({ inputs, out })).reported.entries).toBe(1);
  });
});

describe("resume", () => {
  it.each([0, 1, 5, 15])("goes on after a kill at batch %i, with the results of a run in one go", async (batches) => {
    const out = pathOf("out");
    await killed({ out }, batches);
    const before = resultsOf(out).length;
    const { judged, judge } = judging();
    const end = await resumed({ out, judge });
    expect(resultsOf(out)).toEqual(resultsOf(await whole()));
    expect(judged).toHaveLength(1000 - before);
    expect(end).toMatchObject({ included: before, reported: { entries: 1000, accepted: 999 } });
    expect(await verifyRun(runStreams([out]))).toMatchObject({ complete: true });
  });

  it("goes on from every byte of a file that was cut by a crash", async () => {
    const inputs = [fileOf("entry 1\nbad\nentry 2")];
    const out = await whole({ inputs });
    const bytes = readFileSync(out);
    for (let length = 0; length < bytes.length; length += 37) {
      writeFileSync(out, bytes.subarray(0, length));
      await resumed({ inputs, out });
      expect(resultsOf(out).map((line) => line.split(" ")[1])).toEqual(["verified", "rejected", "verified"]);
    }
  });

  it("judges nothing of unchanged inputs, whose failures were reported", async () => {
    const out = await whole();
    const { judged, judge } = judging();
    const end = await resumed({ out, judge });
    expect(judged).toEqual([]);
    expect(end).toMatchObject({ reported: { entries: 0, accepted: 0 }, total: { entries: 1000, accepted: 999 } });
    expect(eventsOf(out)).toEqual(["started", "stopped", "started", "stopped"]);
  });

  it("counts what a run judged that did not report it", async () => {
    const out = pathOf("out");
    await expect(audited({ out, onEnd: () => Promise.reject(new Error("killed")) })).rejects.toThrow("killed");
    expect(await resumed({ out })).toMatchObject({ included: 1000, reported: { entries: 1000, accepted: 999 } });
    expect(await resumed({ out })).toMatchObject({ included: 0, reported: { entries: 0 } });
  });

  it("judges what was appended by the present of its own run", async () => {
    const inputs = [fileOf("entry 1\nentry 2")];
    const out = await whole({ inputs });
    appendFileSync(inputs[0]!, "\nbad 3");
    const now = "2026-01-02T00:00:00.000Z";
    const end = await resumed({ inputs, out, setting: { ...setting, now } });
    expect(end.reported).toMatchObject({ entries: 1, accepted: 0 });
    expect(resultsOf(out).map((line) => line.replace(/^[^:]*:/, ""))).toEqual([
      `1 verified ${setting.now}`,
      `2 verified ${setting.now}`,
      `3 rejected ${now}`,
    ]);
  });

  it("takes files that were added anywhere in a folder, run after run", async () => {
    const inputs = [pathOf("folder")];
    mkdirSync(inputs[0]!);
    const out = pathOf("out");
    const add = (name: string): void => writeFileSync(join(inputs[0]!, name), name);
    for (const [at, name] of ["m", "bad", "z", "c", "x"].entries()) {
      add(name);
      const { judged, judge } = judging();
      await resumed({ inputs, out, judge, onlyFailures: false });
      expect(judged, `run ${at}`).toEqual([name]);
    }
    expect((await resumed({ inputs, out })).total).toMatchObject({ entries: 5, accepted: 4 });
  });

  it("takes several inputs, whose names begin with what the caller typed", async () => {
    const inputs = [fileOf("entry 1"), fileOf("entry 2")];
    const out = await whole({ inputs });
    expect(resultsOf(out).map((line) => line.split(":")[0])).toEqual(inputs);
    appendFileSync(inputs[0]!, "\nentry 3");
    const { judged, judge } = judging();
    await resumed({ inputs, out, judge });
    await resumed({ inputs, out, judge });
    expect(judged).toEqual(["entry 3"]);
  });

  it("takes the old part of stdin and of gzip again, and judges what follows", async () => {
    const out = pathOf("out");
    const stdin = (content: string): AsyncIterable<Uint8Array> =>
      (async function* () {
        yield new TextEncoder().encode(content);
      })();
    const { judged, judge } = judging();
    await audited({ inputs: ["-"], out, stdin: stdin("one\ntwo\n"), judge });
    await resumed({ inputs: ["-"], out, stdin: stdin("one\ntwo\nthree\n"), judge });
    expect(judged).toEqual(["one", "two", "three"]);
    const changed = resumed({ inputs: ["-"], out, stdin: stdin("one\n2\nthree\n"), judge });
    expect(await refusal(changed)).toMatchObject({
      code: "inputs",
      message: expect.stringContaining("stdin: line 2 changed") as string,
    });
    const packed = [fileOf(gzipSync("one\ntwo\n"))];
    const results = await whole({ inputs: packed });
    writeFileSync(packed[0]!, Buffer.concat([gzipSync("one\ntwo\n"), gzipSync("three\n")]));
    await resumed({ inputs: packed, out: results, judge });
    expect(judged.slice(3)).toEqual(["three"]);
  });

  const CHANGES: readonly [name: string, change: (path: string) => void, message: string][] = [
    [
      "a line that was changed",
      (path) => writeFileSync(path, LINES.replace("entry 500", "entry 5OO")),
      ": line 501 changed",
    ],
    ["a line that was removed", (path) => writeFileSync(path, LINES.replace("entry 500\n", "")), ": line 501 changed"],
    [
      "a file that was cut",
      (path) => writeFileSync(path, LINES.slice(0, 4000)),
      "has a result, and is not in the inputs",
    ],
  ];
  it.each(CHANGES)("refuses %s, and changes nothing", async (_, change, message) => {
    for (const onlyFailures of [false, true]) {
      const inputs = [fileOf(LINES)];
      const out = await whole({ inputs, onlyFailures });
      const before = readFileSync(out, "utf8");
      change(inputs[0]!);
      appendFileSync(inputs[0]!, "\nanother");
      const found = await refusal(resumed({ inputs, out, onlyFailures }));
      expect(found).toMatchObject({ code: "inputs", advice: expect.stringContaining("another --out") as string });
      expect(found.message).toContain(onlyFailures && message.includes("501") ? ": lines 1 to 700 changed" : message);
      expect(readFileSync(out, "utf8")).toBe(before);
    }
  });

  it("refuses a folder without a file that has results, by its name", async () => {
    const inputs = [pathOf("folder")];
    mkdirSync(inputs[0]!);
    for (const name of ["a", "b", "c"]) writeFileSync(join(inputs[0]!, name), name);
    const out = await whole({ inputs });
    renameSync(join(inputs[0]!, "b"), join(inputs[0]!, "d"));
    expect((await refusal(resumed({ inputs, out }))).message).toContain("b: line 1 has a result");
    rmSync(join(inputs[0]!, "d"));
    expect((await refusal(resumed({ inputs, out }))).message).toContain("b: line 1 has a result");
  });

  const OTHERS: readonly [name: string, options: Partial<AuditFilesOptions>, what: string][] = [
    ["an option", { setting: { ...setting, at: "now" } }, "--at"],
    ["debug mode", { setting: { ...setting, allowDebug: true } }, "--allow-debug"],
    ["provenance", { setting: { ...setting, provenance: ["{}"] } }, "--provenance"],
    ["a policy", { setting: auditSetting({ policy: optionsOf(forge()).policy, now: NOW }) }, "--policy"],
    ["only failures", { onlyFailures: true }, "--only-failures"],
  ];
  it.each(OTHERS)("refuses results by another setting: %s", async (_, options, what) => {
    const out = await whole();
    const found = await refusal(resumed({ out, ...options }));
    if (found.code === undefined) throw found as unknown as Error;
    expect(found).toMatchObject({ code: "setting", advice: expect.stringContaining("another --out") as string });
    expect(found.message).toContain(`another setting: ${what}`);
  });
});

describe("only failures", () => {
  it("have lines, and a line stands for the accepted entries between them", async () => {
    const out = await whole({ onlyFailures: true });
    const [, first, bad, second] = linesOf(out);
    expect(first).toMatchObject({
      event: "accepted",
      count: 700,
      verified: 700,
      first: { line: 1 },
      last: { line: 700 },
    });
    expect(bad).toMatchObject({ line: 701, verdict: "rejected" });
    expect(second).toMatchObject({ event: "accepted", count: 299 });
    const hashed = Array.from({ length: 700 }, (_, at) => `${at + 1}:${sha256Hex(`entry ${at}`)}\n`).join("");
    expect(first!["entries"]).toBe(sha256Hex(hashed));
    let lines = "";
    await audited({ out: (text) => void (lines += text), onlyFailures: true });
    expect(
      lines
        .split("\n")
        .map((line) => /"verdict":"([a-z]+)"/.exec(line)?.[1] ?? "")
        .join(),
    ).toBe(",rejected,,");
  });

  it("are resumed after a kill and a crash, and by what was added", async () => {
    const out = pathOf("out");
    await killed({ out, onlyFailures: true }, 12);
    const end = await resumed({ out, onlyFailures: true });
    expect(end.total).toMatchObject({ entries: 1000, accepted: 999, verdicts: { verified: 999 } });
    const { judged, judge } = judging();
    truncateSync(out, readFileSync(out).length - 400);
    await resumed({ out, onlyFailures: true, judge });
    expect(judged.length).toBeLessThan(300);
    expect((await resumed({ out, onlyFailures: true })).total.entries).toBe(1000);
  });
});

describe("expectations", () => {
  const expectedOf = (...entries: string[]): Promise<ExpectedEntries> =>
    ExpectedEntries.read(
      (async function* () {
        for (const entry of entries)
          yield Buffer.from(`{"entry":"${sha256Hex(entry)}","expected":{"organizationId":"o"}}\n`);
      })(),
    );

  it("may be added to: entries that they name are judged again; other lines are another setting", async () => {
    const out = pathOf("out");
    const inputs = [fileOf("one\ntwo\nthree")];
    await audited({ out, inputs, expected: await expectedOf("two") });
    const { judged, judge } = judging();
    const end = await resumed({ out, inputs, expected: await expectedOf("two", "three"), judge });
    expect(judged).toEqual(["three"]);
    expect(end.unmet).toEqual({ count: 0, first: [] });
    await resumed({ out, inputs, expected: await expectedOf("two", "three"), judge });
    expect(judged).toEqual(["three"]);
    for (const expected of [await expectedOf("one", "two"), undefined])
      expect(await refusal(resumed({ out, inputs, ...(expected && { expected }) }))).toMatchObject({ code: "setting" });
  });
});
