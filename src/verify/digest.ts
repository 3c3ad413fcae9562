/** SHA-2 digests. */
import { type Hash, cryptography } from "./cryptography.js";

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return digest("SHA-256", bytes);
}

export async function sha384(bytes: Uint8Array): Promise<Uint8Array> {
  return digest("SHA-384", bytes);
}

async function digest(hash: Hash, bytes: Uint8Array): Promise<Uint8Array> {
  return (await cryptography()).digest(hash, bytes);
}
