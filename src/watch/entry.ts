/** The entries of a log and their lines (watch/README.md, "The log"). */
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type Check, type CheckSubject, CHECK_IDS } from "../checks.js";
import { type JsonValue, isJsonObject, parseJson, printableJson } from "../decode/json.js";
import {
  type MembersOf,
  type ObjectShape,
  type Shape,
  anything,
  either,
  flag,
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
  refined,
  text,
  wholeNumber,
} from "../decode/shapes.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import type { Report, Verdict } from "../report/report.js";
import { sha256 } from "../verify/digest.js";

export const LOG_FORMAT = "bootproof-log/2";
/** Format of the kinds of entries that version 2 does not have. A log may have lines of both. */
export const LOG_FORMAT_3 = "bootproof-log/3";
const FINDING_FORMAT = "bootproof-finding/1";
/** The member `previous` of the first line, which follows no line. */
export const NO_LINE = "0".repeat(64);
/**
 * Limit of a boot proof as JSON text, in bytes. It is twice the limit in a response, because rewriting can lengthen
 * numbers.
 */
const MAX_BOOT_PROOF_BYTES = 2 * 1024 * 1024;
/** Limit of a line in bytes. The largest boot proof fits in it, even if every character is escaped twice. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_VALUES = 400_000;

/** An application, watched by its newest boot proof, or an ephemeral key in lower-case hex. */
export type Watched = { readonly app: string } | { readonly ephemeralKey: string };

export function isApp(watched: Watched): watched is { readonly app: string } {
  return Object.hasOwn(watched, "app") && (watched as { readonly app?: unknown }).app !== undefined;
}

/**
 * Why a poll could not see a boot proof:
 *
 * - `unreachable`: there was no connection, a timeout, or an error that may pass (408, 429, 5xx).
 * - `answer`: the response is not a boot proof of the watched application or key.
 * - `missing`: the service reports that it has no such boot proof.
 * - `credentials`: the service refuses the key, the organization or the request. Waiting does not help.
 */
export type FailureKind = "unreachable" | "answer" | "missing" | "credentials";

export interface FailedCheck extends Pick<Check, "id" | "subject" | "detail"> {}

export interface Finding extends Pick<Report, "verdict" | "stale" | "policy" | "policyDigest" | "refusedFor" | "tool"> {
  /** Time of the verification (its `now`), RFC 3339. */
  readonly at: string;
  /** Name of the application; null if a key is watched. */
  readonly app: string | null;
  /** The key in lower-case hex; null if an application is watched. */
  readonly ephemeralKey: string | null;
  readonly failed: readonly FailedCheck[];
  /** The name of the matching deployment, if any. */
  readonly deployment: string | null;
  /**
   * SHA-256, in hex, of everything that decides a verdict, except the time: policy, the files that it names, bundles,
   * options.
   */
  readonly settingDigest: string;
  /** SHA-256, in hex, of the boot proof as JSON text, unsigned labels included. */
  readonly evidenceDigest: string;
  /** The boot proof as received, or its JSON text if it is not an object or too deep to parse. */
  readonly bootProofs: readonly [JsonValue];
}

/** The members that place an entry in its chain. */
interface Placed {
  readonly log: typeof LOG_FORMAT | typeof LOG_FORMAT_3;
  /** Number of the entry, counted from 1 over all files of a log. */
  readonly n: number;
  /** SHA-256, in hex, of the previous line without its line feed; zeros in the first line. */
  readonly previous: string;
}

interface Happened {
  /** Time when the watch noticed the event, RFC 3339. */
  readonly at: string;
}

/** The watch cannot fetch or read the boot proofs of these applications or keys. */
export interface OutageBegan extends Happened {
  readonly event: "outage-began";
  /** Kind of the newest failure: it may change during an outage. */
  readonly kind: FailureKind;
  readonly watched: readonly Watched[];
  /** Time of the first failed poll, RFC 3339. */
  readonly since: string;
  readonly message: string;
}

export interface OutageEnded extends Happened {
  readonly event: "outage-ended";
  readonly watched: readonly Watched[];
  readonly since: string;
  /**
   * Number of failed polls of the process that saw the outage end. It is 0 if only earlier processes had failed polls.
   */
  readonly failedPolls: number;
}

/** What a reload may change. `trustAnchors` and `trustedRoots` are files that the policy names. */
export const RELOADED = ["policy", "trustAnchors", "trustedRoots", "provenance"] as const;
export type ReloadedPart = (typeof RELOADED)[number];

/** A reload changed the setting. Findings after this entry use the new setting. */
export interface SettingChanged extends Happened {
  readonly event: "setting-changed";
  /** The parts that changed. Empty if the setting is unchanged and the previous reload was refused. */
  readonly changed: readonly ReloadedPart[];
  readonly policy: string | null;
  /** SHA-256 of the policy's bytes, in hex; null for a policy that was passed as a value. */
  readonly policyDigest: string | null;
  /** Digests of the new and the previous setting, as in findings. */
  readonly settingDigest: string;
  readonly before: string;
  /** Version of a signed policy, whose `policyDigest` is that of its payload. Absent if the policy is not signed. */
  readonly policyVersion?: number;
}

export interface SettingFault {
  /** The file as the caller named it; null if the fault is not in a file. */
  readonly file: string | null;
  readonly reason: string;
}

/** A reload failed. Findings still use the previous setting, and each poll tries to reload again. */
export interface SettingRefused extends Happened {
  readonly event: "setting-refused";
  /** Time of the first attempt that failed, RFC 3339. */
  readonly since: string;
  readonly faults: readonly SettingFault[];
  /** Set if the feed of a signed policy was rolled back or forked. The entry is then delivered like a refusal. */
  readonly contradiction?: true;
}

/** The last entry of a file whose log continues in another file of the same folder. */
export interface Continued extends Happened {
  readonly event: "continued";
  /** The name of the next file, without a folder. */
  readonly file: string;
}

/** A watch with a log began to poll. */
export interface Started extends Happened {
  readonly event: "started";
  readonly watched: readonly Watched[];
  /** Milliseconds between two heartbeats. */
  readonly heartbeatMs: number;
  readonly settingDigest: string;
  readonly tool: Finding["tool"];
  /** The head that the operator named because neither a signed state nor a checkpoint showed it. */
  readonly adopted?: string;
}

export type PollCount = Watched & { readonly good: number; readonly failed: number };

/** A sign of life: polls were made, whether or not they found something new. */
export interface Heartbeat extends Happened {
  readonly event: "heartbeat";
  /** Time of the previous `started` or `heartbeat`, RFC 3339. */
  readonly since: string;
  /** Polls since then, for each watched name. */
  readonly polls: readonly PollCount[];
}

/** A watch ended in order. A watch that was killed has no such entry. */
export interface Stopped extends Omit<Heartbeat, "event"> {
  readonly event: "stopped";
}

/** The operator ended the delivery of an entry. */
export interface Acknowledged extends Happened {
  readonly event: "acknowledged";
  /** Number of the entry that is not delivered any more. */
  readonly entry: number;
  readonly what: "refusal" | "outage";
}

/** An entry that is not a finding. */
export type LogEvent =
  | OutageBegan
  | OutageEnded
  | SettingChanged
  | SettingRefused
  | Continued
  | Started
  | Heartbeat
  | Stopped
  | Acknowledged;

export type FindingEntry = Placed & Finding;
export type EventEntry = Placed & LogEvent;
/** Only events have a member `event`: see {@link isFinding}. */
export type LogEntry = FindingEntry | EventEntry;

/** @example `if (isFinding(entry)) console.log(entry.verdict);` */
export function isFinding(entry: LogEntry): entry is FindingEntry {
  return !Object.hasOwn(entry, "event");
}

export interface LogEnd {
  readonly entries: number;
  /** SHA-256, in hex, of the last line without its line feed; zeros if the log is empty. */
  readonly head: string;
}

/** Returns the name of the next file. Null if the entry names none. */
export function continuedIn(entry: LogEntry): string | null {
  return !isFinding(entry) && entry.event === "continued" ? entry.file : null;
}

/** A line: `bytes` has no line feed, and `hash` is its SHA-256 in hex. */
export interface LogLine<E extends LogEntry = LogEntry> extends Line {
  readonly entry: E;
  readonly hash: string;
}

/** A line without its line feed. */
export interface Line {
  readonly bytes: Uint8Array;
}

/** A finding that could not be recorded. It has no number and no place in a chain. */
export interface UnrecordedFinding extends Finding {
  readonly finding: typeof FINDING_FORMAT;
  readonly recorded: false;
}

export interface UnrecordedLine extends Line {
  readonly entry: UnrecordedFinding;
}

export function watchedName(watched: Watched | Finding): string {
  // In a finding about a key, `app` is null.
  const app = Object.hasOwn(watched, "app") ? (watched as Finding).app : null;
  return app !== null ? `app ${app}` : `key ${(watched as Finding).ephemeralKey}`;
}

/**
 * Returns a text that identifies the result of a finding. A finding is recorded only if its text differs from that of
 * the newest finding about the same name.
 */
export function standingOf({ evidenceDigest, settingDigest, verdict, failed, refusedFor }: Finding): string {
  const refused = refusedFor === undefined ? [] : [refusedFor];
  return JSON.stringify([evidenceDigest, settingDigest, verdict, failed.map(({ id }) => id), ...refused]);
}

/** Makes a finding of a report. Rejects with {@link MalformedError} if the boot proof is too large. */
export async function findingOf(
  watched: Watched,
  bootProof: JsonValue,
  { report, settingDigest }: { readonly report: Report; readonly settingDigest: string },
): Promise<Finding> {
  const bytes = toUtf8(JSON.stringify(bootProof));
  if (bytes.length > MAX_BOOT_PROOF_BYTES)
    throw new MalformedError("boot-proof", [
      { path: "", message: `${bytes.length} bytes as JSON text, expected at most ${MAX_BOOT_PROOF_BYTES}` },
    ]);
  const { verdict, stale, policy, policyDigest, tool, verifiedAt, checks, claims, refusedFor } = report;
  return {
    at: verifiedAt,
    app: isApp(watched) ? watched.app : null,
    ephemeralKey: isApp(watched) ? null : watched.ephemeralKey,
    verdict,
    stale,
    failed: checks
      .filter(({ status }) => status === "fail")
      .map(({ id, subject, detail }) => ({ id, subject, detail })),
    ...(refusedFor && { refusedFor }),
    deployment: claims?.bootProofs[0]?.deployment ?? null,
    policy,
    policyDigest,
    settingDigest,
    tool: { name: tool.name, version: tool.version },
    evidenceDigest: toHex(await sha256(bytes)),
    bootProofs: [bootProof],
  };
}

export async function lineAfter({ entries, head }: LogEnd, finding: Finding): Promise<LogLine<FindingEntry>> {
  const entry = { log: LOG_FORMAT, n: entries + 1, previous: head, ...finding } as const;
  const line = toUtf8(textOf(entry));
  const [bootProof] = finding.bootProofs;
  // The service controls depth and shape, so what `readLine` would refuse is kept as text.
  if (isJsonObject(bootProof) && attempt(() => parsed(line)).value !== undefined) return lineOf(entry, line);
  const kept: FindingEntry = { ...entry, bootProofs: [JSON.stringify(bootProof)] };
  return lineOf(kept, toUtf8(textOf(kept)));
}

export function unrecordedLine(finding: Finding): UnrecordedLine {
  const entry = { finding: FINDING_FORMAT, recorded: false, ...finding } as const;
  return { entry, bytes: toUtf8(orderedText(entry, ["finding", "recorded", ...Object.keys(FINDING.members)])) };
}

/** Rejects with {@link MalformedError} for an event that {@link readLine} would refuse. */
export async function eventLineAfter(end: LogEnd, event: LogEvent): Promise<LogLine<EventEntry>> {
  const { entries, head } = end;
  const { bytes } = await lineAt(end, { log: formatOf(event.event), n: entries + 1, previous: head, ...event });
  return (await readLine(bytes)) as LogLine<EventEntry>;
}

export async function lineAt<E extends LogEntry>({ entries, head }: LogEnd, entry: E): Promise<LogLine<E>> {
  const placed = { ...entry, n: entries + 1, previous: head };
  return lineOf(placed, toUtf8(textOf(placed)));
}

async function lineOf<E extends LogEntry>(entry: E, bytes: Uint8Array): Promise<LogLine<E>> {
  return { entry, bytes, hash: toHex(await sha256(bytes)) };
}

/**
 * Reads a line without its line feed. Rejects with {@link MalformedError} unless the bytes are exactly those of an
 * entry as it is written.
 */
export async function readLine(bytes: Uint8Array): Promise<LogLine> {
  if (bytes.length > MAX_LINE_BYTES) throw malformed(`longer than any entry: expected at most ${MAX_LINE_BYTES} bytes`);
  const json = parsed(bytes);
  refuseNewer(json);
  const { value: entry, faults } = readShape<LogEntry>(shapeOf(json), json);
  if (entry === undefined) throw new MalformedError("log", faults);
  if (textOf(entry) !== fromUtf8(bytes)) throw malformed("expected the watch's own spacing, order and escapes");
  if (isFinding(entry) && (await evidenceHash(entry)) !== entry.evidenceDigest)
    throw malformed("evidenceDigest is not the hash of bootProofs[0]");
  return lineOf(entry, bytes);
}

/** An older version must not report a log that a newer one wrote as broken. */
function refuseNewer(json: JsonValue): void {
  const log = isJsonObject(json) ? json["log"] : null;
  const [, version = "0"] = (typeof log === "string" && /^bootproof-log\/([1-9][0-9]{0,3})$/.exec(log)) || [];
  if (Number(version) > NEWEST_FORMAT)
    throw malformed(
      `format bootproof-log/${version}, which this version of bootproof does not know: use a newer version`,
    );
}

const NEWEST_FORMAT = 3;

async function evidenceHash({ bootProofs: [bootProof] }: FindingEntry): Promise<string> {
  const evidence = typeof bootProof === "string" ? bootProof : JSON.stringify(bootProof);
  return toHex(await sha256(toUtf8(evidence)));
}

function malformed(message: string): MalformedError {
  return new MalformedError("log", [{ path: "", message }]);
}

function parsed(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes, { maxValues: MAX_VALUES });
  } catch (error) {
    if (error instanceof MalformedError) throw malformed(`not strict JSON: ${faultText(error.faults)}`);
    throw error;
  }
}

function textOf(entry: LogEntry): string {
  const shape: ObjectShape<LogEntry> = isFinding(entry) ? FINDING : EVENTS[entry.event];
  return orderedText(entry, Object.keys(shape.members));
}

function orderedText(entry: object, names: readonly string[]): string {
  // JSON.stringify leaves out members that are undefined.
  const members = names.map((name) => [name, (entry as Readonly<Record<string, unknown>>)[name]] as const);
  return printableJson(JSON.stringify(Object.fromEntries(members)));
}

export const hash = matching(/^[0-9a-f]{64}$/, "64 hex digits");

const keyHex = matching(/^(?:[0-9a-f]{2})+$/, "hex");

const PLACED = {
  log: oneOf(LOG_FORMAT) as Shape<Placed["log"]>,
  n: wholeNumber(1),
  previous: hash,
  at: instant,
};

const TOOL = objectOf<Finding["tool"]>({ name: text, version: text });

const FINDING = objectOf<FindingEntry>({
  ...PLACED,
  app: nullable(text),
  ephemeralKey: nullable(keyHex),
  verdict: keyOf<Verdict>({ verified: true, authentic: true, rejected: true }),
  stale: flag,
  failed: list(objectOf<FailedCheck>({ id: oneOf(...CHECK_IDS), subject: text as Shape<CheckSubject>, detail: text })),
  refusedFor: optional(list(text, 1)),
  deployment: nullable(text),
  policy: nullable(text),
  policyDigest: nullable(hash),
  settingDigest: hash,
  tool: TOOL,
  evidenceDigest: hash,
  bootProofs: list(anything, 1, 1) as Shape<unknown> as Shape<Finding["bootProofs"]>,
});

/**
 * Members have the order of the line at every depth, because `textOf` writes them in this order and no other is valid.
 */
const FINDING_ENTRY = refined(FINDING, (entry, place) =>
  (entry.app === null) === (entry.ephemeralKey === null)
    ? place.fault<FindingEntry>("expected either app or ephemeralKey")
    : entry,
);

const watchedList = list(
  either(
    objectOf<{ readonly app: string }>({ app: text }),
    objectOf<{ readonly ephemeralKey: string }>({ ephemeralKey: keyHex }),
    '{"app": name} or {"ephemeralKey": hex}',
  ),
  1,
);

const MAX_NAME_BYTES = 255;

/** Whether a name has no folder. Whoever wrote a log must not be able to name a file in another folder. */
function isFileName(name: string): boolean {
  const bytes = toUtf8(name).length;
  return bytes > 0 && bytes <= MAX_NAME_BYTES && !/[/\\:\p{Cc}]/u.test(name) && name !== "." && name !== "..";
}

export const fileName = matching(isFileName, "the name of a file, without a folder,");

type EventShapes = { readonly [E in EventEntry as E["event"]]: ObjectShape<E> };

function eventOf<E extends LogEvent>(
  event: E["event"],
  members: MembersOf<Omit<E, keyof Placed | "at" | "event">>,
): ObjectShape<Placed & E> {
  const all = { ...PLACED, log: oneOf(formatOf(event)), event: oneOf(event), ...members };
  return object(all) as ObjectShape<unknown> as ObjectShape<Placed & E>;
}

/** Kinds of entries that {@link LOG_FORMAT} does not have. */
const IN_FORMAT_3: readonly LogEvent["event"][] = ["started", "heartbeat", "stopped", "acknowledged"];

function formatOf(event: LogEvent["event"]): Placed["log"] {
  return IN_FORMAT_3.includes(event) ? LOG_FORMAT_3 : LOG_FORMAT;
}

const counts = { good: wholeNumber(0), failed: wholeNumber(0) };
const SIGN = {
  since: instant,
  polls: list(
    either(
      objectOf<PollCount & { readonly app: string }>({ app: text, ...counts }),
      objectOf<PollCount & { readonly ephemeralKey: string }>({ ephemeralKey: keyHex, ...counts }),
      "an object with app or ephemeralKey, good and failed",
    ),
    1,
  ),
};

const EVENTS: EventShapes = {
  "outage-began": eventOf<OutageBegan>("outage-began", {
    kind: keyOf<FailureKind>({ unreachable: true, answer: true, missing: true, credentials: true }),
    watched: watchedList,
    since: instant,
    message: text,
  }),
  "outage-ended": eventOf<OutageEnded>("outage-ended", {
    watched: watchedList,
    since: instant,
    failedPolls: wholeNumber(0),
  }),
  "setting-changed": eventOf<SettingChanged>("setting-changed", {
    changed: list(oneOf(...RELOADED)),
    policy: nullable(text),
    policyDigest: nullable(hash),
    settingDigest: hash,
    before: hash,
    policyVersion: optional(wholeNumber(1)),
  }),
  "setting-refused": eventOf<SettingRefused>("setting-refused", {
    since: instant,
    faults: list(objectOf<SettingFault>({ file: nullable(text), reason: text }), 1),
    contradiction: optional(oneOf(true)),
  }),
  continued: eventOf<Continued>("continued", { file: fileName }),
  started: eventOf<Started>("started", {
    watched: watchedList,
    heartbeatMs: wholeNumber(1),
    settingDigest: hash,
    tool: TOOL,
    adopted: optional(hash),
  }),
  heartbeat: eventOf<Heartbeat>("heartbeat", SIGN),
  stopped: eventOf<Stopped>("stopped", SIGN),
  acknowledged: eventOf<Acknowledged>("acknowledged", { entry: wholeNumber(1), what: oneOf("refusal", "outage") }),
};

const UNKNOWN_EVENT = object({ event: keyOf(EVENTS) }, { unknown: "ignore" }) as Shape<unknown> as Shape<LogEntry>;

function shapeOf(json: JsonValue): Shape<LogEntry> {
  if (!isJsonObject(json) || !Object.hasOwn(json, "event")) return FINDING_ENTRY;
  const { event } = json;
  const isKnown = typeof event === "string" && Object.hasOwn(EVENTS, event);
  return isKnown ? EVENTS[event as keyof EventShapes] : UNKNOWN_EVENT;
}
