/** Files of certificates, in DER and PEM. */
import { equalBytes, fromBase64, fromUtf8 } from "../bytes.js";
import { type Certificate, decodeCertificate } from "../decode/certificate.js";
import { MalformedError, attempt } from "../errors.js";
import { type DescribedObject, type Inspected, UNREADABLE, fewFaults, flaw, within } from "./described.js";
import { shownCertificate } from "./shown.js";

export async function inspectDer(der: Uint8Array): Promise<Inspected> {
  return { faults: [], says: await shownCertificate(decodeCertificate(der)) };
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
  const read = encoded
    .slice(0, MAX_CERTIFICATES)
    .map(({ content }) => ({ content, ...attempt(() => readBlock(content)) }));
  const certificates: DescribedObject[] = [];
  for (const [index, { value, content }] of read.entries()) {
    const around = [read[index - 1], read[index], read[index + 1]].map((one) => one?.value);
    certificates.push(
      value === undefined ? { [UNREADABLE]: content.trim() } : await described(value, around, read.length),
    );
  }
  const isOne = kind === "certificate";
  const faults = read.flatMap((one, at) => (isOne ? one.faults : within(`[${at}]`, one)));
  if (encoded.length > MAX_CERTIFICATES)
    faults.push(flaw(`${encoded.length} certificates, of which the first ${MAX_CERTIFICATES} are shown`));
  if (blocks.some(({ label }) => SECRET.test(label)))
    faults.push(flaw("the file holds a private key, which is not shown: keep the file secret"));
  const says = { ...(isOne ? certificates[0] : { certificates }), ...besideCertificates(text, blocks) };
  return { faults: fewFaults(faults), says };
}

function readBlock(content: string): Certificate {
  const der = fromBase64(content.replace(/[ \t\r\n]/g, ""));
  if (der !== null) return decodeCertificate(der);
  throw new MalformedError("certificate", [flaw("not base64 between the PEM lines")]);
}

const NEIGHBOURS = ["the one before", "itself", "the one after"];

/** Lists the neighbours in the file that name the certificate as their issuer. No signature is verified. */
async function described(
  certificate: Certificate,
  around: readonly (Certificate | undefined)[],
  count: number,
): Promise<DescribedObject> {
  const issued = NEIGHBOURS.filter((_, at) => around[at] && equalBytes(around[at].issuer, certificate.subject));
  return { ...(await shownCertificate(certificate)), ...(count > 1 && { [NAMED_ISSUER]: issued }) };
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
