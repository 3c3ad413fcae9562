/** What a file of results has of earlier runs, and which entries it has already (run/README.md, "Going on"). */
import { type Hash, createHash } from "node:crypto";
import {
  type EntryPlace,
  LineReader,
  MAX_LINE_BYTES,
  type RunEntry,
  type RunEvents,
  type RunLine,
  isOfWatch,
  isResult,
  isWatchResult,
} from "./line.js";
import { linesOf } from "./lines.js";
import { type RunFile, RunFileError } from "./node-file.js";
import { Tally } from "./summary.js";

/** The part of a file that one run wrote, behind its `started`. */
interface RunPart {
  readonly from: number;
  /** How many lines of expectations that run had. */
  readonly expectations: number;
}

/** What the lines of a file say, without its entries. */
export class EarlierRuns {
  readonly parts: RunPart[] = [];
  /** All entries of the file, and those that no run has reported. */
  readonly total = new Tally();
  unreported = new Tally();
  started: RunEvents["started"] | null = null;
  /** Whether a line is of a watch. */
  isOfWatch = false;

  add({ entry, bytes }: RunLine, offset: number): void {
    this.isOfWatch ||= isOfWatch(entry);
    if (isResult(entry)) {
      if (!isWatchResult(entry)) for (const tally of [this.total, this.unreported]) tally.add(entry);
    } else if (entry.event === "accepted") {
      for (const tally of [this.total, this.unreported]) tally.addAccepted(entry.count, entry.verified);
    } else if (entry.event === "started") {
      this.started = entry;
      const expectations = Number.parseInt(entry.setting?.["expected"] ?? "0", 10);
      this.parts.push({ from: offset + bytes.length + 1, expectations });
    } else if (entry.event === "stopped") this.unreported = new Tally();
  }
}

/** A result, or several accepted entries in one line. */
type Known =
  | (EntryPlace & { readonly entry: string; readonly isJudged: boolean })
  | (EntryPlace & RunEvents["accepted"] & { readonly hash: Hash; left: number });

/** Reads the results of one run, in their order. */
class Cursor {
  readonly expectations: number;
  readonly #lines: AsyncGenerator<{ readonly bytes: Uint8Array }>;
  readonly #reader = new LineReader(() => "");
  head: Known | null = null;

  constructor(file: RunFile, { from, expectations }: RunPart, to: number) {
    this.expectations = expectations;
    this.#lines = linesOf(file.bytes(from, to), MAX_LINE_BYTES);
  }

  async advance(): Promise<void> {
    this.head = null;
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done === true) return;
      const known = knownIn((await this.#reader.read(value.bytes)).entry);
      if (known === null) continue;
      this.head = known;
      return;
    }
  }
}

function knownIn(line: RunEntry): Known | null {
  if (isResult(line))
    return isWatchResult(line)
      ? null
      : { file: line.file, line: line.line, entry: line.entry, isJudged: line.verdict !== "unjudged" };
  if (line.event !== "accepted") return null;
  return { ...line.first, ...line, hash: createHash("sha256"), left: line.count };
}

/**
 * Finds entries of the inputs among the results of earlier runs. Each run wrote its results in the order of the inputs,
 * so one cursor for each run is enough, whatever the number of entries.
 */
export class Matcher {
  readonly #file: RunFile;
  readonly #cursors: Cursor[];

  private constructor(file: RunFile, cursors: Cursor[]) {
    [this.#file, this.#cursors] = [file, cursors];
  }

  static async of(file: RunFile, { parts }: EarlierRuns, to: number): Promise<Matcher> {
    const cursors = parts.map((part, at) => new Cursor(file, part, parts[at + 1]?.from ?? to));
    for (const cursor of cursors) await cursor.advance();
    const left = cursors.filter(({ head }) => head !== null);
    return new Matcher(file, left);
  }

  /**
   * Whether an entry has a result that still counts. `expectation` is the line of its expectation: a result of a run
   * that did not have this line does not count. Rejects with {@link RunFileError} if the entry was changed.
   */
  async has(place: EntryPlace, entry: string, expectation: number | null): Promise<boolean> {
    let isKnown = false;
    // Two runs have an entry that was unjudged, or got an expectation.
    for (const cursor of this.#cursors.filter((each) => isAt(each, place)))
      isKnown = (await this.#takes(cursor, place, entry, expectation)) || isKnown;
    return isKnown;
  }

  async #takes(cursor: Cursor, place: EntryPlace, entry: string, expectation: number | null): Promise<boolean> {
    const head = cursor.head!;
    const counts = (expectation ?? 0) <= cursor.expectations;
    if ("left" in head) {
      head.hash.update(`${place.line}:${entry}\n`);
      if (--head.left > 0) return counts;
      if (head.last.line !== place.line || head.hash.digest("hex") !== head.entries) throw this.#changed(head);
    } else if (head.entry !== entry) throw this.#changed(head);
    await cursor.advance();
    if (cursor.head === null) this.#cursors.splice(this.#cursors.indexOf(cursor), 1);
    return counts && !("isJudged" in head && !head.isJudged);
  }

  #changed(head: Known): RunFileError {
    const place =
      "left" in head && head.count > 1 ? `lines ${head.first.line} to ${head.last.line}` : `line ${head.line}`;
    return new RunFileError("inputs", this.#file.path, `${head.file}: ${place} changed since it was judged`, RESTORE);
  }

  /** Throws {@link RunFileError} for the first result of which the inputs had no entry. */
  requireAll(): void {
    const [cursor] = this.#cursors;
    if (cursor === undefined) return;
    const { file, line } = cursor.head!;
    const message =
      `${file}: line ${line} has a result, and is not in the inputs: ` +
      "it was removed, renamed, or put in another order";
    throw new RunFileError("inputs", this.#file.path, message, RESTORE);
  }
}

const RESTORE = "Restore the inputs; or give another --out, and everything is judged anew";

/** Whether the next result of a run is of this entry. The entries of a line `accepted` are of one file. */
function isAt({ head }: Cursor, { file, line }: EntryPlace): boolean {
  if (head === null || head.file !== file) return false;
  return "left" in head && head.left < head.count ? true : head.line === line;
}
