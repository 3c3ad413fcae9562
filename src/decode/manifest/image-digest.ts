/** SHA-256 digests of container images (OCI image-spec, "Digests"), whose form other tools use for binaries, too. */
import { fromHex, toHex } from "../../bytes.js";
import { SHA256_LENGTH } from "../lengths.js";

export const DIGEST_PREFIX = "sha256:";
const DIGEST = new RegExp(`^${DIGEST_PREFIX}([0-9a-f]{${2 * SHA256_LENGTH}})$`);

export function imageDigestText(digest: Uint8Array): string {
  return DIGEST_PREFIX + toHex(digest);
}

/** Returns the 32 bytes of a digest, or null for any other text. */
export function imageDigestOf(text: string): Uint8Array | null {
  const hex = DIGEST.exec(text)?.[1];
  return hex === undefined ? null : fromHex(hex);
}

/** Returns the hex of a digest that may have the prefix, unchecked. */
export function bareDigest(text: string): string {
  return text.startsWith(DIGEST_PREFIX) ? text.slice(DIGEST_PREFIX.length) : text;
}
