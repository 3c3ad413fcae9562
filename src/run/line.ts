/** The lines of a file of results, `bootproof-run/1` (run/README.md, "The file"): members, and their only spelling. */
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type Check, type CheckSubject, CHECK_IDS } from "../checks.js";
import { type JsonValue, isJsonObject, parseJson, printableJson } from "../decode/json.js";
import {
  type MembersOf,
  type ObjectShape,
  type ReadOf,
  type Shape,
  anything,
  either,
  instant,
  keyOf,
  list,
  matching,
  nullable,
  object,
  objectOf,
  oneOf,
  optional,
  readShape,
  record,
  text,
  wholeNumber,
} from "../decode/shapes.js";
import { MalformedError, faultText } from "../errors.js";
import { isAccepted } from "../report/accepted.js";
import { sha256 } from "../verify/digest.js";
import { RESULT, isConsistent } from "./answered.js";
import type { EntryResult } from "./result.js";

export const RUN_FORMAT = "bootproof-run/1";
/** The member `previous` of the first line, which follows no line. */
export const NO_LINE = "0".repeat(64);
/** Limit of a line in bytes. The largest boot proof fits in it, even if every character is escaped twice. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_VALUES = 400_000;

/** The last line of a file, or of the part of it that was read. */
export interface RunEnd {
  /** Number of the line, counted from 1 over all files of a chain; 0 before the first. */
  readonly entries: number;
  /** SHA-256, in hex, of the line without its line feed; zeros before the first. */
  readonly head: string;
}

export const NO_LINES: RunEnd = { entries: 0, head: NO_LINE };

/** The members that every line begins with. */
interface Placed {
  readonly run: typeof RUN_FORMAT;
  /** Number of the line, counted from 1 over all files of a chain. */
  readonly n: number;
  /** SHA-256, in hex, of the previous line without its line feed; zeros in the first line. */
  readonly previous: string;
  /** RFC 3339. Of a result it is the present (`now`) by which it was judged. */
  readonly at: string;
}

/** Where an entry of an audit is: a path below the given folder, or the name of a file, and the line in it. */
export interface EntryPlace {
  readonly file: string;
  readonly line: number;
}

/** An application, watched by its newest boot proof, or an ephemeral key in lower-case hex. */
export type Watched = { readonly app: string } | { readonly ephemeralKey: string };

export function isApp(watched: object): watched is { readonly app: string } {
  return Object.hasOwn(watched, "app") && (watched as { readonly app?: unknown }).app !== undefined;
}

export function watchedName(watched: Watched): string {
  return isApp(watched) ? `app ${watched.app}` : `key ${watched.ephemeralKey}`;
}

interface FailedCheck extends Pick<Check, "id" | "subject" | "detail"> {}

interface Result extends Omit<EntryResult, "documentTimes"> {
  /** SHA-256, in hex, of the bytes of the entry; of a watch, of the boot proof as JSON text, labels included. */
  readonly entry: string;
  /** SHA-256 of the policy's bytes, in hex; null without a policy, or for one that was passed as a value. */
  readonly policyDigest: string | null;
  /** SHA-256, in hex, of all that decides a verdict but its time. */
  readonly settingDigest: string;
}

/** The result of an entry of an audit. */
export interface AuditResult extends EntryPlace, Result {
  /** Present if there are expectations but none for this entry, which was therefore compared with nothing. */
  readonly expected?: false;
}

/** The result of a poll. */
export type WatchResult = Watched &
  Result & {
    readonly details: readonly FailedCheck[];
    /** The boot proof as received, or its JSON text if it is not an object or too deep to parse. */
    readonly bootProofs: readonly [JsonValue];
  };

/**
 * Why a poll could not see a boot proof:
 *
 * - `unreachable`: there was no connection, a timeout, or an error that may pass (408, 429, 5xx).
 * - `answer`: the response is not a boot proof of the watched application or key.
 * - `missing`: the service reports that it has no such boot proof.
 * - `credentials`: the service refuses the key, the organization or the request. Waiting does not help.
 */
export type FailureKind = "unreachable" | "answer" | "missing" | "credentials";

/** What a reload may change. `trustAnchors` and `trustedRoots` are files that the policy names. */
export const RELOADED = ["policy", "trustAnchors", "trustedRoots", "provenance"] as const;
export type ReloadedPart = (typeof RELOADED)[number];

export interface SettingFault {
  /** The file as the caller named it; null if the fault is not in a file. */
  readonly file: string | null;
  readonly reason: string;
}

type RunEventName = keyof typeof EVENTS;
/** The members of the lines that are not results, by their `event`. */
export type RunEvents = {
  readonly [E in RunEventName]: Readonly<ReadOf<ReturnType<typeof object<(typeof EVENTS)[E]>>>>;
};
type Events = { readonly [E in RunEventName]: { readonly event: E } & RunEvents[E] };

/** What a line says, beside its place in the chain. */
export type RunEvent = Events[RunEventName];
export type RunContent = AuditResult | WatchResult | RunEvent;
export type RunEntry<C extends RunContent = RunContent> = Placed & C;

/** A line. `bytes` have no line feed, and `hash` is their SHA-256 in hex. */
export interface RunLine<C extends RunContent = RunContent> {
  readonly entry: RunEntry<C>;
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** @example `if (isResult(entry)) console.log(entry.verdict);` */
export function isResult<E extends object>(entry: E): entry is Extract<E, { readonly entry: string }> {
  return !Object.hasOwn(entry, "event");
}

export function isWatchResult(content: RunContent): content is WatchResult {
  return isResult(content) && Object.hasOwn(content, "bootProofs");
}

/** Whether a watch wrote this line. Every other line is of an audit. */
export function isOfWatch(content: RunContent): boolean {
  if (isResult(content)) return isWatchResult(content);
  if (content.event === "started") return content.watched !== null;
  return content.event === "stopped" ? content.polls !== null : content.event !== "accepted";
}

/** What is announced: a refusal, or the beginning or the end of an outage. Null for other lines. */
export function announcedAs(content: RunContent): "refusal" | "outage" | null {
  if (isResult(content)) return isWatchResult(content) && !isAccepted(content) ? "refusal" : null;
  if (content.event === "setting-refused") return content.contradiction === true ? "refusal" : null;
  return content.event === "outage-began" || content.event === "outage-ended" ? "outage" : null;
}

/** Shape of a SHA-256 in hex. */
const hash = matching(/^[0-9a-f]{64}$/, "64 hex digits");
const keyHex = matching(/^(?:[0-9a-f]{2})+$/, "hex");

const PLACED = {
  run: oneOf(RUN_FORMAT) as Shape<typeof RUN_FORMAT>,
  n: wholeNumber(1),
  previous: hash,
  at: instant,
};
const PLACE: MembersOf<EntryPlace> = { file: text, line: wholeNumber(1) };
const DIGESTS = { policyDigest: nullable(hash), settingDigest: hash };

/**
 * Members have the order of the line at every depth, because `textOf` writes them in this order and no other is valid.
 */
function resultOf<S extends object>(subject: MembersOf<S>, more: object): ObjectShape<RunEntry> {
  const members = { ...PLACED, ...subject, entry: hash, ...RESULT, ...DIGESTS, ...more };
  return object(members) as ObjectShape<unknown> as ObjectShape<RunEntry>;
}

const OF_WATCH = {
  details: list(objectOf<FailedCheck>({ id: oneOf(...CHECK_IDS), subject: text as Shape<CheckSubject>, detail: text })),
  bootProofs: list(anything, 1, 1),
};
const RESULTS = {
  file: resultOf(PLACE, { expected: optional(oneOf(false)) }),
  app: resultOf({ app: text }, OF_WATCH),
  ephemeralKey: resultOf({ ephemeralKey: keyHex }, OF_WATCH),
} as const;

const watchedList: Shape<readonly Watched[]> = list(
  either(object({ app: text }), object({ ephemeralKey: keyHex }), '{"app": name} or {"ephemeralKey": hex}'),
  1,
);
const counts = { good: wholeNumber(0), failed: wholeNumber(0) };
export type PollCount = Watched & { readonly good: number; readonly failed: number };
const polls: Shape<readonly PollCount[]> = list(
  either(
    object({ app: text, ...counts }),
    object({ ephemeralKey: keyHex, ...counts }),
    "an object with app or ephemeralKey, good and failed",
  ),
  1,
);
const reloaded: Shape<readonly ReloadedPart[]> = list(oneOf(...RELOADED));
const faults: Shape<readonly SettingFault[]> = list(objectOf<SettingFault>({ file: nullable(text), reason: text }), 1);

/** The members of the lines that are not results, by their `event`, in their order. */
const EVENTS = {
  /** A run begins: what it watches (null for an audit), and all that decides its verdicts, by SHA-256. */
  started: {
    watched: nullable(watchedList),
    /** Milliseconds between two lines `alive`; null for an audit. */
    aliveMs: nullable(wholeNumber(1)),
    tool: object({ name: text, version: text }),
    settingDigest: hash,
    /** Of an audit: each part of the setting. A run that resumes must have the same. */
    setting: nullable(record(text)),
  },
  /** Accepted entries of one file that follow one another, where only failures have lines. */
  accepted: {
    count: wholeNumber(1),
    /** How many of them are `verified`; the others are `authentic`. */
    verified: wholeNumber(0),
    first: objectOf(PLACE),
    last: objectOf(PLACE),
    /** SHA-256, in hex, over the SHA-256 (in hex) of each of these entries, each behind its line and a colon. */
    entries: hash,
  },
  /** A reload changed the setting. Results after this line are by it. */
  "setting-changed": {
    /** Empty if the setting is unchanged and the previous reload was refused. */
    changed: reloaded,
    policy: nullable(text),
    ...DIGESTS,
    before: hash,
    /** Version of a signed policy, whose `policyDigest` is that of its payload. Absent if the policy is not signed. */
    policyVersion: optional(wholeNumber(1)),
  },
  /** A reload failed. Results are still by the previous setting. */
  "setting-refused": {
    /** Time of the first attempt that failed, RFC 3339. */
    since: instant,
    faults,
    /** Set if the feed of a signed policy was rolled back or forked. The line is then announced like a refusal. */
    contradiction: optional(oneOf(true)),
  },
  /** The boot proofs of these names cannot be fetched or read. */
  "outage-began": {
    kind: keyOf<FailureKind>({ unreachable: true, answer: true, missing: true, credentials: true }),
    watched: watchedList,
    /** Time of the first failed poll, RFC 3339. */
    since: instant,
    message: text,
  },
  /** `failedPolls` are those of the process that saw the outage end. */
  "outage-ended": { watched: watchedList, since: instant, failedPolls: wholeNumber(0) },
  /** The line with this number was delivered. */
  announced: { of: wholeNumber(1) },
  /** A sign of life: polls were made since a time, whether or not they found something new. */
  alive: { since: instant, polls },
  /** A run ended by itself and reported its end. One that was killed has no such line. `polls`: null for an audit. */
  stopped: { since: instant, polls: nullable(polls) },
};

const EVENT_SHAPES = Object.fromEntries(
  Object.entries(EVENTS).map(([event, members]) => [event, object({ ...PLACED, event: oneOf(event), ...members })]),
) as unknown as Readonly<Record<RunEventName, ObjectShape<RunEntry>>>;
const UNKNOWN_EVENT = object({ event: keyOf(EVENTS) }, { unknown: "ignore" }) as ObjectShape<unknown>;

function shapeOf(json: object): ObjectShape<RunEntry> {
  if (!Object.hasOwn(json, "event")) {
    const subject = (["app", "ephemeralKey"] as const).find((name) => Object.hasOwn(json, name)) ?? "file";
    return RESULTS[subject];
  }
  const { event } = json as { readonly event: unknown };
  if (typeof event === "string" && Object.hasOwn(EVENTS, event)) return EVENT_SHAPES[event as RunEventName];
  return UNKNOWN_EVENT as ObjectShape<RunEntry>;
}

/** Returns the only text of an entry, of its own members. JSON.stringify leaves out those that are undefined. */
function textOf(entry: RunEntry): string {
  const all: Readonly<Record<string, unknown>> = Object.assign(Object.create(null), entry);
  const members = Object.keys(shapeOf(entry).members).map((name) => [name, all[name]] as const);
  return printableJson(JSON.stringify(Object.fromEntries(members)));
}

/** Returns the text of the line that follows the end, without its line feed. */
export function lineText({ entries, head }: RunEnd, at: string, content: RunContent): string {
  return textOf({ run: RUN_FORMAT, n: entries + 1, previous: head, at, ...content } as RunEntry);
}

/** Returns the beginning of the text of a result, up to what many entries have in common. */
export function resultStart(
  { entries, head }: RunEnd,
  at: string,
  place: EntryPlace & { readonly entry: string },
): string {
  const file = printableJson(JSON.stringify(place.file));
  const start = `{"run":"${RUN_FORMAT}","n":${entries + 1},"previous":"${head}","at":"${at}"`;
  return `${start},"file":${file},"line":${place.line},"entry":"${place.entry}",`;
}

/**
 * Returns the line that follows the end. A boot proof that could not be read again as it is written is kept as text:
 * the service controls its depth and shape. Rejects with {@link MalformedError} for content that no reader would
 * accept.
 */
export async function lineAfter(end: RunEnd, at: string, content: RunContent): Promise<RunLine> {
  const write = (own: RunContent): Promise<RunLine> => readLine(toUtf8(lineText(end, at, own)));
  if (!isWatchResult(content)) return write(content);
  const [bootProof] = content.bootProofs;
  const kept: WatchResult = { ...content, bootProofs: [JSON.stringify(bootProof)] };
  return isJsonObject(bootProof) ? write(content).catch(() => write(kept)) : write(kept);
}

/**
 * Reads a line without its line feed. Rejects with {@link MalformedError} unless the bytes are exactly those of an
 * entry as it is written.
 */
export async function readLine(bytes: Uint8Array): Promise<RunLine> {
  if (bytes.length > MAX_LINE_BYTES) throw malformed(`longer than any line: expected at most ${MAX_LINE_BYTES} bytes`);
  const json = parsed(bytes);
  refuseOther(json);
  const { value: entry, faults } = readShape(shapeOf(json as object) as Shape<RunEntry>, json);
  if (entry === undefined) throw new MalformedError("run", faults);
  if (textOf(entry) !== fromUtf8(bytes)) throw malformed("expected the spacing, order and escapes of bootproof");
  if (isResult(entry) && !isConsistent(entry)) throw malformed("members that contradict each other");
  if (isWatchResult(entry) && (await evidenceDigest(entry.bootProofs[0])) !== entry.entry)
    throw malformed("entry is not the hash of bootProofs[0]");
  return { entry, bytes, hash: toHex(await sha256(bytes)) };
}

/** Returns the SHA-256, in hex, of a boot proof as JSON text, or of the text that it is kept as. */
export async function evidenceDigest(bootProof: JsonValue): Promise<string> {
  return toHex(await sha256(toUtf8(typeof bootProof === "string" ? bootProof : JSON.stringify(bootProof))));
}

function malformed(message: string): MalformedError {
  return new MalformedError("run", [{ path: "", message }]);
}

function parsed(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes, { maxValues: MAX_VALUES });
  } catch (error) {
    if (error instanceof MalformedError) throw malformed(`not strict JSON: ${faultText(error.faults)}`);
    throw error;
  }
}

const EARLIER = "which an earlier version of bootproof wrote (before 2026-12): verify it with that version";

/** Refuses lines of other formats by their name. */
function refuseOther(json: JsonValue): void {
  if (!isJsonObject(json)) throw malformed("expected an object");
  const { run, log, finding, state, n, verdict } = json;
  if (run === RUN_FORMAT) return;
  if (typeof run === "string" && /^bootproof-run\/[0-9]{1,4}$/.test(run))
    throw malformed(`format ${run}, which this version of bootproof does not know: use a newer version`);
  const older = [log, finding, state].find((format) =>
    /^bootproof-(?:log|finding|audit-state)\/[0-9]$/.test(`${format}`),
  );
  if (older !== undefined) throw malformed(`format ${older as string}, ${EARLIER}`);
  if (typeof n === "number" && typeof verdict === "string")
    throw malformed(`a result without a format, ${EARLIER}; or audit again, into a new file`);
}

/** The beginning of the result of an entry, up to what most entries have in common. */
const HEAD = new RegExp(
  '^\\{"run":"bootproof-run/1","n":([1-9][0-9]{0,14}),"previous":"([0-9a-f]{64})","at":"([^"\\\\]{24})",' +
    '"file":"([^"\\\\]*)","line":([1-9][0-9]{0,14}),"entry":"([0-9a-f]{64})",',
);
const MAX_TAILS = 1024;
const MAX_TAIL = 4096;

/**
 * Reads lines as {@link readLine} does. What follows the entry of a result is mostly the same text as in an earlier
 * line, which was read in full: of such a line only the beginning is read. `hashOf` returns the SHA-256 in hex.
 */
export class LineReader {
  readonly #hashOf: (bytes: Uint8Array) => string | Promise<string>;
  readonly #tails = new Map<string, Omit<AuditResult, keyof EntryPlace | "entry">>();
  /** The time and the file of the last line that was read in full: most lines have the same. */
  #at = "";
  #file = "";

  constructor(hashOf: (bytes: Uint8Array) => string | Promise<string> = async (bytes) => toHex(await sha256(bytes))) {
    this.#hashOf = hashOf;
  }

  async read(bytes: Uint8Array): Promise<RunLine> {
    const whole = bytes.length <= 2 * MAX_TAIL ? (fromUtf8(bytes) ?? "") : "";
    const found = HEAD.exec(whole);
    if (found === null) return readLine(bytes);
    const [head, n, previous, at, file, line, entry] = found as unknown as readonly string[];
    const tail = whole.slice(head!.length);
    const known = this.#tails.get(tail);
    if (known === undefined || at !== this.#at || file !== this.#file) {
      const read = await readLine(bytes);
      this.#keep(tail, read.entry as RunEntry<AuditResult>);
      return read;
    }
    // V8 copies members ten times slower if others follow.
    const read: RunEntry<AuditResult> = {
      run: RUN_FORMAT,
      n: Number(n),
      previous: previous!,
      at: at!,
      file: file!,
      line: Number(line),
      entry: entry!,
      ...known,
    };
    return { entry: read, bytes, hash: await this.#hashOf(bytes) };
  }

  #keep(tail: string, entry: RunEntry<AuditResult>): void {
    [this.#at, this.#file] = [entry.at, entry.file];
    if (tail.length > MAX_TAIL) return;
    if (this.#tails.size >= MAX_TAILS) this.#tails.clear();
    const { run: _run, n: _n, previous: _previous, at: _at, file: _file, line: _line, entry: _entry, ...rest } = entry;
    this.#tails.set(tail, rest);
  }
}
