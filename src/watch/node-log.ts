/** A log in files, for Node. Each line is synced to the disk before its entry is reported or delivered. */
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { callable, options, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, matching, nonEmptyText, optional, wholeNumber } from "../decode/shapes.js";
import { type Lock, LostLockError, takeLock } from "../disk/lock.js";
import { inTime, replaceWhole } from "../disk/whole.js";
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
import { type LogLine, eventLineAfter, hash } from "./entry.js";
import {
  LogError,
  type LogHandle,
  LogInUseError,
  type Marks,
  asLogError,
  asWriteError,
  changeOf,
  createFile,
  exists,
  isPartOfLine,
  isLaterFile,
  lineIn,
  linked,
  fileNumber,
  marksAt,
  openExisting,
  readMarks,
  successorName,
  writeMark,
} from "./node-files.js";
import {
  type LoadedLog,
  type LogContents,
  NO_MARKS,
  type StateKey,
  loadLog,
  readPlace,
  writeState,
} from "./node-state.js";
import type { Delivered } from "./outages.js";
import { LogChangedError, LogFullError, type LogStore, type Undelivered } from "./store.js";

export interface OpenLogOptions {
  /**
   * Receives a sentence when an unfinished line was removed, when the log continues in another file, when a file beside
   * the log cannot be written for now, when a start finds no signed state, and when the watch begins to wait for a lock
   * whose process cannot be checked.
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
  /**
   * Head (64 hex digits) of a log that has entries, but neither a state nor a checkpoint that `key` signed. Such a log
   * is accepted only by its head, and only once: a head that is not needed is refused.
   */
  readonly adopt?: string;
}

export interface OpenedLog extends LogStore {
  close(): Promise<void>;
}

/**
 * Opens a log by its first file, or creates it with mode 0600. Verifies the chain over all files and removes an
 * unfinished last line. With `checkpoint`, only the lines after the state that this key signed are verified. Rejects
 * with {@link LogInUseError} if another process uses the log, and with TypeError for invalid options. Rejects with
 * {@link LogError}, and changes no file, if a file is not regular or cannot be read or made, if the chain is broken, or
 * if the log does not match its checkpoint or has none (`adopt`).
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
  const lock = await asLogError(takeLock(`${file}.lock`, "log", { onWait: onNote }), `${file}.lock`);
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
  checkpoint: demand(
    options<CheckpointOptions>({
      key: nonEmptyText,
      origin: demand(matching(isOrigin, "bootproof-log/NAME")),
      file: optional(nonEmptyText),
      onCheckpoint: optional(callable),
      adopt: optional(hash),
    }),
  ),
};

interface Signing extends StateKey {
  readonly file: string | null;
  readonly onCheckpoint: (note: string) => void;
  readonly adopt: string | undefined;
}

async function signingOf(
  { key, origin, file, onCheckpoint = () => {}, adopt }: CheckpointOptions,
  name: string,
): Promise<Signing> {
  return { origin: origin ?? originOf(name), signer: await noteSigner(key), file: file ?? null, onCheckpoint, adopt };
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

/** What is kept in files beside the log: the signed state, the checkpoint for others, and marks of each kind. */
type Beside = "state" | "note" | Delivered;

class FileLog implements OpenedLog {
  readonly #opening: Opening;
  readonly #folder: string;
  readonly #first: string;
  readonly #contents: LogContents;
  readonly #ignored = new Set<Delivered>();
  #handle: LogHandle;
  /** Lines and bytes after the newest signed state. */
  #unsigned: { lines: number; bytes: number };
  /** Files that are behind the log, and whether a full disk was already reported for each. */
  readonly #due = new Map<Beside, "due" | "reported">();
  /** Length of a line that could not be written, part of which may be in the file. */
  #partial = 0;
  #turn: Promise<unknown> = Promise.resolve();

  static async open(opening: Opening): Promise<FileLog> {
    const { file, signing, onNote } = opening;
    const marks = signing === null ? await readMarks(file) : NO_MARKS;
    const { contents, hasState } = await loadWhole(opening, marks);
    const path = join(dirname(file), contents.file);
    const found = await asLogError(openExisting(path));
    const handle = found ?? (await asLogError(createFile(path)));
    if (found === null && contents.state.entries > 0)
      onNote(`${contents.file}, the next file of the log, was missing, as after a kill. It was created`);
    const log = new FileLog(opening, contents, handle);
    try {
      for (const what of contents.all) {
        contents.waiting[what].splice(0);
        // The older mark would silence what this process appends.
        await log.#writeMark(what);
      }
      // A log that is killed before its first state would have to be adopted, so an empty log has a state, too.
      if (log.#unsigned.lines > 0 || !hasState) log.#owe("state");
      log.#owe("note");
      await log.#settle();
    } catch (error) {
      await handle.close();
      throw error;
    }
    return log;
  }

  private constructor(opening: Opening, contents: LogContents, handle: LogHandle) {
    [this.#opening, this.#contents, this.#handle] = [opening, contents, handle];
    [this.#folder, this.#first] = [dirname(opening.file), basename(opening.file)];
    this.#unsigned = { lines: this.tail().entries - contents.signedEntries, bytes: 0 };
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

  lastSign(): string | undefined {
    return this.#contents.state.lastSign;
  }

  adopted(): string | undefined {
    return this.#opening.signing?.adopt;
  }

  /** Resolves if the lock or the file cannot be read: the watch goes on, and the next write reads them again. */
  check(): Promise<void> {
    return this.#inTurn(async () => {
      const checked = asWriteError(this.#requireOwn()).then(() => this.#settle());
      const error = await checked.catch((failure: unknown) => failure);
      if (error instanceof LogInUseError || error instanceof LogChangedError) throw error;
    });
  }

  append(line: LogLine): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#contents.next !== null) await this.#continue(this.#contents.next);
      if (this.tail().entries === 0 && this.#due.has("state")) await this.#writeState();
      await this.#appendLine(line);
      // The line is recorded, so a full disk only postpones what follows.
      if (this.#isFull(line.entry.at)) await this.#rotate(line.entry.at).catch(unlessFull);
      if (this.#unsigned.lines >= STATE_LINES || this.#unsigned.bytes >= STATE_BYTES) this.#owe("state");
      this.#owe("note");
      await this.#settle();
    });
  }

  /** Runs one piece of work at a time: a check must not see half a line, and each file has one writer. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** What a poll and an append check. A lock that cannot be read, or was removed, hides no change of the file. */
  async #requireOwn(): Promise<void> {
    const failure = await this.#opening.lock.requireHeld().catch((error: unknown) => error);
    if (failure instanceof LostLockError && !failure.isRemoved) throw failure;
    if (this.#partial > 0) await this.#removePartial();
    const change = await inTime(this.#change());
    const name = this.#contents.file;
    if (change !== null) throw new LogChangedError(name === this.#first ? change : `${name}: ${change}`);
    if (failure !== undefined) throw failure;
  }

  async #change(): Promise<string | null> {
    const { file, size, last } = this.#contents;
    const change = await changeOf(this.#handle, join(this.#folder, file), size);
    if (change !== null || last?.file !== file) return change;
    return (await lineIn(this.#handle, last)) === null ? `its last line, entry ${last.n}, was edited` : null;
  }

  async #appendLine(line: LogLine): Promise<void> {
    const bytes = new Uint8Array(line.bytes.length + 1);
    bytes.set(line.bytes);
    bytes[line.bytes.length] = 0x0a;
    await asWriteError(this.#write(bytes));
    this.#contents.add(line);
    this.#unsigned.lines++;
    this.#unsigned.bytes += bytes.length;
    for (const what of this.#ignored) this.#discard(what);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#requireOwn();
    const written = this.#contents.size;
    try {
      for (let at = 0; at < bytes.length;)
        at += (await this.#handle.write(bytes, at, bytes.length - at, written + at)).bytesWritten;
      await this.#handle.sync();
    } catch (error) {
      this.#partial = bytes.length;
      // If this fails, too, the next check or the next start removes the partial line.
      await this.#removePartial().catch(() => {});
      throw error;
    }
  }

  async #removePartial(): Promise<void> {
    const { size } = this.#contents;
    const left = (await this.#handle.stat()).size - size;
    if (left > 0 && left <= this.#partial) await this.#handle.truncate(size);
    this.#partial = 0;
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
  async #rotate(at: string): Promise<void> {
    const file = await this.#freeName();
    await this.#appendLine(await eventLineAfter(this.tail(), { event: "continued", at, file }));
    this.#owe("state");
    await this.#continue(file);
  }

  async #continue(file: string): Promise<void> {
    const next = await asWriteError(createFile(join(this.#folder, file)), file);
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

  #owe(file: Beside): void {
    if (this.#opening.signing === null && (file === "state" || file === "note")) return;
    if (!this.#due.has(file)) this.#due.set(file, "due");
  }

  /** Writes the files that are behind the log. What a full disk refuses is written later. */
  async #settle(): Promise<void> {
    for (const [file, status] of this.#due) {
      try {
        await asWriteError(this.#opening.lock.requireHeld());
        if (file === "state") await this.#writeState();
        else if (file === "note") await this.#publish();
        else await this.#writeMark(file);
        this.#due.delete(file);
      } catch (error) {
        unlessFull(error);
        this.#due.set(file, "reported");
        if (status === "due") this.#opening.onNote(`${(error as Error).message}: it is written as soon as possible`);
      }
    }
  }

  /** Signs the newest entry, and writes the checkpoint for others. */
  async #publish(): Promise<void> {
    const { signing } = this.#opening;
    const { entries, head } = this.tail();
    if (signing === null || entries === 0) return;
    const note = await signCheckpointBy({ origin: signing.origin, entries, head }, signing.signer);
    if (signing.file !== null)
      await asWriteError(replaceWhole(signing.file, note, { beside: `${signing.file}.new` }), signing.file);
    signing.onCheckpoint(note);
  }

  async #writeState(): Promise<void> {
    const { file, signing } = this.#opening;
    if (signing === null) return;
    await writeState(`${file}.state`, this.#contents.signable(), signing);
    this.#unsigned = { lines: 0, bytes: 0 };
    this.#due.delete("state");
  }

  #writeMark(what: Delivered): Promise<void> {
    return writeMark(this.#opening.file, what, marksAt(this.tail(), this.#contents.waiting)[what]!);
  }

  undelivered(what: Delivered): readonly Undelivered[] {
    const { waiting, state } = this.#contents;
    return waiting[what].map(({ n, at = state.lastAt }) => ({ n, at }));
  }

  async lineOf(what: Delivered, n: number): Promise<LogLine> {
    const place = this.#contents.waiting[what].find((each) => each.n === n);
    if (place === undefined) throw new LogError(`entry ${n} is not an undelivered ${what}`);
    // A rotation may close the handle during the read.
    const own = place.file === this.#contents.file ? await lineIn(this.#handle, place).catch(() => null) : null;
    const line = own ?? (await asLogError(readPlace(this.#folder, place)));
    if (line === null) throw new LogError(`line ${n} was changed while the log was in use`);
    return line;
  }

  markDelivered(what: Delivered, n: number): Promise<void> {
    return this.#inTurn(async () => {
      const waiting = this.#contents.waiting[what];
      const index = waiting.findIndex((place) => place.n === n);
      if (index < 0) return;
      waiting.splice(index, 1);
      this.#oweMark(what);
      await this.#settle();
    });
  }

  countAsDelivered(what: Delivered): Promise<number> {
    return this.#inTurn(async () => {
      this.#ignored.add(what);
      const discarded = this.#discard(what);
      await this.#settle();
      return discarded;
    });
  }

  #discard(what: Delivered): number {
    const discarded = this.#contents.waiting[what].splice(0).length;
    if (discarded > 0) this.#oweMark(what);
    return discarded;
  }

  /** With a key, the signed state lists the undelivered lines. */
  #oweMark(what: Delivered): void {
    this.#owe(this.#opening.signing === null ? what : "state");
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        if (this.#unsigned.lines > 0) this.#owe("state");
        await this.#settle();
      } catch (error) {
        // Another process has the log, and writes its files.
        if (!(error instanceof LogInUseError)) throw error;
      } finally {
        await this.#handle.close();
        await this.#opening.lock.release();
      }
    });
  }
}

function unlessFull(error: unknown): void {
  if (!(error instanceof LogFullError)) throw error;
}

/** Reads the log. Rejects with {@link LogError} unless it is whole and, with a key, signed or adopted. */
async function loadWhole({ file, signing, onNote }: Opening, marks: Marks): Promise<LoadedLog> {
  const [folder, first] = [dirname(file), basename(file)];
  const checkpoint = signing && (await keptCheckpoint(signing));
  const options = { folder, first, marks, key: signing, checkpoint };
  let loaded = await loadLog(options);
  if (await repaired(loaded, folder, onNote)) loaded = await loadLog(options);
  const { contents, hasState, verification } = loaded;
  requireWhole(verification);
  await requireNewest(folder, first, contents.file);
  if (signing === null) return loaded;
  if (!hasState && checkpoint === null && contents.state.entries > 0) requireAdopted(contents, first, signing.adopt);
  else if (signing.adopt !== undefined)
    throw new LogError("there is nothing to adopt: start without --adopt (checkpoint.adopt)");
  const undelivered = contents.waiting.refusal.length + contents.waiting.outage.length;
  if (!hasState && undelivered > 0)
    onNote(`no state that the key signed says what was delivered: ${undelivered} entries count as undelivered`);
  return loaded;
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

/** Throws unless the head of the log is adopted: whoever can write files could otherwise begin the log anew. */
function requireAdopted({ state }: LogContents, first: string, adopt: string | undefined): void {
  const { entries, head } = state.tail();
  if (adopt === head) return;
  const other = adopt === undefined ? "" : `, not ${adopt}`;
  throw new LogError(
    `the log has ${entries} entries, and its head is ${head}${other}, but the key signed neither ${first}.state nor ` +
      "a checkpoint of it. Compare the log with a copy that is kept elsewhere. If it is right, start once with " +
      `--adopt ${head} (checkpoint.adopt)`,
  );
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
