/** What a request's `signWith` names, and whether a signature is by its key (verify/README.md, "Signatures"). */
import { concatBytes, equalBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { ED25519_KEY_LENGTH } from "../decode/lengths.js";
import type { AddressSigner } from "./address-formats.js";
import { ed25519Curve, keccak_256, p256, secp256k1, sha256 } from "./noble-signatures.js";
import { type Ecdsa, UncheckedError, hexBytes } from "./signed-content.js";

/** Thrown if a signature is not by the key of `signWith` over what was submitted. */
export class WrongSignatureError extends Error {}

export function wrong(): never {
  throw new WrongSignatureError("it does not verify under signWith over what was submitted");
}

/** Kind of `signWith`. An id names no key, so any key that verifies is accepted and reported. */
export type Signer =
  | AddressSigner
  /** A point of secp256k1 or P-256, whose encodings have one form. */
  | { readonly kind: "ecdsa"; readonly publicKey: Uint8Array }
  | { readonly kind: "id" };

const UNKNOWN: Signer = { kind: "closed", reason: "the address format of signWith is unknown to this version" };
const WITHHELD =
  "the address of signWith is a hash of its key, which the signature does not show: give the public key " +
  "(expected.publicKey), which is used if it hashes to the address";

/** Returns why no signature can be held against the signer, or that its kind of key signs otherwise. */
export function uncheckedBy(signer: Signer): UncheckedError {
  if (signer.kind === "closed") return new UncheckedError(signer.reason);
  if (signer.kind === "withheld") return new UncheckedError(WITHHELD);
  return new UncheckedError("what was submitted does not fit the kind of key of signWith");
}

/** Reads `signWith`. `publicKey` is a key in hex that is used only if the address is a hash of it. */
export async function namedSigner(signWith: string, publicKey: string | null): Promise<Signer> {
  const signer = keyOrEthereum(signWith) ?? (await addressOf(signWith)) ?? UNKNOWN;
  const key = publicKey === null ? null : hexBytes(publicKey);
  return signer.kind === "withheld" && key !== null && signer.isOf(key) ? { kind: "ed25519", publicKey: key } : signer;
}

function keyOrEthereum(signWith: string): Signer | null {
  if (/^0x[0-9a-f]{40}$/i.test(signWith)) return { kind: "ethereum", address: hexBytes(signWith)! };
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(signWith)) return { kind: "id" };
  // 32 bytes in hex with 0x are an address of another chain, and not a key.
  if (/^(?:0x)?(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(signWith))
    return { kind: "ecdsa", publicKey: hexBytes(signWith)! };
  const key = /^[0-9a-f]{64}$/i.test(signWith) ? hexBytes(signWith) : base58Key(signWith);
  return key?.length === 32 ? { kind: "ed25519", publicKey: key } : null;
}

async function addressOf(signWith: string): Promise<Signer | null> {
  const { addressSigner } = await import("./address-formats.js");
  return addressSigner(signWith);
}

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Decodes base58 of 32 bytes, where a leading 1 is a zero byte. Returns null for anything else. */
function base58Key(text: string): Uint8Array | null {
  if (text.length < 32 || text.length > 44) return null;
  const digits = [...text].map((character) => BASE58.indexOf(character));
  if (digits.includes(-1)) return null;
  const hex = digits.reduce((number, digit) => number * 58n + BigInt(digit), 0n).toString(16);
  const bytes = fromHex(hex.padStart(64, "0"));
  const zeros = bytes?.findIndex((byte) => byte !== 0);
  return bytes?.length === 32 && zeros === /^1*/.exec(text)![0].length ? bytes : null;
}

/** Whether the public key is that of the signer. Null if the signer names none. */
export function isKeyOf(signer: Signer, publicKey: Uint8Array): boolean | null {
  return (IS_KEY_OF[signer.kind] as (signer: Signer, publicKey: Uint8Array) => boolean | null)(signer, publicKey);
}

/** What an address would be of a key of the other curve is not known: null. */
const IS_KEY_OF: {
  readonly [K in Signer["kind"]]: (
    signer: Extract<Signer, { readonly kind: K }>,
    publicKey: Uint8Array,
  ) => boolean | null;
} = {
  id: () => null,
  closed: () => null,
  ed25519: (signer, publicKey) => equalBytes(publicKey, signer.publicKey),
  withheld: ({ isOf }, publicKey) => (publicKey.length === ED25519_KEY_LENGTH ? isOf(publicKey) : null),
  ecdsa: (signer, publicKey) =>
    [secp256k1, p256].some((curve) => isEqual(compressedKey(curve, publicKey), compressedKey(curve, signer.publicKey))),
  ethereum({ address }, publicKey) {
    const key = compressedKey(secp256k1, publicKey);
    return key !== null && equalBytes(ethereumAddress(key), address);
  },
  hashed({ isOf }, publicKey) {
    if (publicKey.length === ED25519_KEY_LENGTH) return null;
    const key = compressedKey(secp256k1, publicKey);
    return key !== null && isOf(key);
  },
  spark: (signer, publicKey) => isEqual(compressedKey(secp256k1, publicKey), signer.publicKey),
  taproot({ outputKey }, publicKey) {
    // A key may be written as its x coordinate alone, and before or after the tweak.
    const isAlone = publicKey.length === outputKey.length;
    const x = isAlone ? publicKey : (compressedKey(secp256k1, publicKey)?.subarray(1) ?? null);
    return isEqual(x, outputKey) || isEqual(x && taprootKey(x), outputKey);
  },
};

function isEqual(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && equalBytes(a, b);
}

/** Returns the compressed key under which the signature, with its `v`, verifies. A high `s` is valid. */
export function verifyEcdsa({ r, s, yParity }: Ecdsa, digest: Uint8Array, signer: Signer): Uint8Array {
  const key = recovered({ r, s, yParity }, digest);
  if (signer.kind === "id") return key ?? wrong();
  if (signer.kind === "ethereum" || signer.kind === "hashed") return key && isKeyOf(signer, key) ? key : wrong();
  if (signer.kind !== "ecdsa") throw uncheckedBy(signer);
  const wanted = compressedKey(secp256k1, signer.publicKey);
  if (isEqual(key, wanted)) return key!;
  return verifyP256(concatBytes(r, s), digest, signer.publicKey) ?? wrong();
}

/** Whether the signature is by the compressed key of secp256k1. A high `s` is valid. */
export function isEcdsaSignature(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean {
  return attempt(() => secp256k1.verify(signature, digest, publicKey, { prehash: false, lowS: false })) === true;
}

export function isHighS(s: Uint8Array): boolean {
  return numberOf(s) > secp256k1.Point.Fn.ORDER >> 1n;
}

/** Verifies under P-256. Its keys have the same form as keys of secp256k1, so both curves are tried. */
function verifyP256(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): Uint8Array | null {
  const key = compressedKey(p256, publicKey);
  const isValid = (): boolean => p256.verify(signature, digest, key!, { prehash: false, lowS: false });
  return key !== null && attempt(isValid) === true ? key : null;
}

/** Verifies by RFC 8032 with canonical encodings, and refuses keys of small order, under which anything verifies. */
export function isEd25519Signature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return attempt(() => ed25519Curve.verify(signature, message, publicKey, { zip215: false })) === true;
}

/** Verifies by BIP-340. The key is the x coordinate of a point. */
export function isSchnorrSignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const { Fn, BASE } = secp256k1.Point;
  const [r, s] = [signature.subarray(0, 32), numberOf(signature.subarray(32))];
  if (signature.length !== 64 || s >= Fn.ORDER) return false;
  const nonce = attempt(() => {
    const challenge = Fn.create(numberOf(taggedHash("BIP0340/challenge", r, publicKey, message)));
    return BASE.multiplyUnsafe(s).subtract(evenPoint(publicKey).multiplyUnsafe(challenge)).toBytes(true);
  });
  return isEqual(nonce, concatBytes(EVEN, r));
}

/** Tweaks a key by BIP-341 without scripts. Both keys are x coordinates. Null if there is no such point. */
export function taprootKey(x: Uint8Array): Uint8Array | null {
  const { Fn, BASE } = secp256k1.Point;
  const tweak = numberOf(taggedHash("TapTweak", x));
  if (tweak >= Fn.ORDER) return null;
  return attempt(() => evenPoint(x).add(BASE.multiplyUnsafe(tweak)).toBytes(true).subarray(1));
}

const EVEN = Uint8Array.of(2);

function evenPoint(x: Uint8Array): typeof secp256k1.Point.BASE {
  return secp256k1.Point.fromBytes(concatBytes(EVEN, x));
}

function taggedHash(tag: string, ...parts: Uint8Array[]): Uint8Array {
  const hash = sha256(toUtf8(tag));
  return sha256(concatBytes(hash, hash, ...parts));
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes) || "0"}`);
}

export function compressedKey(curve: typeof secp256k1, publicKey: Uint8Array): Uint8Array | null {
  return attempt(() => curve.Point.fromBytes(publicKey).toBytes(true));
}

function recovered({ r, s, yParity }: Ecdsa, digest: Uint8Array): Uint8Array | null {
  return attempt(() => {
    const signature = secp256k1.Signature.fromBytes(concatBytes(r, s)).addRecoveryBit(yParity);
    return signature.recoverPublicKey(digest).toBytes(true);
  });
}

/** Returns null instead of throwing, since @noble throws for values that are out of range. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function ethereumAddress(publicKey: Uint8Array): Uint8Array {
  return keccak_256(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1)).subarray(-20);
}
