/** Looking at evidence without verifying any of it: what kind of thing these bytes are, and what they say. */
import { fromUtf8, toHex } from "../bytes.js";
import { readActivity } from "../decode/activity.js";
import {
  MAX_APP_PROOFS,
  MAX_PAYLOADS_VALUES,
  appProofList,
  readAppProof,
  readAppProofPayloadText,
} from "../decode/app-proof.js";
import { decodeFile } from "../decode/text-encoding.js";
import { type AttestationDocument, readAttestationDocument } from "../decode/attestation-document.js";
import { type BootProof, DOCUMENT_MEMBER, readBootProof } from "../decode/boot-proof.js";
import { MAX_TIME_MS } from "../decode/decimal-time.js";
import { unwrap } from "../decode/input.js";
import {
  BASIC_CONSTRAINTS,
  type Certificate,
  decodeBasicConstraints,
  decodeCertificate,
  nameText,
} from "../decode/certificate.js";
import { decodeCoseSign1 } from "../decode/cose-sign1.js";
import { type JsonValue, type ValueBudget, isJsonObject, parseJson } from "../decode/json.js";
import {
  type Approval,
  type Manifest,
  type MemberSet,
  type Pivot,
  type PivotManifest,
  type WorkloadManifest,
  decodeManifest,
  decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import { type Fault, type Reading, attempt, faultText } from "../errors.js";
import { algorithmFaults } from "../verify/attestation.js";
import { sha256 } from "../verify/digest.js";
import { manifestHash } from "../verify/manifest-binding.js";
import { PEM_START, parseTrustAnchor } from "../verify/trust-anchor.js";

export type InspectedKind =
  | "boot proof"
  | "attestation document"
  | "manifest"
  | "manifest envelope"
  | "app proof"
  | "app proofs"
  | "activity"
  | "certificate";

/** A value as JSON has it, numbers as numbers; a member that is undefined is left out. */
export type Described = null | boolean | number | string | readonly Described[] | DescribedObject;
export interface DescribedObject {
  readonly [name: string]: Described | undefined;
}

export interface Inspection {
  /** Says so itself, and stands first wherever this is printed. */
  readonly "NOT VERIFIED": string;
  readonly kind: InspectedKind;
  /** How the bytes were written, such as `JSON` or `CBOR in base64`. */
  readonly encoding: string;
  /** What breaks the kind's format: the rest of it is shown all the same. */
  readonly faults: readonly string[];
  /** Bytes in lower-case hex, times in RFC 3339. */
  readonly says: Described;
}

/** Values of one inspection: more than evidence of honest size has. */
const MAX_VALUES = 50_000;
/** Faults of all app proofs of a file. */
const MAX_FAULTS = 1000;
const LEFT_OUT = "(left out)";
const NOT_VERIFIED =
  "Nothing below was checked. Anybody can write evidence that says this; only `bootproof verify` tells whether it " +
  "is true.";

/** The part of an inspection that each kind makes. */
type Inspected = Omit<Inspection, "NOT VERIFIED">;

/**
 * Recognises evidence by its content and tells what it says, WITHOUT VERIFYING anything. Null where the bytes are no
 * evidence of any kind. Throws `MalformedError` (`json`) where they begin as JSON and are not.
 */
export async function inspectUnverified(bytes: Uint8Array): Promise<Inspection | null> {
  const inspected = await inspectContent(new Uint8Array(bytes));
  return (
    inspected && { "NOT VERIFIED": NOT_VERIFIED, ...inspected, says: bounded(inspected.says, { left: MAX_VALUES }) }
  );
}

/** A value as far as there is room; of the lists and objects that are not whole, how much is left out. */
function bounded(value: Described, budget: ValueBudget): Described {
  budget.left--;
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as DescribedObject).filter(
    (entry): entry is [string, Described] => entry[1] !== undefined,
  );
  const shown: [string, Described][] = [];
  for (const [name, item] of entries) {
    if (budget.left <= 0) break;
    shown.push([name, bounded(item, budget)]);
  }
  const rest = entries.length - shown.length;
  if (Array.isArray(value)) return [...shown.map(([, item]) => item), ...(rest > 0 ? [`and ${rest} more`] : [])];
  return Object.fromEntries(rest > 0 ? [...shown, [LEFT_OUT, `${rest} more`]] : shown);
}

async function inspectContent(bytes: Uint8Array): Promise<Inspected | null> {
  const plain = (await inspectText(bytes)) ?? (await inspectBinary(bytes));
  if (plain !== null) return plain;
  const { bytes: content, encoding: textEncoding } = decodeFile(bytes);
  if (textEncoding === "binary") return null;
  const inside = (await inspectText(content)) ?? (await inspectBinary(content));
  return inside && { ...inside, encoding: `${inside.encoding} in ${textEncoding}` };
}

async function inspectText(bytes: Uint8Array): Promise<Inspected | null> {
  if (beginsAsJson(bytes)) return inspectJson(parseJson(bytes), bytes);
  const text = fromUtf8(bytes);
  if (text === null || !text.includes(PEM_START)) return null;
  const decoded = attempt(() => parseTrustAnchor("inspected", text).certificate);
  return inspectedAs(
    "certificate",
    "PEM",
    decoded.faults,
    decoded.value === undefined ? null : await describeCertificate(decoded.value),
  );
}

function beginsAsJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  // Borsh begins with a length of four bytes, some of them zero, whatever the first one looks like.
  return (first === 0x7b || first === 0x5b) && !bytes.subarray(0, 4).includes(0);
}

async function inspectJson(json: JsonValue, bytes: Uint8Array): Promise<Inspected | null> {
  const has = (value: unknown, ...names: string[]): boolean =>
    isJsonObject(value) && names.some((name) => Object.hasOwn(value, name));
  const all = (value: unknown, ...names: string[]): boolean => names.every((name) => has(value, name));
  if (has(unwrap(json, "bootProof"), DOCUMENT_MEMBER.name, DOCUMENT_MEMBER.alias, "qosManifestB64"))
    return inspectBootProof(json);
  if (has(json, "manifestSetApprovals", "manifest_set_approvals") && has(json, "manifest"))
    return inspectEnvelope(bytes, "JSON");
  if (all(json, "namespace") && has(json, "pivot", "workloads")) return inspectManifest(bytes, "JSON");
  if (has(json, "activity") || all(json, "intent", "result")) return inspectActivity(json);
  const proofs = appProofList(json);
  if (proofs.length === 0 || !proofs.every((proof) => has(proof, "proofPayload"))) return null;
  return Array.isArray(json) || has(json, "appProofs")
    ? inspectAppProofs(proofs)
    : inspectAppProof(proofs[0], { left: MAX_PAYLOADS_VALUES });
}

async function inspectBinary(bytes: Uint8Array): Promise<Inspected | null> {
  if (attempt(() => decodeCertificate(bytes)).value !== undefined) return inspectCertificate(bytes);
  if (attempt(() => decodeManifestEnvelope(bytes)).value !== undefined) return inspectEnvelope(bytes, "borsh");
  if (attempt(() => decodeManifest(bytes)).value !== undefined) return inspectManifest(bytes, "borsh");
  return beginsAsCoseSign1(bytes) ? inspectDocument(bytes) : null;
}

/** An array of four whose first item is the byte string of the protected header, tagged 18 or not. */
function beginsAsCoseSign1(bytes: Uint8Array): boolean {
  const start = bytes[0] === 0xd2 ? 1 : 0;
  return bytes[start] === 0x84 && bytes[start + 1] === 0x44;
}

async function inspectBootProof(json: JsonValue): Promise<Inspected> {
  const { value, faults } = readBootProof(json);
  const document = value.attestationDocument && (await inspectDocument(value.attestationDocument));
  const manifest = value.manifest && (await inspectManifest(value.manifest, ""));
  const envelope = value.manifestEnvelope && (await inspectEnvelope(value.manifestEnvelope, ""));
  const says = {
    ephemeralPublicKey: hexOf(value.ephemeralPublicKey),
    labels: value.labels && { ...value.labels },
    createdAt: createdAt(value.createdAt),
    declaredManifestVersion: value.declaredManifestVersion,
    attestationDocument: document?.says,
    manifest: manifest?.says,
    manifestEnvelope: withoutRepetition(envelope?.says, manifest?.says),
  };
  return {
    ...inspectedAs("boot proof", "JSON", faults, says),
    faults: [
      ...faultList(faults),
      ...within("attestationDocument", document),
      ...within("manifest", manifest),
      ...within("manifestEnvelope", envelope),
    ],
  };
}

/** The envelope; of its manifest only the hash, where the same manifest is described already. */
function withoutRepetition(envelope: Described | undefined, manifest: Described | undefined): Described | undefined {
  const { manifest: enclosed, ...approvals } = (envelope ?? {}) as DescribedObject;
  const hash = (description: Described | undefined): Described | undefined =>
    (description as DescribedObject | null | undefined)?.["hash"];
  return enclosed && hash(enclosed) === hash(manifest) ? { manifestHash: hash(manifest), ...approvals } : envelope;
}

function within(place: string, inspected: Inspected | undefined): string[] {
  return (inspected?.faults ?? []).map((fault) => `${place}: ${fault}`);
}

function createdAt(time: BootProof["createdAt"] | null | undefined): Described | undefined {
  if (time === undefined || time === null) return time;
  const milliseconds = Number(time.seconds) * 1000;
  return milliseconds <= MAX_TIME_MS ? timeOf(new Date(milliseconds)) : `${time.seconds} seconds`;
}

async function inspectDocument(bytes: Uint8Array): Promise<Inspected> {
  const cose = attempt(() => decodeCoseSign1(bytes));
  if (cose.value === undefined) return inspectedAs("attestation document", "CBOR", cose.faults, null);
  const { value, faults, unknownKeys } = readAttestationDocument(cose.value.payload);
  const header = algorithmFaults(cose.value).map((message) => ({ path: "", message }));
  const unknown = unknownKeys.map((key) => ({ path: "", message: `unknown key ${JSON.stringify(key)}` }));
  return inspectedAs("attestation document", "CBOR", [...header, ...faults, ...unknown], await describeDocument(value));
}

async function describeDocument(document: Reading<AttestationDocument>["value"]): Promise<Described> {
  const pcrs =
    document.pcrs && Object.fromEntries([...document.pcrs].map(([index, value]) => [String(index), toHex(value)]));
  const certificates = [...(document.cabundle ?? []), ...(document.certificate ? [document.certificate] : [])];
  return {
    moduleId: document.moduleId,
    time: document.timestamp === undefined ? undefined : timeOf(new Date(document.timestamp)),
    digest: document.digest,
    pcrs,
    publicKey: hexOf(document.publicKey),
    userData: hexOf(document.userData),
    nonce: hexOf(document.nonce),
    certificates: await Promise.all(certificates.map(describeCertificate)),
  };
}

async function inspectCertificate(der: Uint8Array): Promise<Inspected> {
  return inspectedAs("certificate", "DER", [], await describeCertificate(decodeCertificate(der)));
}

async function describeCertificate(certificate: Certificate): Promise<Described> {
  const constraints = certificate.extensions.find((extension) => extension.id === BASIC_CONSTRAINTS);
  const decoded = constraints && attempt(() => decodeBasicConstraints(constraints.value)).value;
  return {
    subject: nameText(certificate.subject),
    issuer: nameText(certificate.issuer),
    notBefore: timeOf(certificate.notBefore),
    notAfter: timeOf(certificate.notAfter),
    serialNumber: toHex(certificate.serialNumber),
    ca: decoded?.ca ?? false,
    sha256: toHex(await sha256(certificate.der)),
  };
}

async function inspectManifest(bytes: Uint8Array, encoding: string): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifest(bytes));
  return inspectedAs("manifest", encoding, faults, value === undefined ? null : await describeManifest(value));
}

async function inspectEnvelope(bytes: Uint8Array, encoding: string): Promise<Inspected> {
  const { value, faults } = attempt(() => decodeManifestEnvelope(bytes));
  const says = value && {
    manifest: await describeManifest(value.manifest),
    manifestSetApprovals: value.manifestSetApprovals.map(describeApproval),
    shareSetApprovals: value.shareSetApprovals.map(describeApproval),
  };
  return inspectedAs("manifest envelope", encoding, faults, says ?? null);
}

async function describeManifest(manifest: Manifest): Promise<Described> {
  const { namespace, enclave } = manifest;
  return {
    version: manifest.version,
    hash: toHex(await manifestHash(manifest)),
    namespace: { name: namespace.name, nonce: namespace.nonce, quorumKey: toHex(namespace.quorumKey) },
    ...(manifest.pivot === undefined ? describeWorkloads(manifest) : { pivot: describePivot(manifest.pivot) }),
    manifestSet: describeSet(manifest.manifestSet),
    shareSet: describeSet(manifest.shareSet),
    enclave: {
      pcr0: toHex(enclave.pcr0),
      pcr1: toHex(enclave.pcr1),
      pcr2: toHex(enclave.pcr2),
      pcr3: toHex(enclave.pcr3),
      awsRootCertificateSha256: toHex(await sha256(enclave.awsRootCertificate)),
      qosCommit: enclave.qosCommit,
    },
    patchSet: manifest.pivot && describePatchSet(manifest),
    dns: manifest.dns && { resolvers: manifest.dns.resolvers },
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

function describeApproval(approval: Approval): Described {
  return { alias: approval.member.alias, pubKey: toHex(approval.member.pubKey), signature: toHex(approval.signature) };
}

function inspectAppProof(proof: unknown, budget: ValueBudget): Inspected {
  const { value, faults } = readAppProof(proof);
  const payload = value.proofPayload === undefined ? undefined : readAppProofPayloadText(value.proofPayload, budget);
  const { timestampMs, json } = payload?.value ?? {};
  const says = {
    publicKey: hexOf(value.publicKey),
    time: timestampMs === undefined ? undefined : timeOf(new Date(timestampMs)),
    payload: (json ?? value.proofPayload) as Described | undefined,
    signature: hexOf(value.signature),
  };
  const payloadFaults = faultList(payload?.faults ?? []).map((fault) => `proofPayload: ${fault}`);
  return { ...inspectedAs("app proof", "JSON", faults, says), faults: [...faultList(faults), ...payloadFaults] };
}

function inspectAppProofs(proofs: readonly unknown[]): Inspected {
  const budget = { left: MAX_PAYLOADS_VALUES };
  const inspected = proofs.slice(0, MAX_APP_PROOFS).map((proof) => inspectAppProof(proof, budget));
  const all = inspected.flatMap((one, index) => within(`[${index}]`, one));
  const faults = all.length > MAX_FAULTS ? [...all.slice(0, MAX_FAULTS), `and ${all.length - MAX_FAULTS} more`] : all;
  if (proofs.length > MAX_APP_PROOFS)
    faults.push(`${proofs.length} entries, of which the first ${MAX_APP_PROOFS} are shown`);
  return { kind: "app proofs", encoding: "JSON", faults, says: inspected.map((one) => one.says) };
}

function inspectActivity(json: JsonValue): Inspected {
  const { value, faults } = readActivity(json);
  const proofs = value.appProofs && inspectAppProofs(value.appProofs);
  const says = { ...(value as DescribedObject), appProofs: proofs?.says };
  return {
    ...inspectedAs("activity", "JSON", faults, says),
    faults: [...faultList(faults), ...within("appProofs", proofs)],
  };
}

function inspectedAs(kind: InspectedKind, encoding: string, faults: readonly Fault[], says: Described): Inspected {
  return { kind, encoding, faults: faultList(faults), says };
}

function faultList(faults: readonly Fault[]): string[] {
  return faults.map((fault) => faultText([fault]));
}

function hexOf(bytes: Uint8Array | null | undefined): string | null | undefined {
  return bytes && toHex(bytes);
}

function timeOf(time: Date): string {
  return time.toISOString();
}
