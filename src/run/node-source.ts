/** Reads inputs in a fixed order, and marks positions at which another run can resume. */
import { plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, flag, nullish, optional, wholeNumber } from "../decode/shapes.js";
import { type Hash, createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import type { Batch } from "./batch.js";
import { MAX_ENTRY_BYTES } from "./entry.js";
import { LineCutter, isEmptyLine } from "./lines.js";
import { changedInput, filesIn, insideOf } from "./node-extent.js";
import {
  type AuditInputError,
  CHUNK,
  type Extent,
  LineInputs,
  STDIN_INPUT,
  firstBytes,
  readable,
} from "./node-inputs.js";

export interface AuditPosition {
  readonly entries: number;
  /** Number of empty lines. They are not entries, but are numbered like them. */
  readonly emptyLines: number;
  /** Number of bytes read. For a compressed input, these are the unpacked bytes. */
  readonly bytes: number;
  /**
   * Index of the current input, from 0. `offset` is how much of this input was read: bytes, unpacked, or files of a
   * folder. `inputLines` is the number of its lines or files that were read.
   */
  readonly input: number;
  readonly offset: number;
  readonly inputLines: number;
  /** SHA-256 of everything before the position. Null if it was not requested. */
  readonly digest: string | null;
}

export interface InputBatch extends Batch {
  readonly end: AuditPosition;
  /** The place of each entry, such as `FILE:LINE`. Null if the entry's number is enough to find it. */
  readonly files: readonly (string | null)[];
}

export interface InputOptions {
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** The position to resume from. The reader throws {@link AuditInputError} if the inputs before it differ. */
  readonly from?: AuditPosition | null;
  /** Whether positions have a digest. Resuming requires it. */
  readonly digest?: boolean;
  /** Maximum number of entries in a batch. Default: 512. */
  readonly batchEntries?: number;
}

/**
 * The default number of entries in a batch: large enough that handing over a batch costs little, and small enough that
 * no thread waits long for the last batch.
 */
const BATCH_ENTRIES = 512;

/**
 * Returns the entries of all inputs, in batches. An input is a file of lines, {@link STDIN_INPUT}, or a folder. Each
 * file in a folder, at any depth, is an entry, in the order of the bytes of the names. Lines may be compressed with
 * gzip. Empty lines are numbered, but are not entries: a batch without entries has only a position. Throws {@link
 * AuditInputError} before the first batch if an input is one JSON value over several lines, one list of anything but
 * boot proofs or app proofs, or compressed with Zstandard.
 */
export function inputBatches(inputs: readonly string[], options: InputOptions = {}): AsyncGenerator<InputBatch> {
  const { stdin, from = null, digest = false, batchEntries } = typedOptions("options", options, INPUT_OPTIONS);
  const opened = new LineInputs(stdin);
  return readBatches([...inputs], { from, digest, batchEntries, comparesOnly: false, limits: null, opened });
}

export const INPUT_OPTIONS: MembersOf<InputOptions> = {
  stdin: optional(unchecked),
  from: nullish(plain),
  digest: optional(flag),
  batchEntries: optional(wholeNumber(1)),
};

interface SourceReading {
  readonly from: AuditPosition | null;
  readonly digest: boolean;
  readonly batchEntries: number | undefined;
  /**
   * Whether only to compare the inputs with the earlier run: nothing is yielded, and reading stops where it would
   * resume.
   */
  readonly comparesOnly: boolean;
  /** Where reading ends in each input. Null for an input, or for all, means its end. */
  readonly limits: readonly (Extent | null)[] | null;
  /** The inputs, which may already be open. */
  readonly opened: LineInputs;
}

/** Reads inputs as {@link inputBatches} does, with options for internal use only. */
export async function* readBatches(inputs: readonly string[], reading: SourceReading): AsyncGenerator<InputBatch> {
  const { comparesOnly, from, opened } = reading;
  await opened.check(inputs);
  const reader = new InputReader(inputs, reading);
  const last = comparesOnly && from !== null ? from.input : inputs.length - 1;
  for (let input = 0; input <= last; input++) yield* reader.read(input);
}

function linesBefore(position: Pick<AuditPosition, "entries" | "emptyLines"> | null): number {
  return position === null ? 0 : position.entries + position.emptyLines;
}

class InputReader {
  readonly #inputs: readonly string[];
  readonly #reading: SourceReading;
  readonly #from: AuditPosition | null;
  readonly #hash: Hash | null;
  readonly #batchEntries: number;
  #isSame = false;
  #isOpen = false;
  #index = 0;
  /** The position after the last batch. More of the input may have been read. */
  #at: Omit<AuditPosition, "digest">;
  #entries: Uint8Array[] = [];
  #files: (string | null)[] = [];
  #numbers: number[] = [];
  /** The number of empty lines since the last batch. */
  #emptyLines = 0;

  constructor(inputs: readonly string[], reading: SourceReading) {
    const { from, digest, batchEntries = BATCH_ENTRIES } = reading;
    [this.#inputs, this.#reading, this.#batchEntries] = [inputs, reading, batchEntries];
    this.#from = linesBefore(from) > 0 ? from : null;
    this.#hash = digest || (this.#from?.digest ?? null) !== null ? createHash("sha256") : null;
    this.#at = this.#from ?? { entries: 0, emptyLines: 0, bytes: 0, input: 0, offset: 0, inputLines: 0 };
  }

  /** Reads an input. The part before the position to resume from is compared with the digest. */
  async *read(input: number): AsyncGenerator<InputBatch> {
    const name = this.#inputs[input]!;
    this.#hash?.update(`input ${input}\n`);
    const before = this.#doneOf(input);
    if (before === 0) this.#at = { ...this.#at, input, offset: 0, inputLines: 0 };
    const limit = this.#reading.limits?.[input] ?? null;
    const isFolder = name !== STDIN_INPUT && (await readable(name, stat(name))).isDirectory();
    yield* isFolder ? this.#folder(name, before, limit) : this.#lines(name, before, limit);
    // If the position was not reached, the input is shorter than in the earlier run.
    if (input === this.#from?.input && !this.#isSame) throw this.#changed(name);
  }

  #doneOf(input: number): number {
    if (this.#from === null || input > this.#from.input) return 0;
    return input < this.#from.input ? Infinity : this.#from.offset;
  }

  async *#lines(name: string, before: number, limit: Extent | null): AsyncGenerator<InputBatch> {
    const cutter = new LineCutter(MAX_ENTRY_BYTES);
    let left = before;
    for await (const chunk of this.#reading.opened.chunks(name, limit)) {
      const known = chunk.subarray(0, Math.min(left, chunk.length));
      this.#hash?.update(known);
      left -= known.length;
      if (left === 0 && known.length > 0) {
        this.#compare(name);
        this.#isOpen = known.at(-1) !== LF;
      }
      if (this.#isSame && this.#reading.comparesOnly && !this.#isOpen) return;
      yield* this.#cut(name, chunk.subarray(known.length), cutter);
    }
    const last = cutter.rest();
    if (last !== null) this.#addLine(last, name);
    this.#isOpen = false;
    if (this.#lineCount > 0) yield this.#flush();
  }

  /** Yields a batch after each chunk, so that entries of a slow stdin are judged at once. */
  async *#cut(name: string, chunk: Uint8Array, cutter: LineCutter): AsyncGenerator<InputBatch> {
    let [done, last] = [0, 0];
    const take = (end: number): void => {
      this.#hash?.update(chunk.subarray(done, end));
      this.#at = { ...this.#at, offset: this.#at.offset + end - done, bytes: this.#at.bytes + end - done };
      done = end;
    };
    for (const { line, end } of cutter.cut(chunk)) {
      this.#addLine(line, name);
      last = end;
      if (this.#entries.length < this.#batchEntries) continue;
      take(end);
      yield this.#flush();
    }
    if (this.#lineCount > 0) {
      take(last);
      yield this.#flush();
    }
    take(chunk.length);
  }

  async *#folder(name: string, before: number, limit: Extent | null): AsyncGenerator<InputBatch> {
    let count = 0;
    let size = 0;
    for await (const { path, shown } of filesIn(Buffer.from(name), name)) {
      if (count === limit?.size) break;
      const file = await readable(shown, open(path));
      try {
        const entry = await readable(shown, start(file));
        const inside = insideOf(name, shown);
        this.#hash?.update(`${inside}\0${entry.length}\n`).update(entry);
        count++;
        if (count === before) this.#compare(name);
        if (count === before && this.#reading.comparesOnly) return;
        if (count <= before) continue;
        this.#at = { ...this.#at, offset: count, bytes: this.#at.bytes + entry.length };
        this.#add(entry, this.#placeOf(name, inside));
        size += entry.length;
      } finally {
        await file.close();
      }
      if (this.#entries.length < this.#batchEntries && size < CHUNK) continue;
      size = 0;
      yield this.#flush();
    }
    if (this.#entries.length > 0) yield this.#flush();
  }

  #addLine(line: Uint8Array, name: string): void {
    const isEmpty = line.length <= MAX_ENTRY_BYTES && isEmptyLine(line);
    if (!this.#isOpen && !isEmpty) return this.#add(line, this.#placeOf(name, null));
    if (!this.#isOpen) return void (this.#emptyLines += this.#reading.comparesOnly ? 0 : 1);
    // An earlier run judged the line before the position without its line feed. The line may end now, but must not
    // continue.
    if (line.length > 0) throw this.#changed(name);
    this.#isOpen = false;
  }

  #add(entry: Uint8Array, file: string | null): void {
    if (this.#reading.comparesOnly) return;
    this.#numbers.push(linesBefore(this.#at) + this.#lineCount + 1);
    this.#entries.push(entry);
    this.#files.push(file);
  }

  /** The number of lines and files since the last batch. */
  get #lineCount(): number {
    return this.#entries.length + this.#emptyLines;
  }

  /** Returns the place of an entry. Null for a single file of lines, where the entry's number is its line. */
  #placeOf(name: string, inside: string | null): string | null {
    const isOne = this.#inputs.length === 1;
    if (inside !== null) return isOne ? inside : `${name.replace(/\/+$/, "")}/${inside}`;
    const line = this.#at.inputLines + this.#lineCount + 1;
    return isOne ? null : `${name === STDIN_INPUT ? "stdin" : name}:${line}`;
  }

  #flush(): InputBatch {
    const [entries, files, numbers] = [this.#entries, this.#files, this.#numbers];
    const [lines, emptyLines] = [this.#lineCount, this.#emptyLines];
    const first = numbers[0] ?? linesBefore(this.#at) + 1;
    [this.#entries, this.#files, this.#numbers, this.#emptyLines] = [[], [], [], 0];
    this.#at = {
      ...this.#at,
      entries: this.#at.entries + entries.length,
      emptyLines: this.#at.emptyLines + emptyLines,
      inputLines: this.#at.inputLines + lines,
    };
    const hasGaps = numbers.some((number, at) => number !== first + at);
    const end = { ...this.#at, digest: this.#digest() };
    return { index: this.#index++, first, ...(hasGaps && { numbers }), entries, files, end };
  }

  #digest(): string | null {
    return this.#hash?.copy().digest("hex") ?? null;
  }

  #compare(name: string): void {
    if (this.#from!.digest !== this.#digest()) throw this.#changed(name);
    this.#isSame = true;
  }

  #changed(name: string): AuditInputError {
    return changedInput(name, (this.#from?.input ?? 0) > 0 ? "it, or an input before it," : "it");
  }
}

const LF = 0x0a;

async function start(file: FileHandle): Promise<Uint8Array> {
  const { size } = await file.stat();
  // The file may grow while it is read, so its present size limits how much is read.
  return firstBytes(file, Math.min(size, MAX_ENTRY_BYTES) + 1);
}
