/** Activities (service-interface 2.1), as far as app proofs speak of them. The service's word: signed by nobody. */
import { FaultList, type Reading, requireWhole } from "../errors.js";
import { MAX_APP_PROOFS } from "./app-proof.js";
import { jsonInput, unwrap } from "./input.js";
import { type JsonObject, type JsonValue, MemberReader, isJsonObject } from "./json.js";

export interface Activity {
  readonly id: string;
  readonly organizationId: string;
  readonly status: string;
  readonly type: string;
  /** One member, named after the type: what was requested. */
  readonly intent: JsonObject;
  /** One member, named after the type: the outcome. */
  readonly result: JsonObject;
  /** Undecoded: each is judged on its own. */
  readonly appProofs: readonly unknown[];
}

/**
 * Decodes an activity, bare or as `{"activity": …}`, from JSON text, its bytes, or the parsed value. The form in which
 * `result.activity` repeats the fields is read too. Nothing is verified. Throws {@link MalformedError} with every fault.
 */
export function decodeActivity(input: unknown): Activity {
  return requireWhole("activity", readActivity(jsonInput(input)));
}

/** Reads an activity, keeping the fields that are good beside the faults of those that are not. */
export function readActivity(input: unknown): Reading<Activity> {
  const faults = new FaultList();
  const reader = MemberReader.of(unwrap(input, "activity"), "", faults);
  if (reader === undefined) return { value: {}, faults };
  const outcome = outcomeReader(reader);
  if (outcome !== reader) refuseContradiction(reader, outcome);
  const value = {
    id: reader.string("id"),
    organizationId: reader.string("organizationId"),
    status: reader.string("status"),
    type: reader.string("type"),
    intent: outcome.nested("intent")?.object,
    result: outcome.nested("result")?.object,
    appProofs: appProofs(reader, outcome),
  };
  return { value, faults };
}

/** The reader that intent and result are taken from: the activity itself, or the repetition in its `result.activity`. */
function outcomeReader(reader: MemberReader): MemberReader {
  const result = reader.get("result");
  const repeated = isJsonObject(result) ? result["activity"] : undefined;
  return isJsonObject(repeated) ? new MemberReader(repeated, "result.activity", reader.faults) : reader;
}

/**
 * The repetition stands for the whole: what stands in both places has to be the same, and nothing may stand beside it. The
 * reader of one place would otherwise believe what the proofs of the other say.
 */
function refuseContradiction(reader: MemberReader, outcome: MemberReader): void {
  for (const name of ["id", "organizationId", "status", "type", "intent"]) {
    const [stated, repeated] = [reader.get(name), outcome.get(name)];
    if (stated !== undefined && repeated !== undefined && JSON.stringify(stated) !== JSON.stringify(repeated)) {
      outcome.fault(name, `differs from the activity's own ${name}`);
    }
  }
  reader.nested("result")?.refuseUnknown(["activity"]);
}

/** Those of both places, where they stand in two: none may be left unjudged. */
function appProofs(reader: MemberReader, outcome: MemberReader): JsonValue[] | undefined {
  const stated = [...new Set([reader, outcome])].filter((holder) => holder.get("appProofs") !== undefined);
  const holders = stated.length === 0 ? [outcome] : stated;
  const lists = holders.map((holder) => holder.array("appProofs", (value) => value));
  if (!lists.every((list) => list !== undefined)) return undefined;
  const [first, second] = lists.map((list) => JSON.stringify(list));
  const list = first === second ? lists[0]! : lists.flat();
  if (list.length > MAX_APP_PROOFS) return holders[0]!.fault("appProofs", `${list.length} entries, at most ${MAX_APP_PROOFS} wanted`);
  return list.length === 0 ? holders[0]!.fault("appProofs", "empty: nothing of this activity is proven") : list;
}

/** The strings under the given member names, wherever they stand inside a value: single, or in an array. */
export function stringsNamed(value: JsonValue | undefined, names: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => stringsNamed(item, names));
  if (!isJsonObject(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const member = value[name];
    const here = names.includes(name) ? [member].flat().filter((item) => typeof item === "string") : [];
    return [...here, ...stringsNamed(member, names)];
  });
}
