/** Verifies files of results: each line follows the line before it (run/README.md, "What a chain shows"). */
import { withoutPrototype } from "../decode/input.js";
import { callable, date, options, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, count, demand, flag, optional, text, wholeNumber } from "../decode/shapes.js";
import { MalformedError, faultText } from "../errors.js";
import type { SignedCheckpoint } from "./checkpoint.js";
import { LineReader, MAX_LINE_BYTES, NO_LINES, type RunEnd, type RunLine, isResult } from "./line.js";
import { linesOf } from "./lines.js";

/** The first fault of a file. */
interface RunFault {
  /** Number of the line, counted from 1 over all files. */
  readonly line: number;
  /**
   * - `unfinished`: the last line has no line feed, as if the process was killed during a write.
   * - `malformed`: the line is too long, or is not exactly as bootproof writes it.
   * - `chain`: the line does not follow the line before it.
   * - `begun-anew`: a later file begins a chain of its own.
   * - `head`: the last line's hash differs from the head that was kept elsewhere.
   * - `checkpoint`: the checkpoint is of another file.
   */
  readonly kind: "unfinished" | "malformed" | "chain" | "begun-anew" | "head" | "checkpoint";
  readonly message: string;
  /** Name of the file that has the line; null if the files have no names. */
  readonly file: string | null;
}

/** The step from a line to the next one, or from the last line to the present. */
interface RunStep {
  /** Number of the earlier line. */
  readonly entry: number;
  readonly from: string;
  readonly to: string;
}

export interface RunVerification {
  readonly format: "bootproof-run-verification/1";
  /** Whether no line was changed, as far as a chain shows that: see `open`. */
  readonly intact: boolean;
  /** Whether the file is intact, and `missing` is empty. */
  readonly complete: boolean;
  /** Sentences about what was not verified because it was not passed: earlier files, or the key of the checkpoint. */
  readonly missing: readonly string[];
  /** Number of lines before the first one that does not follow. */
  readonly entries: number;
  /** Number `n` of the first line that `entries` counts; null if it counts none. */
  readonly firstEntry: number | null;
  readonly lastEntry: number;
  /** Times of the first and last lines that `entries` counts, RFC 3339; null if it counts none. */
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  /** SHA-256, in hex, of the last line that `entries` counts, without its line feed; zeros if it counts none. */
  readonly head: string;
  readonly fault: RunFault | null;
  /** The checkpoint; null if none was passed. */
  readonly checkpoint: SignedCheckpoint | null;
  /** Sentences about what the verification left open. */
  readonly open: readonly string[];
  /** Time of the newest `started` or `alive`; null if there is none. */
  readonly lastSign: string | null;
  /** The first 100 steps to a time that is earlier by more than a second. */
  readonly backwards: readonly RunStep[];
  /** The first 100 steps that are longer than `maxGapMs`. */
  readonly gaps: readonly RunStep[];
}

/** The bytes of a file of results, in pieces of any length, and its name for messages. */
export interface RunStream {
  readonly name: string | null;
  readonly stream: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface VerifyRunOptions {
  /** SHA-256 of the last line, in hex, from a copy that was kept outside the file. */
  readonly head?: string;
  /** A checkpoint of the file (`readCheckpoint`). The file may have grown since. */
  readonly checkpoint?: SignedCheckpoint;
  /**
   * The last line of a part that was verified before, such as a checkpoint that was read with its key. The first file
   * must begin with the line after it, or have that line. Default: a file may begin with any line, and is not complete
   * then.
   */
  readonly after?: RunEnd;
  /** The longest time between two lines, from the first `started` or `alive` to `now`. Default: no limit. */
  readonly maxGapMs?: number;
  /** The present, which `maxGapMs` requires. */
  readonly now?: Date;
  /** Returns the SHA-256 of bytes, in hex. Default: that of the platform's WebCrypto, which is slower than Node's. */
  readonly hashOf?: (bytes: Uint8Array) => string | Promise<string>;
}

const OPTIONS: MembersOf<VerifyRunOptions> = {
  head: demand(text),
  checkpoint: demand(options<SignedCheckpoint>({ origin: text, entries: count, head: text, isVerified: flag })),
  after: optional(plain),
  maxGapMs: demand(wholeNumber(1)),
  now: optional(date),
  hashOf: optional(callable),
};

const CUT =
  "lines removed from the end, a changed last line, and a file rewritten as a whole by anyone who can write it: keep " +
  "the head in another place, and pass it with --head, or a checkpoint (bootproof log checkpoint)";
const NO_KEY = "who signed the checkpoint: its signature was not checked; pass the public key with --key";
const NO_SIGN = "whether the watch was running: no line is of a start or a sign of life, from which gaps are counted";
const WORD = "that each verdict is right: verify the evidence again with bootproof verify or bootproof audit";

/**
 * Verifies the files of a chain, in their order. Faults of the files are returned, not thrown. Rejects with the error
 * of a stream, and with TypeError for invalid options.
 * @example
 * ```ts
 * const { intact, fault } = await verifyRun([{ name: "boots.jsonl", stream: createReadStream("boots.jsonl") }]);
 * ```
 */
export async function verifyRun(
  files: Iterable<RunStream> | AsyncIterable<RunStream>,
  given: VerifyRunOptions = {},
): Promise<RunVerification> {
  const own = typedOptions("options", given, OPTIONS);
  if (own.maxGapMs !== undefined && own.now === undefined)
    throw new TypeError("options.now: required with options.maxGapMs");
  if ((own.after as Partial<SignedCheckpoint> | undefined)?.isVerified === false)
    throw new TypeError("options.after: its signature was not verified: read it with a key");
  const chain = new Chain(own);
  await chain.readAll(files);
  chain.finish();
  return chain.verification();
}

const MOST_LISTED = 100;
/** Verifications run beside one another, so their times may be recorded in another order. */
const TOLERANCE_MS = 1000;

/** Follows lines, and keeps the first fault. */
export class Chain {
  readonly #reader: LineReader;
  readonly #options: VerifyRunOptions;
  /** The line before the first one. */
  #base: RunEnd = NO_LINES;
  end: RunEnd = NO_LINES;
  fault: RunFault | null = null;
  #file: string | null = null;
  #isFirstOfFile = true;
  #first: string | null = null;
  #last: string | null = null;
  #lastSign: string | null = null;
  readonly #backwards: RunStep[] = [];
  readonly #gaps: RunStep[] = [];
  /** Of the lines that were demanded, those that the files have, by their number. */
  readonly #found = new Map<number, string>();

  constructor(options: VerifyRunOptions) {
    this.#options = withoutPrototype(options);
    this.#reader = new LineReader(this.#options.hashOf);
  }

  /** Reads files to their end, or to the first fault. */
  async readAll(files: Iterable<RunStream> | AsyncIterable<RunStream>): Promise<void> {
    for await (const { name, stream } of files) {
      this.begin(name);
      for await (const { bytes, isEnded } of linesOf(stream, MAX_LINE_BYTES)) {
        if (!isEnded) this.fail("unfinished", UNFINISHED);
        else await this.add(bytes);
        if (this.fault !== null) return;
      }
    }
  }

  /** Begins a file. */
  begin(name: string | null): void {
    [this.#file, this.#isFirstOfFile] = [name, true];
  }

  /** Adds a line. Null, with a `fault`, if it does not follow. */
  async add(bytes: Uint8Array): Promise<RunLine | null> {
    const line = await this.#reader.read(bytes).catch((error: unknown) => {
      if (!(error instanceof MalformedError)) throw error;
      return this.fail("malformed", `not as bootproof writes it: ${faultText(error.faults)}`);
    });
    if (line === null) return null;
    const { n, previous, at } = line.entry;
    if (this.end.entries === 0) this.#begin(line.entry);
    if (n === 1 && this.end.entries > 0 && this.#isFirstOfFile) return this.fail("begun-anew", twoChains(this.end));
    if (n !== this.end.entries + 1 || previous !== this.end.head) return this.fail("chain", notNext(line, this.end));
    this.#isFirstOfFile = false;
    this.#stepTo(at);
    this.end = { entries: n, head: line.hash };
    [this.#first, this.#last] = [this.#first ?? at, at];
    if (!isResult(line.entry) && (line.entry.event === "started" || line.entry.event === "alive")) this.#lastSign = at;
    this.#notice(this.end);
    return line;
  }

  /** A first file may begin with a later line, but not behind the one that the caller named. */
  #begin({ n, previous }: Pick<RunLine["entry"], "n" | "previous">): void {
    const { after } = this.#options;
    if (after !== undefined && n > after.entries) this.#base = { entries: after.entries, head: after.head };
    else this.#base = n === 1 ? NO_LINES : { entries: n - 1, head: previous };
    this.end = this.#base;
    this.#notice(this.#base);
  }

  #notice({ entries, head }: RunEnd): void {
    const { after, checkpoint } = this.#options;
    if (entries === after?.entries || entries === checkpoint?.entries) this.#found.set(entries, head);
  }

  #stepTo(to: string): void {
    if (this.#last === null) return;
    const from = this.#last;
    const step = { entry: this.end.entries, from, to };
    const ms = Date.parse(to) - Date.parse(from);
    if (ms < -TOLERANCE_MS && this.#backwards.length < MOST_LISTED) this.#backwards.push(step);
    const { maxGapMs = Infinity } = this.#options;
    if (ms > maxGapMs && this.#lastSign !== null && this.#gaps.length < MOST_LISTED) this.#gaps.push(step);
  }

  /** Records the first fault. */
  fail(kind: RunFault["kind"], message: string, line = this.end.entries + 1): null {
    this.fault ??= { line, kind, message: `line ${line}: ${message}`, file: this.#file };
    return null;
  }

  /** Compares the end with what was kept elsewhere, and with the present. */
  finish(): void {
    const { after, checkpoint, head, now } = this.#options;
    if (now !== undefined) this.#stepTo(now.toISOString());
    // Files without a line, such as one that was just begun, end where the caller says.
    if (after !== undefined && this.end.entries === 0 && this.fault === null)
      this.#begin({ n: after.entries + 1, previous: after.head });
    const { entries, head: own } = this.end;
    for (const kept of [after, checkpoint]) if (kept) this.#compare(kept);
    if (head !== undefined && head.toLowerCase() !== own)
      this.fail(
        "head",
        `its hash is ${own}, and ${head} was kept: lines were removed or added since`,
        Math.max(entries, 1),
      );
  }

  #compare({ entries, head }: RunEnd): void {
    const found = this.#found.get(entries);
    if (found === head || (entries === 0 && head === NO_LINES.head)) return;
    const [least, most] = [this.#base.entries + 1, this.end.entries];
    const line = Math.max(Math.min(entries, most), least);
    this.fail("checkpoint", checkpointFault({ entries, head }, { found, least, most }), line);
  }

  verification(): RunVerification {
    const { checkpoint = null } = this.#options;
    const [before, { entries, head }] = [this.#base.entries, this.end];
    const isNone = entries === before;
    const missing = this.#missing();
    return {
      format: "bootproof-run-verification/1",
      intact: this.fault === null,
      complete: this.fault === null && missing.length === 0,
      missing,
      entries: entries - before,
      firstEntry: isNone ? null : before + 1,
      lastEntry: entries,
      firstAt: isNone ? null : this.#first,
      lastAt: isNone ? null : this.#last,
      head,
      fault: this.fault,
      checkpoint,
      open: this.#open(),
      lastSign: this.#lastSign,
      backwards: this.#backwards,
      gaps: this.#gaps,
    };
  }

  #missing(): string[] {
    const { after, checkpoint, maxGapMs } = this.#options;
    const { entries, head } = this.#base;
    return [
      ...(entries > 0 && after === undefined ? [earlier(entries, head)] : []),
      ...(checkpoint?.isVerified === false ? [NO_KEY] : []),
      ...(maxGapMs !== undefined && this.#lastSign === null ? [NO_SIGN] : []),
    ];
  }

  #open(): string[] {
    const { after, checkpoint, head } = this.#options;
    const before = this.#base.entries;
    const vouched = Math.max(checkpoint?.entries ?? 0, after?.entries ?? 0);
    const isCovered = head !== undefined || (vouched > 0 && vouched >= this.end.entries);
    const behind = vouched === 0 ? "" : `lines behind line ${vouched}, which the checkpoint does not cover: `;
    return [
      ...(before > 0 && after !== undefined ? [`lines 1 to ${before}: the earlier checkpoint vouches for them`] : []),
      ...(isCovered ? [] : [`${behind}${CUT}`]),
      WORD,
    ];
  }
}

const UNFINISHED =
  "it does not end with a line feed: the process was killed during a write (a start with this file cuts it off), or " +
  "the file was cut";

interface Compared {
  /** The hash that the files have of this line. */
  readonly found: string | undefined;
  readonly least: number;
  readonly most: number;
}

function checkpointFault({ entries, head }: RunEnd, { found, least, most }: Compared): string {
  const other = "the file was rewritten, or the checkpoint is of another one";
  if (entries < least - 1) return `the checkpoint is of line ${entries}, in a file before these: pass that file, too`;
  if (found !== undefined) return `its hash is ${found}, and the checkpoint has ${head}: ${other}`;
  const lines = `the files have lines ${least} to ${most}, and the checkpoint is of line ${entries}`;
  return `${lines}: the last lines are missing, ${other}`;
}

function notNext({ entry: { n, previous } }: RunLine, { entries, head }: RunEnd): string {
  if (n !== entries + 1) return `it has the number ${n}, and ${entries + 1} was expected: lines were removed or added`;
  return (
    `it does not follow line ${entries}, whose hash is ${head}: it has ${previous}. ` +
    "One of the two lines was changed, or lines between them were replaced"
  );
}

function twoChains({ entries }: RunEnd): string {
  return (
    `two chains were given: this file does not name line ${entries} of the file before it as its predecessor. ` +
    "Verify each alone; a file that is begun with --after FILE goes on with FILE's chain"
  );
}

function earlier(entries: number, head: string): string {
  const lines = entries === 1 ? "line 1, which is" : `lines 1 to ${entries}, which are`;
  return `${lines} in files that were not passed: the last has the hash ${head}`;
}
