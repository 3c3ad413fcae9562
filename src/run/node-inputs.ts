/**
 * Opens inputs of lines. Unpacks compressed ones, and refuses inputs that are not NDJSON before anything is written.
 */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Gunzip, createGunzip } from "node:zlib";
import { isJsonObject, parseJson } from "../decode/json.js";
import { diskReason } from "../disk/reason.js";
import { attempt } from "../errors.js";
import { beginsAsJson, kindOfJson } from "../inspect/kinds.js";
import { MAX_ENTRY_BYTES } from "./entry.js";
import { LineCutter, isEmptyLine } from "./lines.js";

export const STDIN_INPUT = "-";

/** Thrown for an input that cannot be read, or does not contain entries. */
export class RunInputError extends Error {
  override readonly name = "RunInputError";
  readonly file: string;
  /** What to do, such as a command for a shell. Null if the message already says what to do. */
  readonly advice: string | null;

  constructor(file: string, message: string, advice: string | null = null) {
    super(message);
    this.file = file;
    this.advice = advice;
  }
}

/** Turns system errors into {@link RunInputError}. */
export function readable<T>(file: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw inputProblem(file, error);
  });
}

function inputProblem(file: string, error: unknown): unknown {
  const reason = diskReason(error);
  return reason === null ? error : new RunInputError(file, reason);
}

export const CHUNK = 1024 * 1024;

/** The inputs of one run. For an input that can be read only once, `chunks` also yields what {@link check} has read. */
export class LineInputs {
  readonly #stdin: AsyncIterable<Uint8Array> | undefined;
  readonly #begun = new Map<string, AsyncIterable<Uint8Array>>();
  #isChecked = false;

  constructor(stdin: AsyncIterable<Uint8Array> | undefined) {
    this.#stdin = stdin;
  }

  /** Returns the unpacked bytes of an input. */
  chunks(name: string): AsyncIterable<Uint8Array> {
    const begun = this.#begun.get(name);
    this.#begun.delete(name);
    return begun ?? unpacked(name, this.#packed(name));
  }

  /** Throws {@link RunInputError} for an input that is missing, damaged at its beginning, or not NDJSON. */
  async check(inputs: readonly string[]): Promise<void> {
    if (this.#isChecked) return;
    this.#isChecked = true;
    for (const name of inputs) {
      const found = name === STDIN_INPUT ? null : await readable(name, stat(name));
      if (found?.isDirectory() !== true) await this.#checkLines(name, found?.isFile() === true);
    }
  }

  async #checkLines(name: string, canReopen: boolean): Promise<void> {
    const chunks = this.chunks(name)[Symbol.asyncIterator]();
    const held: Uint8Array[] = [];
    const cutter = new LineCutter(MAX_ENTRY_BYTES);
    const lines: Uint8Array[] = [];
    let form: OtherForm | null | undefined;
    for (let bytes = 0; form === undefined;) {
      const { done, value } = await chunks.next();
      const cut = done === true ? [cutter.rest() ?? []].flat() : [...cutter.cut(value)];
      lines.push(...cut.filter((line) => !isEmptyLine(line)).slice(0, FIRST_LINES));
      form = formOf(lines, done === true);
      if (done === true || canReopen) continue;
      held.push(value);
      // No more can be kept of an input that can be read only once, so its lines are judged as they are.
      if ((bytes += value.length) > MAX_HELD_BYTES) form ??= null;
    }
    const packing = canReopen ? packingOf(await startOf(name, LONGEST_MAGIC)) : null;
    if (canReopen) await chunks.return?.();
    else this.#begun.set(name, continued(held, chunks));
    if (form !== null) throw noLines(name, form, packing);
  }

  #packed(name: string): AsyncIterable<Uint8Array> {
    if (name !== STDIN_INPUT) return chunksOf(name);
    if (this.#stdin === undefined) throw new TypeError("stdin: required, since an input is -");
    return this.#stdin;
  }
}

/**
 * Maximum bytes that are kept when an input that can be read only once is checked: a whole entry, and bytes after it.
 */
const MAX_HELD_BYTES = 2 * MAX_ENTRY_BYTES;

/** Yields chunks that each have their own memory, because entries are views of chunks and would be overwritten. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw inputProblem(path, error);
  }
}

/** The part of Node's `FileHandle` that reads: the public types need none of Node's. */
interface OpenFile {
  read(buffer: Uint8Array, offset: number, length: number, position: null): Promise<{ readonly bytesRead: number }>;
}

/** Reads at most `most` bytes from the beginning of an open file. */
export async function firstBytes(file: OpenFile, most: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(most);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

async function startOf(path: string, most: number): Promise<Uint8Array> {
  const file = await readable(path, open(path));
  try {
    return await readable(path, firstBytes(file, most));
  } finally {
    await file.close();
  }
}

/** Returns the total size of all inputs, unpacked, or null if the size of an input is not known yet. */
export async function inputBytes(inputs: readonly string[]): Promise<number | null> {
  const sizes = await Promise.all(inputs.map((input) => sizeOf(input).catch(() => null)));
  return sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0);
}

async function sizeOf(input: string): Promise<number | null> {
  const found = input === STDIN_INPUT ? null : await stat(input);
  if (found?.isFile() !== true) return null;
  return packingOf(await startOf(input, LONGEST_MAGIC)) === null ? found.size : null;
}

interface Packing {
  readonly name: string;
  readonly magic: readonly number[];
  /** The program that unpacks a file to its stdout. */
  readonly program: string;
  /** Makes a stream that unpacks this format. Null means that this package cannot unpack it. */
  readonly engine: (() => Gunzip) | null;
}

const PACKINGS: readonly Packing[] = [
  {
    name: "gzip",
    magic: [0x1f, 0x8b],
    program: "gzip -dc",
    engine: () => createGunzip({ chunkSize: CHUNK }),
  },
  {
    name: "Zstandard",
    magic: [0x28, 0xb5, 0x2f, 0xfd],
    program: "zstd -dc",
    // Node 20 cannot unpack Zstandard. Node 22.23 can, but reports no error for a truncated file, and stops after the
    // first frame.
    engine: null,
  },
];
const LONGEST_MAGIC = 4;

function packingOf(start: Uint8Array): Packing | null {
  return PACKINGS.find(({ magic }) => magic.every((byte, at) => start[at] === byte)) ?? null;
}

/** Unpacks a compressed input. Its first bytes show whether it is compressed, because its name may be misleading. */
async function* unpacked(name: string, packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = packed[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let start: Uint8Array = new Uint8Array();
  while (start.length < LONGEST_MAGIC) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    held.push(value);
    start = start.length === 0 ? value : Buffer.concat([start, value]);
  }
  const packing = packingOf(start);
  const all = continued(held, chunks);
  if (packing === null) yield* all;
  else yield* unpackedBy(packing, name, all);
}

/** Yields the chunks that were already read, and then the rest of the input. */
async function* continued(held: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* held;
    for (;;) {
      const { done, value } = await rest.next();
      if (done === true) return;
      yield value;
    }
  } finally {
    await rest.return?.();
  }
}

async function* unpackedBy(
  packing: Packing,
  name: string,
  packed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (packing.engine === null) throw notUnpacked(packing, name);
  const engine = packing.engine();
  const fed = { bytes: 0, zeros: 0 };
  // The error is ignored here, because the engine reports it too.
  const feeding = pipeline(counted(packed, fed), engine).catch(() => {});
  try {
    for await (const chunk of engine) yield chunk as Uint8Array;
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!code.startsWith("Z_")) throw error;
    throw new RunInputError(name, `its ${packing.name} is damaged or truncated (${message})`, DAMAGED);
  } finally {
    engine.destroy();
    await feeding;
  }
  // Zero bytes may pad the last block. Node silently drops all data after the padding, so such data is an error here.
  if (fed.bytes - engine.bytesWritten > fed.zeros)
    throw new RunInputError(name, `unexpected data follows its ${packing.name}, after zero bytes`, DAMAGED);
}

const DAMAGED =
  "Entries before the damage are judged, but the input is not whole: write it again. With --resume, the same " +
  "command then goes on.";

/** Counts the bytes, and the zeros at their end. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  fed: { bytes: number; zeros: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    let zeros = 0;
    while (zeros < chunk.length && chunk[chunk.length - 1 - zeros] === 0) zeros++;
    fed.zeros = zeros === chunk.length ? fed.zeros + zeros : zeros;
    fed.bytes += chunk.length;
    yield chunk;
  }
}

function notUnpacked({ name: packing, program }: Packing, name: string): RunInputError {
  const from = name === STDIN_INPUT ? program : `${program} ${shellWord(name)}`;
  return new RunInputError(
    name,
    `compressed with ${packing}, which bootproof cannot unpack`,
    `Unpack it: ${from} | bootproof audit … -`,
  );
}

/** Quotes a text for a shell. */
function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The form of an input that is not NDJSON. */
type OtherForm = "a list over several lines" | "an object over several lines" | "a list on one line";

/** Messages, and filters of jq: `jq -c .` writes each value as a line, and `jq -c '.[]'` each item of a list. */
const FORMS: Readonly<Record<OtherForm, readonly [message: string, filter: string]>> = {
  "a list over several lines": ["a JSON list over several lines: expected one entry on each line", "'.[]'"],
  "an object over several lines": ["JSON over several lines: expected one entry on each line", "."],
  "a list on one line": [
    "one line with a JSON list of neither boot proofs nor app proofs: expected one entry on each line",
    "'.[]'",
  ],
};

function noLines(name: string, form: OtherForm, packing: Packing | null): RunInputError {
  const [message, filter] = FORMS[form];
  const jq = `jq -c ${filter}`;
  const file = shellWord(name);
  const ofFile = packing === null ? `${jq} ${file}` : `${packing.program} ${file} | ${jq}`;
  const command = name === STDIN_INPUT ? `… | ${jq}` : ofFile;
  return new RunInputError(name, message, `Write each value as a line: ${command} | bootproof audit … -`);
}

/** The number of lines that decide at most. */
const FIRST_LINES = 3;

/**
 * Returns the form of an input whose first lines these are; null for NDJSON, and undefined if it depends on lines that
 * follow. One odd line is only a malformed entry, because its author could otherwise stop the whole audit.
 */
function formOf(lines: readonly Uint8Array[], isAll: boolean): OtherForm | null | undefined {
  const [first, second] = lines;
  if (first === undefined) return isAll ? null : undefined;
  const begun = beginningOf(first);
  if (begun === "line") return null;
  if (second === undefined && !isAll) return undefined;
  if (begun === "list") return second === undefined ? "a list on one line" : null;
  const isOver = goesOn(begun, lines, isAll);
  if (isOver !== true) return isOver === undefined ? undefined : null;
  return first.find((byte) => !BLANKS.includes(byte)) === OPENING ? OVER_LINES[0] : OVER_LINES[1];
}

/** Whether the first line begins a value over lines. Brackets before a whole value do where only brackets follow it. */
function goesOn(begun: "brackets" | "open", lines: readonly Uint8Array[], isAll: boolean): boolean | undefined {
  const [, second, third] = lines;
  if (second === undefined) return begun === "brackets";
  if (!isWhole(second)) return true;
  if (begun === "open") return false;
  if (third === undefined) return isAll ? false : undefined;
  return /^[\s\]}]+$/.test(textOf(third));
}

const OVER_LINES = ["a list over several lines", "an object over several lines"] as const;
const OPENING = 0x5b;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d];

const textOf = (line: Uint8Array): string => Buffer.from(line.buffer, line.byteOffset, line.length).toString();

/**
 * Classifies the first line: `list` is a complete list of anything but evidence, `brackets` has only opening brackets,
 * `open` ends where JSON continues, and `line` is anything else, which is judged as an entry.
 */
function beginningOf(line: Uint8Array): "list" | "brackets" | "open" | "line" {
  if (!beginsAsJson(line)) return "line";
  if (line.length > MAX_ENTRY_BYTES) return line.find((byte) => !BLANKS.includes(byte)) === OPENING ? "list" : "line";
  const { value } = attempt(() => parseJson(line));
  if (Array.isArray(value)) {
    const kind = kindOfJson(value);
    return value.length === 0 || kind === "boot proofs" || kind === "app proofs" ? "line" : "list";
  }
  if (value !== undefined) return "line";
  const text = textOf(line);
  if (/^[\s[{]+$/.test(text)) return "brackets";
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, "");
  return !outside.includes('"') && /[[{,:]\s*$/.test(outside) ? "open" : "line";
}

function isWhole(line: Uint8Array): boolean {
  const { value } = attempt(() => parseJson(line));
  return isJsonObject(value) || Array.isArray(value);
}
