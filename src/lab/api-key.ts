/** API keys and their stamps. */
import { createPrivateKey, sign } from "node:crypto";
import { compressed } from "../client/p256.js";
import { concatBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { generateKeyPair, privateScalar, publicPoint } from "./keys.js";

export interface ApiKeyPair {
  /** The compressed P-256 point, 33 bytes, in hex. */
  readonly publicKey: string;
  /** The private key, 32 bytes, in hex. */
  readonly privateKey: string;
}

export function generateApiKey(): ApiKeyPair {
  const pair = generateKeyPair("prime256v1");
  return { publicKey: toHex(compressed(publicPoint(pair))), privateKey: toHex(privateScalar(pair)) };
}

/** The DER before the private key in PKCS#8: an ECPrivateKey of P-256 without a public key (RFC 5915 section 3). */
const PKCS8_P256 = fromHex(
  "304102010030130607 2a8648ce3d020106082a8648ce3d030107 042730250201010420".replaceAll(" ", ""),
)!;

/** Returns the X-Stamp header for a body (client/README.md, "Stamps"), for tests and scripts that have no client. */
export function stampWithApiKey(key: ApiKeyPair, body: string | Uint8Array): string {
  const bytes = typeof body === "string" ? toUtf8(body) : body;
  const privateKey = createPrivateKey({
    key: Buffer.from(concatBytes(PKCS8_P256, fromHex(key.privateKey)!)),
    format: "der",
    type: "pkcs8",
  });
  const signature = sign("sha256", bytes, privateKey).toString("hex");
  const stamp = { publicKey: key.publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature };
  return Buffer.from(JSON.stringify(stamp)).toString("base64url");
}
