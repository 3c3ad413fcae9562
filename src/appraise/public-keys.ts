/**
 * QOS public keys whose secrets are public, since public tools of the service ship them. They identify no operator.
 * Source: tkhq/rust-sdk `tvc/src/config/app.rs` (Apache-2.0), 2026.
 */
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import type { SetPin } from "./facts.js";

/**
 * The first 16 bytes of each half in hex: encryption point, then signing point. Another key that begins with the same
 * bytes would be distrusted, which is safe (test-vectors/public-keys.json has the whole keys).
 */
const BEGINNINGS: readonly string[] = [
  // the default quorum key (KNOWN_QUORUM_KEY)
  "04451028fc9d42cef6d8f2a3ebe17d65",
  "047827dcd2325b8d58694c2ea14e8f1e",
  // a share-set member whose secret is public (KNOWN_SHARE_SET_KEYS)
  "044af8b082b9ef41a238037811a18830",
  "048139aa5de49d9505465bcf1a879954",
  // a share-set member whose secret is public (KNOWN_SHARE_SET_KEYS)
  "04c1c4b4eb784505f167affae00e18b1",
  "04e492ca7bce95912a7b2565c8553e38",
];
/** Number of hex digits in half of a key, which is the number of bytes in the whole key. */
const HALF_DIGITS = QOS_PUBLIC_KEY_LENGTH;

/** Whether the secret of the key, or of one of its halves, is public. `key` is lower-case hex. */
export function isPublicSecret(key: string): boolean {
  // The digits are compared in place, because an audit runs this for every key of every entry.
  const isWhole = key.length === 2 * HALF_DIGITS;
  return BEGINNINGS.some((one) => key.startsWith(one) || (isWhole && key.startsWith(one, HALF_DIGITS)));
}

/** Whether members with public secrets reach the threshold. Anyone can then approve manifests, or rebuild keys. */
export function isNobodysSet(set: SetPin): boolean {
  const isNobodys = known.get(set) ?? set.members.filter(isPublicSecret).length >= set.threshold;
  known.set(set, isNobodys);
  return isNobodys;
}

interface Keys {
  /** The quorum keys of which one is expected. */
  readonly quorumKey?: readonly string[];
  readonly manifestSet?: SetPin;
  readonly shareSet?: SetPin;
}

/** Returns what is wrong with keys and sets that identify no owner, as phrases. */
export function publicKeyNotes({ quorumKey, manifestSet, shareSet }: Keys): string[] {
  const areShared = "keys whose secrets are public reach its threshold";
  return [
    ...(quorumKey?.some(isPublicSecret) === true ? ["the quorum key's secret is public"] : []),
    ...(manifestSet && isNobodysSet(manifestSet)
      ? [`the manifest set identifies no owner: ${areShared}, so anyone can approve manifests`]
      : []),
    ...(shareSet && isNobodysSet(shareSet)
      ? [`the share set identifies no owner: ${areShared}, so anyone can rebuild the quorum key`]
      : []),
  ];
}

/** Cache of results, since the same sets are compared with all evidence. */
const known = new WeakMap<SetPin, boolean>();
