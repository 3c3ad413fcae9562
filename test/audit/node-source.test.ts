/** Lines and files, cut into batches, and resumed after any of them. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { type InputBatch, type InputOptions, inputBatches, inputBytes } from "../../src/audit/node.js";
import { LineCutter } from "../../src/audit/lines.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-source-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
const fileOf = (content: string | Uint8Array): string => {
  const path = join(folder, `lines-${count++}`);
  writeFileSync(path, content);
  return path;
};
const folderOf = (files: Readonly<Record<string, string>>): string => {
  const path = join(folder, `folder-${count++}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
};

const read = async (inputs: readonly string[], options?: InputOptions): Promise<InputBatch[]> => {
  const all: InputBatch[] = [];
  for await (const batch of inputBatches(inputs, { batchEntries: 64, ...options })) all.push(batch);
  return all;
};
const textsOf = (batches: readonly InputBatch[]): string[] =>
  batches.flatMap(({ entries }) => entries.map((entry) => Buffer.from(entry).toString("latin1")));
const filesOf = (batches: readonly InputBatch[]): unknown[] => batches.flatMap(({ files }) => files);
async function* inPieces(bytes: Uint8Array, sizes: Iterator<number>): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const size = sizes.next().value as number;
    await Promise.resolve();
    yield bytes.slice(at, at + size);
    at += size;
  }
}

/** What a line is, in other words. */
const linesOf = (text: string): string[] => {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => line.replace(/\r$/, ""));
};

describe("lines", () => {
  it("are cut at any piece boundary, and numbered continuously", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "{}", "\n", "\r\n", "\r", "\n\n", "ä", "x".repeat(70)), { maxLength: 300 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 90 })),
        async (parts, sizes) => {
          const bytes = Buffer.from(parts.join(""));
          const batches = await read(["-"], { stdin: inPieces(bytes, sizes) });
          expect(textsOf(batches)).toEqual(linesOf(bytes.toString("latin1")));
          let first = 1;
          for (const [index, batch] of batches.entries()) {
            expect([batch.index, batch.first]).toEqual([index, first]);
            expect(batch.entries.length).toBeGreaterThan(0);
            first += batch.entries.length;
          }
          expect(batches.at(-1)?.end.bytes ?? 0).toBe(bytes.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("that are too long are read up to one byte beyond the limit", () => {
    const cut = (text: string, size: number, limit: number): string[] => {
      const cutter = new LineCutter(limit);
      const lines: Uint8Array[] = [];
      for (let at = 0; at < text.length; at += size)
        for (const { line } of cutter.cut(Buffer.from(text.slice(at, at + size)))) lines.push(line);
      const rest = cutter.rest();
      return [...lines, ...(rest === null ? [] : [rest])].map((line) => Buffer.from(line).toString());
    };
    for (const size of [1, 2, 3, 7, 100]) {
      expect(cut("abcd\nabcde\nabcdef\nabcd\r\nabcde\r\nabcdefghijk\r\nx", size, 4)).toEqual([
        "abcd",
        "abcde",
        "abcde",
        "abcd",
        "abcde",
        "abcde",
        "x",
      ]);
      expect(cut("abcdefghijk", size, 4)).toEqual(["abcde"]);
    }
  });

  it("can be read from any batch on, but not from another input", async () => {
    const text = Array.from({ length: 500 }, (_, at) => `line ${at} ${"x".repeat(at % 50)}`).join("\r\n");
    const [one, two] = [fileOf(text), fileOf(`${text}\n`)];
    for (const inputs of [[one], [one, two]]) {
      const whole = await read(inputs, { digest: true });
      for (const [index, { end }] of whole.entries()) {
        const rest = await read(inputs, { digest: true, from: end });
        expect(textsOf(rest)).toEqual(textsOf(whole.slice(index + 1)));
        expect(filesOf(rest)).toEqual(filesOf(whole.slice(index + 1)));
        expect(rest.map((each) => each.end)).toEqual(whole.slice(index + 1).map((each) => each.end));
        expect(rest[0]?.first ?? end.entries + 1).toBe(end.entries + 1);
      }
    }
    const [first, second] = await read([one], { digest: true });
    const again = (content: string): Promise<unknown> => read([fileOf(content)], { digest: true, from: second!.end });
    await expect(again(text.replace("line 3 ", "line 4 "))).rejects.toThrow(/it was changed since the run/);
    await expect(again(text.slice(0, first!.end.offset))).rejects.toThrow(/it was changed since/);
    await expect(again(`${text}\nmore`)).resolves.toBeDefined();
    // The last line may end, and not go on.
    const all = (await read([one], { digest: true })).at(-1)!.end;
    const after = async (more: string, size: number): Promise<string[]> => {
      const pieces = inPieces(Buffer.from(`${text}${more}`), { next: () => ({ value: size }) } as Iterator<number>);
      return textsOf(await read(["-"], { digest: true, from: all, stdin: pieces }));
    };
    for (const size of [1, 7, text.length, 1 << 20]) {
      expect(await after("\nmore", size)).toEqual(["more"]);
      expect(await after("\r\nmore\n", size)).toEqual(["more"]);
      expect(await after("\n\nmore", size)).toEqual(["", "more"]);
      for (const none of ["", "\n", "\r\n"]) expect(await after(none, size)).toEqual([]);
      for (const other of ["more", "more\n", " \n", "\rmore\n"])
        await expect(after(other, size)).rejects.toThrow(/it is another one than/);
    }
    const two500 = (await read([one, two], { digest: true })).at(-1)!.end;
    await expect(read([two, two], { digest: true, from: two500 })).rejects.toThrow(/it, or an input before it, was/);
    const stdin = inPieces(Buffer.from("another"), [3, 3, 3].values());
    await expect(read(["-"], { digest: true, from: second!.end, stdin })).rejects.toThrow(/it is another one than/);
  });

  it("of several inputs have their places", async () => {
    const [one, two] = [fileOf("a\nb\n"), fileOf("c")];
    expect(filesOf(await read([one]))).toEqual([null, null]);
    const batches = await read([one, two, "-"], { stdin: inPieces(Buffer.from("d\n"), [2].values()) });
    expect(filesOf(batches)).toEqual([`${one}:1`, `${one}:2`, `${two}:1`, "stdin:1"]);
    expect(batches.map(({ first }) => first)).toEqual([1, 3, 4]);
    expect(await inputBytes([one, two])).toBe(5);
    expect(await inputBytes([one, "-"])).toBeNull();
    expect(await inputBytes([folder])).toBeNull();
  });
});

describe("a folder", () => {
  const FILES = { "b.json": "2", "a/z.json": "1", "B.json": "0", ä: "5", "c/d/e": "3", "c/f": "" };

  it("is read file by file, in the order of the bytes of names, folders inside it too", async () => {
    const path = folderOf(FILES);
    const batches = await read([path]);
    expect(filesOf(batches)).toEqual(["B.json", "a/z.json", "b.json", "c/d/e", "c/f", "ä"]);
    expect(textsOf(batches)).toEqual(["0", "1", "2", "3", "", "5"]);
    const other = folderOf({ x: "y" });
    const both = await read([`${other}/`, path, fileOf("l\n")]);
    expect(filesOf(both).slice(0, 2)).toEqual([`${other}/x`, `${path}/B.json`]);
    expect(both.flatMap(({ first, entries }) => entries.map((_, at) => first + at))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("can be resumed, but not if it changed", async () => {
    const names = Array.from({ length: 150 }, (_, at) => [`f${String(at).padStart(3, "0")}`, `entry ${at}`] as const);
    const path = folderOf(Object.fromEntries(names));
    const whole = await read([path], { digest: true });
    expect(whole.map(({ entries }) => entries.length)).toEqual([64, 64, 22]);
    for (const [index, { end }] of whole.entries()) {
      const rest = await read([path], { digest: true, from: end });
      expect(textsOf(rest)).toEqual(textsOf(whole.slice(index + 1)));
      expect(rest.map((each) => each.end)).toEqual(whole.slice(index + 1).map((each) => each.end));
    }
    // By its content: a time says nothing.
    for (const name of ["f003", "f004"]) utimesSync(join(path, name), new Date(0), new Date(0));
    await expect(read([path], { digest: true, from: whole[0]!.end })).resolves.toHaveLength(2);
    writeFileSync(join(path, "f003"), "entry x");
    utimesSync(join(path, "f003"), new Date(0), new Date(0));
    await expect(read([path], { digest: true, from: whole[0]!.end })).rejects.toThrow(/it was changed since/);
    rmSync(path, { recursive: true });
    mkdirSync(path);
    await expect(read([path], { digest: true, from: whole[0]!.end })).rejects.toThrow(/it was changed since/);
  });

  it.skipIf(process.platform === "win32")("omits nothing silently", async () => {
    const path = folderOf({ a: "1" });
    symlinkSync(join(path, "a"), join(path, "b"));
    expect(textsOf(await read([path]))).toEqual(["1", "1"]);
    symlinkSync(folder, join(path, "c"));
    await expect(read([path])).rejects.toMatchObject({
      name: "AuditInputError",
      file: `${path}/c`,
      message: expect.stringMatching(/neither a file nor a folder/) as string,
    });
    rmSync(join(path, "c"));
    symlinkSync(join(folder, "nowhere"), join(path, "c"));
    await expect(read([path])).rejects.toThrow("there is no such file or folder");
    await expect(read([join(folder, "nowhere")])).rejects.toThrow("there is no such file or folder");
  });

  it("with files that are too large is read up to one byte beyond the limit", async () => {
    const path = folderOf({ small: "s" });
    writeFileSync(join(path, "large"), Buffer.alloc(16 * 1024 * 1024 + 1000));
    appendFileSync(join(path, "small"), "!");
    const batches = await read([path]);
    expect(batches.flatMap(({ entries }) => entries.map(({ length }) => length))).toEqual([16 * 1024 * 1024 + 1, 2]);
  });
});
