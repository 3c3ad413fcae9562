/** Verifies the signature over PCR0 (image/README.md, "The signature"). */
import { equalBytes, fromBase64, fromHex, toHex } from "../bytes.js";
import { type CborValue, decodeCbor } from "../decode/cbor.js";
import { type Certificate, decodeCertificate } from "../decode/certificate.js";
import { type CoseSign1, decodeCoseSign1, signatureInput } from "../decode/cose-sign1.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { FaultList, attempt, faultsIn } from "../errors.js";
import { type Curve, verifyP521 } from "../verify/cryptography.js";
import { importPoint, pointOfSpki } from "../verify/ecdsa.js";

export type SignatureAlgorithm = "ES256" | "ES384" | "ES512";

export interface SignatureReading {
  readonly certificate: Certificate | null;
  readonly algorithm: SignatureAlgorithm | null;
  readonly register: Uint8Array | null;
  readonly message: CoseSign1 | null;
  /** Number of entries of the signature section after the first. They are not used. */
  readonly others: number;
  readonly faults: FaultList;
}

/** The algorithms of RFC 9053 section 2.1. Signatures have 2·32, 2·48 and 2·66 bytes. */
const ALGORITHMS: ReadonlyMap<CborValue | undefined, SignatureAlgorithm> = new Map([
  [-7, "ES256"],
  [-35, "ES384"],
  [-36, "ES512"],
]);
const COSE_ALG = 1;
const CURVE_OF: Readonly<Record<SignatureAlgorithm, Curve | "P-521">> = {
  ES256: "P-256",
  ES384: "P-384",
  ES512: "P-521",
};
const SIGNATURE_LENGTH: Readonly<Record<SignatureAlgorithm, number>> = { ES256: 64, ES384: 96, ES512: 132 };

/** The bytes before the point in the DER of a P-521 SubjectPublicKeyInfo (RFC 5480 section 2), in hex. */
const P521_PREFIX = "30819b301006072a8648ce3d020106052b8104002303818600";
const P521_POINT_LENGTH = 133;

export function readSignature(section: Uint8Array): SignatureReading {
  const faults = new FaultList();
  const entries = attemptAt(faults, "signature", () => decodeCbor(section));
  const list = Array.isArray(entries) ? entries : [];
  if (entries !== undefined && list.length === 0)
    faults.push({ path: "signature", message: "expected an array of at least one signature" });
  const [first] = list;
  const entry = first === undefined ? undefined : members(first, ["signing_certificate", "signature"]);
  if (first !== undefined && entry === undefined)
    faults.push({ path: "signature[0]", message: "expected a map of signing_certificate and signature" });
  const certificate = entry ? readCertificate(entry["signing_certificate"], faults) : null;
  return { certificate, others: Math.max(0, list.length - 1), faults, ...readMessage(entry, faults) };
}

function attemptAt<T>(faults: FaultList, path: string, decode: () => T): T | undefined {
  const { value, faults: found } = attempt(decode);
  faults.push(...faultsIn(path, found));
  return value;
}

/** Returns the members of a map, or undefined unless it has exactly these names. */
function members<N extends string>(value: CborValue, names: readonly N[]): Record<N, CborValue> | undefined {
  if (!(value instanceof Map) || value.size !== names.length || !names.every((name) => value.has(name)))
    return undefined;
  return Object.fromEntries(names.map((name) => [name, value.get(name)!])) as Record<N, CborValue>;
}

/** Reads bytes from an array of numbers, as the vendor's encoder writes them. */
function bytesOf(value: CborValue): Uint8Array | undefined {
  const isByte = (item: CborValue): item is number => typeof item === "number" && item >= 0 && item <= 255;
  return Array.isArray(value) && value.every(isByte) ? Uint8Array.from(value) : undefined;
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/;

/** Reads the first certificate of the PEM. */
function readCertificate(value: CborValue, faults: FaultList): Certificate | null {
  const path = "signature[0].signing_certificate";
  const fault = (message: string): null => (faults.push({ path, message }), null);
  const bytes = bytesOf(value);
  if (bytes === undefined) return fault("expected an array of bytes (numbers)");
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const [, block] = PEM_BLOCK.exec(text) ?? [];
  if (block === undefined) return fault("no certificate in PEM");
  const der = fromBase64(block.replace(/[ \t\r\n]/g, ""));
  if (der === null) return fault("not base64 between the PEM lines");
  return attemptAt(faults, path, () => decodeCertificate(der)) ?? null;
}

type Message = Pick<SignatureReading, "algorithm" | "register" | "message">;

function readMessage(entry: Record<"signature", CborValue> | undefined, faults: FaultList): Message {
  const none = { algorithm: null, register: null, message: null };
  if (entry === undefined) return none;
  const path = "signature[0].signature";
  const fault = (message: string): void => void faults.push({ path, message });
  const bytes = bytesOf(entry.signature);
  if (bytes === undefined) return (fault("expected an array of bytes (numbers)"), none);
  const message = attemptAt(faults, path, () => decodeCoseSign1(bytes));
  if (message === undefined) return none;
  if (bytes[0] !== 0x84) fault("a tag around it: expected no tag");
  if (!message.unprotectedIsEmpty) fault("its unprotected header is not empty");
  const algorithm = readAlgorithm(message.protectedHeader);
  if (algorithm === null) fault("its protected header must have only an algorithm: -7, -35 or -36");
  else if (message.signature.length !== SIGNATURE_LENGTH[algorithm])
    fault(`${message.signature.length} bytes, but ${algorithm} has ${SIGNATURE_LENGTH[algorithm]}`);
  return { algorithm, message, register: readRegister(message.payload, `${path}.payload`, faults) };
}

function readAlgorithm(header: Uint8Array): SignatureAlgorithm | null {
  const { value } = attempt(() => decodeCbor(header));
  return value instanceof Map && value.size === 1 ? (ALGORITHMS.get(value.get(COSE_ALG)) ?? null) : null;
}

function readRegister(payload: Uint8Array, path: string, faults: FaultList): Uint8Array | null {
  const decoded = attemptAt(faults, path, () => decodeCbor(payload));
  if (decoded === undefined) return null;
  const info = members(decoded, ["register_index", "register_value"]);
  const value = info && bytesOf(info.register_value);
  if (info !== undefined && info.register_index === 0 && value?.length === PCR_LENGTH) return value;
  faults.push({
    path,
    message: `expected register_index 0 and register_value of ${PCR_LENGTH} numbers, and nothing else`,
  });
  return null;
}

/** Adds a fault unless the certificate's key signed this PCR0. */
export async function verifySignature(reading: SignatureReading, pcr0: Uint8Array | null): Promise<void> {
  const { certificate, algorithm, register, message, faults } = reading;
  if (register !== null && pcr0 !== null && !equalBytes(register, pcr0))
    faults.push({
      path: "signature[0].signature.payload",
      message: `signs PCR0 ${toHex(register)}, but PCR0 of this image is ${toHex(pcr0)}`,
    });
  if (certificate === null || algorithm === null || message === null) return;
  const isGood = await isSigned(certificate.subjectPublicKeyInfo, algorithm, message);
  if (isGood === null)
    faults.push({
      path: "signature[0].signing_certificate",
      message: `its key is not a point of ${CURVE_OF[algorithm]}, with which ${algorithm} is verified`,
    });
  if (isGood === false)
    faults.push({ path: "signature[0].signature", message: "not made with the key of its certificate" });
}

/** Whether the key signed the message. Null if the key is not on the algorithm's curve. */
async function isSigned(spki: Uint8Array, algorithm: SignatureAlgorithm, message: CoseSign1): Promise<boolean | null> {
  const input = signatureInput(message);
  const curve = CURVE_OF[algorithm];
  if (curve === "P-521") {
    const point = p521PointOf(spki);
    return point && verifyP521(point, input, message.signature);
  }
  const point = pointOfSpki(curve, spki);
  const key = point && (await importPoint(curve, point));
  return key && key.verify(input, message.signature);
}

function p521PointOf(spki: Uint8Array): Uint8Array | null {
  const prefix = fromHex(P521_PREFIX)!;
  const isOne =
    spki.length === prefix.length + P521_POINT_LENGTH && equalBytes(spki.subarray(0, prefix.length), prefix);
  return isOne ? spki.subarray(prefix.length) : null;
}
