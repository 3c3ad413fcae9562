/** A policy as plain data: for whoever reads it anew, in another process or another copy of this package. */
import { isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import { certificatePem } from "../verify/trust-anchor.js";
import { ParsedPolicy, type Policy } from "./parsed-policy.js";

/** What reads it comes to the same policy, and to the same digest. */
export interface PlainPolicy {
  /** Those that it was read from. */
  readonly bytes: Uint8Array;
  /** The PEM text of each file that it names as a trust anchor, by that name. */
  readonly anchors?: Readonly<Record<string, string>>;
}

/**
 * The policy as plain data. Of the files that it names there are the certificates, and nothing else that stands in
 * them. Throws TypeError for a policy that was given as a value, of which there are no bytes.
 */
export function plainPolicy(policy: Policy): PlainPolicy {
  const bytes = ParsedPolicy.is(policy) ? policy.bytes() : null;
  if (bytes === null) throw new TypeError("policy: one that was read from text or bytes wanted");
  const anchors = anchorFilesOf(bytes).map(([file, index]) => [
    file,
    certificatePem(policy.trustAnchors[index]!.certificate.der),
  ]);
  return { bytes, ...(anchors.length > 0 && { anchors: Object.fromEntries(anchors) as Record<string, string> }) };
}

/** The files that a policy names as trust anchors, each with its place, whatever else is wrong with the policy. */
export function anchorFilesOf(bytes: Uint8Array): readonly (readonly [file: string, index: number])[] {
  const json = attempt(() => parseJson(bytes)).value;
  const anchors = isJsonObject(json) && Array.isArray(json["trustAnchors"]) ? json["trustAnchors"] : [];
  return anchors.flatMap((anchor, index) =>
    isJsonObject(anchor) && typeof anchor["file"] === "string" ? [[anchor["file"], index] as const] : [],
  );
}
