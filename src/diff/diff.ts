/** What changed between two inputs, and what it means, WITHOUT VERIFYING anything. */
import type { ParsePolicyOptions } from "../appraise/policy.js";
import { ownOptions } from "../decode/input.js";
import { fromUtf8 } from "../bytes.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "../decode/json.js";
import { type Fault, MalformedError } from "../errors.js";
import { type EvidenceKind, type Recognised, recognise } from "../inspect/kind.js";
import { type DecodedBundle, compareBundles, readBundle } from "./bundle.js";
import { CHANGE_IDS, type ChangeId, type Found, SEVERITIES, type Severity, meaningOf } from "./changes.js";
import { type Content, UnreportedChanges } from "./content.js";
import { readDocument } from "./document.js";
import { type Compared, type EvidenceParts, compareParts, readBootProofParts, comparableParts } from "./evidence.js";
import { encodedEnvelope, encodedManifest } from "./manifest.js";
import { ReportedPlaces } from "./place.js";
import { type PolicyFacts, comparePolicies, readPolicy } from "./policy.js";
import { compareReleases } from "./release.js";

/** The kinds that are compared. */
const COMPARED_KINDS = [
  "boot proof",
  "attestation document",
  "manifest",
  "manifest envelope",
  "policy",
  "release",
  "bundle",
] as const satisfies readonly EvidenceKind[];
type ComparedKind = (typeof COMPARED_KINDS)[number];

/** One of the two inputs, with what its kind may need. */
export interface DiffInput {
  readonly file: Uint8Array;
  /** Reads a policy's trust anchors that are files, as for `parsePolicy`. */
  readonly readFile?: ParsePolicyOptions["readFile"];
  /** Reads the YAML of a release, every scalar as text. */
  readonly readYaml?: (text: string) => Promise<unknown>;
}

const DIFF_INPUT: Readonly<Record<keyof DiffInput, true>> = { file: true, readFile: true, readYaml: true };

/** One thing that changed. */
export interface Change {
  /** Stable, such as `manifest-set.threshold`. */
  readonly what: ChangeId;
  readonly severity: Severity;
  /** Where it stands, such as `manifest.manifestSet.threshold`. */
  readonly place: string;
  /** Where else the very same changed. */
  readonly also: readonly string[];
  /** Which one of several, such as the key of a member; empty where there is one. */
  readonly entry: string;
  /** Null: not there. */
  readonly before: string | null;
  readonly after: string | null;
  /** One sentence. */
  readonly means: string;
}

/** What differs between two inputs. Frozen. */
export interface Difference {
  readonly format: "bootproof-diff/1";
  /** Says so itself, and stands before all changes wherever this is printed. */
  readonly "NOT VERIFIED": string;
  readonly same: boolean;
  /** Of both; or `boot proof and manifest`, where they are of two kinds. */
  readonly kind: string;
  /** Of two kinds the parts that both have: no other was compared. Null: everything was. */
  readonly compared: readonly string[] | null;
  readonly counts: Readonly<Record<Severity, number>>;
  /** Worst first. */
  readonly changes: readonly Change[];
  /** How many more there are: counted, and not listed. */
  readonly leftOut: number;
}

const NOT_VERIFIED =
  "Neither input was checked. Anybody can write evidence that says this; only `bootproof verify` tells whether it is " +
  "true.";
const MAX_CHANGES = 1000;

/**
 * What changed from one input to the other, and what that means, worst first, WITHOUT VERIFYING either of them: two
 * boot proofs, attestation documents, manifests, envelopes, policies, releases or bundles, recognised by their content.
 * A boot proof, or an envelope, is compared with a part of it too. `same` is true where nothing differs but white space
 * and the order of members in JSON, the case of hex, and the base64 or hex around a file. Throws
 * {@link MalformedError} with the faults of both, under `a` and `b`, where one is malformed or not of these kinds, or
 * where they have nothing in common.
 */
export async function diffUnverified(a: Uint8Array | DiffInput, b: Uint8Array | DiffInput): Promise<Difference> {
  const [inputA, inputB] = [taken(a), taken(b)];
  const faults: Fault[] = [];
  const one = await readWithin("a", inputA, faults);
  const other = await readWithin("b", inputB, faults);
  if (one === undefined || other === undefined) throw new MalformedError("diff", faults);
  return compareSides(one, other);
}

/** Before anything is awaited: what becomes of the caller's bytes then changes nothing. */
function taken(input: Uint8Array | DiffInput): DiffInput {
  const isBytes = input instanceof Uint8Array || typeof input !== "object" || input === null;
  const given = ownOptions("diffUnverified", isBytes ? { file: input as Uint8Array } : input, DIFF_INPUT);
  if (!(given.file instanceof Uint8Array)) throw new TypeError("diffUnverified: the bytes of two files wanted");
  return Object.assign(given, { file: new Uint8Array(given.file) });
}

async function readWithin(name: string, input: DiffInput, faults: Fault[]): Promise<Side | undefined> {
  try {
    return await readSide(input);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    for (const { path, message } of error.faults)
      faults.push({ path: path === "" ? name : `${name}: ${path}`, message });
    return undefined;
  }
}

/** An input, read. */
export type Side =
  | {
      readonly kind: "boot proof" | "attestation document" | "manifest" | "manifest envelope";
      readonly parts: EvidenceParts;
    }
  | { readonly kind: "policy"; readonly policy: PolicyFacts }
  | { readonly kind: "release"; readonly release: Content }
  | { readonly kind: "bundle"; readonly bundle: DecodedBundle };

interface Given {
  readonly recognised: Recognised;
  /** JSON with its numbers as they are written: 1 and 1.0 are not the same. */
  readonly literal: () => Content;
  readonly input: DiffInput;
}

/** How each kind is read. */
const READERS: { readonly [K in ComparedKind]: (given: Given) => Promise<Side> } = {
  "boot proof": async ({ literal }) => ({ kind: "boot proof", parts: await readBootProofParts(literal()) }),
  "attestation document": async ({ recognised: { bytes } }) => {
    return { kind: "attestation document", parts: { attestationDocument: await readDocument(bytes, null) } };
  },
  manifest: async ({ recognised: { bytes } }) => ({ kind: "manifest", parts: { manifest: encodedManifest(bytes) } }),
  "manifest envelope": async ({ recognised: { bytes } }) => {
    return { kind: "manifest envelope", parts: { manifestEnvelope: encodedEnvelope(bytes) } };
  },
  policy: async ({ recognised: { bytes }, literal, input: { readFile } }) => {
    return { kind: "policy", policy: await readPolicy(bytes, literal(), readFile === undefined ? {} : { readFile }) };
  },
  release: async ({ recognised: { bytes, json }, literal, input }) => {
    const release = json !== undefined ? literal() : await readYaml(bytes, input);
    if (!isJsonObject(release)) throw new MalformedError("release", [{ path: "", message: "an object wanted" }]);
    return { kind: "release", release: release as Content };
  },
  bundle: async ({ recognised: { bytes }, literal }) => ({
    kind: "bundle",
    bundle: await readBundle(bytes, literal()),
  }),
};

async function readYaml(bytes: Uint8Array, input: DiffInput): Promise<JsonValue> {
  if (input.readYaml === undefined) throw notCompared("a release in YAML, and nothing that reads YAML is given");
  return copyJson(await input.readYaml(fromUtf8(bytes) ?? ""));
}

/** Throws {@link MalformedError} with every fault. */
export async function readSide(input: DiffInput): Promise<Side> {
  const recognised = recognise(input.file);
  if (recognised === null) throw notCompared("not recognised");
  const kind = COMPARED_KINDS.find((known) => known === recognised.kind);
  if (kind === undefined) throw notCompared(`this is ${withArticle(recognised.kind)}`);
  const literal = (): Content => parseJson(recognised.bytes, { numbers: "literal" });
  return READERS[kind]({ recognised, literal, input });
}

function withArticle(kind: EvidenceKind): string {
  if (kind.endsWith("s")) return `a list of ${kind}`;
  return /^[aeiou]/i.test(kind) ? `an ${kind}` : `a ${kind}`;
}

function notCompared(what: string): MalformedError {
  const message = `${what}; what can be compared: ${COMPARED_KINDS.join(", ")}`;
  return new MalformedError("diff", [{ path: "", message }]);
}

/** Throws {@link MalformedError} where the two have nothing in common. */
export function compareSides(before: Side, after: Side): Difference {
  const kind = before.kind === after.kind ? before.kind : `${before.kind} and ${after.kind}`;
  if ("parts" in before && "parts" in after) {
    const [one, other] = comparableParts(before.parts, after.parts);
    const shared = Object.keys(one).filter((name) => Object.hasOwn(other, name));
    if (shared.length === 0) throw incomparable(before, after);
    const isBare = before.kind === after.kind && before.kind !== "boot proof";
    const compared = before.kind === after.kind ? null : shared;
    return differenceOf(compareParts(one, other, "", isBare), kind, compared);
  }
  return differenceOf(compareWhole(before, after), kind, null);
}

function compareWhole(before: Side, after: Side): Compared {
  if (before.kind === "policy" && after.kind === "policy") return comparePolicies(before.policy, after.policy, "");
  if (before.kind === "release" && after.kind === "release") return compareReleases(before.release, after.release);
  if (before.kind === "bundle" && after.kind === "bundle") return compareBundles(before.bundle, after.bundle);
  throw incomparable(before, after);
}

function incomparable(before: Side, after: Side): MalformedError {
  const message = `${withArticle(before.kind)} and ${withArticle(after.kind)} have nothing that could be compared`;
  return new MalformedError("diff", [{ path: "", message }]);
}

const COMMENT_PLACE = /(?:^|\.)(?:comment|\$schema)$/;

function differenceOf(compared: Compared, kind: string, parts: readonly string[] | null): Difference {
  const untold = new UnreportedChanges(
    new ReportedPlaces(compared.found.filter(({ isWhole }) => isWhole).map(({ place }) => place)),
  );
  for (const [place, before, after] of compared.contents) untold.add([before, after], place);
  const rest = kind === "policy" || kind === "bundle" ? untold.found.map(commentNamed) : untold.found;
  const known = [...compared.found, ...rest];
  const changes = worstFirst(merged([...known, ...unexplained(compared.encodings, known)]));
  const uncounted = untold.total - untold.found.length;
  const counts = Object.fromEntries(
    SEVERITIES.map((severity) => [severity, changes.filter((change) => change.severity === severity).length]),
  ) as Record<Severity, number>;
  counts.minor += uncounted;
  return Object.freeze({
    format: "bootproof-diff/1",
    "NOT VERIFIED": NOT_VERIFIED,
    same: changes.length === 0,
    kind,
    compared: parts,
    counts: Object.freeze(counts),
    changes: Object.freeze(changes.slice(0, MAX_CHANGES)),
    leftOut: uncounted + Math.max(0, changes.length - MAX_CHANGES),
  });
}

function commentNamed(change: Found): Found {
  return COMMENT_PLACE.test(change.place) ? { ...change, what: "policy.comment" } : change;
}

/** Other bytes that say the same. */
function unexplained(encodings: readonly Found[], known: readonly Found[]): readonly Found[] {
  const places = new ReportedPlaces(known.map(({ place }) => place));
  return encodings.filter(({ place }) =>
    place === "" ? known.length === 0 : !places.has(place) && !places.hasBelow(place),
  );
}

/** The very same change at several places is one. */
function merged(changes: readonly Found[]): Change[] {
  const byText = new Map<string, Found[]>();
  for (const change of changes) {
    const { what, turn, entry, before, after } = change;
    const key = JSON.stringify([what, turn, entry, before, after]);
    const same = byText.get(key);
    if (same === undefined) byText.set(key, [change]);
    else same.push(change);
  }
  return [...byText.values()].map((same) => {
    const [first, ...others] = same as [Found, ...Found[]];
    const { what, place, entry, before, after } = first;
    const { severity, means } = meaningOf(first);
    const also = Object.freeze([...new Set(others.map((other) => other.place))]);
    return Object.freeze({ what, severity, place, also, entry, before, after, means });
  });
}

function worstFirst(changes: readonly Change[]): Change[] {
  const rank = new Map(CHANGE_IDS.map((id, index) => [id, index]));
  return [...changes].sort(
    (one, other) =>
      SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
      rank.get(one.what)! - rank.get(other.what)!,
  );
}
