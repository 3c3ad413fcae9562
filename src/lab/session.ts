/** Sessions: a new key pair, sealed to the request's public key (client/README.md, "Sessions"). */
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from "@hpke/core";
import { createBase58check } from "@scure/base";
import { ECDH } from "node:crypto";
import { concatBytes, toUtf8 } from "../bytes.js";
import { type ApiKeyPair, compressedPoint, generateApiKey } from "./api-key.js";
import { sha256 } from "./qos.js";
import { invalid } from "./refusal.js";

const INFO = toUtf8("turnkey_hpke");
const base58check = createBase58check(sha256);
const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });

interface SealedSession {
  /** The public key: 33 bytes, in hex. */
  readonly publicKey: string;
  readonly credentialBundle: string;
}

/** Seals to a P-256 point in hex, compressed or not. Throws Refusal. */
export async function sealSession(targetPublicKey: string): Promise<SealedSession> {
  const target = uncompressed(targetPublicKey);
  const session = generateApiKey();
  return { publicKey: session.publicKey, credentialBundle: await seal(session, target) };
}

/** Seals with RFC 9180, base mode, bound to both public keys. */
async function seal(session: ApiKeyPair, target: Uint8Array): Promise<string> {
  const recipientPublicKey = await suite.kem.deserializePublicKey(bufferOf(target));
  const sender = await suite.createSenderContext({ recipientPublicKey, info: bufferOf(INFO) });
  const encapsulated = new Uint8Array(sender.enc);
  const sealed = await sender.seal(
    bufferOf(Buffer.from(session.privateKey, "hex")),
    bufferOf(concatBytes(encapsulated, target)),
  );
  return base58check.encode(concatBytes(compressedPoint(encapsulated), new Uint8Array(sealed)));
}

function uncompressed(hex: string): Uint8Array {
  try {
    return new Uint8Array(ECDH.convertKey(hex, "prime256v1", "hex", undefined, "uncompressed") as Buffer);
  } catch {
    throw invalid("parameters.targetPublicKey: not a point of P-256 in hex");
  }
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
