/**
 * The service's boot proof (service-interface 2.5): its fields as bytes and text, nothing decoded further, nothing
 * verified.
 */
import { equalBytes, fromBase64, fromHex } from "../bytes.js";
import { FaultList, type Reading, requireWhole } from "../errors.js";
import { jsonInput, unwrap } from "./input.js";
import { MemberReader } from "./json.js";

/**
 * ```json
 * { "ephemeralPublicKeyHex", "cloudAttestationDocB64", "qosManifestB64", "qosManifestEnvelopeB64", "deploymentLabel",
 *   "enclaveApp", "owner", "createdAt": { "seconds", "nanos" }, "qosManifestVersion"? }
 * ```
 * `awsAttestationDocB64` is read as another name of `cloudAttestationDocB64`. Deployed services leave out some of
 * `deploymentLabel`, `enclaveApp`, `owner` and `createdAt`.
 */
export interface BootProof {
  readonly ephemeralPublicKey: Uint8Array;
  /** The COSE_Sign1, as received. */
  readonly attestationDocument: Uint8Array;
  readonly manifest: Uint8Array;
  readonly manifestEnvelope: Uint8Array;
  /** The service's word, signed by nobody. */
  readonly labels: BootProofLabels;
  /** The service's word, signed by nobody; null where it does not say. */
  readonly createdAt: { readonly seconds: string; readonly nanos: string } | null;
  readonly declaredManifestVersion: string | null;
}

/** Each is null where the service does not say it. */
export interface BootProofLabels {
  readonly deploymentLabel: string | null;
  readonly enclaveApp: string | null;
  readonly owner: string | null;
}

/** What a tolerant reading of a boot proof found. */
export interface BootProofReading extends Reading<BootProof> {
  /**
   * The names of the members that are not there, or null, though the interface has them. No fault: nobody signs them,
   * and deployed services leave some out (checks.md, `boot.decode`).
   */
  readonly missing: readonly string[];
}

/** The members that a boot proof may lack. */
const OPTIONAL_MEMBERS = ["owner", "deploymentLabel", "enclaveApp", "createdAt"] as const;

/**
 * Decodes a boot proof, bare or as `{"bootProof": …}`, from JSON text, its bytes, or the parsed value. Nothing is
 * verified. Throws {@link MalformedError} with every fault.
 */
export function decodeBootProof(input: unknown): BootProof {
  return requireWhole("boot-proof", readBootProof(jsonInput(input)));
}

/** Reads a boot proof, keeping the fields that are good beside the faults of those that are not. */
export function readBootProof(input: unknown): BootProofReading {
  const faults = new FaultList();
  const reader = MemberReader.of(unwrap(input, "bootProof"), "", faults);
  if (reader === undefined) return { value: {}, faults, missing: [] };
  const value = {
    ephemeralPublicKey: hexMember(reader, "ephemeralPublicKeyHex"),
    attestationDocument: attestationDocument(reader),
    manifest: base64Member(reader, "qosManifestB64"),
    manifestEnvelope: base64Member(reader, "qosManifestEnvelopeB64"),
    labels: labels(reader),
    createdAt: createdAt(reader),
    declaredManifestVersion:
      reader.get("qosManifestVersion") === undefined ? null : reader.string("qosManifestVersion"),
  };
  return { value, faults, missing: OPTIONAL_MEMBERS.filter((name) => reader.get(name) === undefined) };
}

function attestationDocument(reader: MemberReader): Uint8Array | undefined {
  const alias = reader.get("awsAttestationDocB64") !== undefined;
  if (!alias) return base64Member(reader, "cloudAttestationDocB64");
  const aliased = base64Member(reader, "awsAttestationDocB64");
  if (reader.get("cloudAttestationDocB64") === undefined) return aliased;
  const document = base64Member(reader, "cloudAttestationDocB64");
  if (document && aliased && !equalBytes(document, aliased)) {
    return reader.fault("awsAttestationDocB64", "differs from cloudAttestationDocB64, which is the same field");
  }
  return document;
}

/** Undefined where one of them is of the wrong type. */
function labels(reader: MemberReader): BootProofLabels | undefined {
  const deploymentLabel = label(reader, "deploymentLabel");
  const enclaveApp = label(reader, "enclaveApp");
  const owner = label(reader, "owner");
  if (deploymentLabel === undefined || enclaveApp === undefined || owner === undefined) return undefined;
  return { deploymentLabel, enclaveApp, owner };
}

function label(reader: MemberReader, name: keyof BootProofLabels): string | null | undefined {
  return reader.get(name) === undefined ? null : reader.string(name);
}

function createdAt(reader: MemberReader): BootProof["createdAt"] | undefined {
  if (reader.get("createdAt") === undefined) return null;
  const timestamp = reader.nested("createdAt");
  if (timestamp === undefined) return undefined;
  const seconds = decimalMember(timestamp, "seconds");
  const nanos = decimalMember(timestamp, "nanos");
  return seconds !== undefined && nanos !== undefined ? { seconds, nanos } : undefined;
}

export function decimalMember(reader: MemberReader, name: string): string | undefined {
  const text = reader.string(name);
  return text === undefined || /^(?:0|[1-9][0-9]*)$/.test(text) ? text : reader.fault(name, "a decimal number wanted");
}

/** A member in hex of either case; of one length where it is given. */
export function hexMember(reader: MemberReader, name: string, length?: number): Uint8Array | undefined {
  const text = reader.string(name);
  if (text === undefined) return undefined;
  const bytes = fromHex(text);
  if (bytes === null) return reader.fault(name, "not hex");
  if (length !== undefined && bytes.length !== length) {
    return reader.fault(name, `${text.length} hex digits, ${2 * length} wanted`);
  }
  return bytes;
}

function base64Member(reader: MemberReader, name: string): Uint8Array | undefined {
  const text = reader.string(name);
  if (text === undefined) return undefined;
  return fromBase64(text) ?? reader.fault(name, "not strict base64 (standard alphabet, padded, no white space)");
}
