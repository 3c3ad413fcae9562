/** Verifies the chain of a log (watch/README.md, "The log") with constant memory, up to the first fault. */
import { withoutPrototype } from "../decode/input.js";
import { callable, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, optional, text } from "../decode/shapes.js";
import { concatBytes, toHex } from "../bytes.js";
import { type Checkpoint, type SignedCheckpoint, CheckpointError, readCheckpoint } from "./checkpoint.js";
import {
  type LogEnd,
  type LogEntry,
  type LogLine,
  MAX_LINE_BYTES,
  NO_LINE,
  continuedIn,
  lineAt,
  readLine,
} from "./entry.js";
import { MalformedError, faultText } from "../errors.js";
import { sha256 } from "../verify/digest.js";

export type LogStream = AsyncIterable<Uint8Array>;

/** A file of a log that was rotated. */
export interface LogFile {
  /** Name of the file in messages. */
  readonly name: string;
  readonly stream: LogStream;
}

/** The first fault of a log. `message` names every line concerned. */
export interface LogFault {
  /**
   * Number of the line, counted from 1 over all files of the log: in an intact log it is the entry's `n`. See `entries`
   * of {@link LogVerification} for the first doubtful line.
   */
  readonly line: number;
  /**
   * - `unfinished`: the last line has no line feed, as after a kill during a write.
   * - `malformed`: the line is not an entry in its only valid spelling, or is too long.
   * - `edited`, `copied`, `inserted`, `moved`, `removed`: how the lines were changed.
   * - `head`: the last line's hash differs from the head that was kept elsewhere.
   * - `file`: a file of the log is missing, repeated or in another place.
   * - `checkpoint`: the log is not the one of the checkpoint, or its signature is wrong.
   */
  readonly kind:
    | "unfinished"
    | "malformed"
    | "edited"
    | "copied"
    | "inserted"
    | "moved"
    | "removed"
    | "head"
    | "file"
    | "checkpoint";
  readonly message: string;
  /** The name of the file with that line; null where files were passed without names. */
  readonly file: string | null;
}

export interface LogVerification {
  readonly format: "bootproof-log-verification/1";
  /** Whether no line is missing or changed, as far as a chain can show: see `open`. */
  readonly intact: boolean;
  /** Number of lines before the first one that may be edited or inserted. */
  readonly entries: number;
  /** Number `n` of the first of these lines; null without lines. It exceeds 1 if earlier files were not passed. */
  readonly firstEntry: number | null;
  /** Times of the first and last of these lines, RFC 3339; null without lines. */
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  /** SHA-256, in hex, of the last of these lines without its line feed; zeros if there are none. */
  readonly head: string;
  readonly fault: LogFault | null;
  /** The checkpoint; null if none was passed, or if its signature is wrong. */
  readonly checkpoint: SignedCheckpoint | null;
  /** Sentences about what was not checked. */
  readonly open: readonly string[];
}

export interface VerifyLogOptions {
  /** Hash of the last line, in hex, that was kept elsewhere. */
  readonly head?: string;
  /** A checkpoint of the log, as a signed note. The log may have grown since. */
  readonly checkpoint?: string | Uint8Array;
  /** Ed25519 public key of the checkpoint, as PEM. Without it the signature is not checked: see `open`. */
  readonly key?: string;
  /** The origin that the checkpoint must have. Default: any. */
  readonly origin?: string;
  /**
   * The entry before the first line, as verified elsewhere. `any` allows a log whose first files are elsewhere.
   * Default: the first line is entry 1.
   */
  readonly after?: LogEnd | "any";
  /**
   * Receives each line that follows its predecessor, and its offset. Later lines can still show that it was edited: use
   * nothing before the verification has resolved.
   */
  readonly onLine?: (line: LogLine, offset: number) => void;
}

/** Number of lines whose hashes are kept, for messages that name the line after which another was inserted. */
const REMEMBERED = 4096;

const NO_HEAD =
  "lines cut off the end, a changed last line, and a log rewritten as a whole by anyone who can write the file: " +
  "keep the head in another place, and pass it with --head, or a checkpoint (bootproof log checkpoint)";
const NO_KEY = "who signed the checkpoint: its signature was not checked; pass the public key of the log with --key";
const WORD = "that each verdict is right: the evidence is in the entry, and bootproof verify verifies it again";

const OPTIONS: MembersOf<VerifyLogOptions> = {
  head: optional(text),
  checkpoint: optional(plain),
  key: optional(text),
  origin: optional(text),
  after: optional(plain),
  onLine: optional(callable),
};

/**
 * Verifies a log, or the files of one in their order. Returns faults, and never throws them. Rejects with the error of
 * the stream, with `MalformedError` for a note that is not a checkpoint, and with TypeError for invalid options.
 * @example
 * ```ts
 * const { intact, fault } = await verifyLog(readLog("boots.jsonl"), { head });
 * ```
 */
export async function verifyLog(
  log: LogStream | readonly LogFile[],
  given: VerifyLogOptions = {},
): Promise<LogVerification> {
  const options = typedOptions("options", given, OPTIONS);
  const files = Array.isArray(log) ? [...(log as readonly LogFile[])] : [{ name: null, stream: log as LogStream }];
  const { checkpoint, wrong } = await checkpointOf(options);
  const verification = await verifyFiles(files, { ...options, checkpoint });
  if (wrong === null || verification.fault !== null) return verification;
  const line = Math.max(verification.entries, 1);
  return { ...verification, intact: false, fault: { line, kind: "checkpoint", message: wrong, file: null } };
}

interface FoundCheckpoint {
  readonly checkpoint: SignedCheckpoint | null;
  /** Why the key or the origin does not fit. */
  readonly wrong: string | null;
}

async function checkpointOf({ checkpoint: note, key, origin }: VerifyLogOptions): Promise<FoundCheckpoint> {
  const demands = { ...(key !== undefined && { key }), ...(origin !== undefined && { origin }) };
  if (note === undefined) {
    if (Object.keys(demands).length === 0) return { checkpoint: null, wrong: null };
    throw new TypeError("options.key, options.origin: required only with options.checkpoint");
  }
  try {
    return { checkpoint: await readCheckpoint(note, demands), wrong: null };
  } catch (error) {
    if (error instanceof CheckpointError) return { checkpoint: null, wrong: error.message };
    throw error;
  }
}

/** A {@link LogFile}, whose name is null if the log is one stream. */
interface NamedStream {
  readonly name: string | null;
  readonly stream: LogStream;
}

interface VerifyFilesOptions extends Pick<VerifyLogOptions, "head" | "after" | "onLine"> {
  readonly checkpoint: SignedCheckpoint | null;
}

/** {@link verifyLog} for files that are found while they are read. */
export async function verifyFiles(
  files: Iterable<NamedStream> | AsyncIterable<NamedStream>,
  given: VerifyFilesOptions,
): Promise<LogVerification> {
  const options = withoutPrototype(given);
  const chain = new Chain(options);
  const found = (await firstFault(chain, files)) ?? (await chain.end()) ?? chain.headFault() ?? chain.checkpointFault();
  const { n, at, hash } = found?.certain ?? chain.newest;
  const before = chain.base.n;
  return {
    format: "bootproof-log-verification/1",
    intact: found === null,
    entries: n - before,
    firstEntry: n === before ? null : before + 1,
    firstAt: n === before ? null : chain.firstAt,
    lastAt: at,
    head: hash,
    fault: found === null ? null : chain.placed(found.fault),
    checkpoint: options.checkpoint,
    open: [...chain.unseen(), ...openAbout(options, chain.newest.n), WORD],
  };
}

async function firstFault(
  chain: Chain,
  files: Iterable<NamedStream> | AsyncIterable<NamedStream>,
): Promise<Found | null> {
  for await (const { name, stream } of files) {
    chain.begin(name);
    for await (const line of linesOf(stream)) {
      const found = await chain.add(line);
      if (found !== null) return found;
    }
  }
  return null;
}

function openAbout({ head, checkpoint }: VerifyFilesOptions, entries: number): string[] {
  if (checkpoint === null) return head === undefined ? [NO_HEAD] : [];
  const unchecked = checkpoint.isVerified ? [] : [NO_KEY];
  if (head !== undefined || checkpoint.entries >= entries) return unchecked;
  return [...unchecked, `lines behind entry ${checkpoint.entries}, which the checkpoint does not cover: ${NO_HEAD}`];
}

interface RawLine {
  readonly bytes: Uint8Array;
  readonly offset: number;
  /** Whether a line feed or the size limit ended the line. */
  readonly ended: boolean;
}

const LINE_FEED = 0x0a;

/** Yields the beginning of a line over the limit, and then stops. */
async function* linesOf(stream: LogStream): AsyncGenerator<RawLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let offset = 0;
  for await (const piece of stream) {
    let rest = piece;
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      const bytes = concatBytes(...parts, rest.subarray(0, end));
      yield { bytes, offset, ended: true };
      offset += bytes.length + 1;
      [parts, length, rest] = [[], 0, rest.subarray(end + 1)];
    }
    // The stream may reuse its buffer.
    if (rest.length > 0) parts.push(new Uint8Array(rest));
    length += rest.length;
    if (length > MAX_LINE_BYTES) break;
  }
  if (length > 0) yield { bytes: concatBytes(...parts), offset, ended: length > MAX_LINE_BYTES };
}

/** A line that does not follow its predecessor. Later lines show why. */
interface Break {
  readonly line: number;
  readonly found: LogLine;
  next: LogLine | null;
  /** Lines of the entry that belongs here, and of this entry's predecessor. */
  successor: number | null;
  predecessor: number | null;
}

interface CountedLine {
  readonly n: number;
  readonly at: string | null;
  readonly hash: string;
}

const NOTHING: CountedLine = { n: 0, at: null, hash: NO_LINE };

function baseOf(after: LogEnd | "any" | undefined): CountedLine {
  return after === undefined || after === "any" ? NOTHING : { n: after.entries, at: null, hash: after.head };
}

interface Opened {
  readonly name: string | null;
  /** Number and hash of its first line. */
  line: number;
  hash: string | null;
}

/** A file whose first line does not have the number that follows. Later files can show why. */
interface Misplaced {
  readonly file: Opened;
  readonly found: LogLine;
  /** The file that belongs here. */
  successor: string | null;
}

interface Found {
  readonly fault: Omit<LogFault, "file">;
  readonly certain: CountedLine;
}

class Chain {
  /** The entry before the first line. */
  base: CountedLine;
  newest: CountedLine;
  firstAt: string | null = null;
  readonly #onLine: VerifyLogOptions["onLine"];
  readonly #kept: string | undefined;
  readonly #checkpoint: Checkpoint | null;
  readonly #mayBeginLater: boolean;
  #keptLine: CountedLine | null = null;
  /** The line that the checkpoint is of. */
  #checkpointLine: CountedLine | null = null;
  readonly #lines = new Map<string, CountedLine>();
  readonly #files: Opened[] = [];
  #isAtStart = true;
  #last: LogEntry | null = null;
  #break: Break | null = null;
  #misplaced: Misplaced | null = null;
  #read: number;

  constructor({ onLine, head, after, checkpoint }: VerifyFilesOptions) {
    this.#onLine = onLine;
    this.#kept = head?.toLowerCase();
    this.#checkpoint = checkpoint;
    this.#mayBeginLater = after === "any";
    this.base = baseOf(after);
    this.newest = this.base;
    this.#read = this.base.n;
    this.#notice(this.base);
  }

  begin(name: string | null): void {
    this.#files.push({ name, line: this.#read + 1, hash: null });
    this.#isAtStart = true;
  }

  /** Adds the file of the line, and its number in that file if it is another one. */
  placed(fault: Omit<LogFault, "file">): LogFault {
    const { line, kind, message } = fault;
    const { name = null, line: first = 1 } = this.#files.findLast((file) => file.line <= line) ?? this.#files[0] ?? {};
    const isOfLine = kind !== "file" && kind !== "checkpoint" && kind !== "head";
    const place = isOfLine && name !== null && first > 1 ? ` (line ${line - first + 1} of ${name})` : "";
    return { line, kind, message: `${message}${place}`, file: name };
  }

  /** Resolves to the fault as soon as it is known. */
  async add(raw: RawLine): Promise<Found | null> {
    const isFirst = this.#isAtStart;
    this.#isAtStart = false;
    if (this.#misplaced !== null) return isFirst ? this.#findSuccessor(this.#misplaced, raw) : null;
    const line = ++this.#read;
    return this.#break === null ? this.#follow(raw, line, isFirst) : this.#explain(this.#break, raw, line);
  }

  async #explain(at: Break, { bytes }: RawLine, line: number): Promise<null> {
    const found = await readLine(bytes).catch(nullWhereMalformed);
    if (line === at.line + 1) at.next = found;
    const hash = found?.hash ?? toHex(await sha256(bytes));
    if (hash === at.found.entry.previous) at.predecessor ??= line;
    const { n, hash: head } = this.newest;
    if (found?.entry.previous === head && found.entry.n === n + 1) at.successor ??= line;
    return null;
  }

  async #findSuccessor(misplaced: Misplaced, { bytes }: RawLine): Promise<null> {
    const found = await readLine(bytes).catch(nullWhereMalformed);
    if (found?.entry.previous === this.newest.hash && found.entry.n === this.newest.n + 1)
      misplaced.successor ??= this.#files.at(-1)!.name;
    return null;
  }

  async end(): Promise<Found | null> {
    if (this.#misplaced !== null) return this.#misplacedFault(this.#misplaced);
    return this.#break === null ? null : this.#told(this.#break);
  }

  #misplacedFault({ file, found, successor }: Misplaced): Found {
    const [name, before] = [file.name, this.#files[this.#files.indexOf(file) - 1]!.name];
    const { n } = found.entry;
    const end = `${before}, the file before it, ends with entry ${this.newest.n}`;
    const places = `${name} begins with entry ${n}, and ${end}`;
    const same = this.#files.find((each) => each !== file && each.hash === file.hash);
    const next = this.#continuedIn();
    let why = "it is in another place, or a file of another log";
    if (same !== undefined) why = `it has the same first line as ${same.name}: a file is repeated`;
    else if (successor !== null) why = `the files are not in their order: ${successor} follows ${before}`;
    else if (n > this.newest.n && next !== null) why = `a file is missing: ${before} continues in ${next}`;
    else if (n > this.newest.n) why = `the end of ${before} was cut off, or files between them are missing`;
    return { fault: { line: file.line, kind: "file", message: `${why}: ${places}` }, certain: this.newest };
  }

  #continuedIn(): string | null {
    return this.#last === null ? null : continuedIn(this.#last);
  }

  /** Sentences about the parts of the log in files that were not passed. */
  unseen(): string[] {
    const { n, hash } = this.base;
    const [first] = this.#files;
    const next = this.#continuedIn();
    const count = n === 1 ? "entry 1, which is" : `entries 1 to ${n}, which are`;
    const files = `in files before ${first?.name ?? "this one"}, which were not passed: the last has the hash ${hash}`;
    return [
      ...(this.#mayBeginLater && n > 0 ? [`${count} ${files}`] : []),
      ...(next === null ? [] : [`what follows: the log continues in ${next}, which was not passed`]),
    ];
  }

  checkpointFault(): Found | null {
    const { base, newest } = this;
    const checkpoint = this.#checkpoint;
    if (checkpoint === null || this.#checkpointLine?.hash === checkpoint.head) return null;
    const { entries, head } = checkpoint;
    const told = (message: string): Found => ({
      fault: { line: Math.max(Math.min(entries, newest.n), base.n + 1), kind: "checkpoint", message },
      certain: base,
    });
    if (entries < base.n)
      return told(`the checkpoint is of entry ${entries}, which is in a file before these: pass that file, too`);
    const next = this.#continuedIn();
    const more = next === null ? "" : `, or the file ${next} is missing`;
    if (this.#checkpointLine === null)
      return told(
        `the log ends with entry ${newest.n}, and the checkpoint is of entry ${entries}: lines were cut off the end, ` +
          `the log was written anew, or the checkpoint is of another log${more}`,
      );
    return told(
      `entry ${entries} has the hash ${this.#checkpointLine.hash}, and the checkpoint has ${head}: the log was ` +
        "written anew, or the checkpoint is of another log",
    );
  }

  /**
   * The last line must have the hash that was kept. If it does not, the lines up to the kept head are certain; if no
   * line has that hash, all but the last are.
   */
  headFault(): Found | null {
    const { n, hash } = this.newest;
    if (this.#kept === undefined || this.#kept === hash) return null;
    const since =
      this.#keptLine === null
        ? "lines were cut off or added since then, the last one was changed, or it is another log"
        : `that is the head behind line ${this.#keptLine.n}, and lines were added since then`;
    const message = `the log ends with line ${n}, whose hash is ${hash}, and ${this.#kept} was kept: ${since}`;
    const certain = this.#keptLine ?? this.#lineOf(n - 1);
    return { fault: { line: Math.max(n, 1), kind: "head", message }, certain };
  }

  async #follow({ bytes, offset, ended }: RawLine, line: number, isFirst: boolean): Promise<Found | null> {
    const told = (kind: LogFault["kind"], message: string): Found => ({
      fault: { line, kind, message },
      certain: this.newest,
    });
    if (!ended) return told("unfinished", unfinished(line));
    const read = await readLine(bytes).then(
      (value) => ({ value, message: "" }),
      (error: unknown) => ({ value: null, message: messageOf(error) }),
    );
    if (read.value === null) return told("malformed", `line ${line} is not an entry: ${read.message}`);
    return this.#place(read.value, { line, offset, isFirst });
  }

  #place(found: LogLine, { line, offset, isFirst }: { line: number; offset: number; isFirst: boolean }): Found | null {
    const { entry, hash } = found;
    const file = this.#files.at(-1)!;
    if (isFirst) file.hash = hash;
    if (this.#mayBeginLater && this.#last === null && entry.n > 1) return this.#beginLater(found, offset);
    if (isFirst && this.#last !== null && entry.n !== line) {
      this.#misplaced = { file, found, successor: null };
      return null;
    }
    if (entry.n !== line || entry.previous !== this.newest.hash) {
      this.#break = { line, found, next: null, successor: null, predecessor: null };
      return null;
    }
    this.#accept(found, { line, offset });
    return null;
  }

  #accept(found: LogLine, { line, offset }: { line: number; offset: number }): void {
    const { entry, hash } = found;
    this.newest = { n: line, at: entry.at, hash };
    this.#last = entry;
    this.firstAt ??= entry.at;
    this.#notice(this.newest);
    this.#lines.set(hash, this.newest);
    if (this.#lines.size > REMEMBERED) this.#lines.delete(this.#lines.keys().next().value!);
    this.#onLine?.(found, offset);
  }

  /** Begins with the first line of a log whose first files are elsewhere. */
  #beginLater(found: LogLine, offset: number): Found | null {
    const { n, previous } = found.entry;
    this.base = { n: n - 1, at: null, hash: previous };
    this.newest = this.base;
    this.#read = n;
    this.#files.at(-1)!.line = n;
    this.#notice(this.base);
    this.#last = found.entry;
    return this.#place(found, { line: n, offset, isFirst: false });
  }

  #notice(line: CountedLine): void {
    if (line.hash === this.#kept) this.#keptLine = line;
    if (line.n === this.#checkpoint?.entries) this.#checkpointLine = line;
  }

  async #told({ line, found, next, successor, predecessor }: Break): Promise<Found> {
    const { entry, hash } = found;
    const told = (kind: LogFault["kind"], message: string, certain = line - 1, at = line): Found => ({
      fault: { line: at, kind, message },
      certain: this.#lineOf(certain),
    });
    const copied = this.#lines.get(hash);
    if (copied !== undefined) return told("copied", `line ${line} is a copy of line ${copied.n}`);
    if (successor !== null) {
      const [kind, message] = outOfOrder({ line, found, successor, predecessor });
      return told(kind, message);
    }
    if (entry.previous === this.newest.hash)
      return told("edited", `line ${line} was edited: it is in its place, and its number is ${entry.n}`);
    const before = this.#lines.get(entry.previous);
    if (before !== undefined) return told("inserted", insertedAfter(before.n, line), before.n);
    if (entry.n > line) return told("removed", removed(line, entry.n));
    if (entry.n < line)
      return told(
        "inserted",
        `line ${line} was put in, moved or edited: its number is ${entry.n}, and it follows no line of the log`,
      );
    if (line === 1) return told("edited", "line 1 was edited, or is not the first one: it follows another line");
    if (next === null) {
      const which = `line ${line - 1} was edited, or line ${line}`;
      return told("edited", `${which}: the one does not carry the other's hash`, line - 2);
    }
    const edited = next.entry.previous === hash ? line - 1 : line;
    const certain = (await this.#isPreviousEdited(found, next)) ? line - 1 : line - 2;
    return told("edited", `line ${edited} was edited after it was written`, certain, edited);
  }

  /** Whether only `previous` of the line was changed: then the line before it is intact. */
  async #isPreviousEdited({ entry }: LogLine, next: LogLine): Promise<boolean> {
    const { n, hash } = this.newest;
    const written = await lineAt({ entries: n, head: hash }, entry);
    return written.hash === next.entry.previous;
  }

  #lineOf(n: number): CountedLine {
    return [...this.#lines.values()].find((line) => line.n === n) ?? this.base;
  }
}

function unfinished(line: number): string {
  return (
    `line ${line} is not finished: it has no line feed at its end, as after a kill during a write. bootproof watch ` +
    "removes it at its next start"
  );
}

function outOfOrder({
  line,
  found,
  successor,
  predecessor,
}: Omit<Break, "next"> & { successor: number }): [LogFault["kind"], string] {
  const { n } = found.entry;
  if (predecessor !== null) {
    const places = `entry ${n} is in line ${line}, and entry ${line} in line ${successor}`;
    return ["moved", `lines are not in their order: ${places}`];
  }
  return ["inserted", `line ${line} was put in: entry ${line} is in line ${successor}, and follows line ${line - 1}`];
}

function insertedAfter(before: number, line: number): string {
  return (
    `lines ${before + 1} and ${line} both follow line ${before}: its previous is the hash of line ${before}, and one ` +
    "of the two was put in"
  );
}

function removed(line: number, n: number): string {
  const which = n === line + 1 ? `entry ${line} was` : `entries ${line} to ${n - 1} were`;
  const after = line === 1 ? "the first line" : `the line behind entry ${line - 1}`;
  return `${which} removed: entry ${n} is in line ${line}, ${after}`;
}

function messageOf(error: unknown): string {
  if (error instanceof MalformedError) return faultText(error.faults);
  throw error;
}

function nullWhereMalformed(error: unknown): null {
  if (error instanceof MalformedError) return null;
  throw error;
}
