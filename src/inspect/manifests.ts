/** Manifests and envelopes of every version. */
import { type JsonValue, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import {
  type Approval,
  type Manifest,
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
import { shownObject } from "./shown.js";

export async function inspectManifest(bytes: Uint8Array): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifest(bytes));
  if (value === undefined) return inspectedAs(faults, unreadJson(bytes));
  return inspectedAs(faults, { ...(await shownManifest(value)), ...unknownIn(bytes, readOf(value)) });
}

export async function inspectEnvelope(bytes: Uint8Array): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifestEnvelope(bytes));
  if (value === undefined) return inspectedAs(faults, unreadJson(bytes));
  const { manifest, manifestSetApprovals, shareSetApprovals } = value;
  const names = approvalNames(manifest.version, membersOf(jsonOf(bytes)));
  const read = {
    manifest: readOf(manifest),
    [names.manifestSet]: manifestSetApprovals,
    [names.shareSet]: shareSetApprovals,
  };
  return inspectedAs(faults, {
    manifest: await shownManifest(manifest),
    ...(await shownObject({
      manifestSetApprovals: manifestSetApprovals.map(flatApproval),
      shareSetApprovals: shareSetApprovals.map(flatApproval),
    })),
    ...unknownIn(bytes, read),
  });
}

export async function inspectApproval(bytes: Uint8Array): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeApproval(bytes));
  if (value === undefined) return inspectedAs(faults, unreadJson(bytes));
  return inspectedAs(faults, { ...(await shownObject(flatApproval(value))), ...unknownIn(bytes, value) });
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

function unknownIn(bytes: Uint8Array, read: unknown): DescribedObject {
  return { [UNKNOWN]: restOf(jsonOf(bytes), read) };
}

/**
 * Returns the members of the JSON that were read, or true if all were read. A pivot manifest may have unknown members,
 * which are ignored and not hashed. A workload manifest with unknown members is refused.
 */
function readOf(manifest: Manifest): unknown {
  return manifest.pivot === undefined || manifest;
}

async function shownManifest(manifest: Manifest): Promise<DescribedObject> {
  const { version, enclave, workloads, ...others } = manifest;
  const { patchSet } = manifest as Partial<PivotManifest>;
  const { awsRootCertificate: root, ...measured } = enclave;
  // The AWS root is not shown in full, because its hash identifies it.
  const isAwsRoot = equalBytes(root, AWS_NITRO_ROOT_G1.certificate.der);
  return shownObject({
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
  });
}

function flatApproval({ member, signature }: Approval): object {
  return { ...member, signature };
}
