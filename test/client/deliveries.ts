/** Signed webhook deliveries, and the key set that verifies them. */
import { toHex } from "../../src/bytes.js";
import { ed25519Point, generateKeyPair, signDer } from "../../src/lab/keys.js";
import { AT, ORGANIZATION } from "./support.js";

export const key = generateKeyPair("ed25519");
export const other = generateKeyPair("ed25519");

export function jwk(pair: typeof key, kid: string, rest: object = {}): object {
  return {
    kty: "OKP",
    crv: "Ed25519",
    x: ed25519Point(pair),
    kid,
    alg: "EdDSA",
    use: "sig",
    ...rest,
  };
}

export const JWKS = { keys: [jwk(other, "old"), jwk(key, "k1"), { kty: "RSA", kid: "rsa", n: "AQAB", e: "AQAB" }] };

export const ACTIVITY = {
  id: "a1",
  organizationId: ORGANIZATION,
  status: "ACTIVITY_STATUS_PENDING",
  type: "ACTIVITY_TYPE_UPDATE_WALLET",
  intent: { updateWalletIntent: { walletId: "Ærø ✓" } },
  newer: { kept: [1] },
};

export interface Parts {
  version?: string;
  algorithm?: string;
  keyId?: string;
  timestamp?: string;
  eventId?: string;
  body?: string | Uint8Array;
  pair?: typeof key;
  prefix?: string;
}

/** A webhook delivery as the service makes it, with a valid signature over these parts. */
export function delivered(parts: Parts = {}): { headers: Record<string, string>; rawBody: Uint8Array } {
  const {
    version = "v1",
    algorithm = "ed25519",
    keyId = "k1",
    timestamp = String(AT.getTime()),
    eventId = "e1",
    pair = key,
    prefix = "X-Webhook-",
  } = parts;
  const rawBody = Buffer.from((parts.body ?? JSON.stringify(ACTIVITY)) as string);
  const signed = Buffer.concat([Buffer.from(`${version}.${algorithm}.${keyId}.${timestamp}.${eventId}.`), rawBody]);
  const headers = {
    "Event-Id": eventId,
    Timestamp: timestamp,
    "Signature-Key-Id": keyId,
    "Signature-Algorithm": algorithm,
    "Signature-Version": version,
    Signature: toHex(signDer(pair, null, signed)),
  };
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [prefix + name, value])),
    rawBody: new Uint8Array(rawBody),
  };
}
