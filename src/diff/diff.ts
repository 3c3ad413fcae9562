/** Comparison of two inputs WITHOUT VERIFYING them. */
import { callable, fileBytes, typedOptions } from "../decode/options.js";
import { type MembersOf, optional } from "../decode/shapes.js";
import type { ParsePolicyOptions } from "../appraise/policy.js";
import { fromUtf8 } from "../bytes.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "../decode/json.js";
import { type Fault, MalformedError, attemptLater, faultsIn } from "../errors.js";
import { type EvidenceKind, KINDS, type Recognised, kindSentence, recognise } from "../inspect/kinds.js";
import { type DecodedBundle, compareBundles, readBundle } from "./bundle.js";
import { CHANGE_IDS, type ChangeId, type Found, SEVERITIES, type Severity, meaningOf } from "./changes.js";
import { type Content, UnreportedChanges } from "./content.js";
import { readDocument } from "./document.js";
import { type Compared, type EvidenceParts, compareParts, readBootProofParts, comparableParts } from "./evidence.js";
import { encodedEnvelope, encodedManifest } from "./manifest.js";
import { ReportedPlaces } from "./place.js";
import { type PolicyFacts, comparePolicies, readPolicy } from "./policy.js";
import { type DecodedProvenance, compareProvenance, decodedProvenance } from "./provenance.js";
import { compareReleases } from "./release.js";

export interface DiffInput {
  readonly file: Uint8Array;
  /** Reads the policy's trust anchor files, as in `parsePolicy`. */
  readonly readFile?: ParsePolicyOptions["readFile"];
  /** Parses the YAML of a release, with every scalar as text. */
  readonly readYaml?: (text: string) => Promise<unknown>;
}

const DIFF_INPUT: MembersOf<DiffInput> = {
  file: fileBytes,
  readFile: optional(callable),
  readYaml: optional(callable),
};

export interface Change {
  /** A stable id, such as `manifest-set.threshold`. */
  readonly what: ChangeId;
  readonly severity: Severity;
  /** The place of the change, such as `manifest.manifestSet.threshold`. */
  readonly place: string;
  /** Other places of the same change. */
  readonly also: readonly string[];
  /** The key of one of several entries, such as a set member, or an empty text. */
  readonly entry: string;
  /** Null means absent. */
  readonly before: string | null;
  readonly after: string | null;
  /** The meaning, in one sentence. */
  readonly means: string;
}

/** A comparison of two inputs. It is frozen. */
export interface Difference {
  readonly format: "bootproof-diff/1";
  /** The warning. Every output shows it before the changes. */
  readonly "NOT VERIFIED": string;
  readonly same: boolean;
  /** The kind of both inputs, or two kinds, such as `boot proof and manifest`. */
  readonly kind: string;
  /**
   * The compared parts, if the inputs are of different kinds: the parts that both have. Null means that everything was
   * compared.
   */
  readonly compared: readonly string[] | null;
  readonly counts: Readonly<Record<Severity, number>>;
  /** The changes, worst first. */
  readonly changes: readonly Change[];
  /** The number of changes that are not listed. */
  readonly leftOut: number;
}

const NOT_VERIFIED =
  "Neither input was checked. Anybody can write evidence that says this; only `bootproof verify` checks whether it " +
  "is true.";
const MAX_CHANGES = 1000;

/**
 * Compares two boot proofs, attestation documents, manifests, envelopes, policies, releases, bundles or provenance
 * bundles WITHOUT VERIFYING them. A boot proof or an envelope can also be compared with one of its parts. `same`
 * ignores white space, member order and hex case in JSON, and base64 or hex around a file. Throws {@link
 * MalformedError} with the faults of both inputs (`a`, `b`) if one is malformed or of a kind that cannot be compared,
 * or if they have no part in common.
 * @example
 * ```ts
 * const { changes } = await diffUnverified(await readFile("before.json"), await readFile("after.json"));
 * ```
 */
export async function diffUnverified(a: Uint8Array | DiffInput, b: Uint8Array | DiffInput): Promise<Difference> {
  const [inputA, inputB] = [copied(a), copied(b)];
  const faults: Fault[] = [];
  const one = await readWithin("a", inputA, faults);
  const other = await readWithin("b", inputB, faults);
  if (one === undefined || other === undefined) throw new MalformedError("diff", faults);
  return compareSides(one, other);
}

/** Copies the caller's bytes before the first await. */
function copied(input: Uint8Array | DiffInput): DiffInput {
  const isBytes = input instanceof Uint8Array || typeof input !== "object" || input === null;
  return typedOptions("diffUnverified", isBytes ? { file: input as Uint8Array } : input, DIFF_INPUT);
}

async function readWithin(name: string, input: DiffInput, faults: Fault[]): Promise<Side | undefined> {
  const { value, faults: own } = await attemptLater(() => readSide(input));
  faults.push(...faultsIn(name, own, ": "));
  return value;
}

/** An input after decoding. */
export type Side =
  | {
      readonly kind: "boot proof" | "attestation document" | "manifest" | "manifest envelope";
      readonly parts: EvidenceParts;
    }
  | { readonly kind: "policy"; readonly policy: PolicyFacts }
  | { readonly kind: "release"; readonly release: Content }
  | { readonly kind: "bundle"; readonly bundle: DecodedBundle }
  | { readonly kind: "provenance bundle"; readonly provenance: DecodedProvenance };

interface Given {
  readonly recognised: Recognised;
  /** Returns the JSON with numbers as written, so that 1 differs from 1.0. */
  readonly literal: () => Content;
  readonly input: DiffInput;
}

type Reader = (given: Given) => Promise<Side>;

/** Readers by kind. Only these kinds can be compared. */
const READERS: Readonly<Record<Side["kind"], Reader>> = {
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
    if (!isJsonObject(release)) throw new MalformedError("release", [{ path: "", message: "expected an object" }]);
    return { kind: "release", release: release as Content };
  },
  bundle: async ({ recognised: { bytes }, literal }) => ({
    kind: "bundle",
    bundle: await readBundle(bytes, literal()),
  }),
  "provenance bundle": async ({ recognised: { bytes, json }, literal }) => {
    if (json === undefined) throw notCompared("several provenance bundles, one on each line: give only one");
    return { kind: "provenance bundle", provenance: decodedProvenance(bytes, literal()) };
  },
};

async function readYaml(bytes: Uint8Array, input: DiffInput): Promise<JsonValue> {
  if (input.readYaml === undefined) throw notCompared("a release in YAML, which needs the option readYaml");
  return copyJson(await input.readYaml(fromUtf8(bytes) ?? ""));
}

/** Decodes an input. Throws {@link MalformedError} with every fault. */
export async function readSide(input: DiffInput): Promise<Side> {
  const recognised = recognise(input.file);
  if (recognised === null) throw notCompared("not recognised");
  const read = (READERS as Readonly<Partial<Record<EvidenceKind, Reader>>>)[recognised.kind];
  if (read === undefined) throw notCompared(kindSentence(recognised.kind));
  const literal = (): Content => parseJson(recognised.bytes, { numbers: "literal" });
  return read({ recognised, literal, input });
}

function notCompared(what: string): MalformedError {
  const message = `${what}; what can be compared: ${Object.keys(READERS).join(", ")}`;
  return new MalformedError("diff", [{ path: "", message }]);
}

/** Lists at most `most` changes. Throws {@link MalformedError} if the sides have no part in common. */
export function compareSides(before: Side, after: Side, most = MAX_CHANGES): Difference {
  const kind = before.kind === after.kind ? before.kind : `${before.kind} and ${after.kind}`;
  if ("parts" in before && "parts" in after) {
    const [one, other] = comparableParts(before.parts, after.parts);
    const shared = Object.keys(one).filter((name) => Object.hasOwn(other, name));
    if (shared.length === 0) throw incomparable(before, after);
    const isBare = before.kind === after.kind && before.kind !== "boot proof";
    const compared = before.kind === after.kind ? null : shared;
    return differenceOf(compareParts(one, other, "", isBare), { kind, compared, most });
  }
  return differenceOf(compareWhole(before, after), { kind, compared: null, most });
}

function compareWhole(before: Side, after: Side): Compared {
  if (before.kind === "policy" && after.kind === "policy") return comparePolicies(before.policy, after.policy, "");
  if (before.kind === "release" && after.kind === "release") return compareReleases(before.release, after.release);
  if (before.kind === "bundle" && after.kind === "bundle") return compareBundles(before.bundle, after.bundle);
  if (before.kind === "provenance bundle" && after.kind === "provenance bundle")
    return compareProvenance(before.provenance, after.provenance);
  throw incomparable(before, after);
}

function incomparable(before: Side, after: Side): MalformedError {
  const message = `${KINDS[before.kind].is} and ${KINDS[after.kind].is} cannot be compared`;
  return new MalformedError("diff", [{ path: "", message }]);
}

const COMMENT_PLACE = /(?:^|\.)(?:comment|\$schema)$/;

type About = Pick<Difference, "kind" | "compared"> & { readonly most: number };

function differenceOf(
  { found = [], contents = [], encodings = [] }: Compared,
  { kind, compared, most }: About,
): Difference {
  const unreported = new UnreportedChanges(
    new ReportedPlaces(found.filter(({ isWhole }) => isWhole).map(({ place }) => place)),
    most,
  );
  for (const [place, before, after] of contents) unreported.add([before, after], place);
  const rest = kind === "policy" || kind === "bundle" ? unreported.found.map(commentNamed) : unreported.found;
  const known = [...found, ...rest];
  const changes = worstFirst(merged([...known, ...unexplained(encodings, known)]));
  const uncounted = unreported.total - unreported.found.length;
  const counts = Object.fromEntries(
    SEVERITIES.map((severity) => [severity, changes.filter((change) => change.severity === severity).length]),
  ) as Record<Severity, number>;
  counts.minor += uncounted;
  return Object.freeze({
    format: "bootproof-diff/1",
    "NOT VERIFIED": NOT_VERIFIED,
    same: changes.length === 0,
    kind,
    compared,
    counts: Object.freeze(counts),
    changes: Object.freeze(changes.slice(0, most)),
    leftOut: uncounted + Math.max(0, changes.length - most),
  });
}

function commentNamed(change: Found): Found {
  return COMMENT_PLACE.test(change.place) ? { ...change, what: "policy.comment" } : change;
}

/** Returns the differences of encoding at places where no other change is reported. */
function unexplained(encodings: readonly Found[], known: readonly Found[]): readonly Found[] {
  const places = new ReportedPlaces(known.map(({ place }) => place));
  return encodings.filter(({ place }) =>
    place === "" ? known.length === 0 : !places.has(place) && !places.hasBelow(place),
  );
}

/** Merges changes that are equal except for their places. */
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
