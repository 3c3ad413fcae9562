/** A Verification Summary Attestation of SLSA, as an in-toto statement (formats/README.md, "VSA"). */
import { plain, typedOptions } from "../decode/options.js";
import { nullish } from "../decode/shapes.js";
import type { BundleFacts } from "../bundle/text.js";
import { isAllZero, toHex, toUtf8 } from "../bytes.js";
import { type AttestationDocument, readAttestationDocument } from "../decode/attestation-document.js";
import { readBootProof } from "../decode/boot-proof.js";
import { decodeCoseSign1 } from "../decode/cose-sign1.js";
import { copyInput, readInput } from "../decode/input.js";
import { type Manifest, decodeManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { attempt } from "../errors.js";
import { type EvidenceInput, type InputPiece, inputPieces, isDocument } from "../inputs.js";
import { jsonDocument, renderJson } from "../report/json.js";
import type { Report } from "../report/report.js";
import { ofReport } from "../show/verdict.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { sha256 } from "../verify/digest.js";
import { OWN_CLAIM, TOOL_URI, bootIndex, digestUri, ownClaim, policyUri, whyNotPassed } from "./results.js";

const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE = "https://slsa.dev/verification_summary/v1";
/** Our own level, since the prefix `SLSA_` is reserved for SLSA. */
const VERIFIED_LEVEL = "BOOTPROOF_VERIFIED";
const FAILED = "FAILED";
const IMAGE_PCRS = [0, 1, 2];

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
  return vsaStatement(report, inputPieces(evidence), isDocument(evidence), bundle);
}

/** Like {@link renderVsa}, for unpacked evidence in the order of the report. */
export async function vsaStatement(
  report: Report,
  pieces: readonly InputPiece[],
  isDocument: boolean,
  bundle: BundleFacts | null,
): Promise<string> {
  const predicate = ofReport(report, () => predicateOf(report, bundle));
  const shown = await Promise.all(pieces.map((piece) => subjectsOf(piece, report, isDocument)));
  // A statement has to have a subject: without boot proofs the other evidence, and without any digest the report.
  const others = report.evidence.flatMap((piece) => pieceSubjects(piece.subject, report));
  const reported = [subjectOf("report", await sha256(toUtf8(renderJson(report))))];
  const subject = [shown.flat(), others].find((subjects) => subjects.length > 0) ?? reported;
  return jsonDocument({ _type: STATEMENT_TYPE, subject, predicateType: PREDICATE_TYPE, predicate });
}

function predicateOf(report: Report, bundle: BundleFacts | null): object {
  const { tool, verifiedAt, policyDigest } = report;
  const own = ownClaim(report, bundle);
  const why = whyNotPassed(report, bundle);
  const uri = uriOfPolicy(report, bundle);
  const level = own.warnings.length === 0 ? VERIFIED_LEVEL : `${VERIFIED_LEVEL}_WITH_WARNINGS`;
  return {
    verifier: { id: TOOL_URI, version: { [tool.name]: tool.version } },
    timeVerified: verifiedAt,
    resourceUri: resourceUri(report, uri),
    policy: { uri, ...(policyDigest !== null && { digest: { sha256: policyDigest } }) },
    ...inputAttestations(report),
    verificationResult: why === null ? "PASSED" : FAILED,
    verifiedLevels: [why === null ? level : FAILED],
    [OWN_CLAIM]: { ...own, whyFailed: why },
  };
}

function uriOfPolicy(report: Report, bundle: BundleFacts | null): string {
  if (bundle?.policyFrom === "bundle") return `${TOOL_URI}#policy-of-the-bundle`;
  const isGiven = report.policy !== null || report.policyDigest !== null || report.verdict === "verified";
  const isApplied = isGiven || report.checks.some(({ id }) => id.startsWith("policy."));
  return policyUri(report) ?? `${TOOL_URI}#${isApplied ? "policy-without-digest" : "no-policy"}`;
}

/** Returns the URI of the policy, with the names of the deployments that matched. */
function resourceUri({ claims }: Report, policy: string): string {
  const matched = (claims?.bootProofs ?? []).flatMap(({ deployment }) => deployment ?? []);
  // Lone surrogates cannot be encoded in a URI.
  const names = [...new Set(matched)].map((name) => encodeURIComponent(name.replace(/\p{Surrogate}/gu, "\u{fffd}")));
  return names.length === 0 ? policy : `${policy.split("#", 1)[0]!}#deployment=${names.join(",")}`;
}

/**
 * Returns references to all pieces of evidence. If one has no digest it returns none, since the specification allows no
 * incomplete list.
 */
function inputAttestations({ evidence }: Report): object {
  const inputs = evidence.map(({ sha256: digest }) => ({ uri: digestUri(digest ?? ""), digest: { sha256: digest } }));
  return inputs.length > 0 && inputs.every(({ uri }) => uri !== null) ? { inputAttestations: inputs } : {};
}

/**
 * Returns the subjects of a boot proof: what it shows or, if it shows nothing, the digest of the evidence. Other
 * evidence has no subjects.
 */
async function subjectsOf({ subject, piece }: InputPiece, report: Report, isDocument: boolean): Promise<object[]> {
  if (!subject.startsWith("boot[")) return [];
  const { document, pcrs, manifest } = shownIn(piece.value, isDocument);
  // Where no pin decided the program, any program passes, and a statement about this one would mislead.
  const isOpen = report.claims?.bootProofs[bootIndex(subject)]?.open.includes("application") === true;
  const annotations = piece.name === null ? {} : { annotations: { evidence: piece.name } };
  const image = IMAGE_PCRS.flatMap((index) => {
    const pcr = pcrs?.get(index);
    // In debug mode all are zero, which identifies no enclave.
    return pcr === undefined || isAllZero(pcr) ? [] : [subjectOf(`${subject}/pcr${index}`, pcr, "sha384")];
  });
  const documents = document === undefined ? [] : [subjectOf(`${subject}/document`, await sha256(document))];
  const shown = [...(isOpen ? documents : programSubjects(manifest, subject)), ...image];
  const found = shown.length > 0 ? shown : pieceSubjects(subject, report);
  return found.map((each) => ({ ...each, ...annotations }));
}

function subjectOf(name: string, digest: Uint8Array, algorithm = "sha256"): object {
  return { name, digest: { [algorithm]: toHex(digest) } };
}

interface Shown {
  /** The document as signed. A boot proof that was verified before no longer has it. */
  readonly document?: Uint8Array | undefined;
  readonly pcrs: AttestationDocument["pcrs"] | undefined;
  readonly manifest?: Manifest | undefined;
}

/** Reads the evidence without verifying it. What cannot be read is absent. */
function shownIn(value: unknown, isDocument: boolean): Shown {
  if (VerifiedBootProof.isVerified(value)) return { pcrs: value.attestation.document.pcrs, manifest: value.manifest };
  const read = isDocument ? {} : readInput(copyInput(value), readBootProof).value;
  const { manifest, manifestEnvelope, attestationDocument } = read;
  const document = isDocument && value instanceof Uint8Array ? value : attestationDocument;
  const inEnvelope = attempt(() => manifestEnvelope && decodeManifestEnvelope(manifestEnvelope).manifest).value;
  return {
    document,
    pcrs: document && attempt(() => readAttestationDocument(decodeCoseSign1(document).payload).value.pcrs).value,
    manifest: manifest === null ? inEnvelope : manifest && attempt(() => decodeManifest(manifest)).value,
  };
}

function programSubjects(manifest: Manifest | undefined, subject: string): object[] {
  if (manifest === undefined) return [];
  if (manifest.workloads === undefined) return [subjectOf(`${subject}/pivot`, manifest.pivot.hash)];
  return manifest.workloads.map(({ name, imageDigest }) => subjectOf(`${subject}/workload/${name}`, imageDigest));
}

function pieceSubjects(subject: string, { evidence }: Report): object[] {
  const digest = evidence.find((each) => each.subject === subject)?.sha256 ?? "";
  return digestUri(digest) === null ? [] : [{ name: subject, digest: { sha256: digest } }];
}
