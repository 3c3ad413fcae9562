/** Comparison of two inputs WITHOUT VERIFYING them. */
import { callable, fileBytes, typedOptions } from "../decode/options.js";
import { type MembersOf, optional } from "../decode/shapes.js";
import { type Fault, MalformedError, attemptLater, faultsIn } from "../errors.js";
import { KINDS } from "../inspect/kinds.js";
import { deepFrozen } from "../report/report.js";
import { grouped } from "../report/statements.js";
import { CHANGE_IDS, type ChangeId, type Found, SEVERITIES, type Severity, meaningOf } from "./changes.js";
import { Reporting, compareTrees } from "./compare.js";
import { type ImageDifference, compareImages } from "../image/compare.js";
import { type ImageContents, readImageContents } from "../image/contents.js";
import { isImageStart } from "../image/header.js";
import { onePiece } from "../inspect/image.js";
import { imageChanges } from "./images.js";
import { type ContentObject, memberOf } from "./content.js";
import { type PinsDifference, pinsDifference } from "./pins.js";
import { comparePolicies } from "./policy.js";
import { RULES } from "./rules.js";
import { type DiffInput, type Side, readSide } from "./sides.js";

export type { DiffInput };

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
  /** The pins of a policy, compared with evidence. Null for any other two inputs. */
  readonly pins: PinsDifference | null;
  /** Every section and PCR of two enclave images, those that are the same too. Null for any other two inputs. */
  readonly image: ImageDifference | null;
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
 * Compares two boot proofs, attestation documents, manifests, envelopes, policies, releases, bundles, provenance
 * bundles or enclave images WITHOUT VERIFYING them. A boot proof or an envelope can also be compared with one of its
 * parts, and a policy with a boot proof or a document, which meets its pins (`same`) or differs from them (`pins`).
 * Otherwise `same` ignores white space, member order and hex case in JSON, and base64 or hex around a file. Throws
 * {@link MalformedError} with the faults of both inputs (`a`, `b`) if one is malformed or of a kind that cannot be
 * compared, or if they have no part in common.
 * @example
 * ```ts
 * const { changes } = await diffUnverified(await readFile("before.json"), await readFile("after.json"));
 * ```
 */
export async function diffUnverified(a: Uint8Array | DiffInput, b: Uint8Array | DiffInput): Promise<Difference> {
  const [inputA, inputB] = [copied(a), copied(b)];
  const images = [inputA.file, inputB.file].filter(isImageStart);
  if (images.length === 2) {
    const [before, after] = await Promise.all(images.map((bytes) => readImageContents(onePiece(bytes))));
    return diffImages(before!, after!);
  }
  const faults: Fault[] = [];
  const one = await readWithin("a", inputA, faults);
  const other = await readWithin("b", inputB, faults);
  if (one === undefined || other === undefined) throw new MalformedError("diff", faults);
  return compareSides(one, other);
}

/**
 * Compares two enclave images that `readImageContents` of `bootproof/image` has read, as {@link diffUnverified} does,
 * without holding them in memory. `image` has every section and PCR; the changes are those that differ.
 */
export function diffImages(before: ImageContents, after: ImageContents): Difference {
  const image = compareImages(before, after);
  const about = { kind: "enclave image", compared: null, most: MAX_CHANGES };
  return differenceOf(imageChanges(image), new Reporting(MAX_CHANGES), { ...about, image });
}

/** Copies the caller's bytes before the first await. */
function copied(input: Uint8Array | DiffInput): DiffInput {
  const isBytes = input instanceof Uint8Array || typeof input !== "object" || input === null;
  return typedOptions("diffUnverified", isBytes ? { file: input as Uint8Array } : input, DIFF_INPUT);
}

async function readWithin(name: string, input: DiffInput, faults: Fault[]): Promise<Side | undefined> {
  const { value: side, faults: own } = await attemptLater(() => readSide(input));
  faults.push(...faultsIn(name, own, ": "));
  return side;
}

/** Lists at most `most` changes. Throws {@link MalformedError} if the sides have no part in common. */
export function compareSides(before: Side, after: Side, most = MAX_CHANGES): Difference {
  if (before.kind !== after.kind) return comparePins(before, after) ?? compareKinds(before, after, most);
  const reporting = new Reporting(most);
  const place = before.kind === "policy" ? "" : "policy";
  const changes = [
    ...comparePolicies(before.policy, after.policy, place, reporting),
    ...compareTrees([before.tree, after.tree], { place: "", name: "", reporting }, RULES[before.kind]),
  ];
  return differenceOf(changes, reporting, { kind: before.kind, compared: null, most });
}

/** Compares a policy with evidence, in either order. Returns null for other kinds. */
function comparePins(before: Side, after: Side): Difference | null {
  const [{ kind, policy }, { facts }] = before.kind === "policy" ? [before, after] : [after, before];
  if (kind !== "policy" || facts === undefined) return null;
  const pins = pinsDifference(policy!.policy, facts);
  const about = { kind: `${before.kind} and ${after.kind}`, compared: ["pins"], most: 0 };
  return deepFrozen({ ...differenceOf([], new Reporting(0), about), same: pins.nearest?.holds === true, pins });
}

/** The part that an input is. A boot proof has all of them. */
const PARTS: Readonly<Partial<Record<Side["kind"], string>>> = {
  "attestation document": "attestationDocument",
  manifest: "manifest",
  "manifest envelope": "manifestEnvelope",
};

/** Compares the parts that both sides have. If they share none, the manifest inside an envelope is used. */
function compareKinds(before: Side, after: Side, most: number): Difference {
  const whole = [before, after].map(({ kind, tree }): ContentObject => {
    const part = PARTS[kind];
    if (part !== undefined) return { [part]: tree };
    return kind === "boot proof" ? tree : {};
  });
  const inside = whole.map(({ manifest, manifestEnvelope: envelope }): ContentObject => {
    return { manifest: manifest ?? memberOf(envelope, "manifest") };
  });
  const sharedBy = (sides: readonly ContentObject[]): string[] =>
    Object.values(PARTS).filter((part) => sides.every((side) => side[part] !== undefined));
  const sides = sharedBy(whole).length > 0 ? whole : inside;
  const compared = sharedBy(sides);
  if (compared.length === 0) {
    const message = `${KINDS[before.kind].is} and ${KINDS[after.kind].is} cannot be compared`;
    throw new MalformedError("diff", [{ path: "", message }]);
  }
  const [one, other] = sides.map((side) => Object.fromEntries(compared.map((part) => [part, side[part]])));
  const reporting = new Reporting(most);
  const found = compareTrees([one, other], { place: "", name: "", reporting }, RULES["boot proof"]);
  return differenceOf(found, reporting, { kind: `${before.kind} and ${after.kind}`, compared, most });
}

type About = Pick<Difference, "kind" | "compared"> & Partial<Pick<Difference, "image">> & { readonly most: number };

function differenceOf(
  found: readonly Found[],
  { uncounted }: Reporting,
  { kind, compared, image = null, most }: About,
): Difference {
  const changes = worstFirst(merged(found));
  const counts = Object.fromEntries(
    SEVERITIES.map((severity) => [severity, changes.filter((change) => change.severity === severity).length]),
  ) as Record<Severity, number>;
  counts.minor += uncounted;
  return deepFrozen({
    format: "bootproof-diff/1",
    "NOT VERIFIED": NOT_VERIFIED,
    same: changes.length === 0,
    kind,
    compared,
    pins: null,
    image,
    counts,
    changes: changes.slice(0, most),
    leftOut: uncounted + Math.max(0, changes.length - most),
  });
}

/** Merges changes that are equal except for their places. */
function merged(changes: readonly Found[]): Change[] {
  const byText = grouped(changes, ({ what, turn, entry, before, after }) =>
    JSON.stringify([what, turn, entry, before, after]),
  );
  return [...byText.values()].map((same) => {
    const [first, ...others] = same as [Found, ...Found[]];
    const { what, place, entry, before, after } = first;
    const { severity, means } = meaningOf(first);
    const also = [...new Set(others.map((other) => other.place))];
    return { what, severity, place, also, entry, before, after, means };
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
