/** Writes and reads what the maker of a bundle demanded and allowed, apart from the policy. */
import { otherMembers } from "../decode/input.js";
import { list, nullable, objectOf, oneOf, optional } from "../decode/shapes.js";
import { PLAIN_OPTIONS, type PlainOptions, keyHex } from "../plain-settings.js";

/** All options but the policy and the time, which are other members of the bundle. */
export interface BundleOptions extends Omit<PlainOptions, "policy" | "now"> {
  /** For each boot proof, in order, the key for which it was requested, in hex. Null means that none is known. */
  readonly requestedKeys?: readonly (string | null)[];
  /** The policy came with an earlier bundle, so the verdict was `authentic` at best. */
  readonly policyFrom?: "bundle";
}

export const bundleOptions = objectOf<BundleOptions>({
  ...otherMembers(PLAIN_OPTIONS, "policy", "now"),
  requestedKeys: optional(list(nullable(keyHex))),
  policyFrom: optional(oneOf("bundle")),
});
