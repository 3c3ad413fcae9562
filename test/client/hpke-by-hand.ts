/**
 * HPKE (RFC 9180) in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM, and base58check, both
 * written from their definitions over node:crypto. They are compared with the client's, which come from libraries.
 */
import { ECDH, createCipheriv, createDecipheriv, createECDH, createHash, createHmac } from "node:crypto";

const INFO = Buffer.from("turnkey_hpke");
const KEM = Buffer.from("4b454d0010", "hex");
const HPKE = Buffer.from("48504b45001000010002", "hex");

/** HKDF-Extract (RFC 5869). */
function extract(salt: Buffer, ikm: Buffer): Buffer {
  return createHmac("sha256", salt).update(ikm).digest();
}

/** HKDF-Expand, of one block. */
function expand(prk: Buffer, info: Buffer, length: number): Buffer {
  return createHmac("sha256", prk).update(info).update(Buffer.of(1)).digest().subarray(0, length);
}

function labeledExtract(suite: Buffer, salt: Buffer, label: string, ikm: Buffer): Buffer {
  return extract(salt, Buffer.concat([Buffer.from("HPKE-v1"), suite, Buffer.from(label), ikm]));
}

function labeledExpand(suite: Buffer, prk: Buffer, label: string, info: Buffer, length: number): Buffer {
  return expand(
    prk,
    Buffer.concat([Buffer.of(0, length), Buffer.from("HPKE-v1"), suite, Buffer.from(label), info]),
    length,
  );
}

/** ExtractAndExpand (section 4.1). */
export function sharedSecret(dh: Buffer, encapsulated: Buffer, receiver: Buffer): Buffer {
  const eaePrk = labeledExtract(KEM, Buffer.alloc(0), "eae_prk", dh);
  return labeledExpand(KEM, eaePrk, "shared_secret", Buffer.concat([encapsulated, receiver]), 32);
}

/** KeySchedule (section 5.1). */
export function keySchedule(shared: Buffer, info: Buffer): { key: Buffer; nonce: Buffer } {
  const none = Buffer.alloc(0);
  const context = Buffer.concat([
    Buffer.of(0),
    labeledExtract(HPKE, none, "psk_id_hash", none),
    labeledExtract(HPKE, none, "info_hash", info),
  ]);
  const secret = labeledExtract(HPKE, shared, "secret", none);
  return {
    key: labeledExpand(HPKE, secret, "key", context, 32),
    nonce: labeledExpand(HPKE, secret, "base_nonce", context, 12),
  };
}

/** Seals to an uncompressed point. Returns the encapsulated key (uncompressed) and the ciphertext. */
export function sealByHand(
  plaintext: Buffer,
  receiver: Buffer,
  info: Buffer = INFO,
): { encapsulated: Buffer; ciphertext: Buffer } {
  const ephemeral = createECDH("prime256v1");
  const encapsulated = ephemeral.generateKeys();
  const shared = sharedSecret(ephemeral.computeSecret(receiver), encapsulated, receiver);
  const { key, nonce } = keySchedule(shared, info);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.concat([encapsulated, receiver]));
  return { encapsulated, ciphertext: Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]) };
}

/** A credential bundle. */
export function bundleByHand(plaintext: Buffer, receiver: Buffer, info?: Buffer): string {
  const { encapsulated, ciphertext } = sealByHand(plaintext, receiver, info);
  return toBase58check(Buffer.concat([compressedPoint(encapsulated), ciphertext]));
}

/** Opens a credential bundle with a private key; throws where it does not. */
export function openByHand(bundle: string, privateKey: Buffer): Buffer {
  const bytes = fromBase58check(bundle);
  const ciphertext = bytes.subarray(33);
  const point = ECDH.convertKey(bytes.subarray(0, 33), "prime256v1", undefined, undefined, "uncompressed");
  const encapsulated = point as Buffer;
  const receiver = createECDH("prime256v1");
  receiver.setPrivateKey(privateKey);
  const shared = sharedSecret(receiver.computeSecret(encapsulated), encapsulated, receiver.getPublicKey());
  const { key, nonce } = keySchedule(shared, INFO);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(
    Buffer.concat([encapsulated, receiver.getPublicKey()]),
  );
  decipher.setAuthTag(ciphertext.subarray(-16));
  return Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()]);
}

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function checksum(bytes: Buffer): Buffer {
  const once = createHash("sha256").update(bytes).digest();
  return createHash("sha256").update(once).digest().subarray(0, 4);
}

export function toBase58check(payload: Buffer): string {
  const bytes = Buffer.concat([payload, checksum(payload)]);
  let text = "";
  for (let value = BigInt(`0x${bytes.toString("hex")}`); value > 0n; value /= 58n)
    text = ALPHABET[Number(value % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros) + text;
}

export function fromBase58check(text: string): Buffer {
  const value = [...text].reduce((sum, char) => sum * 58n + BigInt(ALPHABET.indexOf(char)), 0n);
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  const payload = bytes.subarray(0, -4);
  if (!checksum(payload).equals(bytes.subarray(-4))) throw new Error("wrong checksum");
  return payload;
}

/** The compressed form of an uncompressed point. */
export function compressedPoint(point: Buffer): Buffer {
  return Buffer.concat([Buffer.of(2 + (point.at(-1)! & 1)), point.subarray(1, 33)]);
}
