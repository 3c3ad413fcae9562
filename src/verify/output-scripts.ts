/** Scripts of the outputs that Bitcoin and Dogecoin pay to a key (BIP-141, BIP-341). */
import { concatBytes } from "../bytes.js";
import { ripemd160, sha256 } from "./noble-addresses.js";

/** Returns RIPEMD-160 of SHA-256, by which Bitcoin and others name a key. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}

/** Returns OP_DUP OP_HASH160 <hash> OP_EQUALVERIFY OP_CHECKSIG. */
export function hashScript(hash: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x76, 0xa9, 0x14), hash, Uint8Array.of(0x88, 0xac));
}

export function witnessHashScript(hash: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x00, 0x14), hash);
}

export function taprootScript(outputKey: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x51, 0x20), outputKey);
}
