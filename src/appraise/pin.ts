/** Making a policy: from evidence that has just been verified, or from the measurements of a published release. */
import { toHex } from "../bytes.js";
import type { MemberSet } from "../decode/manifest/index.js";
import { MemberReader } from "../decode/json.js";
import { FaultList, MalformedError, attempt } from "../errors.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { AWS_NITRO_ROOT_G1_NAME, type TrustAnchor, certificatePem, isAwsNitroRoot } from "../verify/trust-anchor.js";
import { type PolicyFile, parsePolicy } from "./policy.js";

const PINNED_PCRS = [0, 1, 2, 3];

/**
 * The policy that pins the deployment of a verified boot proof: PCR0–3, pivot hash, namespace, nonce, quorum key,
 * manifest set and commitment. A person reads it before it is committed. Throws TypeError for anything that verification
 * did not make, and {@link MalformedError} (`policy`) for a manifest that no policy can pin (a quorum key of odd length).
 */
export function pinPolicy(verified: VerifiedBootProof, options: { readonly name?: string } = {}): PolicyFile {
  if (!VerifiedBootProof.isOne(verified)) throw new TypeError("only a VerifiedBootProof can be pinned");
  const { manifest, attestation } = verified;
  const { namespace } = manifest;
  const policy: PolicyFile = {
    policy: "bootproof/1",
    name: options.name ?? namespace.name,
    trustAnchors: [anchorEntry(attestation.trustAnchor)],
    deployments: [{
      name: `${namespace.name} nonce ${namespace.nonce}`,
      pcrs: Object.fromEntries(PINNED_PCRS.map((index) => [index, toHex(attestation.document.pcrs.get(index)!)])),
      pivotHash: toHex(manifest.pivot!.hash),
      namespace: namespace.name,
      minNonce: namespace.nonce,
      quorumKey: toHex(namespace.quorumKey),
      manifestSet: setEntry(manifest.manifestSet),
      commitment: verified.commitment,
    }],
    ...(verified.debug && { allowDebug: true }),
  };
  parsePolicy(policy);
  return policy;
}

function setEntry(set: MemberSet): { threshold: number; members: string[] } {
  return { threshold: set.threshold, members: set.members.map((member) => toHex(member.pubKey)) };
}

function anchorEntry(anchor: TrustAnchor): string | { pem: string } {
  if (isAwsNitroRoot(anchor)) return AWS_NITRO_ROOT_G1_NAME;
  return { pem: certificatePem(anchor.certificate.der) };
}

/**
 * The policy that pins one application of a published release: a parsed YAML of `version` and, for each application,
 * `appBinaryDigest` (the pivot hash) and `PCR0` to `PCR3`. Nothing is verified: it is worth what its source is. Throws
 * {@link MalformedError} (`release`).
 */
export function policyFromRelease(release: unknown, app: string): PolicyFile {
  const faults = new FaultList();
  const reader = MemberReader.of(release, "", faults);
  const version = reader?.string("version");
  const known = Object.keys(reader?.object ?? {}).filter((name) => name !== "version");
  if (reader && !known.includes(app)) reader.fault(app, `not in this release, which has ${known.join(", ") || "nothing"}`);
  const entry = reader && known.includes(app) ? reader.nested(app) : undefined;
  const digest = entry?.string("appBinaryDigest");
  const pcrs = PINNED_PCRS.map((index) => [String(index), entry?.string(`PCR${index}`)] as const);
  if (faults.length > 0 || digest === undefined) throw new MalformedError("release", faults);
  const policy: PolicyFile = {
    policy: "bootproof/1",
    name: `${app}, release ${version}`,
    deployments: [{ name: `${app} ${version}`, pcrs: Object.fromEntries(pcrs) as Record<string, string>, pivotHash: digest }],
  };
  const checked = attempt(() => parsePolicy(policy));
  if (checked.faults.length > 0) throw new MalformedError("release", checked.faults);
  return policy;
}
