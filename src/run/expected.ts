/** What the caller expects of an entry, as JSON (run/README.md, "Expectations"). */
import type { Evidence } from "../bootproof.js";
import { parseTime } from "../decode/decimal-time.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { type Shape, anyObject, hex, object, readShape } from "../decode/shapes.js";
import { MalformedError } from "../errors.js";
import { evidenceMembers } from "../inputs.js";
import type { CheckId } from "../checks.js";
import { type Expectation, type Expected, expectedShape, unmetByKind } from "../verify/expectation.js";
import type { EntryResult } from "./result.js";

/** A line of a file of expectations. */
interface ExpectedLine {
  /** SHA-256 of the entry's bytes, in lowercase hex. */
  readonly entry: string;
  /** The JSON of an `Expected`, as in `Batch.expected`. */
  readonly expected: string;
}

/** Shape of an `Expected` in JSON. JSON has no Date, so `requestedAt` may also be RFC 3339. */
const expectedJson: Shape<Expected> = {
  read: (value, place) => {
    if (!isJsonObject(value)) return anyObject.read(value, place) as Expected;
    const { requestedAt } = value;
    const time = typeof requestedAt === "string" ? parseTime(requestedAt) : null;
    return expectedShape.read({ ...value, ...(time !== null && { requestedAt: time.getTime() }) }, place);
  },
};

const expectedLine = object({ entry: hex(32), expected: expectedJson });

/** Reads a line of a file of expectations. Throws {@link MalformedError} (`json` or `expected`). */
export function readExpectedLine(line: Uint8Array): ExpectedLine {
  const { entry, expected } = readExpected(expectedLine, line, "");
  return { entry, expected: JSON.stringify(expected) };
}

/** Reads the JSON of an `Expected`. Throws as {@link readExpectedLine} does. */
export function expectedOfText(text: string): Expected {
  return readExpected(expectedJson, text, "expected");
}

/** Reads an expectation. A number that a double cannot hold is a fault, because a rounded number would be compared. */
function readExpected<T>(shape: Shape<T>, text: string | Uint8Array, path: string): T {
  const json = plainNumbers(parseJson(text, { numbers: "literal" }));
  const { value, faults } = json.faults.length > 0 ? json : readShape(shape, json.value, path);
  if (faults.length > 0) throw new MalformedError("expected", faults);
  return value as T;
}

/**
 * Returns a rejection if the entry has nothing to compare with its expectation, which would otherwise not be checked.
 * Returns null if the entry can be compared.
 */
export function incomparable(evidence: Evidence, expectation: Expectation): EntryResult | null {
  const { appProofs, activity } = evidenceMembers(evidence);
  const reason = unmetByKind(expectation, appProofs.length, activity !== undefined);
  if (reason === null) return null;
  const isOfActivity = activity !== undefined || /^expected\.(?:id|type|parameters|publicKey):/.test(reason);
  const failed: CheckId = isOfActivity ? "activity.request" : "app.request";
  return { verdict: "rejected", failed: [failed], warnings: [], reason };
}

/** The result of a bare document that has an expectation. */
export const NO_DOCUMENT: EntryResult = {
  verdict: "rejected",
  failed: ["app.request"],
  warnings: [],
  reason: "expected: needs app proofs or an activity to compare with; the entry is only a document",
};
