/** Wallets: a seed, and derived keys and addresses (BIP-32, BIP-44, SLIP-10, EIP-55). */
import { createHmac } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { base58 } from "@scure/base";
import { concatBytes, fromHex, toHex, toUtf8 } from "../bytes.js";

const HARDENED = 0x80000000;
const ORDER = secp256k1.Point.Fn.ORDER;

/** By curve: how a private key is derived, and how its public key is made (33 or 32 bytes). */
export const CURVES = {
  CURVE_SECP256K1: { derive: privateKeyAt, publicKeyOf: compressedOf },
  CURVE_ED25519: { derive: ed25519KeyAt, publicKeyOf: (key: Uint8Array): Uint8Array => ed25519.getPublicKey(key) },
} as const;
export type Curve = keyof typeof CURVES;

/** By address format: its curves, and the function that makes an address from a public key. */
export const ADDRESS_FORMATS = {
  ADDRESS_FORMAT_ETHEREUM: { curves: ["CURVE_SECP256K1"], write: ethereumAddressOf },
  ADDRESS_FORMAT_COMPRESSED: { curves: ["CURVE_SECP256K1", "CURVE_ED25519"], write: toHex },
  ADDRESS_FORMAT_UNCOMPRESSED: {
    curves: ["CURVE_SECP256K1"],
    write: (key: Uint8Array): string => toHex(uncompressed(key)),
  },
  ADDRESS_FORMAT_SOLANA: { curves: ["CURVE_ED25519"], write: (key: Uint8Array): string => base58.encode(key) },
} as const satisfies Record<string, { readonly curves: readonly Curve[]; write(publicKey: Uint8Array): string }>;
export type AddressFormat = keyof typeof ADDRESS_FORMATS;

/** The path and the address format of an account, such as `m/44'/60'/0'/0/0`. */
export interface Account {
  readonly path: string;
  readonly addressFormat: AddressFormat;
  /** The curve. Default: secp256k1. */
  readonly curve?: Curve;
}

export interface WalletKey {
  readonly curve: Curve;
  /** The private key, 32 bytes. */
  readonly privateKey: Uint8Array;
  /** The compressed public key. */
  readonly publicKey: Uint8Array;
}

/**
 * Returns why the lab cannot derive the account, or undefined. Ed25519 paths must be hardened: SLIP-10 defines no
 * others.
 */
export function accountFault({ path, addressFormat, curve = "CURVE_SECP256K1" }: Account): string | undefined {
  const { curves }: { curves: readonly Curve[] } = ADDRESS_FORMATS[addressFormat];
  if (!curves.includes(curve)) return `${curve} has no ${addressFormat}`;
  const isHardened = path.split("/").every((step, index) => index === 0 || step.endsWith("'"));
  return curve === "CURVE_ED25519" && !isHardened ? `${path}: Ed25519 keys need hardened steps` : undefined;
}

export function keyAt(
  seed: Uint8Array,
  { path, curve = "CURVE_SECP256K1" }: Omit<Account, "addressFormat">,
): WalletKey {
  const { derive, publicKeyOf } = CURVES[curve];
  const privateKey = derive(seed, path);
  return { curve, privateKey, publicKey: publicKeyOf(privateKey) };
}

export function addressOf(seed: Uint8Array, account: Account): string {
  return ADDRESS_FORMATS[account.addressFormat].write(keyAt(seed, account).publicKey);
}

function ethereumAddressOf(publicKey: Uint8Array): string {
  return checksummed(toHex(keccak_256(uncompressed(publicKey).subarray(1)).subarray(-20)));
}

function compressedOf(key: Uint8Array): Uint8Array {
  return secp256k1.getPublicKey(key, true);
}

function uncompressed(publicKey: Uint8Array): Uint8Array {
  return secp256k1.Point.fromBytes(publicKey).toBytes(false);
}

/** Derives an Ed25519 key (SLIP-10, "Master key generation" and "Private parent key → private child key"). */
function ed25519KeyAt(seed: Uint8Array, path: string): Uint8Array {
  let node = hmacSha512(toUtf8("ed25519 seed"), seed);
  for (const step of path.split("/").slice(1)) {
    const index = counter(Number.parseInt(step, 10) + HARDENED);
    node = hmacSha512(node.subarray(32), concatBytes(Uint8Array.of(0), node.subarray(0, 32), index));
  }
  return node.subarray(0, 32);
}

/** Derives a key (BIP-32, "Master key generation" and "Private parent key → private child key"). */
function privateKeyAt(seed: Uint8Array, path: string): Uint8Array {
  let node = hmacSha512(toUtf8("Bitcoin seed"), seed);
  for (const step of path.split("/").slice(1))
    node = child(node, Number.parseInt(step, 10) + (step.endsWith("'") ? HARDENED : 0));
  return node.subarray(0, 32);
}

/** Derives a child. `parent` is the private key and the chain code, 32 bytes each. */
function child(parent: Uint8Array, index: number): Uint8Array {
  const key = parent.subarray(0, 32);
  const serialised = index >= HARDENED ? concatBytes(Uint8Array.of(0), key) : secp256k1.getPublicKey(key, true);
  const derived = hmacSha512(parent.subarray(32), concatBytes(serialised, counter(index)));
  const sum = (number(derived.subarray(0, 32)) + number(key)) % ORDER;
  return concatBytes(fromHex(sum.toString(16).padStart(64, "0"))!, derived.subarray(32));
}

function counter(index: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, index);
  return bytes;
}

/** Adds the checksum of EIP-55: a letter becomes a capital if the hash has a digit of at least 8 at the same place. */
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
