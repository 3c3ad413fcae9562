/** Manifests and envelopes of every version. */
import { toHex } from "../bytes.js";
import { type JsonValue, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import {
  type Approval,
  type Manifest,
  type ManifestEnvelope,
  type ManifestVersion,
  type MemberSet,
  type Pivot,
  type PivotManifest,
  type WorkloadManifest,
  approvalNames,
  decodeManifest,
  decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import { attempt } from "../errors.js";
import { sha256 } from "../verify/digest.js";
import { manifestHash } from "../verify/manifest-binding.js";
import { AWS_NITRO_ROOT_G1 } from "../verify/trust-anchor.js";
import {
  type Described,
  type DescribedObject,
  type DescribedParts,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  inspectedAs,
  membersOf,
  undescribed,
  wholeMembers,
} from "./described.js";

export async function inspectManifest(bytes: Uint8Array, encoding: string): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifest(bytes));
  const says =
    value === undefined
      ? unreadJson(bytes)
      : { ...(await describeManifest(value)), ...unknownIn(bytes, toldOf(value)) };
  return inspectedAs("manifest", encoding, faults, says);
}

export async function inspectEnvelope(bytes: Uint8Array, encoding: string): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifestEnvelope(bytes));
  const says =
    value === undefined
      ? unreadJson(bytes)
      : {
          manifest: await describeManifest(value.manifest),
          manifestSetApprovals: value.manifestSetApprovals.map(describeApproval),
          shareSetApprovals: value.shareSetApprovals.map(describeApproval),
          ...unknownIn(bytes, toldOfEnvelope(value, membersOf(jsonOf(bytes)))),
        };
  return inspectedAs("manifest envelope", encoding, faults, says);
}

export function inspectApproval(bytes: Uint8Array, encoding: string): Inspected {
  const { value, faults } = attempt(() => decodeApproval(bytes));
  const says =
    value === undefined
      ? unreadJson(bytes)
      : {
          ...describeApproval(value),
          ...unknownIn(bytes, { signature: true, member: wholeMembers("alias", "pubKey") }),
        };
  return inspectedAs("approval", encoding, faults, says);
}

/** Undefined for borsh. */
function jsonOf(bytes: Uint8Array): JsonValue | undefined {
  const json = attempt(() => parseJson(bytes, { numbers: "literal" })).value;
  return json === undefined ? undefined : plainNumbers(json).value;
}

function unreadJson(bytes: Uint8Array): DescribedObject | null {
  const json = jsonOf(bytes);
  return json === undefined ? null : { [UNREADABLE]: json as Described };
}

/** Versions 0 to 2 ignore unknown members in JSON, and do not hash them. */
function unknownIn(bytes: Uint8Array, told: DescribedParts): DescribedObject {
  return { [UNKNOWN]: undescribed(jsonOf(bytes), told) };
}

const SET: DescribedParts = { threshold: true, members: [wholeMembers("alias", "pubKey")] };

/** The members of each version beside those that several versions share. */
const MORE_TOLD: Readonly<Record<ManifestVersion, Readonly<Record<string, DescribedParts>>>> = {
  v0: {},
  "v0-tail": { clientTimeoutMs: true, poolSize: true },
  v1: {},
  v2: { version: true },
  v3: { version: true, workloads: true, volumes: true, enclave: true },
};

function toldOf(manifest: Manifest): DescribedParts {
  const { pivot, patchSet, dns } = manifest as Partial<PivotManifest>;
  return {
    namespace: wholeMembers("name", "nonce", "quorumKey"),
    manifestSet: SET,
    shareSet: SET,
    enclave: wholeMembers("pcr0", "pcr1", "pcr2", "pcr3", "awsRootCertificate", "qosCommit"),
    ...(pivot && { pivot: toldOfPivot(pivot) }),
    ...(patchSet && { patchSet: { threshold: true, members: [wholeMembers("pubKey")] } }),
    ...(dns && { dns: true }),
    ...MORE_TOLD[manifest.version],
  };
}

/** The members that this version has. */
function toldOfPivot(pivot: Pivot): DescribedParts {
  return {
    ...wholeMembers("hash", "restart", "args"),
    ...(pivot.bridgeConfig && { bridgeConfig: [wholeMembers("type", "port", "host")] }),
    ...(pivot.debugMode !== undefined && { debugMode: true }),
    ...(pivot.env && { env: true }),
  };
}

function toldOfEnvelope({ manifest }: ManifestEnvelope, json: object): DescribedParts {
  const approvals: DescribedParts = [{ signature: true, member: wholeMembers("alias", "pubKey") }];
  const names = approvalNames(manifest.version, json);
  return { manifest: toldOf(manifest), [names.manifestSet]: approvals, [names.shareSet]: approvals };
}

async function describeManifest(manifest: Manifest): Promise<DescribedObject> {
  const { namespace } = manifest;
  return {
    version: manifest.version,
    hash: toHex(await manifestHash(manifest)),
    namespace: { name: namespace.name, nonce: namespace.nonce, quorumKey: toHex(namespace.quorumKey) },
    ...(manifest.pivot === undefined ? describeWorkloads(manifest) : { pivot: describePivot(manifest.pivot) }),
    manifestSet: describeSet(manifest.manifestSet),
    shareSet: describeSet(manifest.shareSet),
    enclave: await describeEnclave(manifest),
    patchSet: manifest.pivot && describePatchSet(manifest),
    dns: manifest.dns && { resolvers: manifest.dns.resolvers },
    ...(manifest.pivot && { clientTimeoutMs: manifest.clientTimeoutMs, poolSize: manifest.poolSize }),
  };
}

async function describeEnclave({ enclave }: Manifest): Promise<DescribedObject> {
  const rootHash = toHex(await sha256(enclave.awsRootCertificate));
  const isAwsRoot = rootHash === toHex(await sha256(AWS_NITRO_ROOT_G1.certificate.der));
  return {
    pcr0: toHex(enclave.pcr0),
    pcr1: toHex(enclave.pcr1),
    pcr2: toHex(enclave.pcr2),
    pcr3: toHex(enclave.pcr3),
    awsRootCertificateSha256: rootHash,
    // The hash identifies it.
    awsRootCertificate: isAwsRoot ? undefined : toHex(enclave.awsRootCertificate),
    qosCommit: enclave.qosCommit,
  };
}

function describePivot(pivot: Pivot): DescribedObject {
  return {
    hash: toHex(pivot.hash),
    restart: pivot.restart,
    args: pivot.args,
    bridgeConfig: pivot.bridgeConfig?.map((bridge) => ({ ...bridge })),
    debugMode: pivot.debugMode,
    env: pivot.env && Object.fromEntries(pivot.env),
  };
}

function describeWorkloads({ workloads, volumes }: WorkloadManifest): DescribedObject {
  return {
    workloads: workloads.map(({ name, imageDigest, restart, mounts }) => {
      return {
        name,
        imageDigest: imageDigestText(imageDigest),
        restart,
        mounts: mounts.map((mount) => ({ ...mount })),
      };
    }),
    volumes: volumes && Object.fromEntries([...volumes].map(([name, volume]) => [name, { ...volume }])),
  };
}

function describePatchSet({ patchSet }: PivotManifest): Described | undefined {
  return patchSet && { threshold: patchSet.threshold, members: patchSet.members.map((member) => toHex(member.pubKey)) };
}

function describeSet(set: MemberSet): Described {
  return {
    threshold: set.threshold,
    members: set.members.map((member) => ({ alias: member.alias, pubKey: toHex(member.pubKey) })),
  };
}

function describeApproval(approval: Approval): DescribedObject {
  return { alias: approval.member.alias, pubKey: toHex(approval.member.pubKey), signature: toHex(approval.signature) };
}
