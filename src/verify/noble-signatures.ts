/** Part of @noble in its own file, so that it can be loaded alone (see `noble.ts`). */
export { ed25519 } from "@noble/curves/ed25519.js";
export { p256 } from "@noble/curves/nist.js";
export { secp256k1 } from "@noble/curves/secp256k1.js";
export { sha256 } from "@noble/hashes/sha2.js";
export { keccak_256 } from "@noble/hashes/sha3.js";
