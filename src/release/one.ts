/** The checks of one release (release/README.md, "What is checked", 1 and 2). */
import { equalBytes, lastOf, toHex } from "../bytes.js";
import type { Manifest, MemberSet, QuorumMember } from "../decode/manifest/index.js";
import { shownName } from "../errors.js";
import { checkApprovals, thresholdFaults } from "../verify/approvals.js";
import { signingPoint } from "../verify/qos-key.js";
import type { SignatureCache } from "../verify/signature-cache.js";
import { type Release, type ReleaseApproval, type ReleaseFault, type ReleaseFaultCode, fileIn } from "./release.js";

/** A release and its own faults, without those of its history. */
export interface CheckedAlone {
  readonly release: Release;
  readonly faults: readonly ReleaseFault[];
  /** The members whose approvals are valid, each once. */
  readonly approvers: readonly QuorumMember[];
}

/** Values that the checks of several releases share. */
interface Shared {
  readonly cache: SignatureCache;
  /** Faults of the sets that were checked already, because releases repeat sets. */
  readonly sets: Map<string, readonly string[]>;
  /** The demanded namespaces. Undefined means that any is accepted. */
  readonly namespaces: readonly string[] | undefined;
}

export async function checkAlone(release: Release, { cache, sets, namespaces }: Shared): Promise<CheckedAlone> {
  const { manifest, manifestHash } = release;
  if (manifest === null || manifestHash === null) return { release, faults: release.faults, approvers: [] };
  const found: ReleaseFault[] = [...release.faults, ...placeFaults(release, manifest, namespaces)];
  const add = (code: ReleaseFaultCode, file: string, message: string): void => {
    found.push({ code, file: fileIn(release.name, file), message });
  };
  for (const message of await setFaults(manifest.manifestSet, cache, sets)) add("manifest-set", "manifest", message);
  const approvers: QuorumMember[] = [];
  for (const approval of release.approvals) {
    const fault = await approvalFault(approval, manifest.manifestSet, manifestHash, cache);
    if (fault !== null) add(fault.code, approval.file, fault.message);
    else if (approvers.some((one) => isSameKey(one, approval.member)))
      add("approval-twice", approval.file, `a second approval of ${quoted(approval.member.alias)}`);
    else approvers.push(approval.member);
  }
  if (release.approvals.length > 0)
    for (const message of thresholdFaults(manifest.manifestSet, approvers.length))
      add("threshold", "manifest", message);
  return { release, faults: found, approvers };
}

/**
 * Whether two keys are the same. All bytes are compared, because in a refused set two members can share an alias and
 * one half of their keys.
 */
function isSameKey(one: QuorumMember, other: QuorumMember): boolean {
  return equalBytes(one.pubKey, other.pubKey);
}

async function approvalFault(
  { file, member, signature }: ReleaseApproval,
  { members }: MemberSet,
  hash: Uint8Array,
  cache: SignatureCache,
): Promise<{ readonly code: ReleaseFaultCode; readonly message: string } | null> {
  const who = quoted(member.alias);
  if (!file.startsWith(`${member.alias}-`))
    return { code: "approval-name", message: `its member is ${who}, but the file's name begins differently` };
  if (!members.some((one) => one.alias === member.alias && isSameKey(one, member)))
    return { code: "approval-stranger", message: `its member ${who} is not in the manifest set, by alias and key` };
  if (await cache.verify("P-256", signingPoint(member.pubKey), hash, signature)) return null;
  return { code: "approval-signature", message: `the signature is not one of ${who} over this manifest` };
}

async function setFaults(set: MemberSet, cache: SignatureCache, sets: Shared["sets"]): Promise<readonly string[]> {
  // The cache key is JSON, because an alias may contain any separator. Two sets with the same cache key would share
  // faults.
  const key = JSON.stringify([set.threshold, set.members.map(({ alias, pubKey }) => [alias, toHex(pubKey)])]);
  const known = sets.get(key) ?? (await checkApprovals([], set, new Uint8Array(), cache)).faults;
  sets.set(key, known);
  return known;
}

/**
 * Checks that a manifest belongs to its folder. The same operators approve all applications and all releases, so their
 * approvals do not show that.
 */
function placeFaults(
  { name, version, application }: Release,
  { namespace }: Manifest,
  namespaces: readonly string[] | undefined,
): ReleaseFault[] {
  const file = fileIn(name, "manifest");
  const last = lastOf(namespace.name.split("/"));
  const faults: ReleaseFault[] = [];
  if (application !== null && last !== application) {
    const message = `is a manifest of ${quoted(namespace.name)}, not of ${quoted(application)}, which its folder names`;
    faults.push({ code: "namespace", file, message });
  }
  if (namespaces?.includes(namespace.name) === false) {
    const message = `is a manifest of ${quoted(namespace.name)}, which is not one of the demanded namespaces`;
    faults.push({ code: "namespace-demanded", file, message });
  }
  const wanted = version === null ? null : nonceOf(version);
  if (wanted === null || namespace.nonce === wanted) return faults;
  const message =
    wanted === undefined
      ? `no nonce follows from the version ${quoted(version!)}: expected YYYY.M.P`
      : `has the nonce ${namespace.nonce}, and ${quoted(version!)} has ${wanted}`;
  return [...faults, { code: "nonce", file, message }];
}

const VERSION = /^[rv]?(\d+)\.(\d+)\.(\d+)$/;

/** Returns whether a folder's name is a version. */
export function isVersion(name: string): boolean {
  return VERSION.test(name);
}

/**
 * Returns the nonce YYYYMMPP of the version `YYYY.M.P`. Null for a name that is not a version, and undefined for a
 * version whose numbers do not fit these digits.
 */
function nonceOf(version: string): number | null | undefined {
  const parts = VERSION.exec(version)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [year, month, patch] = parts as [number, number, number];
  return year > 999 && year < 10_000 && month < 100 && patch < 100 ? year * 10_000 + month * 100 + patch : undefined;
}

function quoted(text: string): string {
  return JSON.stringify(shownName(text));
}
