/**
 * Credential bundles: `base58check(33-byte compressed encapsulated key ‖ ciphertext)`, encrypted to a public key by
 * HPKE (RFC 9180) in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM (client/README.md,
 * "Sessions").
 */
import type { CipherSuite } from "@hpke/core";
import type { BytesCoder } from "@scure/base";
import { concatBytes, toUtf8 } from "../bytes.js";
import { P256_COMPRESSED_LENGTH } from "../decode/lengths.js";
import { ClientError } from "../door/errors.js";
import { compressed, subtleCrypto, uncompressed } from "./p256.js";
import type { WebKeyPair } from "../door/platform.js";

const INFO = toUtf8("turnkey_hpke");
const ECDH = { name: "ECDH", namedCurve: "P-256" };

/** Loads packages only here: most clients open no bundles, and loading these takes as long as all of the client. */
async function loadPackages(): Promise<{ suite: CipherSuite; base58check: BytesCoder }> {
  const [{ Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 }, { sha256 }, { createBase58check }] =
    await Promise.all([import("@hpke/core"), import("@noble/hashes/sha2.js"), import("@scure/base")]);
  const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
  return { suite, base58check: createBase58check(sha256) };
}

/** Returns the additional authenticated data: both keys, uncompressed. */
function keysOf(encapsulated: Uint8Array, receiver: Uint8Array): Uint8Array {
  return concatBytes(encapsulated, receiver);
}

export async function sealBundle(plaintext: Uint8Array, receiver: Uint8Array): Promise<string> {
  const recipientPublicKey = await subtleCrypto().importKey("raw", receiver as BufferSource, ECDH, true, []);
  const { suite, base58check } = await loadPackages();
  const sender = await suite.createSenderContext({ recipientPublicKey, info: INFO });
  const encapsulated = new Uint8Array(sender.enc);
  const ciphertext = await sender.seal(plaintext, keysOf(encapsulated, receiver));
  return base58check.encode(concatBytes(compressed(encapsulated), new Uint8Array(ciphertext)));
}

/** Decrypts a bundle. Rejects with {@link ClientError} (`bundle`) if it was sealed to another key, or changed. */
export async function openBundle(bundle: string, receiver: WebKeyPair): Promise<Uint8Array> {
  const { suite, base58check } = await loadPackages();
  const bytes = decodedBundle(bundle, base58check);
  const encapsulated = await uncompressed(bytes.subarray(0, P256_COMPRESSED_LENGTH));
  if (encapsulated === null) throw bundleError(`its first ${P256_COMPRESSED_LENGTH} bytes are not a point of P-256`);
  const point = new Uint8Array(await subtleCrypto().exportKey("raw", receiver.publicKey));
  try {
    const params = { recipientKey: receiver, enc: encapsulated as BufferSource, info: INFO as BufferSource };
    return new Uint8Array(
      await suite.open(params, bytes.subarray(P256_COMPRESSED_LENGTH), keysOf(encapsulated, point)),
    );
  } catch {
    throw bundleError("it was sealed to another key, or changed on the way");
  }
}

/**
 * Limit of a bundle in characters, because the time to decode base58 grows with the square of the length. A session's
 * bundle has 116 characters.
 */
const MAX_BUNDLE = 4096;

function decodedBundle(bundle: string, base58check: BytesCoder): Uint8Array {
  if (bundle.length > MAX_BUNDLE) throw bundleError(`it has ${bundle.length} characters`);
  try {
    return base58check.decode(bundle);
  } catch {
    throw bundleError("it is not base58check");
  }
}

function bundleError(reason: string): ClientError {
  return new ClientError("bundle", `the bundle does not open: ${reason}`);
}
