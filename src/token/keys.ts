/** The keys that may sign a token: quorum keys that a policy pins for one namespace (token/README.md, "Keys"). */
import type { DeploymentPins, Policy } from "../appraise/policy.js";
import { isPublicSecret } from "../appraise/public-keys.js";
import { fromHex, toHex } from "../bytes.js";
import { listed } from "../errors.js";
import { signingPoint } from "../verify/qos-key.js";

export interface TokenKey {
  readonly deployment: string;
  /** The signing half in lower-case hex. */
  readonly point: string;
  /** Whether anybody can sign with it. */
  readonly isPublic: boolean;
  /** Why the pin of the key is weak, or null. */
  readonly weakness: string | null;
}

/** Returns the keys of every deployment that pins this namespace, and no other beside it, with its quorum key. */
export function tokenKeys({ deployments }: Policy, namespace: string): TokenKey[] {
  return deployments
    .filter((pins) => pins.namespace?.length === 1 && pins.namespace[0] === namespace)
    .flatMap((pins) =>
      (pins.quorumKey ?? []).map((key) => ({
        deployment: pins.name,
        point: toHex(signingPoint(fromHex(key)!)),
        isPublic: isPublicSecret(key),
        weakness: weaknessOf(pins),
      })),
    );
}

function weaknessOf({ name, commitment, open }: DeploymentPins): string | null {
  if (commitment === "legacy")
    return `deployment ${name} is legacy: any application of its role and image can show a manifest with this key`;
  if (commitment === "setup") return `deployment ${name} is of a setup: its enclave does not hold the quorum key yet`;
  return open.includes("operator") ? `deployment ${name} leaves the operator open: nobody says whose key it is` : null;
}

/** Returns a sentence on why the policy has no key for a namespace. */
export function noKeyText({ deployments }: Policy, namespace: string): string {
  const several = deployments.filter((pins) => pins.namespace !== undefined && pins.namespace.length > 1);
  const keyless = deployments.filter((pins) => pins.namespace?.includes(namespace) && pins.quorumKey === undefined);
  const others = new Set(deployments.flatMap((pins) => pins.namespace ?? []));
  return [
    `no deployment of the policy pins the namespace ${namespace} alone, and its quorumKey`,
    ...(keyless.length > 0 ? [`${listed(keyless.map(({ name }) => name))} pins no quorumKey`] : []),
    ...(several.length > 0
      ? [`${listed(several.map(({ name }) => name))} pins several namespaces, so its key is of none`]
      : []),
    others.size === 0 ? "it pins no namespaces" : `its namespaces: ${listed([...others])}`,
  ].join("; ");
}
