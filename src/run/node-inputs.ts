/**
 * Opens inputs of lines. Unpacks compressed ones, and refuses inputs that are not NDJSON before anything is written.
 */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
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
    // Of an input that can be read only once, no more is kept than two entries.
    for (let [bytes, needed] = [0, 1]; lines.length < needed && bytes <= 2 * MAX_ENTRY_BYTES;) {
      const { done, value } = await chunks.next();
      const cut = done === true ? [cutter.rest() ?? []].flat() : [...cutter.cut(value)];
      lines.push(...cut.filter((line) => !isEmptyLine(line)).slice(0, FIRST_LINES));
      if (done === true) break;
      if (lines.length > 0 && !isEntryLine(lines[0]!)) needed = FIRST_LINES;
      if (canReopen) continue;
      held.push(value);
      bytes += value.length;
    }
    const packing = canReopen ? await packingAt(name) : null;
    if (canReopen) await chunks.return?.();
    else this.#begun.set(name, continued(held, chunks));
    refuseOtherForm(lines, name, packing);
  }

  #packed(name: string): AsyncIterable<Uint8Array> {
    if (name !== STDIN_INPUT) return chunksOf(name);
    if (this.#stdin === undefined) throw new TypeError("stdin: required, since an input is -");
    return this.#stdin;
  }
}

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

async function packingAt(path: string): Promise<Packing | null> {
  const file = await readable(path, open(path));
  try {
    return packingOf(await readable(path, firstBytes(file, LONGEST_MAGIC)));
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
  return (await packingAt(input)) === null ? found.size : null;
}

/**
 * The compressed formats that are recognized, and the program that unpacks a file to its stdout. Only gzip is unpacked
 * here: Node 20 has no Zstandard, and that of Node 22.23 ends without an error in a file that was cut off.
 */
const PACKINGS = [
  { name: "gzip", magic: [0x1f, 0x8b], program: "gzip -dc" },
  { name: "Zstandard", magic: [0x28, 0xb5, 0x2f, 0xfd], program: "zstd -dc" },
] as const;
type Packing = (typeof PACKINGS)[number];
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
  else if (packing.name === "gzip") yield* gunzipped(name, all);
  else throw notUnpacked(packing, name);
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

async function* gunzipped(name: string, packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const engine = createGunzip({ chunkSize: CHUNK });
  const fed = { bytes: 0, zeros: 0 };
  // The error is ignored here, because the engine reports it too.
  const feeding = pipeline(counted(packed, fed), engine).catch(() => {});
  try {
    for await (const chunk of engine) yield chunk as Uint8Array;
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!code.startsWith("Z_")) throw error;
    throw new RunInputError(name, `its gzip is damaged or truncated (${message})`, DAMAGED);
  } finally {
    engine.destroy();
    await feeding;
  }
  // Zero bytes may pad the last block. Node silently drops all data after the padding, so such data is an error here.
  if (fed.bytes - engine.bytesWritten > fed.zeros)
    throw new RunInputError(name, "unexpected data follows its gzip, after zero bytes", DAMAGED);
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

/** Number of lines that decide at most whether an input is NDJSON. */
const FIRST_LINES = 3;

/**
 * Throws {@link RunInputError} for an input that is no NDJSON, by its first lines: JSON over several lines, or a single
 * line with a list of anything but evidence. One odd line among others is only a malformed entry, because its author
 * could otherwise stop the whole audit.
 */
function refuseOtherForm([first, second, third]: readonly Uint8Array[], name: string, packing: Packing | null): void {
  if (first === undefined || isEntryLine(first)) return;
  const isAlone = first.length > MAX_ENTRY_BYTES || isWhole(first);
  const isClosed = third !== undefined && /^[\s\]}]+$/.test(textOf(third));
  if (second !== undefined && (isAlone || (isWhole(second) && !isClosed))) return;
  const what = isAlone ? "one line with a JSON list of neither boot proofs nor app proofs" : "JSON over several lines";
  const advice = `Write each value as a line: ${jqCommand(isList(first), name, packing)} | bootproof audit … -`;
  throw new RunInputError(name, `${what}: expected one entry on each line`, advice);
}

function jqCommand(ofList: boolean, name: string, packing: Packing | null): string {
  const jq = `jq -c ${ofList ? "'.[]'" : "."}`;
  if (name === STDIN_INPUT) return `… | ${jq}`;
  return packing === null ? `${jq} ${shellWord(name)}` : `${packing.program} ${shellWord(name)} | ${jq}`;
}

/** Whether a first line is judged as an entry, whatever follows it. */
function isEntryLine(line: Uint8Array): boolean {
  if (!beginsAsJson(line)) return true;
  if (line.length > MAX_ENTRY_BYTES) return !isList(line);
  const { value } = attempt(() => parseJson(line));
  if (!Array.isArray(value)) return value !== undefined || !goesOn(textOf(line));
  const kind = kindOfJson(value);
  return value.length === 0 || kind === "boot proofs" || kind === "app proofs";
}

const textOf = (line: Uint8Array): string => Buffer.from(line.buffer, line.byteOffset, line.length).toString();

const isList = (line: Uint8Array): boolean => /^[ \t\r]*\[/.test(textOf(line.subarray(0, 1024)));

/** Whether a line ends where JSON goes on. */
function goesOn(text: string): boolean {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, "");
  return !outside.includes('"') && /[[{,:]\s*$/.test(outside);
}

function isWhole(line: Uint8Array): boolean {
  const { value } = attempt(() => parseJson(line));
  return isJsonObject(value) || Array.isArray(value);
}
