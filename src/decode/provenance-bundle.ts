/**
 * Decoding of Sigstore bundles with an in-toto statement (decode/README.md, "Provenance bundles"). The subset is a
 * certificate, and a DSSE envelope with exactly one signature. Nothing is verified here: a Sigstore library reads logs
 * and signatures.
 */
import { fromUtf8 } from "../bytes.js";
import { FaultList, MalformedError, type Reading, attempt, faultText, requireWhole } from "../errors.js";
import { type Certificate, decodeCertificate } from "./certificate.js";
import { type JsonObject, type JsonValue, copyJson, isJsonObject, jsonLines, jsonText, parseJson } from "./json.js";
import { MemberReader, base64Text, jsonList, readBy } from "./json-members.js";
import { type Place, list as listOf, optional, placeOf, text as textShape } from "./shapes.js";

const MAX_BUNDLE_BYTES = 1024 * 1024;
/** Maximum counts. A Sigstore library verifies each entry, or compares all of them, before it knows who signed. */
const MAX_LOG_ENTRIES = 8;
const MAX_TIMESTAMPS = 8;
const MAX_CHECKPOINT_SIGNATURES = 100;
const MAX_CERTIFICATES = 10;
const MAX_CERTIFICATE_BYTES = 16 * 1024;
const MAX_EXTENSIONS = 64;
/** Maximum characters of a log's name, because a Sigstore library may make a regular expression of the name. */
const MAX_CHECKPOINT_NAME = 256;

/** Types of bundles that may have a certificate chain. A newer bundle has only the signer's certificate. */
const CHAIN_TYPES: readonly unknown[] = [
  "application/vnd.dev.sigstore.bundle+json;version=0.1",
  "application/vnd.dev.sigstore.bundle+json;version=0.2",
];

const STATEMENT_TYPES = ["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"] as const;
const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** The members of an in-toto statement that are used. */
export interface ProvenanceStatement {
  readonly predicateType: string;
  /** Name and `sha256` of each subject. The digest keeps its spelling, and is null if absent. */
  readonly subjects: readonly { readonly name: string | null; readonly sha256: string | null }[];
}

/** A decoded bundle that was not verified. */
export interface ProvenanceBundle {
  /** The bundle as JSON text, for a Sigstore library. */
  readonly text: string;
  readonly certificate: Certificate;
  /** The bytes that the envelope's signature covers. */
  readonly payload: Uint8Array;
  readonly statement: ProvenanceStatement;
  /** Number of entries of transparency logs. */
  readonly logEntries: number;
  /** Number of RFC 3161 timestamps. */
  readonly timestamps: number;
}

/**
 * Decodes a bundle from JSON text, its bytes, or the parsed value. Verifies nothing. Throws {@link MalformedError}
 * (`provenance`) with every fault.
 */
export function decodeProvenanceBundle(input: unknown): ProvenanceBundle {
  const text = attempt(() => bundleText(input));
  if (text.value === undefined) throw new MalformedError("provenance", text.faults);
  return requireWhole("provenance", readProvenanceBundle(text.value));
}

/**
 * Returns the texts of one bundle, of JSON Lines, or of the bundles in a {@link wrappedBundles wrapper}. Throws {@link
 * MalformedError} (`json`) if it is not UTF-8.
 */
export function splitBundles(file: string | Uint8Array): readonly string[] {
  const text = typeof file === "string" ? file : fromUtf8(file);
  if (text === null) throw fault("not UTF-8");
  const wrapped = attempt(() => wrappedBundles(parseJson(text))).value ?? null;
  return wrapped?.map(bundleText) ?? jsonLines(text).map((line) => line.text);
}

/**
 * Returns the bundles in a list of bundles, in an answer of the attestation API of GitHub or npm, or in the output of
 * `gh attestation verify --format json`. Null for any other JSON. npm's own statements of publication, under a public
 * key, are left out beside others, since no policy can demand them.
 */
export function wrappedBundles(json: JsonValue): readonly JsonValue[] | null {
  const list = isJsonObject(json) ? json["attestations"] : json;
  if (!Array.isArray(list)) return null;
  const items = (list as readonly JsonValue[]).map((item) => insideOf(item));
  const bundles = items.filter((item) => isJsonObject(item) && Object.hasOwn(item, "verificationMaterial"));
  if (bundles.length === 0) return null;
  const certified = items.filter((item) => !isUnderPublicKey(item));
  return certified.length === 0 ? items : certified;
}

function insideOf(item: JsonValue): JsonValue {
  const attestation = isJsonObject(item) ? (item["attestation"] ?? item) : item;
  return isJsonObject(attestation) ? (attestation["bundle"] ?? attestation) : attestation;
}

function isUnderPublicKey(item: JsonValue): boolean {
  const material = isJsonObject(item) ? item["verificationMaterial"] : undefined;
  return isJsonObject(material) && Object.hasOwn(material, "publicKey");
}

/**
 * Returns why a text is not a bundle at all: it is not JSON, or has no verification material or no content. Otherwise
 * returns null, and `provenance.bundle` reports the faults.
 */
export function notBundle(text: string): string | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return `not JSON: ${faultText(attempt(() => parseJson(text)).faults)}`;
  }
  const has = (name: string): boolean => isJsonObject(json) && (json[name] ?? null) !== null;
  if (has("verificationMaterial") && (has("dsseEnvelope") || has("messageSignature"))) return null;
  return isBareEnvelope(json) ? BARE_ENVELOPE : "not a Sigstore bundle: expected verificationMaterial and dsseEnvelope";
}

export const BARE_ENVELOPE =
  "a bare DSSE envelope: it carries no certificate and no entry of a log, so nothing shows who signed it. Get the " +
  "Sigstore bundle of the build (gh attestation download)";

/** Whether JSON is a signed statement without a bundle around it, as older releases carry it. */
export function isBareEnvelope(json: unknown): boolean {
  return isJsonObject(json) && json["payloadType"] === PAYLOAD_TYPE && Array.isArray(json["signatures"]);
}

/** Returns the JSON text of a bundle. Throws {@link MalformedError} (`json`) if it has none or is too large. */
export function bundleText(input: unknown): string {
  if (typeof input === "string" || input instanceof Uint8Array) {
    refuseSize(input.length);
    const text = typeof input === "string" ? input : fromUtf8(input);
    if (text !== null) return text;
    throw fault("not UTF-8");
  }
  const text = jsonText(copyJson(input));
  refuseSize(text.length);
  return text;
}

function refuseSize(length: number): void {
  if (length > MAX_BUNDLE_BYTES) throw fault(`larger than ${MAX_BUNDLE_BYTES} bytes`);
}

function fault(message: string): MalformedError {
  return new MalformedError("json", [{ path: "", message }]);
}

/** Tolerant form of {@link decodeProvenanceBundle}, for the text that {@link bundleText} returned. */
export function readProvenanceBundle(text: string): Reading<ProvenanceBundle> {
  const faults = new FaultList();
  const json = attempt(() => parseJson(text));
  if (json.value === undefined) return { value: {}, faults: json.faults };
  const reader = MemberReader.of(json.value, placeOf(faults));
  if (reader === undefined) return { value: {}, faults };
  const material = reader.nested("verificationMaterial");
  const certificate = material && certificateOf(material, CHAIN_TYPES.includes(reader.get("mediaType")));
  const { logEntries, timestamps } = material ? readSignedTimes(material) : NO_TIMES;
  const payload = payloadOf(reader);
  const statement = payload && statementOf(payload, reader.place.at("statement"));
  return { value: { text, certificate, payload, statement, logEntries, timestamps }, faults };
}

/** Returns the signer's certificate. It is the first of a chain, because a Sigstore library also uses the first. */
function certificateOf(material: MemberReader, mayHaveChain: boolean): Certificate | undefined {
  if (material.get("publicKey") !== undefined) material.fault("publicKey", "expected a certificate, not a public key");
  const [one, chain] = [material.get("certificate"), material.get("x509CertificateChain")];
  if ((one === undefined) === (chain === undefined))
    return material.fault("certificate", "expected exactly one of certificate and x509CertificateChain");
  if (one !== undefined) return certificateIn(material.nested("certificate"));
  if (!mayHaveChain)
    return material.fault("x509CertificateChain", "expected a certificate: only versions 0.1 and 0.2 have a chain");
  const holder = material.nested("x509CertificateChain");
  const certificates = holder && membersIn(holder, "certificates", MAX_CERTIFICATES);
  if (certificates?.length === 0) return holder!.fault("certificates", "empty: expected the certificate of the signer");
  const [leaf, ...others] = certificates ?? [];
  for (const other of others) certificateIn(other, false);
  return certificateIn(leaf);
}

/** Reads a certificate. Only the signer's certificate is used, so in any other only an exceeded limit is a fault. */
function certificateIn(reader: MemberReader | undefined, isSigner = true): Certificate | undefined {
  const bytes = reader && reader.read("rawBytes", base64Text);
  if (bytes === undefined) return undefined;
  if (bytes.length > MAX_CERTIFICATE_BYTES)
    return reader!.fault("rawBytes", `${bytes.length} bytes, expected at most ${MAX_CERTIFICATE_BYTES}`);
  const { value, faults } = attempt(() => decodeCertificate(bytes));
  if (isSigner) for (const { message } of faults) reader!.fault("rawBytes", message);
  const extensions = value?.extensions.length ?? 0;
  if (extensions <= MAX_EXTENSIONS) return value;
  return reader!.fault("rawBytes", `${extensions} extensions, expected at most ${MAX_EXTENSIONS}`);
}

/** Returns the objects in a list that may be absent. If there are more than `most`, it adds a fault. */
function membersIn(reader: MemberReader, name: string, most: number): MemberReader[] | undefined {
  if (reader.get(name) === undefined) return [];
  const list = reader.get(name);
  if (Array.isArray(list) && list.length > most)
    return reader.fault(name, `${list.length} entries, expected at most ${most}`);
  return reader.read(name, listOf(readBy((item) => item)));
}

const NO_TIMES = { logEntries: 0, timestamps: 0 } as const;

/** Checks what signs the time, and counts it. */
function readSignedTimes(material: MemberReader): Pick<ProvenanceBundle, "logEntries" | "timestamps"> {
  const entries = membersIn(material, "tlogEntries", MAX_LOG_ENTRIES) ?? [];
  for (const entry of entries)
    if (entry.get("inclusionProof") !== undefined) checkInclusion(entry.nested("inclusionProof"));
  const data = material.get("timestampVerificationData") && material.nested("timestampVerificationData");
  const timestamps = data ? (membersIn(data, "rfc3161Timestamps", MAX_TIMESTAMPS) ?? []) : [];
  return { logEntries: entries.length, timestamps: timestamps.length };
}

/**
 * Pattern of log names. It excludes characters with a meaning in regular expressions, because a Sigstore library may
 * make one of the name, and some take exponential time.
 */
const CHECKPOINT_NAME = /^[\w.:/%~@-]*$/;

/** Checks that the inclusion proof has the size and root of its checkpoint, because only the checkpoint is signed. */
function checkInclusion(proof: MemberReader | undefined): void {
  const note = proof?.nested("checkpoint")?.read("envelope", textShape);
  if (proof === undefined || note === undefined) return;
  const names = checkpointNames(note);
  if (names.length > MAX_CHECKPOINT_SIGNATURES)
    proof.fault("checkpoint", `${names.length} signatures, expected at most ${MAX_CHECKPOINT_SIGNATURES}`);
  else if (names.some((name) => name.length > MAX_CHECKPOINT_NAME))
    proof.fault("checkpoint", `a name of more than ${MAX_CHECKPOINT_NAME} characters`);
  else if (!names.every((name) => CHECKPOINT_NAME.test(name)))
    proof.fault("checkpoint", "a name with characters that are not allowed in a log's name");
  // A Sigstore library needs half a second for a number of a million digits, so a long number is refused.
  if (!isInteger(proof.get("logIndex"))) proof.fault("logIndex", "expected an integer of 64 bits");
  const [, treeSize, rootHash] = note.split("\n", 3);
  if (!isInteger(treeSize)) proof.fault("checkpoint", "its second line is not the size of a log");
  for (const [name, signed] of Object.entries({ treeSize, rootHash }))
    if (!isSame(proof.get(name), signed)) proof.fault(name, "differs from the signed checkpoint");
}

/** Whether the value is an integer of at most 20 digits. An absent value is 0. */
function isInteger(value: JsonValue | undefined): boolean {
  return /^[0-9]{1,20}$/.test(String(value ?? 0));
}

/**
 * Whether the value equals the checkpoint's. Sigstore writes 64-bit integers as strings, but others may use numbers.
 */
function isSame(value: JsonValue | undefined, signed: string | undefined): boolean {
  return signed !== undefined && (typeof value === "number" ? String(value) : value) === signed;
}

/** Returns texts that a Sigstore library could read as a signature's name, each after an em dash and a space. */
function checkpointNames(note: string): string[] {
  return note
    .split("\u2014 ")
    .slice(1)
    .map((after) => /^\S*/.exec(after)![0]);
}

function payloadOf(reader: MemberReader): Uint8Array | undefined {
  if (reader.get("messageSignature") !== undefined)
    reader.fault("messageSignature", "expected a statement in an envelope (dsseEnvelope), not a signature of a file");
  const envelope = reader.nested("dsseEnvelope");
  if (envelope === undefined) return undefined;
  const type = envelope.read("payloadType", textShape);
  if (type !== undefined && type !== PAYLOAD_TYPE) envelope.fault("payloadType", `expected ${PAYLOAD_TYPE}`);
  const signatures = envelope.read("signatures", jsonList);
  if (signatures && signatures.length !== 1)
    envelope.fault("signatures", `${signatures.length} signatures, expected exactly one`);
  return envelope.read("payload", base64Text);
}

function statementOf(payload: Uint8Array, place: Place): ProvenanceStatement | undefined {
  const json = attempt(() => parseJson(payload));
  for (const { message } of json.faults) place.fault(`not strict JSON: ${message}`);
  const reader = json.faults.length > 0 ? undefined : MemberReader.of(json.value, place);
  if (reader === undefined) return undefined;
  if (!(STATEMENT_TYPES as readonly unknown[]).includes(reader.get("_type")))
    reader.fault("_type", `expected ${STATEMENT_TYPES.join(" or ")}`);
  const predicateType = reader.read("predicateType", textShape);
  const subjects = reader.read("subject", listOf(readBy(subjectOf)));
  if (predicateType === undefined || subjects === undefined) return undefined;
  return Object.freeze({ predicateType, subjects: Object.freeze(subjects) });
}

function subjectOf(reader: MemberReader): ProvenanceStatement["subjects"][number] | undefined {
  const digest = reader.nested("digest")?.object;
  if (digest === undefined) return undefined;
  const name = reader.read("name", optional(textShape)) ?? null;
  return Object.freeze({ name, sha256: sha256Of(digest, reader) });
}

/** Returns the digest in its spelling. The comparison checks that it has 64 lower-case digits. */
function sha256Of(digest: JsonObject, reader: MemberReader): string | null {
  const value = Object.hasOwn(digest, "sha256") ? digest["sha256"] : null;
  if (value === null || typeof value === "string") return value ?? null;
  return reader.fault("digest.sha256", "expected a string") ?? null;
}
