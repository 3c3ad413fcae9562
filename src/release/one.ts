/** The checks of one release (release/README.md, "What is checked", 1 and 2). */
import { lastOf } from "../bytes.js";
import type { Manifest, QuorumMember } from "../decode/manifest/index.js";
import { shownName } from "../errors.js";
import { type ApprovalStatus, checkApprovals, thresholdFaults } from "../verify/approvals.js";
import type { SignatureCache } from "../verify/signature-cache.js";
import { type Release, type ReleaseFault, type ReleaseFaultCode, fileIn } from "./release.js";

/** A release and its own faults, without those of its history. */
export interface CheckedAlone {
  readonly release: Release;
  readonly faults: readonly ReleaseFault[];
  /** The members whose approvals are valid, each once. */
  readonly approvers: readonly QuorumMember[];
}

/** `namespaces` are the demanded ones. Undefined means that any is accepted. */
export async function checkAlone(
  release: Release,
  cache: SignatureCache,
  namespaces: readonly string[] | undefined,
): Promise<CheckedAlone> {
  const { name, manifest, manifestHash } = release;
  if (manifest === null || manifestHash === null) return { release, faults: release.faults, approvers: [] };
  const { manifestSet: set } = manifest;
  const faults = [...release.faults];
  const add = (code: ReleaseFaultCode, file: string, message: string): void =>
    void faults.push({ code, file: fileIn(name, file), message });
  for (const [code, message] of placeFaults(release, manifest, namespaces)) add(code, "manifest", message);
  for (const message of (await checkApprovals([], set, manifestHash, cache)).faults)
    add("manifest-set", "manifest", message);
  const named = release.approvals.filter(({ file, member }) => file.startsWith(`${member.alias}-`));
  const { approvals, approvers } = await checkApprovals(named, set, manifestHash, cache);
  for (const approval of release.approvals) {
    const status = approvals[named.indexOf(approval)]?.status ?? "misnamed";
    if (status === "valid") continue;
    const [code, message] = APPROVAL_FAULTS[status];
    add(code, approval.file, message(quoted(approval.member.alias)));
  }
  if (release.approvals.length > 0)
    for (const message of thresholdFaults(set, approvers.length)) add("threshold", "manifest", message);
  return { release, faults, approvers };
}

/** What is wrong with an approval. Its member has an alias, with which the name of the file begins. */
const APPROVAL_FAULTS: Readonly<
  Record<
    Exclude<ApprovalStatus, "valid"> | "misnamed",
    readonly [code: ReleaseFaultCode, message: (who: string) => string]
  >
> = {
  misnamed: ["approval-name", (who) => `its member is ${who}, but the file's name begins differently`],
  stranger: ["approval-stranger", (who) => `its member ${who} is not in the manifest set, by alias and key`],
  invalid: ["approval-signature", (who) => `the signature is not one of ${who} over this manifest`],
  repeated: ["approval-twice", (who) => `a second approval of ${who}`],
};

/**
 * Checks that a manifest belongs to its folder. The same operators approve all applications and all releases, so their
 * approvals do not show that.
 */
function placeFaults(
  { version, application }: Release,
  { namespace: { name, nonce } }: Manifest,
  namespaces: readonly string[] | undefined,
): [code: ReleaseFaultCode, message: string][] {
  const faults: [ReleaseFaultCode, string][] = [];
  const is = `is a manifest of ${quoted(name)}`;
  if (application !== null && lastOf(name.split("/")) !== application)
    faults.push(["namespace", `${is}, not of ${quoted(application)}, which its folder names`]);
  if (namespaces?.includes(name) === false)
    faults.push(["namespace-demanded", `${is}, which is not one of the demanded namespaces`]);
  const wanted = version === null ? null : nonceOf(version);
  if (wanted === undefined)
    faults.push(["nonce", `no nonce follows from the version ${quoted(version!)}: expected YYYY.M.P`]);
  else if (wanted !== null && nonce !== wanted)
    faults.push(["nonce", `has the nonce ${nonce}, and ${quoted(version!)} has ${wanted}`]);
  return faults;
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
