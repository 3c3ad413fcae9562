/** Decoding of certificate revocation lists (RFC 5280 section 5) in strict DER, without any verification. */
import { fromUtf8, toHex } from "../bytes.js";
import { MalformedError, attempt } from "../errors.js";
import { type CertificateExtension, DER_TAG, DerReader, extensionsIn, malformedCertificate } from "./certificate.js";

export interface RevocationList {
  /** The bytes that the issuer signed. */
  readonly tbsCertList: Uint8Array;
  readonly innerSignatureAlgorithm: Uint8Array;
  readonly outerSignatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
  readonly issuer: Uint8Array;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  /** Serial numbers in hex of the entries that revoke a certificate of the issuer. */
  readonly revoked: ReadonlySet<string>;
  /** The distributionPoint of the issuingDistributionPoint, with its header. Null if the list has none. */
  readonly distributionPoint: Uint8Array | null;
  /** Why the list is no complete one of its issuer, or has a critical extension that is not known. */
  readonly refusals: readonly string[];
}

/** Extensions of lists and entries (RFC 5280 sections 5.2 and 5.3), and of certificates (4.2.1.13). */
const CRL_NUMBER = "2.5.29.20";
const REASON_CODE = "2.5.29.21";
const INVALIDITY_DATE = "2.5.29.24";
const DELTA_INDICATOR = "2.5.29.27";
const ISSUING_DISTRIBUTION_POINT = "2.5.29.28";
const CERTIFICATE_ISSUER = "2.5.29.29";
const AUTHORITY_KEY_IDENTIFIER = "2.5.29.35";
const DISTRIBUTION_POINTS = "2.5.29.31";
const REMOVE_FROM_CRL = 8;
const ENUMERATED = 0x0a;
/** Tags of the members of IssuingDistributionPoint (5.2.5) after the first. */
const PARTIAL = ["onlyContainsUserCerts", "onlyContainsCACerts", "onlySomeReasons", "indirectCRL", "attribute"];

/** Decodes one list with nothing after it. Throws {@link MalformedError} (`revocation-list`). */
export function decodeRevocationList(encoding: Uint8Array): RevocationList {
  const { value, faults } = attempt(() => decode(new Uint8Array(encoding)));
  if (value === undefined) throw new MalformedError("revocation-list", faults);
  return value;
}

function decode(der: Uint8Array): RevocationList {
  if (der[0] !== DER_TAG.sequence && fromUtf8(der)?.includes("-----BEGIN X509 CRL-----") === true)
    throw malformedCertificate("PEM, expected DER: openssl crl -outform DER writes it");
  const list = DerReader.sole(der, DER_TAG.sequence, "CertificateList", "the list");
  const tbsCertList = list.encoding(DER_TAG.sequence, "tbsCertList");
  const outerSignatureAlgorithm = list.encoding(DER_TAG.sequence, "signatureAlgorithm");
  const signature = list.bitString("signatureValue");
  list.end("after signatureValue");
  const tbs = new DerReader(tbsCertList).constructed(DER_TAG.sequence, "tbsCertList");
  const isVersion2 = readVersion(tbs);
  const innerSignatureAlgorithm = tbs.encoding(DER_TAG.sequence, "signature");
  const issuer = tbs.name("issuer");
  const thisUpdate = tbs.time("thisUpdate");
  const nextUpdate = isTime(tbs.next()) ? tbs.time("nextUpdate") : null;
  const { revoked, refusals } = entriesIn(tbs, isVersion2);
  const extensions = tbs.next() === DER_TAG.version ? extensionsIn(tbs, DER_TAG.version) : [];
  tbs.end("after the extensions");
  if (!isVersion2 && extensions.length > 0) throw malformedCertificate("extensions in a list of version 1");
  const point = extensions.find(({ id }) => id === ISSUING_DISTRIBUTION_POINT);
  const { distributionPoint, partial } = point ? issuingPoint(point.value) : { distributionPoint: null, partial: [] };
  const known = [CRL_NUMBER, AUTHORITY_KEY_IDENTIFIER, DELTA_INDICATOR, ISSUING_DISTRIBUTION_POINT];
  return {
    tbsCertList,
    innerSignatureAlgorithm,
    outerSignatureAlgorithm,
    signature,
    issuer,
    thisUpdate,
    nextUpdate,
    revoked,
    distributionPoint,
    refusals: [
      ...(nextUpdate === null ? ["it has no nextUpdate"] : []),
      ...(extensions.some(({ id }) => id === DELTA_INDICATOR) ? ["it is a delta list"] : []),
      ...partial.map((name) => `it is partial (${name})`),
      ...extensionFaults(extensions, known),
      ...refusals,
    ],
  };
}

/** Returns whether the version is 2. It is absent from a list of version 1. */
function readVersion(tbs: DerReader): boolean {
  if (tbs.next() !== DER_TAG.integer) return false;
  const version = tbs.integer("version");
  if (version.length !== 1 || version[0] !== 1) throw malformedCertificate("version: not 2");
  return true;
}

function isTime(tag: number | undefined): boolean {
  return tag === DER_TAG.utcTime || tag === DER_TAG.generalizedTime;
}

/** Reads revokedCertificates, which is absent from a list without entries. */
function entriesIn(
  tbs: DerReader,
  isVersion2: boolean,
): { readonly revoked: Set<string>; readonly refusals: Set<string> } {
  const [revoked, refusals] = [new Set<string>(), new Set<string>()];
  if (tbs.next() !== DER_TAG.sequence) return { revoked, refusals };
  const entries = tbs.constructed(DER_TAG.sequence, "revokedCertificates");
  let isOthers = false;
  do {
    const entry = entries.constructed(DER_TAG.sequence, "an entry");
    const serial = toHex(entry.integer("userCertificate"));
    entry.time("revocationDate");
    const extensions = entry.next() === DER_TAG.sequence ? extensionsIn(entry) : [];
    entry.end("after an entry");
    if (!isVersion2 && extensions.length > 0)
      throw malformedCertificate("extensions of an entry in a list of version 1");
    // The entries that follow are of that issuer, too (5.3.3).
    isOthers ||= extensions.some(({ id }) => id === CERTIFICATE_ISSUER);
    if (isOthers) refusals.add("it is indirect: an entry has an issuer");
    const removes = reasonIn(extensions) === REMOVE_FROM_CRL;
    if (removes) refusals.add("an entry removes another one, as only a delta list may");
    if (!isOthers && !removes) revoked.add(serial);
    for (const fault of extensionFaults(extensions, [REASON_CODE, INVALIDITY_DATE, CERTIFICATE_ISSUER]))
      refusals.add(`an entry: ${fault}`);
  } while (entries.next() !== undefined);
  return { revoked, refusals };
}

function reasonIn(extensions: readonly CertificateExtension[]): number | undefined {
  const reason = extensions.find(({ id }) => id === REASON_CODE);
  return reason && DerReader.sole(reason.value, ENUMERATED, "reasonCode").rest()[0];
}

function extensionFaults(extensions: readonly CertificateExtension[], known: readonly string[]): string[] {
  // Sets, since a list may have any number of extensions.
  const [ids, twice, unknown] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { id, critical } of extensions) {
    if (ids.has(id)) twice.add(id);
    ids.add(id);
    if (critical && !known.includes(id)) unknown.add(id);
  }
  return [
    ...[...twice].map((id) => `extension ${id} appears twice`),
    ...[...unknown].map((id) => `critical extension ${id} is not one that this verifier processes`),
  ];
}

function issuingPoint(value: Uint8Array): {
  readonly distributionPoint: Uint8Array | null;
  readonly partial: string[];
} {
  const point = DerReader.sole(value, DER_TAG.sequence, "issuingDistributionPoint");
  const distributionPoint = point.next() === 0xa0 ? point.encoding(0xa0, "distributionPoint") : null;
  const partial: string[] = [];
  for (let tag = point.next(); tag !== undefined; tag = point.next()) {
    partial.push(PARTIAL[(tag & 0x1f) - 1] ?? `member ${tag & 0x1f}`);
    point.skip(tag, "issuingDistributionPoint");
  }
  return { distributionPoint, partial };
}

/**
 * Returns the distribution points of a certificate (4.2.1.13), each distributionPoint with its header. Null stands for
 * one that is limited to some reasons or another issuer, or that has no name. Throws {@link MalformedError}.
 */
export function distributionPointsOf(extensions: readonly CertificateExtension[]): (Uint8Array | null)[] {
  const extension = extensions.find(({ id }) => id === DISTRIBUTION_POINTS);
  if (extension === undefined) return [];
  const points = DerReader.sole(extension.value, DER_TAG.sequence, "cRLDistributionPoints");
  const names: (Uint8Array | null)[] = [];
  do {
    const point = points.constructed(DER_TAG.sequence, "DistributionPoint");
    const name = point.next() === 0xa0 ? point.encoding(0xa0, "distributionPoint") : null;
    names.push(point.next() === undefined ? name : null);
  } while (points.next() !== undefined);
  return names;
}
