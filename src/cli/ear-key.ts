/**
 * Reads `--ear-key`: a JWK or PEM file with the private key that signs attestation results. No message quotes the key.
 */
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import type { SigningJwk } from "../formats/signing-key.js";
import type { Io } from "./io.js";
import { readKey } from "./key-files.js";

const A_KEY = "expected a private key, as a JWK (RFC 7517) or PEM";

/** Reads the key and signs a trial with it by `alg`, before anything is verified. Throws UsageError. */
export function readEarKey(path: string, alg: string | undefined, io: Io): Promise<SigningJwk> {
  // Other errors come from the platform, and may quote the file.
  const faultOf = (error: unknown): string =>
    error instanceof Refusal || error instanceof TypeError ? error.message : A_KEY;
  return readKey(path, { command: "verify", isPrivate: true, read: (text) => keyOf(text, alg), faultOf }, io);
}

class Refusal extends Error {}

async function keyOf(text: string, alg: string | undefined): Promise<SigningJwk> {
  const jwk = /-----BEGIN /.test(text) ? await jwkOfPem(text) : jwkOf(text);
  const { signerOf } = await import("../formats/signing-key.js");
  await signerOf(jwk, alg);
  return jwk as unknown as SigningJwk;
}

function jwkOf(text: string): JsonObject {
  const json = attempt(() => parseJson(text)).value;
  if (!isJsonObject(json)) throw new Refusal(`not a key: ${A_KEY}`);
  if ("privateKey" in json && !("kty" in json))
    throw new Refusal(`an API key file, which stamps requests: ${A_KEY}, used only to sign results`);
  return json;
}

/** Converts a PEM to a JWK. The label is PRIVATE KEY (RFC 7468), or the older RSA PRIVATE KEY or EC PRIVATE KEY. */
async function jwkOfPem(pem: string): Promise<object> {
  if (/BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(pem))
    throw new Refusal("an encrypted PEM: decrypt it (openssl pkey -in FILE) into a file that only you can read");
  if (!/BEGIN (?:RSA |EC )?PRIVATE KEY/.test(pem)) throw new Refusal(`no supported private key in it: ${A_KEY}`);
  const { createPrivateKey } = await import("node:crypto");
  try {
    return createPrivateKey(pem).export({ format: "jwk" });
  } catch {
    throw new Refusal(
      "a damaged PEM, or a kind of key that a JWK cannot hold: P-256, P-384, P-521, Ed25519 or RSA expected",
    );
  }
}
