/** Provenance bundles of Sigstore, and trusted roots. */
import { fromUtf8 } from "../bytes.js";
import { readBuildIdentity } from "../decode/build-identity.js";
import { type JsonValue, parseJson } from "../decode/json.js";
import { bundleText, readProvenanceBundle } from "../decode/provenance-bundle.js";
import { attempt } from "../errors.js";
import { describeCertificate } from "./certificates.js";
import {
  type Described,
  type DescribedObject,
  type DescribedParts,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  faultList,
  inspectEach,
  inspectedAs,
  membersOf,
  undescribed,
  unreadMembers,
  wholeMembers,
} from "./described.js";

/** Of a file with JSON Lines. */
const MAX_LINES = 256;

const BUNDLE: DescribedParts = {
  mediaType: true,
  verificationMaterial: {
    certificate: { rawBytes: true },
    x509CertificateChain: true,
    ...wholeMembers("tlogEntries", "timestampVerificationData"),
  },
  dsseEnvelope: wholeMembers("payload", "payloadType", "signatures"),
};

type Part = Pick<Inspected, "faults" | "says">;

/** `json`: of a single bundle. Otherwise the bytes are JSON Lines. */
export async function inspectProvenance(bytes: Uint8Array, json: JsonValue | undefined): Promise<Part> {
  return json === undefined ? inspectEach(linesOf(bytes), MAX_LINES, inspectBundleText) : inspectOne(json);
}

export function inspectTrustedRoot(bytes: Uint8Array, json: JsonValue | undefined): Part | Promise<Part> {
  if (json !== undefined) return inspectedAs("trusted root", "JSON", [], json as Described);
  return inspectEach(linesOf(bytes), MAX_LINES, (line) => {
    const { value, faults } = attempt(() => parseJson(line));
    return inspectedAs("trusted root", "JSON", faults, (value ?? { [UNREADABLE]: line }) as Described);
  });
}

function linesOf(bytes: Uint8Array): string[] {
  return (fromUtf8(bytes) ?? "").split("\n").filter((line) => line.trim() !== "");
}

async function inspectBundleText(line: string): Promise<Inspected> {
  const { value, faults } = attempt(() => parseJson(line));
  if (value === undefined) return inspectedAs("provenance bundle", "JSON", faults, { [UNREADABLE]: line });
  return inspectOne(value);
}

async function inspectOne(json: JsonValue): Promise<Inspected> {
  const text = attempt(() => bundleText(json));
  const { value, faults } =
    text.value === undefined ? { value: {}, faults: text.faults } : readProvenanceBundle(text.value);
  const identity = value.certificate && readBuildIdentity(value.certificate);
  const certificate = value.certificate && (await describeCertificate(value.certificate));
  const { verificationMaterial, dsseEnvelope, mediaType } = membersOf(json);
  const { tlogEntries, timestampVerificationData, x509CertificateChain, ...material } = membersOf(verificationMaterial);
  const statement = value.payload && attempt(() => parseJson(value.payload!)).value;
  const { payloadType, signatures } = membersOf(dsseEnvelope);
  const says: DescribedObject = {
    mediaType,
    identity: identity && shownIdentity(identity.value),
    statement: statement as Described | undefined,
    payloadType,
    signatures,
    certificate,
    certificateChain: x509CertificateChain,
    tlogEntries,
    timestampVerificationData,
    [UNREADABLE]: unreadParts(membersOf(dsseEnvelope), material, statement !== undefined, certificate !== undefined),
    [UNKNOWN]: undescribed(json, BUNDLE),
  };
  const all = [...faultList(faults), ...faultList(identity?.faults ?? []).map((fault) => `certificate: ${fault}`)];
  return { ...inspectedAs("provenance bundle", "JSON", [], says), faults: all };
}

/** Without extensions that the certificate lacks. */
function shownIdentity(identity: object): DescribedObject {
  const present = Object.entries(identity as Readonly<Record<string, string | null>>);
  return Object.fromEntries(present.filter(([, value]) => value !== null && value !== ""));
}

function unreadParts(
  envelope: DescribedObject,
  material: DescribedObject,
  hasStatement: boolean,
  hasCertificate: boolean,
): DescribedObject | undefined {
  const unread = {
    ...unreadMembers(envelope, { payload: hasStatement }),
    ...unreadMembers(material, { certificate: hasCertificate }),
  };
  return Object.keys(unread).length === 0 ? undefined : unread;
}
