/** Provenance of the builds for which a policy demands it. It is passed once and used in all verifications. */
import { demandingDeployment } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import type { Evidence, VerifyOptions } from "../bootproof.js";
import { MAX_PROVENANCE, type ProvenanceVerifier } from "../verify/provenance-demand.js";
import { rememberingVerifier } from "../verify/provenance-cache.js";

export interface DemandedBuilds {
  /**
   * At most 64 Sigstore bundles of builds for which the policy demands provenance, each as JSON text, bytes or value.
   */
  readonly provenance?: readonly unknown[];
  /**
   * Verifier of provenance, such as the result of `sigstoreVerifier`. It is required if the policy demands provenance.
   */
  readonly provenanceVerifier?: ProvenanceVerifier;
}

/** Provenance and its verifier, as parts of evidence and options. */
export interface Builds {
  readonly evidence: Pick<Evidence, "provenance">;
  readonly options: Pick<VerifyOptions, "provenanceVerifier">;
}

/** Result for a policy that does not demand provenance: bundles would prove nothing, so they are dropped. */
const NONE: Builds = { evidence: {}, options: {} };

/**
 * Returns provenance and verifier. Throws TypeError if the policy demands provenance and either is missing, since every
 * verification would then fail.
 */
export function buildsOf(
  policy: Pick<Policy, "deployments">,
  { provenance, provenanceVerifier }: DemandedBuilds,
): Builds {
  const demanding = demandingDeployment(policy);
  if (demanding === undefined) return NONE;
  const demands = `the deployment ${demanding.name} of the policy demands provenance`;
  if (provenance === undefined || provenance.length === 0)
    throw new TypeError(`options.provenance: required, since ${demands}. Pass the Sigstore bundles of its build`);
  if (provenance.length > MAX_PROVENANCE)
    throw new TypeError(`options.provenance: ${provenance.length} bundles, expected at most ${MAX_PROVENANCE}`);
  if (provenanceVerifier === undefined)
    throw new TypeError(
      `options.provenanceVerifier: required, since ${demands}. Pass await sigstoreVerifier() of bootproof/provenance ` +
        "(npm install @sigstore/verify)",
    );
  return {
    evidence: { provenance },
    options: { provenanceVerifier: rememberingVerifier(provenanceVerifier) },
  };
}
