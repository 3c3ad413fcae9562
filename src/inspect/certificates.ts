/** Certificates in DER, in PEM and in attestation documents. */
import { equalBytes, fromBase64, fromUtf8, toHex } from "../bytes.js";
import {
  BASIC_CONSTRAINTS,
  type Certificate,
  KEY_USAGE,
  decodeBasicConstraints,
  decodeCertificate,
  nameText,
} from "../decode/certificate.js";
import { attempt } from "../errors.js";
import { sha256 } from "../verify/digest.js";
import {
  type Described,
  type DescribedObject,
  type Inspected,
  UNREADABLE,
  faultList,
  fewFaults,
  inspectedAs,
  timeOf,
} from "./described.js";

/** RFC 5280 section 4.2.1. */
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

export async function describeCertificate(certificate: Certificate): Promise<DescribedObject> {
  const constraints = certificate.extensions.find((extension) => extension.id === BASIC_CONSTRAINTS);
  const decoded = constraints && attempt(() => decodeBasicConstraints(constraints.value)).value;
  return {
    subject: nameText(certificate.subject),
    issuer: nameText(certificate.issuer),
    notBefore: timeOf(certificate.notBefore),
    notAfter: timeOf(certificate.notAfter),
    serialNumber: toHex(certificate.serialNumber),
    ca: decoded?.ca ?? false,
    sha256: toHex(await sha256(certificate.der)),
    version: certificate.version,
    publicKey: toHex(certificate.subjectPublicKeyInfo),
    extensions: describeExtensions(certificate),
    signatureAlgorithm: toHex(certificate.outerSignatureAlgorithm),
    // RFC 5280 section 4.1.1.2 requires both to be equal.
    innerSignatureAlgorithm: equalBytes(certificate.innerSignatureAlgorithm, certificate.outerSignatureAlgorithm)
      ? undefined
      : toHex(certificate.innerSignatureAlgorithm),
    signature: toHex(certificate.signature),
  };
}

/** Extension values in hex, by name or identifier. Duplicates also have their index. */
function describeExtensions({ extensions }: Certificate): Described {
  const named = new Map<string, string>();
  for (const [index, { id, critical, value }] of extensions.entries()) {
    const name = (EXTENSIONS[id] ?? id) + (critical ? ", critical" : "");
    named.set(named.has(name) ? `${name} [${index}]` : name, toHex(value));
  }
  return Object.fromEntries(named);
}

export async function inspectDer(der: Uint8Array): Promise<Inspected> {
  return inspectedAs("certificate", "DER", [], await describeCertificate(decodeCertificate(der)));
}

/** Limits the number of hashes. */
const MAX_CERTIFICATES = 1000;
/**
 * A block (RFC 7468 section 2). Without a last line it extends to the end of the text, so that a truncated private key
 * is not shown as text around the blocks.
 */
const BLOCK = /-----BEGIN ([^\r\n-]*)-----([^]*?)(?:-----END \1-----|$)/g;
const CERTIFICATE = "CERTIFICATE";
const SECRET = /PRIVATE KEY/;
const NAMED_ISSUER = "(named as issuer of)";

interface Block {
  readonly label: string;
  readonly content: string;
}

/** Certificates in the order of the file, and its other content without secrets. */
export async function inspectPem(kind: "certificate" | "certificates", bytes: Uint8Array): Promise<Inspected> {
  const text = fromUtf8(bytes)!;
  const blocks = [...text.matchAll(BLOCK)].map(([, label, content]): Block => ({ label: label!, content: content! }));
  const encoded = blocks.filter(({ label }) => label === CERTIFICATE);
  const read = encoded.slice(0, MAX_CERTIFICATES).map(({ content }) => readBlock(content));
  const certificates = await describeChain(read);
  const faults = read.flatMap((one, index) => one.faults.map((fault) => `${certificatePath(kind, index)}${fault}`));
  if (encoded.length > MAX_CERTIFICATES)
    faults.push(`${encoded.length} certificates, of which the first ${MAX_CERTIFICATES} are shown`);
  if (blocks.some(({ label }) => SECRET.test(label)))
    faults.push("the file holds a private key, which is not shown: keep the file secret");
  const beside = besideCertificates(text, blocks);
  const says = kind === "certificate" ? { ...certificates[0], ...beside } : { certificates, ...beside };
  return { kind, encoding: "PEM", faults: fewFaults(faults), says };
}

function certificatePath(kind: "certificate" | "certificates", index: number): string {
  return kind === "certificate" ? "" : `[${index}]: `;
}

interface ReadBlock {
  readonly certificate: Certificate | undefined;
  readonly faults: readonly string[];
  readonly content: string;
}

function readBlock(content: string): ReadBlock {
  const der = fromBase64(content.replace(/[ \t\r\n]/g, ""));
  if (der === null) return { certificate: undefined, faults: ["not base64 between the PEM lines"], content };
  const { value, faults } = attempt(() => decodeCertificate(der));
  return { certificate: value, faults: faultList(faults), content };
}

/** Each certificate with the neighbours whose issuer it names. No signature is verified. */
async function describeChain(read: readonly ReadBlock[]): Promise<DescribedObject[]> {
  const described: DescribedObject[] = [];
  for (const [index, { certificate, content }] of read.entries()) {
    if (certificate === undefined) described.push({ [UNREADABLE]: content.trim() });
    else {
      const neighbours = { "the one before": read[index - 1], itself: read[index], "the one after": read[index + 1] };
      const issued = Object.entries(neighbours)
        .filter(([, one]) => one?.certificate && equalBytes(one.certificate.issuer, certificate.subject))
        .map(([name]) => name);
      described.push({
        ...(await describeCertificate(certificate)),
        ...(read.length > 1 && { [NAMED_ISSUER]: issued }),
      });
    }
  }
  return described;
}

/** Blocks other than certificates, and the lines around all blocks. */
function besideCertificates(text: string, blocks: readonly Block[]): DescribedObject {
  const others = blocks.filter(({ label }) => label !== CERTIFICATE);
  const lines = text
    .replace(BLOCK, "\n")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return {
    ...(others.length > 0 && {
      "(other blocks)": others.map(({ label, content }) => ({
        [label]: SECRET.test(label) ? "not shown" : content.trim(),
      })),
    }),
    ...(lines.length > 0 && { "(text around)": lines.some((line) => SECRET.test(line)) ? "not shown" : lines }),
  };
}
