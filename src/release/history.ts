/** Releases of one application in the order of their nonces (release/README.md, "What is checked", 4 and 5). */
import { toHex } from "../bytes.js";
import { leastBy } from "../appraise/pins.js";
import type { MemberSet, QuorumMember } from "../decode/manifest/index.js";
import type { Change } from "../diff/diff.js";
import { compareSides } from "../diff/diff.js";
import type { Anchor } from "./demand.js";
import type { CheckedAlone } from "./one.js";
import type { Release } from "./release.js";

/** Stable codes of the faults of a history. */
export type HistoryFaultCode =
  "nonce-twice" | "other-namespace" | "approvers" | "manifest-set-demanded" | "not-anchored";

export interface HistoryFault {
  readonly code: HistoryFaultCode;
  /** The name of the release. */
  readonly release: string;
  readonly message: string;
}

/** The changes from one release to the next. */
export interface ReleaseStep {
  readonly from: string;
  readonly to: string;
  /** In the words of `diffUnverified`, worst first. */
  readonly changes: readonly Change[];
}

/** A release whose manifest could be read. */
export type Readable = CheckedAlone & {
  readonly release: Release & {
    readonly manifest: NonNullable<Release["manifest"]>;
    readonly manifestHash: Uint8Array;
  };
};

export interface CheckedHistory {
  readonly faults: readonly HistoryFault[];
  /** Each hash once, by nonce. */
  readonly ordered: readonly Readable[];
  readonly steps: readonly ReleaseStep[];
  /** The names of the releases before the first one that an anchor judges. */
  readonly notAnchored: readonly string[];
}

/** `anchors`: empty if the caller demands no set. */
export function checkHistory(releases: readonly Readable[], anchors: readonly Anchor[]): CheckedHistory {
  const ordered = [...releases].sort((one, other) => nonceOf(one) - nonceOf(other));
  const pairs = ordered.slice(1).map((after, index) => [ordered[index]!, after] as const);
  const anchored = anchors.flatMap((anchor) => anchoredBy(ordered, anchor) ?? []);
  const first = Math.min(...anchored.map(({ index }) => index), anchors.length === 0 ? 0 : ordered.length);
  const isLoose = anchors.length > 0 && anchored.length === 0;
  return {
    faults: [
      ...pairs.flatMap(([before, after]) => pairFaults(before, after)),
      ...anchored.flatMap((one) => one.faults),
      ...(isLoose ? [notAnchored(ordered.at(-1)!, anchors)] : []),
    ],
    ordered,
    steps: pairs.map(([before, after]) => stepBetween(before, after)),
    notAnchored: ordered.slice(0, first).map(({ release }) => release.name),
  };
}

function nonceOf({ release }: Readable): number {
  return release.manifest.namespace.nonce;
}

function pairFaults(before: Readable, after: Readable): HistoryFault[] {
  const [one, other] = [before.release, after.release];
  const fault = (code: HistoryFaultCode, message: string): HistoryFault => ({ code, release: other.name, message });
  const [namespace, earlier] = [other.manifest.namespace, one.manifest.namespace];
  const faults: HistoryFault[] = [];
  if (namespace.name !== earlier.name) {
    const names = `${JSON.stringify(namespace.name)}, and ${one.name} of ${JSON.stringify(earlier.name)}`;
    faults.push(fault("other-namespace", `is of the namespace ${names}`));
  }
  if (namespace.nonce === earlier.nonce)
    faults.push(fault("nonce-twice", `has the nonce ${namespace.nonce} of ${one.name}, and another hash`));
  const { manifestSet } = one.manifest;
  const reached = approversIn(after.approvers, keysOf(manifestSet));
  if (reached < manifestSet.threshold) {
    const wanted = `${manifestSet.threshold} wanted of the manifest set of ${one.name}, the release before`;
    faults.push(fault("approvers", `${reached} of its approvers are in that set, ${wanted}`));
  }
  return faults;
}

interface Anchored {
  /** The index of the release that the anchor's set applies to. */
  readonly index: number;
  readonly faults: readonly HistoryFault[];
}

/** A set whose `minNonce` is above all releases compares nothing. At least one set of the policy has to compare. */
function notAnchored(last: Readable, anchors: readonly Anchor[]): HistoryFault {
  const { source, minNonce } = leastBy(anchors, (anchor) => anchor.minNonce ?? 0);
  const newest = `the newest nonce here is ${nonceOf(last)}`;
  const message = `${newest}, and ${source} begins at ${minNonce}: nothing is compared`;
  return { code: "not-anchored", release: last.release.name, message };
}

/** Checks the first release with at least this nonce; the one before each later release anchors that. Null: none. */
function anchoredBy(ordered: readonly Readable[], { set, minNonce, source }: Anchor): Anchored | null {
  const found = ordered.findIndex((one) => minNonce === null || nonceOf(one) >= minNonce);
  if (found < 0) return null;
  const judged = ordered[found]!;
  const reached = approversIn(judged.approvers, set.members);
  if (reached >= set.threshold) return { index: found, faults: [] };
  const message = `${reached} of its approvers are in the set that is demanded (${source}), ${set.threshold} wanted`;
  const fault: HistoryFault = { code: "manifest-set-demanded", release: judged.release.name, message };
  return { index: found, faults: [fault] };
}

function keysOf({ members }: MemberSet): readonly string[] {
  return members.map(({ pubKey }) => toHex(pubKey));
}

/** The number of approvers with one of these keys. */
export function approversIn(approvers: readonly QuorumMember[], keys: readonly string[]): number {
  return new Set(approvers.map(({ pubKey }) => toHex(pubKey)).filter((key) => keys.includes(key))).size;
}

function stepBetween(before: Readable, after: Readable): ReleaseStep {
  const side = ({ release }: Readable) =>
    ({ kind: "manifest", parts: { manifest: { value: release.manifest, json: null } } }) as const;
  const { changes } = compareSides(side(before), side(after));
  return Object.freeze({ from: before.release.name, to: after.release.name, changes });
}
