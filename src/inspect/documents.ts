/** Attestation documents, manifests, envelopes, approvals, and outputs of genesis ceremonies. */
import { equalBytes, toHex } from "../bytes.js";
import { type AttestationDocument, DOCUMENT_KEYS, readAttestationDocument } from "../decode/attestation-document.js";
import { type CborValue, decodeCbor } from "../decode/cbor.js";
import { COSE_SIGN1_TAG, decodeCoseSign1 } from "../decode/cose-sign1.js";
import { decodeGenesisOutput, decodeGenesisRequest } from "../decode/genesis-output.js";
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
import { type Reading, attempt, wholeOf } from "../errors.js";
import { algorithmFaults } from "../verify/attestation.js";
import { sha256 } from "../verify/digest.js";
import { manifestHash } from "../verify/manifest-binding.js";
import { AWS_NITRO_ROOT_G1 } from "../verify/trust-anchor.js";
import {
  type Described,
  type DescribedObject,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  flaw,
  membersOf,
  restOf,
  unshown,
} from "./described.js";
import { shownObject, treeOf } from "./shown.js";

/** Inspects a document. `document` is there if all of it could be decoded. */
export async function inspectDocument(
  bytes: Uint8Array,
): Promise<Inspected & { readonly document?: AttestationDocument | undefined }> {
  const cose = attempt(() => decodeCoseSign1(bytes));
  if (cose.value === undefined) return { faults: cose.faults, says: null };
  const { protectedHeader, unprotectedIsEmpty, payload, signature } = cose.value;
  const reading = readAttestationDocument(payload);
  const { value, faults, unknownKeys } = reading;
  const { moduleId, digest, timestamp, pcrs, certificate, cabundle = [], ...others } = value;
  const says = await shownObject({
    moduleId,
    time: timestamp && new Date(timestamp),
    digest,
    pcrs: pcrs && Object.fromEntries(pcrs),
    ...others,
    certificates: certificate ? [...cabundle, certificate] : cabundle,
    protectedHeader,
    // The decoded COSE_Sign1 only says whether this header is empty, so it is decoded again.
    unprotectedHeader: unprotectedIsEmpty ? undefined : (decodeCbor(bytes, TAGGED) as CborValue[])[1],
    signature,
  });
  const document = wholeOf(reading) ?? undefined;
  const rest = document !== undefined && unknownKeys.length === 0 ? {} : unshownKeys(payload, reading);
  const header = algorithmFaults(cose.value).map(flaw);
  const unknown = unknownKeys.map((key) => flaw(`unknown key ${JSON.stringify(key)}`));
  return { faults: [...header, ...faults, ...unknown], says: { ...says, ...rest }, document };
}

function unshownKeys(payload: Uint8Array, { value, faults }: Reading<AttestationDocument>): DescribedObject {
  const map = attempt(() => decodeCbor(payload, { indefiniteOutermostMap: true })).value;
  if (!(map instanceof Map)) return { [UNREADABLE]: toHex(payload) };
  return unshown(treeOf(map), { value, faults, members: MEMBERS });
}

const inCamelCase = (key: string): string => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const MEMBERS = Object.fromEntries(DOCUMENT_KEYS.map((key) => [key, inCamelCase(key)]));
const TAGGED = { outermostTag: COSE_SIGN1_TAG } as const;

export function inspectManifest(bytes: Uint8Array): Promise<Inspected> {
  return inspectEither(bytes, decodeManifest, async (manifest, json) => ({
    ...(await shownManifest(manifest)),
    [UNKNOWN]: unknownInManifest(manifest, json),
  }));
}

export function inspectEnvelope(bytes: Uint8Array): Promise<Inspected> {
  return inspectEither(bytes, decodeManifestEnvelope, async (envelope, json) => ({
    ...envelopeTree(envelope),
    manifest: await shownManifest(envelope.manifest),
    [UNKNOWN]: unknownInEnvelope(envelope, json),
  }));
}

export function inspectApproval(bytes: Uint8Array): Promise<Inspected> {
  return inspectEither(bytes, decodeApproval, (approval, json) => ({
    ...approvalTree(approval),
    [UNKNOWN]: restOf(json, approval),
  }));
}

export function inspectGenesisOutput(bytes: Uint8Array): Promise<Inspected> {
  return inspectEither(bytes, decodeGenesisOutput, async (output) => ({
    ...(treeOf(output) as DescribedObject),
    hash: toHex(await sha256(bytes)),
  }));
}

export function inspectGenesisRequest(bytes: Uint8Array): Promise<Inspected> {
  return inspectEither(bytes, decodeGenesisRequest, (request) => treeOf(request) as DescribedObject);
}

/** Inspects JSON or Borsh. JSON that cannot be read is shown as it is. */
async function inspectEither<T>(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => T,
  show: (value: T, json: JsonValue | undefined) => DescribedObject | Promise<DescribedObject>,
): Promise<Inspected> {
  const { value, faults } = attempt(() => decode(bytes));
  const literal = attempt(() => parseJson(bytes, { numbers: "literal" })).value;
  const json = literal === undefined ? undefined : plainNumbers(literal).value;
  const unread = json === undefined ? null : { [UNREADABLE]: json as Described };
  return { faults, says: value === undefined ? unread : await show(value, json) };
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
