/** Releases of one application in the order of their nonces (release/README.md, "What is checked", 4 and 5). */
import { lastOf, toHex } from "../bytes.js";
import type { SetPin } from "../appraise/facts.js";
import type { Change } from "../diff/diff.js";
import { compareSides } from "../diff/diff.js";
import { manifestSide } from "../diff/sides.js";
import type { Anchor } from "./demand.js";
import type { CheckedAlone } from "./one.js";
import type { Release } from "./release.js";

/** Stable codes of the faults of a history. */
type HistoryFaultCode = "nonce-twice" | "other-namespace" | "approvers" | "manifest-set-demanded";

interface HistoryFault {
  readonly code: HistoryFaultCode;
  /** The name of the release. */
  readonly release: string;
  /** Index of the release in `releases` of the history. */
  readonly index: number;
  readonly message: string;
}

export interface ReleaseHistory {
  /** Name of the application's folders or, for folders without a name, the namespace. */
  readonly application: string;
  readonly namespace: string;
  /** Names of the application's releases, ordered by nonce. A repeated release is listed once. */
  readonly releases: readonly string[];
  readonly newestNonce: number;
  /** Releases that neither a demanded set nor an earlier good release judged: older ones, and those after a gap. */
  readonly notAnchored: readonly string[];
  /** The steps from each release to the next. */
  readonly steps: readonly ReleaseStep[];
  readonly faults: readonly HistoryFault[];
}

/** The changes from one release to the next. */
interface ReleaseStep {
  readonly from: string;
  readonly to: string;
  /** The changes as `diffUnverified` describes them, worst first. */
  readonly changes: readonly Change[];
}

/** A release whose manifest could be read. */
export type Readable = CheckedAlone & {
  readonly release: Release & {
    readonly manifest: NonNullable<Release["manifest"]>;
    readonly manifestHash: Uint8Array;
  };
};

/**
 * `older` means that the nonce is below every `minNonce` of the demand. `good` means that a demanded set or an earlier
 * release judged the release, and that it has no fault.
 */
export type CheckedStatus = "good" | "bad" | "older";

export interface CheckedHistory {
  readonly history: ReleaseHistory;
  /** The releases ordered by nonce, each manifest hash once. */
  readonly ordered: readonly Readable[];
  /** The status of each release of `ordered`. */
  readonly statuses: readonly CheckedStatus[];
}

/** Checks a history of at least one release. `anchors` is empty if the caller demands no set. */
export function checkHistory(
  application: string,
  releases: readonly Readable[],
  anchors: readonly Anchor[],
): CheckedHistory {
  const ordered = [...releases].sort((one, other) => releaseNonce(one) - releaseNonce(other));
  const pairs = ordered.slice(1).map((after, index) => [ordered[index]!, after] as const);
  const isOlder = (one: Readable): boolean => anchors.length > 0 && !anchors.some((anchor) => appliesTo(anchor, one));
  const found = [
    // If a release has a fault of its own, the next release may differ from it without a fault.
    ...pairs.flatMap(([before, after]) => (before.faults.length > 0 ? [] : pairFaults(before, after, isOlder(before)))),
    ...anchors.flatMap((anchor) => anchorFaults(ordered, anchor)),
  ];
  const isFaulty = (one: Readable): boolean => one.faults.length > 0 || found.some(([about]) => about === one);
  const judged = judgedOf(ordered, anchors, { isFaulty, isOlder });
  const statusOf = (one: Readable): CheckedStatus => {
    if (isFaulty(one)) return "bad";
    if (isOlder(one)) return "older";
    return judged.has(one) ? "good" : "bad";
  };
  const newest = lastOf(ordered)!.release.manifest.namespace;
  const history: ReleaseHistory = {
    application,
    namespace: newest.name,
    releases: ordered.map(nameOf),
    newestNonce: newest.nonce,
    notAnchored: ordered.filter((one) => !judged.has(one)).map(nameOf),
    steps: pairs.map(([before, after]) => stepBetween(before, after)),
    faults: found.map(([about, code, message]) => ({
      code,
      release: nameOf(about),
      index: ordered.indexOf(about),
      message,
    })),
  };
  return { history, ordered, statuses: ordered.map(statusOf) };
}

/**
 * Returns the judged releases. The approvals of a judged release reach the threshold of the set of the last good
 * release before it, and of each demanded set that applies and that no earlier good release has reached. A bad release
 * does not judge later ones.
 */
function judgedOf(
  ordered: readonly Readable[],
  anchors: readonly Anchor[],
  { isFaulty, isOlder }: Readonly<Record<"isFaulty" | "isOlder", (one: Readable) => boolean>>,
): ReadonlySet<Readable> {
  const judged = new Set<Readable>();
  let [judges, pending]: [readonly SetPin[], readonly Anchor[]] = [[], anchors];
  for (const one of ordered.filter((each) => !isOlder(each))) {
    const demanded = pending.filter((anchor) => appliesTo(anchor, one)).map(({ set }) => set);
    if (![...judges, ...demanded].every((set) => shortOf(one, set, "") === null)) continue;
    judged.add(one);
    if (isFaulty(one)) continue;
    judges = [setOf(one)];
    pending = pending.filter((anchor) => !appliesTo(anchor, one));
  }
  return judged;
}

export function releaseNonce({ release }: Readable): number {
  return release.manifest.namespace.nonce;
}

function nameOf({ release }: Readable): string {
  return release.name;
}

/** A fault, and the release that has it. */
type FoundFault = readonly [about: Readable, code: HistoryFaultCode, message: string];

/** Compares a release with the one before. Of an `older` one, only its namespace counts. */
function pairFaults(before: Readable, after: Readable, isOlder: boolean): FoundFault[] {
  const { name: earlier } = before.release.manifest.namespace;
  const { name, nonce } = after.release.manifest.namespace;
  const names = `${JSON.stringify(name)}, and ${nameOf(before)} of ${JSON.stringify(earlier)}`;
  const faults: FoundFault[] = [];
  if (name !== earlier)
    faults.push([
      after,
      "other-namespace",
      `is of the namespace ${names}: name the accepted namespaces (--namespace, namespaces)`,
    ]);
  if (!isOlder && nonce === releaseNonce(before))
    faults.push([after, "nonce-twice", `has the nonce ${nonce} of ${nameOf(before)}, and another hash`]);
  const short = isOlder
    ? null
    : shortOf(after, setOf(before), `the manifest set of ${nameOf(before)}, the release before`);
  if (short !== null) faults.push([after, "approvers", short]);
  return faults;
}

function appliesTo({ minNonce }: Anchor, one: Readable): boolean {
  return releaseNonce(one) >= minNonce;
}

/**
 * Returns the faults of the first release that the anchor applies to. Later releases are judged by the releases before
 * them.
 */
function anchorFaults(ordered: readonly Readable[], anchor: Anchor): FoundFault[] {
  const first = ordered.find((one) => appliesTo(anchor, one));
  const short = first === undefined ? null : shortOf(first, anchor.set, `the set that is demanded (${anchor.source})`);
  return short === null ? [] : [[first!, "manifest-set-demanded", short]];
}

function setOf({ release }: Readable): SetPin {
  const { threshold, members } = release.manifest.manifestSet;
  return { threshold, members: members.map(({ pubKey }) => toHex(pubKey)) };
}

/** Returns a phrase if too few approvers of the release are in the set, and null otherwise. */
export function shortOf({ approvers }: Readable, { threshold, members }: SetPin, source: string): string | null {
  const reached = new Set(approvers.map(({ pubKey }) => toHex(pubKey)).filter((key) => members.includes(key))).size;
  return reached >= threshold ? null : `its approvers in ${source}: ${reached}, expected ${threshold}`;
}

function stepBetween(before: Readable, after: Readable): ReleaseStep {
  const { changes } = compareSides(manifestSide(before.release.manifest), manifestSide(after.release.manifest));
  return { from: before.release.name, to: after.release.name, changes };
}
