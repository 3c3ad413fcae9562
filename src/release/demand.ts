/** Reads whose approvals the caller demands. A release cannot show that its first set is the right people. */
import type { SetPin } from "../appraise/facts.js";
import type { SetFile } from "../appraise/pins.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import { memberSetFile } from "../appraise/pin.js";
import { type Policy, parsePolicy } from "../appraise/policy.js";
import type { JsonValue } from "../decode/json.js";
import { type Fault, MalformedError, attempt, shownName } from "../errors.js";

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
 * Reads the demand. Throws TypeError unless there is exactly one of the three, and {@link MalformedError} for a
 * malformed set.
 */
export function demandOf(given: object): Demand {
  const members = MEMBERS.filter((name) => Object.hasOwn(given, name) && Reflect.get(given, name) !== undefined);
  const [name] = members;
  if (name === undefined || members.length > 1) throw new TypeError(`expected exactly one of ${MEMBERS.join(", ")}`);
  const value: unknown = Reflect.get(given, name);
  if (name === "manifestSet") return ofSet(readSet(value as JsonValue));
  if (name === "policy") return ofPolicy(value);
  if (value !== true) throw new TypeError("noManifestSet: expected true");
  return { kind: "none", anchorsOf: () => [] };
}

function ofSet(set: SetPin): Demand {
  return { kind: "manifest set", anchorsOf: () => [{ set, minNonce: 0, source: "the manifest set" }] };
}

function ofPolicy(policy: unknown): Demand {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: expected a policy from parsePolicy");
  const anchors = policy.deployments.flatMap(({ name, namespace, manifestSet, minNonce }) =>
    manifestSet === undefined ? [] : [{ namespace, set: manifestSet, minNonce: minNonce ?? 0, source: name }],
  );
  const anchorsOf = (namespace: string): readonly Anchor[] => {
    const found = anchors.filter((one) => one.namespace === undefined || one.namespace.includes(namespace));
    if (found.length > 0) return found;
    const message = `no deployment pins a manifestSet for the namespace ${JSON.stringify(shownName(namespace))}`;
    throw new MalformedError("policy", [{ path: "deployments", message }]);
  };
  return { kind: "policy", anchorsOf };
}

/** Reads a set as a policy does: empty sets, and keys whose secrets are public, are refused. */
export function readSet(json: JsonValue): SetPin {
  const deployment = { name: "set", namespace: "any", manifestSet: memberSetFile(json) };
  const { value, faults } = attempt(() => parsePolicy({ policy: "bootproof/1", deployments: [deployment] }));
  if (value !== undefined) return value.deployments[0]!.manifestSet!;
  throw new MalformedError("policy", faults.map(ofTheSet));
}

const PLACE = "deployments[0]";

function ofTheSet({ path, message }: Fault): Fault {
  return { path: path.replace(`${PLACE}.manifestSet`, "").replace(PLACE, "").replace(/^\./, ""), message };
}
