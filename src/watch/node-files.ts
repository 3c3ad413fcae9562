/** Reads and creates the files of a log and its files of marks, state and lock (Node). */
import { createReadStream, realpathSync } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { equalBytes, fromUtf8, toUtf8 } from "../bytes.js";
import { parseJson } from "../decode/json.js";
import { flag, list, objectOf, optional, readShape, wholeNumber } from "../decode/shapes.js";
import { InUseError, LostLockError } from "../disk/lock.js";
import { diskReason } from "../disk/reason.js";
import { isInPlace, syncFolder, writeSynced } from "../disk/whole.js";
import { attempt } from "../errors.js";
import { LOG_FORMAT, LOG_FORMAT_3, type LogEnd, type LogLine, hash, readLine } from "./entry.js";
import type { LogFault } from "./chain.js";
import type { Delivered } from "./outages.js";
import { LogFullError } from "./store.js";

export class LogError extends Error {
  override readonly name = "LogError";
  /** The fault of the chain; null if the error has another cause. */
  readonly fault: LogFault | null;

  constructor(message: string, fault: LogFault | null = null) {
    super(message);
    this.fault = fault;
  }
}

/** Another process uses the log, may use it, or has taken its lock from this one. */
export class LogInUseError extends Error {
  override readonly name = "LogInUseError";
}

function logError(error: unknown, beside?: string, isWrite = false): unknown {
  if (error instanceof InUseError || error instanceof LostLockError) return new LogInUseError(error.message);
  const reason = diskReason(error);
  if (reason === null) return error;
  const message = beside === undefined ? reason : `${beside}: ${reason}`;
  const mayPass = isWrite && PASSING.has((error as NodeJS.ErrnoException).code!);
  return mayPass ? new LogFullError(message) : new LogError(message);
}

/** Codes of errors of a disk that may take the same write later. */
const PASSING: ReadonlySet<string> = new Set(
  "ENOSPC EDQUOT EFBIG EIO EROFS ETIMEDOUT EMFILE ENFILE ENOMEM ENOBUFS EAGAIN".split(" "),
);

/**
 * Turns errors of the disk and the lock into errors of a log. `beside` is a file beside the log, which the message then
 * names.
 */
export async function asLogError<T>(work: Promise<T>, beside?: string, isWrite = false): Promise<T> {
  return work.catch((error: unknown) => {
    throw logError(error, beside, isWrite);
  });
}

/** As {@link asLogError}, but with {@link LogFullError} where the same write may succeed later. */
export function asWriteError<T>(work: Promise<T>, beside?: string): Promise<T> {
  return asLogError(work, beside, true);
}

/** Yields the file in chunks. Rejects with {@link LogError} if it cannot be read. */
export function readLog(path: string): AsyncGenerator<Uint8Array> {
  return readLogFrom(path, 0);
}

export async function* readLogFrom(path: string, start: number): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20, start })) yield piece as Buffer;
  } catch (error) {
    throw logError(error);
  }
}

/** Resolves links, so that each file has exactly one lock. */
export function linked(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path);
    try {
      return join(realpathSync(dirname(whole)), basename(whole));
    } catch (error) {
      throw logError(error);
    }
  }
}

/**
 * The members of Node's FileHandle that are used here. Naming FileHandle in a public type would force Node's types on
 * every program.
 */
export interface LogHandle {
  read(
    buffer: Uint8Array,
    offset?: number,
    length?: number,
    position?: number,
  ): Promise<{ readonly bytesRead: number; readonly buffer: Uint8Array }>;
  write(bytes: Uint8Array, offset: number, length: number, at: number): Promise<{ readonly bytesWritten: number }>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  stat(): Promise<{ readonly size: number; readonly dev: number; readonly ino: number; isFile(): boolean }>;
  close(): Promise<void>;
}

/** Resolves to null if the file does not exist. */
export async function openExisting(path: string): Promise<LogHandle | null> {
  const file: LogHandle | null = await open(path, "r+").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (file === null || (await file.stat()).isFile()) return file;
  await file.close();
  throw new LogError("expected a regular file for the log, got a device, a pipe or a similar file");
}

/** Creates a file that only its owner can read and write. Rejects with EEXIST if it exists. */
export async function createFile(path: string): Promise<LogHandle> {
  const made = await open(path, "wx+", 0o600);
  await syncFolder(dirname(path));
  return made;
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** Returns the name of a later file: `boots.2.jsonl` follows `boots.jsonl`. */
export function successorName(first: string, number: number): string {
  const extension = extname(first);
  return `${first.slice(0, first.length - extension.length)}.${number}${extension}`;
}

/** Returns the number in the name of a later file; 1 for the first file and for other names. */
export function fileNumber(first: string, name: string): number {
  const digits = /\.([0-9]{1,9})(?:\.[^.]*)?$/.exec(name)?.[1] ?? "1";
  return successorName(first, Number(digits)) === name ? Number(digits) : 1;
}

/** Whether a file begins with an entry that is not the first one of a log. */
export async function isLaterFile(path: string): Promise<boolean> {
  const file = await openExisting(path).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(START_LENGTH + 2), 0);
    const [start, digits] = [buffer.subarray(0, START_LENGTH), buffer.subarray(START_LENGTH, bytesRead)];
    return LINE_STARTS.some((each) => equalBytes(start, each)) && digits.length === 2 && fromUtf8(digits) !== "1,";
  } finally {
    await file.close();
  }
}

async function readAt(file: LogHandle, offset: number, length: number): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
    if (bytesRead === 0) return null;
    at += bytesRead;
  }
  return bytes;
}

/** Where a line is in the files of the log. */
export interface LinePlace {
  readonly file: string;
  readonly n: number;
  /** Time of the entry, RFC 3339. Absent in states of format 2. */
  readonly at?: string;
  readonly offset: number;
  readonly length: number;
  readonly hash: string;
}

/** Reads the line at a place. Resolves to null if another one is there. */
export async function lineIn(file: LogHandle, { offset, length, hash }: LinePlace): Promise<LogLine | null> {
  const bytes = await readAt(file, offset, length + 1);
  if (bytes?.[length] !== 0x0a) return null;
  const line = await readLine(bytes.subarray(0, length)).catch(() => null);
  return line?.hash === hash ? line : null;
}

/** Says how the file at `path` differs from the open one with `size` bytes that was written. Null if it does not. */
export async function changeOf(file: LogHandle, path: string, size: number): Promise<string | null> {
  if (!(await isInPlace(file, path))) return "it was moved, removed or replaced";
  const found = (await file.stat()).size;
  return found === size ? null : `another program wrote to it or shortened it: expected ${size} bytes, got ${found}`;
}

const LINE_STARTS = [LOG_FORMAT, LOG_FORMAT_3].map((format) => toUtf8(`{"log":${JSON.stringify(format)},"n":`));
const START_LENGTH = LINE_STARTS[0]!.length;

/**
 * Whether the bytes from `offset` on may be part of a line. If a process is killed during a write, the file may end
 * with the beginning of a line, then zeros.
 */
export async function isPartOfLine(file: LogHandle, offset: number): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(START_LENGTH), 0, START_LENGTH, offset);
  const written = buffer.subarray(0, bytesRead).findLastIndex((byte) => byte !== 0) + 1;
  return LINE_STARTS.some((start) => equalBytes(buffer.subarray(0, written), start.subarray(0, written)));
}

/**
 * Which lines of a kind were delivered: those up to entry `n` or `upTo`, without those of `except`. Without a key each
 * kind has a file for it. If the file is lost, all lines are delivered again.
 */
interface Mark {
  readonly n?: number;
  /** Used with exceptions, so that an older version, which knows none, delivers all lines again. */
  readonly upTo?: number;
  /** Hash of that entry: a mark of another log must not suppress a delivery. */
  readonly hash: string;
  readonly except?: readonly number[];
  /** Of older versions: later lines count as delivered, too. */
  readonly all?: boolean;
}

const MARK = objectOf<Mark>(
  {
    n: optional(wholeNumber(0)),
    upTo: optional(wholeNumber(0)),
    hash,
    except: optional(list(wholeNumber(1))),
    all: optional(flag),
  },
  { unknown: "ignore" },
);

/** Suffixes of the files of marks. */
const MARKS: Readonly<Record<Delivered, string>> = { refusal: ".handed-on", outage: ".outages-handed-on" };

export type Marks = Readonly<Record<Delivered, Mark | null>>;

/** Returns the marks at the end of a log, of which these lines are not delivered. */
export function marksAt({ entries, head }: LogEnd, waiting: Readonly<Record<Delivered, readonly LinePlace[]>>): Marks {
  const markOf = (places: readonly LinePlace[]): Mark => {
    const place = places.length > 0 ? { upTo: entries } : { n: entries };
    return { ...place, hash: head, except: places.map(({ n }) => n) };
  };
  return { refusal: markOf(waiting.refusal), outage: markOf(waiting.outage) };
}

export async function readMarks(log: string): Promise<Marks> {
  return { refusal: await readMark(log, "refusal"), outage: await readMark(log, "outage") };
}

async function readMark(log: string, what: Delivered): Promise<Mark | null> {
  const text = await readFile(`${log}${MARKS[what]}`, "utf8").catch(() => "");
  return readShape(MARK, attempt(() => parseJson(text)).value).value ?? null;
}

export async function writeMark(log: string, what: Delivered, mark: Mark): Promise<void> {
  const path = `${log}${MARKS[what]}`;
  await asWriteError(writeSynced(path, `${JSON.stringify({ log: LOG_FORMAT, ...mark })}\n`), path);
}
