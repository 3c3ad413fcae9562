/** What the caller expects of an entry, as JSON (audit/README.md, "Expectations"). */
import type { Evidence } from "../bootproof.js";
import { parseTime } from "../decode/decimal-time.js";
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { type Fault, MalformedError } from "../errors.js";
import { evidenceMembers, unmetByKind } from "../inputs.js";
import type { CheckId } from "../checks.js";
import { type Expectation, type Expected, expectationOf } from "../verify/expectation.js";
import type { EntryResult } from "./result.js";

/** A line of a file of expectations. */
interface ExpectedLine {
  /** SHA-256 of the entry's bytes, in lowercase hex. */
  readonly entry: string;
  /** The JSON of an `Expected`, in the form of a `Batch`. */
  readonly expected: string;
}

const ENTRY = /^[0-9a-fA-F]{64}$/;

/** Throws {@link MalformedError} (`json` or `expected`). */
export function readExpectedLine(line: Uint8Array): ExpectedLine {
  const json = exactJson(line);
  if (!isJsonObject(json)) throw malformed("", 'expected an object: {"entry": "…", "expected": {…}}');
  const unknown = Object.keys(json).find((name) => name !== "entry" && name !== "expected");
  if (unknown !== undefined) throw malformed(unknown, "unknown member: expected entry or expected");
  const { entry, expected } = json;
  if (typeof entry !== "string" || !ENTRY.test(entry))
    throw malformed("entry", "expected the SHA-256 of the entry's line, 64 hex digits");
  return { entry: entry.toLowerCase(), expected: JSON.stringify(checkedExpected(expected)) };
}

/** Throws as {@link readExpectedLine} does. */
export function expectedOfText(text: string): Expected {
  return checkedExpected(exactJson(text));
}

/** Refuses numbers that would change when parsed, since the comparison would use another number. */
function exactJson(text: string | Uint8Array): unknown {
  const { value, faults } = plainNumbers(parseJson(text, { numbers: "literal" }));
  if (faults.length > 0) throw new MalformedError("expected", faults);
  return value;
}

function checkedExpected(value: unknown): Expected {
  if (!isJsonObject(value)) throw malformed("expected", "expected an object");
  const expected = withMilliseconds(value);
  try {
    expectationOf(expected);
    return expected;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [, path, message] = /^(\S+): ([^]*)$/.exec(error.message)!;
    throw malformed(path!, message!);
  }
}

/** `requestedAt` may be RFC 3339, since JSON has no Date. */
function withMilliseconds(value: JsonObject): Expected {
  const { requestedAt } = value;
  const time = typeof requestedAt === "string" ? parseTime(requestedAt) : null;
  return { ...value, ...(time !== null && { requestedAt: time.getTime() }) } as Expected;
}

function malformed(path: string, message: string): MalformedError {
  const fault: Fault = { path, message };
  return new MalformedError("expected", [fault]);
}

/**
 * Rejects an entry that cannot be compared with its expectation, which would then go unchecked. Returns null if it can
 * be.
 */
export function incomparable(evidence: Evidence, expectation: Expectation): EntryResult | null {
  const { appProofs, activity } = evidenceMembers(evidence);
  const reason = unmetByKind(expectation, appProofs.length, activity !== undefined);
  if (reason === null) return null;
  const isOfActivity = activity !== undefined || /^expected\.(?:id|type|parameters):/.test(reason);
  const failed: CheckId = isOfActivity ? "activity.request" : "app.request";
  return { verdict: "rejected", failed: [failed], reason };
}

/** The result of a bare document with an expectation. */
export const NO_DOCUMENT: EntryResult = {
  verdict: "rejected",
  failed: ["app.request"],
  reason: "expected: needs app proofs or an activity to compare with, and a document alone has none",
};
