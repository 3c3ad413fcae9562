/** Which deployments may sign proofs of addresses (appraise/README.md, "Proofs of addresses"). */
import { DERIVATION_TYPE } from "../decode/app-proof-limits.js";
import type { DeploymentPins, Policy } from "./parsed-policy.js";
import { applicationOf } from "./pins.js";

/** Returns the names of the deployments whose proofs of addresses count. */
export function derivingDeployments({ deployments }: Pick<Policy, "deployments">): ReadonlySet<string> {
  const signing = deployments.filter(({ kind }) => kind === "qos");
  const isOne = isOneApplication(signing);
  const counting = signing.filter(
    ({ appProofTypes, appProofBytes }) => !appProofBytes && (appProofTypes?.includes(DERIVATION_TYPE) ?? isOne),
  );
  return new Set(counting.map(({ name }) => name));
}

/** Whether all pin one and the same namespace or, where none pins a namespace, one and the same program. */
function isOneApplication(signing: readonly DeploymentPins[]): boolean {
  const namespaces = new Set(signing.flatMap(({ namespace }): readonly (string | null)[] => namespace ?? [null]));
  return namespaces.size === 1 && (!namespaces.has(null) || new Set(signing.map(applicationOf)).size === 1);
}

/** Returns why no proof of an address can count under the policy, and what to add. Null if some can. */
export function derivationFault(policy: Pick<Policy, "deployments" | "appProofs">): string | null {
  const { types } = policy.appProofs;
  if (types !== null && !types.includes(DERIVATION_TYPE))
    return `the policy's appProofs.types refuses every proof of an address: add "${DERIVATION_TYPE}"`;
  if (derivingDeployments(policy).size > 0) return null;
  const why =
    "no deployment of the policy is known to derive addresses, so another application could sign their proofs";
  return `${why}: add ${ADDED} to the deployment of the signer, or pin one namespace for all`;
}

/** What a deployment that derives addresses has in the policy. */
export const ADDED = `"appProofs": {"types": ["${DERIVATION_TYPE}"]}`;

/** Thrown for a policy under which another application could sign proofs of addresses. */
export class DerivationPolicyError extends Error {
  override readonly name = "DerivationPolicyError";
  readonly code = "derivation-policy";
}

/** Returns the names of the deployments whose proofs of addresses count. Throws {@link DerivationPolicyError}. */
export function requireDerivationPolicy(policy: Policy): ReadonlySet<string> {
  const fault = derivationFault(policy);
  if (fault !== null) throw new DerivationPolicyError(fault);
  return derivingDeployments(policy);
}
