/** Lines in their only spelling, and what a chain of them shows. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type RunVerification, type VerifyRunOptions, verifyRun } from "../../src/run/index.js";
import {
  LineReader,
  MAX_LINE_BYTES,
  NO_LINE,
  NO_LINES,
  type RunContent,
  lineAfter,
  readLine,
  resultStart,
} from "../../src/run/line.js";
import { toUtf8 } from "../../src/bytes.js";
import { fc, runs } from "../support/property.js";
import { EVENTS, START, audited, chained, endOf, linesOf, polled, streamOf, textOf } from "./lines.js";

const lines = await linesOf(9);
const texts = lines.map(({ bytes }) => Buffer.from(bytes).toString());
const verified = (text: string, options: VerifyRunOptions = {}): Promise<RunVerification> =>
  verifyRun([streamOf(text)], options);
const read = (text: string): Promise<unknown> => readLine(toUtf8(text));

describe("a line", () => {
  const all = async (): Promise<string[]> =>
    (
      await chained([...EVENTS, audited(1, { expected: false, stale: true, verdict: "rejected" }), await polled({})])
    ).map(({ bytes }) => Buffer.from(bytes).toString());

  it("of each kind is read as it is written, with the hash of its bytes, and in no other spelling", async () => {
    for (const text of await all()) {
      const line = await readLine(toUtf8(text));
      expect(line.hash).toBe(createHash("sha256").update(text).digest("hex"));
      expect(JSON.parse(text)).toMatchObject({ run: "bootproof-run/1", n: line.entry.n });
      const [, first, second] = /^\{("[^,]*),("n":[0-9]+)/.exec(text)!;
      for (const other of [
        ` ${text}`,
        `${text} `,
        text.replace(",", ", "),
        text.replace(`${first},${second}`, `${second},${first}`),
      ])
        await expect(read(other)).rejects.toThrow(/expected the spacing, order and escapes of bootproof/);
      await expect(read(text.replace(/\}$/, ',"more":1}'))).rejects.toThrow(/more: unknown member/);
      expect(text).not.toMatch(/\u202e/);
    }
  });

  it.each<[string, string, RegExp]>([
    ["no JSON", "{", /not strict JSON/],
    ["no object", "[]", /expected an object/],
    ["an event that is none", '{"run":"bootproof-run/1","n":1,"event":"adopted"}', /event: expected "started"/],
    ["a newer format", '{"run":"bootproof-run/2","n":1}', /format bootproof-run\/2, .* use a newer version/],
    [
      "a log of before",
      '{"log":"bootproof-log/3","n":1,"event":"started"}',
      /format bootproof-log\/3, which an earlier version/,
    ],
    ["a state of before", '{"state":"bootproof-audit-state/5"}', /format bootproof-audit-state\/5, which an earlier/],
    [
      "a result of before",
      '{"n":1,"verdict":"verified","failed":[]}',
      /a result without a format, which an earlier version/,
    ],
    ["other evidence in it", texts[4]!.replace('"boot":5', '"boot":6'), /entry is not the hash of bootProofs\[0\]/],
    [
      "a verdict with a failed check",
      texts[4]!.replace('"failed":[]', '"failed":["policy.age"]'),
      /contradict each other/,
    ],
    ["no warnings", texts[4]!.replace('"warnings":[],', ""), /warnings: expected/],
    ["more than a line may have", "x".repeat(MAX_LINE_BYTES + 1), /longer than any line/],
  ])("is refused: %s", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it("keeps a boot proof that is no object, or too deep, as text", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`) as object;
    for (const bootProof of ["text", 7, [1], deep]) {
      const { entry } = await lineAfter(NO_LINES, START.toISOString(), await polled(bootProof as never));
      expect(entry).toMatchObject({ bootProofs: [JSON.stringify(bootProof)] });
    }
  });

  it("that no reader would take is not made", async () => {
    await expect(lineAfter(NO_LINES, "yesterday", EVENTS[0]!)).rejects.toThrow(/at: expected a time/);
    await expect(lineAfter(NO_LINES, START.toISOString(), { event: "announced", of: 0 })).rejects.toThrow(/of: /);
  });

  it("of an audit is read the same way when its beginning alone is new", async () => {
    const contents: RunContent[] = [];
    for (let at = 1; at <= 40; at++) {
      const file = at % 7 === 0 ? "b\u202e.ndjson" : "proofs.ndjson";
      contents.push(
        audited(at, { file, ...(at % 5 === 0 && { verdict: "rejected", failed: ["app.key"], warnings: [] }) }),
      );
    }
    const reader = new LineReader();
    for (const { bytes, entry, hash } of await chained(contents))
      expect(await reader.read(bytes)).toEqual({ bytes, entry, hash });
    const [one, two] = await chained([audited(1), audited(2)]);
    await reader.read(one!.bytes);
    const text = Buffer.from(two!.bytes).toString();
    for (const [from, to] of [
      ['"at":"2026', '"at":"20x6'],
      ["proofs.ndjson", "proofs\u202e.ndjson"],
      ['"line":2', '"line":02'],
      ['"n":2', '"n":9007199254740993'],
    ] as const)
      await expect(reader.read(toUtf8(text.replace(from, to))), to).rejects.toThrow(/malformed run/);
    const place = { file: "proofs.ndjson", line: 2, entry: (two!.entry as { entry: string }).entry };
    expect(text.startsWith(resultStart(endOf(one!), START.toISOString(), place))).toBe(true);
  });
});

describe("an intact file", () => {
  it("is accepted in pieces of any size, with what a chain cannot show", async () => {
    for (const size of [1, 7, 1000, 1 << 20]) {
      const found = await verifyRun([streamOf(textOf(lines), "log", size)]);
      expect(found).toMatchObject({
        intact: true,
        complete: true,
        entries: 9,
        firstEntry: 1,
        lastEntry: 9,
        fault: null,
      });
      expect(found).toMatchObject({ head: lines[8]!.hash, firstAt: START.toISOString(), missing: [] });
      expect(found.open.join()).toMatch(/^lines removed from the end, a changed last line/);
    }
    expect(await verified("")).toMatchObject({ intact: true, entries: 0, head: NO_LINE, firstAt: null });
  });

  it("is accepted if the stream reuses one Node buffer", async () => {
    const [bytes, buffer] = [Buffer.from(textOf(lines)), Buffer.alloc(700)];
    const stream = (async function* () {
      for (let at = 0; at < bytes.length; at += 700) yield buffer.subarray(0, bytes.copy(buffer, 0, at, at + 700));
    })();
    expect(await verifyRun([{ name: null, stream }])).toMatchObject({ intact: true, entries: 9 });
  });

  it("is compared with a kept head", async () => {
    const head = lines[8]!.hash;
    expect((await verified(textOf(lines), { head: head.toUpperCase() })).open).toHaveLength(1);
    for (const text of [textOf(lines.slice(0, 8)), ""])
      expect(await verified(text, { head })).toMatchObject({ intact: false, fault: { kind: "head" } });
  });
});

describe("a changed file", () => {
  const edit = (text: string): string => text.replace('"prod"', '"dev"');
  const changed = (line: number, change: (text: string) => string): string[] =>
    texts.with(line - 1, change(texts[line - 1]!));
  const without = (index: number): string[] => texts.filter((_, each) => each !== index);

  it.each<[string, string[], number, string, RegExp]>([
    ["a line removed", without(5), 6, "chain", /^line 6: it has the number 7, and 6 was expected: lines were removed/],
    [
      "the first removed and renumbered",
      [texts[1]!.replace('"n":2', '"n":1')],
      1,
      "chain",
      /^line 1: it does not follow/,
    ],
    ["edited", changed(5, edit), 6, "chain", /^line 6: it does not follow line 5, .* One of the two lines was changed/],
    ["its number edited", changed(5, (text) => text.replace('"n":5', '"n":7')), 5, "chain", /number 7, and 5/],
    ["a copy behind it", texts.toSpliced(4, 0, texts[3]!), 5, "chain", /number 4, and 5/],
    ["two in turn", texts.with(3, texts[4]!).with(4, texts[3]!), 4, "chain", /number 5, and 4/],
    ["no line", changed(5, () => "{}"), 5, "malformed", /^line 5: not as bootproof writes it: /],
    ["an empty line", texts.toSpliced(4, 0, ""), 5, "malformed", /not strict JSON/],
    ["a line that is too long", texts.toSpliced(4, 0, "x".repeat(MAX_LINE_BYTES + 1)), 5, "malformed", /longer than/],
  ])("%s", async (_, text, line, kind, message) => {
    const found = await verified(textOf(text));
    expect(found).toMatchObject({
      intact: false,
      complete: false,
      entries: line - 1,
      fault: { line, kind, file: null },
    });
    expect(found.fault!.message).toMatch(message);
  });

  it("that never ends a line is read up to the limit of a line", async () => {
    let pieces = 0;
    const endless = (function* () {
      for (; ; pieces++) yield new Uint8Array(1024 * 1024).fill(0x78);
    })();
    const { fault } = await verifyRun([{ name: null, stream: endless }]);
    expect([fault?.line, fault?.kind, pieces < 20]).toEqual([1, "malformed", true]);
  });

  it("without its last line feed is unfinished", async () => {
    const { fault } = await verified(textOf(lines).slice(0, -1));
    expect(fault).toMatchObject({ line: 9, kind: "unfinished" });
  });

  it("is never intact under a kept head, whatever lines were changed", async () => {
    const change = fc.oneof(
      fc.nat({ max: 8 }).map((at) => without(at)),
      fc.nat({ max: 8 }).map((at) => changed(at + 1, edit)),
      fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 9 })).map(([from, to]) => texts.toSpliced(to, 0, texts[from]!)),
      fc.shuffledSubarray(texts, { minLength: 1 }).filter((some) => some.join() !== texts.join()),
    );
    const check = async (text: string[]): Promise<void> => {
      expect((await verified(textOf(text), { head: lines[8]!.hash })).intact).toBe(false);
    };
    await fc.assert(fc.asyncProperty(change, check), { numRuns: runs(100) });
  });
});

describe("the times of a file", () => {
  it("may go back by a second", async () => {
    const ofSeconds = async (seconds: number): Promise<unknown[]> =>
      (await verified(textOf(await chained([audited(1), audited(2)], NO_LINES, -seconds)))).backwards.map(
        ({ entry }) => entry,
      );
    expect([await ofSeconds(1), await ofSeconds(2)]).toEqual([[], [1]]);
    await expect(verified("", { maxGapMs: 1 })).rejects.toThrow("options.now: required with options.maxGapMs");
  });
});
