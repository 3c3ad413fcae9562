/**
 * Verification of tokens once more, from the rules of test-vectors/conformance/README.md ("Tokens") and from no code of
 * the package: Node's crypto alone.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import type { TokenVector } from "./token-file.js";

type Json = Record<string, unknown>;

const NAMESPACES: Record<string, string> = {
  session: "prod/notarizer",
  otp: "prod/tls-fetcher",
  import: "prod/signer",
  export: "prod/signer",
  "otp-target": "prod/tls-fetcher",
};
const TEXT = /^[^]+$/;
const POINT = /^04[0-9a-f]{128}$/i;
const COMPRESSED = /^0[23][0-9a-f]{64}$/i;
const KEYS = [POINT, COMPRESSED];
const MEMBERS: Record<string, Record<string, RegExp>> = {
  session: { public_key: COMPRESSED, session_type: TEXT, user_id: TEXT, organization_id: TEXT },
  otp: { id: TEXT, verification_type: TEXT, contact: TEXT, organization_id: TEXT, public_key: COMPRESSED },
  import: { organizationId: TEXT, userId: TEXT, targetPublic: POINT },
  export: { organizationId: TEXT, encappedPublic: POINT, ciphertext: /^(?:[0-9a-f]{2})+$/i },
  "otp-target": { targetPublic: POINT },
};
/** Where a kind has what the caller expects. */
const NAMES: Record<string, string> = {
  organizationId: "organization_id",
  userId: "user_id",
  sessionType: "session_type",
  publicKey: "public_key",
  verificationType: "verification_type",
};
const LATEST_MS = 8.64e15;

export function judgedByRules(
  { kind, token, now, expected }: TokenVector,
  policy: { readonly deployments: readonly Json[] },
  publicKeys: readonly string[],
): { readonly verdict: string; readonly failed: string[] } {
  const isJwt = kind === "session" || kind === "otp";
  const read =
    typeof token === "string" && token.length <= 65_536 ? (isJwt ? readJwt(kind, token) : readBundle(kind, token)) : {};
  const failed = new Set<string>();
  if (read.claims === undefined) failed.add("token.decode");

  const pinned = policy.deployments
    .filter(({ namespace }) => namespace === NAMESPACES[kind])
    .flatMap(({ quorumKey }) => (quorumKey === undefined ? [] : ([quorumKey].flat() as string[])))
    .filter((key) => !publicKeys.some((one) => key.toLowerCase() === one))
    .map((key) => key.slice(130).toLowerCase());
  const keys = pinned.filter((key) => read.names === undefined || read.names === key);
  if (keys.length === 0) failed.add("token.key");
  else if (read.message !== undefined && !keys.some((key) => isSigned(read as Signed, key)))
    failed.add("token.signature");
  if (read.expires !== undefined && read.expires <= Date.parse(now)) failed.add("token.expiry");
  const { claims } = read;
  if (claims !== undefined)
    for (const [name, value] of Object.entries(expected)) {
      const found = claims[isJwt ? (NAMES[name] ?? name) : name];
      const wanted = name === "publicKey" && value.length === 130 ? compressed(value) : value;
      if (found !== wanted) failed.add("token.expected");
    }
  return { verdict: failed.size === 0 ? "verified" : "rejected", failed: [...failed].sort() };
}

interface Signed {
  readonly message: Buffer;
  readonly signature: Buffer;
  readonly encoding: "ieee-p1363" | "der";
}

interface Read extends Partial<Signed> {
  readonly claims?: Json;
  readonly expires?: number;
  readonly names?: string;
}

function readJwt(kind: string, token: string): Read {
  const parts = token.split(".");
  const bytes = parts.map((part) => {
    const decoded = Buffer.from(part, "base64url");
    return decoded.toString("base64url") === part ? decoded : null;
  });
  if (parts.length !== 3) return {};
  const covered = Buffer.from(`${parts[0]}.${parts[1]}`);
  const message = kind === "session" ? createHash("sha256").update(covered).digest() : covered;
  const signature = bytes[2]?.length === 64 ? bytes[2] : undefined;
  const signed = signature === undefined ? {} : { message, signature, encoding: "ieee-p1363" as const };
  const [header, claims] = [bytes[0] && strictObject(bytes[0]), bytes[1] && strictObject(bytes[1])];
  const isHeader = header && JSON.stringify(Object.entries(header).sort()) === '[["alg","ES256"],["typ","JWT"]]';
  const { exp } = claims ?? {};
  const isNumber = kind === "session" ? Number.isInteger(exp) : typeof exp === "string" && /^[1-9][0-9]*$/.test(exp);
  const expires = kind === "session" ? Number(exp) * 1000 : Number(exp);
  const isTime = isNumber && expires > 0 && expires <= LATEST_MS;
  const isWhole = claims && hasMembers(kind, claims) && isTime;
  return { ...signed, ...(isWhole && { expires }), ...(isWhole && isHeader && signature && { claims }) };
}

function readBundle(kind: string, token: string): Read {
  const bundle = strictObject(Buffer.from(token));
  if (bundle === null) return {};
  const { version = "v1.0.0", data, dataSignature, enclaveQuorumPublic, ...others } = bundle;
  const isForm = version === "v1.0.0" && Object.keys(others).length === 0 && POINT.test(String(enclaveQuorumPublic));
  if (!isForm) return {};
  const names = String(enclaveQuorumPublic).toLowerCase();
  const [message, signature] = [fromHex(data), fromHex(dataSignature)];
  const isDer = signature !== null && signature[0] === 0x30 && signature[1] === signature.length - 2;
  const signed = message !== null && isDer ? { message, signature, encoding: "der" as const } : {};
  const claims = message && strictObject(message);
  const known = [...Object.keys(MEMBERS[kind]!), ...(kind === "otp-target" ? ["organizationId"] : [])];
  const isExact = claims && hasMembers(kind, claims) && Object.keys(claims).every((name) => known.includes(name));
  return { names, ...signed, ...(isExact && isDer && { claims }) };
}

function hasMembers(kind: string, claims: Json): boolean {
  return Object.entries(MEMBERS[kind]!).every(([name, form]) => {
    const value = claims[name];
    return typeof value === "string" && form.test(value) && (!KEYS.includes(form) || keyOf(value) !== null);
  });
}

function isSigned({ message, signature, encoding }: Signed, key: string): boolean {
  return verify("sha256", message, { key: keyOf(key)!, dsaEncoding: encoding }, signature);
}

function keyOf(point: string): ReturnType<typeof createPublicKey> | null {
  const [whole, bits] = point.length === 130 ? ["59", "4200"] : ["39", "2200"];
  const spki = `30${whole}301306072a8648ce3d020106082a8648ce3d03010703${bits}${point}`;
  try {
    return createPublicKey({ key: Buffer.from(spki, "hex"), format: "der", type: "spki" });
  } catch {
    return null;
  }
}

function compressed(key: string): string {
  return `0${2 + (parseInt(key.at(-1)!, 16) & 1)}${key.slice(2, 66)}`.toLowerCase();
}

function fromHex(value: unknown): Buffer | null {
  return typeof value === "string" && /^(?:[0-9a-f]{2})*$/i.test(value) ? Buffer.from(value, "hex") : null;
}

/** An object of JSON without a member twice. The cases have no members inside members that are twice. */
function strictObject(bytes: Buffer): Json | null {
  let value: unknown;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const names = [...text.matchAll(/[{,]\s*"([^"]*)"\s*:/g)].map(([, name]) => name);
  return new Set(names).size === names.length ? (value as Json) : null;
}
