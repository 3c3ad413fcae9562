/**
 * Summary of a log. A signed copy is kept in a file, so a start reads only the lines after the summary
 * (watch/README.md, "The start").
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../decode/json.js";
import { type Shape, instant, list, nullable, objectOf, readShape, wholeNumber } from "../decode/shapes.js";
import { writeSynced } from "../disk/whole.js";
import { attempt } from "../errors.js";
import { type NoteSigner, type SignedCheckpoint, openNote, signNote, verifyNote } from "./checkpoint.js";
import { type LogEnd, type LogLine, continuedIn, fileName, hash, readLine } from "./entry.js";
import { type LogVerification, verifyFiles } from "./log.js";
import { MARK_SHAPE, type LogHandle, type Mark, asLogError, openExisting, readAt, readLogFrom } from "./node-files.js";
import type { Delivered } from "./outages.js";
import { LogState, PLAIN_LOG_STATE, type PlainLogState, deliveredAs } from "./store.js";

/** Where a line is in the files of the log. */
export interface LinePlace {
  readonly file: string;
  readonly n: number;
  readonly offset: number;
  readonly length: number;
  readonly hash: string;
}

type PerDelivered<T> = Readonly<Record<Delivered, T>>;
export type Marks = PerDelivered<Mark | null>;
export const DELIVERED = ["refusal", "outage"] as const satisfies readonly Delivered[];

/** What a start must know of the lines that the state covers, so that it need not read them again. */
interface PlainState extends PlainLogState {
  /** Place of the last line. */
  readonly place: LinePlace;
  /** Time, RFC 3339, in the first line of the file that has the last line. */
  readonly firstAt: string;
  /** Name of the next file; null if the last line names none. */
  readonly next: string | null;
  readonly waiting: PerDelivered<readonly LinePlace[]>;
  readonly marks: Marks;
}

const PLACE = objectOf<LinePlace>({
  file: fileName,
  n: wholeNumber(1),
  offset: wholeNumber(0),
  length: wholeNumber(1),
  hash,
});

function perDelivered<T>(shape: Shape<T>): Shape<PerDelivered<T>> {
  return objectOf<Record<Delivered, unknown>>({ refusal: shape, outage: shape }) as Shape<unknown> as Shape<
    PerDelivered<T>
  >;
}

const STATE = objectOf<PlainState>({
  ...PLAIN_LOG_STATE,
  place: PLACE,
  firstAt: instant,
  next: nullable(fileName),
  waiting: perDelivered(list(PLACE)),
  marks: perDelivered(nullable(MARK_SHAPE)),
});

/** First line of the signed text. It keeps a state from being accepted as a checkpoint. */
const STATE_FORMAT = "bootproof-log-state/2";
const MAX_STATE_BYTES = 256 * 1024 * 1024;

/** Summary of a log's lines, collected while they are read and appended. */
export class LogContents {
  state: LogState;
  readonly waiting: Record<Delivered, LinePlace[]> = { refusal: [], outage: [] };
  /** The file that is written next. */
  file: string;
  size = 0;
  firstAt: string | null = null;
  last: LinePlace | null = null;
  /** Name of the next file; null if the last line names none. */
  next: string | null = null;
  /** Number of the last entry that a signed state covered; 0 without a signed state. */
  signedEntries = 0;
  /** Whether the line that each mark names was found. A mark of another log must not suppress a delivery. */
  readonly valid: Record<Delivered, boolean> = { refusal: false, outage: false };
  readonly #marks: Marks;

  constructor(first: string, marks: Marks) {
    this.#marks = marks;
    this.state = new LogState();
    this.file = first;
    this.#compareMarks(this.state.tail());
  }

  /** Returns the contents that a signed state describes. */
  static behind(signed: PlainState, marks: Marks): LogContents {
    const { place, firstAt, next, waiting, entries } = signed;
    const contents = new LogContents(place.file, marks);
    contents.state = new LogState(signed);
    contents.size = place.offset + place.length + 1;
    [contents.last, contents.firstAt, contents.next, contents.signedEntries] = [place, firstAt, next, entries];
    for (const what of DELIVERED) {
      contents.waiting[what].push(...waiting[what]);
      contents.valid[what] = marks[what] !== null && isSameMark(marks[what], signed.marks[what]);
      for (const each of waiting[what]) contents.#compareMark(what, each);
    }
    contents.#compareMarks(contents.state.tail());
    return contents;
  }

  begin(file: string): void {
    [this.file, this.size, this.firstAt, this.next] = [file, 0, null, null];
  }

  add(line: LogLine): void {
    const { entry, bytes, hash: head } = line;
    const added: LinePlace = { file: this.file, n: entry.n, offset: this.size, length: bytes.length, hash: head };
    this.state.add(line);
    this.size += bytes.length + 1;
    this.firstAt ??= entry.at;
    this.last = added;
    this.next = continuedIn(entry);
    const what = deliveredAs(line);
    if (what !== null) this.waiting[what].push(added);
    this.#compareMarks({ entries: entry.n, head });
  }

  #compareMarks({ entries, head }: LogEnd): void {
    for (const what of DELIVERED) this.#compareMark(what, { n: entries, hash: head });
  }

  #compareMark(what: Delivered, { n, hash: found }: Pick<LinePlace, "n" | "hash">): void {
    const mark = this.#marks[what];
    if (mark?.n !== n || mark.hash !== found) return;
    this.valid[what] = true;
    const waiting = this.waiting[what];
    const later = waiting.findIndex((each) => each.n > n);
    waiting.splice(0, later < 0 ? waiting.length : later);
  }

  /** Returns the state to sign. Null if the log is empty, or if its last file has no line yet. */
  signable(marks: Marks): PlainState | null {
    const { last, firstAt, next, waiting } = this;
    if (last === null || firstAt === null || last.file !== this.file) return null;
    return { ...this.state.plain(), place: last, firstAt, next, waiting, marks };
  }
}

function isSameMark(mark: Mark, other: Mark | null): boolean {
  return mark.n === other?.n && mark.hash === other.hash && mark.all === other.all;
}

export interface StateKey {
  readonly origin: string;
  readonly signer: NoteSigner;
}

export async function writeState(path: string, state: PlainState, { origin, signer }: StateKey): Promise<void> {
  const signed = await signNote(`${STATE_FORMAT}\n${JSON.stringify(state)}\n`, origin, signer);
  await asLogError(writeSynced(path, signed), path);
}

/** Resolves to the state of this log that this key signed; null if there is none. */
async function readState(path: string, { origin, signer }: StateKey): Promise<PlainState | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  const opened = attempt(() => openNote(new Uint8Array(bytes), MAX_STATE_BYTES)).value;
  if (opened === undefined) return null;
  const isOurs = await verifyNote(opened, origin, signer.publicKey).then(
    () => true,
    () => false,
  );
  const [format, json = "", end, ...more] = opened.text.split("\n");
  if (!isOurs || format !== STATE_FORMAT || end !== "" || more.length > 0) return null;
  const parsed = attempt(() => parseJson(json)).value;
  return readShape(STATE, parsed).value ?? null;
}

interface LoadOptions {
  readonly folder: string;
  /** Name of the log's first file. */
  readonly first: string;
  readonly marks: Marks;
  readonly key: StateKey | null;
  /** The newest checkpoint that was published; null if there is none. */
  readonly checkpoint: SignedCheckpoint | null;
}

export interface LoadedLog {
  readonly contents: LogContents;
  readonly verification: LogVerification;
}

/** Reads a log, and writes nothing. Its faults are in `verification`. */
export async function loadLog(options: LoadOptions): Promise<LoadedLog> {
  const { key, folder, first, marks, checkpoint } = options;
  const state = key === null ? null : await readState(join(folder, `${first}.state`), key);
  if (state !== null && (await isThere(folder, state.place))) {
    const loaded = await readFiles(LogContents.behind(state, marks), options, checkpoint);
    const { fault } = loaded.verification;
    if (fault === null || fault.kind === "unfinished") return loaded;
  }
  return readFiles(new LogContents(first, marks), options, newerOf(state, checkpoint));
}

/** Whether the file still has the last line of a signed state at its place. */
async function isThere(folder: string, last: LinePlace): Promise<boolean> {
  const file = await openExisting(join(folder, last.file)).catch(() => null);
  if (file === null) return false;
  try {
    const bytes = await readAt(file, { offset: last.offset, length: last.length + 1 });
    if (bytes?.[last.length] !== 0x0a) return false;
    const line = await readLine(bytes.subarray(0, last.length)).catch(() => null);
    return line?.hash === last.hash && line.entry.n === last.n;
  } finally {
    await file.close();
  }
}

function newerOf(state: PlainState | null, checkpoint: SignedCheckpoint | null): SignedCheckpoint | null {
  if (state === null || (checkpoint !== null && checkpoint.entries >= state.entries)) return checkpoint;
  return { origin: "", entries: state.entries, head: state.head, isVerified: true };
}

async function readFiles(
  contents: LogContents,
  { folder }: LoadOptions,
  checkpoint: SignedCheckpoint | null,
): Promise<LoadedLog> {
  const after = contents.state.tail();
  // An older checkpoint needs no comparison: the signed state covers its line.
  const due = checkpoint !== null && checkpoint.entries >= after.entries ? checkpoint : null;
  const verification = await verifyFiles(filesOf(contents, folder), {
    after,
    checkpoint: due,
    onLine: (line) => contents.add(line),
  });
  return { contents, verification };
}

/** Yields the files from the present position on. The last line of each names the next file. */
async function* filesOf(
  contents: LogContents,
  folder: string,
): AsyncGenerator<{ readonly name: string; readonly stream: AsyncIterable<Uint8Array> }> {
  for (;;) {
    const { file, size } = contents;
    yield { name: file, stream: streamOf(join(folder, file), size) };
    if (contents.next === null) return;
    contents.begin(contents.next);
  }
}

/**
 * Yields the bytes of a file from `start` on. A missing file yields nothing: the process may have been killed before it
 * created the file.
 */
async function* streamOf(path: string, start: number): AsyncGenerator<Uint8Array> {
  const file: LogHandle | null = await asLogError(openExisting(path));
  if (file === null) return;
  await file.close();
  yield* readLogFrom(path, start);
}
