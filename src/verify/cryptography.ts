/**
 * The platform's cryptography (verify/README.md, "Cryptography"). Only this file uses `node:crypto`, WebCrypto's
 * verification and noble's.
 *
 * A runtime may imitate `node:crypto` or lack a curve, so each candidate must pass known answers. The process chooses
 * one candidate before it sees evidence. If this candidate refuses evidence, no other is tried.
 */
import { concatBytes, equalBytes, fromHex, toBase64Url, toUtf8 } from "../bytes.js";

export type Curve = "P-256" | "P-384";
export type Hash = "SHA-256" | "SHA-384";

/** Hash of each curve, and the length of its scalars and coordinates in bytes. */
export const CURVES = {
  "P-256": { hash: "SHA-256", scalarLength: 32 },
  "P-384": { hash: "SHA-384", scalarLength: 48 },
} as const satisfies Record<Curve, { hash: Hash; scalarLength: number }>;

/** Bytes of SubjectPublicKeyInfo before the point (RFC 5480 section 2). */
export const SPKI_PREFIX: Readonly<Record<Curve, Uint8Array>> = {
  "P-256": fromHex("3059301306072a8648ce3d020106082a8648ce3d030107034200")!,
  "P-384": fromHex("3076301006072a8648ce3d020106052b81040022036200")!,
};

export interface VerifyingKey {
  /** Verifies a signature `r ‖ s` over the message's hash. Never throws for a bad signature. */
  verify(message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

interface Cryptography {
  digest(hash: Hash, bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Imports a SEC1 point `04 ‖ x ‖ y`. Returns null if it is not on the curve. */
  importPoint(curve: Curve, point: Uint8Array): VerifyingKey | null | Promise<VerifyingKey | null>;
}

/** Verifies a signature of 64 bytes under a key of 32 bytes (RFC 8032). */
type Ed25519 = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean | Promise<boolean>;

export const cryptography = /* @__PURE__ */ once(() =>
  choose(offers(nodeCryptography, webCryptography), answersRight, nobleCryptography),
);

/** Ed25519 of the platform. It is chosen separately because fewer runtimes support it. */
export const ed25519 = /* @__PURE__ */ once(() => choose(offers(nodeEd25519, webEd25519), ed25519Right, nobleEd25519));

interface Signer {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/**
 * Returns a signer of ECDSA. Its public key is an uncompressed point, and its signatures are deterministic (RFC 6979)
 * in DER. Null if the scalar is not a private key of the curve.
 */
export async function ecdsaSigner(curve: Curve, scalar: Uint8Array): Promise<Signer | null> {
  const { p256, p384 } = await import("./noble.js");
  const own = curve === "P-256" ? p256 : p384;
  if (!own.utils.isValidSecretKey(scalar)) return null;
  return {
    publicKey: own.getPublicKey(scalar, false),
    sign: (message) => own.sign(message, scalar, { format: "der" }),
  };
}

/** Returns a signer of Ed25519. `seed` is the private key of RFC 8032 (32 bytes). */
export async function ed25519Signer(seed: Uint8Array): Promise<Signer> {
  const own = await import("./noble-ed25519.js");
  return { publicKey: own.ed25519Curve.getPublicKey(seed), sign: (message) => own.ed25519Curve.sign(message, seed) };
}

/** Returns why a key of Ed25519 is refused, or null. For a key of small order anybody can sign. */
export async function ed25519KeyFault(key: Uint8Array): Promise<string | null> {
  const own = await import("./noble-ed25519.js");
  try {
    return own.ed25519Curve.Point.fromBytes(key, false).isSmallOrder()
      ? "a key of small order, for which anybody signs"
      : null;
  } catch {
    return "not the canonical encoding of a point of Ed25519";
  }
}

export interface Hasher {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

export async function incrementalHash(hash: Hash): Promise<() => Hasher> {
  const { sha256, sha384 } = await import("./noble.js");
  return hash === "SHA-256" ? () => sha256.create() : () => sha384.create();
}

/**
 * Verifies ECDSA with SHA-512 over P-521. Only images use this curve, and few runtimes support it. `point` is
 * uncompressed. Returns null if it is not on the curve.
 */
export async function verifyP521(
  point: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean | null> {
  const { p521 } = await import("./noble-p521.js");
  try {
    p521.Point.fromBytes(point);
  } catch {
    return null;
  }
  return isTrue(() => p521.verify(signature, message, point, { lowS: false, prehash: true, format: "compact" }));
}

/**
 * Returns a function that makes a value once. The promise is dropped when it has settled, because in some edge runtimes
 * other requests cannot await it.
 */
function once<T>(make: () => Promise<T>): () => T | Promise<T> {
  let value: { readonly made: T } | undefined;
  let making: Promise<T> | undefined;
  return () => {
    if (value !== undefined) return value.made;
    making ??= make()
      .then((made) => (value = { made }).made)
      .finally(() => (making = undefined));
    return making;
  };
}

type Offer<T> = () => T | undefined;

async function choose<T>(
  offers: readonly Offer<T>[],
  isRight: (candidate: T) => Promise<boolean>,
  own: () => Promise<T>,
): Promise<T> {
  for (const offer of offers) {
    try {
      const candidate = offer();
      if (candidate !== undefined && (await isRight(candidate))) return candidate;
    } catch {
      // An imitation may throw anything, so a candidate that throws is not chosen.
    }
  }
  return own();
}

function offers<T>(
  ofNode: (node: NodeCrypto, isGenuine: boolean) => T,
  ofWeb: (subtle: SubtleCrypto) => T,
): Offer<T>[] {
  const { process, navigator } = globalThis as Runtime;
  // Node before 21 has no userAgent, so a runtime without one counts as Node. Other runtimes offer WebCrypto first,
  // because it is better tested than their imitations of `node:crypto`.
  const isNode = /^Node\.js\//.test(navigator?.userAgent ?? "Node.js/");
  const node: Offer<T> = () => {
    const module = process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined;
    return module && ofNode(module, isNode);
  };
  const web: Offer<T> = () => {
    const { crypto } = globalThis as Runtime;
    return crypto?.subtle && ofWeb(crypto.subtle);
  };
  return isNode ? [node, web] : [web, node];
}

interface Runtime {
  /** Node's process, which gives access to `node:crypto` without an import that bundlers would resolve. */
  readonly process?: { readonly getBuiltinModule?: (id: string) => unknown };
  readonly crypto?: { readonly subtle?: SubtleCrypto };
  readonly navigator?: { readonly userAgent?: string };
}

/** Digests of `abc` (FIPS 180-4). */
const DIGESTS: Readonly<Record<Hash, string>> = {
  "SHA-256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  "SHA-384": "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
};

/** Key `x ‖ y` and signature `r ‖ s` over `sample` (RFC 6979 appendices A.2.5 and A.2.6). */
const SIGNATURES: Readonly<Record<Curve, { readonly coordinates: string; readonly signature: string }>> = {
  "P-256": {
    coordinates:
      "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6" +
      "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
    signature:
      "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716" +
      "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
  },
  "P-384": {
    coordinates:
      "ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc13" +
      "8015d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd2533264720",
    signature:
      "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46" +
      "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8",
  },
};

async function answersRight(candidate: Cryptography): Promise<boolean> {
  const answers = await Promise.all([
    digestsRight(candidate, "SHA-256"),
    digestsRight(candidate, "SHA-384"),
    verifiesRight(candidate, "P-384"),
    verifiesRight(candidate, "P-256"),
  ]);
  return answers.every((answer) => answer);
}

async function digestsRight(candidate: Cryptography, hash: Hash): Promise<boolean> {
  return equalBytes(await candidate.digest(hash, toUtf8("abc")), fromHex(DIGESTS[hash])!);
}

/**
 * Whether a candidate verifies correctly. A signature of zeros tests the range check (CVE-2022-21449). Only P-256 is
 * also tested with another message and with a point off the curve, because P-384 is slow. Deno's WebCrypto throws for
 * such a point.
 */
async function verifiesRight(candidate: Cryptography, curve: Curve): Promise<boolean> {
  const point = concatBytes(Uint8Array.of(0x04), fromHex(SIGNATURES[curve].coordinates)!);
  const signature = fromHex(SIGNATURES[curve].signature)!;
  const message = toUtf8("sample");
  const key = await candidate.importPoint(curve, point);
  if (key === null) return false;
  const zeros = new Uint8Array(signature.length);
  const [good, bad] = await Promise.all([key.verify(message, signature), key.verify(message, zeros)]);
  if (good !== true || bad !== false) return false;
  if (curve === "P-384") return true;
  const beside = point.map((byte, index) => (index === 64 ? byte ^ 1 : byte));
  const ofAnother = await key.verify(toUtf8("Sample"), signature);
  return ofAnother === false && (await candidate.importPoint(curve, beside)) === null;
}

/** Whether a candidate passes test 2 of RFC 8032 section 7.1. */
async function ed25519Right(candidate: Ed25519): Promise<boolean> {
  const key = fromHex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")!;
  const signature = fromHex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  )!;
  const right = await candidate(key, Uint8Array.of(0x72), signature);
  return right === true && (await candidate(key, Uint8Array.of(0x73), signature)) === false;
}

interface NodeCrypto {
  /** Hashes in half the time of `createHash`. Node has this function since 20.12. */
  hash?(algorithm: string, bytes: Uint8Array, encoding: "buffer"): Uint8Array;
  createHash(algorithm: string): { update(bytes: Uint8Array): { digest(): Uint8Array } };
  createPublicKey(input: object): NodeKey;
  readonly webcrypto: { readonly subtle: SubtleCrypto };
  readonly KeyObject: { from(key: CryptoKey): NodeKey };
  verify(hash: string | null, message: Uint8Array, key: NodeKeyInput, signature: Uint8Array): boolean;
  verify(
    hash: string,
    message: Uint8Array,
    key: NodeKeyInput,
    signature: Uint8Array,
    done: (error: Error | null, valid: boolean) => void,
  ): void;
}
type NodeKey = object;
interface NodeKeyInput {
  readonly key: NodeKey;
  readonly dsaEncoding?: "ieee-p1363";
}

/** Names of hashes in a spelling that imitations also accept. */
const NODE_HASH: Readonly<Record<Hash, string>> = { "SHA-256": "sha256", "SHA-384": "sha384" };

let usesOneThread = false;

/** Makes `node:crypto` verify in the calling thread. It is for pools of threads, which already keep all cores busy. */
export function useOneThread(): void {
  usesOneThread = true;
}

/** Returns the cryptography of `node:crypto`. `isGenuine` means that it is Node's own, not an imitation. */
function nodeCryptography(node: NodeCrypto, isGenuine: boolean): Cryptography {
  const importKey = isGenuine ? rawKey : spkiKey;
  const hashed =
    isGenuine && node.hash !== undefined
      ? (name: string, bytes: Uint8Array) => node.hash!(name, bytes, "buffer")
      : (name: string, bytes: Uint8Array) => node.createHash(name).update(bytes).digest();
  return {
    digest: (hash, bytes) => new Uint8Array(hashed(NODE_HASH[hash], bytes)),
    async importPoint(curve, point) {
      const key = await importKey(node, curve, point);
      if (key === null) return null;
      const input = { key, dsaEncoding: "ieee-p1363" } as const;
      const hash = NODE_HASH[CURVES[curve].hash];
      // Another thread is faster only for P-384, because the signatures of a certificate path are verified in parallel.
      if (curve === "P-256" || usesOneThread)
        return { verify: (message, signature) => node.verify(hash, message, input, signature) };
      return {
        verify: (message, signature) =>
          new Promise((resolve) => {
            node.verify(hash, message, input, signature, (error, valid) => resolve(error === null && valid));
          }),
      };
    },
  };
}

function nodeKey(node: NodeCrypto, input: object): NodeKey | null {
  try {
    return node.createPublicKey(input);
  } catch {
    return null;
  }
}

/** Imports a key three times as fast as `createPublicKey`. */
async function rawKey(node: NodeCrypto, curve: Curve, point: Uint8Array): Promise<NodeKey | null> {
  const key = await webKey(node.webcrypto.subtle, { name: "ECDSA", namedCurve: curve }, point, true);
  return key && node.KeyObject.from(key);
}

function spkiKey(node: NodeCrypto, curve: Curve, point: Uint8Array): NodeKey | null {
  return nodeKey(node, { key: concatBytes(SPKI_PREFIX[curve], point), format: "der", type: "spki" });
}

function nodeEd25519(node: NodeCrypto): Ed25519 {
  return (publicKey, message, signature) => {
    const jwk = { kty: "OKP", crv: "Ed25519", x: toBase64Url(publicKey) };
    const key = nodeKey(node, { key: jwk, format: "jwk" });
    return key !== null && node.verify(null, message, { key }, signature);
  };
}

function webCryptography(subtle: SubtleCrypto): Cryptography {
  return {
    digest: async (hash, bytes) => new Uint8Array(await subtle.digest(hash, bytes as BufferSource)),
    async importPoint(curve, point) {
      const key = await webKey(subtle, { name: "ECDSA", namedCurve: curve }, point);
      if (key === null) return null;
      const { hash, scalarLength } = CURVES[curve];
      return {
        verify: async (message, signature) =>
          signature.length === 2 * scalarLength &&
          subtle.verify({ name: "ECDSA", hash }, key, signature as BufferSource, message as BufferSource),
      };
    },
  };
}

async function webKey(
  subtle: SubtleCrypto,
  algorithm: { readonly name: string; readonly namedCurve?: Curve },
  bytes: Uint8Array,
  extractable = false,
): Promise<CryptoKey | null> {
  try {
    return await subtle.importKey("raw", bytes as BufferSource, algorithm, extractable, ["verify"]);
  } catch {
    return null;
  }
}

function webEd25519(subtle: SubtleCrypto): Ed25519 {
  const algorithm = { name: "Ed25519" };
  return async (publicKey, message, signature) => {
    const key = await webKey(subtle, algorithm, publicKey);
    return key !== null && subtle.verify(algorithm, key, signature as BufferSource, message as BufferSource);
  };
}

async function nobleCryptography(): Promise<Cryptography> {
  const { p256, p384, sha256, sha384 } = await import("./noble.js");
  const curves = { "P-256": p256, "P-384": p384 };
  return {
    digest: (hash, bytes) => (hash === "SHA-256" ? sha256 : sha384)(bytes),
    importPoint(curve, point) {
      try {
        curves[curve].Point.fromBytes(point);
      } catch {
        return null;
      }
      const options = { lowS: false, prehash: true, format: "compact" } as const;
      return {
        verify: (message, signature) => isTrue(() => curves[curve].verify(signature, message, point, options)),
      };
    },
  };
}

async function nobleEd25519(): Promise<Ed25519> {
  const { ed25519Curve: noble } = await import("./noble-ed25519.js");
  return (publicKey, message, signature) =>
    isTrue(() => noble.verify(signature, message, publicKey, { zip215: false }));
}

function isTrue(verify: () => boolean): boolean {
  try {
    return verify();
  } catch {
    return false;
  }
}
