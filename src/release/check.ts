/** Checking published releases: each alone, and the history of each application (release/README.md). */
import { toHex } from "../bytes.js";
import { copyPlain, ownOptions } from "../decode/input.js";
import { MalformedError, shownName } from "../errors.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type Demand, type ReleaseDemand, demandOf } from "./demand.js";
import { type CheckedHistory, type HistoryFault, type Readable, type ReleaseStep, checkHistory } from "./history.js";
import { type CheckedAlone, type KnownSets, checkAlone } from "./one.js";
import { type Release, type ReleaseFault, type ReleaseNote, requireReleases } from "./release.js";

export type CheckReleasesOptions = ReleaseDemand & {
  /** The names of the applications that are checked. Default: all. */
  readonly applications?: readonly string[];
  /** Leaves out releases without `manifest` or without approvals, and counts them. Default: they fail. */
  readonly skipUnapproved?: boolean;
};

/**
 * `good`: everything holds. `bad`: something does not. `not checked`: no `manifest` or no approvals, which is a
 * failure, too. `skipped`: the same, and left out because the caller said so.
 */
export type ReleaseStatus = "good" | "bad" | "not checked" | "skipped";

export interface CheckedRelease {
  readonly name: string;
  readonly version: string | null;
  readonly application: string | null;
  readonly status: ReleaseStatus;
  /** In hex, and what the manifest says; null without one. */
  readonly manifestHash: string | null;
  readonly manifestVersion: string | null;
  readonly namespace: string | null;
  readonly nonce: number | null;
  /** The threshold of its own manifest set, and the number of its members. */
  readonly threshold: number | null;
  readonly members: number | null;
  /** Members whose approvals are valid. */
  readonly approvedBy: readonly { readonly alias: string; readonly pubKey: string }[];
  readonly faults: readonly ReleaseFault[];
  readonly notes: readonly ReleaseNote[];
}

export interface ReleaseHistory {
  /** The name of the folders; for folders without a name, the namespace. */
  readonly application: string;
  readonly namespace: string;
  /** The names of its releases, by nonce. A repeated release counts once. */
  readonly releases: readonly string[];
  readonly newestNonce: number;
  /** Releases that no set of the policy applies to, since their nonce is below its `minNonce`. */
  readonly notAnchored: readonly string[];
  readonly steps: readonly ReleaseStep[];
  readonly faults: readonly HistoryFault[];
}

/** The result of {@link checkReleases}, frozen. */
export interface ReleaseCheck {
  readonly format: "bootproof-release-check/1";
  /** At least one release was checked, and every check passed. */
  readonly good: boolean;
  readonly demand: Demand["kind"];
  readonly counts: Readonly<Record<ReleaseStatus, number>>;
  readonly releases: readonly CheckedRelease[];
  readonly histories: readonly ReleaseHistory[];
  /** Sentences on the limits of every such check. */
  readonly unknowable: readonly string[];
}

const OPTIONS = { manifestSet: true, policy: true, noManifestSet: true, applications: true, skipUnapproved: true };

/**
 * Checks releases that {@link readRelease} read: the approvals of each over its own manifest, its place, and the
 * history of each application in the order of nonces. The caller demands a manifest set, the sets of a policy, or none
 * in so many words. What is wrong is in the result, with the file's name. Throws TypeError for no demand or two, and
 * {@link MalformedError} for a demand that compares nothing: no release, an application that is not there, a set that
 * is none, a policy that pins no manifestSet for a namespace.
 *
 * @example
 * const { good, releases } = await checkReleases([release], { policy: parsePolicy(text) });
 * if (!good) for (const { faults } of releases) for (const { file, message } of faults) console.error(file, message);
 */
export async function checkReleases(
  releases: readonly Release[],
  options: CheckReleasesOptions,
): Promise<ReleaseCheck> {
  const own = ownOptions("options", options as object, OPTIONS as never) as CheckReleasesOptions;
  if (own.skipUnapproved !== undefined && typeof own.skipUnapproved !== "boolean")
    throw new TypeError("options.skipUnapproved: true or false wanted");
  const demand = demandOf(own);
  const chosen = ofApplications(requireReleases(releases), copyPlain(own.applications));
  return (await checkWhole(chosen, demand, own.skipUnapproved === true)).check;
}

/** The result, and the releases that it is about. */
interface WholeCheck {
  readonly check: ReleaseCheck;
  /** The releases of all histories, each once. */
  readonly ordered: readonly Readable[];
}

export async function checkWhole(
  releases: readonly Release[],
  demand: Demand,
  skipUnapproved: boolean,
): Promise<WholeCheck> {
  const [cache, sets]: [SignatureCache, KnownSets] = [new SignatureCache(), new Map()];
  const { once, notes } = withoutRepeated(releases);
  const checked: CheckedAlone[] = [];
  for (const release of once) checked.push(await checkAlone(release, cache, sets));
  const approved = checked.filter(isReadable).filter(({ release }) => !isUnapproved(release));
  const results = byApplication(approved).map(([name, group]) => [name, historyOf(group, demand)] as const);
  const described = checked.map((one) => describeRelease(one, skipUnapproved, notes));
  const histories = results.map(([name, history]) => describeHistory(name, history));
  const counts = countsOf(described);
  const isEach = counts.good > 0 && counts.bad === 0 && counts["not checked"] === 0;
  const check: ReleaseCheck = Object.freeze({
    format: "bootproof-release-check/1",
    good: isEach && histories.every(({ faults }) => faults.length === 0),
    demand: demand.kind,
    counts,
    releases: Object.freeze(described),
    histories: Object.freeze(histories),
    unknowable: Object.freeze(unknowable(histories, demand)),
  });
  return { check, ordered: results.flatMap(([, { ordered }]) => ordered) };
}

/** The releases of these applications. Throws {@link MalformedError} for an application without a release. */
export function ofApplications(
  releases: readonly Release[],
  applications: readonly string[] | undefined,
): readonly Release[] {
  if (applications === undefined) return releases;
  if (!Array.isArray(applications) || applications.length === 0) throw new TypeError("applications: names wanted");
  const missing = applications.filter((name) => !releases.some(({ application }) => application === name));
  if (missing.length > 0)
    throw new MalformedError(
      "release",
      missing.map((name) => ({ path: shownName(name), message: "no release of this application" })),
    );
  return releases.filter(({ application }) => application !== null && applications.includes(application));
}

/** Drops repeated releases. The same manifest in another folder is checked, too, and has a note. */
function withoutRepeated(releases: readonly Release[]): {
  readonly once: readonly Release[];
  readonly notes: ReadonlyMap<Release, ReleaseNote>;
} {
  const seen = new Map<string, Release>();
  const manifests = new Map<string, Release>();
  const notes = new Map<Release, ReleaseNote>();
  const once = releases.filter((release) => {
    const key = JSON.stringify([release.name, textOf(release)]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, release);
    else notes.set(first, { code: "given-twice", file: release.name, message: "given twice, counted once" });
    return first === undefined;
  });
  for (const release of once.filter(({ manifestHash }) => manifestHash !== null)) {
    const hash = toHex(release.manifestHash!);
    const first = manifests.get(hash);
    if (first === undefined) manifests.set(hash, release);
    else notes.set(release, { code: "same-manifest", file: release.name, message: `the manifest of ${first.name}` });
  }
  return { once, notes };
}

function textOf({ manifestHash, approvals, faults, notes }: Release): unknown {
  const signatures = approvals.map(({ file, signature, member }) => [file, toHex(signature), toHex(member.pubKey)]);
  return [manifestHash && toHex(manifestHash), signatures, faults, notes];
}

function isReadable(checked: CheckedAlone): checked is Readable {
  return checked.release.manifest !== null;
}

const UNAPPROVED: readonly string[] = ["manifest-missing", "approvals-missing"];

function isUnapproved({ faults }: Release): boolean {
  return faults.some(({ code }) => UNAPPROVED.includes(code));
}

/** Groups releases by the name of their folder, or by namespace if the folder has no name. */
function byApplication(checked: readonly Readable[]): [name: string, group: Readable[]][] {
  const groups = new Map<string, Readable[]>();
  for (const one of checked) {
    const { application, manifest } = one.release;
    const name = application ?? manifest.namespace.name;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups];
}

/** Of two folders with the same manifest, only the first is part of the history. */
function historyOf(group: readonly Readable[], demand: Demand): CheckedHistory {
  const hashes = new Map(group.toReversed().map((one) => [toHex(one.release.manifestHash), one]));
  return checkHistory([...hashes.values()], anchorsOf(group, demand));
}

/** A release in a wrong folder fails, and does not decide the namespace of its history. */
function anchorsOf(group: readonly Readable[], demand: Demand): ReturnType<Demand["anchorsOf"]> {
  const inPlace = group.find(({ faults }) => !faults.some(({ code }) => code === "namespace"));
  return inPlace === undefined ? [] : demand.anchorsOf(inPlace.release.manifest.namespace.name);
}

function describeRelease(
  { release, faults, approvers }: CheckedAlone,
  skipUnapproved: boolean,
  repeated: ReadonlyMap<Release, ReleaseNote>,
): CheckedRelease {
  const { name, version, application, manifest, manifestHash, notes } = release;
  const also = repeated.get(release);
  return Object.freeze({
    name,
    version,
    application,
    status: statusOf(release, faults, skipUnapproved),
    manifestHash: manifestHash && toHex(manifestHash),
    manifestVersion: manifest && manifest.version,
    namespace: manifest && manifest.namespace.name,
    nonce: manifest && manifest.namespace.nonce,
    threshold: manifest && manifest.manifestSet.threshold,
    members: manifest && manifest.manifestSet.members.length,
    approvedBy: Object.freeze(approvers.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) }))),
    faults: Object.freeze([...faults]),
    notes: Object.freeze([...notes, ...(also === undefined ? [] : [also])]),
  });
}

function statusOf(release: Release, faults: readonly ReleaseFault[], skipUnapproved: boolean): ReleaseStatus {
  if (isUnapproved(release)) return skipUnapproved ? "skipped" : "not checked";
  return faults.length === 0 ? "good" : "bad";
}

function countsOf(releases: readonly CheckedRelease[]): Record<ReleaseStatus, number> {
  const count = (status: ReleaseStatus): number => releases.filter((one) => one.status === status).length;
  return { good: count("good"), bad: count("bad"), "not checked": count("not checked"), skipped: count("skipped") };
}

function describeHistory(application: string, history: CheckedHistory): ReleaseHistory {
  const newest = history.ordered.at(-1)!.release.manifest.namespace;
  return Object.freeze({
    application,
    namespace: newest.name,
    releases: Object.freeze(history.ordered.map(({ release }) => release.name)),
    newestNonce: newest.nonce,
    notAnchored: Object.freeze(history.notAnchored),
    steps: Object.freeze(history.steps),
    faults: Object.freeze(history.faults),
  });
}

function unknowable(histories: readonly ReleaseHistory[], demand: Demand): string[] {
  const newest = histories.map(({ application, newestNonce }) => `${application} ${newestNonce}`).join(", ");
  return [
    "A release that is missing here, such as one that removed a member of the set, cannot be noticed. " +
      `Newest nonce seen: ${newest === "" ? "none" : newest}.`,
    ...(demand.kind === "none"
      ? ["No manifest set was demanded: that the first set is the right people is the word of these files."]
      : []),
  ];
}
