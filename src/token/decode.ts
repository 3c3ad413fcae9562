/** Strict decoding of tokens and signed bundles (token/README.md, "Formats"). Nothing here verifies a signature. */
import { fromBase64Url, fromHex, toUtf8 } from "../bytes.js";
import { MAX_TIME_MS } from "../decode/decimal-time.js";
import { rawSignature } from "../decode/ecdsa-signature.js";
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import {
  type ObjectShape,
  type Shape,
  hex,
  nonEmptyText,
  object,
  oneOf,
  optional,
  readShape,
  refined,
  simple,
  text,
} from "../decode/shapes.js";
import { attempt, faultText } from "../errors.js";
import { isCompressedP256Point, isP256Point } from "../verify/ecdsa.js";
import { sha256 } from "../verify/digest.js";

/** Maximum characters. Genuine tokens and bundles have fewer than 2,000. */
const MAX_LENGTH = 65_536;

interface SessionClaims {
  readonly organizationId: string;
  readonly userId: string;
  readonly sessionType: string;
  /** Compressed P-256 key (33 bytes) in lower-case hex, as everywhere here. */
  readonly publicKey: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

interface OtpClaims {
  readonly id: string;
  readonly verificationType: string;
  readonly contact: string;
  readonly organizationId: string;
  readonly publicKey: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

interface ImportClaims {
  readonly organizationId: string;
  readonly userId: string;
  /** Uncompressed P-256 key (65 bytes) to which the secret is encrypted, in lower-case hex. */
  readonly targetPublic: string;
}

interface ExportClaims {
  readonly organizationId: string;
  readonly encappedPublic: string;
  readonly ciphertext: string;
}

interface OtpTargetClaims {
  /** Absent if the bundle names none. */
  readonly organizationId?: string;
  readonly targetPublic: string;
}

/** The verified claims of each kind. */
export interface ClaimsOf {
  readonly session: SessionClaims;
  readonly otp: OtpClaims;
  readonly import: ImportClaims;
  readonly export: ExportClaims;
  readonly "otp-target": OtpTargetClaims;
}
export type TokenKind = keyof ClaimsOf;

export interface DecodedToken<K extends TokenKind> {
  /** Sentences. A token with faults has no claims, but its signature may be readable. */
  readonly faults: readonly string[];
  readonly claims: ClaimsOf[K] | null;
  /** Milliseconds since the epoch, or null for a bundle. */
  readonly expires: number | null;
  /** Names of members that were signed, and that this package does not interpret. */
  readonly notInterpreted: readonly string[];
  /** What ECDSA hashes and verifies, with the signature as `r ‖ s`. Null if it cannot be read. */
  readonly signed: { readonly message: Uint8Array; readonly signature: Uint8Array } | null;
  /** The signing key that a bundle names, in lower-case hex. Null for a token, which names none. */
  readonly namedKey: string | null;
}

const point: Shape<string> = /* @__PURE__ */ refined(/* @__PURE__ */ hex(P256_POINT_LENGTH), (read, place) =>
  isP256Point(fromHex(read)!) ? read : place.fault("expected an uncompressed point of P-256"),
);
const compressed: Shape<string> = /* @__PURE__ */ refined(/* @__PURE__ */ hex(33), (read, place) =>
  isCompressedP256Point(fromHex(read)!)
    ? read
    : place.fault("expected a compressed P-256 key: 02 or 03, and the x of a point of P-256"),
);
const isTime = (ms: number): boolean => Number.isSafeInteger(ms) && ms > 0 && ms <= MAX_TIME_MS;
const seconds = /* @__PURE__ */ simple(
  "a positive whole number of seconds",
  (value): value is number => typeof value === "number" && Number.isInteger(value) && isTime(1000 * value),
);
const decimalMs = /* @__PURE__ */ simple(
  "a positive decimal number of milliseconds, as a string",
  (value): value is string => typeof value === "string" && /^[1-9][0-9]*$/.test(value) && isTime(Number(value)),
);

const SESSION = {
  public_key: compressed,
  session_type: nonEmptyText,
  user_id: nonEmptyText,
  organization_id: nonEmptyText,
};
const OTP = {
  id: nonEmptyText,
  verification_type: nonEmptyText,
  contact: nonEmptyText,
  organization_id: nonEmptyText,
  public_key: compressed,
};
const IMPORT = { organizationId: nonEmptyText, userId: nonEmptyText, targetPublic: point };
const EXPORT = {
  organizationId: nonEmptyText,
  encappedPublic: point,
  ciphertext: /* @__PURE__ */ hex(1, MAX_LENGTH / 2),
};
const OTP_TARGET = { targetPublic: point, organizationId: /* @__PURE__ */ optional(nonEmptyText) };
const OPEN = { unknown: "ignore" } as const;

interface Kind {
  /** The namespace whose quorum key signs. */
  readonly namespace: string;
  readonly title: string;
  readonly form: "session token" | "token" | "bundle";
  readonly shape: ObjectShape<object>;
}

/** Every kind. The caller names it: evidence never chooses what it is compared with. */
export const SIGNED_KINDS: Readonly<Record<TokenKind, Kind>> = {
  session: {
    namespace: "prod/notarizer",
    title: "session token",
    form: "session token",
    shape: /* @__PURE__ */ object({ exp: seconds, ...SESSION }, OPEN),
  },
  otp: {
    namespace: "prod/tls-fetcher",
    title: "OTP verification token",
    form: "token",
    shape: /* @__PURE__ */ object({ exp: decimalMs, ...OTP }, OPEN),
  },
  import: {
    namespace: "prod/signer",
    title: "import bundle",
    form: "bundle",
    shape: /* @__PURE__ */ object(IMPORT),
  },
  export: {
    namespace: "prod/signer",
    title: "export bundle",
    form: "bundle",
    shape: /* @__PURE__ */ object(EXPORT),
  },
  "otp-target": {
    namespace: "prod/tls-fetcher",
    title: "encryption target of a one-time password",
    form: "bundle",
    shape: /* @__PURE__ */ object(OTP_TARGET),
  },
};

export const KIND_NAMES = /* @__PURE__ */ Object.keys(SIGNED_KINDS) as readonly TokenKind[];

/** Decodes a token or bundle of this kind. A value that is not a string, or too long, is a fault as any other. */
export async function decodeToken<K extends TokenKind>(name: K, given: unknown): Promise<DecodedToken<K>> {
  const kind = SIGNED_KINDS[name];
  if (typeof given !== "string") return faulty("expected a string");
  if (given.length > MAX_LENGTH) return faulty(`longer than ${MAX_LENGTH} characters`);
  return kind.form === "bundle" ? decodeBundle(kind, given) : decodeJwt(kind, given);
}

function faulty(fault: string): DecodedToken<never> {
  return { faults: [fault], claims: null, expires: null, notInterpreted: [], signed: null, namedKey: null };
}

const HEADER = /* @__PURE__ */ object({ alg: /* @__PURE__ */ oneOf("ES256"), typ: /* @__PURE__ */ oneOf("JWT") });

async function decodeJwt<K extends TokenKind>(kind: Kind, given: string): Promise<DecodedToken<K>> {
  const texts = given.split(".");
  if (texts.length !== 3) return faulty(`expected three parts with two dots between, got ${texts.length}`);
  const parts = texts.map(fromBase64Url);
  const names = ["header", "payload", "signature"].filter((_, index) => parts[index] === null);
  const faults = names.map((name) => `the ${name} is not base64url without padding`);
  const [header, payload, signature = null] = parts;
  if (header) faults.push(...readText("header", header, HEADER).faults);
  const read = payload ? readText("payload", payload, kind.shape) : { value: undefined, faults: [] };
  faults.push(...read.faults);
  if (signature !== null && signature.length !== 64)
    faults.push(`the signature has ${signature.length} bytes, expected 64`);
  const covered = toUtf8(`${texts[0]}.${texts[1]}`);
  // A session token is signed over the digest of the digest, which no JWT library verifies.
  const message = kind.form === "session token" ? await sha256(covered) : covered;
  const signed = signature?.length === 64 ? { message, signature } : null;
  return { ...claimsOf(kind, read, faults), signed, namedKey: null };
}

const BUNDLE = /* @__PURE__ */ object({
  version: /* @__PURE__ */ optional(/* @__PURE__ */ oneOf("v1.0.0")),
  data: text,
  dataSignature: text,
  enclaveQuorumPublic: point,
});

function decodeBundle<K extends TokenKind>(kind: Kind, given: string): DecodedToken<K> {
  const bundle = readText("bundle", toUtf8(given), BUNDLE);
  if (bundle.value === undefined) return faulty(bundle.faults.join("; "));
  const { data, dataSignature, enclaveQuorumPublic } = bundle.value;
  const [message, der] = [fromHex(data), fromHex(dataSignature)];
  const signature = der && rawSignature(der, 32);
  const faults = [
    ...(message === null ? ["data is not hex"] : []),
    ...(signature === null ? ["dataSignature is not an ECDSA signature in DER, as hex"] : []),
  ];
  const read = message === null ? { value: undefined, faults: [] } : readText("data", message, kind.shape);
  faults.push(...read.faults);
  const signed = message !== null && signature !== null ? { message, signature } : null;
  return { ...claimsOf(kind, read, faults), signed, namedKey: enclaveQuorumPublic };
}

/** Reads strict JSON. Faults are sentences that begin with the name of the part. */
function readText<T>(name: string, bytes: Uint8Array, shape: Shape<T>): Read<T> {
  const json = attempt(() => parseJson(bytes));
  if (json.value === undefined)
    return { value: undefined, faults: [`the ${name} is not strict JSON: ${faultText(json.faults)}`] };
  const read = readShape(shape, json.value);
  const faults = read.faults.map(({ path, message }) => `the ${name}${path === "" ? "" : `'s ${path}`}: ${message}`);
  return { value: read.value, faults, json: json.value as JsonObject };
}

interface Read<T> {
  readonly value: T | undefined;
  readonly faults: readonly string[];
  readonly json?: JsonObject;
}

function claimsOf<K extends TokenKind>(
  { shape }: Kind,
  { value, json }: Read<object>,
  faults: readonly string[],
): Pick<DecodedToken<K>, "faults" | "claims" | "expires" | "notInterpreted"> {
  const others = isJsonObject(json) ? Object.keys(json).filter((name) => !Object.hasOwn(shape.members, name)) : [];
  const { exp, ...members } = (value ?? {}) as Readonly<Record<string, string>> & { readonly exp?: number | string };
  const expires = exp === undefined ? null : Number(exp) * (typeof exp === "number" ? 1000 : 1);
  const named = Object.entries(members).map(([name, claim]) => [camelCase(name), claim]);
  const expiresAt = expires === null ? {} : { expiresAt: new Date(expires).toISOString() };
  const claims = faults.length > 0 || value === undefined ? null : { ...Object.fromEntries(named), ...expiresAt };
  return { faults, claims: claims as ClaimsOf[K] | null, expires, notInterpreted: others };
}

/** Returns `organizationId` for `organization_id`. */
function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
