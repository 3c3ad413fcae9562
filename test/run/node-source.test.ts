/** Lines and files, cut into batches, and resumed after any of them. */
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { LineInputs, inputBytes } from "../../src/run/node-inputs.js";
import { type InputBatch, readBatches } from "../../src/run/node-source.js";
import { LineCutter } from "../../src/run/lines.js";
import { fastTestFolder } from "../support/folder.js";
import { fc, runs } from "../support/property.js";

const folder = fastTestFolder();
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

const read = async (
  inputs: readonly string[],
  { stdin, batchEntries = 64 }: { readonly stdin?: AsyncIterable<Uint8Array>; readonly batchEntries?: number } = {},
): Promise<InputBatch[]> => {
  const all: InputBatch[] = [];
  for await (const batch of readBatches(inputs, new LineInputs(stdin), batchEntries)) all.push(batch);
  return all;
};
const textsOf = (batches: readonly InputBatch[]): string[] =>
  batches.flatMap(({ entries }) => entries.map((entry) => Buffer.from(entry).toString("latin1")));
const placesOf = (batches: readonly InputBatch[]): { readonly file: string; readonly line: number }[] =>
  batches.flatMap(({ places }) => places);
const numbersOf = (batches: readonly InputBatch[]): number[] => placesOf(batches).map(({ line }) => line);
const filesOf = (batches: readonly InputBatch[]): string[] => placesOf(batches).map(({ file }) => file);
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
        fc.array(fc.constantFrom("a", "{}", "\n", "\r\n", "\r", "\n\n", " ", "\t", "ä", "x".repeat(70)), {
          maxLength: 300,
        }),
        fc.infiniteStream(fc.integer({ min: 1, max: 90 })),
        async (parts, sizes) => {
          const bytes = Buffer.from(parts.join(""));
          const batches = await read(["-"], { stdin: inPieces(bytes, sizes) });
          const all = linesOf(bytes.toString("latin1")).map((line, at) => [at + 1, line] as const);
          const entries = all.filter(([, line]) => /[^ \t\r]/.test(line));
          expect(numbersOf(batches)).toEqual(entries.map(([n]) => n));
          expect(textsOf(batches)).toEqual(entries.map(([, line]) => line));
          expect(batches.at(-1)).toMatchObject({ emptyLines: all.length - entries.length, bytes: bytes.length });
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("that are too long are read up to one byte beyond the limit", () => {
    const cut = (text: string, size: number, limit: number): string[] => {
      const cutter = new LineCutter(limit);
      const lines: Uint8Array[] = [];
      for (let at = 0; at < text.length; at += size) lines.push(...cutter.cut(Buffer.from(text.slice(at, at + size))));
      const rest = cutter.rest();
      return [...lines, ...(rest === null ? [] : [rest])].map((line) => Buffer.from(line).toString());
    };
    for (const size of [1, 2, 3, 7, 100]) {
      expect(cut("abcd\nabcde\nabcdef\nabcd\r\nabcde\r\nabcdefghijk\r\nx", size, 4)).toEqual([
        "abcd",
        "abcde",
        "abcde",
        "abcd\r",
        "abcde",
        "abcde",
        "x",
      ]);
      expect(cut("abcdefghijk", size, 4)).toEqual(["abcde"]);
    }
  });

  it("that are empty are numbered, and cost no entry", async () => {
    const text = "a\n\n \t\r\nb\nc\n\n";
    const batches = await read([fileOf(text)], { batchEntries: 2 });
    expect([numbersOf(batches), textsOf(batches)]).toEqual([
      [1, 4, 5],
      ["a", "b", "c"],
    ]);
    expect(batches.at(-1)).toMatchObject({ emptyLines: 3, bytes: text.length });
    expect(numbersOf(await read([fileOf(text), fileOf("\nd")]))).toEqual([1, 4, 5, 2]);
    expect((await read([fileOf("\n\n")])).at(-1)).toMatchObject({ entries: [], emptyLines: 2, bytes: 2 });
    // Not JSON's white space, and a line that is too long.
    expect(textsOf(await read([fileOf("\u00a0\n\f\n")])).length).toBe(2);
    const [most, x] = [16 * 1024 * 1024, "x"];
    const long = await read([fileOf(`${" ".repeat(most + 5)}\n${x.repeat(most)}\r\n${x.repeat(most + 1)}\r\n`)]);
    expect(long.flatMap(({ entries }) => entries.map(({ length }) => length))).toEqual([most + 1, most, most + 1]);
  });

  it("of several inputs have their places", async () => {
    const [one, two] = [fileOf("a\nb\n"), fileOf("c")];
    const [name] = /[^/]+$/.exec(one)!;
    expect(placesOf(await read([one]))).toEqual([
      { file: name, line: 1 },
      { file: name, line: 2 },
    ]);
    const batches = await read([one, two, "-"], { stdin: inPieces(Buffer.from("d\n"), [2].values()) });
    expect(filesOf(batches)).toEqual([one, one, two, "stdin"]);
    expect(numbersOf(batches)).toEqual([1, 2, 1, 1]);
    expect(await inputBytes([one, two])).toBe(5);
    expect(await inputBytes([one, "-"])).toBeNull();
    expect(await inputBytes([folder])).toBeNull();
  });
});

describe("a compressed input", () => {
  const text = Array.from({ length: 3000 }, (_, at) => `line ${at}`).join("\n");
  const whole = gzipSync(text);
  const piped = (bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> =>
    inPieces(bytes, { next: () => ({ value: size }) } as Iterator<number>);

  it("is unpacked, whatever its name is, from stdin and a pipe too", async () => {
    const options = { batchEntries: 500 };
    const plain = await read([fileOf(text)], options);
    const packed = await read([fileOf(whole)], options);
    expect([numbersOf(packed), textsOf(packed)]).toEqual([numbersOf(plain), textsOf(plain)]);
    // What it is stands in its first bytes.
    for (const sizes of [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [3, 3, 3], []])
      expect(textsOf(await read(["-"], { stdin: inPieces(whole, [...sizes, 1 << 20].values()) }))).toEqual(
        textsOf(plain),
      );
    expect(await inputBytes([fileOf(whole)])).toBeNull();
  });

  it("may have several members, and grows by another", async () => {
    const members = Buffer.concat([whole, gzipSync("\nmore\n"), gzipSync(""), gzipSync("most\n")]);
    expect(textsOf(await read([fileOf(members)])).slice(-3)).toEqual(["line 2999", "more", "most"]);
    // Fill bytes, as tapes have them.
    expect(textsOf(await read([fileOf(Buffer.concat([whole, Buffer.alloc(512)]))])).length).toBe(3000);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ["cut off", whole.subarray(0, -3), /^its gzip is damaged or truncated \(unexpected end of file\)$/],
    ["cut off in its header", whole.subarray(0, 7), /unexpected end of file/],
    ["cut off in another member", Buffer.concat([whole, whole.subarray(0, 5)]), /unexpected end of file/],
    ["with another sum", whole.with(-7, whole.at(-7)! ^ 1), /incorrect data check/],
    ["changed", whole.with(40, whole[40]! ^ 0x55), /its gzip is damaged/],
    ["before other bytes", Buffer.concat([whole, Buffer.from("some other text")]), /incorrect header check/],
    [
      "before zeros and another member",
      Buffer.concat([whole, Buffer.alloc(20), gzipSync("omitted\n")]),
      /^unexpected data follows its gzip, after zero bytes$/,
    ],
  ])("is never cut off silently: %s", async (_, bytes, message) => {
    for (const inputs of [[fileOf(bytes)], ["-"]])
      await expect(read(inputs, { stdin: piped(bytes, 100) })).rejects.toMatchObject({
        name: "RunInputError",
        file: inputs[0],
        message: expect.stringMatching(message) as string,
        advice: expect.stringContaining("the same command then goes on") as string,
      });
  });

  it("that unpacks to far more is held within the limits of a line", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const member = gzipSync(Buffer.alloc(20 * 1024 * 1024, 0x78), { level: 1 });
    const held: number[] = [];
    const stdin = (async function* () {
      for (let count = 0; count < 8; count++)
        for (let at = 0; at < member.length; at += 20_000) {
          // The first collection leaves its buffers to another thread, and the second one waits for that.
          collect();
          collect();
          held.push(process.memoryUsage().arrayBuffers / 2 ** 20);
          yield member.subarray(at, at + 20_000);
        }
    })();
    const batches = await read(["-"], { stdin });
    expect(batches.flatMap(({ entries }) => entries.map(({ length }) => length))).toEqual([16 * 1024 * 1024 + 1]);
    // Of 160 MiB.
    expect(Math.max(...held) - held[0]!).toBeLessThan(64);
  });

  it("of Zstandard is named with a command", async () => {
    const path = `${fileOf("")} it's.zst`;
    const start = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]);
    writeFileSync(path, start);
    await expect(read([fileOf("{}"), path])).rejects.toMatchObject({
      file: path,
      message: "compressed with Zstandard, which bootproof cannot unpack",
      advice: `Unpack it: zstd -dc '${path.replace("'", "'\\''")}' | bootproof audit … -`,
    });
    await expect(read(["-"], { stdin: piped(start, 1) })).rejects.toMatchObject({
      advice: "Unpack it: zstd -dc | bootproof audit … -",
    });
  });
});

describe("an input without lines", () => {
  const proof = { ephemeralPublicKeyHex: "00", cloudAttestationDocB64: "" };
  const app = { proofPayload: "", signature: "", publicKey: "" };
  const details = { attestationDocument: "", manifestEnvelope: {} };
  const activity = { activity: {} };
  const LIST = "'.[]'";

  it.each<[string, string, string]>([
    ["a list of boot proofs", JSON.stringify([proof, proof], null, 2), LIST],
    ["its members on one line each", `[\n${JSON.stringify(proof)},\n${JSON.stringify(proof)}\n]\n`, LIST],
    ["one item", `[\n${JSON.stringify(activity)}\n]`, LIST],
    ["a list of lists", JSON.stringify([[1]], null, "\t"), LIST],
    ["empty lines before it", `\n \n${JSON.stringify([app], null, 2)}`, LIST],
    ["an object", JSON.stringify({ bootProofs: [proof] }, null, 2), "."],
    ["provisioning details", JSON.stringify(details, null, 4), "."],
    ["a member on the first line", `{"bootProofs": [\n  ${JSON.stringify(proof)}, ${JSON.stringify(proof)}\n]}`, "."],
    ["two members on it", `{ "a": "b]", "c":\r\n  [1,\n2] }`, "."],
    ["only its first line", "[", LIST],
    ["a list of activities, on one line", JSON.stringify([activity, activity]), LIST],
    ["a list of both", `\n${JSON.stringify([proof, app])}\n\n`, LIST],
    ["a list of texts", '["a","b"]\n', LIST],
    ["a list that is too long", `[${'"xxxxxxxxxxxxxxx",'.repeat(1024 * 1024)}1]`, LIST],
  ])("is named with the command that makes lines: %s", async (_, content, filter) => {
    const path = fileOf(content);
    await expect(read([fileOf("{}"), path])).rejects.toMatchObject({
      name: "RunInputError",
      file: path,
      message: expect.stringMatching(/expected one entry on each line$/) as string,
      advice: `Write each value as a line: jq -c ${filter} ${path} | bootproof audit … -`,
    });
    const stdin = (): AsyncIterable<Uint8Array> => inPieces(Buffer.from(content), [7, 1 << 26, 1].values());
    await expect(read(["-"], { stdin: stdin() })).rejects.toMatchObject({
      advice: `Write each value as a line: … | jq -c ${filter} | bootproof audit … -`,
    });
    if (content.length > 1024 * 1024) return;
    const packed = fileOf(gzipSync(content));
    await expect(read([packed])).rejects.toMatchObject({
      advice: `Write each value as a line: gzip -dc ${packed} | jq -c ${filter} | bootproof audit … -`,
    });
  });

  it.each<[string, string, number]>([
    ["a list of boot proofs", JSON.stringify([proof, { bootProof: proof }]), 1],
    ["a list of app proofs", `${JSON.stringify([app])}\n`, 1],
    ["a list, and a line after it", "[1,2]\n{}\n", 2],
    ["an empty list", "[]", 1],
    ["a bracket among lines", "[\n{}\n{}\n", 3],
    ["a line that was cut off", `{"bootProof":{"a":"x\n{}\n`, 2],
    ["one that was cut off after a comma", `{"bootProof":"x",\n{}\n`, 2],
    ["other text", "no JSON\n{\n", 2],
    ["a bracket later", `{}\n[\n`, 2],
    ["nothing", "", 0],
  ])("is not: %s", async (_, content, entries) => {
    expect(textsOf(await read([fileOf(content)])).length).toBe(entries);
    const stdin = inPieces(Buffer.from(content), { next: () => ({ value: 5 }) } as Iterator<number>);
    expect(textsOf(await read(["-"], { stdin }))).toEqual(textsOf(await read([fileOf(content)])));
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
    expect(numbersOf(both)).toEqual(Array(8).fill(1));
  });

  it("comes in batches", async () => {
    const names = Array.from({ length: 150 }, (_, at) => [`f${String(at).padStart(3, "0")}`, `entry ${at}`] as const);
    const whole = await read([folderOf(Object.fromEntries(names))]);
    expect(whole.map(({ entries }) => entries.length)).toEqual([64, 64, 22]);
  });

  it.skipIf(process.platform === "win32")("omits nothing silently", async () => {
    const path = folderOf({ a: "1" });
    symlinkSync(join(path, "a"), join(path, "b"));
    expect(textsOf(await read([path]))).toEqual(["1", "1"]);
    symlinkSync(folder, join(path, "c"));
    await expect(read([path])).rejects.toMatchObject({
      name: "RunInputError",
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
