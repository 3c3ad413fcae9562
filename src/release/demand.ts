/** Reads whose approvals the caller demands. A release cannot show that its first set is the right people. */
import type { SetPin } from "../appraise/facts.js";
import type { SetFile } from "../appraise/pins.js";
import { memberSetFile } from "../appraise/pin.js";
import { type Policy, parsePolicy } from "../appraise/policy.js";
import { withoutPrototype } from "../decode/input.js";
import type { JsonValue } from "../decode/json.js";
import { MalformedError, attempt, shownName } from "../errors.js";

/**
 * What the caller demands, exactly one of three: a manifest set in JSON (`threshold`, and `members` in hex or as
 * objects with a `pubKey`), a policy whose deployments pin sets, or explicitly none.
 */
export type ReleaseDemand =
  | { readonly manifestSet: SetFile | JsonValue }
  | { readonly policy: Policy }
  | { readonly noManifestSet: true };

/** A set that judges the first release whose nonce is at least `minNonce`. */
export interface Anchor {
  readonly set: SetPin;
  /** The lowest nonce. It is 0 if the set judges from the first release on. */
  readonly minNonce: number;
  /** The name of the set in messages: `the manifest set` or the name of a deployment. */
  readonly source: string;
}

export interface Demand {
  readonly kind: "manifest set" | "policy" | "none";
  /** Returns the demanded sets for a namespace. Throws {@link MalformedError} if the policy has none. */
  readonly anchorsOf: (namespace: string) => readonly Anchor[];
}

const MEMBERS = ["manifestSet", "policy", "noManifestSet"] as const;

/**
 * Reads the demand of options that were read by their shapes. Throws TypeError unless there is exactly one of the
 * three, and {@link MalformedError} for a malformed set.
 */
export function demandOf(given: {
  readonly manifestSet?: unknown;
  readonly policy?: Policy;
  readonly noManifestSet?: true;
}): Demand {
  const own = withoutPrototype(given);
  const { manifestSet, policy } = own;
  if (MEMBERS.filter((name) => own[name] !== undefined).length !== 1)
    throw new TypeError(`expected exactly one of ${MEMBERS.join(", ")}`);
  if (policy !== undefined) return { kind: "policy", anchorsOf: (namespace) => anchorsIn(policy, namespace) };
  if (manifestSet === undefined) return { kind: "none", anchorsOf: () => [] };
  const set = readSet(manifestSet as JsonValue);
  return { kind: "manifest set", anchorsOf: () => [{ set, minNonce: 0, source: "the manifest set" }] };
}

function anchorsIn({ deployments }: Policy, name: string): readonly Anchor[] {
  const anchors = deployments.flatMap(({ name: source, namespace, manifestSet: set, minNonce = 0 }) =>
    set === undefined || namespace?.includes(name) === false ? [] : [{ set, minNonce, source }],
  );
  if (anchors.length > 0) return anchors;
  const message = `no deployment pins a manifestSet for the namespace ${JSON.stringify(shownName(name))}`;
  throw new MalformedError("policy", [{ path: "deployments", message }]);
}

/** Reads a set as a policy does: empty sets, and keys whose secrets are public, are refused. */
export function readSet(json: JsonValue): SetPin {
  const deployment = { name: "set", namespace: "any", manifestSet: memberSetFile(json) };
  const { value, faults } = attempt(() => parsePolicy({ policy: "bootproof/1", deployments: [deployment] }));
  if (value !== undefined) return value.deployments[0]!.manifestSet!;
  const ofTheSet = faults.map(({ path, message }) => ({ path: path.replace(PLACE, ""), message }));
  throw new MalformedError("policy", ofTheSet);
}

const PLACE = /^deployments\[0\](?:\.manifestSet)?\.?/;
