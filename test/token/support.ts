/** Tokens and bundles under keys of this process, and policies that pin these keys. */
import { createHash } from "node:crypto";
import { type Policy, parsePolicy } from "../../src/index.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { type QosKeyPair, generateQosKeyPair, qosSign } from "../../src/lab/qos.js";
import { signingPoint } from "../../src/verify/qos-key.js";
import { readVectorJson } from "../support/vectors.js";

export const NOW = new Date("2026-03-04T05:06:07Z");
export const ORG = "7ff189fb-df7d-452e-8540-57632e380b77";
export const USER = "6912b819-f4df-40f4-a192-20ee43090974";

export interface GenuineToken {
  readonly token: string;
  readonly signedBy: string;
  readonly signingHalf: string;
}
export const GENUINE = readVectorJson("tokens/tokens.json") as unknown as {
  readonly session: GenuineToken;
  readonly otp: GenuineToken;
};

const half = (key: QosKeyPair): string => toHex(signingPoint(key.publicKey));
export const [NOTARIZER, FETCHER, SIGNER, OTHER] = [0, 1, 2, 3].map(() => generateQosKeyPair()) as [
  QosKeyPair,
  QosKeyPair,
  QosKeyPair,
  QosKeyPair,
];
export const BEARER = toHex(signingPoint(OTHER.publicKey));
export const BEARER_COMPRESSED = `0${2 + (parseInt(BEARER.slice(-1), 16) & 1)}${BEARER.slice(2, 66)}`;

const PCRS = Object.fromEntries([0, 1, 2, 3].map((index) => [index, `0${index + 1}`.repeat(48)]));

/** A deployment that answers every question, and pins this namespace and key. */
export function pinning(namespace: unknown, key: QosKeyPair | string | readonly string[], more: object = {}): object {
  const quorumKey = typeof key === "object" && "publicKey" in key ? toHex(key.publicKey) : key;
  return { name: String(namespace), pcrs: PCRS, pivotHash: "07".repeat(32), namespace, quorumKey, ...more };
}

export function policyOf(...deployments: object[]): Policy {
  return parsePolicy(JSON.stringify({ policy: "bootproof/1", name: "tokens", deployments }));
}

export const POLICY = policyOf(
  pinning("prod/notarizer", NOTARIZER),
  pinning("prod/tls-fetcher", FETCHER),
  pinning("prod/signer", SIGNER),
);

/** The whole key of a genuine token, whose encryption half is not known. */
export function genuineKey({ signingHalf }: GenuineToken): string {
  return half(OTHER) + signingHalf;
}

export const base64Url = (bytes: Uint8Array | string): string =>
  Buffer.from(typeof bytes === "string" ? toUtf8(bytes) : bytes).toString("base64url");
const digest = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

export interface JwtParts {
  readonly header?: string;
  readonly payload?: string;
  readonly claims?: object;
  readonly key?: QosKeyPair;
  /** Hashes before that of ECDSA. */
  readonly rounds?: number;
  readonly sign?: (message: Uint8Array) => Uint8Array;
}

export const SESSION_CLAIMS = {
  exp: NOW.getTime() / 1000 + 900,
  public_key: BEARER_COMPRESSED,
  session_type: "SESSION_TYPE_READ_WRITE",
  user_id: USER,
  organization_id: ORG,
};
export const OTP_CLAIMS = {
  exp: String(NOW.getTime() + 3_600_000),
  id: "eb39b199-3352-4289-b31f-57194c79609c",
  organization_id: ORG,
  verification_type: "OTP_TYPE_EMAIL",
  contact: "user@example.com",
  public_key: BEARER_COMPRESSED,
};

function jwt(defaults: Required<Pick<JwtParts, "header" | "claims" | "key" | "rounds">>, parts: JwtParts): string {
  const { header, claims, key, rounds } = { ...defaults, ...parts };
  const covered = `${base64Url(header)}.${base64Url(parts.payload ?? JSON.stringify(claims))}`;
  let message = toUtf8(covered);
  for (let round = 0; round < rounds; round++) message = digest(message);
  const sign = parts.sign ?? ((bytes: Uint8Array) => qosSign(key, bytes));
  return `${covered}.${base64Url(sign(message))}`;
}

export const sessionToken = (parts: JwtParts = {}): string =>
  jwt({ header: '{"alg":"ES256","typ":"JWT"}', claims: SESSION_CLAIMS, key: NOTARIZER, rounds: 1 }, parts);
export const otpToken = (parts: JwtParts = {}): string =>
  jwt({ header: '{"typ":"JWT","alg":"ES256"}', claims: OTP_CLAIMS, key: FETCHER, rounds: 0 }, parts);

/** DER of `r ‖ s` (RFC 3279 section 2.2.3). */
export function derOf(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array): number[] => {
    const short = [...bytes.subarray(bytes.findIndex((byte) => byte !== 0))];
    const content = short[0]! > 0x7f ? [0, ...short] : short;
    return [2, content.length, ...content];
  };
  const content = [...integer(raw.subarray(0, 32)), ...integer(raw.subarray(32))];
  return Uint8Array.of(0x30, content.length, ...content);
}

export interface BundleParts {
  readonly data?: object;
  readonly dataText?: string;
  readonly key?: QosKeyPair;
  readonly members?: object;
}

export const IMPORT_DATA = { organizationId: ORG, userId: USER, targetPublic: BEARER };
export const EXPORT_DATA = { encappedPublic: BEARER, ciphertext: "c0ffee", organizationId: ORG };
export const OTP_TARGET_DATA = { targetPublic: BEARER };

export function signedBundle({ data = IMPORT_DATA, key = SIGNER, members = {}, ...parts }: BundleParts = {}): string {
  const bytes = toUtf8(parts.dataText ?? JSON.stringify(data));
  return JSON.stringify({
    version: "v1.0.0",
    data: toHex(bytes),
    dataSignature: toHex(derOf(qosSign(key, bytes))),
    enclaveQuorumPublic: half(key),
    ...members,
  });
}

/** r ‖ n − s of P-256, as valid as r ‖ s. */
export function otherS(raw: Uint8Array): Uint8Array {
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = n - BigInt(`0x${toHex(raw.subarray(32))}`);
  const bytes = Buffer.from(s.toString(16).padStart(64, "0"), "hex");
  return Uint8Array.of(...raw.subarray(0, 32), ...bytes);
}
