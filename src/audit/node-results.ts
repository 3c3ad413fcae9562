/** Writes the file of results, which is append-only. A resumed run truncates it to the length in the run's state. */
import { type Hash, createHash } from "node:crypto";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { InUseError, type Lock, LostLockError, takeLock } from "../disk/lock.js";
import { diskReason } from "../disk/reason.js";
import { isInPlace, syncFolder } from "../disk/whole.js";
import { CHUNK } from "./node-inputs.js";

/** Thrown for a file of results or a state that cannot be written, or that another program changed. */
export class AuditFileError extends Error {
  override readonly name = "AuditFileError";
  readonly file: string;
  /** Whether another process took the lock of the file during the run. */
  readonly hasLostLock: boolean;

  constructor(file: string, message: string, { hasLostLock = false }: { readonly hasLostLock?: boolean } = {}) {
    super(message);
    this.file = file;
    this.hasLostLock = hasLostLock;
  }
}

/** The results of one segment. */
export interface ResultsMark {
  readonly length: number;
  /** SHA-256 of all of them. */
  readonly digest: string;
}

/** A segment whose results are in the file. */
interface ResultsPart {
  readonly first: number;
  readonly results: ResultsMark;
}

export class ResultsFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #lock: Lock | null;
  #length = 0;
  /** Of the current segment: the hash of its results, and where they begin. */
  #hash: Hash = createHash("sha256");
  #start = 0;

  private constructor(path: string, { handle, lock }: OpenedFile) {
    [this.path, this.#handle, this.#lock] = [path, handle, lock];
  }

  /**
   * Creates the file, readable only by its owner, or overwrites it. With segments, opens the file of an earlier run,
   * reads their results, and truncates the file behind them. Rejects with {@link AuditFileError} if the results of a
   * segment differ, or if the file already has results and the state is new.
   */
  static async open(path: string, segments: readonly ResultsPart[] | null, hasState: boolean): Promise<ResultsFile> {
    const file = await opened(path, segments === null ? "a+" : "r+");
    const results = new ResultsFile(path, file);
    try {
      const { size } = await file.handle.stat();
      if (segments === null && size > 0 && hasState)
        throw new AuditFileError(
          path,
          "the file is not empty, and its results are not in the state: give another file; or, to resume " +
            "a run, the --state that it was started with",
        );
      for (const [at, { first, results: mark }] of (segments ?? []).entries())
        if (!(await results.#reads(mark)))
          throw new AuditFileError(
            path,
            `this is not the file of results for this state, or it was changed since: its segment ${at + 1}, which ` +
              `begins with entry ${first}, differs. Give the right file; or start anew, with another state and ` +
              `another file for the results`,
          );
      await inWords(path, file.handle.truncate(results.#length));
      if (segments === null) await syncFolder(dirname(path));
      return results;
    } catch (error) {
      await results.close();
      throw error;
    }
  }

  /** Begins a segment: later results are hashed apart from earlier ones. */
  begin(): void {
    [this.#hash, this.#start] = [createHash("sha256"), this.#length];
  }

  async append(text: string): Promise<void> {
    await this.requireOwn();
    const bytes = Buffer.from(text);
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length;) {
      const written = this.#handle.write(bytes, at, bytes.length - at, this.#length);
      const { bytesWritten } = await inWords(this.path, written);
      at += bytesWritten;
      this.#length += bytesWritten;
    }
  }

  /**
   * Rejects with {@link AuditFileError} if the file was changed, moved or replaced. The lock alone is not enough,
   * because other programs ignore it.
   */
  async requireOwn(): Promise<void> {
    if (this.#lock !== null) await requireLock(this.path, this.#lock);
    const { size } = await inWords(this.path, this.#handle.stat());
    if (size !== this.#length) throw new AuditFileError(this.path, "something else has written to it or truncated it");
    if (await inWords(this.path, isInPlace(this.#handle, this.path))) return;
    throw new AuditFileError(this.path, "it was removed or replaced: the results are lost");
  }

  /** Returns the mark of the current segment, when everything that was written is on the disk. */
  async mark(): Promise<ResultsMark> {
    await inWords(this.path, this.#handle.sync());
    return { length: this.#length - this.#start, digest: this.#hash.copy().digest("hex") };
  }

  /** Reads the results of a segment, and returns whether they are those of the mark. */
  async #reads({ length, digest }: ResultsMark): Promise<boolean> {
    this.begin();
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let left = length; left > 0;) {
      const read = this.#handle.read(buffer, 0, Math.min(left, CHUNK), this.#length);
      const { bytesRead } = await inWords(this.path, read);
      if (bytesRead === 0) return false;
      this.#hash.update(buffer.subarray(0, bytesRead));
      this.#length += bytesRead;
      left -= bytesRead;
    }
    return this.#hash.copy().digest("hex") === digest;
  }

  async close(): Promise<void> {
    await this.#handle.close();
    await this.#lock?.release();
  }
}

interface OpenedFile {
  readonly handle: FileHandle;
  readonly lock: Lock | null;
}

async function opened(path: string, flags: string): Promise<OpenedFile> {
  const handle = await openedFile(path, flags);
  try {
    if (!(await handle.stat()).isFile())
      throw new AuditFileError(path, "expected a regular file for results, got a device, a pipe or the like");
    return { handle, lock: await lockOf(path) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Takes the lock. Null in a read-only folder: only the file's size then shows changes by other programs. */
async function lockOf(path: string): Promise<Lock | null> {
  try {
    return await takeLock(`${await realpath(path)}.lock`, "file of results");
  } catch (error) {
    if (error instanceof InUseError) throw new AuditFileError(path, error.message);
    if (["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    return inWords(path, Promise.reject(error as Error));
  }
}

/** Checks the lock. Call it before each write. Rejects with {@link AuditFileError}. */
export async function requireLock(path: string, lock: Lock): Promise<void> {
  try {
    await inWords(path, lock.requireHeld());
  } catch (error) {
    throw error instanceof LostLockError ? new AuditFileError(path, error.message, { hasLostLock: true }) : error;
  }
}

async function openedFile(path: string, flags: string): Promise<FileHandle> {
  const known = await open(path, flags, 0o600).catch((error: unknown) => error as Error);
  if (!(known instanceof Error)) return known;
  const gone = flags === "r+" && (known as NodeJS.ErrnoException).code === "ENOENT";
  if (!gone) return inWords(path, Promise.reject(known));
  throw new AuditFileError(
    path,
    "the file of the results so far is missing, and the state does not contain them: give that file; or " +
      "start anew, with another state",
  );
}

/** Turns system errors into {@link AuditFileError}. */
export async function inWords<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const reason = diskReason(error);
    throw reason === null ? error : new AuditFileError(path, reason);
  }
}
