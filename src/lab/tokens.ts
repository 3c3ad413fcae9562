/** Tokens and bundles that a quorum key signs (token/README.md, "Formats"). */
import { randomUUID } from "node:crypto";
import { fromBase64Url, fromHex, fromUtf8, toHex, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { publicPoint, signDer } from "./keys.js";
import { type QosKeyPair, qosSign, sha256 } from "./qos.js";

export function sessionToken(key: QosKeyPair, claims: JsonObject): string {
  return jwt({ alg: "ES256", typ: "JWT" }, claims, (covered) => qosSign(key, sha256(covered)));
}

export function otpToken(key: QosKeyPair, claims: JsonObject): string {
  return jwt({ typ: "JWT", alg: "ES256" }, claims, (covered) => qosSign(key, covered));
}

/** Returns the claims of an OTP token for an hour. */
export function otpClaims(now: Date, members: JsonObject): JsonObject {
  const exp = String(now.getTime() + 3_600_000);
  return { exp, id: randomUUID(), verification_type: "OTP_TYPE_EMAIL", contact: "user@lab.example", ...members };
}

function jwt(header: JsonObject, claims: JsonObject, sign: (covered: Uint8Array) => Uint8Array): string {
  const covered = [header, claims].map((part) => base64Url(toUtf8(JSON.stringify(part)))).join(".");
  return `${covered}.${base64Url(sign(toUtf8(covered)))}`;
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

/** Returns the claims of a token without verifying it. Throws if it is not one. */
export function claimsOf(token: string): JsonObject {
  return JSON.parse(fromUtf8(fromBase64Url(token.split(".")[1]!)!)!) as JsonObject;
}

/** Returns a bundle that names `key`, signed by it or by `signer`. */
export function signedBundle(key: QosKeyPair, data: JsonObject, signer = key): string {
  const bytes = toUtf8(JSON.stringify(data));
  return JSON.stringify({
    version: "v1.0.0",
    data: toHex(bytes),
    dataSignature: toHex(signDer(signer.signing, "sha256", bytes)),
    enclaveQuorumPublic: toHex(publicPoint(key.signing)),
  });
}

export function bundleData(bundle: string): JsonObject {
  const { data } = JSON.parse(bundle) as { readonly data: string };
  return JSON.parse(fromUtf8(fromHex(data)!)!) as JsonObject;
}
