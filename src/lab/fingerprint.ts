/** Fingerprints of requests, by which votes name an activity. */
import { toHex } from "../bytes.js";
import { sha256 } from "./qos.js";

const PREFIX = "sha256:";

/** Of a request's body (client/README.md, "Activities"). */
export function fingerprintOf(body: Uint8Array): string {
  return PREFIX + toHex(sha256(body));
}

/** Votes name it with its prefix and without; it is kept without. */
export function bareFingerprint(fingerprint: string): string {
  return fingerprint.startsWith(PREFIX) ? fingerprint.slice(PREFIX.length) : fingerprint;
}
