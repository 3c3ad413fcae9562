import { byteCopy, date, having, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, demand, optional } from "../decode/shapes.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import {
  type DeploymentFile,
  type ParsePolicyOptions,
  type Policy,
  type PolicyFile,
  parsePolicy,
} from "../appraise/policy.js";
import type { ProvenanceRoot } from "../appraise/provenance.js";
import { type Evidence, NO_POLICY_ANY_ENCLAVE, NamedEvidence, verifyEvidence } from "../bootproof.js";
import { withOwnName } from "../decode/boot-proof.js";
import { unwrapAlone } from "../decode/evidence-members.js";
import { copyPlain, jsonInput } from "../decode/input.js";
import { attempt } from "../errors.js";
import { evidenceMembers } from "../inputs.js";
import { type PlainPolicy, anchorPems, policyContent, readerOf, rootTexts } from "../plain-settings.js";
import { type Verification, madeVerification } from "../verification.js";
import type { ProvenanceVerifier } from "../verify/provenance-demand.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import type { Expected } from "../verify/expectation.js";
import { BUNDLE_FORMAT, type BundleFile, type PackedPolicy } from "./file.js";

export interface PackOptions {
  /** A policy, or a file that names no others, as {@link selfContainedPolicy} makes it. */
  readonly policy: PolicyFile | Policy | typeof NO_POLICY_ANY_ENCLAVE;
  readonly now: Date;
  /** The request. It is not packed, because the verifier of the bundle states its own. */
  readonly expected?: Expected;
  /** The requested nonce, which is not packed either. */
  readonly nonce?: Uint8Array;
  /** Verifier of provenance, as in `VerifyOptions`. It is required if the policy demands provenance. */
  readonly provenanceVerifier?: ProvenanceVerifier;
}

const PACK_OPTIONS: MembersOf<PackOptions> = {
  policy: unchecked,
  now: date,
  expected: demand(plain),
  nonce: demand(byteCopy),
  provenanceVerifier: optional(having("verify")),
};

/**
 * Packs evidence without verifying it. Throws TypeError for invalid evidence, and for a `VerifiedBootProof`, which has
 * no JSON.
 */
export function packEvidence(evidence: Evidence): BundleFile {
  const { appProofs, activity, provenance, ...given } = evidenceMembers(evidence);
  const bootProofs = given.bootProofs.map(valueOf);
  if (bootProofs.some((bootProof) => VerifiedBootProof.isVerified(bootProof)))
    throw new TypeError("bootProofs: expected JSON values");
  return {
    bundle: BUNDLE_FORMAT,
    bootProofs: bootProofs.map((bootProof) => withOwnName(unwrapAlone(jsonOf(bootProof), "boot proof"))),
    appProofs: appProofs.map(jsonOf),
    ...(activity !== undefined && { activity: unwrapAlone(jsonOf(activity), "activity") }),
    ...(provenance.length > 0 && { provenance: provenance.map(jsonOf) }),
  };
}

/** Returns the JSON of a piece of evidence. A text that is not JSON stays a text, so that verification rejects it. */
function jsonOf(piece: unknown): unknown {
  const input = valueOf(piece);
  return attempt(() => jsonInput(input)).value ?? copyPlain(input);
}

function valueOf(piece: unknown): unknown {
  return piece instanceof NamedEvidence ? piece.value : piece;
}

/**
 * Verifies evidence and packs it with policy, time and report. The bundle is null for rejected evidence. Rejects with
 * {@link MalformedError} for a malformed policy, or one that names files.
 * @example
 * ```ts
 * const file = JSON.parse(await readFile("policy.json", "utf8"));
 * const { bundle } = await packBundle(evidence, { policy: file, now: new Date() });
 * ```
 */
export async function packBundle(
  evidence: Evidence,
  options: PackOptions,
): Promise<Verification & { readonly bundle: BundleFile | null }> {
  const { policy, now, expected, nonce, provenanceVerifier } = typedOptions("options", options, PACK_OPTIONS);
  const packed = packEvidence(evidence);
  // The policy is copied once, so that the same copy is verified and packed.
  const policyFile = policy === NO_POLICY_ANY_ENCLAVE ? null : packedPolicy(policy);
  const signed = ParsedPolicy.is(policy) && policy.signed !== null ? policy : null;
  const verification = await verifyEvidence(evidenceOf(packed), {
    policy: policyFile === null ? NO_POLICY_ANY_ENCLAVE : (signed ?? parsePolicy(policyFile)),
    now,
    ...(expected && { expected }),
    ...(nonce && { nonce }),
    ...(provenanceVerifier && { provenanceVerifier }),
  });
  if (verification.report.verdict === "rejected") return madeVerification({ ...verification, bundle: null });
  const { bundle, ...pieces } = packed;
  return madeVerification({
    ...verification,
    bundle: { bundle, now: now.toISOString(), ...pieces, policy: policyFile, report: verification.report },
  });
}

function packedPolicy(policy: PolicyFile | Policy): PackedPolicy {
  return ParsedPolicy.is(policy) ? plainPacked(policyContent(policy)) : (jsonInput(policy) as unknown as PolicyFile);
}

/** Returns the policy as it is packed. Of a signed policy that is the envelope, so that it stays one. */
export function plainPacked(policy: PlainPolicy): PackedPolicy {
  if (policy.signed !== undefined) return jsonInput(policy.signed.envelope) as unknown as PackedPolicy;
  return selfContainedPolicy(policy.text, { readFile: readerOf(policy) });
}

/**
 * Returns the policy with its anchor files as PEM, without other content of those files, and with its trusted roots as
 * text. Throws {@link MalformedError} (`json` or `policy`) with every fault.
 */
export function selfContainedPolicy(input: string | Uint8Array | object, options: ParsePolicyOptions): PolicyFile {
  const json = jsonInput(input)!;
  const file = json as unknown as PolicyFile;
  const policy = parsePolicy(file, options);
  const [pems, roots] = [anchorPems(json, policy), rootTexts(json, policy)];
  const trustAnchors = file.trustAnchors?.map((anchor) =>
    typeof anchor === "object" && "file" in anchor ? { pem: pems[anchor.file]! } : anchor,
  );
  const deployments = Object.keys(roots).length === 0 ? {} : { deployments: file.deployments.map(withTexts(roots)) };
  return { ...file, ...(trustAnchors && { trustAnchors }), ...deployments };
}

function withTexts(roots: Readonly<Record<string, string>>): (deployment: DeploymentFile) => DeploymentFile {
  const inline = (root: ProvenanceRoot): ProvenanceRoot => ("file" in root ? { json: roots[root.file]! } : root);
  return ({ provenance, ...others }) => ({
    ...others,
    ...(provenance && {
      provenance: provenance.map(({ trustedRoot, ...entry }) => ({
        ...entry,
        trustedRoot: "length" in trustedRoot ? trustedRoot.map(inline) : inline(trustedRoot),
      })),
    }),
  });
}

function evidenceOf(packed: BundleFile): Evidence {
  const { bootProofs, appProofs, provenance } = packed;
  return {
    bootProofs,
    appProofs,
    ...(Object.hasOwn(packed, "activity") && { activity: packed.activity }),
    ...(provenance && { provenance }),
  };
}
