/**
 * Summary of a log. A signed copy is kept in a file, so a start reads only the lines after the summary
 * (watch/README.md, "The start").
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../decode/json.js";
import {
  type Shape,
  anything,
  instant,
  list,
  nullable,
  objectOf,
  optional,
  readShape,
  wholeNumber,
} from "../decode/shapes.js";
import { writeSynced } from "../disk/whole.js";
import { attempt } from "../errors.js";
import { type NoteSigner, type SignedCheckpoint, openNote, signNote, verifyNote } from "./checkpoint.js";
import { type LogEnd, type LogLine, continuedIn, fileName, hash } from "./entry.js";
import { type LogVerification, verifyFiles } from "./log.js";
import {
  type LinePlace,
  type LogHandle,
  type Marks,
  asLogError,
  asWriteError,
  lineIn,
  marksAt,
  openExisting,
  readLogFrom,
} from "./node-files.js";
import type { Delivered } from "./outages.js";
import { LogState, PLAIN_LOG_STATE, type PlainLogState, deliveredAs } from "./store.js";

type PerDelivered<T> = Readonly<Record<Delivered, T>>;
export const NO_MARKS: Marks = { refusal: null, outage: null };
const DELIVERED = ["refusal", "outage"] as const satisfies readonly Delivered[];

/** What a start must know of the lines that the state covers, so that it need not read them again. */
interface PlainState extends PlainLogState {
  /** Place of the last line. */
  readonly place: LinePlace;
  /** Time, RFC 3339, in the first line of the file that has the last line. */
  readonly firstAt: string;
  /** Name of the next file; null if the last line names none. */
  readonly next: string | null;
  /** The lines that are not delivered. */
  readonly waiting: PerDelivered<readonly LinePlace[]>;
}

const PLACE = objectOf<LinePlace>({
  file: fileName,
  n: wholeNumber(1),
  at: optional(instant),
  offset: wholeNumber(0),
  length: wholeNumber(1),
  hash,
});

function perDelivered<T>(shape: Shape<T>): Shape<PerDelivered<T>> {
  return objectOf<Record<Delivered, unknown>>({ refusal: shape, outage: shape }) as Shape<unknown> as Shape<
    PerDelivered<T>
  >;
}

/** The state of a log without lines is null. In format 2, `waiting` already leaves out what `marks` name. */
const STATE = nullable(
  objectOf<PlainState & { readonly marks?: unknown }>({
    ...PLAIN_LOG_STATE,
    place: PLACE,
    firstAt: instant,
    next: nullable(fileName),
    waiting: perDelivered(list(PLACE)),
    marks: optional(anything),
  }),
);

/** First line of the signed text. It keeps a state from being accepted as a checkpoint. */
const STATE_FORMAT = "bootproof-log-state/3";
const STATE_FORMATS: readonly string[] = ["bootproof-log-state/2", STATE_FORMAT];
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
  /** The kinds whose mark, by an older version, counts all lines as delivered. */
  readonly all = new Set<Delivered>();
  readonly #marks: Marks;

  constructor(first: string, marks: Marks) {
    this.#marks = marks;
    this.state = new LogState();
    this.file = first;
    this.#compareMarks(this.state.tail());
  }

  /** Returns the contents that a signed state describes. */
  static behind(signed: PlainState): LogContents {
    const { place, firstAt, next, waiting, entries } = signed;
    const contents = new LogContents(place.file, NO_MARKS);
    contents.state = new LogState(signed);
    contents.size = place.offset + place.length + 1;
    [contents.last, contents.firstAt, contents.next, contents.signedEntries] = [place, firstAt, next, entries];
    // States of format 2 have no times of undelivered lines.
    const withTime = (place: LinePlace): LinePlace => ({ ...place, at: place.at ?? signed.lastAt });
    for (const what of DELIVERED) contents.waiting[what] = waiting[what].map(withTime);
    return contents;
  }

  begin(file: string): void {
    [this.file, this.size, this.firstAt, this.next] = [file, 0, null, null];
  }

  add(line: LogLine): void {
    const { entry, bytes, hash: head } = line;
    const { n, at } = entry;
    const added: LinePlace = { file: this.file, n, at, offset: this.size, length: bytes.length, hash: head };
    this.state.add(line);
    this.size += bytes.length + 1;
    this.firstAt ??= entry.at;
    this.last = added;
    this.next = continuedIn(entry);
    const what = deliveredAs(line);
    if (what !== null) this.waiting[what].push(added);
    this.#compareMarks({ entries: entry.n, head });
  }

  #compareMarks({ entries: n, head }: LogEnd): void {
    for (const what of DELIVERED) {
      const mark = this.#marks[what];
      if ((mark?.upTo ?? mark?.n) !== n || mark?.hash !== head) continue;
      if (mark.all === true) this.all.add(what);
      this.waiting[what] = this.waiting[what].filter((each) => mark.except?.includes(each.n) === true);
    }
  }

  /** Returns the state to sign. Null if the log is empty. */
  signable(): PlainState | null {
    const { last, file, firstAt, waiting, state } = this;
    if (last === null) return null;
    // A file without lines has no first time, and its name is the next one after the last line.
    const next = last.file === file ? this.next : file;
    return { ...state.plain(), place: last, firstAt: firstAt ?? state.lastAt, next, waiting };
  }
}

export interface StateKey {
  readonly origin: string;
  readonly signer: NoteSigner;
}

export async function writeState(path: string, state: PlainState | null, { origin, signer }: StateKey): Promise<void> {
  const signed = await signNote(`${STATE_FORMAT}\n${JSON.stringify(state)}\n`, origin, signer);
  await asWriteError(writeSynced(path, signed), path);
}

/** Resolves to the state of this log that this key signed, which is null for an empty log; undefined without one. */
async function readState(path: string, { origin, signer }: StateKey): Promise<PlainState | null | undefined> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return undefined;
  const opened = attempt(() => openNote(new Uint8Array(bytes), MAX_STATE_BYTES)).value;
  if (opened === undefined) return undefined;
  const isOurs = await verifyNote(opened, origin, signer.publicKey).then(
    () => true,
    () => false,
  );
  const [format = "", json = "", end, ...more] = opened.text.split("\n");
  if (!isOurs || !STATE_FORMATS.includes(format) || end !== "" || more.length > 0) return undefined;
  return readShape(STATE, attempt(() => parseJson(json)).value).value;
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
  /** Whether the key signed a state of this log. */
  readonly hasState: boolean;
}

/** Reads a log, and writes nothing. Its faults are in `verification`. */
export async function loadLog(options: LoadOptions): Promise<LoadedLog> {
  const { key, folder, first, marks, checkpoint } = options;
  const signed = key === null ? undefined : await readState(join(folder, `${first}.state`), key);
  const [state, hasState] = [signed ?? null, signed !== undefined];
  if (state !== null && (await readPlace(folder, state.place).catch(() => null)) !== null) {
    const loaded = await readFiles(LogContents.behind(state), options, checkpoint);
    const { fault } = loaded.verification;
    if (fault === null || fault.kind === "unfinished") return { ...loaded, hasState };
  }
  const contents = new LogContents(first, state === null ? marks : marksAt(state, state.waiting));
  return { ...(await readFiles(contents, options, newerOf(state, checkpoint))), hasState };
}

/** Reads a line from its file. Resolves to null if another one is there, or if the file is missing. */
export async function readPlace(folder: string, place: LinePlace): Promise<LogLine | null> {
  const file = await openExisting(join(folder, place.file));
  if (file === null) return null;
  return lineIn(file, place).finally(() => file.close());
}

function newerOf(state: PlainState | null, checkpoint: SignedCheckpoint | null): SignedCheckpoint | null {
  if (state === null || (checkpoint !== null && checkpoint.entries >= state.entries)) return checkpoint;
  return { origin: "", entries: state.entries, head: state.head, isVerified: true };
}

async function readFiles(
  contents: LogContents,
  { folder }: LoadOptions,
  checkpoint: SignedCheckpoint | null,
): Promise<Omit<LoadedLog, "hasState">> {
  const after = contents.state.tail();
  // An older checkpoint needs no comparison: the signed state covers its line.
  const due = checkpoint !== null && checkpoint.entries >= after.entries ? checkpoint : null;
  const verification = await verifyFiles(filesOf(contents, folder), {
    ...(after.entries > 0 && { after }),
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
