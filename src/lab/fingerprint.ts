/** Fingerprints of requests. Votes use them to identify an activity. */
import { toHex } from "../bytes.js";
import { sha256 } from "./qos.js";

const PREFIX = "sha256:";

/** The fingerprint of a request body (client/README.md, "Activities"). */
export function fingerprintOf(body: Uint8Array): string {
  return PREFIX + toHex(sha256(body));
}

/** Votes name fingerprints with or without the prefix; they are stored without it. */
export function bareFingerprint(fingerprint: string): string {
  return fingerprint.startsWith(PREFIX) ? fingerprint.slice(PREFIX.length) : fingerprint;
}
