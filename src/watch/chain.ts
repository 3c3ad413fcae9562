/**
 * Checks that each line of a log follows the line before it. Where one does not, later lines show how the log was
 * changed.
 */
import { toHex } from "../bytes.js";
import { MalformedError, faultText } from "../errors.js";
import { sha256 } from "../verify/digest.js";
import type { SignedCheckpoint } from "./checkpoint.js";
import { type LogEnd, type LogLine, NO_LINE, continuedIn, lineAt, readLine } from "./entry.js";

/** The first fault of a log. `message` names all lines that it is about. */
export interface LogFault {
  /**
   * Number of the line, counted from 1 over all files of the log; in an intact log, the entry's `n`. Earlier lines may
   * be doubtful, too: see `entries` of {@link LogVerification}.
   */
  readonly line: number;
  /**
   * - `unfinished`: the last line has no line feed, as if the process was killed during a write.
   * - `malformed`: the line is too long, or is not exactly as an entry is written.
   * - `edited`, `copied`, `inserted`, `moved`, `removed`: how the lines were changed.
   * - `head`: the last line's hash differs from the head that was kept elsewhere.
   * - `file`: a file of the log is missing, repeated or in another place.
   * - `checkpoint`: the checkpoint is of another log, or its signature is wrong.
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
  /** Name of the file that has the line; null if the files have no names. */
  readonly file: string | null;
}

export interface VerifyLogOptions {
  /** SHA-256 of the last line, in hex, from a copy that was kept outside the log. */
  readonly head?: string;
  /** A checkpoint of the log: a signed note, or one that was read before. The log may have grown since. */
  readonly checkpoint?: string | Uint8Array | SignedCheckpoint;
  /** Ed25519 public key of the checkpoint, as PEM. Without a key the signature is not checked: see `open`. */
  readonly key?: string;
  /** The origin that the checkpoint must have. Default: any. */
  readonly origin?: string;
  /**
   * The last entry of a part that was verified before, such as a checkpoint that was read with its key. The log must
   * begin with the entry after it, or have that entry. With `any`, the log may begin with any entry, and is not
   * complete then. Default: the first line is entry 1.
   */
  readonly after?: LogEnd | "any";
  /** The longest time between two entries, from the first `started` or `heartbeat` to `now`. Default: no limit. */
  readonly maxGapMs?: number;
  /** The present, which `maxGapMs` requires. */
  readonly now?: Date;
  /**
   * Receives each line that follows the line before it, and its offset. A later line can still show that the line was
   * edited: use nothing before the verification has resolved.
   */
  readonly onLine?: (line: LogLine, offset: number) => void;
}

export interface VerifyFilesOptions extends Pick<VerifyLogOptions, "head" | "after" | "onLine" | "maxGapMs" | "now"> {
  readonly checkpoint: SignedCheckpoint | null;
}

export interface RawLine {
  readonly bytes: Uint8Array;
  readonly offset: number;
  /** Whether the line ended, with a line feed or at the size limit. */
  readonly ended: boolean;
}

/** Number of lines whose hashes are kept, so that the message about an inserted line can name the line before it. */
const REMEMBERED = 4096;

/** A line that does not follow the line before it. Later lines show the reason. */
interface Break {
  readonly line: number;
  readonly found: LogLine;
  next: LogLine | null;
  /**
   * Number of the line that should be here, then number of the line that this entry follows; null until it is found.
   */
  successor: number | null;
  predecessor: number | null;
}

interface CountedLine {
  readonly n: number;
  readonly at: string | null;
  readonly hash: string;
  /** The file that the line names as the next one. */
  readonly next: string | null;
}

interface Opened {
  readonly name: string | null;
  /** Number and hash of the file's first line. */
  line: number;
  hash: string | null;
}

/** A file whose first line has an unexpected number. Later files can show the reason. */
interface Misplaced {
  readonly file: Opened;
  readonly found: LogLine;
  /** The file that belongs here. */
  successor: string | null;
}

export interface FoundFault {
  readonly fault: Omit<LogFault, "file">;
  readonly certain: CountedLine;
}

export class Chain {
  /** The entry before the first line. */
  base: CountedLine;
  newest: CountedLine;
  firstAt: string | null = null;
  readonly #options: VerifyFilesOptions;
  readonly #onLine: (line: LogLine, offset: number) => void;
  readonly #kept: string | undefined;
  #keptLine: CountedLine | null = null;
  /** The entries that the log must have. */
  readonly #demanded: readonly LogEnd[];
  readonly #found = new Map<LogEnd, CountedLine>();
  readonly #lines = new Map<string, CountedLine>();
  readonly #files: Opened[] = [];
  #isAtStart = true;
  #break: Break | null = null;
  #misplaced: Misplaced | null = null;
  #read: number;

  constructor(options: VerifyFilesOptions, onLine: (line: LogLine, offset: number) => void) {
    const { after = "any", checkpoint, head } = options;
    const before = after === "any" ? { entries: 0, head: NO_LINE } : after;
    this.#options = options;
    this.#onLine = onLine;
    this.#kept = head?.toLowerCase();
    this.#demanded = [after, checkpoint].filter((end) => end !== null && end !== "any");
    this.base = { n: before.entries, at: null, hash: before.head, next: null };
    this.newest = this.base;
    this.#read = this.base.n;
    this.#notice(this.base);
  }

  begin(name: string | null): void {
    this.#files.push({ name, line: this.#read + 1, hash: null });
    this.#isAtStart = true;
    // A file that was just begun has no line yet, so only its name shows that it is the next one.
    if (name?.split(/[/\\]/).at(-1) === this.newest.next) this.newest = { ...this.newest, next: null };
  }

  /**
   * Adds the name of the line's file to a fault. The message also has the number of the line in that file, if it
   * differs.
   */
  placed(fault: Omit<LogFault, "file">): LogFault {
    const { line, kind, message } = fault;
    const { name = null, line: first = 1 } = this.#files.findLast((file) => file.line <= line) ?? this.#files[0] ?? {};
    const isOfLine = kind !== "file" && kind !== "checkpoint" && kind !== "head";
    const place = isOfLine && name !== null && first > 1 ? ` (line ${line - first + 1} of ${name})` : "";
    return { line, kind, message: `${message}${place}`, file: name };
  }

  /** Adds a line. Resolves to its fault; null if it has none, or if only later lines can show the fault. */
  async add(raw: RawLine): Promise<FoundFault | null> {
    const isFirst = this.#isAtStart;
    this.#isAtStart = false;
    if (this.#misplaced !== null) {
      if (isFirst && this.#isNext(await lineIn(raw))) this.#misplaced.successor ??= this.#files.at(-1)!.name;
      return null;
    }
    const line = ++this.#read;
    return this.#break === null ? this.#follow(raw, line, isFirst) : this.#explain(this.#break, raw, line);
  }

  async #explain(at: Break, raw: RawLine, line: number): Promise<null> {
    const found = await lineIn(raw);
    if (line === at.line + 1) at.next = found;
    const hash = found?.hash ?? toHex(await sha256(raw.bytes));
    if (hash === at.found.entry.previous) at.predecessor ??= line;
    if (this.#isNext(found)) at.successor ??= line;
    return null;
  }

  #isNext(found: LogLine | null): boolean {
    return found?.entry.previous === this.newest.hash && found.entry.n === this.newest.n + 1;
  }

  /** The fault that is known only at the end. */
  async fault(): Promise<FoundFault | null> {
    if (this.#misplaced !== null) return this.#misplacedFault(this.#misplaced);
    if (this.#break !== null) return this.#told(this.#break);
    return this.#headFault() ?? this.#demanded.map((one) => this.#checkpointFault(one)).find(Boolean) ?? null;
  }

  #misplacedFault({ file, found, successor }: Misplaced): FoundFault {
    const [name, before] = [file.name, this.#files[this.#files.indexOf(file) - 1]!.name];
    const { n } = found.entry;
    const { next } = this.newest;
    const end = `${before}, the file before it, ends with entry ${this.newest.n}`;
    const places = `${name} begins with entry ${n}, and ${end}`;
    const same = this.#files.find((each) => each !== file && each.hash === file.hash);
    let why = "it is in the wrong place, or a file of another log";
    if (same !== undefined) why = `it has the same first line as ${same.name}: a file is repeated`;
    else if (successor !== null) why = `the files are not in their order: ${successor} follows ${before}`;
    else if (n > this.newest.n && next !== null) why = `a file is missing: ${before} continues in ${next}`;
    else if (n > this.newest.n) why = `the end of ${before} is missing, or files between them are missing`;
    return { fault: { line: file.line, kind: "file", message: `${why}: ${places}` }, certain: this.newest };
  }

  /** Sentences about the parts of the log in files that were not passed. */
  unseen(): string[] {
    const { n, hash } = this.base;
    const { next } = this.newest;
    const [first] = this.#files;
    const count = n === 1 ? "entry 1, which is" : `entries 1 to ${n}, which are`;
    const files = `in files before ${first?.name ?? "this one"}, which were not passed: the last has the hash ${hash}`;
    return [
      ...(this.#options.after === "any" && n > 0 ? [`${count} ${files}`] : []),
      ...(next === null ? [] : [`the log continues in ${next}, which was not passed`]),
    ];
  }

  #checkpointFault(end: LogEnd): FoundFault | null {
    const { base, newest } = this;
    const { entries, head } = end;
    const found = this.#found.get(end);
    if (found?.hash === head) return null;
    const told = (message: string): FoundFault => ({
      fault: { line: Math.max(Math.min(entries, newest.n), base.n + 1), kind: "checkpoint", message },
      certain: base,
    });
    if (entries < base.n)
      return told(`the checkpoint is of entry ${entries}, which is in a file before these: pass that file, too`);
    const more = newest.next === null ? "" : `, or the file ${newest.next} is missing`;
    if (found === undefined)
      return told(
        `the log ends with entry ${newest.n}, and the checkpoint is of entry ${entries}: its last lines are missing, ` +
          `the log was rewritten, or the checkpoint is of another log${more}`,
      );
    return told(
      `entry ${entries} has the hash ${found.hash}, and the checkpoint has ${head}: the log was ` +
        "rewritten, or the checkpoint is of another log",
    );
  }

  /**
   * Returns a fault unless the last line has the hash that was kept. Certain are the lines up to the kept hash or, if
   * no line has it, all lines but the last.
   */
  #headFault(): FoundFault | null {
    const { n, hash } = this.newest;
    if (this.#kept === undefined || this.#kept === hash) return null;
    const since =
      this.#keptLine === null
        ? "lines were removed or added since then, the last one was changed, or it is another log"
        : `that is the head at line ${this.#keptLine.n}, and lines were added since then`;
    const message = `the log ends with line ${n}, whose hash is ${hash}, and ${this.#kept} was kept: ${since}`;
    const certain = this.#keptLine ?? this.#lineOf(n - 1);
    return { fault: { line: Math.max(n, 1), kind: "head", message }, certain };
  }

  async #follow({ bytes, offset, ended }: RawLine, line: number, isFirst: boolean): Promise<FoundFault | null> {
    const told = (kind: LogFault["kind"], what: string): FoundFault => ({
      fault: { line, kind, message: `line ${line} is not ${what}` },
      certain: this.newest,
    });
    if (!ended) return told("unfinished", UNFINISHED);
    const read = await readLine(bytes).catch((error: unknown) => {
      if (error instanceof MalformedError) return faultText(error.faults);
      throw error;
    });
    return typeof read === "string"
      ? told("malformed", `an entry: ${read}`)
      : this.#place(read, { line, offset, isFirst });
  }

  #place(found: LogLine, { line, offset, isFirst }: { line: number; offset: number; isFirst: boolean }): null {
    const { entry, hash } = found;
    const { after } = this.#options;
    const file = this.#files.at(-1)!;
    const isBegun = this.newest !== this.base;
    if (isFirst) file.hash = hash;
    if (!isBegun && after !== undefined && (after !== "any" || entry.n > 1)) line = this.#beginAt(found);
    if (isFirst && isBegun && entry.n !== line) this.#misplaced = { file, found, successor: null };
    else if (entry.n !== line || entry.previous !== this.newest.hash)
      this.#break = { line, found, next: null, successor: null, predecessor: null };
    else this.#accept(found, { line, offset });
    return null;
  }

  #accept(found: LogLine, { line, offset }: { line: number; offset: number }): void {
    const { entry, hash } = found;
    this.newest = { n: line, at: entry.at, hash, next: continuedIn(entry) };
    this.firstAt ??= entry.at;
    this.#notice(this.newest);
    this.#lines.set(hash, this.newest);
    if (this.#lines.size > REMEMBERED) this.#lines.delete(this.#lines.keys().next().value!);
    this.#onLine(found, offset);
  }

  /** Begins with the first line of a log whose first files may be elsewhere, and returns its number. */
  #beginAt({ entry: { n, previous } }: LogLine): number {
    this.base = { n: n - 1, at: null, hash: n === 1 ? NO_LINE : previous, next: null };
    this.newest = this.base;
    this.#files.at(-1)!.line = n;
    this.#found.clear();
    this.#notice(this.base);
    return (this.#read = n);
  }

  #notice(line: CountedLine): void {
    if (line.hash === this.#kept) this.#keptLine = line;
    for (const end of this.#demanded) if (line.n === end.entries) this.#found.set(end, line);
  }

  async #told({ line, found, next, successor, predecessor }: Break): Promise<FoundFault> {
    const { entry, hash } = found;
    const told = (kind: LogFault["kind"], message: string, certain = line - 1, at = line): FoundFault => ({
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
      return told("edited", `line ${line} was edited: it is in its place, but its number is ${entry.n}`);
    const before = this.#lines.get(entry.previous);
    if (before !== undefined) return told("inserted", insertedAfter(before.n, line), before.n);
    if (entry.n > line) return told("removed", removed(line, entry.n));
    if (entry.n < line)
      return told(
        "inserted",
        `line ${line} was inserted, moved or edited: its number is ${entry.n}, and it follows no line of the log`,
      );
    if (line === 1) return told("edited", "line 1 was edited, or is not the first one: it follows another line");
    if (next === null) {
      const which = `line ${line - 1} was edited, or line ${line}`;
      return told("edited", `${which}: the later line does not have the hash of the earlier one`, line - 2);
    }
    const edited = next.entry.previous === hash ? line - 1 : line;
    const certain = (await this.#isPreviousEdited(found, next)) ? line - 1 : line - 2;
    return told("edited", `line ${edited} was edited after it was written`, certain, edited);
  }

  /** Whether only the member `previous` of the line was changed. The line before it is then intact. */
  async #isPreviousEdited({ entry }: LogLine, next: LogLine): Promise<boolean> {
    const { n, hash } = this.newest;
    const written = await lineAt({ entries: n, head: hash }, entry);
    return written.hash === next.entry.previous;
  }

  #lineOf(n: number): CountedLine {
    return [...this.#lines.values()].find((line) => line.n === n) ?? this.base;
  }
}

const UNFINISHED =
  "finished: it has no line feed at its end, perhaps after a kill. bootproof watch removes it at its next start";

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
  return ["inserted", `line ${line} was inserted: entry ${line} is in line ${successor}, and follows line ${line - 1}`];
}

function insertedAfter(before: number, line: number): string {
  return (
    `lines ${before + 1} and ${line} both follow line ${before}: its previous is the hash of line ${before}, and one ` +
    "of the two was inserted"
  );
}

function removed(line: number, n: number): string {
  const which = n === line + 1 ? `entry ${line} was` : `entries ${line} to ${n - 1} were`;
  const after = line === 1 ? "the first line" : `the line after entry ${line - 1}`;
  return `${which} removed: entry ${n} is in line ${line}, ${after}`;
}

async function lineIn({ bytes }: RawLine): Promise<LogLine | null> {
  return readLine(bytes).catch((error: unknown) => {
    if (error instanceof MalformedError) return null;
    throw error;
  });
}
