/** The file of results: append-only, chained, for one process at a time (run/README.md, "The file"). */
import { createPublicKey, hash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { type FileHandle, open, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { toUtf8 } from "../bytes.js";
import { withoutPrototype } from "../decode/input.js";
import { callable, options, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, flag, optional, text } from "../decode/shapes.js";
import { InUseError, type Lock, LostLockError, takeLock } from "../disk/lock.js";
import { diskReason } from "../disk/reason.js";
import { isInPlace, replaceWhole, syncFolder } from "../disk/whole.js";
import { MalformedError } from "../errors.js";
import { Chain, type RunStream } from "./chain.js";
import {
  type Checkpoint,
  CheckpointError,
  type SignedCheckpoint,
  originOf,
  readCheckpoint,
  requireLogKey,
  signCheckpoint,
} from "./checkpoint.js";
import { MAX_LINE_BYTES, NO_LINES, RUN_FORMAT, type RunEnd, type RunLine, isOfWatch, readLine } from "./line.js";
import { linesOf } from "./lines.js";

/**
 * A file that cannot be used, by `code`. `in-use`: by another process. `changed`: another program wrote to it, cut it
 * or removed it. `broken`: it is not as bootproof wrote it, or ends before its checkpoint. `setting`: its results are
 * by another setting. `inputs`: its results are of other inputs. `disk`: the disk refuses it, or it is no regular file.
 */
export class RunFileError extends Error {
  override readonly name = "RunFileError";
  readonly code: "in-use" | "changed" | "broken" | "setting" | "inputs" | "disk";
  readonly file: string;
  /** What to do; null if the message says it. */
  readonly advice: string | null;

  constructor(code: RunFileError["code"], file: string, message: string, advice: string | null = null) {
    super(message);
    [this.code, this.file, this.advice] = [code, file, advice];
  }
}

/** Signs the end of a file, so that others can keep it. */
interface CheckpointOptions {
  /** Ed25519 private key, as PEM (PKCS#8). */
  readonly key: string;
  /** Default: `bootproof-log/` and the name of the file. */
  readonly origin?: string;
  /** A file for the newest checkpoint, which others can copy. Default: none. */
  readonly file?: string;
  /** Receives each new checkpoint, once its line is on the disk. */
  readonly onCheckpoint?: (note: string, checkpoint: Checkpoint) => void;
}

export interface RunFileOptions {
  /** Receives each line that the file has, and where it begins. */
  readonly onLine?: (line: RunLine, offset: number) => void;
  /** Receives sentences for the operator: an unfinished line was cut off, a lock is watched, a checkpoint is late. */
  readonly onNote?: (text: string) => void;
  /** Whether to begin a new chain. What the file has is deleted, unless it is the log of a watch. */
  readonly isNew?: boolean;
  /** The file whose chain this file goes on with. */
  readonly after?: string;
  readonly checkpoint?: CheckpointOptions;
}

const CHECKPOINT: MembersOf<CheckpointOptions> = {
  key: text,
  origin: demand(text),
  file: demand(text),
  onCheckpoint: optional(callable),
};
export const FILE_OPTIONS: MembersOf<RunFileOptions> = {
  onLine: optional(callable),
  onNote: optional(callable),
  isNew: optional(flag),
  after: demand(text),
  checkpoint: demand(options(CHECKPOINT)),
};

const CHUNK = 1024 * 1024;
const LINE_START = toUtf8(`{"run":"${RUN_FORMAT}","n":`);
const ANEW = "Give another file; or restore this one";

/** Returns the SHA-256 of bytes or of a text, in hex. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return hash("sha256", bytes, "hex");
}

/** Yields the bytes of a file. Rejects with {@link RunFileError} if it cannot be read. */
export async function* readRunFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(path, { highWaterMark: CHUNK })) yield piece as Buffer;
  } catch (error) {
    throw problemOf(error, path);
  }
}

type Signing = CheckpointOptions & { readonly origin: string };

interface OpenedFile {
  /** As the caller named it, and where it is, behind all links. */
  readonly path: string;
  readonly at: string;
  /** Null in a folder in which no file can be made. */
  readonly lock: Lock | null;
  readonly options: RunFileOptions;
  readonly signing: Signing | null;
}

export class RunFile {
  readonly #own: OpenedFile;
  #handle: FileHandle;
  #size = 0;
  /** The last line with its line feed, as this process wrote or read it. */
  #last: Uint8Array = new Uint8Array();
  #turn: Promise<unknown> = Promise.resolve();
  #isNoteLate = false;
  /** Number of lines that the newest checkpoint of this process covers. */
  #published = 0;
  end: RunEnd = NO_LINES;

  /**
   * Opens a file, or makes it with mode 0600, and verifies its whole chain. An unfinished last line is cut off. Rejects
   * with {@link RunFileError}, and changes nothing, if another process uses it, if it is not a regular file, if its
   * chain is broken, or if it ends before its checkpoint.
   */
  static async open(path: string, given: RunFileOptions = {}): Promise<RunFile> {
    const options = typedOptions("options", given, FILE_OPTIONS);
    const at = await linked(path);
    const { checkpoint } = options;
    const signing = checkpoint ? withoutPrototype({ origin: originOf(basename(path)), ...checkpoint }) : null;
    if (signing !== null) requireLogKey(signing.key, "private");
    const lock = await lockOf(at, path, options.onNote);
    let handle: FileHandle | undefined;
    try {
      handle = await opened(at, path);
      const file = new RunFile({ path, at, lock, options, signing }, handle);
      await file.#load();
      return file;
    } catch (error) {
      await handle?.close();
      await lock?.release();
      throw error;
    }
  }

  private constructor(own: OpenedFile, handle: FileHandle) {
    [this.#own, this.#handle] = [own, handle];
  }

  get path(): string {
    return this.#own.path;
  }

  async #load(): Promise<void> {
    const { options, signing } = this.#own;
    const { isNew = false, after } = options;
    const checkpoint = signing && !isNew ? await newestCheckpoint(signing) : null;
    const chain = new Chain({ hashOf: sha256Hex, ...(checkpoint && { checkpoint }) });
    if (after !== undefined) await chain.readAll([{ name: after, stream: readRunFile(after) }]);
    if (isNew) await this.#beginAnew();
    chain.begin(this.path);
    if (chain.fault === null) await this.#readLines(chain);
    if (chain.fault === null) chain.finish();
    if (chain.fault !== null)
      throw new RunFileError("broken", chain.fault.file ?? this.path, chain.fault.message, ANEW);
    this.end = chain.end;
    await this.#try(this.#handle.truncate(this.#size));
    await syncFolder(dirname(this.#own.at));
  }

  /** Deletes what the file has. The log of a watch is refused: nothing makes what it recorded again. */
  async #beginAnew(): Promise<void> {
    for await (const { bytes } of linesOf(this.bytes(), MAX_LINE_BYTES)) {
      const line = await readLine(bytes).catch(() => null);
      if (line !== null && isOfWatch(line.entry))
        throw new RunFileError("setting", this.path, "it is the log of a watch: an audit does not replace it", ANEW);
      break;
    }
    await this.#try(this.#handle.truncate(0));
  }

  /** Reads the lines of the file, up to the first fault. */
  async #readLines(chain: Chain): Promise<void> {
    const { onLine, onNote } = this.#own.options;
    let last: Uint8Array = new Uint8Array();
    for await (const { bytes, isEnded } of linesOf(this.bytes(), MAX_LINE_BYTES)) {
      if (!isEnded && isBegun(bytes)) {
        onNote?.("its last line was not finished, as after a kill: it was cut off");
        break;
      }
      const line = isEnded ? await chain.add(bytes) : chain.fail("malformed", "it is not the beginning of a line");
      if (line === null) return;
      onLine?.(line, this.#size);
      this.#size += bytes.length + 1;
      last = bytes;
    }
    if (this.#size > 0) this.#last = withFeed(last);
  }

  /** Yields the bytes between two offsets. */
  async *bytes(from = 0, to = Infinity): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to;) {
      const piece = await this.read(at, Math.min(CHUNK, to - at));
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  /** Reads a part of the file. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await this.#try(this.#handle.read(Buffer.allocUnsafeSlow(length), 0, length, offset));
    return buffer.subarray(0, bytesRead);
  }

  /** Number of bytes of all lines. */
  get size(): number {
    return this.#size;
  }

  /** Appends a line, and resolves once it is on the disk. Rejects as {@link appendLines} does. */
  async append({ bytes, hash, entry }: RunLine): Promise<void> {
    await this.appendLines(withFeed(bytes), { entries: entry.n, head: hash });
    await this.sync();
  }

  /**
   * Appends lines, each with its line feed, of which the last is `end`. Rejects with {@link RunFileError} if the file
   * is not as this process wrote it, if another process has its lock, or if the disk refuses the lines: then none of
   * them is written.
   */
  appendLines(given: Uint8Array, end: RunEnd): Promise<void> {
    const [lines, { entries, head }] = [new Uint8Array(given), end];
    return this.#inTurn(async () => {
      if (lines.length === 0) return;
      await this.#requireOwn();
      try {
        for (let at = 0; at < lines.length;)
          at += (await this.#handle.write(lines, at, lines.length - at, this.#size + at)).bytesWritten;
      } catch (error) {
        // What cannot be cut off now, the next start cuts off.
        await this.#handle.truncate(this.#size).catch(() => {});
        throw problemOf(error, this.path);
      }
      this.#size += lines.length;
      this.#last = lines.slice(lines.lastIndexOf(0x0a, lines.length - 2) + 1);
      this.end = { entries, head };
    });
  }

  /** Resolves when all lines are on the disk, and their checkpoint is written. */
  sync(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#try(this.#handle.sync());
      await this.#publish();
    });
  }

  /** Goes on in a new file if the name leads to no file any more: the old one was renamed. */
  reopen(): Promise<void> {
    return this.#inTurn(async () => {
      if (await this.#try(isInPlace(this.#handle, this.#own.at))) return;
      const next = await opened(this.#own.at, this.path);
      if ((await next.stat()).size > 0) {
        await next.close();
        throw new RunFileError("changed", this.path, "the file was replaced by one that is not empty", ANEW);
      }
      await this.#handle.close();
      this.#handle = next;
      [this.#size, this.#last] = [0, new Uint8Array()];
      await syncFolder(dirname(this.#own.at));
    });
  }

  /** Runs one piece of work at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #requireOwn(): Promise<void> {
    await this.#requireLock();
    const { size, nlink } = await this.#try(this.#handle.stat());
    if (nlink === 0) throw this.#changed("it was removed");
    if (size !== this.#size) throw this.#changed(`expected ${this.#size} bytes, got ${size}`);
    const last = await this.read(size - this.#last.length, this.#last.length);
    if (Buffer.compare(last, this.#last) !== 0) throw this.#changed("its last line is another one");
  }

  /** A disk that does not answer holds this up, as it would a write: that is no lost lock. */
  async #requireLock(): Promise<void> {
    for (let isLate = this.#own.lock !== null; isLate;)
      isLate = await this.#own.lock!.requireHeld().then(
        () => false,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ETIMEDOUT") return true;
          throw problemOf(error, this.path);
        },
      );
  }

  #changed(how: string): RunFileError {
    return new RunFileError("changed", this.path, `another program changed it: ${how}. Nothing more is written to it`);
  }

  async #publish(): Promise<void> {
    if (this.#own.signing === null || this.end.entries === this.#published) return;
    const { key, origin, file, onCheckpoint } = this.#own.signing;
    const checkpoint = { origin, ...this.end };
    try {
      const note = await signCheckpoint(checkpoint, key);
      if (file !== undefined) await replaceWhole(file, note, { beside: `${file}.new` });
      this.#published = checkpoint.entries;
      onCheckpoint?.(note, checkpoint);
      this.#isNoteLate = false;
    } catch (error) {
      const reason = diskReason(error);
      if (reason === null) throw error;
      if (!this.#isNoteLate)
        this.#own.options.onNote?.(`its checkpoint cannot be written: ${reason}. It is tried again`);
      this.#isNoteLate = true;
    }
  }

  #try<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw problemOf(error, this.path);
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    await this.#handle.close();
    await this.#own.lock?.release();
  }
}

/** Reads the checkpoint that is published. Null if there is none. Another one is never replaced. */
async function newestCheckpoint({ key, origin, file }: Signing): Promise<SignedCheckpoint | null> {
  if (file === undefined) return null;
  const note = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw problemOf(error, file);
  });
  try {
    const publicKey = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
    return note && (await readCheckpoint(note, { key: publicKey, origin }));
  } catch (error) {
    if (!(error instanceof CheckpointError || error instanceof MalformedError)) throw error;
    throw new RunFileError("broken", file, `it is not replaced: ${error.message}`, "Give another --checkpoint");
  }
}

function withFeed(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.from("\n")]);
}

/** Whether bytes may be the beginning of a line. After a crash of the system, zeros may follow what was written. */
function isBegun(bytes: Uint8Array): boolean {
  const written = bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1).subarray(0, LINE_START.length);
  return Buffer.compare(written, LINE_START.subarray(0, written.length)) === 0;
}

/** Resolves links, so that each file has exactly one lock. */
async function linked(path: string): Promise<string> {
  const whole = resolve(path);
  const inFolder = async (): Promise<string> => join(await realpath(dirname(whole)), basename(whole));
  return realpath(whole)
    .catch(inFolder)
    .catch((error: unknown) => {
      throw problemOf(error, path);
    });
}

/** Opens a regular file. A pipe without a reader must not hold this up. */
async function opened(at: string, path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK;
  const handle = await open(at, flags, 0o600).catch((error: unknown) => {
    throw problemOf(error, path);
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new RunFileError("disk", path, "expected a regular file, got a device, a pipe or the like");
}

/** Takes the lock. Null in a folder in which no file can be made: size and last line then show other writers. */
async function lockOf(at: string, path: string, onWait: ((text: string) => void) | undefined): Promise<Lock | null> {
  try {
    return await takeLock(`${at}.lock`, "file of results", onWait && { onWait });
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw problemOf(error, path);
  }
}

/** Turns errors of the lock and of the system into {@link RunFileError}. */
function problemOf(error: unknown, file: string): unknown {
  if (error instanceof RunFileError) return error;
  if (error instanceof InUseError || error instanceof LostLockError)
    return new RunFileError("in-use", file, error.message);
  const reason = diskReason(error);
  return reason === null ? error : new RunFileError("disk", file, reason);
}

/** Opens files for `verifyRun`, each when it is its turn. */
export function runStreams(paths: readonly string[]): RunStream[] {
  return paths.map((path) => ({ name: path, stream: readRunFile(path) }));
}
