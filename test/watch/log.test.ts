/** Any change of a log is detected, and its line named. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decode/json.js";
import {
  type LogEnd,
  type LogEvent,
  type LogLine,
  MAX_LINE_BYTES,
  NO_LINE,
  eventLineAfter,
  isFinding,
  lineAfter,
  readLine,
} from "../../src/watch/entry.js";
import { type LogFault, verifyLog } from "../../src/watch/index.js";
import { LogState, isRefusal } from "../../src/watch/store.js";
import { character, fc, runs } from "../support/property.js";
import { EVENTS, START, finding, inPieces, linesOf, rotatedLog, textOf, verified } from "./support.js";

const lines = await linesOf(9);
const whole = textOf(lines);
const texts = whole.trimEnd().split("\n");
const faultOf = async (changed: readonly string[]): Promise<Omit<LogFault, "file"> | null> => {
  const { fault } = await verified(textOf(changed));
  if (fault === null) return null;
  const { file, ...rest } = fault;
  expect(file).toBe(null);
  return rest;
};

describe("an intact log", () => {
  it("is accepted in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), async (size) => {
        const answer = await verifyLog(inPieces(whole, size));
        expect(answer).toMatchObject({ intact: true, fault: null, entries: 9, head: lines[8]!.hash });
      }),
      { numRuns: runs(20) },
    );
  });

  it("is accepted if the stream reuses one Node buffer", async () => {
    async function* reused(): AsyncGenerator<Uint8Array> {
      const buffer = Buffer.alloc(512);
      const bytes = Buffer.from(whole);
      for (let at = 0; at < bytes.length; at += buffer.length)
        yield buffer.subarray(0, bytes.copy(buffer, 0, at, at + buffer.length));
    }
    expect(await verifyLog(reused())).toMatchObject({ intact: true, entries: 9 });
  });

  it("reports offset and time of each line, and what a log cannot show", async () => {
    const offsets: number[] = [];
    const answer = await verified(whole, { onLine: (_, offset) => offsets.push(offset) });
    expect(
      offsets.map((at) =>
        Buffer.from(whole)
          .subarray(at, at + 7)
          .toString("utf8"),
      ),
    ).toEqual(lines.map(() => '{"log":'));
    expect([answer.firstAt, answer.lastAt]).toEqual([lines[0]!.entry.at, lines[8]!.entry.at]);
    expect(answer.open.join()).toMatch(/lines removed from the end.*rewritten as a whole.*each verdict/s);
    expect((await verified("")).head).toBe(NO_LINE);
  });

  it("is compared with a kept head", async () => {
    const head = lines[8]!.hash;
    expect((await verified(whole, { head: head.toUpperCase() })).intact).toBe(true);
    for (const cut of [textOf(lines.slice(0, 8)), ""])
      expect((await verified(cut, { head })).fault).toMatchObject({ kind: "head" });
    const last = texts[8]!.replace('"verified"', '"rejected"');
    expect(await faultOf([...texts.slice(0, 8), last])).toBe(null);
    expect((await verified(textOf([...texts.slice(0, 8), last]), { head })).fault?.kind).toBe("head");
  });
});

describe("a changed log", () => {
  const without = (index: number): string[] => texts.filter((_, each) => each !== index);
  const edit = (text: string): string => text.replace('"prod"', '"dev"');
  /** The log with one line changed, by its number. */
  const changed = (line: number, change: (text: string) => string): string[] =>
    texts.with(line - 1, change(texts[line - 1]!));
  const with5 = (from: string | RegExp, to: string): string[] => changed(5, (text) => text.replace(from, to));
  const unlike = (text: string): string => text.replace(/"previous":"[0-9a-f]{64}"/, `"previous":"${"ab".repeat(32)}"`);
  const tool = /"tool":\{("name":"[^"]*"),("version":"[^"]*")\}/;

  // The number of lines before the first doubtful one, and the line, the kind and the message of the fault.
  it.each<[string, string[], number, number, string, RegExp]>([
    [
      "a line removed",
      without(5),
      5,
      6,
      "removed",
      /^entry 6 was removed: entry 7 is in line 6, the line after entry 5/,
    ],
    ["the first removed", without(0), 0, 1, "removed", /^entry 1 was removed: entry 2 is in line 1, the first line/],
    ["several removed", texts.toSpliced(2, 3), 2, 3, "removed", /^entries 3 to 5 were removed/],
    ["edited", changed(5, edit), 4, 5, "edited", /^line 5 was edited after/],
    ["the first edited", changed(1, edit), 0, 1, "edited", /^line 1 was edited after/],
    [
      "the first of another log",
      changed(1, unlike),
      0,
      1,
      "edited",
      /^line 1 was edited, or is not the first one: it fo/,
    ],
    ["the hash in it edited", changed(5, unlike), 4, 5, "edited", /^line 5 was edited/],
    ["the hash in the last edited", changed(9, unlike), 7, 9, "edited", /line 8/],
    ["its number edited", with5('"n":5', '"n":7'), 4, 5, "edited", /^line 5 was edited: .*its number is 7/],
    ["the one before the last edited", changed(8, edit), 7, 9, "edited", /line 8/],
    ["two in turn edited", changed(4, edit).with(4, edit(texts[4]!)), 3, 5, "edited", /^line 5 was/],
    ["two apart edited", changed(3, edit).with(6, edit(texts[6]!)), 2, 3, "edited", /^line 3 was edited after/],
    [
      "edited, and no entry behind it",
      [...changed(5, edit).slice(0, 6), "{}"],
      4,
      6,
      "edited",
      /^line 5 was edited, or/,
    ],
    ["a copy behind it", texts.toSpliced(4, 0, texts[3]!), 4, 5, "copied", /line 5 is a copy of line 4/],
    ["a copy at the end", [...texts, texts[1]!], 9, 10, "copied", /line 10 is a copy of line 2/],
    ["two in turn", texts.with(3, texts[4]!).with(4, texts[3]!), 3, 4, "moved", /entry 5 is in line 4/],
    ["one moved back", [texts[6]!, ...without(6)], 0, 1, "moved", /entry 7 is in line 1, and entry 1 in line 2/],
    ["one moved on", [...without(2), texts[2]!], 2, 3, "moved", /entry 4 is in line 3, and entry 3 in line 9/],
    ["no entry", changed(5, () => "{}"), 4, 5, "malformed", /line 5 is not an entry: log: /],
    [
      "spaces in it",
      changed(5, (text) => `${text} `),
      4,
      5,
      "malformed",
      /expected the watch's own spacing, order and escapes/,
    ],
    [
      "its tool in another order",
      with5(tool, '"tool":{$2,$1}'),
      4,
      5,
      "malformed",
      /expected the watch's own spacing, order and escapes/,
    ],
    ["an unknown member", with5('"tool":{', '"tool":{"more":1,'), 4, 5, "malformed", /tool\.more: unknown member/],
    ["an empty line", texts.toSpliced(4, 0, ""), 4, 5, "malformed", /line 5 is not an entry: not strict JSON/],
    ["other evidence in it", with5('"boot":5', '"boot":6'), 4, 5, "malformed", /evidenceDigest is not the hash/],
  ])("%s", async (_, text, entries, line, kind, message) => {
    const answer = await verified(textOf(text));
    expect(answer).toMatchObject({
      intact: false,
      entries,
      head: entries === 0 ? NO_LINE : lines[entries - 1]!.hash,
      firstAt: entries === 0 ? null : lines[0]!.entry.at,
      lastAt: entries === 0 ? null : lines[entries - 1]!.entry.at,
    });
    expect(answer.fault).toEqual({ line, kind, message: expect.stringMatching(message) as string, file: null });
  });

  it("a line put in, with the right number and the right hash", async () => {
    const putIn = async (after: LogEnd, boot: string): Promise<string[]> => {
      const { bytes } = await lineAfter(after, await finding("signer", { boot }));
      return texts.toSpliced(5, 0, Buffer.from(bytes).toString("utf8"));
    };
    const forged = await putIn({ entries: 5, head: lines[4]!.hash }, "forged");
    const message = expect.stringMatching(/^lines 6 and 7 both follow line 5: .* of the two was inserted$/) as string;
    expect(await faultOf(forged)).toEqual({ line: 7, kind: "inserted", message });
    const wild = await putIn({ entries: 70, head: "ab".repeat(32) }, "wild");
    expect(await faultOf(wild)).toMatchObject({ line: 6, kind: "inserted" });
  });

  it("counts no line after the last certain one if another head was kept", async () => {
    const last = texts.with(8, texts[8]!.replace('"verified"', '"rejected"'));
    const edited = await verified(textOf(last), { head: lines[8]!.hash });
    expect(edited).toMatchObject({ intact: false, entries: 8, head: lines[7]!.hash, fault: { line: 9 } });
    const grown = await verified(whole, { head: lines[5]!.hash });
    expect(grown).toMatchObject({ intact: false, entries: 6, head: lines[5]!.hash, fault: { kind: "head" } });
    expect(grown.fault!.message).toMatch(/^the log ends with line 9, .* at line 6, and lines were added since/);
    const empty = await verified(whole, { head: NO_LINE });
    expect(empty).toMatchObject({ intact: false, entries: 0, head: NO_LINE, firstAt: null, lastAt: null });
  });

  it("reports an unfinished last line and its effect", async () => {
    for (const cut of [1, 100, texts[8]!.length]) {
      const { intact, entries, fault } = await verified(whole.slice(0, -cut));
      expect([intact, entries, fault?.kind, fault?.line]).toEqual([false, 8, "unfinished", 9]);
    }
  });

  const index = fc.integer({ min: 0, max: texts.length - 1 });
  it.each<[string, fc.Arbitrary<string[]>]>([
    ["removes any but the last", index.filter((at) => at < 8).map(without)],
    [
      "takes any two in turn",
      fc
        .tuple(index, index)
        .filter(([a, b]) => a !== b)
        .map(([a, b]) => swapped(a, b)),
    ],
    ["copies any to anywhere", fc.tuple(index, index).map(([from, to]) => texts.toSpliced(to, 0, texts[from]!))],
    [
      "changes any character of any but the last",
      fc
        .tuple(
          index.filter((at) => at < 8),
          fc.nat(),
          fc.constantFrom("0", "x", '"', " ", "é"),
        )
        .map(([at, place, char]) => texts.with(at, withCharacter(texts[at]!, place, char)))
        .filter((changed) => changed.some((text, at) => text !== texts[at])),
    ],
    ["writes any but the last anew", index.filter((at) => at < 8).map((at) => texts.with(at, edit(texts[at]!)))],
  ])("is detected after someone %s", async (_, changes) => {
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const fault = await faultOf(changed);
        expect(fault).not.toBe(null);
        // At the change, or at the line behind it, which shows it; and the line is named.
        const first = changed.findIndex((text, at) => text !== texts[at]);
        const shows = first < 0 ? texts.length : first;
        expect([shows + 1, shows + 2]).toContain(fault!.line);
        expect(fault!.message).toMatch(new RegExp(`(?:line|lines|entry|entries) .*${fault!.line}`));
      }),
      { numRuns: runs(150) },
    );
  });

  function swapped(a: number, b: number): string[] {
    return texts.with(a, texts[b]!).with(b, texts[a]!);
  }

  function withCharacter(text: string, place: number, char: string): string {
    const at = place % text.length;
    return text.slice(0, at) + char + text.slice(at + 1);
  }
});

describe("a line", () => {
  const nested = (depth: number): JsonValue => (depth === 0 ? 1 : { a: nested(depth - 1) });

  it("can be read again for any response of a service", async () => {
    const answers = fc.oneof(
      fc.jsonValue({ stringUnit: character }) as fc.Arbitrary<JsonValue>,
      fc.integer({ min: 55, max: 64 }).map(nested),
      fc.constantFrom<JsonValue[]>("text", "‮\u0007\n", 1e300, [], -0, Infinity, { b: 1, 1: 2 }, { a: "\u00ad" }),
    );
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        // As it comes through the client: what is not JSON does not come.
        if (!/\\ud[89a-f]/.test(JSON.stringify(answer))) {
          const { bytes, hash } = await lineAfter({ entries: 0, head: NO_LINE }, await finding("signer", answer));
          expect((await readLine(bytes)).hash).toBe(hash);
          expect(Buffer.from(bytes).toString("utf8")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it("is of an application, or of a key", async () => {
    const ephemeralKey = "04ab";
    const { bytes } = await lineAfter({ entries: 0, head: NO_LINE }, await finding("", 1, { app: null, ephemeralKey }));
    expect((await readLine(bytes)).entry).toMatchObject({ app: null, ephemeralKey });
    for (const more of [{ app: null }, { ephemeralKey }, { app: null, ephemeralKey: "04A" }]) {
      const line = await lineAfter({ entries: 0, head: NO_LINE }, await finding("signer", 1, more));
      await expect(readLine(line.bytes)).rejects.toThrow(/malformed log/);
    }
  });

  it("keeps a value that is too deep or no object as text", async () => {
    for (const answer of [nested(64), "text", [1]]) {
      const { entry } = await lineAfter({ entries: 0, head: NO_LINE }, await finding("signer", answer));
      expect(entry.bootProofs).toEqual([JSON.stringify(answer)]);
    }
  });

  it.each([
    ["n", '"n":1', '"n":0'],
    ["verdict", '"verified"', '"good"'],
    ["at", "2026-03-04T05:06:07.000Z", "2026-03-04T05:06:07Z"],
    ["failed", '"failed":[]', '"failed":[{"id":"no.check","subject":"boot[0]","detail":""}]'],
    ["app", '"app":"signer"', '"app":null'],
    ["unknown", '"stale"', '"more":1,"stale"'],
    ["log", "bootproof-log/2", "bootproof-log/3"],
    ["settingDigest", `"settingDigest":"${"cd".repeat(32)}",`, ""],
  ])("is refused for %s", async (_, from, to) => {
    const text = texts[0]!.replace(from, to);
    expect(text).not.toBe(texts[0]);
    await expect(readLine(Buffer.from(text))).rejects.toThrow(/malformed log/);
  });

  it("names a format that only a newer version can read", async () => {
    const text = texts[0]!.replace("bootproof-log/2", "bootproof-log/9");
    const message = /format bootproof-log\/9, which this version of bootproof does not know: use a newer version/;
    await expect(readLine(Buffer.from(text))).rejects.toThrow(message);
    expect((await verified(`${text}\n`)).fault).toMatchObject({
      kind: "malformed",
      message: expect.stringMatching(message),
    });
  });
});

const { all: rotated, files: parts } = await rotatedLog();

describe("a log in files", () => {
  const inFiles = (names: string[], more: object = {}, changes: Record<string, (LogLine | string)[]> = {}) =>
    verifyLog(
      names.map((name) => ({ name, stream: inPieces(textOf(changes[name] ?? parts[name as "b"])) })),
      more,
    );
  const head = rotated.at(-1)!.hash;

  it("is whole in their order, and as one", async () => {
    const open = [expect.stringMatching(/^lines removed from/), expect.stringMatching(/^that each/)];
    const whole = { intact: true, entries: 10, firstEntry: 1, head, fault: null, open };
    expect(await inFiles(["b", "b.2", "b.3"])).toMatchObject(whole);
    expect(await verified(textOf(rotated))).toMatchObject(whole);
    expect(await inFiles(["b", "b.2", "b.3"], { head })).toMatchObject({ intact: true, open: open.slice(1) });
    // A file that was just begun.
    const begun = await inFiles(["b", "b.2", "b.3"], {}, { "b.3": [] });
    expect(begun).toMatchObject({ intact: true, complete: true, missing: [], entries: 8, lastEntry: 8 });
  });

  it.each<[string, string[], RegExp]>([
    ["missing", ["b", "b.3"], /^a file is missing: b continues in b\.2: b\.3 begins with entry 9, and b, .* entry 4$/],
    ["repeated", ["b", "b.2", "b.2", "b.3"], /^it has the same first line as b\.2: a file is repeated: /],
    ["swapped", ["b", "b.3", "b.2"], /^the files are not in their order: b\.2 follows b: b\.3 begins/],
    ["first, and is not", ["b.2", "b"], /^it is in the wrong place, or a file of another log: b begins with entry 1/],
    ["first, with a third", ["b.2", "b", "b.3"], /^the files are not in their order: b\.3 follows b\.2: b begins/],
  ])("has one that is %s", async (_, names, message) => {
    const { intact, fault, entries } = await inFiles(names, { after: "any" });
    expect([intact, fault?.kind, entries]).toEqual([false, "file", fault?.file === "b.2" ? 8 : 4]);
    expect(fault!.message).toMatch(message);
  });

  it("has one whose end was cut off", async () => {
    const { fault } = await inFiles(["b", "b.2", "b.3"], {}, { "b.2": parts["b.2"].slice(0, 2) });
    expect(fault).toMatchObject({ line: 7, kind: "file", file: "b.3" });
    expect(fault!.message).toMatch(/^the end of b\.2 is missing, or files between them are missing: b\.3 begins/);
  });

  it("has one in which a line was edited", async () => {
    const texts = textOf(parts["b.2"]).trimEnd().split("\n");
    for (const [at, place] of [
      [1, 2],
      [3, 4],
    ] as const) {
      const changed = texts.with(at, texts[at]!.replace("2026-03-04", "2026-03-05"));
      const { fault, entries } = await inFiles(["b", "b.2", "b.3"], {}, { "b.2": changed });
      expect([fault?.line, fault?.kind, fault?.file, entries]).toEqual([4 + place, "edited", "b.2", 3 + place]);
      expect(fault!.message).toMatch(new RegExp(`^line ${4 + place} was edited .* \\(line ${place} of b\\.2\\)$`));
    }
  });

  it("may lack its first files only where the caller says so", async () => {
    const part = await inFiles(["b.2"], { after: "any" });
    expect(part).toMatchObject({ intact: true, complete: false, entries: 4, firstEntry: 5, lastEntry: 8 });
    expect(part.missing).toEqual([
      `entries 1 to 4, which are in files before b.2, which were not passed: the last has the hash ${rotated[3]!.hash}`,
      "the log continues in b.3, which was not passed",
    ]);
    expect((await inFiles(["b.2"])).fault).toMatchObject({ line: 1, kind: "removed" });
    // From its beginning on, nothing may be missing.
    const cut = await inFiles(["b.2"], { after: "any" }, { "b.2": parts["b.2"].toSpliced(1, 1) });
    expect(cut.fault).toMatchObject({ line: 6, kind: "removed", file: "b.2" });
    const first = lines[0]!;
    expect((await inFiles(["b"], { after: "any" }, { b: [first, first] })).fault?.kind).toBe("copied");
  });
});

describe("a log after an entry that was verified before", () => {
  const end = (entries: number, head = rotated[entries - 1]!.hash): LogEnd => ({ entries, head });
  const wrong = "ab".repeat(32);
  const verifiedFiles = (names: readonly string[], after: LogEnd) =>
    verifyLog(
      names.map((name) => ({ name, stream: inPieces(textOf(parts[name as "b"] ?? [])) })),
      { after },
    );

  it.each<[string, string[], LogEnd, number, number, RegExp]>([
    ["begins with the next one", ["b.2", "b.3"], end(4), 5, 6, /^entries 1 to 4: the earlier checkpoint vouches/],
    ["has it", ["b.2", "b.3"], end(7), 5, 6, /^entries 1 to 4: the earlier checkpoint vouches/],
    ["has it as its last", ["b.2", "b.3"], end(10), 5, 6, /^entries 1 to 4: the earlier checkpoint vouches/],
    ["begins with entry 1", ["b", "b.2", "b.3"], end(4), 1, 10, /^lines behind entry 4, which the checkpoint does not/],
  ])("is complete where it %s", async (_, names, after, firstEntry, entries, open) => {
    const answer = await verifiedFiles(names, after);
    expect(answer).toMatchObject({ intact: true, complete: true, missing: [], firstEntry, entries, lastEntry: 10 });
    expect(answer.open[0]).toMatch(open);
  });

  it.each<[string, string[], LogEnd, RegExp]>([
    ["begins later", ["b.3"], end(4), /^the checkpoint is of entry 4, which is in a file before these/],
    ["ends before it", ["b"], end(7), /^the log ends with entry 4, and the checkpoint is of entry 7/],
    ["follows another one", ["b.2", "b.3"], end(4, wrong), /^entry 4 has the hash .*, and the checkpoint has abab/],
    ["has another one", ["b.2", "b.3"], end(6, wrong), /^entry 6 has the hash .*, and the checkpoint has abab/],
    ["has another one, from entry 1", ["b", "b.2", "b.3"], end(4, wrong), /^entry 4 has .*, and the checkpoint has/],
  ])("is not intact where it %s", async (_, names, after, message) => {
    const { intact, complete, fault } = await verifiedFiles(names, after);
    expect([intact, complete, fault?.kind]).toEqual([false, false, "checkpoint"]);
    expect(fault!.message).toMatch(message);
  });

  it("has no first line that follows a line", async () => {
    const first = (await lineAfter({ entries: 0, head: wrong }, await finding("signer", 1))).bytes;
    const answer = await verifyLog(inPieces(`${Buffer.from(first).toString("utf8")}\n`), { after: end(1) });
    expect(answer.fault).toMatchObject({ kind: "edited", line: 1 });
  });
});

describe("the times of a log", () => {
  it("are compared with the present, which has to be passed, from the first sign on", async () => {
    await expect(verified(whole, { maxGapMs: 1 })).rejects.toThrow(/options.now: required with options.maxGapMs/);
    await expect(verified(whole, { maxGapMs: 0, now: START })).rejects.toThrow(/options.maxGapMs/);
    const unsigned = await verified(whole, { maxGapMs: 1, now: new Date(START.getTime() + 1000) });
    expect(unsigned).toMatchObject({ intact: true, complete: false, gaps: [] });
    expect(unsigned.missing).toEqual([expect.stringMatching(/^whether the watch was running: the log has no entry/)]);
  });

  it("may differ by a second in another order, and only the first hundred are listed", async () => {
    const watched = [{ app: "signer" }];
    const after = async (milliseconds: readonly number[]): Promise<string> => {
      const made: LogLine[] = [];
      for (const ms of milliseconds) {
        const at = new Date(START.getTime() + ms).toISOString();
        const end = { entries: made.length, head: made.at(-1)?.hash ?? NO_LINE };
        made.push(await eventLineAfter(end, { at, event: "outage-ended", watched, since: at, failedPolls: 0 }));
      }
      return textOf(made);
    };
    expect((await verified(await after([1000, 0, 1001, 0]))).backwards).toMatchObject([{ entry: 3 }]);
    const often = await verified(await after(Array.from({ length: 400 }, (_, at) => (at % 2) * 2000)));
    expect([often.complete, often.backwards.length]).toEqual([true, 100]);
  });
});

describe("an event", () => {
  const end = { entries: 4, head: "cd".repeat(32) };
  const spelled = async (event: LogEvent): Promise<string> =>
    Buffer.from((await eventLineAfter(end, event)).bytes).toString("utf8");
  const atStart = `{"log":"bootproof-log/2","n":5,"previous":"${end.head}","at":"${START.toISOString()}","event":`;
  const atStart3 = atStart.replace("bootproof-log/2", "bootproof-log/3");
  const eventOf = (kind: LogEvent["event"]): LogEvent => EVENTS.find(({ event }) => event === kind)!;

  it("is chained like a finding, and has only its own members", async () => {
    expect(await Promise.all(EVENTS.map(spelled))).toEqual([
      `${atStart}"outage-began","kind":"unreachable","watched":[{"app":"signer"},{"ephemeralKey":"04ab"}],` +
        `"since":"${START.toISOString()}","message":"no \\u202econnection"}`,
      `${atStart}"outage-ended","watched":[{"app":"signer"},{"ephemeralKey":"04ab"}],` +
        `"since":"${START.toISOString()}","failedPolls":3}`,
      `${atStart}"setting-changed","changed":["policy","trustedRoots"],"policy":"lab",` +
        `"policyDigest":"${"ab".repeat(32)}","settingDigest":"${"cd".repeat(32)}","before":"${"ef".repeat(32)}"}`,
      `${atStart}"setting-refused","since":"${START.toISOString()}",` +
        `"faults":[{"file":"a\\u202e.json","reason":"no such file"}]}`,
      `${atStart}"continued","file":"boots.2.jsonl"}`,
      `${atStart3}"started","watched":[{"app":"signer"},{"ephemeralKey":"04ab"}],"heartbeatMs":3600000,` +
        `"settingDigest":"${"cd".repeat(32)}","tool":{"name":"bootproof","version":"0.1.0"},` +
        `"adopted":"${"ab".repeat(32)}"}`,
      `${atStart3}"heartbeat","since":"${START.toISOString()}",` +
        '"polls":[{"app":"signer","good":60,"failed":0},{"ephemeralKey":"04ab","good":60,"failed":0}]}',
      `${atStart3}"stopped","since":"${START.toISOString()}",` +
        '"polls":[{"app":"signer","good":1,"failed":2},{"ephemeralKey":"04ab","good":1,"failed":2}]}',
      `${atStart3}"acknowledged","entry":3,"what":"refusal"}`,
    ]);
    for (const event of EVENTS) {
      const { bytes, hash } = await eventLineAfter(end, event);
      const read = await readLine(bytes);
      expect([read.hash, isFinding(read.entry), isRefusal(read)]).toEqual([hash, false, false]);
      expect({ ...read.entry }).toMatchObject(JSON.parse(JSON.stringify(event)) as object);
    }
  });

  it("changes no standing", async () => {
    const state = new LogState();
    state.add(lines[0]!);
    const before = state.standing("app signer");
    const next = await eventLineAfter(state.tail(), EVENTS[0]!);
    state.add(next);
    expect([state.standing("app signer"), state.tail()]).toEqual([before, { entries: 2, head: next.hash }]);
  });

  it.each<[string, LogEvent, string | RegExp, string]>([
    ["another event", EVENTS[0]!, "outage-began", "outage"],
    ["an event of a prototype", EVENTS[0]!, "outage-began", "constructor"],
    ["members of a finding", EVENTS[0]!, '"kind"', '"verdict":"verified","kind"'],
    ["members of another event", EVENTS[1]!, '"failedPolls":3', '"failedPolls":3,"kind":"missing"'],
    ["another kind", EVENTS[0]!, '"unreachable"', '"toString"'],
    ["nothing watched", EVENTS[0]!, '[{"app":"signer"},{"ephemeralKey":"04ab"}]', "[]"],
    ["both names", EVENTS[0]!, '{"app":"signer"}', '{"app":"signer","ephemeralKey":"04"}'],
    ["no number of polls", EVENTS[1]!, '"failedPolls":3', '"failedPolls":-1'],
    ["no digest", EVENTS[2]!, `"before":"${"ef".repeat(32)}"`, '"before":null'],
    ["an unknown part", EVENTS[2]!, '"trustedRoots"', '"allowDebug"'],
    ["no fault", EVENTS[3]!, /"faults":.*\]/, '"faults":[]'],
    ["a fault without a file", EVENTS[3]!, '"file":"a\\u202e.json",', ""],
    ["a time of another spelling", EVENTS[1]!, ".000Z", "Z"],
    [
      "members in another order",
      eventOf("continued"),
      '"event":"continued","file":"boots.2.jsonl"',
      '"file":"b","event":"continued"',
    ],
    ["counts in another order", eventOf("heartbeat"), '"good":60,"failed":0', '"failed":0,"good":60'],
    ["the format of older kinds", eventOf("started"), "bootproof-log/3", "bootproof-log/2"],
    ["the format of newer kinds", eventOf("continued"), "bootproof-log/2", "bootproof-log/3"],
    ["a head that is not a hash", eventOf("started"), "ab".repeat(32), "ab"],
    ["no time between heartbeats", eventOf("started"), "3600000", "0"],
    ["no polls", eventOf("stopped"), /"polls":.*\]/, '"polls":[]'],
    ["a name without polls", eventOf("stopped"), ',"good":1,"failed":2', ""],
    ["half a poll", eventOf("heartbeat"), '"good":60', '"good":0.5'],
    ["members of a heartbeat", eventOf("acknowledged"), '"entry"', `"since":"${START.toISOString()}","entry"`],
    ["the number of no entry", eventOf("acknowledged"), '"entry":3', '"entry":0'],
    ["an entry of another kind", eventOf("acknowledged"), '"refusal"', '"heartbeat"'],
    ...["", ".", "..", "../boots", "a/b", "a\\\\b", "C:boots", "a\\nb", "é".repeat(128)].map(
      (name): [string, LogEvent, string | RegExp, string] => [
        `the file "${name.slice(0, 9)}"`,
        eventOf("continued"),
        "boots.2.jsonl",
        name,
      ],
    ),
  ])("is refused for %s", async (_, event, from, to) => {
    const text = await spelled(event);
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    await expect(readLine(Buffer.from(changed))).rejects.toThrow(/malformed log/);
  });

  it("that no reader would take is not made", async () => {
    const event: LogEvent = { at: START.toISOString(), event: "continued", file: "../boots" };
    await expect(eventLineAfter(end, event)).rejects.toThrow(/malformed log/);
  });
});

describe("a line that is longer than any entry", () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(1 << 20).fill(0x61);
  }

  it("is read only up to its limit", async () => {
    expect((await verifyLog(endless())).fault).toMatchObject({
      line: 1,
      kind: "malformed",
      message: expect.stringMatching(/longer/) as string,
    });
  });

  const long = `{"log":"${"x".repeat(MAX_LINE_BYTES)}`;
  it.each([
    ["with lines behind it", textOf([...texts.slice(0, 4), long, ...texts.slice(4)]), 1 << 30],
    ["at the end, without a line feed", textOf([...texts.slice(0, 4), long]).slice(0, -1), 1 << 20],
  ])("is not an entry, in whatever pieces it comes: %s", async (_, text, size) => {
    expect(await verifyLog(inPieces(text, size))).toMatchObject({
      intact: false,
      entries: 4,
      head: lines[3]!.hash,
      fault: { line: 5, kind: "malformed", message: expect.stringMatching(/^line 5 .* longer than any entry/) },
    });
  });
});
