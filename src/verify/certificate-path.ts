/**
 * Path validation (RFC 5280 section 6.1) of the path that the document states (verify/README.md, "The certificate
 * path").
 */
import { equalBytes } from "../bytes.js";
import { type AnswerFacts, type Checklist, checksOf } from "../checks.js";
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
import type { VerifyContext } from "./context.js";
import { ECDSA_WITH_SHA384, isSignedByKey, pointOfSpki } from "./ecdsa.js";
import type { SignatureCache } from "./signature-cache.js";
import { type TrustAnchor, isAwsNitroRoot } from "./trust-anchor.js";

export const PATH_CHECKS = /* @__PURE__ */ checksOf("chain");

/** nameConstraints, policyConstraints and inhibitAnyPolicy. They are not processed, so each is refused. */
const RESTRICTIONS = ["2.5.29.30", "2.5.29.36", "2.5.29.54"];

/** Length of a Name without attributes. */
const EMPTY_NAME = 2;

/** A certificate at its place in the path, from the anchor (0) to the leaf. */
class Placed {
  readonly certificate: Certificate;
  /** Number of CA certificates between this one and the leaf, or -1 for the leaf. */
  readonly casBelow: number;
  readonly #index: number;

  constructor(certificate: Certificate, index: number, casBelow: number) {
    this.certificate = certificate;
    this.casBelow = casBelow;
    this.#index = index;
  }

  get place(): string {
    const field = this.casBelow < 0 ? "certificate" : `cabundle[${this.#index}]`;
    return `${field} (${nameText(this.certificate.subject)})`;
  }
}

interface PathDemands extends Pick<VerifyContext, "crls" | "now"> {
  readonly trustAnchors: readonly TrustAnchor[];
  /** Validation time, or null if unreadable. */
  readonly validationTime: Date | null;
  /** The document's own time, in milliseconds since the epoch. Undefined if unreadable. */
  readonly ownTime: number | undefined;
  readonly cache: SignatureCache;
}

/** Runs all `chain.*` checks. Returns the anchor, or null unless the whole path is valid. */
export async function checkCertificatePath(
  document: { readonly certificate: Certificate; readonly cabundle: readonly Certificate[] },
  demands: PathDemands,
  checklist: Checklist,
): Promise<TrustAnchor | null> {
  const { trustAnchors, validationTime, ownTime, cache } = demands;
  const claimedRoot = document.cabundle[0]!;
  const anchor = anchorOf(claimedRoot, trustAnchors);
  // Without an anchor the claimed root takes its place, so that the path's other faults are also reported.
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
    reportValidity(path, validationTime, ownTime, checklist),
    checklist.conclude("chain.constraints", path.flatMap(constraintFaults)),
    await checkRevoked(path, demands, checklist),
  ];
  return answers.every(Boolean) ? anchor : null;
}

/** Repeats `chain.anchor` and `chain.validity` for a verified document; {@link recheckRevocation} looks lists up. */
export function recheckCertificatePath(
  attestation: { readonly document: Pick<AttestationDocument, "certificate" | "cabundle" | "timestamp"> },
  { trustAnchors: anchors, crls }: Pick<VerifyContext, "trustAnchors" | "crls">,
  validationTime: Date | null,
  checklist: Checklist,
): TrustAnchor | null {
  if (crls.given.length === 0) checklist.skip("chain.revocation", NO_LISTS);
  const { certificate, cabundle, timestamp } = attestation.document;
  const claimedRoot = cabundle[0]!;
  const anchor = anchorOf(claimedRoot, anchors);
  if (anchor === null) reportNoAnchor(claimedRoot, anchors, checklist);
  else reportAnchor(anchor, { isBroken: false }, checklist);
  const isValid = reportValidity(placed([...cabundle, certificate]), validationTime, timestamp, checklist);
  return isValid ? anchor : null;
}

/** Runs `chain.revocation` for a verified document. */
export function recheckRevocation(
  { document }: { readonly document: Pick<AttestationDocument, "certificate" | "cabundle"> },
  context: Pick<VerifyContext, "crls" | "now" | "cache">,
  checklist: Checklist,
): Promise<boolean> {
  return checkRevoked(placed([...document.cabundle, document.certificate]), context, checklist);
}

const NO_LISTS = "no revocation list was given: AWS publishes none for an instance, which lives a day, and a leaf";

async function checkRevoked(
  path: readonly Placed[],
  context: Pick<VerifyContext, "crls" | "now" | "cache">,
  checklist: Checklist,
): Promise<boolean> {
  if (context.crls.given.length === 0) checklist.skip("chain.revocation", NO_LISTS);
  else return (await import("./revocation.js")).checkRevocation(path, context, checklist);
  return true;
}

function anchorOf(claimedRoot: Certificate, anchors: readonly TrustAnchor[]): TrustAnchor | null {
  return anchors.find((candidate) => equalBytes(candidate.certificate.der, claimedRoot.der)) ?? null;
}

function placed(path: readonly Certificate[]): Placed[] {
  return path.map((certificate, index) => new Placed(certificate, index, path.length - 2 - index));
}

function reportNoAnchor(claimed: Certificate, anchors: readonly TrustAnchor[], checklist: Checklist): void {
  const names = anchors.map((candidate) => candidate.name).join(", ");
  const isAws = isAwsNitroRoot({ name: "", certificate: claimed });
  const detail = isAws
    ? `the document is of the AWS Nitro root, and this policy trusts only ${names}: wrong policy?`
    : `the document claims the root ${nameText(claimed.subject)}, which is not, byte for byte, one of: ${names}`;
  checklist.fail("chain.anchor", detail, { causes: isAws ? ["aws-root"] : [] });
}

/** Reports `chain.anchor`. `isBroken` means that the anchor did not issue the certificate below it. */
function reportAnchor(anchor: TrustAnchor, { isBroken }: { readonly isBroken: boolean }, checklist: Checklist): void {
  if (isBroken)
    checklist.fail("chain.anchor", `the certificate below the root was not issued by the trust anchor ${anchor.name}`, {
      causes: ["chain.signature"],
    });
  else if (isAwsNitroRoot(anchor)) checklist.pass("chain.anchor", `starts at ${anchor.name}`);
  else
    checklist.warn(
      "chain.anchor",
      `starts at ${anchor.name}, which is NOT the AWS Nitro Enclaves root: trust it only as far as you ` +
        `trust the owner of that root`,
    );
}

interface BrokenLink {
  readonly below: number;
  readonly fault: string;
}

async function brokenLinks(path: readonly Placed[], cache: SignatureCache): Promise<BrokenLink[]> {
  const links = await Promise.all(
    path.slice(1).map(async (lower, index): Promise<BrokenLink[]> => {
      const issuer = path[index]!.certificate;
      const fault = (message: string): BrokenLink => ({ below: index + 1, fault: `${lower.place}: ${message}` });
      const named = equalBytes(lower.certificate.issuer, issuer.subject);
      const { tbsCertificate, signature } = lower.certificate;
      const signed = await isSignedByKey(issuer, tbsCertificate, signature, cache);
      return [
        ...(named
          ? []
          : [fault(`names ${nameText(lower.certificate.issuer)} as its issuer, not the certificate above it`)]),
        ...(signed ? [] : [fault("is not signed by the certificate above it")]),
        // A copy of a self-signed root verifies under that root, so it must be refused separately.
        ...(equalBytes(lower.certificate.der, issuer.der) ? [fault("is a copy of the certificate above it")] : []),
      ];
    }),
  );
  return links.flat();
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
          : ["names one signature algorithm in the signed part and another outside it"]),
        ...(equalBytes(outer, ECDSA_WITH_SHA384) ? [] : ["is not signed with ECDSA and SHA-384"]),
      ];
      return reasons.map((reason) => `${entry.place}: ${reason}`);
    }),
  );
  return faults.flat();
}

function reportValidity(
  path: readonly Placed[],
  time: Date | null,
  own: number | undefined,
  checklist: Checklist,
): boolean {
  if (time === null) return checklist.skip("chain.validity", "the document's time could not be read");
  const isOnlyTime = time.getTime() !== own && own !== undefined && validityFaults(path, new Date(own)).length === 0;
  const facts: AnswerFacts = isOnlyTime ? { causes: ["other-time"] } : {};
  return checklist.conclude("chain.validity", validityFaults(path, time), `at ${time.toISOString()}`, facts);
}

/**
 * Returns a fault for each certificate that is not valid at this time. Both ends are inclusive (RFC 5280 section
 * 4.1.2.5), up to the last millisecond of the last second.
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
    ...(certificate.version === 3 ? [] : [`X.509 version ${certificate.version}, expected 3`]),
    ...extensionFaults(certificate),
    // A CA without a name could issue certificates that name no issuer (RFC 5280 section 4.1.2.6).
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
  if (extension === undefined) return isLeaf ? [] : ["has no basicConstraints, and is not a CA"];
  const decoded = attempt(() => decodeBasicConstraints(extension.value));
  if (decoded.value === undefined) return [faultText(decoded.faults)];
  const { ca, pathLen } = decoded.value;
  if (isLeaf)
    return [
      ...(ca ? ["is a CA, but the leaf must not be one"] : []),
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
    // Only a CA may sign certificates (RFC 5280 section 4.2.1.9).
    ...(keyCertSign ? ["keyUsage allows keyCertSign on a leaf"] : []),
  ];
}
