/** Activities (client/README.md, "Activities"), as far as app proofs speak of them. Signed by nobody. */
import { type Reading, requireWhole } from "../errors.js";
import { MAX_APP_PROOFS } from "./app-proof.js";
import { decimalMilliseconds } from "./decimal-time.js";
import { evidenceBeside } from "./evidence-members.js";
import { jsonInput, unwrap } from "./input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "./json.js";
import { MemberReader } from "./json-members.js";

/** The status of an activity that was carried out. */
export const COMPLETED = "ACTIVITY_STATUS_COMPLETED";

export interface Activity {
  readonly id: string;
  readonly organizationId: string;
  readonly status: string;
  readonly type: string;
  /** What votes name it by; null where it is not there. */
  readonly fingerprint: string | null;
  /** When it was submitted, in milliseconds since the epoch; null where it does not say. */
  readonly requestedAt: number | null;
  /** One member, named after the type: what was requested. */
  readonly intent: JsonObject;
  /** One member, named after the type: the outcome. */
  readonly result: JsonObject;
  /** Undecoded: each is judged on its own. */
  readonly appProofs: readonly unknown[];
}

/**
 * Decodes an activity, bare or as `{"activity": …}`, from JSON text, its bytes, or the parsed value. The form in which
 * `result.activity` repeats the fields is read too. Nothing is verified. Throws {@link MalformedError} with every
 * fault.
 */
export function decodeActivity(input: unknown): Activity {
  return requireWhole("activity", readActivity(jsonInput(input)));
}

/** Reads an activity, keeping the fields that are good beside the faults of those that are not. */
export function readActivity(input: unknown): Reading<Activity> {
  const faults = evidenceBeside(input, "activity");
  const reader = MemberReader.of(unwrap(input, "activity"), "", faults);
  if (reader === undefined) return { value: {}, faults };
  const outcome = outcomeReader(reader);
  if (outcome !== reader) {
    faults.pushAll(evidenceBeside(outcome.object, "activity", outcome.path));
    refuseContradiction(reader, outcome);
  }
  const value = {
    id: reader.string("id"),
    organizationId: reader.string("organizationId"),
    status: reader.string("status"),
    type: reader.string("type"),
    fingerprint: textOrNull(outcome.get("fingerprint") ?? reader.get("fingerprint")),
    requestedAt: requestTime(outcome) ?? requestTime(reader),
    intent: outcome.nested("intent")?.object,
    result: outcome.nested("result")?.object,
    appProofs: appProofs(reader, outcome),
  };
  return { value, faults };
}

/**
 * What was done: intent and result of an activity, or of its repetition in `result.activity` (decode/README.md,
 * "Activities").
 */
interface Outcome {
  readonly intent: JsonObject | undefined;
  readonly result: JsonObject | undefined;
  readonly repetition: JsonObject | undefined;
}

/** The outcome of an activity as it came, whatever else is wrong with it. */
export function outcomeOf(activity: JsonObject): Outcome {
  const repetition = objectOf(objectOf(activity["result"])?.["activity"]);
  const holder = repetition ?? activity;
  return { intent: objectOf(holder["intent"]), result: objectOf(holder["result"]), repetition };
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The reader that intent and result are taken from: the activity itself, or its repetition. */
function outcomeReader(reader: MemberReader): MemberReader {
  const { repetition } = outcomeOf(reader.object);
  return repetition === undefined ? reader : new MemberReader(repetition, "result.activity", reader.faults);
}

/**
 * What stands in one place only: the result, which holds the repetition; and app proofs, of which both lists are
 * judged.
 */
const NOT_REPEATED = ["result", "appProofs"];

/**
 * The repetition stands for the whole: what stands in both places has to be the same, and nothing may stand beside it.
 * The reader of one place would otherwise believe what the proofs of the other say.
 */
function refuseContradiction(reader: MemberReader, outcome: MemberReader): void {
  for (const name of Object.keys(outcome.object).filter((member) => !NOT_REPEATED.includes(member))) {
    const [stated, repeated] = [reader.get(name), outcome.get(name)];
    if (stated !== undefined && repeated !== undefined && !equalJson(stated, repeated)) {
      outcome.fault(name, `differs from the activity's own ${name}`);
    }
  }
  reader.nested("result")?.refuseUnknown(["activity"]);
}

/** The same value, whatever the order of members. */
function equalJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equalJson(a[name], b[name]))
  );
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** Milliseconds of `timestampMs`, or of `createdAt` in either of its forms (decode/README.md, "Activities"). */
function requestTime(reader: MemberReader): number | null {
  const created = reader.get("createdAt");
  const seconds = isJsonObject(created) ? decimalMilliseconds(created["seconds"]) : null;
  return (
    decimalMilliseconds(reader.get("timestampMs")) ?? (seconds === null ? decimalMilliseconds(created) : 1000 * seconds)
  );
}

/** Those of both places, where they stand in two: none may be left unjudged. */
function appProofs(reader: MemberReader, outcome: MemberReader): JsonValue[] | undefined {
  const stated = [...new Set([reader, outcome])].filter((holder) => holder.get("appProofs") !== undefined);
  const holders = stated.length === 0 ? [outcome] : stated;
  const lists = holders.map((holder) => holder.array("appProofs", (value) => value));
  if (!lists.every((list) => list !== undefined)) return undefined;
  const list = equalJson(lists[0], lists[1]) ? lists[0]! : lists.flat();
  if (list.length > MAX_APP_PROOFS)
    return holders[0]!.fault("appProofs", `${list.length} entries, at most ${MAX_APP_PROOFS} wanted`);
  return list.length === 0 ? holders[0]!.fault("appProofs", "empty: nothing of this activity is proven") : list;
}
