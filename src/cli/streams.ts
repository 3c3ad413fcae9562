/** Reads files of any size in chunks, with Node's hashes and progress. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { printable } from "../report/printable.js";
import type { Hasher } from "../verify/cryptography.js";
import { STDIN, absentAdvice, nameOf, reasonOf } from "./files.js";
import { type Io, UsageError } from "./io.js";

const MIB = 1024 * 1024;
/** The number of bytes by which an enclave image is recognised. */
const START = 4;

/**
 * Yields the bytes of a file or stdin. A chunk is valid until the next one is read. Throws {@link UsageError} for a
 * file that is unreadable or empty.
 */
export async function* fileStream(
  path: string,
  io: Pick<Io, "stdin">,
  onBytes: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of path === STDIN ? io.stdin : piecesOf(path)) {
    bytes += piece.length;
    onBytes(bytes);
    yield piece;
  }
  if (bytes === 0) throw unreadable(path, "empty: the program that wrote it may have failed");
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = ofSystem(path, () => openSync(path, "r"));
  try {
    const buffer = new Uint8Array(MIB);
    for (;;) {
      const length = ofSystem(path, () => readSync(file, buffer));
      if (length === 0) return;
      yield buffer.subarray(0, length);
      // Reading is synchronous, so the pause lets timers and signals run.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    closeSync(file);
  }
}

function ofSystem<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw unreadable(path, reasonOf(error), absentAdvice(path, error));
  }
}

function unreadable(path: string, message: string, advice?: string): UsageError {
  return new UsageError([{ file: printable(nameOf(path)), message, ...(advice !== undefined && { advice }) }]);
}

/**
 * Returns the first bytes, and an `io` whose stdin still has all bytes. An unreadable file has no first bytes here: the
 * code that then reads it reports the reason.
 */
export async function fileStart(path: string, io: Io): Promise<{ readonly start: Uint8Array; readonly io: Io }> {
  if (path !== STDIN) return { start: firstBytesOf(path), io };
  const iterator = io.stdin[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (length < START) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    pieces.push(value);
    length += value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* pieces;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  const start = Uint8Array.from(pieces.flatMap((piece) => [...piece.subarray(0, START)]));
  return { start, io: Object.create(io, { stdin: { value: whole() } }) as Io };
}

export function firstBytesOf(path: string): Uint8Array {
  const nothing = new Uint8Array();
  try {
    const file = openSync(path, "r");
    try {
      const bytes = new Uint8Array(START);
      return fstatSync(file).isFile() ? bytes.subarray(0, readSync(file, bytes)) : nothing;
    } finally {
      closeSync(file);
    }
  } catch {
    return nothing;
  }
}

/** Returns the options of all measuring functions. */
export function streaming(
  path: string,
  io: Pick<Io, "progress">,
): {
  readonly sha384: () => Hasher;
  readonly sha256: () => Hasher;
  readonly onProgress: (bytes: number) => void;
} {
  const name = nameOf(path);
  let shown = -1;
  return {
    sha384: () => createHash("sha384"),
    sha256: () => createHash("sha256"),
    onProgress: (bytes) => {
      const now = Math.floor(bytes / (16 * MIB));
      if (now === shown) return;
      shown = now;
      io.progress(`reading ${name}: ${Math.floor(bytes / MIB)} MiB`);
    },
  };
}
