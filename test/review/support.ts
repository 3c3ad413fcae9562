/** Manifests of a lab, and the policies that pin them. */
import { writePins } from "../../src/appraise/pin-writers.js";
import { manifestFacts } from "../../src/appraise/facts.js";
import { type DeploymentFile, parsePolicy } from "../../src/appraise/policy.js";
import type { Approval, Manifest, ManifestVersion, Mount, WorkloadManifest } from "../../src/decode/manifest/index.js";
import { Forge } from "../../src/lab/forge.js";
import { approve, encodeEnvelope, encodeManifest, makeManifest, manifestHash } from "../../src/lab/qos.js";
import { type ManifestReview, type ReviewOptions, reviewManifest } from "../../src/review/review.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";

export const lab = new Forge();
export const ANCHORS = [{ pem: certificatePem(lab.pki.rootCertificate) }];

export function made(version: ManifestVersion = "v1"): Manifest {
  return makeManifest(version, lab.manifestParts());
}

export type Pinned = Record<string, unknown>;

/** Every pin that a policy has for a manifest, but its hash. */
export function deploymentOf(manifest: Manifest, name = "lab"): Pinned {
  const facts = manifestFacts(manifest, manifestHash(manifest), "live");
  return { name, ...writePins(facts, facts.bootProof!), shareSet: facts.bootProof!.shareSet };
}

export function policyOf(...deployments: Pinned[]) {
  return parsePolicy({
    policy: "bootproof/1",
    trustAnchors: ANCHORS,
    deployments: deployments as unknown as DeploymentFile[],
  });
}

export function bytesOf(manifest: Manifest): Uint8Array {
  return encodeManifest(manifest, { encoding: "json" });
}

export function envelopeOf(manifest: Manifest, manifestSetApprovals: Approval[], shareSetApprovals: Approval[] = []) {
  return encodeEnvelope({ manifest, manifestSetApprovals, shareSetApprovals }, { encoding: "json" });
}

export function approvalOf(manifest: Manifest, member = 0): Approval {
  return approve(manifestHash(manifest), lab.manifestMembers[member]!);
}

/** What no policy of `deploymentOf` holds, by version. */
export const UNPINNED: Readonly<Record<ManifestVersion, readonly string[]>> = {
  v0: ["restart", "qosCommit", "patchSet"],
  "v0-tail": ["restart", "qosCommit", "patchSet", "clientTimeoutMs", "poolSize"],
  v1: ["restart", "bridgeConfig", "qosCommit", "patchSet"],
  v2: ["restart", "bridgeConfig", "qosCommit", "dns"],
  v3: ["restart", "mounts", "qosCommit", "dns", "volumes"],
};

/** The lab's manifest, under a policy that pins it, everything else accepted. */
export function review(manifest: Manifest | Uint8Array, options: Partial<ReviewOptions> = {}): Promise<ManifestReview> {
  const bytes = manifest instanceof Uint8Array ? manifest : bytesOf(manifest);
  return reviewManifest(bytes, { policy: policyOf(deploymentOf(made())), accept: UNPINNED.v1, ...options });
}

export function codesOf({ faults }: ManifestReview): string[] {
  return faults.map(({ code, about }) => `${code} ${about}`.trim());
}

export const withNonce = <M extends Manifest>(manifest: M, nonce: number): M => ({
  ...manifest,
  namespace: { ...manifest.namespace, nonce },
});
export const before = <M extends Manifest>(manifest: M): M => withNonce(manifest, manifest.namespace.nonce - 1);

/** A review of the second, after the first, under a policy that has every pin for the second, or those given. */
export function since(
  previous: Manifest,
  manifest: Manifest,
  accept: readonly string[] = [],
  pins: Pinned = deploymentOf(manifest),
): Promise<ManifestReview> {
  return reviewManifest(bytesOf(manifest), { policy: policyOf(pins), previous: bytesOf(before(previous)), accept });
}

/** Holds the namespace and the image, or the namespace and the operators. */
export function loose(manifest: Manifest, by: "pcrs" | "manifestSet" = "pcrs"): Pinned {
  const { namespace, [by]: pins } = deploymentOf(manifest);
  const { 3: role, ...image } = pins as Record<string, string>;
  const open = by === "pcrs" ? ["application", "operator"] : ["application"];
  return { name: "lab", namespace, [by]: role === undefined ? pins : image, open };
}

/** Two workloads, of which one has the quorum key. */
const [ONE] = (made("v3") as WorkloadManifest).workloads;
export const KEY: Mount = { type: "file", source: "/qos.quorum.key", mountPath: "/run/key", readOnly: true };
export const SIGNER = { ...ONE!, mounts: [KEY] };
export const PROXY = { ...ONE!, name: "proxy", imageDigest: new Uint8Array(32).fill(7), mounts: [] };
export const V3 = { ...(made("v3") as WorkloadManifest), workloads: [SIGNER, PROXY] };
