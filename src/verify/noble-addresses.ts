/** Parts of @noble and @scure in their own file, which only addresses and transactions of chains need. */
export { blake2b } from "@noble/hashes/blake2.js";
export { ripemd160 } from "@noble/hashes/legacy.js";
export { sha256 } from "@noble/hashes/sha2.js";
export { sha3_256 } from "@noble/hashes/sha3.js";
export { base32nopad, base58, base58xrp, base64urlnopad, bech32, bech32m } from "@scure/base";
