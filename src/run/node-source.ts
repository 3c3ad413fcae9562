/** Reads inputs in a fixed order, in batches of entries with their places. */
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename } from "node:path";
import { MAX_ENTRY_BYTES } from "./entry.js";
import type { Batch } from "./judge.js";
import type { EntryPlace } from "./line.js";
import { LineCutter, isEmptyLine, withoutReturn } from "./lines.js";
import { CHUNK, type LineInputs, RunInputError, STDIN_INPUT, firstBytes, readable } from "./node-inputs.js";

export interface InputBatch extends Batch {
  /** The place of each entry: the file, as {@link readBatches} names it, and the line, which is 1 in a folder. */
  readonly places: readonly EntryPlace[];
  /** Number of bytes that were read so far. For a compressed input, these are the unpacked bytes. */
  readonly bytes: number;
  /** Number of empty lines so far. They are not entries, but are numbered like them. */
  readonly emptyLines: number;
}

/**
 * The default number of entries in a batch: large enough that handing over a batch costs little, and small enough that
 * no thread waits long for the last batch.
 */
const BATCH_ENTRIES = 512;

/**
 * Yields the entries of all inputs, in batches. An input is a file of lines, {@link STDIN_INPUT}, or a folder. Each
 * file in a folder, at any depth, is an entry, in the order of the bytes of the names. Lines may be compressed with
 * gzip. The `file` of a place is the path below the folder, the name of a single file without its folder, or `stdin`;
 * of several inputs it begins with the input as the caller named it. Empty lines are numbered, but are not entries.
 * Throws {@link RunInputError} before the first batch if an input is one JSON value over several lines, one list of
 * anything but boot proofs or app proofs, or compressed with Zstandard.
 */
export async function* readBatches(
  inputs: readonly string[],
  opened: LineInputs,
  batchEntries = BATCH_ENTRIES,
): AsyncGenerator<InputBatch> {
  await opened.check(inputs);
  const reader = new InputReader(opened, batchEntries);
  for (const input of inputs) {
    const isFolder = input !== STDIN_INPUT && (await readable(input, stat(input))).isDirectory();
    if (isFolder) yield* reader.folder(input, inputs.length === 1 ? "" : `${input.replace(/\/+$/, "")}/`);
    else yield* reader.lines(input, nameOf(input, inputs.length === 1));
  }
}

function nameOf(input: string, isOnly: boolean): string {
  if (input === STDIN_INPUT) return "stdin";
  return isOnly ? basename(input) : input;
}

class InputReader {
  readonly #opened: LineInputs;
  readonly #batchEntries: number;
  #entries: Uint8Array[] = [];
  #places: EntryPlace[] = [];
  #bytes = 0;
  #emptyLines = 0;

  constructor(opened: LineInputs, batchEntries: number) {
    [this.#opened, this.#batchEntries] = [opened, batchEntries];
  }

  /** Yields a batch after each chunk, so that entries of a slow stdin are judged at once. */
  async *lines(input: string, file: string): AsyncGenerator<InputBatch> {
    // One byte more than an entry may have is the carriage return at the end of its line.
    const cutter = new LineCutter(MAX_ENTRY_BYTES + 1);
    let line = 0;
    for await (const chunk of this.#opened.chunks(input)) {
      for (const bytes of cutter.cut(chunk)) {
        this.#addLine(bytes, file, ++line);
        if (this.#entries.length >= this.#batchEntries) yield this.#flush();
      }
      this.#bytes += chunk.length;
      if (this.#entries.length > 0) yield this.#flush();
    }
    const last = cutter.rest();
    if (last !== null) this.#addLine(last, file, line + 1);
    yield this.#flush();
  }

  async *folder(folder: string, before: string): AsyncGenerator<InputBatch> {
    let size = 0;
    for await (const { path, shown } of filesIn(Buffer.from(folder), folder)) {
      const file = await readable(shown, open(path));
      const entry = await readable(shown, start(file)).finally(() => file.close());
      this.#add(entry, { file: before + shown.slice(folder.length).replace(/^\/+/, ""), line: 1 });
      this.#bytes += entry.length;
      size += entry.length;
      if (this.#entries.length < this.#batchEntries && size < CHUNK) continue;
      size = 0;
      yield this.#flush();
    }
    if (this.#entries.length > 0) yield this.#flush();
  }

  #addLine(cut: Uint8Array, file: string, line: number): void {
    const bytes = withoutReturn(cut).subarray(0, MAX_ENTRY_BYTES + 1);
    if (bytes.length <= MAX_ENTRY_BYTES && isEmptyLine(bytes)) this.#emptyLines++;
    else this.#add(bytes, { file, line });
  }

  #add(entry: Uint8Array, place: EntryPlace): void {
    this.#entries.push(entry);
    this.#places.push(place);
  }

  #flush(): InputBatch {
    const [entries, places] = [this.#entries, this.#places];
    [this.#entries, this.#places] = [[], []];
    return { entries, places, bytes: this.#bytes, emptyLines: this.#emptyLines };
  }
}

async function start(file: FileHandle): Promise<Uint8Array> {
  const { size } = await file.stat();
  // The file may grow while it is read, so its present size limits how much is read.
  return firstBytes(file, Math.min(size, MAX_ENTRY_BYTES) + 1);
}

interface FoundFile {
  readonly path: Buffer;
  readonly shown: string;
}

/** Yields the files in a folder. Only the names in one folder, and in those above it, are in memory at a time. */
async function* filesIn(folder: Buffer, shownFolder: string): AsyncGenerator<FoundFile> {
  const found = await readable(shownFolder, readdir(folder, { encoding: "buffer", withFileTypes: true }));
  found.sort((a, b) => Buffer.compare(a.name, b.name));
  for (const entry of found) {
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    const shown = `${shownFolder.replace(/\/+$/, "")}/${entry.name.toString()}`;
    if (entry.isDirectory()) yield* filesIn(path, shown);
    else if (entry.isFile() || (await readable(shown, stat(path))).isFile()) yield { path, shown };
    // Other kinds of files are an error, because nothing may be omitted silently.
    else
      throw new RunInputError(
        shown,
        "neither a file nor a folder. To audit some of these files, make a folder with links to them",
      );
  }
}
