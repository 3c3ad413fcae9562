/** Verifies the chain of a log (watch/README.md, "The log") with constant memory, up to the first fault. */
import { concatBytes, toHex } from "../bytes.js";
import { type LogLine, MAX_LINE_BYTES, NO_LINE, lineAt, readLine } from "./entry.js";
import { ownOptions } from "../decode/input.js";
import { MalformedError, faultText } from "../errors.js";
import { sha256 } from "../verify/digest.js";

export type LogStream = AsyncIterable<Uint8Array>;

/** `message` names every line concerned. */
export interface LogFault {
  /** Counts from 1. See `entries` of {@link LogVerification} for the first doubtful line. */
  readonly line: number;
  /**
   * `unfinished`: the last line has no line feed, as after a kill during a write. `malformed`: not an entry in its only
   * valid spelling, or too long. `edited`, `copied`, `inserted`, `moved`, `removed`: how the lines were changed.
   * `head`: the last line's hash differs from the head that was kept elsewhere.
   */
  readonly kind: "unfinished" | "malformed" | "edited" | "copied" | "inserted" | "moved" | "removed" | "head";
  readonly message: string;
}

export interface LogVerification {
  readonly format: "bootproof-log-verification/1";
  /** No line is missing or changed, as far as a chain can show: see `open`. */
  readonly intact: boolean;
  /** Lines before the first that may be edited or inserted. */
  readonly entries: number;
  /** RFC 3339, of the first and last of these lines, or null. */
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  /** SHA-256, in hex, of the last of these lines without its line feed; zeros if there are none. */
  readonly head: string;
  readonly fault: LogFault | null;
  /** What was not checked, in sentences. */
  readonly open: readonly string[];
}

export interface VerifyLogOptions {
  /** The hash of the last line, in hex, as kept elsewhere. */
  readonly head?: string;
  /**
   * Called with each line that follows its predecessor, and its offset. Later lines can still show that it was edited:
   * use nothing before the verification has resolved.
   */
  readonly onLine?: (line: LogLine, offset: number) => void;
}

/** For messages that name the line after which another was inserted. */
const REMEMBERED = 4096;

const NO_HEAD =
  "lines cut off the end, a changed last line, and a log rewritten as a whole by anyone who can write the file: " +
  "keep the head in another place, and pass it with --head";
const WORD = "that each verdict is right: the evidence is in the entry, and bootproof verify verifies it again";

/**
 * Verifies a log. Faults are returned, never thrown; rejects only with the stream.
 * @example
 * ```ts
 * const { intact, fault } = await verifyLog(readLog("boots.jsonl"), { head });
 * ```
 */
export async function verifyLog(stream: LogStream, given: VerifyLogOptions = {}): Promise<LogVerification> {
  const options = ownOptions("options", given, { head: true, onLine: true });
  const chain = new Chain(options);
  const lines = linesOf(stream);
  let found: Found | null = null;
  for await (const line of lines) {
    found = await chain.add(line);
    if (found !== null) break;
  }
  found ??= (await chain.end()) ?? chain.headFault();
  const { n, at, hash } = found?.certain ?? chain.newest;
  return {
    format: "bootproof-log-verification/1",
    intact: found === null,
    entries: n,
    firstAt: n === 0 ? null : chain.firstAt,
    lastAt: at,
    head: hash,
    fault: found?.fault ?? null,
    open: options.head === undefined ? [NO_HEAD, WORD] : [WORD],
  };
}

interface RawLine {
  readonly bytes: Uint8Array;
  readonly offset: number;
  /** By a line feed, or by the limit of a line. */
  readonly ended: boolean;
}

const LINE_FEED = 0x0a;

/** Of a line over the limit it yields the beginning, and then stops. */
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
    // A copy, because the stream may reuse its buffer.
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
  /** Positions of the entry that belongs here, and of this entry's predecessor. */
  successor: number | null;
  predecessor: number | null;
}

interface CountedLine {
  readonly n: number;
  readonly at: string | null;
  readonly hash: string;
}

const NOTHING: CountedLine = { n: 0, at: null, hash: NO_LINE };

interface Found {
  readonly fault: LogFault;
  readonly certain: CountedLine;
}

class Chain {
  newest = NOTHING;
  firstAt: string | null = null;
  readonly #onLine: VerifyLogOptions["onLine"];
  readonly #kept: string | undefined;
  #keptLine: CountedLine | null = null;
  readonly #lines = new Map<string, CountedLine>();
  #break: Break | null = null;
  #read = 0;

  constructor({ onLine, head }: VerifyLogOptions) {
    this.#onLine = onLine;
    this.#kept = head?.toLowerCase();
    if (this.#kept === NO_LINE) this.#keptLine = NOTHING;
  }

  /** Resolves to the fault as soon as it is known. */
  async add({ bytes, offset, ended }: RawLine): Promise<Found | null> {
    const line = ++this.#read;
    if (this.#break === null) return this.#follow({ bytes, offset, ended }, line);
    const found = await readLine(bytes).catch(nullWhereMalformed);
    const at = this.#break;
    if (line === at.line + 1) at.next = found;
    const hash = found?.hash ?? toHex(await sha256(bytes));
    if (hash === at.found.entry.previous) at.predecessor ??= line;
    const { n, hash: head } = this.newest;
    if (found?.entry.previous === head && found.entry.n === n + 1) at.successor ??= line;
    return null;
  }

  async end(): Promise<Found | null> {
    return this.#break === null ? null : this.#told(this.#break);
  }

  /**
   * For a last line whose hash is not the kept head. Certain are the lines up to that head; if no line has it, all but
   * the last.
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

  async #follow({ bytes, offset, ended }: RawLine, line: number): Promise<Found | null> {
    const told = (kind: LogFault["kind"], message: string): Found => ({
      fault: { line, kind, message },
      certain: this.newest,
    });
    if (!ended) return told("unfinished", unfinished(line));
    const read = await readLine(bytes).then(
      (value) => ({ value, message: "" }),
      (error: unknown) => ({ value: null, message: messageOf(error) }),
    );
    if (read.value === null) return told("malformed", `line ${line} is no entry: ${read.message}`);
    const { entry, hash } = read.value;
    if (entry.n !== line || entry.previous !== this.newest.hash) {
      const found = read.value;
      this.#break = { line, found, next: null, successor: null, predecessor: null };
      return null;
    }
    this.newest = { n: line, at: entry.at, hash };
    this.firstAt ??= entry.at;
    if (hash === this.#kept) this.#keptLine = this.newest;
    this.#lines.set(hash, this.newest);
    if (this.#lines.size > REMEMBERED) this.#lines.delete(this.#lines.keys().next().value!);
    this.#onLine?.(read.value, offset);
    return null;
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
        `line ${line} was put in, moved or edited: its number is ${entry.n}, and it follows none`,
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

  /** If only `previous` of the line was changed, the line before it is intact. */
  async #isPreviousEdited({ entry }: LogLine, next: LogLine): Promise<boolean> {
    const { n, hash } = this.newest;
    const written = await lineAt({ entries: n, head: hash }, entry);
    return written.hash === next.entry.previous;
  }

  #lineOf(n: number): CountedLine {
    return [...this.#lines.values()].find((line) => line.n === n) ?? NOTHING;
  }
}

function unfinished(line: number): string {
  return (
    `line ${line} is not finished: there is no line feed at its end, as after a kill in mid-write. bootproof watch ` +
    "takes it away when it goes on"
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
