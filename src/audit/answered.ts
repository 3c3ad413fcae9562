/** Validates results from other processes: only the form that this package writes is accepted. */
import { CHECK_IDS } from "../checks.js";
import { isJsonObject } from "../decode/json.js";
import { type AuditResult, isAccepted } from "./result.js";

const VERDICTS: readonly unknown[] = ["verified", "authentic", "rejected", "malformed"];
/** Characters of a text; far more than a reason or a deployment's name has. */
const MAX_TEXT = 65_536;
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]{8,18}Z$/;

/** The results of `count` entries from the number `first` on; null for anything else. */
export function readResults(value: unknown, first: number, count: number): readonly AuditResult[] | null {
  if (!Array.isArray(value) || value.length !== count) return null;
  return value.every((each, index) => isResult(each, first + index)) ? (value as AuditResult[]) : null;
}

/** The form of each member. Only the producer knows `file`. The compiler holds it total. */
const FORMS: Readonly<Record<Exclude<keyof AuditResult, "n" | "file">, (value: unknown) => boolean>> = {
  verdict: (value) => VERDICTS.includes(value),
  failed: isFailed,
  stale: (value) => value === undefined || value === true,
  reason: optional(isText),
  deployments: optional(isTexts),
  notApplied: optional(isTexts),
  documentTimes: optional(isTimes),
};

function isResult(value: unknown, n: number): value is AuditResult {
  if (!isJsonObject(value) || value["n"] !== n) return false;
  const isKnown = Object.keys(value).every((name) => name === "n" || Object.hasOwn(FORMS, name));
  const isWhole = Object.entries(FORMS).every(([name, isOfForm]) => isOfForm(value[name]));
  return isKnown && isWhole && isConsistent(value as unknown as AuditResult);
}

function optional(isOfForm: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || isOfForm(value);
}

/** An accepted result has no failed check, and a malformed one has a reason. */
function isConsistent(result: AuditResult): boolean {
  if (isAccepted(result)) return result.failed.length === 0 && result.stale === undefined;
  return result.verdict !== "malformed" || (result.failed.length === 0 && result.reason !== undefined);
}

/** Known ids, each once, in the order of their table. */
function isFailed(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const places = value.map((id) => (CHECK_IDS as readonly unknown[]).indexOf(id));
  return places.every((place, index) => place >= 0 && (index === 0 || place > places[index - 1]!));
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_TEXT;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isTimes(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((each) => TIME.test(String(each)));
}
