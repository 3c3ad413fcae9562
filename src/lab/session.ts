/** Sessions: a new key pair, sealed to the request's public key (client/README.md, "Sessions"). */
import { sealBundle } from "../client/credential-bundle.js";
import { uncompressed } from "../client/p256.js";
import { fromHex } from "../bytes.js";
import { generateApiKey } from "./api-key.js";
import { invalid } from "./refusal.js";

interface SealedSession {
  /** The public key: 33 bytes, in hex. */
  readonly publicKey: string;
  readonly credentialBundle: string;
}

/** Makes a session for a P-256 point in hex, compressed or not. Throws Refusal. */
export async function sealSession(targetPublicKey: string): Promise<SealedSession> {
  const { publicKey, privateKey } = generateApiKey();
  return { publicKey, credentialBundle: await sealTo(targetPublicKey, fromHex(privateKey)!) };
}

/** Seals a secret to a P-256 point in hex, compressed or not. Throws Refusal. */
export async function sealTo(targetPublicKey: string, secret: Uint8Array): Promise<string> {
  const target = await uncompressed(fromHex(targetPublicKey) ?? new Uint8Array());
  if (target === null) throw invalid("parameters.targetPublicKey: not a point of P-256 in hex");
  return sealBundle(secret, target);
}
