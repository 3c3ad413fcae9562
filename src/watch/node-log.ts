/** A log in a file (Node). Each line is synced before anything acts on it. */
import { createReadStream, realpathSync } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { equalBytes, toUtf8 } from "../bytes.js";
import { ownOptions } from "../decode/input.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { InUseError, type Lock, LostLockError, takeLock } from "../disk/lock.js";
import { diskReason } from "../disk/reason.js";
import { isInPlace, syncFolder, writeSynced } from "../disk/whole.js";
import { attempt } from "../errors.js";
import { type FindingEntry, type LogLine, LOG_FORMAT, readLine } from "./entry.js";
import { type LogFault, verifyLog } from "./log.js";
import type { Delivered } from "./outages.js";
import { LogState, type LogStore, type OutageEntry, isOutageLine, isRefusal } from "./store.js";

export class LogError extends Error {
  override readonly name = "LogError";
  /** Null if the chain is not at fault. */
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

export interface OpenLogOptions {
  /** Called if an unfinished line was removed, and before a wait for the lock of a process that cannot be checked. */
  readonly onNote?: (text: string) => void;
}

export interface OpenedLog extends LogStore {
  close(): Promise<void>;
}

interface Place {
  readonly n: number;
  readonly offset: number;
  readonly length: number;
  readonly hash: string;
}

/**
 * Opens a log, or creates it with mode 0600. Verifies the whole chain, and removes an unfinished last line. Rejects
 * with {@link LogInUseError} if another process uses it, and with {@link LogError}, the file unchanged, if it is not a
 * regular file, cannot be read, or its chain is broken.
 * @example
 * ```ts
 * const log = await openLog("boots.jsonl");
 * await log.close();
 * ```
 */
export async function openLog(path: string, options: OpenLogOptions = {}): Promise<OpenedLog> {
  const { onNote = () => {} } = ownOptions("options", options, { onNote: true });
  const file = linked(path);
  const lock = await asLogError(takeLock(`${file}.lock`, "log", { onWait: onNote }));
  let handle: FileHandle | null = null;
  try {
    handle = await asLogError(openFile(file));
    return await FileLog.over({ handle, lock, file, onNote });
  } catch (error) {
    await handle?.close();
    await lock.release();
    throw error;
  }
}

/** The file in chunks. Rejects with {@link LogError} if it cannot be read. */
export async function* readLog(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) yield piece as Buffer;
  } catch (error) {
    throw logError(error);
  }
}

/** Resolves links, so that each file has exactly one lock. */
function linked(path: string): string {
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

async function openFile(path: string): Promise<FileHandle> {
  const made = await open(path, "wx+", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return null;
    throw error;
  });
  if (made !== null) {
    await syncFolder(dirname(path));
    return made;
  }
  const file = await open(path, "r+");
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new LogError("a device, a pipe or the like, where a log is to be kept");
}

const LINE_START = toUtf8(`{"log":${JSON.stringify(LOG_FORMAT)},"n":`);

/** A kill during a write may leave the beginning of a line, then zeros. */
async function isPartOfLine(file: FileHandle, offset: number): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(LINE_START.length), 0, LINE_START.length, offset);
  const written = buffer.subarray(0, bytesRead).findLastIndex((byte) => byte !== 0) + 1;
  return equalBytes(buffer.subarray(0, written), LINE_START.subarray(0, written));
}

/** The lines that are not delivered. */
type Waiting = Readonly<Record<Delivered, Place[]>>;

/** What is appended to the log's name, for the file that names the last delivered line. */
const MARKS: Readonly<Record<Delivered, string>> = { refusal: ".handed-on", outage: ".outages-handed-on" };
const DELIVERED = Object.keys(MARKS) as readonly Delivered[];

function deliveredAs(line: LogLine): Delivered[] {
  return [...(isRefusal(line) ? (["refusal"] as const) : []), ...(isOutageLine(line) ? (["outage"] as const) : [])];
}

class FileLog implements OpenedLog {
  readonly #handle: FileHandle;
  readonly #lock: Lock;
  readonly #path: string;
  readonly #state: LogState;
  readonly #waiting: Waiting;
  #size: number;

  static async over(parts: {
    readonly handle: FileHandle;
    readonly lock: Lock;
    readonly file: string;
    readonly onNote: (text: string) => void;
  }): Promise<FileLog> {
    const { handle, lock, file, onNote } = parts;
    const marks = { refusal: await readMark(file, "refusal"), outage: await readMark(file, "outage") };
    const state = new LogState();
    const waiting: Waiting = { refusal: [], outage: [] };
    let size = 0;
    const { fault } = await verifyLog(readLog(file), {
      onLine: (line, offset) => {
        state.add(line);
        size = offset + line.bytes.length + 1;
        const { n } = line.entry;
        for (const what of deliveredAs(line))
          waiting[what].push({ n, offset, length: line.bytes.length, hash: line.hash });
        // A mark only counts for the line with its hash: it may belong to another log.
        for (const what of DELIVERED)
          if (marks[what]?.n === n && marks[what].hash === line.hash) waiting[what].splice(0);
      },
    });
    if (fault !== null && fault.kind !== "unfinished")
      throw new LogError(`the chain is broken: ${fault.message}`, fault);
    if (fault !== null && !(await asLogError(isPartOfLine(handle, size))))
      throw new LogError(`line ${fault.line} has no line feed and is no part of an entry: is it another file?`, fault);
    if (fault !== null) {
      const cut = (await handle.stat()).size - size;
      await asLogError(handle.truncate(size).then(() => handle.sync()));
      onNote(`line ${fault.line} was not finished, as after a kill in mid-write: its ${cut} bytes were taken away`);
    }
    return new FileLog({ handle, lock, file, state, waiting, size });
  }

  private constructor(parts: {
    readonly handle: FileHandle;
    readonly lock: Lock;
    readonly file: string;
    readonly state: LogState;
    readonly waiting: Waiting;
    readonly size: number;
  }) {
    this.#handle = parts.handle;
    this.#lock = parts.lock;
    this.#path = parts.file;
    this.#state = parts.state;
    this.#waiting = parts.waiting;
    this.#size = parts.size;
  }

  tail(): ReturnType<LogStore["tail"]> {
    return this.#state.tail();
  }

  standing(name: string): ReturnType<LogStore["standing"]> {
    return this.#state.standing(name);
  }

  openOutage(name: string): ReturnType<LogStore["openOutage"]> {
    return this.#state.openOutage(name);
  }

  async append(line: LogLine): Promise<void> {
    const bytes = new Uint8Array(line.bytes.length + 1);
    bytes.set(line.bytes);
    bytes[line.bytes.length] = 0x0a;
    await asLogError(this.#write(bytes));
    const [offset, length] = [this.#size, line.bytes.length];
    this.#size += bytes.length;
    this.#state.add(line);
    for (const what of deliveredAs(line))
      this.#waiting[what].push({ n: line.entry.n, offset, length, hash: line.hash });
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#lock.requireHeld();
    const { size } = await this.#handle.stat();
    if (size !== this.#size) throw new LogError("somebody else has written to it, or cut it off: nothing is added");
    if (!(await isInPlace(this.#handle, this.#path)))
      throw new LogError("it was taken away, or something else is in its place: nothing is added");
    try {
      for (let at = 0; at < bytes.length;)
        at += (await this.#handle.write(bytes, at, bytes.length - at, this.#size + at)).bytesWritten;
      await this.#handle.sync();
    } catch (error) {
      // Removes the partial line. If that fails, the next start removes it.
      await this.#handle.truncate(this.#size).catch(() => {});
      throw error;
    }
  }

  nextRefusal(): Promise<LogLine<FindingEntry> | null> {
    return this.#next("refusal", isRefusal);
  }

  nextOutage(): Promise<LogLine<OutageEntry> | null> {
    return this.#next("outage", isOutageLine);
  }

  async #next<L extends LogLine>(what: Delivered, isOne: (line: LogLine) => line is L): Promise<L | null> {
    const [place] = this.#waiting[what];
    if (place === undefined) return null;
    const bytes = new Uint8Array(place.length);
    await asLogError(readWhole(this.#handle, bytes, place.offset));
    const line = await readLine(bytes).catch(() => null);
    if (line?.hash !== place.hash || !isOne(line))
      throw new LogError(`line ${place.n} was changed while the log was in use`);
    return line;
  }

  markHandedOn(n: number): Promise<void> {
    return this.#mark("refusal", n);
  }

  markOutageHandedOn(n: number): Promise<void> {
    return this.#mark("outage", n);
  }

  async #mark(what: Delivered, n: number): Promise<void> {
    const waiting = this.#waiting[what];
    const places = waiting.findIndex((place) => place.n > n);
    const handed = waiting.splice(0, places < 0 ? waiting.length : places);
    const last = handed.at(-1);
    if (last === undefined) return;
    const path = `${this.#path}${MARKS[what]}`;
    await asLogError(this.#lock.requireHeld());
    await writeMark(path, last).catch((error: unknown) => {
      const reason = diskReason(error);
      throw reason === null ? error : new LogError(`${path}: ${reason}`);
    });
  }

  async close(): Promise<void> {
    await this.#handle.close();
    await this.#lock.release();
  }
}

async function readWhole(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, offset + at);
    if (bytesRead === 0) throw new LogError("it was cut off while it was in use");
    at += bytesRead;
  }
}

/** The last delivered line of its kind, in a file beside the log. Without it all are delivered again. */
interface Mark {
  readonly n: number;
  readonly hash: string;
}

async function readMark(file: string, what: Delivered): Promise<Mark | null> {
  const text = await readFile(`${file}${MARKS[what]}`, "utf8").catch(() => "");
  const json = attempt(() => parseJson(text)).value;
  if (!isJsonObject(json)) return null;
  const { n, hash } = json;
  return typeof n === "number" && typeof hash === "string" ? { n, hash } : null;
}

function writeMark(path: string, { n, hash }: Mark): Promise<void> {
  return writeSynced(path, `${JSON.stringify({ log: LOG_FORMAT, n, hash })}\n`);
}

function logError(error: unknown): unknown {
  if (error instanceof InUseError || error instanceof LostLockError) return new LogInUseError(error.message);
  const reason = diskReason(error);
  return reason === null ? error : new LogError(reason);
}

async function asLogError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw logError(error);
  }
}
