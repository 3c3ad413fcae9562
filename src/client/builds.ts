/** Provenance of the builds that a policy demands. It is given once for all verifications. */
import { demandingDeployment } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import type { Evidence, VerifyOptions } from "../bootproof.js";
import { MAX_PROVENANCE, type ProvenanceVerifier } from "../verify/provenance-demand.js";
import { rememberingVerifier } from "../verify/provenance-cache.js";

export interface DemandedBuilds {
  /** At most 64 Sigstore bundles of the builds that the policy demands, each as JSON text, bytes or value. */
  readonly provenance?: readonly unknown[];
  /** Verifier of provenance, such as `sigstoreVerifier` makes. It is required if the policy demands provenance. */
  readonly provenanceVerifier?: ProvenanceVerifier;
}

/** Parts of the evidence and options of each verification. */
export interface Builds {
  readonly evidence: Pick<Evidence, "provenance">;
  readonly options: Pick<VerifyOptions, "provenanceVerifier">;
}

/** Bundles that no policy demands prove nothing, so they are dropped. */
const NONE: Builds = { evidence: {}, options: {} };

/**
 * Throws TypeError if the policy demands provenance and one of both is missing: otherwise every
 * verification would be refused.
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
