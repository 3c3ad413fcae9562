/** Manifests and envelopes of every version. */
import { type JsonValue, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import {
  type Approval,
  type Manifest,
  type ManifestEnvelope,
  type PivotManifest,
  approvalNames,
  decodeManifest,
  decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { attempt } from "../errors.js";
import { equalBytes } from "../bytes.js";
import { sha256 } from "../verify/digest.js";
import { manifestHash } from "../verify/manifest-binding.js";
import { AWS_NITRO_ROOT_G1 } from "../verify/trust-anchor.js";
import {
  type Described,
  type DescribedObject,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  membersOf,
  inspectedAs,
  restOf,
} from "./described.js";
import { treeOf } from "./shown.js";

export async function inspectManifest(bytes: Uint8Array): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifest(bytes));
  if (value === undefined) return inspectedAs(faults, unreadJson(bytes));
  return inspectedAs(faults, { ...(await shownManifest(value)), [UNKNOWN]: unknownInManifest(value, jsonOf(bytes)) });
}

export async function inspectEnvelope(bytes: Uint8Array): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifestEnvelope(bytes));
  if (value === undefined) return inspectedAs(faults, unreadJson(bytes));
  return inspectedAs(faults, {
    ...envelopeTree(value),
    manifest: await shownManifest(value.manifest),
    [UNKNOWN]: unknownInEnvelope(value, jsonOf(bytes)),
  });
}

export function inspectApproval(bytes: Uint8Array): Inspected {
  const { value, faults } = attempt(() => decodeApproval(bytes));
  if (value === undefined) return inspectedAs(faults, unreadJson(bytes));
  return inspectedAs(faults, { ...approvalTree(value), [UNKNOWN]: restOf(jsonOf(bytes), value) });
}

/** Returns the parsed JSON, or undefined for Borsh. */
function jsonOf(bytes: Uint8Array): JsonValue | undefined {
  const json = attempt(() => parseJson(bytes, { numbers: "literal" })).value;
  return json === undefined ? undefined : plainNumbers(json).value;
}

function unreadJson(bytes: Uint8Array): DescribedObject | null {
  const json = jsonOf(bytes);
  return json === undefined ? null : { [UNREADABLE]: json as Described };
}

/**
 * Returns the members of a manifest's JSON that were not read. A pivot manifest may have unknown members, which are
 * ignored and not hashed. A workload manifest with unknown members is refused.
 */
export function unknownInManifest(manifest: Manifest, json: unknown): Described | undefined {
  return restOf(json, readOf(manifest));
}

function readOf(manifest: Manifest): unknown {
  return manifest.pivot === undefined || manifest;
}

export function unknownInEnvelope(envelope: ManifestEnvelope, json: unknown): Described | undefined {
  const names = approvalNames(envelope.manifest.version, membersOf(json));
  return restOf(json, {
    manifest: readOf(envelope.manifest),
    [names.manifestSet]: envelope.manifestSetApprovals,
    [names.shareSet]: envelope.shareSetApprovals,
  });
}

export function manifestTree(manifest: Manifest): DescribedObject {
  return treeOf(manifest) as DescribedObject;
}

export function envelopeTree(envelope: ManifestEnvelope): DescribedObject {
  const { manifest, manifestSetApprovals, shareSetApprovals } = envelope;
  return {
    manifest: manifestTree(manifest),
    manifestSetApprovals: manifestSetApprovals.map(approvalTree),
    shareSetApprovals: shareSetApprovals.map(approvalTree),
  };
}

function approvalTree({ member, signature }: Approval): DescribedObject {
  return treeOf({ ...member, signature }) as DescribedObject;
}

async function shownManifest(manifest: Manifest): Promise<DescribedObject> {
  const { version, enclave, workloads, ...others } = manifest;
  const { patchSet } = manifest as Partial<PivotManifest>;
  const { awsRootCertificate: root, ...measured } = enclave;
  // The AWS root is not shown in full, because its hash identifies it.
  const isAwsRoot = equalBytes(root, AWS_NITRO_ROOT_G1.certificate.der);
  return treeOf({
    version,
    hash: await manifestHash(manifest),
    ...others,
    enclave: {
      ...measured,
      awsRootCertificateSha256: await sha256(root),
      ...(!isAwsRoot && { awsRootCertificate: root }),
    },
    workloads: workloads?.map((one) => ({ ...one, imageDigest: imageDigestText(one.imageDigest) })),
    patchSet: patchSet && { ...patchSet, members: patchSet.members.map(({ pubKey }) => pubKey) },
  }) as DescribedObject;
}
