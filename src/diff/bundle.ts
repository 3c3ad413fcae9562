/** Compares bundles: boot proofs in pairs, policy, activity, app proofs, packed report. */
import { decodeBundle, isSignedEnvelope, payloadIn } from "../bundle/file.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { type Fault, MalformedError, attempt, attemptLater, faultsIn } from "../errors.js";
import { type ChangeId, type Found, found } from "./changes.js";
import { type Comparer, value } from "./comparers.js";
import {
  type Content,
  type ContentObject,
  type Rules,
  UnreportedChanges,
  anyCase,
  contentText,
  rewritten,
} from "./content.js";
import {
  type Compared,
  type EvidenceParts,
  compareParts,
  matchingKey,
  readBootProofParts,
  together,
} from "./evidence.js";
import { ReportedPlaces, placeIn } from "./place.js";
import { type PolicyFacts, comparePolicies, readPolicy } from "./policy.js";

export interface DecodedBundle {
  readonly json: ContentObject;
  readonly bootProofs: readonly EvidenceParts[];
  /** Null means that no policy is packed, or that the report was made without one. */
  readonly policy: PolicyFacts | null;
}

/** Reads a bundle. `json` has its numbers as written. Throws `MalformedError` with the faults of all parts. */
export async function readBundle(file: Uint8Array, json: Content): Promise<DecodedBundle> {
  decodeBundle(file);
  const members = json as ContentObject;
  const faults: Fault[] = [];
  const bootProofs: EvidenceParts[] = [];
  for (const [index, piece] of (members["bootProofs"] as Content[]).entries()) {
    const { value: read, faults: own } = await attemptLater(() => readBootProofParts(piece));
    faults.push(...faultsIn(`bootProofs[${index}]`, own));
    if (read !== undefined) bootProofs.push(read);
  }
  if (faults.length > 0) throw new MalformedError("bundle", faults);
  const packed = members["policy"] ?? null;
  // Of a signed policy its content is compared.
  const signed = isSignedEnvelope(packed) ? payloadIn(packed) : null;
  const policy = signed === null ? packed : (parseJson(signed, { numbers: "literal" }) as ContentObject)["policy"]!;
  // The policy is read from JSON with ordinary numbers, so the file is parsed again.
  const whole = parseJson(signed ?? file) as { readonly policy?: object };
  return { json: members, bootProofs, policy: policy === null ? null : await readPolicy(whole.policy!, policy, {}) };
}

/** The indices of two matching entries, or null for an entry without a counterpart. */
type Pair = readonly [before: number | null, after: number | null];

/** Pairs entries with equal keys first, and the remaining entries in order. */
function pairs(before: readonly string[], after: readonly string[]): readonly Pair[] {
  const places = new Map<string, number[]>();
  // The lists are filled from the end, so that `pop` returns the first index.
  for (let index = after.length - 1; index >= 0; index--) {
    const same = places.get(after[index]!);
    if (same === undefined) places.set(after[index]!, [index]);
    else same.push(index);
  }
  const matched = before.map((key) => places.get(key)?.pop() ?? null);
  const taken = new Set(matched);
  const rest = after.map((_, index) => index).filter((index) => !taken.has(index));
  const all = matched.map((other, index): Pair => [index, other ?? rest.shift() ?? null]);
  return [...all, ...rest.map((index): Pair => [null, index])];
}

/** Returns the place of a pair: the index in the first list or, for a new entry, that in the second with `(new)`. */
function placeOf([before, after]: Pair, list: string): string {
  return before === null ? `${placeIn(list, after!)} (new)` : placeIn(list, before);
}

export function compareBundles(before: DecodedBundle, after: DecodedBundle): Compared {
  const [one, other] = [before.json, after.json];
  return together([
    compareBootProofs(before.bootProofs, after.bootProofs),
    comparePackedPolicies(before.policy, after.policy),
    compareActivities(one, other),
    compareAppProofs(listIn(one["appProofs"]), listIn(other["appProofs"]), "appProofs"),
    { found: compareReports(one["report"], other["report"]) },
    { found: compareTimes(one["now"], other["now"], "now") },
    { contents: [["", restOf(one), restOf(other)]] },
  ]);
}

const COMPARED_ALONE = ["bootProofs", "appProofs", "activity", "policy", "report"];

function restOf(json: ContentObject): Content {
  return Object.fromEntries(Object.entries(json).filter(([name]) => !COMPARED_ALONE.includes(name)));
}

function compareBootProofs(before: readonly EvidenceParts[], after: readonly EvidenceParts[]): Compared {
  const all = pairs(before.map(matchingKey), after.map(matchingKey)).map((pair) => {
    const place = placeOf(pair, "bootProofs");
    const [one, other] = [before[pair[0] ?? -1], after[pair[1] ?? -1]];
    if (one !== undefined && other !== undefined) return compareParts(one, other, place, false);
    return { found: value("bundle.boot-proof", matchingKey)(one, other, place) };
  });
  return together(all);
}

function comparePackedPolicies(before: PolicyFacts | null, after: PolicyFacts | null): Compared {
  if (before !== null && after !== null) return comparePolicies(before, after, "policy");
  const name = ({ policy }: PolicyFacts): string => policy.name ?? "a policy without a name";
  return { found: value("bundle.policy", name)(before ?? undefined, after ?? undefined, "policy") };
}

/** Returns the activity and, for `{"activity": …}`, the other members of that wrapper. */
function unwrapped(json: ContentObject): readonly [activity: Content | undefined, wrapper: Content | undefined] {
  const activity = json["activity"];
  if (!isJsonObject(activity) || !Object.hasOwn(activity, "activity")) return [activity, undefined];
  const { activity: inside, ...wrapper } = activity as ContentObject;
  return [inside, wrapper];
}

const ACTIVITY_MEMBERS: Readonly<Record<string, ChangeId>> = {
  organizationId: "activity.organization",
  result: "activity.result",
  intent: "activity.intent",
  status: "activity.status",
  type: "activity",
  id: "activity.id",
};

function compareActivities(before: ContentObject, after: ContentObject): Compared {
  const [[one, wrapperBefore], [other, wrapperAfter]] = [unwrapped(before), unwrapped(after)];
  const wrappers: Compared = { contents: [["activity(wrapper)", wrapperBefore, wrapperAfter]] };
  if (!isJsonObject(one) || !isJsonObject(other))
    return { ...wrappers, found: value<Content>("activity", contentText)(one, other, "activity") };
  return together([wrappers, compareActivity(one as ContentObject, other as ContentObject)]);
}

function compareActivity(before: ContentObject, after: ContentObject): Compared {
  const changes = Object.entries(ACTIVITY_MEMBERS).flatMap(([name, what]) =>
    value<Content>(what, contentText)(before[name], after[name], placeIn("activity", name)),
  );
  return together([
    { found: changes, contents: [["activity", withoutList(before), withoutList(after)]] },
    compareAppProofs(listIn(before["appProofs"]), listIn(after["appProofs"]), "activity.appProofs"),
  ]);
}

/** Replaces the list of app proofs by a constant, because its entries are compared separately. */
function withoutList(activity: ContentObject): Content {
  return Array.isArray(activity["appProofs"]) ? { ...activity, appProofs: "a list" } : activity;
}

function listIn(content: Content | undefined): readonly Content[] {
  return Array.isArray(content) ? content : [];
}

const APP_PROOF_RULES: Rules = { publicKey: anyCase, signature: anyCase };

/** Compares app proofs. Equal app proofs are paired first, and the remaining ones in order. */
function compareAppProofs(before: readonly Content[], after: readonly Content[], list: string): Compared {
  const [one, other] = [before, after].map((proofs) => proofs.map((proof) => rewritten(proof, APP_PROOF_RULES)));
  const matched = pairs(one!.map(contentText), other!.map(contentText));
  return {
    found: matched.flatMap((pair) => compareAppProof(one![pair[0] ?? -1], other![pair[1] ?? -1], placeOf(pair, list))),
  };
}

const compareAppProof: Comparer<Content> = (before, after, place) => {
  if (before === undefined || after === undefined) return value("app-proof", contentText)(before, after, place);
  return leaves(withPayload(before), withPayload(after), place).map((change) => ({ ...change, what: "app-proof" }));
};

/** Replaces the payload of an app proof by its parsed JSON. */
function withPayload(proof: Content): Content {
  if (!isJsonObject(proof) || typeof proof["proofPayload"] !== "string") return proof;
  const json = attempt(() => parseJson(proof["proofPayload"] as string, { numbers: "literal" })).value;
  return json === undefined ? proof : { ...(proof as ContentObject), proofPayload: json };
}

function leaves(before: Content, after: Content, place: string): readonly Found[] {
  const unreported = new UnreportedChanges(new ReportedPlaces([]));
  unreported.add([before, after], place);
  return unreported.found;
}

function compareTimes(before: Content | undefined, after: Content | undefined, place: string): readonly Found[] {
  const compare = value<Content>("bundle.now", contentText, (one, other) =>
    contentText(other ?? "") < contentText(one ?? "") ? "lower" : "changed",
  );
  return compare(before, after, place);
}

/** Compares packed reports. They are unverified, so only the verdict and the first other difference are reported. */
function compareReports(before: Content | undefined, after: Content | undefined): readonly Found[] {
  const [one, other] = [before, after].map((report) => (isJsonObject(report) ? (report as ContentObject) : {}));
  const verdicts = value<Content>("bundle.verdict", contentText)(one!["verdict"], other!["verdict"], "report.verdict");
  const [first] = leaves({ ...one, verdict: null }, { ...other, verdict: null }, "report");
  return [...verdicts, ...(first === undefined ? [] : [found("bundle.report", { ...first, what: "bundle.report" })])];
}
