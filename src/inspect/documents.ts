/** Attestation documents: the COSE_Sign1 and its payload. */
import { toHex } from "../bytes.js";
import { type AttestationDocument, readAttestationDocument } from "../decode/attestation-document.js";
import { type CborValue, decodeCbor } from "../decode/cbor.js";
import { COSE_SIGN1_TAG, type CoseSign1, decodeCoseSign1 } from "../decode/cose-sign1.js";
import { type Reading, attempt } from "../errors.js";
import { algorithmFaults } from "../verify/attestation.js";
import { describeCertificate } from "./certificates.js";
import {
  type Described,
  type DescribedObject,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  hexOf,
  inspectedAs,
  timeOf,
  unreadMembers,
} from "./described.js";

export async function inspectDocument(bytes: Uint8Array): Promise<Inspected> {
  const cose = attempt(() => decodeCoseSign1(bytes));
  if (cose.value === undefined) return inspectedAs("attestation document", "CBOR", cose.faults, null);
  const { value, faults, unknownKeys } = readAttestationDocument(cose.value.payload);
  const header = algorithmFaults(cose.value).map((message) => ({ path: "", message }));
  const unknown = unknownKeys.map((key) => ({ path: "", message: `unknown key ${JSON.stringify(key)}` }));
  const says = {
    ...(await describeDocument(value)),
    ...describeCose(cose.value, bytes),
    ...describeRest(cose.value.payload, value),
  };
  return inspectedAs("attestation document", "CBOR", [...header, ...faults, ...unknown], says);
}

type PartOfDocument = Reading<AttestationDocument>["value"];

async function describeDocument(document: PartOfDocument): Promise<DescribedObject> {
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

function describeCose(
  { protectedHeader, unprotectedIsEmpty, signature }: CoseSign1,
  bytes: Uint8Array,
): DescribedObject {
  return {
    protectedHeader: toHex(protectedHeader),
    unprotectedHeader: unprotectedIsEmpty ? undefined : describeCbor(unprotectedOf(bytes)),
    signature: toHex(signature),
  };
}

/** Decodes the header again: the COSE reader keeps only whether it is empty. */
function unprotectedOf(bytes: Uint8Array): CborValue {
  return (decodeCbor(bytes, { outermostTag: COSE_SIGN1_TAG }) as CborValue[])[1]!;
}

/** The keys of the format, and the members of the reading that cover them. */
const READ_BY: Readonly<Record<string, keyof AttestationDocument>> = {
  module_id: "moduleId",
  digest: "digest",
  timestamp: "timestamp",
  pcrs: "pcrs",
  certificate: "certificate",
  cabundle: "cabundle",
  public_key: "publicKey",
  user_data: "userData",
  nonce: "nonce",
};

/** Unknown keys, and values of known keys that could not be read. */
function describeRest(payload: Uint8Array, read: PartOfDocument): DescribedObject {
  const map = attempt(() => decodeCbor(payload, { indefiniteOutermostMap: true })).value;
  if (!(map instanceof Map)) return { [UNREADABLE]: toHex(payload) };
  const members = membersOfMap(map);
  const isRead = Object.entries(READ_BY).map(([key, name]) => [key, read[name] !== undefined] as const);
  const rest = Object.entries(members).filter(([key]) => !Object.hasOwn(READ_BY, key));
  const pcrs = map.get("pcrs");
  const hasAllPcrs = !(pcrs instanceof Map) || pcrs.size === read.pcrs?.size;
  return {
    [UNREADABLE]: unreadMembers(members, { ...Object.fromEntries(isRead), ...(!hasAllPcrs && { pcrs: false }) }),
    [UNKNOWN]: rest.length === 0 ? undefined : Object.fromEntries(rest),
  };
}

function membersOfMap(map: ReadonlyMap<CborValue, CborValue>): Readonly<Record<string, Described>> {
  return Object.fromEntries([...map].map(([key, value]) => [keyText(key), describeCbor(value)]));
}

/** `1` is a text key, `(1)` a number. */
function keyText(key: CborValue): string {
  return typeof key === "string" ? key : `(${JSON.stringify(describeCbor(key))})`;
}

/** Byte strings in hex. Values without a JSON form as text. */
function describeCbor(value: CborValue): Described {
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(describeCbor);
  return value instanceof Map ? membersOfMap(value) : value;
}
