/** Files of certificates, in DER and PEM. */
import { equalBytes, fromBase64, fromUtf8 } from "../bytes.js";
import { type Certificate, decodeCertificate } from "../decode/certificate.js";
import { attempt } from "../errors.js";
import {
  type DescribedObject,
  type Inspected,
  UNREADABLE,
  faultList,
  fewFaults,
  inspectedAs,
  within,
} from "./described.js";
import { shownCertificate } from "./shown.js";

export async function inspectDer(der: Uint8Array): Promise<Inspected> {
  return inspectedAs([], await shownCertificate(decodeCertificate(der)));
}

/** Maximum number of certificates, each of which is hashed. */
const MAX_CERTIFICATES = 1000;
/**
 * A PEM block (RFC 7468 section 2). A block without its last line extends to the end of the text. Otherwise a truncated
 * private key would be shown as text around the blocks.
 */
const BLOCK = /-----BEGIN ([^\r\n-]*)-----([^]*?)(?:-----END \1-----|$)/g;
const CERTIFICATE = "CERTIFICATE";
const SECRET = /PRIVATE KEY/;
const NAMED_ISSUER = "(named as issuer of)";

interface Block {
  readonly label: string;
  readonly content: string;
}

/** Shows the certificates in the order of the file, and its other content without secrets. */
export async function inspectPem(kind: "certificate" | "certificates", bytes: Uint8Array): Promise<Inspected> {
  const text = fromUtf8(bytes)!;
  const blocks = [...text.matchAll(BLOCK)].map(([, label, content]): Block => ({ label: label!, content: content! }));
  const encoded = blocks.filter(({ label }) => label === CERTIFICATE);
  const read = encoded.slice(0, MAX_CERTIFICATES).map(({ content }) => readBlock(content));
  const certificates = await describeChain(read);
  const faults = read.flatMap((one, index) => (kind === "certificate" ? one.faults : within(`[${index}]`, one)));
  if (encoded.length > MAX_CERTIFICATES)
    faults.push(`${encoded.length} certificates, of which the first ${MAX_CERTIFICATES} are shown`);
  if (blocks.some(({ label }) => SECRET.test(label)))
    faults.push("the file holds a private key, which is not shown: keep the file secret");
  const beside = besideCertificates(text, blocks);
  const says = kind === "certificate" ? { ...certificates[0], ...beside } : { certificates, ...beside };
  return { faults: fewFaults(faults), says };
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

/**
 * Describes the certificates. Each description lists the neighbours in the file that name the certificate as their
 * issuer. No signature is verified.
 */
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
        ...(await shownCertificate(certificate)),
        ...(read.length > 1 && { [NAMED_ISSUER]: issued }),
      });
    }
  }
  return described;
}

/** Shows blocks other than certificates, and the lines around all blocks. */
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
