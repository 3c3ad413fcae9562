/** Keys of wallets, derived from a seed (BIP-32, BIP-44, SLIP-10). */
import { createHmac } from "node:crypto";
import { concatBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { type AddressFormat, type Curve, formatOf, whyNoFormat } from "./addresses-of.js";
import { ed25519PublicKey, pointOf } from "./curves.js";

const HARDENED = 0x80000000;

/** How keys of a curve are derived (SLIP-10), and how a public key is made (33 or 32 bytes). */
interface Derivation {
  /** The key of the HMAC of the seed. */
  readonly master: string;
  /** What is hashed for a child, before its index. */
  readonly data: (privateKey: Uint8Array, index: number) => Uint8Array;
  readonly child: (derived: Uint8Array, parent: Uint8Array) => Uint8Array;
  readonly publicKeyOf: (privateKey: Uint8Array) => Uint8Array;
}

const hardened = (key: Uint8Array): Uint8Array => concatBytes(Uint8Array.of(0), key);
const CURVES: Readonly<Record<Curve, Derivation>> = {
  CURVE_SECP256K1: weierstrass(
    "secp256k1",
    "Bitcoin seed",
    0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  ),
  CURVE_P256: weierstrass(
    "prime256v1",
    "Nist256p1 seed",
    0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ),
  CURVE_ED25519: {
    master: "ed25519 seed",
    data: hardened,
    child: (derived) => derived,
    publicKeyOf: ed25519PublicKey,
  },
};

function weierstrass(curve: Parameters<typeof pointOf>[0], master: string, order: bigint): Derivation {
  const publicKeyOf = (key: Uint8Array): Uint8Array => pointOf(curve, key);
  return {
    master,
    data: (key, index) => (index >= HARDENED ? hardened(key) : publicKeyOf(key)),
    child: (derived, parent) => fromHex(((number(derived) + number(parent)) % order).toString(16).padStart(64, "0"))!,
    publicKeyOf,
  };
}

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
  /** The format of the address with which the key was asked for. */
  readonly addressFormat?: AddressFormat | undefined;
}

/**
 * Returns why the lab cannot derive the account, or undefined. Ed25519 paths must be hardened: SLIP-10 defines no
 * others.
 */
export function accountFault({ path, addressFormat, curve = "CURVE_SECP256K1" }: Account): string | undefined {
  const row = formatOf(addressFormat);
  if (row === undefined) return whyNoFormat(addressFormat);
  if (!row.curves.includes(curve)) return `${curve} has no ${addressFormat}`;
  const isHardened = path.split("/").every((step, index) => index === 0 || step.endsWith("'"));
  return curve === "CURVE_ED25519" && !isHardened ? `${path}: Ed25519 keys need hardened steps` : undefined;
}

export function keyOfSecret(privateKey: Uint8Array, curve: Curve = "CURVE_SECP256K1"): WalletKey {
  return { curve, privateKey, publicKey: CURVES[curve].publicKeyOf(privateKey) };
}

export function keyAt(
  seed: Uint8Array,
  { path, curve = "CURVE_SECP256K1", addressFormat }: Omit<Account, "addressFormat"> & Partial<Account>,
): WalletKey {
  const { master, child, data } = CURVES[curve];
  let node = hmacSha512(toUtf8(master), seed);
  for (const step of path.split("/").slice(1)) {
    const index = Number.parseInt(step, 10) + (step.endsWith("'") ? HARDENED : 0);
    const parent = node.subarray(0, 32);
    const derived = hmacSha512(node.subarray(32), concatBytes(data(parent, index), counter(index)));
    node = concatBytes(child(derived.subarray(0, 32), parent), derived.subarray(32));
  }
  return { ...keyOfSecret(node.subarray(0, 32), curve), addressFormat };
}

export function addressOf(seed: Uint8Array, account: Account): string {
  return formatOf(account.addressFormat)!.write(keyAt(seed, account).publicKey);
}

function counter(index: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, index);
  return bytes;
}

function hmacSha512(key: Uint8Array, data: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha512", key).update(data).digest());
}

function number(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}
