/** An audit in files: results and state, resumed after any point or refused. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type AuditSetting, type Judge, NO_ENTRIES, judgeBatch } from "../../src/audit/index.js";
import {
  type AuditFilesEnd,
  type AuditFilesOptions,
  type AuditFilesProgress,
  auditFiles,
} from "../../src/audit/node.js";
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

/** Returns the content and the present of each entry. `onBatch`: called before each batch. */
const judging =
  (onBatch: (index: number) => void = () => {}) =>
  ({ now }: AuditSetting): Judge => ({
    concurrency: 2,
    judge(batch) {
      onBatch(batch.index);
      const judge = (
        n: number,
        entry: Uint8Array,
      ): Promise<{ n: number; verdict: "verified" | "rejected"; failed: [] }> =>
        Promise.resolve({
          n,
          verdict: text(entry) === "bad" ? "rejected" : "verified",
          failed: [],
          deployments: [now],
        });
      return judgeBatch({ judge }, batch);
    },
    close: () => Promise.resolve(),
  });
const LINES = Array.from({ length: 1000 }, (_, at) => (at === 700 ? "bad" : `entry ${at}`)).join("\n");
const input = fileOf(LINES);

/** In many batches, so that there is something between two. */
const audited = (options: AuditFilesOptions): Promise<AuditFilesEnd> => auditFiles({ batchEntries: 64, ...options });

const whole = async (options: Partial<AuditFilesOptions> = {}): Promise<string> => {
  const out = pathOf("whole");
  await audited({ inputs: [input], setting, out, judge: judging(), ...options });
  return readFileSync(out, "utf8");
};

/** An audit that ends in the middle, as a kill would: whatever comes after so many batches fails. */
const broken = async (options: AuditFilesOptions, batches: number): Promise<void> => {
  const fail = (index: number): void => {
    if (index >= batches) throw new Error("killed");
  };
  await expect(audited({ ...options, judge: judging(fail) })).rejects.toThrow("killed");
};

/** An audit that is ended by its signal after two hundred entries. */
const interruptedAt200 = (options: AuditFilesOptions): Promise<AuditFilesEnd> => {
  const controller = new AbortController();
  const onProgress = ({ summary }: AuditFilesProgress): void => void (summary.entries >= 200 && controller.abort());
  return audited({ ...options, judge: judging(), signal: controller.signal, onProgress });
};

/** The end of a run that finds nothing to add. */
const againOf = (first: AuditFilesEnd): AuditFilesEnd => ({
  ...first,
  ...{ slowest: null, before: first.summary.entries, added: NO_ENTRIES, included: 0 },
});

describe("an audit that resumes", () => {
  it("does so with --only-failures, with --fail-fast and after an interruption", async () => {
    for (const extra of [{ onlyFailures: true }, { failFast: true }, { failFast: true, onlyFailures: true }]) {
      const options = { inputs: [input], setting, out: pathOf("out"), state: pathOf("state"), ...extra };
      await broken(options, 3);
      const first: AuditFilesEnd = await audited({ ...options, judge: judging() });
      expect(readFileSync(options.out, "utf8")).toBe(await whole(extra));
      expect(first.end).toBe("failFast" in extra ? "failed" : "done");
    }
    const options = { inputs: [input], setting, out: pathOf("out"), state: pathOf("state") };
    const interrupted = await interruptedAt200(options);
    expect([interrupted.end, interrupted.summary.entries >= 200]).toEqual(["aborted", true]);
    expect(interrupted.summary.entries).toBeLessThan(1000);
    // Nothing that was judged is judged again.
    let judged = 0;
    const end = await audited({ ...options, judge: judging(() => judged++) });
    expect(end.before).toBe(interrupted.summary.entries);
    expect(judged).toBeLessThan(16);
    expect(readFileSync(options.out, "utf8")).toBe(await whole());
  });

  it("ends at once if it was complete", async () => {
    const options = { inputs: [input], setting, out: pathOf("out"), state: pathOf("state") };
    const first = await audited({ ...options, judge: judging() });
    const nobody = (): never => expect.unreachable();
    const again = await audited({ ...options, judge: nobody });
    expect(again).toEqual(againOf(first));
  });
});

describe("an audit that has ended", () => {
  interface Ended {
    readonly options: AuditFilesOptions & { readonly out: string; readonly state: string };
    readonly first: AuditFilesEnd;
  }
  const ended = async (options: Partial<AuditFilesOptions>): Promise<Ended> => {
    const all = { inputs: [] as string[], setting, out: pathOf("out"), state: pathOf("state"), ...options };
    const given = all as Ended["options"];
    return { options: given, first: await audited({ judge: judging(), ...given }) };
  };
  async function* streamOf(content: string): AsyncGenerator<Uint8Array> {
    for (const part of content.split(/(?<=\n)/)) yield Buffer.from(part);
  }
  const folderOf = (files: Readonly<Record<string, string>>): string => {
    const path = pathOf("entries");
    mkdirSync(path);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
    return path;
  };

  /** Each kind of input: how it is made, what is audited then, and how it is changed. */
  interface Kind {
    readonly make: () => { readonly inputs: string[]; readonly stdin?: () => AsyncIterable<Uint8Array> };
    /** `bad`: what is added is not accepted. */
    readonly grow: (made: Made) => void;
    readonly changes: Readonly<Record<string, (made: Made) => void>>;
  }
  type Made = ReturnType<Kind["make"]>;
  let piped = "";
  const last = ({ inputs }: Made): string => inputs.at(-1)!;
  const rewrite = (content: string) => (made: Made) => writeFileSync(last(made), content);
  const gone = (made: Made): void => rmSync(last(made), { recursive: true });
  const KINDS: Readonly<Record<string, Kind>> = {
    "a file": {
      make: () => ({ inputs: [fileOf("one\ntwo\n")] }),
      grow: rewrite("one\ntwo\nbad\n"),
      changes: {
        replaced: rewrite("uno\ntwo\n"),
        "replaced and grown": rewrite("uno\ntwo\nthree\n"),
        shrunk: rewrite("one\n"),
        empty: rewrite(""),
        gone,
        "a folder": (made) => (gone(made), mkdirSync(last(made))),
      },
    },
    "a file without a line feed at its end": {
      make: () => ({ inputs: [fileOf("one\ntwo")] }),
      grow: rewrite("one\ntwo\nbad"),
      changes: { "grown in its last line": rewrite("one\ntwothree\n"), shrunk: rewrite("one\ntw") },
    },
    "several files": {
      make: () => ({ inputs: [fileOf("one\n"), fileOf("two\n")] }),
      grow: rewrite("two\nbad\n"),
      changes: {
        "the first replaced": ({ inputs }) => writeFileSync(inputs[0]!, "uno\n"),
        "the first grown": ({ inputs }) => writeFileSync(inputs[0]!, "one\nthree\n"),
        "the first gone": ({ inputs }) => rmSync(inputs[0]!),
        "the first empty": ({ inputs }) => writeFileSync(inputs[0]!, ""),
        "the last empty": rewrite(""),
        "the last gone": gone,
      },
    },
    "a compressed file": {
      make: () => ({ inputs: [fileOf(gzipSync("one\ntwo\n"))] }),
      grow: (made) => writeFileSync(last(made), Buffer.concat([gzipSync("one\ntwo\n"), gzipSync("bad\n")])),
      changes: {
        replaced: (made) => writeFileSync(last(made), gzipSync("uno\ntwo\n")),
        "cut off": (made) => writeFileSync(last(made), gzipSync("one\ntwo\n").subarray(0, -1)),
        "a list": rewrite('[\n"one"\n]'),
      },
    },
    "a file that is unpacked": {
      make: () => ({ inputs: [fileOf(gzipSync("one\ntwo\n"))] }),
      grow: rewrite("one\ntwo\nbad\n"),
      changes: { shrunk: rewrite("one\n") },
    },
    stdin: {
      make: () => ((piped = "one\ntwo\n"), { inputs: ["-"], stdin: () => streamOf(piped) }),
      grow: () => (piped = "one\ntwo\nbad\n"),
      changes: { replaced: () => (piped = "uno\ntwo\n"), shrunk: () => (piped = "one\n"), empty: () => (piped = "") },
    },
    "a folder": {
      make: () => ({ inputs: [folderOf({ a: "one", b: "two" })] }),
      grow: (made) => writeFileSync(join(last(made), "c"), "bad"),
      changes: {
        "a file replaced": (made) => writeFileSync(join(last(made), "a"), "uno"),
        "a file gone": (made) => rmSync(join(last(made), "b")),
        "a file before others": (made) => writeFileSync(join(last(made), "aa"), "three"),
        gone,
      },
    },
  };
  const KIND_NAMES = Object.keys(KINDS);
  const start = async (
    kind: string,
    options: Partial<AuditFilesOptions> = {},
  ): Promise<Ended & { readonly made: Made; readonly again: () => Promise<AuditFilesEnd> }> => {
    const made = KINDS[kind]!.make();
    const reading = (): Partial<AuditFilesOptions> => (made.stdin ? { stdin: made.stdin() } : {});
    const end = await ended({ ...made, ...options, ...reading() } as Partial<AuditFilesOptions>);
    return { ...end, made, again: () => audited({ judge: judging(), ...end.options, ...reading() }) };
  };

  it.each(KIND_NAMES)("verifies added entries once: %s", async (kind) => {
    const { options, made, again } = await start(kind);
    const before = readFileSync(options.out, "utf8");
    KINDS[kind]!.grow(made);
    const grown = await again();
    expect(grown).toMatchObject({ end: "done", before: 2, summary: { entries: 3, accepted: 2 } });
    const after = readFileSync(options.out, "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect(after.trimEnd().split("\n")).toHaveLength(3);
    expect(after).toContain('{"n":3,');
    expect(await again()).toMatchObject({ end: "done", before: 3, summary: grown.summary });
    expect(readFileSync(options.out, "utf8")).toBe(after);
    const anew = await whole({ inputs: made.inputs, ...(made.stdin && { stdin: made.stdin() }) });
    expect(after).toBe(anew);
  });

  it.each(KIND_NAMES.flatMap((kind) => Object.keys(KINDS[kind]!.changes).map((change) => [kind, change] as const)))(
    "refuses a changed input without changing results and state: %s, %s",
    async (kind, change) => {
      const { options, made, again } = await start(kind);
      const found = [options.state, options.out].map((path) => readFileSync(path, "utf8"));
      KINDS[kind]!.changes[change]!(made);
      await expect(again()).rejects.toMatchObject({ name: "AuditInputError" });
      expect([options.state, options.out].map((path) => readFileSync(path, "utf8"))).toEqual(found);
    },
  );

  it("counts empty lines once, at its end too, and continues after them", async () => {
    const file = fileOf("one\n\n\ntwo\n\n");
    const { options, first } = await ended({ inputs: [file] });
    expect(first).toMatchObject({ emptyLines: 3, summary: { entries: 2 } });
    expect(await audited({ ...options, judge: judging() })).toEqual(againOf(first));
    for (const [content, emptyLines, entries] of [
      ["one\n\n\ntwo\n\n\n \n", 5, 2],
      ["one\n\n\ntwo\n\n\n \nthree\n\n", 6, 3],
    ] as const) {
      writeFileSync(file, content);
      const grown = await audited({ ...options, judge: judging() });
      expect(grown).toMatchObject({ end: "done", emptyLines, before: 2, summary: { entries } });
    }
    const lines = readFileSync(options.out, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([1, 4, 8]);
    writeFileSync(file, "one\n\ntwo\n\n\n\n \nthree\n\n");
    await expect(audited({ ...options, judge: judging() })).rejects.toThrow(/it was changed since/);
    const failures = await whole({ inputs: [fileOf("\none\n\nbad\n")], onlyFailures: true });
    expect((JSON.parse(failures) as { n: number }).n).toBe(4);
  });

  it("names the slowest entry by file and line", async () => {
    const slow = (): Judge => ({
      concurrency: 1,
      judge: ({ index, first, entries }) => {
        const at = entries.findIndex((entry) => text(entry) === "slow");
        const results = entries.map((_, place) => ({ n: first + place, verdict: "verified" as const, failed: [] }));
        return Promise.resolve({
          index,
          results,
          slowest: { n: first + Math.max(at, 0), milliseconds: at < 0 ? 1 : 9 },
        });
      },
      close: () => Promise.resolve(),
    });
    const [one, two] = [fileOf("a\n"), fileOf("\nb\n\nslow\n")];
    const inside = folderOf({ a: "x", b: "slow" });
    for (const [inputs, n, file] of [
      [[two], 4, `${two}:4`],
      [[one, two], 5, `${two}:4`],
      [[inside], 2, `${inside}/b`],
      [[one, inside], 3, `${inside}/b`],
    ] as const) {
      const { slowest } = await audited({ inputs, setting, out: pathOf("out"), judge: slow });
      expect(slowest).toEqual({ n, milliseconds: 9, file });
    }
  });

  it("writes nothing where an input has no lines", async () => {
    const options = { setting, out: pathOf("out"), state: pathOf("state"), judge: judging() };
    for (const inputs of [[fileOf("[\n  1\n]")], [fileOf("{}\n"), fileOf("[1]")], ["-"]]) {
      const all = { ...options, inputs, stdin: streamOf("{\n}") };
      await expect(audited(all)).rejects.toMatchObject({ name: "AuditInputError", file: inputs.at(-1) });
      expect([options.out, options.state, `${options.state}.lock`].filter((path) => existsSync(path))).toEqual([]);
    }
  });

  it("is interrupted while stdin is silent", async () => {
    const controller = new AbortController();
    async function* silent(): AsyncGenerator<Uint8Array> {
      await new Promise(() => {});
      yield new Uint8Array();
    }
    const options = { inputs: ["-"], stdin: silent(), setting, out: pathOf("out"), judge: judging() };
    const audit = audited({ ...options, signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    expect((await audit).end).toBe("aborted");
  });

  describe("with its first failure", () => {
    const LAST = "one\nbad\nthree\n";
    const failed = async (): Promise<Ended & { readonly file: string }> => {
      const file = fileOf(LAST);
      return { ...(await ended({ inputs: [file], failFast: true })), file };
    };

    it("fails again without verifying or reading further", async () => {
      const { options, first, file } = await failed();
      expect(first).toMatchObject({ end: "failed", summary: { entries: 2, accepted: 1 } });
      const results = readFileSync(options.out, "utf8");
      for (const content of [LAST, `${LAST}four\n`]) {
        writeFileSync(file, content);
        const nobody = (): never => expect.unreachable();
        expect(await audited({ ...options, judge: nobody })).toEqual(againOf(first));
      }
      expect(readFileSync(options.out, "utf8")).toBe(results);
    });

    it.each(["one\ngood\nthree\n", "one\n", "", "one\nbad\nthr33\n", null])("is refused with: %j", async (content) => {
      const { options, file } = await failed();
      if (content === null) rmSync(file);
      else writeFileSync(file, content);
      await expect(audited({ ...options, judge: judging() })).rejects.toMatchObject({ name: "AuditInputError" });
    });

    it("is refused if the failed line was continued", async () => {
      const file = fileOf("one\nbad");
      const { options } = await ended({ inputs: [file], failFast: true });
      writeFileSync(file, "one\nbadly\n");
      await expect(audited({ ...options, judge: judging() })).rejects.toMatchObject({ name: "AuditInputError" });
      writeFileSync(file, "one\nbad\nmore\n");
      const end = await audited({ ...options, judge: judging() });
      expect(end).toMatchObject({ end: "failed", summary: { entries: 2, accepted: 1 } });
    });

    it("verifies nothing after it if the process was killed before it recorded the end", async () => {
      const { options, first } = await failed();
      const results = readFileSync(options.out, "utf8");
      const state = JSON.parse(readFileSync(options.state, "utf8")) as object;
      writeFileSync(options.state, JSON.stringify({ ...state, end: null }));
      writeFileSync(options.inputs[0]!, `${LAST}four\nbad\n`);
      const again = await audited({ ...options, judge: judging() });
      expect(again).toMatchObject({ end: "failed", summary: first.summary });
      expect(readFileSync(options.out, "utf8")).toBe(results);
    });
  });
});

describe("a state", () => {
  const half = async (): Promise<AuditFilesOptions & { readonly out: string; readonly state: string }> => {
    const own = fileOf(LINES);
    const options = { inputs: [own], setting, out: pathOf("out"), state: pathOf("state") };
    await interruptedAt200(options);
    return { ...options, judge: judging() };
  };

  it.each([
    ["", /damaged, or not the state/],
    ["{", /damaged, or not the state/],
    [
      '{"state": "bootproof-audit-state/3"}',
      /not the state of an audit, or written by another version .* Start anew with/,
    ],
    ['{"state": "bootproof-audit-state/4"}', /not the state of an audit, or written by another version/],
    ['{"state": "bootproof-audit-state/5"}', /damaged: segments: expected an array, got nothing; extents: expected/],
  ])("that is invalid is refused and unchanged: %j", async (content, message) => {
    const [out, state] = [pathOf("out"), fileOf(content)];
    const audit = audited({ inputs: [input], setting, out, state, judge: judging() });
    await expect(audit).rejects.toMatchObject({ file: state, message: expect.stringMatching(message) as string });
    expect([readFileSync(state, "utf8"), existsSync(out)]).toEqual([content, false]);
  });

  it("with any damaged part is refused", async () => {
    const options = await half();
    const state = JSON.parse(readFileSync(options.state, "utf8")) as Record<string, Record<string, unknown>>;
    const refused = (changed: object, message = /damaged: /): Promise<void> => {
      writeFileSync(options.state, JSON.stringify({ ...state, ...changed }));
      return expect(audited(options)).rejects.toThrow(message);
    };
    for (const [name, value] of Object.entries(state)) {
      if (name === "state") continue;
      await refused({ [name]: name === "end" ? "no" : 7 });
      for (const inner of Object.keys(value instanceof Object ? value : {}))
        if (!["failures", "deployments", "verdicts"].includes(inner))
          await refused({ [name]: { ...value, [inner]: {} } });
    }
    const segment = (state["segments"] as unknown as Record<string, unknown>[])[0]!;
    for (const name of Object.keys(segment)) await refused({ segments: [{ ...segment, [name]: true }] });
    await refused({ extents: [{ of: "pipe", size: 1, names: null }] });
    const counts: object[] = [
      { failures: { "no.check": 1 } },
      { failures: { "boot.key": -1 } },
      { failures: 7 },
      { deployments: { one: "1" } },
      { deployments: null },
      { verdicts: { verified: 1, authentic: 0, rejected: 0 } },
    ];
    for (const name of ["added", "summary"])
      for (const damaged of counts)
        await refused({ [name]: { ...state[name], ...damaged } }, new RegExp(`damaged: ${name}\\.`));
  });

  it("accepts only its own results and inputs", async () => {
    const options = await half();
    const results = readFileSync(options.out, "utf8");
    const message = /not the file of results for this state/;
    for (const other of ["", results.slice(0, -1), results.replace("n", "m"), "x".repeat(results.length)]) {
      writeFileSync(options.out, other);
      await expect(audited(options)).rejects.toThrow(message);
      expect(readFileSync(options.out, "utf8")).toBe(other);
    }
    rmSync(options.out);
    await expect(audited(options)).rejects.toThrow(/the file of the results so far is missing/);
    expect(existsSync(options.out)).toBe(false);
    writeFileSync(options.out, results);
    writeFileSync(options.inputs[0]!, LINES.replace("entry 0", "entry x"));
    await expect(audited(options)).rejects.toMatchObject({ name: "AuditInputError", file: options.inputs[0] });
    writeFileSync(options.inputs[0]!, LINES);
    await audited(options);
    expect(readFileSync(options.out, "utf8")).toBe(await whole());
  });

  it("is used by one process at a time", async () => {
    const options = { inputs: [input], setting, out: pathOf("out"), state: pathOf("state") };
    let second: Promise<unknown> | undefined;
    await audited({
      ...options,
      judge: judging(() => (second ??= audited(options).catch((error: Error) => error.message))),
    });
    expect(await second).toContain(`in use by process ${process.pid}: only one process may use a state.`);
  });
});

describe("a file of results", () => {
  it("is never overwritten without its state, and no input is overwritten", async () => {
    const out = fileOf("something");
    await expect(audited({ inputs: [input], setting, out, state: pathOf("state"), judge: judging() })).rejects.toThrow(
      /the file is not empty, and its results are not in the state/,
    );
    expect(readFileSync(out, "utf8")).toBe("something");
    await expect(audited({ inputs: [out], setting, out, judge: judging() })).rejects.toThrow(
      /it is an input of the audit/,
    );
    expect(readFileSync(out, "utf8")).toBe("something");
    await audited({ inputs: [input], setting, out, judge: judging() });
    expect(readFileSync(out, "utf8")).not.toContain("something");
    const inside = pathOf("folder");
    mkdirSync(join(inside, "deep"), { recursive: true });
    const options = { inputs: [inside], setting, judge: judging() };
    for (const path of [join(inside, "out"), join(inside, "deep", "out")])
      await expect(audited({ ...options, out: path })).rejects.toThrow(/inside .*, which is audited/);
    await expect(audited({ ...options, out: pathOf("out"), state: join(inside, "s") })).rejects.toThrow(/inside/);
    const nowhere = join(folder, "no", "such", "out");
    await expect(audited({ ...options, out: nowhere })).rejects.toMatchObject({
      name: "AuditFileError",
      file: nowhere,
      message: "there is no such file or folder",
    });
    await expect(audited({ ...options, out: () => {}, state: pathOf("state") })).rejects.toThrow(TypeError);
  });
});
