/**
 * Names of the JSON members that hold evidence. Evidence next to the value that is read would be silently dropped, so
 * it is a fault (decode/README.md, "Evidence beside evidence").
 */
import { FaultList, shownName } from "../errors.js";
import { type JsonObject, folded, isJsonObject, memberPath } from "./json.js";
import { otherSpelling } from "./text-encoding.js";

/** Name of the attestation document in the interface, and in deployed services (`alias`). */
export const DOCUMENT_MEMBER = { name: "cloudAttestationDocB64", alias: "awsAttestationDocB64" } as const;

/** Member names of one form of provisioning details (decode/README.md, "Provisioning details"). */
export interface ProvisioningForm {
  readonly document: string;
  readonly envelope: { readonly name: string; readonly is: "object" | "base64" };
  /** Members that nobody signed: text, or a time as a decimal integer. */
  readonly claims: readonly { readonly name: string; readonly is: "text" | "time"; readonly isOptional?: true }[];
  readonly key: string | null;
}

const STATE = "provisioningState";

const PROVISIONING_FORMS: readonly ProvisioningForm[] = [
  {
    document: "attestation_document_cose_sign1_base64",
    envelope: { name: "manifest_envelope", is: "object" },
    claims: [{ name: "validation_time_secs", is: "time", isOptional: true }],
    key: null,
  },
  {
    document: "attestationDocumentCoseSign1Base64",
    envelope: { name: "manifestEnvelope", is: "object" },
    claims: [
      { name: "fetchedAtUnixMs", is: "time" },
      { name: "deploymentId", is: "text" },
    ],
    key: "ephemeralPublicKeyHex",
  },
  {
    document: "attestationDocument",
    envelope: { name: "manifestEnvelope", is: "base64" },
    claims: [{ name: STATE, is: "text", isOptional: true }],
    key: null,
  },
];

export function provisioningMembers({ document, envelope, claims, key }: ProvisioningForm): string[] {
  return [document, envelope.name, ...claims.map(({ name }) => name), ...(key === null ? [] : [key])];
}

/**
 * Recognises a form by the name of its document or, without a document, by the name and type of its envelope. Null if
 * the value has neither, or has a member of the service's form. The reader reports members of several forms.
 */
export function provisioningForm(value: unknown): ProvisioningForm | null {
  if (!isJsonObject(value) || SERVICE_FORM.some((name) => Object.hasOwn(value, name))) return null;
  const withEnvelope = PROVISIONING_FORMS.filter(({ envelope }) => Object.hasOwn(value, envelope.name));
  const isTyped = ({ envelope: { name, is } }: ProvisioningForm): boolean =>
    (typeof value[name] === "string") === (is === "base64");
  return (
    PROVISIONING_FORMS.find(({ document }) => Object.hasOwn(value, document)) ??
    withEnvelope.find(isTyped) ??
    withEnvelope[0] ??
    null
  );
}

export type Piece = "boot proof" | "app proof" | "activity";

interface PieceMembers {
  /** Member that wraps one value of this kind. The next member wraps a list of them. */
  readonly one: string;
  readonly list: string;
  /** Members that no other kind of evidence has. */
  readonly own: readonly string[];
  /** An unwrapped value of this kind has at least one of these members. Its reader refuses any other value. */
  readonly marks: readonly string[];
  /** Members for evidence of another kind that belongs inside. */
  readonly inside: readonly string[];
}

const SERVICE_FORM = [DOCUMENT_MEMBER.name, DOCUMENT_MEMBER.alias, "qosManifestB64", "qosManifestEnvelopeB64"];
const BOOT_PROOF = [...SERVICE_FORM, ...PROVISIONING_FORMS.map(({ document }) => document)];
/** Names that mean evidence only next to other evidence. They are too general to mean evidence alone. */
const ENVELOPES = PROVISIONING_FORMS.map(({ envelope }) => envelope.name);
const PIECES: Readonly<Record<Piece, PieceMembers>> = {
  "boot proof": {
    one: "bootProof",
    list: "bootProofs",
    own: BOOT_PROOF,
    marks: [...BOOT_PROOF, ...ENVELOPES],
    inside: [],
  },
  "app proof": { one: "appProof", list: "appProofs", own: ["proofPayload"], marks: ["proofPayload"], inside: [] },
  activity: {
    one: "activity",
    list: "activities",
    own: ["intent"],
    marks: ["intent", "result"],
    inside: ["appProofs"],
  },
};
/** Returns the member names that wrap one value of this kind, and a list of them. */
export function wrappersOf(piece: Piece): readonly [one: string, list: string] {
  return [PIECES[piece].one, PIECES[piece].list];
}

/** Names of evidence that has no row in `PIECES`. */
const OTHERS = ["bundle", "attestation"];

/** Folded names of evidence. `app_proofs` and `AppProofs` name app proofs, too. */
const NAMES: ReadonlySet<string> = new Set(
  OTHERS.concat(...Object.values(PIECES).map(({ one, list, own }) => [one, list, ...own]), ENVELOPES).map(folded),
);
/** Members that make their object evidence, whatever name the object has. */
const SIGNED_MEMBERS = [...BOOT_PROOF, ...PIECES["app proof"].own];

/**
 * Returns a fault for each piece of evidence that would be ignored: next to the value or list that is read from
 * `input`, or at a wrong place inside. If `input` is neither object nor array, there are none. `path` is its place.
 */
export function evidenceBeside(input: unknown, piece: Piece, path = ""): FaultList {
  const faults = new FaultList();
  collect(input, piece, path, faults);
  return faults;
}

function collect(input: unknown, piece: Piece, path: string, faults: FaultList): void {
  if (Array.isArray(input)) return collectOfList(input, piece, path, faults);
  if (!isJsonObject(input)) return;
  const { one, list } = PIECES[piece];
  const wrapper = wrapperOf(input, piece);
  if (wrapper === null) return collectInside(input, { piece, path, faults });
  collectOthers(input, [wrapper], { piece, path, faults });
  if (wrapper === list) collectOfList(input[list] as unknown[], piece, memberPath(path, list, 0), faults);
  // The value of a wrapper is the evidence itself and is not unwrapped again.
  if (wrapper === one) collectInside(input[one], { piece, path: memberPath(path, one, 0), faults });
}

function collectOfList(items: readonly unknown[], piece: Piece, path: string, faults: FaultList): void {
  for (const [index, item] of items.entries())
    if (!Array.isArray(item)) collect(item, piece, `${path}[${index}]`, faults);
}

interface Place {
  readonly piece: Piece;
  readonly path: string;
  readonly faults: FaultList;
}

function collectInside(value: unknown, place: Place): void {
  const { one, inside, marks } = PIECES[place.piece];
  if (!isJsonObject(value) || ![one, ...marks].some((name) => Object.hasOwn(value, name))) return;
  collectOthers(value, [...ownMembers(value, place.piece), ...inside], place);
}

/**
 * Returns the members that belong to a value. A boot proof has the members of one form, and members of another form are
 * evidence that would be ignored.
 */
function ownMembers(value: JsonObject, piece: Piece): readonly string[] {
  if (piece !== "boot proof") return PIECES[piece].own;
  const form = provisioningForm(value);
  return form === null ? SERVICE_FORM : [form.document, form.envelope.name];
}

function collectOthers(object: JsonObject, read: readonly string[], { piece, path, faults }: Place): void {
  for (const [index, name] of Object.keys(object).entries())
    if (!read.includes(name) && isEvidence(name, object[name]))
      faults.push({ path: memberPath(path, name, index), message: `${BESIDE[piece]}, ${ADVICE}` });
}

const BESIDE: Readonly<Record<Piece, string>> = {
  "boot proof": "evidence beside a boot proof",
  "app proof": "evidence beside an app proof",
  activity: "evidence beside an activity",
};
const ADVICE =
  "which would not be verified: give each by itself, or all of them as " +
  '{"bootProofs": […], "appProofs": […], "activity": …}';

export function evidenceBesideMember(input: unknown, member: string, piece: Piece): FaultList {
  if (!isJsonObject(input)) return evidenceBeside(null, piece);
  return evidenceBeside(Object.assign(Object.create(null) as JsonObject, input, { [member]: [] }), piece);
}

/** Returns the wrapper's name, or null if the value is the evidence itself. */
function wrapperOf(value: unknown, piece: Piece): string | null {
  if (!isJsonObject(value)) return null;
  const { one, list } = PIECES[piece];
  if (piece !== "activity" && Object.hasOwn(value, list) && Array.isArray(value[list])) return list;
  return Object.hasOwn(value, one) ? one : null;
}

function isEvidence(name: string, value: unknown): boolean {
  return NAMES.has(folded(name)) || (Array.isArray(value) ? value.some(isSigned) : isSigned(value));
}

function isSigned(value: unknown): boolean {
  return isJsonObject(value) && SIGNED_MEMBERS.some((name) => Object.hasOwn(value, name));
}

/** Members whose text is bytes, and the encoding that they should have. */
const SPELT = new Map<string, "hex" | "base64">([
  ...[...BOOT_PROOF, "manifestEnvelope"].map((name) => [name, "base64"] as const),
  ["ephemeralPublicKeyHex", "hex"],
]);
const SPELT_IN_APP_PROOF = new Map([["publicKey", "hex"] as const, ["signature", "hex"] as const]);
/** Members in which there is evidence, beside lists. */
const WALKED = new Set(["result"].concat(...Object.values(PIECES).map(({ one, list }) => [one, list])));

/**
 * Returns the faults of bytes in another spelling than their member should have, such as base64url. In a file they are
 * faults of the file: the evidence may be genuine.
 */
export function misspelt(value: unknown, path = "", faults = new FaultList()): FaultList {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) misspelt(item, `${path}[${index}]`, faults);
  if (!isJsonObject(value)) return faults;
  const spelt = Object.hasOwn(value, "proofPayload") ? SPELT_IN_APP_PROOF : SPELT;
  for (const [index, name] of Object.keys(value).entries()) {
    const [member, is] = [value[name], spelt.get(name)];
    const other = typeof member === "string" && is !== undefined ? otherSpelling(member, is) : null;
    if (other !== null) faults.push({ path: memberPath(path, name, index), ...other });
    else if (WALKED.has(name)) misspelt(member, memberPath(path, name, index), faults);
  }
  return faults;
}

/**
 * Returns the value inside its wrapper. If the wrapper also has other evidence, returns the whole wrapper, and the
 * reader reports the other evidence.
 */
export function unwrapAlone(input: unknown, piece: Piece): unknown {
  const { one } = PIECES[piece];
  const isWrapper = isJsonObject(input) && Object.hasOwn(input, one);
  return isWrapper && evidenceBesideMember(input, one, piece).length === 0 ? input[one] : input;
}

/** Whether the value is `{"error": …}` or `{"code": …, "message": …}` instead of evidence. */
function isServiceError(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const given = Object.keys(value).filter((name) => value[name] !== null);
  if (given.some((name) => isEvidence(name, value[name]))) return false;
  return given.includes("error") || (given.includes("code") && given.includes("message"));
}

/**
 * Returns what the service says of a deployment without evidence: `{"provisioningState": …}` without an attestation
 * document. Null for any other value. Nobody signed the state.
 */
export function stateInstead(value: unknown): string | null {
  if (!isJsonObject(value)) return null;
  const given = Object.keys(value).filter((name) => (value[name] ?? "") !== "" && name !== "manifestEnvelope");
  const state = value[STATE];
  if (typeof state !== "string" || state === "" || given.some((name) => isEvidence(name, value[name]))) return null;
  const isLate = state === "PROVISIONING_STATE_PROVISIONED";
  return `${isLate ? "provisioned, without an attestation document" : "not provisioned yet"}: ${shownName(state)}`;
}

/** Returns what the service sent instead of evidence: an error, or a deployment's state. Null for any other value. */
export function sentInstead(value: unknown): string | null {
  const state = stateInstead(value);
  if (state !== null) return `a deployment's state, not evidence: ${state}`;
  return isServiceError(value) ? "an error from a service, not evidence: fetch the evidence again" : null;
}
