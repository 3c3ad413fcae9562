/** Reads `--ear-key`: a JWK or PEM file with the private key that signs attestation results. */
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import type { SigningJwk } from "../formats/signing-key.js";
import type { Io } from "./io.js";
import { KeyRefusal, privateKeyIn, readKey } from "./key-files.js";

const A_KEY = "expected a private key, as a JWK (RFC 7517) or PEM";

/** Reads the key and signs a trial with it by `alg`, before anything is verified. Throws UsageError. */
export function readEarKey(path: string, alg: string | undefined, io: Io): Promise<SigningJwk> {
  // Other errors come from the platform, and may quote the file.
  const faultOf = (error: unknown): string => (error instanceof TypeError ? error.message : A_KEY);
  return readKey(path, { command: "verify", isPrivate: true, read: (text) => keyOf(text, alg), faultOf }, io);
}

async function keyOf(text: string, alg: string | undefined): Promise<SigningJwk> {
  const jwk = /-----BEGIN /.test(text) ? await jwkOfPem(text) : jwkOf(text);
  const { signerOf } = await import("../formats/signing-key.js");
  await signerOf(jwk, alg);
  return jwk as unknown as SigningJwk;
}

function jwkOf(text: string): JsonObject {
  const json = attempt(() => parseJson(text)).value;
  if (!isJsonObject(json)) throw new KeyRefusal(`not a key: ${A_KEY}`);
  if ("privateKey" in json && !("kty" in json))
    throw new KeyRefusal(`an API key file, which stamps requests: ${A_KEY}, used only to sign results`);
  return json;
}

async function jwkOfPem(pem: string): Promise<object> {
  const key = await privateKeyIn(pem);
  if (key === null) throw new KeyRefusal(`no supported private key in it: ${A_KEY}`);
  try {
    return key.export({ format: "jwk" });
  } catch {
    throw new KeyRefusal("a kind of key that a JWK cannot hold: P-256, P-384, P-521, Ed25519 or RSA expected");
  }
}
