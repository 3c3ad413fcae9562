/** Decoding of the service's boot proofs (client/README.md, "Boot proofs") and provisioning details (README.md). */
import { equalBytes, toUtf8 } from "../bytes.js";
import { type Fault, type Reading, requireWhole } from "../errors.js";
import {
  DOCUMENT_MEMBER,
  type ProvisioningForm,
  evidenceBeside,
  provisioningForm,
  provisioningMembers,
  stateInstead,
} from "./evidence-members.js";
import { jsonInput, unwrap } from "./input.js";
import { JsonNumber, isJsonObject, jsonKind, jsonText } from "./json.js";
import { MemberReader, base64Text, decimal, hexText } from "./json-members.js";
import { placeOf, text } from "./shapes.js";

/**
 * ```json
 * { "ephemeralPublicKeyHex", "cloudAttestationDocB64", "qosManifestB64", "qosManifestEnvelopeB64", "deploymentLabel",
 *   "enclaveApp", "owner", "createdAt": { "seconds", "nanos" }, "qosManifestVersion"? }
 * ```
 * `awsAttestationDocB64` is another name of `cloudAttestationDocB64`. Provisioning details have one of these forms:
 * ```json
 * { "attestation_document_cose_sign1_base64", "manifest_envelope": {…}, "validation_time_secs"? }
 * { "attestationDocumentCoseSign1Base64", "manifestEnvelope": {…}, "fetchedAtUnixMs", "deploymentId",
 *   "ephemeralPublicKeyHex" }
 * { "attestationDocument", "manifestEnvelope", "provisioningState"? }
 * ```
 */
export interface BootProof {
  /** `provisioning` is the form that a share holder sees before releasing a share. It has no labels or `createdAt`. */
  readonly form: BootProofForm;
  /** The key that the service claims. Null if provisioning details name no key: then only the document names it. */
  readonly ephemeralPublicKey: Uint8Array | null;
  /** The COSE_Sign1, as received. */
  readonly attestationDocument: Uint8Array;
  /** The manifest outside the envelope. Null in provisioning details, where only the envelope contains a manifest. */
  readonly manifest: Uint8Array | null;
  /** The envelope as received. If provisioning details hold an object, it is the JSON text of that object. */
  readonly manifestEnvelope: Uint8Array;
  /** Claimed by the service, not signed. */
  readonly labels: BootProofLabels;
  /** Claimed by the service, not signed; null if absent. */
  readonly createdAt: { readonly seconds: string; readonly nanos: string } | null;
  readonly declaredManifestVersion: string | null;
  /** State of the deployment, claimed by the service in provisioning details; null if absent. */
  readonly provisioningState: string | null;
}

export type BootProofForm = "service" | "provisioning";

/** Labels that the service claims. Absent labels are null. */
export interface BootProofLabels {
  readonly deploymentLabel: string | null;
  readonly enclaveApp: string | null;
  readonly owner: string | null;
}

interface BootProofReading extends Reading<BootProof> {
  /**
   * Members of the interface that are absent or null. They are not faults, since they are unsigned and services omit
   * some (client/README.md, "Boot proofs").
   */
  readonly missing: readonly string[];
}

export { DOCUMENT_MEMBER };

const SERVICE_MEMBERS: Readonly<Record<string, keyof BootProof>> = {
  ephemeralPublicKeyHex: "ephemeralPublicKey",
  cloudAttestationDocB64: "attestationDocument",
  awsAttestationDocB64: "attestationDocument",
  qosManifestB64: "manifest",
  qosManifestEnvelopeB64: "manifestEnvelope",
  qosManifestVersion: "declaredManifestVersion",
  deploymentLabel: "labels",
  enclaveApp: "labels",
  owner: "labels",
  createdAt: "createdAt",
};

/** Returns the decoded member for each member of the JSON. Claims in provisioning details have no decoded member. */
export function bootProofMembers(form: ProvisioningForm | null): Readonly<Record<string, keyof BootProof>> {
  if (form === null) return SERVICE_MEMBERS;
  return {
    ...Object.fromEntries(provisioningMembers(form).map((name) => [name, "form"] as const)),
    [form.document]: "attestationDocument",
    [form.envelope.name]: "manifestEnvelope",
    ...(form.key !== null && { [form.key]: "ephemeralPublicKey" }),
  };
}

const OPTIONAL_MEMBERS = ["owner", "deploymentLabel", "enclaveApp", "createdAt"] as const;

/**
 * Decodes a boot proof of either form, bare or as `{"bootProof": …}`, from JSON text, its bytes, or the parsed value.
 * Verifies nothing. Throws {@link MalformedError} with every fault.
 */
export function decodeBootProof(input: unknown): BootProof {
  return requireWhole("boot-proof", readBootProof(jsonInput(input)));
}

/** Maximum number of boot proofs in one file. Each is verified separately, which takes time. */
export const MAX_BUNDLE_BOOT_PROOFS = 256;

/** Returns an array, or the array in `{"bootProofs": […]}`, or null for any other value. */
export function bootProofList(input: unknown): readonly unknown[] | null {
  const list = unwrap(input, "bootProofs");
  return Array.isArray(list) ? list : null;
}

/** Tolerant form of {@link decodeBootProof}, for a parsed value. */
export function readBootProof(input: unknown): BootProofReading {
  const faults = evidenceBeside(input, "boot proof");
  const reader = MemberReader.of(unwrap(input, "bootProof"), placeOf(faults));
  if (reader === undefined) return { value: {}, faults, missing: [] };
  const state = stateInstead(reader.object);
  if (state !== null) return { value: {}, faults: [...faults, { path: "", message: state }], missing: [] };
  const form = provisioningForm(reader.object);
  if (form !== null) return { value: provisioningDetails(reader, form, faults), faults, missing: [] };
  const value = {
    form: "service" as const,
    ephemeralPublicKey: reader.read("ephemeralPublicKeyHex", hexText),
    attestationDocument: attestationDocument(reader),
    manifest: reader.read("qosManifestB64", base64Text),
    manifestEnvelope: reader.read("qosManifestEnvelopeB64", base64Text),
    labels: labels(reader),
    createdAt: createdAt(reader),
    declaredManifestVersion: optionalText(reader, "qosManifestVersion"),
    provisioningState: null,
  };
  return { value, faults, missing: OPTIONAL_MEMBERS.filter((name) => reader.get(name) === undefined) };
}

const NO_LABELS: BootProofLabels = Object.freeze({ deploymentLabel: null, enclaveApp: null, owner: null });

/** Reads provisioning details. Any member of another form is a fault, because each form has exactly its own members. */
function provisioningDetails(
  reader: MemberReader,
  form: ProvisioningForm,
  faults: readonly Fault[],
): Reading<BootProof>["value"] {
  refuseOthers(reader, provisioningMembers(form), faults);
  for (const claim of form.claims) checkClaim(reader, claim);
  const state = reader.get("provisioningState");
  return {
    form: "provisioning",
    ephemeralPublicKey: form.key === null ? null : reader.read(form.key, hexText),
    attestationDocument: reader.read(form.document, base64Text),
    manifest: null,
    manifestEnvelope: envelope(reader, form),
    labels: NO_LABELS,
    createdAt: null,
    declaredManifestVersion: null,
    provisioningState: typeof state === "string" ? state : null,
  };
}

/** Adds a fault for each member that is not in `members`, unless it is evidence, which already has a fault. */
function refuseOthers(reader: MemberReader, members: readonly string[], faults: readonly Fault[]): void {
  const refused = new Set(faults.map(({ path }) => path));
  for (const name of Object.keys(reader.object))
    if (!members.includes(name) && !refused.has(reader.place.at(name).path))
      reader.fault(name, `unknown member: provisioning details have exactly ${members.join(", ")}`);
}

/** Checks the form of an unsigned claim, which no verification uses. */
function checkClaim(reader: MemberReader, { name, is, isOptional }: ProvisioningForm["claims"][number]): void {
  const value = reader.get(name);
  if (isOptional && value === undefined) return;
  if (is === "text") return void reader.read(name, text);
  const number = value instanceof JsonNumber ? Number(value.text) : value;
  if (typeof number !== "number") reader.fault(name, `expected a number, got ${jsonKind(value)}`);
  else if (!Number.isSafeInteger(number) || number < 0) reader.fault(name, "expected a non-negative integer");
}

/** Returns the envelope's bytes. Why an object may become bytes is in decode/README.md, "Provisioning details". */
function envelope(reader: MemberReader, { envelope: { name, is } }: ProvisioningForm): Uint8Array | undefined {
  if (is === "base64") return reader.read(name, base64Text);
  const object = reader.nested(name)?.object;
  return object && toUtf8(jsonText(object));
}

function attestationDocument(reader: MemberReader): Uint8Array | undefined {
  const { name, alias } = DOCUMENT_MEMBER;
  if (reader.get(alias) === undefined) return reader.read(name, base64Text);
  const aliased = reader.read(alias, base64Text);
  if (reader.get(name) === undefined) return aliased;
  const document = reader.read(name, base64Text);
  if (document && aliased && !equalBytes(document, aliased)) return reader.fault(alias, differsFrom(name));
  return document;
}

export function differsFrom(other: (typeof DOCUMENT_MEMBER)[keyof typeof DOCUMENT_MEMBER]): string {
  return `differs from ${other}, another name of the same field`;
}

/** Renames the document's alias. If both names are present, neither is renamed, because their values may differ. */
export function withOwnName(bootProof: unknown): unknown {
  const { name: own, alias } = DOCUMENT_MEMBER;
  const isAliased = isJsonObject(bootProof) && (bootProof[alias] ?? null) !== null && (bootProof[own] ?? null) === null;
  if (!isAliased) return bootProof;
  return Object.fromEntries(
    Object.entries(bootProof)
      .filter(([name]) => name !== own)
      .map(([name, value]) => [name === alias ? own : name, value]),
  );
}

function labels(reader: MemberReader): BootProofLabels | undefined {
  const deploymentLabel = optionalText(reader, "deploymentLabel");
  const enclaveApp = optionalText(reader, "enclaveApp");
  const owner = optionalText(reader, "owner");
  if (deploymentLabel === undefined || enclaveApp === undefined || owner === undefined) return undefined;
  return { deploymentLabel, enclaveApp, owner };
}

function optionalText(reader: MemberReader, name: string): string | null | undefined {
  return reader.get(name) === undefined ? null : reader.read(name, text);
}

function createdAt(reader: MemberReader): BootProof["createdAt"] | undefined {
  if (reader.get("createdAt") === undefined) return null;
  const timestamp = reader.nested("createdAt");
  if (timestamp === undefined) return undefined;
  const seconds = timestamp.read("seconds", decimal);
  const nanos = timestamp.read("nanos", decimal);
  return seconds !== undefined && nanos !== undefined ? { seconds, nanos } : undefined;
}
