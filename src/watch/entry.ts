/** One entry of a log (watch/README.md, "The log"): what it holds, and its one spelling as a line of JSON. */
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type CheckSubject, type CheckId, CHECK_TITLES } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject, jsonKind, parseJson, printableJson } from "../decode/json.js";
import { ownMembers } from "../decode/input.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import type { Report, Verdict } from "../report/report.js";
import { sha256 } from "../verify/digest.js";

export const LOG_FORMAT = "bootproof-log/1";
/** What the first line carries in the place of a hash. */
export const NO_LINE = "0".repeat(64);
/** Of a boot proof as JSON text. The service's answer has at most half of that; a number may be longer when written. */
const MAX_BOOT_PROOF_BYTES = 2 * 1024 * 1024;
/** A boot proof of the greatest size, of nothing but characters that are escaped, twice. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** More than a boot proof may have. */
const MAX_VALUES = 400_000;

/** What is watched: an application, by the newest boot proof of its enclaves; or a key, in lower-case hex. */
export type Watched = { readonly app: string } | { readonly ephemeralKey: string };

export function isApp(watched: Watched): watched is { readonly app: string } {
  return Object.hasOwn(watched, "app");
}

/** A check that failed: of which piece, and why. */
export interface FailedCheck {
  readonly id: CheckId;
  readonly subject: CheckSubject;
  readonly detail: string;
}

/** What an entry says, but for its place in the log. */
export interface Finding {
  /** RFC 3339: when it was verified, which is the present that ages were counted by. */
  readonly at: string;
  /** The application whose newest boot proof was asked for; null where a key was. */
  readonly app: string | null;
  /** The key whose boot proof was asked for, in lower-case hex; null where an application was. */
  readonly ephemeralKey: string | null;
  readonly verdict: Verdict;
  /** Rejected for its age alone. */
  readonly stale: boolean;
  readonly failed: readonly FailedCheck[];
  /** The deployment of the policy that matched; null where none did, or it has no name. */
  readonly deployment: string | null;
  readonly policy: string | null;
  /** SHA-256 of the policy's bytes, in hex; null where it was given as a value. */
  readonly policyDigest: string | null;
  /** What verified it. */
  readonly tool: { readonly name: string; readonly version: string };
  /** SHA-256, in hex, of the boot proof as JSON text: everything that the service said, labels included. */
  readonly evidenceDigest: string;
  /** The one boot proof, as it came; as JSON text where it is no object, or deeper than is read. */
  readonly bootProofs: readonly [JsonValue];
}

/** A line of the log. */
export interface LogEntry extends Finding {
  readonly log: typeof LOG_FORMAT;
  /** From 1. */
  readonly n: number;
  /** SHA-256, in hex, of the line before, without its line feed; zeros in the first line. */
  readonly previous: string;
}

/** Where a log ends. */
export interface LogEnd {
  readonly entries: number;
  /** SHA-256, in hex, of the last line without its line feed; zeros where there is none. */
  readonly head: string;
}

/** An entry, its line without the line feed, and the hash of that. */
export interface LogLine {
  readonly entry: LogEntry;
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** The name of what an entry is about, the same for the same application or key. */
export function watchedName(watched: Watched | Finding): string {
  const { app = null, ephemeralKey } = ownMembers(watched as Finding, { app: true, ephemeralKey: true });
  return app !== null ? `app ${app}` : `key ${ephemeralKey}`;
}

/** What has to be the same for an answer to be nothing new: evidence, policy, verdict, and which checks failed. */
export function standingOf({ evidenceDigest, policyDigest, verdict, failed }: Finding): string {
  return JSON.stringify([evidenceDigest, policyDigest, verdict, failed.map(({ id }) => id)]);
}

/** What is recorded of a report on one boot proof. Throws {@link MalformedError} for one that is too large. */
export async function findingOf(watched: Watched, bootProof: JsonValue, report: Report): Promise<Finding> {
  const text = JSON.stringify(bootProof);
  const bytes = toUtf8(text);
  if (bytes.length > MAX_BOOT_PROOF_BYTES)
    throw new MalformedError("boot-proof", [
      { path: "", message: `${bytes.length} bytes as JSON text, at most ${MAX_BOOT_PROOF_BYTES} wanted` },
    ]);
  const { verdict, stale, policy, policyDigest, tool, verifiedAt, checks, claims } = report;
  return {
    at: verifiedAt,
    app: isApp(watched) ? watched.app : null,
    ephemeralKey: isApp(watched) ? null : watched.ephemeralKey,
    verdict,
    stale,
    failed: checks
      .filter(({ status }) => status === "fail")
      .map(({ id, subject, detail }) => ({ id, subject, detail })),
    deployment: claims?.bootProofs[0]?.deployment ?? null,
    policy,
    policyDigest,
    tool: { name: tool.name, version: tool.version },
    evidenceDigest: toHex(await sha256(bytes)),
    bootProofs: [bootProof],
  };
}

/** The line that records a finding behind the end of a log. */
export async function lineAfter({ entries, head }: LogEnd, finding: Finding): Promise<LogLine> {
  const entry = { log: LOG_FORMAT, n: entries + 1, previous: head, ...finding } as const;
  const line = toUtf8(textOf(entry));
  const [bootProof] = finding.bootProofs;
  // A service chooses what its answer is, and how deep: what this reader would refuse later is kept as text.
  if (isJsonObject(bootProof) && attempt(() => parsed(line)).value !== undefined) return lineOf(entry, line);
  const kept: LogEntry = { ...entry, bootProofs: [JSON.stringify(bootProof)] };
  return lineOf(kept, toUtf8(textOf(kept)));
}

/** The line of an entry, had it been written behind this end. */
export async function lineAt({ entries, head }: LogEnd, entry: LogEntry): Promise<LogLine> {
  const placed = { ...entry, n: entries + 1, previous: head };
  return lineOf(placed, toUtf8(textOf(placed)));
}

async function lineOf(entry: LogEntry, bytes: Uint8Array): Promise<LogLine> {
  return { entry, bytes, hash: toHex(await sha256(bytes)) };
}

/** Reads a line, without its line feed. Throws {@link MalformedError} for what is no entry in its one spelling. */
export async function readLine(bytes: Uint8Array): Promise<LogLine> {
  if (bytes.length > MAX_LINE_BYTES) throw malformed(`longer than any entry: at most ${MAX_LINE_BYTES} bytes wanted`);
  const json = parsed(bytes);
  const faults = isJsonObject(json) ? faultsOf(json) : [`${jsonKind(json)}, an object wanted`];
  if (faults.length > 0) throw malformed(faults.join("; "));
  const entry = json as unknown as LogEntry;
  if (textOf(entry) !== fromUtf8(bytes)) throw malformed("not as it is written: spacing, order or escapes differ");
  const [bootProof] = entry.bootProofs;
  const text = typeof bootProof === "string" ? bootProof : JSON.stringify(bootProof);
  if (toHex(await sha256(toUtf8(text))) !== entry.evidenceDigest)
    throw malformed("evidenceDigest is not the hash of bootProofs[0]");
  return lineOf(entry, bytes);
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

/** The one spelling of an entry: its members in the order of the table, no spaces, safe to print. */
function textOf(entry: LogEntry): string {
  const members = MEMBER_NAMES.map((name) => [name, entry[name]] as const);
  return printableJson(JSON.stringify(Object.fromEntries(members)));
}

/** What a member has to be, in words, and whether it is. */
type Rule = readonly [wanted: string, holds: (value: JsonValue | undefined) => boolean];

const isText = (value: unknown): boolean => typeof value === "string";
const isHash = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const orNull =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || holds(value);
const VERDICTS: Readonly<Record<Verdict, true>> = { verified: true, authentic: true, rejected: true };

/** The members of a line, in their order. */
const MEMBERS: Readonly<Record<keyof LogEntry, Rule>> = {
  log: [JSON.stringify(LOG_FORMAT), (value) => value === LOG_FORMAT],
  n: ["a whole number of 1 or more", (value) => Number.isSafeInteger(value) && (value as number) >= 1],
  previous: ["64 hex digits", isHash],
  at: ["a time such as 2026-03-04T05:06:07.000Z", isTime],
  app: ["a text or null", orNull(isText)],
  ephemeralKey: ["hex or null", orNull((value) => isText(value) && /^(?:[0-9a-f]{2})+$/.test(value as string))],
  verdict: ["a verdict", (value) => isText(value) && Object.hasOwn(VERDICTS, value as string)],
  stale: ["true or false", (value) => typeof value === "boolean"],
  failed: ["a list of checks", (value) => Array.isArray(value) && value.every(isFailedCheck)],
  deployment: ["a text or null", orNull(isText)],
  policy: ["a text or null", orNull(isText)],
  policyDigest: ["64 hex digits or null", orNull(isHash)],
  tool: ["name and version", (value) => isJsonObject(value) && Object.keys(value).join() === "name,version"],
  evidenceDigest: ["64 hex digits", isHash],
  bootProofs: ["a list of one boot proof", (value) => Array.isArray(value) && value.length === 1],
};
const MEMBER_NAMES = /* @__PURE__ */ Object.keys(MEMBERS) as readonly (keyof LogEntry)[];

function isTime(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString() === value;
}

function isFailedCheck(value: JsonValue): boolean {
  if (!isJsonObject(value) || Object.keys(value).join() !== "id,subject,detail") return false;
  const { id, subject, detail } = value;
  return isText(id) && Object.hasOwn(CHECK_TITLES, id as string) && isText(subject) && isText(detail);
}

function faultsOf(json: JsonObject): string[] {
  const known = MEMBER_NAMES.flatMap((name) => {
    const [wanted, holds] = MEMBERS[name];
    return Object.hasOwn(json, name) && holds(json[name]) ? [] : [`${name}: ${wanted} wanted`];
  });
  const others = Object.keys(json).filter((name) => !Object.hasOwn(MEMBERS, name));
  if (others.length > 0) known.push(`${others.length} members that are none of ${LOG_FORMAT}`);
  if (known.length === 0 && (json["app"] === null) === (json["ephemeralKey"] === null))
    known.push("either app or ephemeralKey wanted");
  return known;
}
