/**
 * Path validation (RFC 5280 section 6.1) by the rules of this one PKI: the path is not searched for, it is the one that
 * the document states, from the pinned anchor down (verify/README.md, "The certificate path").
 */
import { equalBytes } from "../bytes.js";
import { type Checklist, checksOf } from "../checks.js";
import type { AttestationDocument } from "../decode/attestation-document.js";
import {
  BASIC_CONSTRAINTS,
  type Certificate,
  KEY_USAGE,
  decodeBasicConstraints,
  decodeKeyUsage,
  nameText,
} from "../decode/certificate.js";
import { attempt, faultText } from "../errors.js";
import { CURVES } from "./cryptography.js";
import { pointOfSpki, rawSignature } from "./ecdsa.js";
import type { SignatureCache } from "./signature-cache.js";
import { type TrustAnchor, isAwsNitroRoot } from "./trust-anchor.js";

export const PATH_CHECKS = /* @__PURE__ */ checksOf("path");

/** `ecdsa-with-SHA384` without parameters (RFC 5758 section 3.2). */
const ECDSA_WITH_SHA384 = Uint8Array.of(0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03);

/**
 * nameConstraints, policyConstraints and inhibitAnyPolicy: what an authority forbids to those below it. None is
 * processed here; a CA that forgets to mark one as critical, as it must, has forbidden it all the same.
 */
const RESTRICTIONS = ["2.5.29.30", "2.5.29.36", "2.5.29.54"];

/** A Name without attributes. */
const EMPTY_NAME = 2;

/** A certificate at its place: 0 is the anchor, the last is the leaf. */
class Placed {
  readonly certificate: Certificate;
  /** How many CA certificates stand between this one and the leaf; -1 for the leaf. */
  readonly casBelow: number;
  readonly #index: number;

  constructor(certificate: Certificate, index: number, casBelow: number) {
    this.certificate = certificate;
    this.casBelow = casBelow;
    this.#index = index;
  }

  /** For people: where it stands in the document, and its subject. */
  get place(): string {
    const field = this.casBelow < 0 ? "certificate" : `cabundle[${this.#index}]`;
    return `${field} (${nameText(this.certificate.subject)})`;
  }
}

/** What a path is held against. */
interface PathDemands {
  readonly trustAnchors: readonly TrustAnchor[];
  /** Null where it could not be read. */
  readonly validationTime: Date | null;
  readonly cache: SignatureCache;
}

/** Checks the five `chain.*` ids. Answers the anchor that the path starts at, where the whole path is good. */
export async function checkCertificatePath(
  document: { readonly certificate: Certificate; readonly cabundle: readonly Certificate[] },
  { trustAnchors, validationTime, cache }: PathDemands,
  checklist: Checklist,
): Promise<TrustAnchor | null> {
  const claimedRoot = document.cabundle[0]!;
  const anchor = anchorOf(claimedRoot, trustAnchors);
  // Where the claimed root is not an anchor the path is lost; its other faults are told all the same.
  const path = placed([anchor?.certificate ?? claimedRoot, ...document.cabundle.slice(1), document.certificate]);
  const broken = await brokenLinks(path, cache);
  if (anchor === null) reportNoAnchor(claimedRoot, trustAnchors, checklist);
  else reportAnchor(anchor, { isBroken: broken.some((link) => link.below === 1) }, checklist);
  const answers = [
    checklist.conclude(
      "chain.signature",
      broken.map((link) => link.fault),
    ),
    checklist.conclude("chain.algorithm", await algorithmFaults(path, cache)),
    reportValidity(path, validationTime, checklist),
    checklist.conclude("chain.constraints", path.flatMap(constraintFaults)),
  ];
  return answers.every(Boolean) ? anchor : null;
}

/**
 * Checks `chain.anchor` and `chain.validity` of a document that was verified before, perhaps for other anchors or
 * another time.
 */
export function recheckCertificatePath(
  attestation: { readonly document: Pick<AttestationDocument, "certificate" | "cabundle"> },
  anchors: readonly TrustAnchor[],
  validationTime: Date | null,
  checklist: Checklist,
): TrustAnchor | null {
  const { certificate, cabundle } = attestation.document;
  const claimedRoot = cabundle[0]!;
  const anchor = anchorOf(claimedRoot, anchors);
  if (anchor === null) reportNoAnchor(claimedRoot, anchors, checklist);
  else reportAnchor(anchor, { isBroken: false }, checklist);
  const isValid = reportValidity(placed([...cabundle, certificate]), validationTime, checklist);
  return isValid ? anchor : null;
}

function anchorOf(claimedRoot: Certificate, anchors: readonly TrustAnchor[]): TrustAnchor | null {
  return anchors.find((candidate) => equalBytes(candidate.certificate.der, claimedRoot.der)) ?? null;
}

function placed(path: readonly Certificate[]): Placed[] {
  return path.map((certificate, index) => new Placed(certificate, index, path.length - 2 - index));
}

function reportNoAnchor(claimed: Certificate, anchors: readonly TrustAnchor[], checklist: Checklist): void {
  const names = anchors.map((candidate) => candidate.name).join(", ");
  const root = nameText(claimed.subject);
  checklist.fail("chain.anchor", `the document claims the root ${root}, which is not, byte for byte, one of: ${names}`);
}

/** `isBroken`: the first certificate below the anchor is not one that it issued, which `chain.signature` says too. */
function reportAnchor(anchor: TrustAnchor, { isBroken }: { readonly isBroken: boolean }, checklist: Checklist): void {
  if (isBroken)
    checklist.fail("chain.anchor", `the certificate below the root was not issued by the trust anchor ${anchor.name}`);
  else if (isAwsNitroRoot(anchor)) checklist.pass("chain.anchor", `starts at ${anchor.name}`);
  else
    checklist.warn(
      "chain.anchor",
      `starts at ${anchor.name}, which is NOT the AWS Nitro Enclaves root: what it attests is worth what its owner's ` +
        `word is`,
    );
}

interface BrokenLink {
  /** Index of the lower certificate of the link. */
  readonly below: number;
  readonly fault: string;
}

async function brokenLinks(path: readonly Placed[], cache: SignatureCache): Promise<BrokenLink[]> {
  const links = await Promise.all(
    path.slice(1).map(async (lower, index): Promise<BrokenLink[]> => {
      const issuer = path[index]!.certificate;
      const fault = (message: string): BrokenLink => ({ below: index + 1, fault: `${lower.place}: ${message}` });
      const named = equalBytes(lower.certificate.issuer, issuer.subject);
      const signed = await isSignedBy(lower.certificate, issuer, cache);
      return [
        ...(named
          ? []
          : [fault(`names ${nameText(lower.certificate.issuer)} as its issuer, not the certificate above it`)]),
        ...(signed ? [] : [fault("is not signed by the certificate above it")]),
        // A self-signed root is its own issuer: a second copy of it would pass as a link.
        ...(equalBytes(lower.certificate.der, issuer.der) ? [fault("is the certificate above it once more")] : []),
      ];
    }),
  );
  return links.flat();
}

async function isSignedBy(certificate: Certificate, issuer: Certificate, cache: SignatureCache): Promise<boolean> {
  const point = pointOfSpki("P-384", issuer.subjectPublicKeyInfo);
  const signature = rawSignature(certificate.signature, CURVES["P-384"].scalarLength);
  if (point === null || signature === null) return false;
  return cache.verify("P-384", point, certificate.tbsCertificate, signature);
}

async function algorithmFaults(path: readonly Placed[], cache: SignatureCache): Promise<string[]> {
  const faults = await Promise.all(
    path.map(async (entry) => {
      const {
        innerSignatureAlgorithm: inner,
        outerSignatureAlgorithm: outer,
        subjectPublicKeyInfo,
      } = entry.certificate;
      const point = pointOfSpki("P-384", subjectPublicKeyInfo);
      const key = point === null ? null : await cache.key("P-384", point);
      const reasons = [
        ...(key === null ? ["its key is not a point of P-384"] : []),
        ...(equalBytes(inner, outer)
          ? []
          : ["names two signature algorithms, one signed and one beside the signature"]),
        ...(equalBytes(outer, ECDSA_WITH_SHA384) ? [] : ["is not signed with ECDSA and SHA-384"]),
      ];
      return reasons.map((reason) => `${entry.place}: ${reason}`);
    }),
  );
  return faults.flat();
}

function reportValidity(path: readonly Placed[], time: Date | null, checklist: Checklist): boolean {
  if (time === null) return checklist.skip("chain.validity", "the document's time could not be read");
  return checklist.conclude("chain.validity", validityFaults(path, time), `at ${time.toISOString()}`);
}

/**
 * Both ends of a validity are inside it (RFC 5280 section 4.1.2.5). They are seconds: the last one ends with its last
 * millisecond, and documents count in milliseconds.
 */
function validityFaults(path: readonly Placed[], time: Date): string[] {
  const at = Math.floor(time.getTime() / 1000) * 1000;
  return path
    .filter(({ certificate }) => at < certificate.notBefore.getTime() || at > certificate.notAfter.getTime())
    .map((entry) => {
      const { notBefore, notAfter } = entry.certificate;
      const lifetime = `${notBefore.toISOString()} to ${notAfter.toISOString()}`;
      return `${entry.place}: valid ${lifetime}, not at ${time.toISOString()}`;
    });
}

function constraintFaults(entry: Placed): string[] {
  const { certificate, casBelow } = entry;
  const isLeaf = casBelow < 0;
  const faults = [
    ...(certificate.version === 3 ? [] : [`X.509 version ${certificate.version}, 3 wanted`]),
    ...extensionFaults(certificate),
    // RFC 5280 section 4.1.2.6: whose name is empty is named as the issuer by whoever names none.
    ...(isLeaf || certificate.subject.length > EMPTY_NAME ? [] : ["is a CA without a name"]),
    ...basicConstraintsFaults(certificate, isLeaf, casBelow),
    ...keyUsageFaults(certificate, isLeaf),
  ];
  return faults.map((fault) => `${entry.place}: ${fault}`);
}

function extensionFaults(certificate: Certificate): string[] {
  const ids = certificate.extensions.map((extension) => extension.id);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  const unknown = certificate.extensions.filter(
    ({ id, critical }) => (critical && id !== BASIC_CONSTRAINTS && id !== KEY_USAGE) || RESTRICTIONS.includes(id),
  );
  return [
    ...repeated.map((id) => `extension ${id} appears twice`),
    ...unknown.map(({ id, critical }) => {
      const kind = critical ? "critical extension" : "extension";
      return `${kind} ${id} is not one that this verifier processes`;
    }),
  ];
}

function basicConstraintsFaults(certificate: Certificate, isLeaf: boolean, casBelow: number): string[] {
  const extension = certificate.extensions.find(({ id }) => id === BASIC_CONSTRAINTS);
  if (extension === undefined) return isLeaf ? [] : ["has no basicConstraints, and is no CA"];
  const decoded = attempt(() => decodeBasicConstraints(extension.value));
  if (decoded.value === undefined) return [faultText(decoded.faults)];
  const { ca, pathLen } = decoded.value;
  if (isLeaf)
    return [
      ...(ca ? ["is a CA, where the leaf must not be one"] : []),
      ...(pathLen === null ? [] : ["has a pathLenConstraint on a leaf"]),
    ];
  return [
    ...(ca ? [] : ["is not a CA"]),
    ...(extension.critical ? [] : ["basicConstraints is not critical"]),
    ...(pathLen === null || casBelow <= pathLen
      ? []
      : [`pathLenConstraint ${pathLen}, with ${casBelow} CA certificates below it`]),
  ];
}

function keyUsageFaults(certificate: Certificate, isLeaf: boolean): string[] {
  const extension = certificate.extensions.find(({ id }) => id === KEY_USAGE);
  if (extension === undefined) return ["has no keyUsage"];
  const decoded = attempt(() => decodeKeyUsage(extension.value));
  if (decoded.value === undefined) return [faultText(decoded.faults)];
  const { digitalSignature, keyCertSign } = decoded.value;
  if (!isLeaf) return keyCertSign ? [] : ["keyUsage does not allow keyCertSign"];
  return [
    ...(digitalSignature ? [] : ["keyUsage does not allow digitalSignature"]),
    // RFC 5280 section 4.2.1.9: keyCertSign is for CAs only.
    ...(keyCertSign ? ["keyUsage allows keyCertSign on a leaf"] : []),
  ];
}
