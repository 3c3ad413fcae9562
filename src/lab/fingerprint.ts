/** Fingerprints, by which votes identify an activity. */
import { toHex } from "../bytes.js";
import { sha256 } from "./qos.js";

const PREFIX = "sha256:";

/** Returns the fingerprint of a request's body (client/README.md, "Activities"). */
export function fingerprintOf(body: Uint8Array): string {
  return PREFIX + toHex(sha256(body));
}

/** Removes the prefix, which votes may omit. */
export function bareFingerprint(fingerprint: string): string {
  return fingerprint.startsWith(PREFIX) ? fingerprint.slice(PREFIX.length) : fingerprint;
}
