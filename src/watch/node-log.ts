/** A log in files, for Node. Each line is synced to the disk before its entry is reported or delivered. */
import { open, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { callable, options, typedOptions } from "../decode/options.js";
import { type MembersOf, matching, nonEmptyText, optional, wholeNumber } from "../decode/shapes.js";
import { type Lock, takeLock } from "../disk/lock.js";
import { isInPlace, replaceWhole } from "../disk/whole.js";
import { MalformedError } from "../errors.js";
import {
  type SignedCheckpoint,
  CheckpointError,
  isOrigin,
  noteSigner,
  openNote,
  originOf,
  readSigned,
  signCheckpointBy,
} from "./checkpoint.js";
import { type LogLine, eventLineAfter, readLine } from "./entry.js";
import {
  LogError,
  type LogHandle,
  LogInUseError,
  type Mark,
  asLogError,
  createFile,
  exists,
  isPartOfLine,
  isLaterFile,
  linked,
  fileNumber,
  openExisting,
  readAt,
  readMark,
  successorName,
  writeMark,
} from "./node-files.js";
import {
  DELIVERED,
  type LoadedLog,
  type LogContents,
  type Marks,
  type LinePlace,
  type StateKey,
  loadLog,
  writeState,
} from "./node-state.js";
import type { Delivered } from "./outages.js";
import { type LogStore, type Undelivered, deliveredAs } from "./store.js";

export interface OpenLogOptions {
  /**
   * Receives a sentence when an unfinished line was removed, when the log continues in another file, and when the watch
   * begins to wait for a lock whose process cannot be checked.
   */
  readonly onNote?: (text: string) => void;
  /** Limits at which the log continues in the next file. Default: none. */
  readonly rotate?: RotateOptions;
  /** Signs the head of the log. Default: nothing is signed, and each start verifies the whole log. */
  readonly checkpoint?: CheckpointOptions;
}

/** A file ends after the first entry that reaches one of these limits. */
export interface RotateOptions {
  /** Size of the file in bytes. */
  readonly bytes?: number;
  /** Milliseconds from the file's first entry to its last, by their `at`. */
  readonly afterMs?: number;
}

export interface CheckpointOptions {
  /** Ed25519 private key, as PEM (PKCS#8). */
  readonly key: string;
  /** Origin of the log. Default: `bootproof-log/` and the name of its first file. */
  readonly origin?: string;
  /** A file for the newest checkpoint, which others can copy. Default: none. */
  readonly file?: string;
  /** Receives each new checkpoint as a signed note, once the entry is on the disk. */
  readonly onCheckpoint?: (note: string) => void;
}

export interface OpenedLog extends LogStore {
  close(): Promise<void>;
}

/**
 * Opens a log by its first file, or creates it with mode 0600. Verifies the chain over all files and removes an
 * unfinished last line. With `checkpoint`, only the lines after the state that this key signed are verified. Rejects
 * with {@link LogInUseError} if another process uses the log, and with TypeError for invalid options. Rejects with
 * {@link LogError}, and changes no file, if a file is not regular or cannot be read, if the chain is broken, or if the
 * log does not match its checkpoint.
 * @example
 * ```ts
 * const log = await openLog("boots.jsonl", { rotate: { bytes: 100_000_000 } });
 * await log.close();
 * ```
 */
export async function openLog(path: string, options: OpenLogOptions = {}): Promise<OpenedLog> {
  const { onNote = () => {}, rotate: limits = {}, checkpoint } = typedOptions("options", options, OPEN_OPTIONS);
  const signing = checkpoint === undefined ? null : await signingOf(checkpoint, basename(path));
  const file = linked(path);
  const lock = await asLogError(takeLock(`${file}.lock`, "log", { onWait: onNote }));
  try {
    return await FileLog.open({ file, lock, limits, signing, onNote });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

const OPEN_OPTIONS: MembersOf<OpenLogOptions> = {
  onNote: optional(callable),
  rotate: optional(options<RotateOptions>({ bytes: optional(wholeNumber(1)), afterMs: optional(wholeNumber(1)) })),
  checkpoint: optional(
    options<CheckpointOptions>({
      key: nonEmptyText,
      origin: optional(matching(isOrigin, "bootproof-log/NAME")),
      file: optional(nonEmptyText),
      onCheckpoint: optional(callable),
    }),
  ),
};

interface Signing extends StateKey {
  readonly file: string | null;
  readonly onCheckpoint: (note: string) => void;
}

async function signingOf(
  { key, origin, file, onCheckpoint = () => {} }: CheckpointOptions,
  name: string,
): Promise<Signing> {
  return { origin: origin ?? originOf(name), signer: await noteSigner(key), file: file ?? null, onCheckpoint };
}

interface Opening {
  readonly file: string;
  readonly lock: Lock;
  readonly limits: RotateOptions;
  readonly signing: Signing | null;
  readonly onNote: (text: string) => void;
}

/**
 * Limits of the lines after the newest signed state, in number and bytes. A start after a crash verifies those lines
 * again.
 */
const STATE_LINES = 256;
const STATE_BYTES = 8 * 1024 * 1024;

const ANOTHER_LOG = "If that was intended, move the log away with its .state and its checkpoint, or begin another log";

class FileLog implements OpenedLog {
  readonly #opening: Opening;
  readonly #folder: string;
  readonly #first: string;
  readonly #contents: LogContents;
  /** The marks on the disk. */
  #marks: Marks;
  readonly #ignored = new Set<Delivered>();
  #handle: LogHandle;
  /** Lines and bytes after the newest signed state. */
  #unsigned: { lines: number; bytes: number };

  static async open(opening: Opening): Promise<FileLog> {
    const { file, signing, onNote } = opening;
    const [folder, first] = [dirname(file), basename(file)];
    const marks = { refusal: await readMark(file, "refusal"), outage: await readMark(file, "outage") };
    const options = { folder, first, marks, key: signing, checkpoint: signing && (await keptCheckpoint(signing)) };
    let loaded = await loadLog(options);
    if (await repaired(loaded, folder, onNote)) loaded = await loadLog(options);
    const { contents, verification } = loaded;
    requireWhole(verification);
    const path = join(folder, contents.file);
    await requireNewest(folder, first, contents.file);
    const found = await asLogError(openExisting(path));
    const handle = found ?? (await asLogError(createFile(path)));
    if (found === null && contents.state.entries > 0)
      onNote(`${contents.file}, the next file of the log, was missing, as after a kill. It was created`);
    const log = new FileLog(opening, contents, handle, marks);
    try {
      if (log.#unsigned.lines > 0) await log.#writeState();
      await log.#publish();
    } catch (error) {
      await handle.close();
      throw error;
    }
    return log;
  }

  private constructor(opening: Opening, contents: LogContents, handle: LogHandle, marks: Marks) {
    [this.#opening, this.#contents, this.#handle, this.#marks] = [opening, contents, handle, marks];
    [this.#folder, this.#first] = [dirname(opening.file), basename(opening.file)];
    this.#unsigned = { lines: this.tail().entries - contents.signedEntries, bytes: 0 };
    for (const what of DELIVERED) if (this.#countsAll(what)) this.#contents.waiting[what].splice(0);
  }

  /** Whether all lines that were in the log when it was opened are treated as delivered. */
  #countsAll(what: Delivered): boolean {
    return this.#contents.valid[what] && this.#marks[what]?.all === true;
  }

  tail(): ReturnType<LogStore["tail"]> {
    return this.#contents.state.tail();
  }

  standing(name: string): ReturnType<LogStore["standing"]> {
    return this.#contents.state.standing(name);
  }

  openOutage(name: string): ReturnType<LogStore["openOutage"]> {
    return this.#contents.state.openOutage(name);
  }

  /**
   * Rejects if another process has taken the lock. If the lock cannot be read, the watch goes on, and the next write
   * reads it again.
   */
  async check(): Promise<void> {
    const error = await asLogError(this.#opening.lock.requireHeld()).catch((failure: unknown) => failure);
    if (error instanceof LogInUseError) throw error;
  }

  async append(line: LogLine): Promise<void> {
    const what = deliveredAs(line);
    // This line is not treated as delivered, so the mark must name the line before it.
    if (what !== null && !this.#ignored.has(what) && this.#countsAll(what)) await this.#writeMark(what, this.#newest());
    await this.#appendLine(line);
    if (this.#isFull(line.entry.at)) await this.#turn(line.entry.at);
    if (this.#unsigned.lines >= STATE_LINES || this.#unsigned.bytes >= STATE_BYTES) await this.#writeState();
    await this.#publish();
  }

  async #appendLine(line: LogLine): Promise<void> {
    const bytes = new Uint8Array(line.bytes.length + 1);
    bytes.set(line.bytes);
    bytes[line.bytes.length] = 0x0a;
    await asLogError(this.#write(bytes));
    this.#contents.add(line);
    this.#unsigned.lines++;
    this.#unsigned.bytes += bytes.length;
    for (const what of this.#ignored) this.#contents.waiting[what].splice(0);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { file, size: written } = this.#contents;
    await this.#opening.lock.requireHeld();
    const { size } = await this.#handle.stat();
    if (size !== written) throw new LogError("another program wrote to it or shortened it: no entry is added");
    if (!(await isInPlace(this.#handle, join(this.#folder, file))))
      throw new LogError("it was moved, removed or replaced: no entry is added");
    try {
      for (let at = 0; at < bytes.length;)
        at += (await this.#handle.write(bytes, at, bytes.length - at, written + at)).bytesWritten;
      await this.#handle.sync();
    } catch (error) {
      // If truncating fails, the next start removes the partial line.
      await this.#handle.truncate(written).catch(() => {});
      throw error;
    }
  }

  #isFull(at: string): boolean {
    const { bytes = Infinity, afterMs = Infinity } = this.#opening.limits;
    const { size, firstAt } = this.#contents;
    return size >= bytes || Date.parse(at) - Date.parse(firstAt ?? at) >= afterMs;
  }

  /**
   * Continues the log in the next file. The entry that names the file is written first: a start that does not find the
   * file creates it.
   */
  async #turn(at: string): Promise<void> {
    const file = await this.#freeName();
    await this.#appendLine(await eventLineAfter(this.tail(), { event: "continued", at, file }));
    // The state is written for the file that ends: it needs a last line, and the next file has none yet.
    await this.#writeState();
    const next = await asLogError(createFile(join(this.#folder, file)));
    await this.#handle.close();
    this.#handle = next;
    this.#contents.begin(file);
    this.#opening.onNote(`the log continues in ${file}`);
  }

  async #freeName(): Promise<string> {
    for (let number = 2; ; number++) {
      const name = successorName(this.#first, number);
      if (!(await exists(join(this.#folder, name)))) return name;
    }
  }

  /** Signs the newest entry, and writes the checkpoint for others. */
  async #publish(): Promise<void> {
    const { signing } = this.#opening;
    const { entries, head } = this.tail();
    if (signing === null || entries === 0) return;
    const note = await signCheckpointBy({ origin: signing.origin, entries, head }, signing.signer);
    if (signing.file !== null)
      await asLogError(replaceWhole(signing.file, note, { beside: `${signing.file}.new` }), signing.file);
    signing.onCheckpoint(note);
  }

  async #writeState(): Promise<void> {
    const { file, signing } = this.#opening;
    const state = signing && this.#contents.signable(this.#marks);
    if (state === null) return;
    await writeState(`${file}.state`, state, signing!);
    this.#unsigned = { lines: 0, bytes: 0 };
  }

  lastSign(): string | undefined {
    return this.#contents.state.lastSign;
  }

  undelivered(what: Delivered): readonly Undelivered[] {
    return this.#contents.waiting[what].map(({ n }) => ({ n, at: this.#contents.state.lastAt }));
  }

  async lineOf(what: Delivered, n: number): Promise<LogLine> {
    const place = this.#contents.waiting[what].find((each) => each.n === n);
    if (place === undefined) throw new LogError(`entry ${n} is not an undelivered ${what}`);
    const line = await readLine(await this.#bytesAt(place)).catch(() => null);
    if (line?.hash === place.hash) return line;
    throw new LogError(`line ${n} was changed while the log was in use`);
  }

  async #bytesAt(place: LinePlace): Promise<Uint8Array> {
    // A rotation may close the handle during the read.
    const own = place.file === this.#contents.file ? await readAt(this.#handle, place).catch(() => null) : null;
    if (own !== null) return own;
    const handle = await asLogError(open(join(this.#folder, place.file), "r"));
    try {
      const bytes = await asLogError(readAt(handle, place));
      if (bytes === null) throw new LogError("it was shortened while it was in use");
      return bytes;
    } finally {
      await handle.close();
    }
  }

  async markDelivered(what: Delivered, n: number): Promise<void> {
    const waiting = this.#contents.waiting[what];
    const index = waiting.findIndex((place) => place.n === n);
    const [handed] = waiting.splice(index, 1);
    if (index === 0) await this.#writeMark(what, { n, hash: handed!.hash });
  }

  async countAsDelivered(what: Delivered): Promise<number> {
    this.#ignored.add(what);
    const discarded = this.#contents.waiting[what].splice(0).length;
    if (!this.#countsAll(what)) await this.#writeMark(what, { ...this.#newest(), all: true });
    return discarded;
  }

  #newest(): Mark {
    const { entries: n, head } = this.tail();
    return { n, hash: head };
  }

  async #writeMark(what: Delivered, mark: Mark): Promise<void> {
    await asLogError(this.#opening.lock.requireHeld());
    await writeMark(this.#opening.file, what, mark);
    this.#marks = { ...this.#marks, [what]: mark };
    this.#contents.valid[what] = true;
  }

  async close(): Promise<void> {
    try {
      if (this.#unsigned.lines > 0) await this.#writeState();
    } finally {
      await this.#handle.close();
      await this.#opening.lock.release();
    }
  }
}

/** Removes an unfinished last line. Rejects with {@link LogError} if it is not part of an entry. */
async function repaired(
  { contents, verification: { fault } }: LoadedLog,
  folder: string,
  onNote: (text: string) => void,
): Promise<boolean> {
  if (fault?.kind !== "unfinished") return false;
  const handle = await asLogError(openExisting(join(folder, contents.file)));
  if (handle === null) throw new LogError("it was moved or removed while it was read");
  try {
    const { size } = contents;
    if (!(await asLogError(isPartOfLine(handle, size))))
      throw new LogError(`line ${fault.line} has no line feed and is not part of an entry: is it another file?`, fault);
    const cut = (await handle.stat()).size - size;
    await asLogError(handle.truncate(size).then(() => handle.sync()));
    onNote(`line ${fault.line} was incomplete, perhaps since a process was killed: its ${cut} bytes were removed`);
    return true;
  } finally {
    await handle.close();
  }
}

function requireWhole({ fault }: LoadedLog["verification"]): void {
  if (fault === null) return;
  if (fault.kind === "checkpoint")
    throw new LogError(`it is not the log of its signed checkpoint: ${fault.message}. ${ANOTHER_LOG}`, fault);
  throw new LogError(`the chain is broken: ${fault.message}`, fault);
}

/** Rejects if a later file exists that no entry names: lines or whole files before it are missing. */
async function requireNewest(folder: string, first: string, file: string): Promise<void> {
  const next = successorName(first, fileNumber(first, file) + 1);
  if (!(await asLogError(isLaterFile(join(folder, next))))) return;
  throw new LogError(
    `${next} continues a log, but the log ends in ${file} and does not name it: lines at the end are ` +
      "missing, or a file is. Put them back, move that file away, or use another name",
  );
}

/** Reads the checkpoint that the last run wrote for others. */
async function keptCheckpoint({ file, origin, signer }: Signing): Promise<SignedCheckpoint | null> {
  if (file === null) return null;
  const reading = readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  const found = await asLogError(reading, file);
  if (found === null) return null;
  try {
    return await readSigned(openNote(new Uint8Array(found)), signer.publicKey, origin);
  } catch (error) {
    if (!(error instanceof MalformedError) && !(error instanceof CheckpointError)) throw error;
    throw new LogError(`${file} is not a checkpoint of this log by this key: ${error.message}`);
  }
}
