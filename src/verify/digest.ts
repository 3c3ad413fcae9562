/** SHA-2 through the platform: Node's own where there is one, WebCrypto elsewhere, @noble/hashes where neither is. */
import { nodeCrypto } from "./ecdsa.js";

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return digest("SHA-256", bytes);
}

export async function sha384(bytes: Uint8Array): Promise<Uint8Array> {
  return digest("SHA-384", bytes);
}

async function digest(algorithm: "SHA-256" | "SHA-384", bytes: Uint8Array): Promise<Uint8Array> {
  const node = nodeCrypto();
  if (node !== undefined) return new Uint8Array(node.createHash(algorithm).update(bytes).digest());
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle !== undefined) return new Uint8Array(await subtle.digest(algorithm, bytes as BufferSource));
  const noble = await import("@noble/hashes/sha2.js");
  return (algorithm === "SHA-256" ? noble.sha256 : noble.sha384)(bytes);
}
