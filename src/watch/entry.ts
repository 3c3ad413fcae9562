/** The entries of a log and their lines (watch/README.md, "The log"). */
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type CheckSubject, type CheckId, CHECK_TITLES } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject, jsonKind, parseJson, printableJson } from "../decode/json.js";
import { ownMembers } from "../decode/input.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import type { Report, Verdict } from "../report/report.js";
import { sha256 } from "../verify/digest.js";

export const LOG_FORMAT = "bootproof-log/1";
/** `previous` of the first line. */
export const NO_LINE = "0".repeat(64);
/** A response has at most half of that, but a number can get longer when rewritten. */
const MAX_BOOT_PROOF_BYTES = 2 * 1024 * 1024;
/** The largest boot proof, if every character is escaped twice. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** More than a boot proof may have. */
const MAX_VALUES = 400_000;

/** An application (its newest boot proof), or a key in lower-case hex. */
export type Watched = { readonly app: string } | { readonly ephemeralKey: string };

export function isApp(watched: Watched): watched is { readonly app: string } {
  return Object.hasOwn(watched, "app");
}

export interface FailedCheck {
  readonly id: CheckId;
  readonly subject: CheckSubject;
  readonly detail: string;
}

/** An entry without its place in the log. */
export interface Finding {
  /** RFC 3339: the present that the verification assumed. */
  readonly at: string;
  /** Null if a key is watched. */
  readonly app: string | null;
  /** Lower-case hex; null if an application is watched. */
  readonly ephemeralKey: string | null;
  readonly verdict: Verdict;
  /** Rejected only because of its age. */
  readonly stale: boolean;
  readonly failed: readonly FailedCheck[];
  /** Name of the policy's deployment that matched; null if none matched or it has no name. */
  readonly deployment: string | null;
  readonly policy: string | null;
  /** SHA-256 of the policy's bytes, in hex; null if the policy was passed as a value. */
  readonly policyDigest: string | null;
  readonly tool: { readonly name: string; readonly version: string };
  /** SHA-256, in hex, of the boot proof as JSON text, unsigned labels included. */
  readonly evidenceDigest: string;
  /** The boot proof as received; its JSON text if it is no object or too deep to parse. */
  readonly bootProofs: readonly [JsonValue];
}

export interface LogEntry extends Finding {
  readonly log: typeof LOG_FORMAT;
  /** Counts from 1. */
  readonly n: number;
  /** SHA-256, in hex, of the previous line without its line feed; zeros in the first line. */
  readonly previous: string;
}

export interface LogEnd {
  readonly entries: number;
  /** SHA-256, in hex, of the last line without its line feed; zeros if the log is empty. */
  readonly head: string;
}

/** `bytes`: the line without its line feed; `hash`: its SHA-256 in hex. */
export interface LogLine {
  readonly entry: LogEntry;
  readonly bytes: Uint8Array;
  readonly hash: string;
}

export function watchedName(watched: Watched | Finding): string {
  const { app = null, ephemeralKey } = ownMembers(watched as Finding, { app: true, ephemeralKey: true });
  return app !== null ? `app ${app}` : `key ${ephemeralKey}`;
}

/** An entry is news only if this differs from the newest entry of the same name. */
export function standingOf({ evidenceDigest, policyDigest, verdict, failed }: Finding): string {
  return JSON.stringify([evidenceDigest, policyDigest, verdict, failed.map(({ id }) => id)]);
}

/** Throws {@link MalformedError} if the boot proof is too large. */
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

export async function lineAfter({ entries, head }: LogEnd, finding: Finding): Promise<LogLine> {
  const entry = { log: LOG_FORMAT, n: entries + 1, previous: head, ...finding } as const;
  const line = toUtf8(textOf(entry));
  const [bootProof] = finding.bootProofs;
  // The service controls depth and shape: what `readLine` would refuse is kept as text.
  if (isJsonObject(bootProof) && attempt(() => parsed(line)).value !== undefined) return lineOf(entry, line);
  const kept: LogEntry = { ...entry, bootProofs: [JSON.stringify(bootProof)] };
  return lineOf(kept, toUtf8(textOf(kept)));
}

/** The line that an entry would have at this end of a log. */
export async function lineAt({ entries, head }: LogEnd, entry: LogEntry): Promise<LogLine> {
  const placed = { ...entry, n: entries + 1, previous: head };
  return lineOf(placed, toUtf8(textOf(placed)));
}

async function lineOf(entry: LogEntry, bytes: Uint8Array): Promise<LogLine> {
  return { entry, bytes, hash: toHex(await sha256(bytes)) };
}

/**
 * Reads a line without its line feed. Throws {@link MalformedError} unless it is an entry in its only valid spelling.
 */
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

function textOf(entry: LogEntry): string {
  const members = MEMBER_NAMES.map((name) => [name, entry[name]] as const);
  return printableJson(JSON.stringify(Object.fromEntries(members)));
}

type Rule = readonly [wanted: string, holds: (value: JsonValue | undefined) => boolean];

const isText = (value: unknown): boolean => typeof value === "string";
const isHash = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const orNull =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || holds(value);
const VERDICTS: Readonly<Record<Verdict, true>> = { verified: true, authentic: true, rejected: true };

/** In the order of the line: what each member must be, in words, and the test of it. */
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
