/** Verifies what the reader entered in the form. */
import { verifyAttestation, verifyEvidence } from "../bootproof.js";
import { decodeBundle, namedBundle } from "../bundle/file.js";
import type { BundleFacts } from "../bundle/text.js";
import { type BundleVerifyOptions, POLICY_OF_THE_BUNDLE, verifyBundle } from "../bundle/verify.js";
import { MalformedError } from "../errors.js";
import { type EvidenceInput, demandsProvenance, isDocument } from "../inputs.js";
import { type PlainOptions, verifyOptionsOf } from "../plain-settings.js";
import type { Report } from "../report/report.js";

interface BundleBytes {
  readonly bundle: Uint8Array;
  readonly name: string;
}

/** What the form requests. The policy is the caller's, the bundle's (`"bundle"`), or none (null). */
export interface Request {
  readonly evidence: EvidenceInput | BundleBytes;
  readonly options: PlainOptions;
}

/** A verification that pages show. */
export interface JudgedPage {
  /** The evidence, which may come from inside a bundle. */
  readonly evidence: EvidenceInput;
  readonly report: Report;
  /** Facts about the bundle; null if the evidence was not in one. */
  readonly bundle: BundleFacts | null;
}

/** Fault of a policy that demands provenance, since a page must never accept what it cannot check. */
export const NO_PROVENANCE =
  "demands provenance, which a page cannot verify: browsers have no Sigstore library. Run bootproof verify " +
  "--provenance FILE --policy FILE instead";

/** Verifies. Rejects with {@link MalformedError} for a malformed policy or bundle, and for invalid options (`page`). */
export async function judged(given: Request): Promise<JudgedPage> {
  const { evidence } = given;
  try {
    const { policy: plain } = given.options;
    const options = verifyOptionsOf({ ...given.options, policy: plain === "bundle" ? null : plain });
    if (isBundleBytes(evidence))
      return await judgedBundle(evidence, plain === "bundle" ? { ...options, policy: POLICY_OF_THE_BUNDLE } : options);
    const { report } = isDocument(evidence)
      ? await verifyAttestation(evidence, options)
      : await verifyEvidence(evidence, options);
    return { evidence, report, bundle: null };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new MalformedError("page", [{ path: "options", message: error.message }]);
  }
}

function isBundleBytes(evidence: Request["evidence"]): evidence is BundleBytes {
  return Object.hasOwn(evidence, "bundle");
}

async function judgedBundle({ bundle: bytes, name }: BundleBytes, options: BundleVerifyOptions): Promise<JudgedPage> {
  const decoded = decodeBundle(bytes);
  const inside = decoded.judgement?.policy;
  if (inside && demandsProvenance(inside))
    throw new MalformedError("page", [{ path: "policy", message: NO_PROVENANCE }]);
  const bundle = namedBundle(decoded, name, bytes);
  const { report, ...facts } = await verifyBundle(bundle, options);
  return { evidence: bundle.evidence, report, bundle: facts };
}
