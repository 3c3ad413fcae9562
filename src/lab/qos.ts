/** QuorumOS in software (decode/README.md, verify/README.md): keys, manifests, approvals, commitments. */
import { createHash } from "node:crypto";
import { concatBytes, toHex, toUtf8 } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import { canonicalQosJson } from "../decode/qos-json.js";
import {
  type Approval,
  type BridgeConfig,
  type Manifest,
  type ManifestByVersion,
  type ManifestEnvelope,
  type ManifestOf,
  type ManifestVersion,
  type MemberSet,
  type PivotManifest,
  type QuorumMember,
  type Workload,
  type WorkloadManifest,
  approvalNames,
  manifestEncodings,
  manifestHashInput,
} from "../decode/manifest/index.js";
import { encodeBorshEnvelope, encodeBorshManifest } from "./borsh.js";
import { type KeyPair, generateKeyPair, publicPoint, signRaw } from "./keys.js";

/** A key pair for encryption, and one for signing. */
export interface QosKeyPair {
  readonly encryption: KeyPair;
  readonly signing: KeyPair;
  /** The public key, 130 bytes: encryption point, then signing point. */
  readonly publicKey: Uint8Array;
}

export function generateQosKeyPair(): QosKeyPair {
  return qosKeyPair(generateKeyPair("prime256v1"), generateKeyPair("prime256v1"));
}

export function qosKeyPair(encryption: KeyPair, signing: KeyPair): QosKeyPair {
  return { encryption, signing, publicKey: concatBytes(publicPoint(encryption), publicPoint(signing)) };
}

export function qosSign(key: QosKeyPair, message: Uint8Array): Uint8Array {
  return signRaw(key.signing, "sha256", message);
}

/** A member of a manifest set or share set. */
export interface LabMember {
  readonly alias: string;
  readonly key: QosKeyPair;
}

export function generateMembers(...aliases: string[]): LabMember[] {
  return aliases.map((alias) => ({ alias, key: generateQosKeyPair() }));
}

function quorumMember(member: LabMember): QuorumMember {
  return { alias: member.alias, pubKey: member.key.publicKey };
}

export function memberSet(threshold: number, members: readonly LabMember[]): MemberSet {
  return { threshold, members: members.map(quorumMember) };
}

export interface ManifestParts extends Pick<Manifest, "namespace" | "manifestSet" | "shareSet" | "enclave"> {
  /** The hash of the pivot, or the digest of the workload's image. */
  readonly pivotHash: Uint8Array;
  /** The arguments of the pivot. */
  readonly args: readonly string[];
}

/** Makes a manifest of this version, with all its optional parts. */
export function makeManifest<V extends ManifestVersion>(version: V, parts: ManifestParts): ManifestByVersion[V] {
  return MAKERS[version](parts);
}

const MAKERS: { readonly [V in ManifestVersion]: (parts: ManifestParts) => ManifestByVersion[V] } = {
  v0: (parts) => ({ version: "v0", ...olderParts(parts) }),
  "v0-tail": (parts) => ({ version: "v0-tail", ...olderParts(parts), clientTimeoutMs: 5000, poolSize: null }),
  v1: (parts) => ({ version: "v1", ...olderParts(parts), pivot: newerPivot(parts) }),
  v2: (parts) => ({
    version: "v2",
    ...commonParts(parts),
    pivot: { ...newerPivot(parts), env: new Map([["LOG_LEVEL", "info"]]) },
    dns: DNS,
  }),
  v3: (parts) => ({
    version: "v3",
    ...commonParts(parts),
    workloads: [workload(parts.pivotHash)],
    dns: DNS,
    volumes: new Map([["scratch", { type: "tmpfs", mountPath: "/volumes/scratch" }]]),
  }),
};

const DNS = { resolvers: ["169.254.169.253", "fd00:ec2::253"] };

function commonParts({
  namespace,
  manifestSet,
  shareSet,
  enclave,
}: ManifestParts): Omit<ManifestParts, "pivotHash" | "args"> {
  return { namespace, manifestSet, shareSet, enclave };
}

function olderPivot({ pivotHash, args }: ManifestParts): PivotManifest["pivot"] {
  return { hash: pivotHash, restart: "Always", args: [...args] };
}

function olderParts(parts: ManifestParts): Omit<PivotManifest, "version"> {
  const members = parts.manifestSet.members.map(({ pubKey }) => ({ pubKey }));
  return { ...commonParts(parts), pivot: olderPivot(parts), patchSet: { threshold: 1, members } };
}

function newerPivot(parts: ManifestParts): PivotManifest["pivot"] {
  const server: BridgeConfig = { type: "server", port: 3000, host: "0.0.0.0" };
  const client: BridgeConfig = { type: "client", port: 443, host: null };
  return { ...olderPivot(parts), bridgeConfig: [server, client], debugMode: false };
}

/** The only workload in v3 manifests of the lab. */
export const LAB_WORKLOAD = "signer";

function workload(imageDigest: Uint8Array): Workload {
  return {
    name: LAB_WORKLOAD,
    imageDigest,
    restart: "always",
    mounts: [
      { type: "volume", source: "scratch", mountPath: "/var/scratch", readOnly: false },
      { type: "file", source: "/qos.quorum.key", mountPath: "/run/qos/quorum.key", readOnly: true },
    ],
  };
}

export function manifestHash(manifest: Manifest): Uint8Array {
  return sha256(manifestHashInput(manifest));
}

export function approve(hash: Uint8Array, member: LabMember): Approval {
  return { signature: qosSign(member.key, hash), member: quorumMember(member) };
}

/**
 * How numbers and bytes are written in JSON. Readers accept all of these forms, but QOS itself writes v2 as canonical
 * JSON.
 */
export interface JsonSpelling {
  readonly numbers?: "number" | "string";
  readonly hex?: "lower" | "upper" | "0x";
}

export interface ManifestEncoding {
  readonly encoding: "json" | "borsh";
  /** How JSON is written. Default: plain numbers and lower-case hex; from v2 on, canonical JSON. */
  readonly spelling?: JsonSpelling | undefined;
  readonly alterJson?: ((json: JsonObject) => JsonObject) | undefined;
}

export function encodeManifest(manifest: Manifest, { encoding, spelling, alterJson }: ManifestEncoding): Uint8Array {
  if (encoding === "borsh") return encodeBorshManifest(manifest);
  return jsonBytes(manifestJson(manifest, spelling), isCanonical(manifest.version, spelling), alterJson);
}

export function encodeEnvelope(
  envelope: ManifestEnvelope,
  { encoding, spelling, alterJson }: ManifestEncoding,
): Uint8Array {
  if (encoding === "borsh") return encodeBorshEnvelope(envelope);
  return jsonBytes(envelopeJson(envelope, spelling), isCanonical(envelope.manifest.version, spelling), alterJson);
}

function isCanonical(version: ManifestVersion, spelling: JsonSpelling | undefined): boolean {
  return spelling === undefined && manifestEncodings(version)[0] === "json";
}

/**
 * Encodes JSON. Members are made canonical before they are altered, since an altered value may have no canonical form.
 */
function jsonBytes(json: JsonObject, canonical: boolean, alter: ManifestEncoding["alterJson"]): Uint8Array {
  const spelledOut = canonical ? (JSON.parse(canonicalQosJson(json)) as JsonObject) : json;
  return toUtf8(JSON.stringify(alter?.(spelledOut) ?? spelledOut));
}

function manifestJson<V extends ManifestVersion>(manifest: ManifestOf<V>, spelling: JsonSpelling = {}): JsonObject {
  return spelledObject(JSON_FORMS[manifest.version](manifest), spelling);
}

const JSON_FORMS: { readonly [V in ManifestVersion]: (manifest: ManifestByVersion[V]) => object } = {
  v0: unversionedJson,
  "v0-tail": ({ clientTimeoutMs, poolSize, ...manifest }) => ({
    ...unversionedJson(manifest),
    clientTimeoutMs,
    poolSize,
  }),
  v1: unversionedJson,
  v2: ({ pivot: { env, ...pivot }, ...manifest }) => ({
    ...manifest,
    pivot: {
      ...pivot,
      ...(env && { env: Object.fromEntries([...env].map(([name, value]) => [name, { plain: { value } }])) }),
    },
  }),
  v3: workloadManifestJson,
};

function unversionedJson({ namespace, pivot, manifestSet, shareSet, enclave, patchSet }: PivotManifest): object {
  return { namespace, pivot, manifestSet, shareSet, enclave, ...(patchSet && { patchSet }) };
}

function workloadManifestJson({ workloads, volumes, enclave, ...manifest }: WorkloadManifest): object {
  return {
    ...manifest,
    workloads: workloads.map(({ imageDigest, mounts, ...rest }) => ({
      ...rest,
      type: "oci",
      image: { type: "ociManifest", digest: imageDigestText(imageDigest) },
      ...(mounts.length > 0 && { mounts }),
    })),
    enclave: { type: "nitro", ...enclave },
    ...(volumes && { volumes: Object.fromEntries(volumes) }),
  };
}

function envelopeJson(envelope: ManifestEnvelope, spelling: JsonSpelling = {}): JsonObject {
  const { manifest, manifestSetApprovals, shareSetApprovals } = envelope;
  const names = approvalNames(manifest.version);
  const approvals = { [names.manifestSet]: manifestSetApprovals, [names.shareSet]: shareSetApprovals };
  return { manifest: manifestJson(manifest, spelling), ...spelledObject(approvals, spelling) };
}

function spelledObject(value: object, spelling: JsonSpelling): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, spelled(member, spelling)]));
}

function spelled(value: unknown, spelling: JsonSpelling): JsonValue {
  if (value instanceof Uint8Array) return spelledHex(toHex(value), spelling.hex);
  if (typeof value === "number" && spelling.numbers === "string") return String(value);
  if (Array.isArray(value)) return value.map((item) => spelled(item, spelling));
  if (typeof value !== "object" || value === null) return value as JsonValue;
  return spelledObject(value, spelling);
}

function spelledHex(hex: string, spelling: JsonSpelling["hex"] = "lower"): string {
  if (spelling === "lower") return hex;
  return spelling === "upper" ? hex.toUpperCase() : `0x${hex}`;
}

/** Returns PCR16 (setup) or PCR17 (live), which commits to manifest and key. */
export function commitmentPcr(phase: "setup" | "live", hash: Uint8Array, ephemeralKey: Uint8Array): Uint8Array {
  const domain = `qos-${phase}-manifest-pcr-commitment-v1`;
  const preimage =
    `{"domain":"${domain}","ephemeralPublicKey":"${toHex(ephemeralKey)}",` + `"manifestHash":"${toHex(hash)}"}`;
  return extendedPcr(sha384(toUtf8(preimage)));
}

/** Returns PCR18, which commits to the manifest alone (verify/README.md, "Commitments"). */
export function manifestCommitmentPcr(hash: Uint8Array): Uint8Array {
  const preimage = `{"domain":"qos-manifest-pcr-commitment-v1","manifestHash":"${toHex(hash)}"}`;
  return extendedPcr(sha384(toUtf8(preimage)));
}

/**
 * Returns a PCR that was zeros and is extended with `data`, such as PCR3 with the role's ARN or PCR4 with the instance
 * id.
 */
export function extendedPcr(data: Uint8Array): Uint8Array {
  return sha384(concatBytes(new Uint8Array(PCR_LENGTH), data));
}

export function sha256(data: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(data).digest());
}

export function sha384(data: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha384").update(data).digest());
}
