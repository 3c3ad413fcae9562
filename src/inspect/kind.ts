/** Recognises the kind of a file by its content. */
import { fromUtf8 } from "../bytes.js";
import { DOCUMENT_MEMBER } from "../decode/boot-proof.js";
import { decodeCertificate } from "../decode/certificate.js";
import { provisioningForm } from "../decode/evidence-members.js";
import { unwrap } from "../decode/input.js";
import { type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import { decodeManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { areNitroCliPcrs, arePcrLines } from "../decode/published-pcrs.js";
import { decodeFile } from "../decode/text-encoding.js";
import { MalformedError, attempt } from "../errors.js";
import { isImageStart } from "../image/header.js";
import { PEM_START } from "../verify/trust-anchor.js";

export type EvidenceKind =
  | "boot proof"
  | "boot proofs"
  | "app proof"
  | "app proofs"
  | "activity"
  | "attestation document"
  | "manifest"
  | "manifest envelope"
  | "certificate"
  | "certificates"
  | "bundle"
  | "provenance bundle"
  | "trusted root"
  | "policy"
  | "report"
  | "release"
  | "approval"
  | "image PCRs"
  | "request"
  | "API key"
  | "enclave image";

export interface Recognised {
  readonly kind: EvidenceKind;
  /** Such as `JSON` or `CBOR in base64`. */
  readonly encoding: string;
  /** Without the base64 or hex around them. */
  readonly bytes: Uint8Array;
  /** The parsed JSON, with numbers as literals. */
  readonly json: JsonValue | undefined;
}

/**
 * The kind of the content, which may still be invalid or incomplete. Null for unknown kinds and invalid JSON. Never
 * throws.
 */
export function kindOf(bytes: Uint8Array): EvidenceKind | null {
  if (!(bytes instanceof Uint8Array)) return null;
  return attempt(() => recognise(bytes)).value?.kind ?? null;
}

/** {@link kindOf} with what was decoded. Throws `MalformedError` (`json`). */
export function recognise(file: Uint8Array): Recognised | null {
  const plain = recogniseContent(file);
  if (plain !== null) return plain;
  const { bytes, encoding } = decodeFile(file);
  const inside = encoding === "binary" ? null : recogniseContent(bytes);
  return inside && { ...inside, encoding: `${inside.encoding} in ${encoding}` };
}

function recogniseContent(bytes: Uint8Array): Recognised | null {
  // The caller may hold only the beginning of a large image.
  if (isImageStart(bytes)) return { kind: "enclave image", encoding: "EIF", bytes, json: undefined };
  if (beginsAsJson(bytes)) {
    const { value: json, faults } = attempt(() => parseJson(bytes, { numbers: "literal" }));
    const lines = json === undefined ? kindOfLines(bytes) : null;
    if (lines !== null) return { kind: lines, encoding: "JSON Lines", bytes, json: undefined };
    if (json === undefined) throw new MalformedError("json", faults);
    const kind = kindOfJson(json);
    return kind && { kind, encoding: "JSON", bytes, json };
  }
  const [kind, encoding] = kindOfText(bytes) ?? kindOfBinary(bytes) ?? [];
  return kind && encoding ? { kind, encoding, bytes, json: undefined } : null;
}

export function beginsAsJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  // Borsh begins with a length of four bytes, at least one of them zero.
  return (first === 0x7b || first === 0x5b) && !bytes.subarray(0, 4).includes(0);
}

function has(value: unknown, ...names: string[]): boolean {
  return isJsonObject(value) && names.every((name) => Object.hasOwn(value, name));
}

function hasOneOf(value: unknown, ...names: string[]): boolean {
  return names.some((name) => has(value, name));
}

/** Kinds that other tools write as JSON Lines. */
const KINDS_OF_LINES: readonly EvidenceKind[] = ["provenance bundle", "trusted root"];

/** The kind of the first of several lines. */
function kindOfLines(bytes: Uint8Array): EvidenceKind | null {
  const end = bytes.indexOf(0x0a);
  if (end < 0) return null;
  const kind = attempt(() => kindOfJson(parseJson(bytes.subarray(0, end)))).value ?? null;
  return kind !== null && KINDS_OF_LINES.includes(kind) ? kind : null;
}

/** A format, in any version. */
function names(value: unknown, member: string, format: string): boolean {
  if (!isJsonObject(value) || !has(value, member)) return false;
  const name = value[member];
  return typeof name === "string" && name.startsWith(format);
}

function isBootProof(value: unknown): boolean {
  const inside = unwrap(value, "bootProof");
  if (hasOneOf(inside, DOCUMENT_MEMBER.name, DOCUMENT_MEMBER.alias, "qosManifestB64")) return true;
  return provisioningForm(inside) !== null;
}

function isAppProof(value: unknown): boolean {
  return has(unwrap(value, "appProof"), "proofPayload");
}

/** Also one without a media type. */
function isProvenanceBundle(value: unknown): boolean {
  if (names(value, "mediaType", "application/vnd.dev.sigstore.bundle")) return true;
  return has(value, "verificationMaterial") && hasOneOf(value, "dsseEnvelope", "messageSignature");
}

const APPROVALS = ["manifestSetApprovals", "manifest_set_approvals"];

/** Bare or in its wrapper. */
function isListOf(value: unknown, wrapper: string, isOne: (item: unknown) => boolean): boolean {
  const list = unwrap(value, wrapper);
  return Array.isArray(list) && list.length > 0 && list.every(isOne);
}

/**
 * In order of precedence: secrets, so that they are never shown as another kind; files that name their format;
 * evidence; files that omit the name of their format.
 */
const JSON_KINDS: readonly (readonly [EvidenceKind, (json: JsonValue) => boolean])[] = [
  ["API key", (json) => has(json, "publicKey", "privateKey")],
  ["bundle", (json) => names(json, "bundle", "bootproof-bundle/")],
  ["report", (json) => names(json, "format", "bootproof-report/")],
  ["policy", (json) => names(json, "policy", "bootproof/")],
  ["provenance bundle", isProvenanceBundle],
  ["trusted root", (json) => names(json, "mediaType", "application/vnd.dev.sigstore.trustedroot")],
  ["boot proof", isBootProof],
  ["manifest envelope", (json) => has(json, "manifest") && hasOneOf(json, ...APPROVALS)],
  ["manifest", (json) => has(json, "namespace") && hasOneOf(json, "pivot", "workloads")],
  ["activity", (json) => has(json, "activity") || (has(json, "intent") && hasOneOf(json, "result", "status"))],
  ["bundle", (json) => has(json, "bundle") || has(json, "bootProofs", "appProofs")],
  ["boot proofs", (json) => isListOf(json, "bootProofs", isBootProof)],
  ["app proofs", (json) => isListOf(json, "appProofs", (item) => has(item, "proofPayload"))],
  ["app proof", isAppProof],
  ["request", (json) => names(json, "type", "ACTIVITY_TYPE_") && has(json, "parameters")],
  ["approval", (json) => has(json, "signature", "member")],
  ["image PCRs", areNitroCliPcrs],
  ["policy", (json) => has(json, "deployments")],
  ["release", (json) => isJsonObject(json) && has(json, "version") && Object.values(json).some(isReleasedApplication)],
];

function isReleasedApplication(value: JsonValue): boolean {
  return has(value, "appBinaryDigest");
}

/** {@link kindOf} for parsed JSON. */
export function kindOfJson(json: JsonValue): EvidenceKind | null {
  return JSON_KINDS.find(([, fits]) => fits(json))?.[0] ?? null;
}

type KindAndEncoding = readonly [EvidenceKind, string];

function kindOfText(bytes: Uint8Array): KindAndEncoding | null {
  const text = fromUtf8(bytes);
  if (text === null) return null;
  if (arePcrLines(text)) return ["image PCRs", "text"];
  const first = text.indexOf(PEM_START);
  if (first < 0) return isRelease(text) ? ["release", "YAML"] : null;
  return [text.includes(PEM_START, first + 1) ? "certificates" : "certificate", "PEM"];
}

/** Releases have a few kilobytes. */
const MAX_RELEASE_START = 65_536;
const YAML_MEMBER = /^(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]|$)/;
const YAML_IGNORED = /^[ \t]*(?:#.*)?$|^(?:---|%YAML\b.*|%TAG\b.*)[ \t]*$/;
const RELEASE_MEMBER = /^[ \t]+(?:appBinaryDigest|"appBinaryDigest"|'appBinaryDigest')[ \t]*:/;

/** Recognises the YAML of a release by its lines. The YAML parser validates it. */
function isRelease(text: string): boolean {
  const lines = text.slice(0, MAX_RELEASE_START).split(/\r?\n/);
  const first = lines.find((line) => !YAML_IGNORED.test(line));
  return first !== undefined && YAML_MEMBER.test(first) && lines.some((line) => RELEASE_MEMBER.test(line));
}

function kindOfBinary(bytes: Uint8Array): KindAndEncoding | null {
  if (attempt(() => decodeCertificate(bytes)).value !== undefined) return ["certificate", "DER"];
  if (attempt(() => decodeManifestEnvelope(bytes)).value !== undefined) return ["manifest envelope", "borsh"];
  if (attempt(() => decodeManifest(bytes)).value !== undefined) return ["manifest", "borsh"];
  if (attempt(() => decodeApproval(bytes)).value !== undefined) return ["approval", "borsh"];
  return beginsAsCoseSign1(bytes) ? ["attestation document", "CBOR"] : null;
}

/** An array of four whose first item is a byte string, tagged 18 or not. */
function beginsAsCoseSign1(bytes: Uint8Array): boolean {
  const start = bytes[0] === 0xd2 ? 1 : 0;
  return bytes[start] === 0x84 && bytes[start + 1] === 0x44;
}
