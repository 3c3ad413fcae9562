/** Wallets: a seed, and derived addresses (BIP-32, BIP-44, EIP-55). */
import { createHmac } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, fromHex, toHex, toUtf8 } from "../bytes.js";

const HARDENED = 0x80000000;
const ORDER = secp256k1.Point.Fn.ORDER;

/** Public key to address. */
export const ADDRESS_FORMATS = {
  ADDRESS_FORMAT_ETHEREUM: ethereumAddressOf,
  ADDRESS_FORMAT_COMPRESSED: (privateKey: Uint8Array): string => toHex(secp256k1.getPublicKey(privateKey, true)),
  ADDRESS_FORMAT_UNCOMPRESSED: (privateKey: Uint8Array): string => toHex(secp256k1.getPublicKey(privateKey, false)),
} as const;
export type AddressFormat = keyof typeof ADDRESS_FORMATS;

/** A path, such as `m/44'/60'/0'/0/0`, and a format. */
export interface Account {
  readonly path: string;
  readonly addressFormat: AddressFormat;
}

export function addressOf(seed: Uint8Array, { path, addressFormat }: Account): string {
  return ADDRESS_FORMATS[addressFormat](privateKeyAt(seed, path));
}

/** With checksum. */
export function ethereumAddress(seed: Uint8Array, path: string): string {
  return ethereumAddressOf(privateKeyAt(seed, path));
}

function ethereumAddressOf(privateKey: Uint8Array): string {
  const point = secp256k1.getPublicKey(privateKey, false);
  return checksummed(toHex(keccak_256(point.subarray(1)).subarray(-20)));
}

/** BIP-32, "Master key generation" and "Private parent key → private child key". */
function privateKeyAt(seed: Uint8Array, path: string): Uint8Array {
  let node = hmacSha512(toUtf8("Bitcoin seed"), seed);
  for (const step of path.split("/").slice(1))
    node = child(node, Number.parseInt(step, 10) + (step.endsWith("'") ? HARDENED : 0));
  return node.subarray(0, 32);
}

/** `parent`: private key and chain code, 32 bytes each. */
function child(parent: Uint8Array, index: number): Uint8Array {
  const key = parent.subarray(0, 32);
  const serialised = index >= HARDENED ? concatBytes(Uint8Array.of(0), key) : secp256k1.getPublicKey(key, true);
  const counter = new Uint8Array(4);
  new DataView(counter.buffer).setUint32(0, index);
  const derived = hmacSha512(parent.subarray(32), concatBytes(serialised, counter));
  const sum = (number(derived.subarray(0, 32)) + number(key)) % ORDER;
  return concatBytes(fromHex(sum.toString(16).padStart(64, "0"))!, derived.subarray(32));
}

/** EIP-55: a letter is a capital if the same digit of the hash is 8 or more. */
function checksummed(address: string): string {
  const hash = toHex(keccak_256(toUtf8(address)));
  const isUpper = (index: number): boolean => Number.parseInt(hash[index]!, 16) >= 8;
  return `0x${[...address].map((digit, index) => (isUpper(index) ? digit.toUpperCase() : digit)).join("")}`;
}

function hmacSha512(key: Uint8Array, data: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha512", key).update(data).digest());
}

function number(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}
