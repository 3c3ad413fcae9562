/**
 * The chain of a log (watch/README.md, "The log"): read once from its beginning, line by line, with flat memory. The
 * first thing that is wrong is told with its line; where lines are not in their order, the rest is read for the missing
 * one.
 */
import { concatBytes, toHex } from "../bytes.js";
import { type LogEntry, type LogLine, MAX_LINE_BYTES, NO_LINE, readLine } from "./entry.js";
import { ownOptions } from "../decode/input.js";
import { MalformedError, faultText } from "../errors.js";
import { sha256 } from "../verify/digest.js";

/** The bytes of a log in order, in pieces of any size. */
export type LogStream = AsyncIterable<Uint8Array>;

/** What is wrong with a log: from which line on, and a sentence that names each line it is about. */
export interface LogFault {
  /** From 1. */
  readonly line: number;
  /**
   * `unfinished`: the last line has no line feed, as after a kill in mid-write. `malformed`: no entry in its one
   * spelling. `edited`, `copied`, `inserted`, `moved`, `removed`: what was done to the lines. `head`: the log ends with
   * another line than the one that was kept elsewhere.
   */
  readonly kind: "unfinished" | "malformed" | "edited" | "copied" | "inserted" | "moved" | "removed" | "head";
  readonly message: string;
}

export interface LogVerification {
  readonly format: "bootproof-log-verification/1";
  /** Whether every line is there as it was written, as far as a chain can tell: see `open`. */
  readonly intact: boolean;
  /** Lines that are good, up to the first fault. */
  readonly entries: number;
  /** RFC 3339: of the first and the last of them; null where there is none. */
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  /** SHA-256, in hex, of the last of them without its line feed; zeros where there is none. */
  readonly head: string;
  readonly fault: LogFault | null;
  /** What was not asked, and could be wrong all the same; a sentence each. */
  readonly open: readonly string[];
}

export interface VerifyLogOptions {
  /** The hash of the last line, in hex, as it was kept in another place. */
  readonly head?: string;
  /** Called with each good line in its order, and where it begins in the stream. */
  readonly onLine?: (line: LogLine, offset: number) => void;
}

/** Hashes of so many lines are kept, to tell which line another one was put behind. */
const REMEMBERED = 4096;

const NO_HEAD =
  "lines cut off the end, a change of the last line, and a log written anew as a whole by whoever holds the file: " +
  "keep the head in another place, and give it with --head";
const WORD = "that each verdict is right: the evidence is in the entry, and bootproof verify verifies it again";

/** Verifies a log. Never throws for what is wrong with it. */
export async function verifyLog(stream: LogStream, given: VerifyLogOptions = {}): Promise<LogVerification> {
  const options = ownOptions("options", given, { head: true, onLine: true });
  const chain = new Chain(options.onLine);
  const lines = linesOf(stream);
  let fault: LogFault | null = null;
  for await (const line of lines) {
    fault = await chain.add(line);
    if (fault !== null) break;
  }
  fault ??= chain.end() ?? headFault(chain, options.head);
  const { entries, first, last, head } = chain;
  return {
    format: "bootproof-log-verification/1",
    intact: fault === null,
    entries,
    firstAt: first?.at ?? null,
    lastAt: last?.at ?? null,
    head,
    fault,
    open: options.head === undefined ? [NO_HEAD, WORD] : [WORD],
  };
}

function headFault({ entries, head }: Chain, wanted: string | undefined): LogFault | null {
  if (wanted === undefined || wanted.toLowerCase() === head) return null;
  const message =
    `the log ends with line ${entries}, whose hash is ${head}, and ${wanted.toLowerCase()} was kept: lines were cut ` +
    "off or added since then, the last one was changed, or it is another log";
  return { line: Math.max(entries, 1), kind: "head", message };
}

/** A line as it stands in the file. */
interface RawLine {
  readonly bytes: Uint8Array;
  readonly offset: number;
  /** It ends with a line feed. */
  readonly ended: boolean;
}

const LINE_FEED = 0x0a;

/** One line at a time. Of one that is longer than any entry only the beginning is handed on, as unended. */
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
    // A copy: whoever reads a file may use its buffer again.
    if (rest.length > 0) parts.push(new Uint8Array(rest));
    length += rest.length;
    if (length > MAX_LINE_BYTES) break;
  }
  if (length > 0) yield { bytes: concatBytes(...parts), offset, ended: false };
}

/** A line that does not follow the one before it: what is behind it tells what was done. */
interface Break {
  /** Its number in the file. */
  readonly line: number;
  readonly found: LogLine;
  /** The line right behind it, once it was read. */
  next: LogLine | null;
  /** Where the entry stands that would follow; where one stands that this one follows. */
  successor: number | null;
  predecessor: number | null;
}

class Chain {
  entries = 0;
  head = NO_LINE;
  first: LogEntry | null = null;
  last: LogEntry | null = null;
  readonly #onLine: VerifyLogOptions["onLine"];
  /** The numbers of the newest good lines, by their hashes. */
  readonly #numbers = new Map<string, number>();
  #break: Break | null = null;
  #read = 0;

  constructor(onLine: VerifyLogOptions["onLine"]) {
    this.#onLine = onLine;
  }

  /** Takes the next line. Answers what is wrong, once that is known. */
  async add({ bytes, offset, ended }: RawLine): Promise<LogFault | null> {
    const line = ++this.#read;
    if (this.#break === null) return this.#follow({ bytes, offset, ended }, line);
    const found = await readLine(bytes).catch(nullWhereMalformed);
    const at = this.#break;
    if (line === at.line + 1) at.next = found;
    const hash = found?.hash ?? toHex(await sha256(bytes));
    if (hash === at.found.entry.previous) at.predecessor ??= line;
    if (found?.entry.previous === this.head && found.entry.n === this.entries + 1) at.successor ??= line;
    return null;
  }

  /** What is wrong, once there are no more lines. */
  end(): LogFault | null {
    return this.#break === null ? null : this.#told(this.#break);
  }

  async #follow({ bytes, offset, ended }: RawLine, line: number): Promise<LogFault | null> {
    if (!ended) return { line, kind: "unfinished", message: unfinished(line, bytes) };
    const read = await readLine(bytes).then(
      (value) => ({ value, message: "" }),
      (error: unknown) => ({ value: null, message: messageOf(error) }),
    );
    if (read.value === null) return { line, kind: "malformed", message: `line ${line} is no entry: ${read.message}` };
    const { entry, hash } = read.value;
    if (entry.n !== line || entry.previous !== this.head) {
      const found = read.value;
      this.#break = { line, found, next: null, successor: null, predecessor: null };
      return null;
    }
    this.entries = line;
    this.head = hash;
    this.first ??= entry;
    this.last = entry;
    this.#numbers.set(hash, line);
    if (this.#numbers.size > REMEMBERED) this.#numbers.delete(this.#numbers.keys().next().value!);
    this.#onLine?.(read.value, offset);
    return null;
  }

  #told({ line, found, next, successor, predecessor }: Break): LogFault {
    const { entry, hash } = found;
    const told = (kind: LogFault["kind"], message: string, at = line): LogFault => ({ line: at, kind, message });
    const copied = this.#numbers.get(hash);
    if (copied !== undefined) return told("copied", `line ${line} is a copy of line ${copied}`);
    if (successor !== null) return outOfOrder({ line, found, successor, predecessor });
    if (entry.previous === this.head)
      return told("edited", `line ${line} was edited: it is in its place, and its number is ${entry.n}`);
    const before = this.#numbers.get(entry.previous);
    if (before !== undefined) return told("inserted", insertedAfter(before, line));
    if (entry.n > line) return told("removed", removed(line, entry.n));
    if (entry.n < line)
      return told(
        "inserted",
        `line ${line} was put in, moved or edited: its number is ${entry.n}, and it follows none`,
      );
    if (line === 1) return told("edited", "line 1 was edited, or is not the first one: it follows another line");
    if (next === null)
      return told("edited", `line ${line - 1} was edited, or line ${line}: the one does not carry the other's hash`);
    const edited = next.entry.previous === hash ? line - 1 : line;
    return told("edited", `line ${edited} was edited after it was written`, edited);
  }
}

function unfinished(line: number, bytes: Uint8Array): string {
  if (bytes.length > MAX_LINE_BYTES) return `line ${line} is longer than any entry`;
  return (
    `line ${line} is not finished: there is no line feed at its end, as after a kill in mid-write. bootproof watch ` +
    "takes it away when it goes on"
  );
}

function outOfOrder({ line, found, successor, predecessor }: Omit<Break, "next"> & { successor: number }): LogFault {
  const { n } = found.entry;
  if (predecessor !== null) {
    const places = `entry ${n} stands in line ${line}, and entry ${line} in line ${successor}`;
    return { line, kind: "moved", message: `lines are not in their order: ${places}` };
  }
  const message = `line ${line} was put in: entry ${line} stands in line ${successor}, and follows line ${line - 1}`;
  return { line, kind: "inserted", message };
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
  return `${which} removed: entry ${n} stands in line ${line}, ${after}`;
}

function messageOf(error: unknown): string {
  if (error instanceof MalformedError) return faultText(error.faults);
  throw error;
}

function nullWhereMalformed(error: unknown): null {
  if (error instanceof MalformedError) return null;
  throw error;
}
