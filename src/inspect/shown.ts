/** Decoded values as trees: bytes in hex, times in RFC 3339, certificates with their names. */
import { equalBytes, toHex } from "../bytes.js";
import {
  BASIC_CONSTRAINTS,
  type Certificate,
  KEY_USAGE,
  decodeBasicConstraints,
  nameText,
} from "../decode/certificate.js";
import { JsonNumber } from "../decode/json.js";
import { attempt } from "../errors.js";
import { sha256 } from "../verify/digest.js";
import type { Described, DescribedObject } from "./described.js";

/** The SHA-256 of certificates, which is computed before the tree is made. */
type Digests = ReadonlyMap<Certificate, string>;

/** Returns an object of decoded values, which may have certificates, as a tree. */
export async function shownObject(value: object): Promise<DescribedObject> {
  const digests = certificatesIn(value).map(async (one) => [one, toHex(await sha256(one.der))] as const);
  return treeOf(value, new Map(await Promise.all(digests))) as DescribedObject;
}

export async function shownCertificate(certificate: Certificate): Promise<DescribedObject> {
  return certificateTree(certificate, toHex(await sha256(certificate.der)));
}

function isCertificate(value: object): value is Certificate {
  return "subjectPublicKeyInfo" in value;
}

function certificatesIn(value: unknown): Certificate[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if (isCertificate(value)) return [value];
  return (value instanceof Map ? [...value.values()] : Object.values(value)).flatMap(certificatesIn);
}

/** Returns a decoded value as a tree. Undefined members are left out. */
export function treeOf(value: unknown, digests: Digests = new Map()): Described {
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
  if (typeof value !== "object" || value === null || value instanceof JsonNumber) return value as Described;
  if (Array.isArray(value)) return value.map((item) => treeOf(item, digests));
  if (isCertificate(value)) return certificateTree(value, digests.get(value)!);
  const members: [string, unknown][] =
    value instanceof Map ? [...value].map(([key, member]) => [keyText(key), member]) : Object.entries(value);
  const defined = members.filter(([, member]) => member !== undefined);
  return Object.fromEntries(defined.map(([name, member]) => [name, treeOf(member, digests)]));
}

/** Returns the key of a CBOR entry as text: `1` is the text "1", and `(1)` is the number 1. */
function keyText(key: unknown): string {
  return typeof key === "string" ? key : `(${JSON.stringify(treeOf(key))})`;
}

/** The names of extensions (RFC 5280 section 4.2.1). */
const EXTENSIONS: Readonly<Record<string, string>> = {
  [BASIC_CONSTRAINTS]: "basicConstraints",
  [KEY_USAGE]: "keyUsage",
  "2.5.29.14": "subjectKeyIdentifier",
  "2.5.29.17": "subjectAltName",
  "2.5.29.31": "cRLDistributionPoints",
  "2.5.29.32": "certificatePolicies",
  "2.5.29.35": "authorityKeyIdentifier",
  "2.5.29.37": "extKeyUsage",
  "1.3.6.1.5.5.7.1.1": "authorityInfoAccess",
};

function certificateTree(certificate: Certificate, digest: string): DescribedObject {
  const { innerSignatureAlgorithm, outerSignatureAlgorithm, extensions } = certificate;
  const constraints = extensions.find(({ id }) => id === BASIC_CONSTRAINTS);
  return treeOf({
    subject: nameText(certificate.subject),
    issuer: nameText(certificate.issuer),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    serialNumber: certificate.serialNumber,
    ca: (constraints && attempt(() => decodeBasicConstraints(constraints.value)).value?.ca) ?? false,
    sha256: digest,
    version: certificate.version,
    publicKey: certificate.subjectPublicKeyInfo,
    extensions: namedExtensions(certificate),
    signatureAlgorithm: outerSignatureAlgorithm,
    // RFC 5280 section 4.1.1.2 requires it to equal the outer one, so it is shown only if it differs.
    innerSignatureAlgorithm: equalBytes(innerSignatureAlgorithm, outerSignatureAlgorithm)
      ? undefined
      : innerSignatureAlgorithm,
    signature: certificate.signature,
  }) as DescribedObject;
}

/** Returns the extensions by name or identifier. The name of a duplicate also has its index. */
function namedExtensions({ extensions }: Certificate): ReadonlyMap<string, Uint8Array> {
  const named = new Map<string, Uint8Array>();
  for (const [index, { id, critical, value }] of extensions.entries()) {
    const name = (EXTENSIONS[id] ?? id) + (critical ? ", critical" : "");
    named.set(named.has(name) ? `${name} [${index}]` : name, value);
  }
  return named;
}
