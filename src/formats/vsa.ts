/** A Verification Summary Attestation of SLSA, as an in-toto statement (formats/README.md, "VSA"). */
import { plain, typedOptions } from "../decode/options.js";
import { nullish } from "../decode/shapes.js";
import type { BundleFacts } from "../bundle/text.js";
import { isAllZero, toHex, toUtf8 } from "../bytes.js";
import type { AttestationDocument } from "../decode/attestation-document.js";
import { readAttestationDocument } from "../decode/attestation-document.js";
import { readBootProof } from "../decode/boot-proof.js";
import { decodeCoseSign1 } from "../decode/cose-sign1.js";
import { copyInput, readInput } from "../decode/input.js";
import { type Manifest, decodeManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { attempt } from "../errors.js";
import { type EvidenceInput, inputPieces, isDocument } from "../inputs.js";
import { jsonDocument, renderJson } from "../report/json.js";
import type { Report } from "../report/report.js";
import { WANTED } from "../show/verdict.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { sha256 } from "../verify/digest.js";
import { OWN_CLAIM, type OwnClaim, TOOL_URI, digestUri, ownClaim, policyUri, whyNotPassed } from "./results.js";

const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE = "https://slsa.dev/verification_summary/v1";

/** Our own levels, since the prefix `SLSA_` is reserved for SLSA. */
const VERIFIED_LEVEL = "BOOTPROOF_VERIFIED";
const VERIFIED_WITH_WARNINGS_LEVEL = "BOOTPROOF_VERIFIED_WITH_BUTS";
const FAILED = "FAILED";
const NO_POLICY_URI = `${TOOL_URI}#no-policy`;
const BUNDLE_POLICY_URI = `${TOOL_URI}#policy-of-the-bundle`;
const POLICY_AS_VALUE_URI = `${TOOL_URI}#policy-without-digest`;

const IMAGE_PCRS = [0, 1, 2];

interface Subject {
  readonly name: string;
  readonly digest: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface ShownPiece {
  readonly subject: string;
  readonly piece: { readonly name: string | null; readonly value: unknown };
}

/** Evidence in the order of the report. */
interface ShownEvidence {
  readonly pieces: readonly ShownPiece[];
  readonly isDocument: boolean;
}

export interface VsaOptions {
  /** The bundle that contained the evidence. */
  readonly bundle?: BundleFacts | null;
}

/**
 * Returns the report as an in-toto statement with SLSA's VSA predicate, JSON with a line feed at its end. Its subjects
 * are what the evidence shows, whatever the verdict. It is not signed. Throws TypeError for a value that is not a
 * report.
 */
export async function renderVsa(report: Report, evidence: EvidenceInput, options: VsaOptions = {}): Promise<string> {
  const { bundle = null } = typedOptions("options", options, { bundle: nullish(plain) });
  return vsaStatement(report, { pieces: inputPieces(evidence), isDocument: isDocument(evidence) }, bundle);
}

/** Like {@link renderVsa}, for unpacked evidence. */
export async function vsaStatement(
  report: Report,
  evidence: ShownEvidence,
  bundle: BundleFacts | null,
): Promise<string> {
  const predicate = predicateOf(report, bundle);
  const shown = await Promise.all(evidence.pieces.map((piece) => subjectsOf(piece, report, evidence.isDocument)));
  const subject = shown.some((each) => each.length > 0) ? shown.flat() : await otherSubjects(report);
  return jsonDocument({ _type: STATEMENT_TYPE, subject, predicateType: PREDICATE_TYPE, predicate });
}

function predicateOf(report: Report, bundle: BundleFacts | null): object {
  try {
    return predicateWith(report, ownClaim(report, bundle), whyNotPassed(report, bundle));
  } catch (cause) {
    throw new TypeError(WANTED, { cause });
  }
}

function predicateWith(report: Report, own: OwnClaim, why: string | null): object {
  const { tool, verifiedAt, policyDigest } = report;
  const uri = own.policyFrom === "bundle" ? BUNDLE_POLICY_URI : uriOfPolicy(report);
  return {
    verifier: { id: TOOL_URI, version: { [tool.name]: tool.version } },
    timeVerified: verifiedAt,
    resourceUri: resourceUri(report, uri),
    policy: { uri, ...(policyDigest !== null && { digest: { sha256: policyDigest } }) },
    ...inputAttestations(report),
    verificationResult: why === null ? "PASSED" : FAILED,
    verifiedLevels: [levelOf(own, why)],
    [OWN_CLAIM]: { ...own, whyFailed: why },
  };
}

function levelOf({ buts }: OwnClaim, why: string | null): string {
  if (why !== null) return FAILED;
  return buts.length === 0 ? VERIFIED_LEVEL : VERIFIED_WITH_WARNINGS_LEVEL;
}

function uriOfPolicy(report: Report): string {
  const wasGiven = report.policy !== null || report.policyDigest !== null || report.verdict === "verified";
  const heldAgainst = report.checks.some(({ id }) => id.startsWith("policy."));
  return policyUri(report) ?? (wasGiven || heldAgainst ? POLICY_AS_VALUE_URI : NO_POLICY_URI);
}

/** Returns the URI of the policy, with the names of the deployments that matched. */
function resourceUri({ claims }: Report, policy: string): string {
  const matched = (claims?.bootProofs ?? []).flatMap(({ deployment }) => deployment ?? []);
  const names = [...new Set(matched)].map((name) => encodeURIComponent(wellFormed(name)));
  return names.length === 0 ? policy : `${policy.split("#", 1)[0]!}#deployment=${names.join(",")}`;
}

/** Replaces lone surrogates, which cannot be encoded in a URI. */
function wellFormed(name: string): string {
  return name.replace(/\p{Surrogate}/gu, "\u{fffd}");
}

/**
 * Returns references to all pieces of evidence. If one has no digest it returns none, since the specification allows no
 * incomplete list.
 */
function inputAttestations({ evidence }: Report): object {
  const inputs = evidence.flatMap(({ sha256: digest }) => {
    const uri = digest === null ? null : digestUri(digest);
    return uri === null ? [] : [{ uri, digest: { sha256: digest } }];
  });
  return inputs.length === evidence.length && inputs.length > 0 ? { inputAttestations: inputs } : {};
}

/**
 * Returns the subjects of a boot proof: what it shows or, if it shows nothing, the digest of the evidence. Other
 * evidence has no subjects.
 */
async function subjectsOf({ subject, piece }: ShownPiece, report: Report, isDocument: boolean): Promise<Subject[]> {
  if (!subject.startsWith("boot[")) return [];
  const { document, pcrs, manifest } = shownIn(piece.value, isDocument);
  const program = leavesProgramOpen(subject, report) ? await documentSubjects(document) : pivotSubjects(manifest);
  const shown = [...program, ...pcrSubjects(pcrs)];
  const own = shown.length > 0 ? shown : pieceSubjects(subject, report);
  return own.map(({ name, digest }) => ({
    name: name === "" ? subject : `${subject}/${name}`,
    digest,
    ...(piece.name !== null && { annotations: { evidence: piece.name } }),
  }));
}

/**
 * Whether no pin of the policy decided the program. A statement about the program would then be misleading, since any
 * program passes.
 */
function leavesProgramOpen(subject: string, { claims }: Report): boolean {
  const [, index] = /^boot\[(\d+)\]$/.exec(subject) ?? [];
  return claims?.bootProofs[Number(index)]?.open.includes("application") === true;
}

async function documentSubjects(document: Uint8Array | undefined): Promise<Subject[]> {
  return document === undefined ? [] : [{ name: "document", digest: { sha256: toHex(await sha256(document)) } }];
}

interface Shown {
  /**
   * The attestation document as signed; undefined for a boot proof that was verified before, which no longer has it.
   */
  readonly document: Uint8Array | undefined;
  readonly pcrs: AttestationDocument["pcrs"] | undefined;
  readonly manifest: Manifest | undefined;
}

/** Reads the evidence without verifying it. What cannot be read is absent. */
function shownIn(value: unknown, isDocument: boolean): Shown {
  if (VerifiedBootProof.isVerified(value))
    return { document: undefined, pcrs: value.attestation.document.pcrs, manifest: value.manifest };
  if (isDocument) {
    const document = value instanceof Uint8Array ? value : undefined;
    return { document, pcrs: document && pcrsOf(document), manifest: undefined };
  }
  const { attestationDocument, manifest, manifestEnvelope } = readInput(copyInput(value), readBootProof).value;
  return {
    document: attestationDocument,
    pcrs: attestationDocument && pcrsOf(attestationDocument),
    manifest:
      manifest === null
        ? manifestEnvelope && attempt(() => decodeManifestEnvelope(manifestEnvelope)).value?.manifest
        : manifest && attempt(() => decodeManifest(manifest)).value,
  };
}

function pcrsOf(document: Uint8Array): AttestationDocument["pcrs"] | undefined {
  return attempt(() => readAttestationDocument(decodeCoseSign1(document).payload).value.pcrs).value;
}

function pivotSubjects(manifest: Manifest | undefined): Subject[] {
  if (manifest === undefined) return [];
  if (manifest.workloads === undefined) return [{ name: "pivot", digest: { sha256: toHex(manifest.pivot.hash) } }];
  return manifest.workloads.map(({ name, imageDigest }) => ({
    name: `workload/${name}`,
    digest: { sha256: toHex(imageDigest) },
  }));
}

/** Returns the non-zero PCRs of the image as subjects. In debug mode all are zero, which identifies no enclave. */
function pcrSubjects(pcrs: AttestationDocument["pcrs"] | undefined): Subject[] {
  return IMAGE_PCRS.flatMap((index) => {
    const pcr = pcrs?.get(index);
    return pcr === undefined || isAllZero(pcr) ? [] : [{ name: `pcr${index}`, digest: { sha384: toHex(pcr) } }];
  });
}

function pieceSubjects(subject: string, { evidence }: Report): Subject[] {
  const digest = evidence.find((each) => each.subject === subject)?.sha256 ?? null;
  return digest === null || digestUri(digest) === null ? [] : [{ name: "", digest: { sha256: digest } }];
}

/**
 * Returns the subjects if no boot proof has any: all evidence with a digest or, without such evidence, the report as
 * JSON.
 */
async function otherSubjects(report: Report): Promise<Subject[]> {
  const pieces = report.evidence.flatMap(({ subject }) =>
    pieceSubjects(subject, report).map(({ digest }) => ({ name: subject, digest })),
  );
  if (pieces.length > 0) return pieces;
  return [{ name: "report", digest: { sha256: toHex(await sha256(toUtf8(renderJson(report)))) } }];
}
