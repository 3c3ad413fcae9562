/**
 * QOS public keys whose secrets are public, since public tools of the service ship them: they identify no operator.
 * Source: tkhq/rust-sdk `tvc/src/config/app.rs` (Apache-2.0), 2026.
 */
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import type { SetPin } from "./pins.js";

/** By halves, in hex: encryption point, signing point. */
const KEYS = [
  // the default quorum key (KNOWN_QUORUM_KEY)
  [
    "04451028fc9d42cef6d8f2a3ebe17d65783c470dbc6f04663d500c12009930cf9b" +
      "209e733f6ac6103cc28f07ecde2dbb55095738b828d6b7a55caf4ddf9d67f2ae",
    "047827dcd2325b8d58694c2ea14e8f1e1f8a36c84438d291ff9b1b067debdb3e2b" +
      "a3822984cde8bed4de2c237bd323526da4961d368bcc63cbd2d37d00e936683e",
  ],
  // a share-set member whose secret is public (KNOWN_SHARE_SET_KEYS)
  [
    "044af8b082b9ef41a238037811a188309d8c8b00b6d49c0574538d7746d7383739" +
      "e67e1107f134bc102a48301b07e7c53280decbe9c16c9fc1f19b9832018e1485",
    "048139aa5de49d9505465bcf1a879954c51ba7b258b669f4e42697088cbbca54ae" +
      "b888d61e65b2602ce92ae945a0160533acc94942511f8e5b1940ed89cc8f141f",
  ],
  // a share-set member whose secret is public (KNOWN_SHARE_SET_KEYS)
  [
    "04c1c4b4eb784505f167affae00e18b1521e7a0bfa3be46e6a6b43ba1f386afce4" +
      "8d964c885480cb197e3538fd30ebe38a07f76b6a286b37ba6d2abddbbd6c9c83",
    "04e492ca7bce95912a7b2565c8553e38cf3a4b1f858171900ed81888282db13d41" +
      "e214dd6def2de2aacb1fcf92e3ae5a83e1b0ffa660fc59b9dd10e277cfd128dc",
  ],
] as const;

/** 130 bytes each, in hex. */
export const PUBLIC_KEYS: readonly string[] = KEYS.map((halves) => halves.join(""));

const HALVES: readonly string[] = KEYS.flat();
/** In digits: half of the bytes, two digits for each. */
const HALF_DIGITS = QOS_PUBLIC_KEY_LENGTH;

/** Whether the secret of the key, or of one of its halves, is public. `key` is lower-case hex. */
export function isPublicSecret(key: string): boolean {
  // Compared in place: an audit runs this for every key of every entry.
  const isWhole = key.length === 2 * HALF_DIGITS;
  return HALVES.some((half) => key.startsWith(half) || (isWhole && key.startsWith(half, HALF_DIGITS)));
}

/** Whether such keys alone reach the threshold: then anyone can approve or rebuild. */
export function isNobodysSet(set: SetPin): boolean {
  const isNobodys = known.get(set) ?? set.members.filter(isPublicSecret).length >= set.threshold;
  known.set(set, isNobodys);
  return isNobodys;
}

/** Cached: the same sets are compared for each piece of evidence. */
const known = new WeakMap<SetPin, boolean>();
