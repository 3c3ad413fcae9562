import { typedOptions, unchecked } from "../decode/options.js";
import type { MembersOf } from "../decode/shapes.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import { type ParsePolicyOptions, type Policy, type PolicyFile, parsePolicy } from "../appraise/policy.js";
import {
  type Evidence,
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  type VerifyOptions,
  verifyEvidence,
} from "../bootproof.js";
import { withOwnName } from "../decode/boot-proof.js";
import { unwrapAlone } from "../decode/evidence-members.js";
import { copyPlain, jsonInput } from "../decode/input.js";
import { attempt } from "../errors.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { VERIFY_OPTIONS, evidenceMembers } from "../inputs.js";
import { type PlainPolicy, filesOf, policyContent, readerOf } from "../plain-settings.js";
import { type Verification, madeVerification } from "../verification.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { BUNDLE_FORMAT, type BundleFile, type PackedPolicy } from "./file.js";

/** Request and nonce are not packed, because the verifier of the bundle states its own. */
export interface PackOptions extends Pick<VerifyOptions, "now" | "expected" | "nonce" | "provenanceVerifier"> {
  /** A policy, or a file that names no others, as {@link selfContainedPolicy} makes it. */
  readonly policy: PolicyFile | Policy | typeof NO_POLICY_ANY_ENCLAVE;
}

const { now, expected, nonce, provenanceVerifier } = VERIFY_OPTIONS;
const PACK_OPTIONS: MembersOf<PackOptions> = { policy: unchecked, now, expected, nonce, provenanceVerifier };

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
  const { policy, ...others } = typedOptions("options", options, PACK_OPTIONS);
  const { bundle, ...pieces } = packEvidence(evidence);
  // The policy is copied once, so that the same copy is verified and packed.
  const policyFile = policy === NO_POLICY_ANY_ENCLAVE ? null : packedPolicy(policy);
  const signed = ParsedPolicy.is(policy) && policy.signed !== null ? policy : null;
  const verification = await verifyEvidence(pieces, {
    ...others,
    policy: policyFile === null ? NO_POLICY_ANY_ENCLAVE : (signed ?? parsePolicy(policyFile)),
  });
  const { report } = verification;
  if (report.verdict === "rejected") return madeVerification({ ...verification, bundle: null });
  const made = { bundle, now: others.now.toISOString(), ...pieces, policy: policyFile, report };
  return madeVerification({ ...verification, bundle: made });
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
  const policy = parsePolicy(json as object, options);
  for (const { kind, path, content } of filesOf(json, policy)) {
    // The path ends with the member `file` of the object that is replaced.
    const [, last, ...outer] = [...path].reverse();
    const holder = outer.reduceRight<JsonValue>((value, step) => (value as JsonObject)[step]!, json);
    Object.assign(holder as JsonObject, { [last!]: kind === "trustAnchor" ? { pem: content } : { json: content } });
  }
  return json as unknown as PolicyFile;
}
