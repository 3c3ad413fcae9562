/** Checks of published releases: each release alone, and the history of each application (release/README.md). */
import { plain, typedOptions } from "../decode/options.js";
import { demand, flag, list, nonEmptyText, oneOf, optional } from "../decode/shapes.js";
import { toHex } from "../bytes.js";
import { MalformedError, shownName } from "../errors.js";
import { policyShape } from "../appraise/parsed-policy.js";
import { deepFrozen } from "../report/report.js";
import { grouped } from "../report/statements.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type Demand, type ReleaseDemand, demandOf } from "./demand.js";
import {
  type CheckedHistory,
  type CheckedStatus,
  type Readable,
  type ReleaseHistory,
  checkHistory,
} from "./history.js";
import { type CheckedAlone, checkAlone } from "./one.js";
import { type Release, type ReleaseFault, type ReleaseNote, type ReleaseNoteCode, requireReleases } from "./release.js";

export type CheckReleasesOptions = ReleaseDemand & {
  /** Names of the applications to check. Default: all. */
  readonly applications?: readonly string[];
  /**
   * Namespaces that the releases of these applications must have. Each has its own history. Default: the releases of
   * one application must have the same namespace, whichever it is.
   */
  readonly namespaces?: readonly string[];
  /**
   * Whether to leave out, and count, releases whose only faults are a missing `manifest` or missing approvals. By
   * default they fail.
   */
  readonly skipUnapproved?: boolean;
};

/**
 * `good` means that the release has no fault, and that a demanded set or an earlier good release judged it. `bad` means
 * that it has a fault, or that nothing judged it (`notAnchored`). `older` means that its nonce is below every
 * `minNonce` of the policy, which is not a failure. `not checked` means that `manifest` or all approvals are missing,
 * which is a failure. `skipped` means the same, but the caller chose to leave such releases out.
 */
export type ReleaseStatus = CheckedStatus | "not checked" | "skipped";

interface ReleasePlace {
  readonly history: number;
  readonly index: number;
}

export interface CheckedRelease {
  readonly name: string;
  readonly version: string | null;
  readonly application: string | null;
  readonly status: ReleaseStatus;
  /**
   * The index in `histories`, and that in `releases` of this history. The name is not enough, because several releases
   * can have the same name. Null if the release is in no history.
   */
  readonly place: ReleasePlace | null;
  /** The manifest's hash in hex. Without a manifest, it is null, as are version, namespace and nonce. */
  readonly manifestHash: string | null;
  readonly manifestVersion: string | null;
  readonly namespace: string | null;
  readonly nonce: number | null;
  /** The threshold of the release's own manifest set. `members` is the number of members of this set. */
  readonly threshold: number | null;
  readonly members: number | null;
  /** The members whose approvals are valid. */
  readonly approvedBy: readonly { readonly alias: string; readonly pubKey: string }[];
  readonly faults: readonly ReleaseFault[];
  readonly notes: readonly ReleaseNote[];
}

/** The result of {@link checkReleases}, frozen. */
export interface ReleaseCheck {
  readonly format: "bootproof-release-check/1";
  /** Whether at least one release is good, and none is bad or not checked. */
  readonly good: boolean;
  readonly demand: Demand["kind"];
  readonly counts: Readonly<Record<ReleaseStatus, number>>;
  readonly releases: readonly CheckedRelease[];
  readonly histories: readonly ReleaseHistory[];
  /** Sentences on what no such check can show. */
  readonly unknowable: readonly string[];
}

const OPTIONS = {
  manifestSet: demand(plain),
  policy: demand(policyShape),
  noManifestSet: optional(oneOf(true)),
  applications: demand(list(nonEmptyText)),
  namespaces: demand(list(nonEmptyText)),
  skipUnapproved: optional(flag),
};

/**
 * Checks releases that {@link readRelease} read: the approvals of each over its own manifest, its place, and the
 * history of each application in the order of nonces. The caller must demand a manifest set, the sets of a policy, or
 * explicitly none. Faults are in the result, with the file's name. Throws TypeError unless there is exactly one demand,
 * and {@link MalformedError} for a demand that compares nothing: no release, an application or a namespace that does
 * not exist, a malformed set, or a policy that pins no manifestSet for a namespace.
 *
 * @example
 * const { good, releases } = await checkReleases([release], { policy: parsePolicy(text) });
 * if (!good) for (const { faults } of releases) for (const { file, message } of faults) console.error(file, message);
 */
export async function checkReleases(
  releases: readonly Release[],
  options: CheckReleasesOptions,
): Promise<ReleaseCheck> {
  const own = typedOptions("options", options as object, OPTIONS as never) as CheckReleasesOptions;
  const demand = demandOf(own);
  const chosen = ofApplications(requireReleases(releases), own.applications);
  const found = chosen.map(({ manifest }) => manifest?.namespace.name);
  if (own.namespaces !== undefined) requireFound("namespace", own.namespaces, (name) => found.includes(name));
  return (await checkWhole(chosen, demand, own.skipUnapproved === true, own.namespaces)).check;
}

/** The result, and the releases of all histories, each once. */
interface WholeCheck {
  readonly check: ReleaseCheck;
  readonly ordered: readonly Readable[];
}

export async function checkWhole(
  releases: readonly Release[],
  demand: Demand,
  skipUnapproved: boolean,
  namespaces?: readonly string[],
): Promise<WholeCheck> {
  const cache = new SignatureCache();
  const { once, notes } = withoutRepeated(releases);
  const checked: CheckedAlone[] = [];
  for (const release of once) checked.push(await checkAlone(release, cache, namespaces));
  const approved = checked.filter(isReadable).filter(({ release }) => !isUnapproved(release));
  const histories: CheckedHistory[] = [];
  const standings = new Map<CheckedAlone, Pick<CheckedRelease, "status" | "place">>();
  for (const [name, group] of byApplication(approved, namespaces !== undefined)) {
    const checkedHistory = historyOf(name, group, demand);
    const { ordered, statuses } = checkedHistory;
    const indices = new Map(ordered.map(({ release }, index) => [hashText(release), index]));
    for (const one of group) {
      const index = indices.get(hashText(one.release))!;
      const place = ordered[index] === one ? { history: histories.length, index } : null;
      standings.set(one, { status: one.faults.length > 0 ? "bad" : statuses[index]!, place });
    }
    histories.push(checkedHistory);
  }
  const described = checked.map((one) => {
    const standing = standings.get(one) ?? { status: unjudgedStatus(one, skipUnapproved), place: null };
    return describeRelease(one, standing, notes.get(one.release));
  });
  const counts = { good: 0, bad: 0, "not checked": 0, older: 0, skipped: 0 };
  for (const { status } of described) counts[status]++;
  const check: ReleaseCheck = deepFrozen({
    format: "bootproof-release-check/1",
    good: counts.good > 0 && counts.bad === 0 && counts["not checked"] === 0,
    demand: demand.kind,
    counts,
    releases: described,
    histories: histories.map(({ history }) => history),
    unknowable: unknowable(histories, demand),
  });
  return { check, ordered: histories.flatMap(({ ordered }) => ordered) };
}

/** Returns the releases of these applications. Throws {@link MalformedError} for an application without a release. */
export function ofApplications(
  releases: readonly Release[],
  applications: readonly string[] | undefined,
): readonly Release[] {
  if (applications === undefined) return releases;
  requireFound("application", applications, (name) => releases.some(({ application }) => application === name));
  return releases.filter(({ application }) => applications.some((name) => name === application));
}

function requireFound(what: string, names: readonly string[], isFound: (name: string) => boolean): void {
  if (!Array.isArray(names) || names.length === 0) throw new TypeError(`${what}s: expected names`);
  const missing = names.filter((name) => !isFound(name));
  if (missing.length === 0) return;
  throw new MalformedError(
    "release",
    missing.map((name) => ({ path: shownName(name), message: `no release of this ${what}` })),
  );
}

/** Drops releases that were given twice. A release with the same manifest as another folder is kept, with a note. */
function withoutRepeated(releases: readonly Release[]): {
  readonly once: readonly Release[];
  readonly notes: ReadonlyMap<Release, ReleaseNote>;
} {
  const notes = new Map<Release, ReleaseNote>();
  const note = (one: Release, code: ReleaseNoteCode, message: string): void =>
    void notes.set(one, { code, file: one.name, message });
  const once = firstOfEach(releases, textOf, (first) => note(first, "given-twice", "given twice, counted once"));
  const withManifest = once.filter(({ manifestHash }) => manifestHash !== null);
  firstOfEach(withManifest, hashText, (first, one) => note(one, "same-manifest", `the manifest of ${first.name}`));
  return { once, notes };
}

function firstOfEach(
  releases: readonly Release[],
  keyOf: (one: Release) => string | null,
  onRepeated: (first: Release, repeated: Release) => void,
): readonly Release[] {
  const firsts = new Map<string | null, Release>();
  for (const one of releases) {
    const key = keyOf(one);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, one);
    else onRepeated(first, one);
  }
  return [...firsts.values()];
}

function hashText({ manifestHash }: Pick<Release, "manifestHash">): string | null {
  return manifestHash && toHex(manifestHash);
}

/** Returns everything by which releases are compared, as one text. The hash stands for the manifest. */
function textOf(release: Release): string {
  const own = { ...release, manifest: null };
  return JSON.stringify(own, (_, value: unknown) => (value instanceof Uint8Array ? toHex(value) : value));
}

function isReadable(checked: CheckedAlone): checked is Readable {
  return checked.release.manifest !== null;
}

const UNAPPROVED: readonly string[] = ["manifest-missing", "approvals-missing"];

function isUnapproved({ faults }: Release): boolean {
  return faults.some(({ code }) => UNAPPROVED.includes(code));
}

/** Groups releases by the name of their folder, or by namespace if the folder has no name. */
function byApplication(checked: readonly Readable[], isByNamespace: boolean): [name: string, group: Readable[]][] {
  const nameOf = ({ release: { application, manifest } }: Readable): string => application ?? manifest.namespace.name;
  const groups = grouped(checked, (one) =>
    JSON.stringify([nameOf(one), isByNamespace ? one.release.manifest.namespace.name : null]),
  );
  return [...groups.values()].map((group) => [nameOf(group[0]!), group]);
}

/**
 * Returns the history of a group. If several folders have the same manifest, only one of them is in the history: a good
 * one, if there is one.
 */
function historyOf(name: string, group: readonly Readable[], demand: Demand): CheckedHistory {
  const lastFirst = [...group].sort((one, other) => one.faults.length - other.faults.length).reverse();
  const chosen = new Map(lastFirst.map((one) => [hashText(one.release), one]));
  const once = group.filter((one) => chosen.get(hashText(one.release)) === one);
  // A release in a wrong folder fails, and does not decide the namespace.
  const inPlace = group.find(({ faults }) => !faults.some(({ code }) => code.startsWith("namespace")));
  return checkHistory(name, once, inPlace ? demand.anchorsOf(inPlace.release.manifest.namespace.name) : []);
}

/** Returns the status of a release that is in no history. */
function unjudgedStatus({ release, faults }: CheckedAlone, skipUnapproved: boolean): ReleaseStatus {
  if (!isUnapproved(release)) return "bad";
  return skipUnapproved && faults.every(({ code }) => UNAPPROVED.includes(code)) ? "skipped" : "not checked";
}

function describeRelease(
  { release, faults, approvers }: CheckedAlone,
  standing: Pick<CheckedRelease, "status" | "place">,
  repeated: ReleaseNote | undefined,
): CheckedRelease {
  const { name, version, application, manifest, manifestHash, notes } = release;
  return {
    name,
    version,
    application,
    ...standing,
    manifestHash: manifestHash && toHex(manifestHash),
    manifestVersion: manifest && manifest.version,
    namespace: manifest && manifest.namespace.name,
    nonce: manifest && manifest.namespace.nonce,
    threshold: manifest && manifest.manifestSet.threshold,
    members: manifest && manifest.manifestSet.members.length,
    approvedBy: approvers.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) })),
    faults: [...faults],
    notes: repeated === undefined ? [...notes] : [...notes, repeated],
  };
}

function unknowable(histories: readonly CheckedHistory[], demand: Demand): string[] {
  const newest = histories.map(({ history }) => `${history.application} ${history.newestNonce}`).join(", ");
  return [
    "A release that is missing here, such as one that removed a member of the set, cannot be noticed. " +
      `Newest nonce seen: ${newest === "" ? "none" : newest}.`,
    ...(demand.kind === "none"
      ? ["No manifest set was demanded: only these files say that the first set is the right people."]
      : []),
  ];
}
