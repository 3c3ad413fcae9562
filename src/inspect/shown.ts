/** Shows decoded values: bytes in hex, times in RFC 3339, certificates with their names. */
import { equalBytes, toHex } from "../bytes.js";
import {
  BASIC_CONSTRAINTS,
  type Certificate,
  KEY_USAGE,
  decodeBasicConstraints,
  nameText,
} from "../decode/certificate.js";
import { attempt } from "../errors.js";
import { sha256 } from "../verify/digest.js";
import type { Described, DescribedObject } from "./described.js";

/** Returns an object of decoded values with each member in a form that can be shown. */
export async function shownObject(value: object): Promise<DescribedObject> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const members = entries.map(async ([name, member]) => [name, await shown(member)] as const);
  return Object.fromEntries(await Promise.all(members));
}

export async function shown(value: unknown): Promise<Described> {
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
  if (typeof value !== "object" || value === null) return value as Described;
  if (Array.isArray(value)) return Promise.all(value.map(shown));
  if (value instanceof Map) return shownObject(Object.fromEntries(await Promise.all([...value].map(shownKey))));
  return "subjectPublicKeyInfo" in value ? shownCertificate(value as Certificate) : shownObject(value);
}

/** Returns a CBOR entry with its key as text: `1` is the text "1", and `(1)` is the number 1. */
async function shownKey([key, value]: readonly [unknown, unknown]): Promise<readonly [string, unknown]> {
  return [typeof key === "string" ? key : `(${JSON.stringify(await shown(key))})`, value];
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

export async function shownCertificate(certificate: Certificate): Promise<DescribedObject> {
  const { innerSignatureAlgorithm, outerSignatureAlgorithm, extensions } = certificate;
  const constraints = extensions.find(({ id }) => id === BASIC_CONSTRAINTS);
  return shownObject({
    subject: nameText(certificate.subject),
    issuer: nameText(certificate.issuer),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    serialNumber: certificate.serialNumber,
    ca: (constraints && attempt(() => decodeBasicConstraints(constraints.value)).value?.ca) ?? false,
    sha256: await sha256(certificate.der),
    version: certificate.version,
    publicKey: certificate.subjectPublicKeyInfo,
    extensions: namedExtensions(certificate),
    signatureAlgorithm: outerSignatureAlgorithm,
    // RFC 5280 section 4.1.1.2 requires it to equal the outer one, so it is shown only if it differs.
    innerSignatureAlgorithm: equalBytes(innerSignatureAlgorithm, outerSignatureAlgorithm)
      ? undefined
      : innerSignatureAlgorithm,
    signature: certificate.signature,
  });
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
