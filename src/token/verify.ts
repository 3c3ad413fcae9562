/** Verifies session tokens, OTP verification tokens and signed bundles under the quorum keys that a policy pins. */
import { appraiseCurrent } from "../appraise/appraise.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { equalBytes, fromHex, toHex } from "../bytes.js";
import { Checklist, checksOf } from "../checks.js";
import { date, options as optionsShape, required, typedOptions } from "../decode/options.js";
import { type MembersOf, type Shape, count, demand, hex, nonEmptyText, optional, simple } from "../decode/shapes.js";
import { withAdvice } from "../report/conclude.js";
import { type Report, signedClaims } from "../report/report.js";
import { ANY_POLICY, isSigned, policyInForce } from "../signed-policy/in-force.js";
import type { SignedPolicy } from "../signed-policy/open.js";
import { sha256 } from "../verify/digest.js";
import { importPoint } from "../verify/ecdsa.js";
import { organizationCauses } from "../verify/contradictions.js";
import { TOOL } from "../version.js";
import { type ClaimsOf, type DecodedToken, SIGNED_KINDS, KIND_NAMES, type TokenKind, decodeToken } from "./decode.js";
import { type TokenKey, noKeyText, tokenKeys } from "./keys.js";

/** In place of an organization's id: every organization counts. */
export const ANY_ORGANIZATION = Symbol("any organization");
/** In place of a user's id: every user counts. */
export const ANY_USER = Symbol("any user");

/** What the caller expects of a token. Ids are compared exactly, and keys as bytes. */
export interface ExpectedToken {
  readonly organizationId: string | typeof ANY_ORGANIZATION;
  readonly userId?: string;
  /** Hex of a P-256 key, compressed (33 bytes) or not (65 bytes). */
  readonly publicKey?: string;
}

export interface ExpectedSession extends ExpectedToken {
  /** Such as `SESSION_TYPE_READ_WRITE`. */
  readonly sessionType?: string;
}

export interface ExpectedOtp extends Omit<ExpectedToken, "userId"> {
  readonly contact?: string;
  readonly verificationType?: string;
}

/** A kind that does not bind an id needs the symbol in its place. */
export interface ExpectedBundle {
  readonly organizationId: string | typeof ANY_ORGANIZATION;
  readonly userId: string | typeof ANY_USER;
}

export interface TokenOptions<Expected> {
  /** The policy that `parsePolicy` returns, or the signed one of `openSignedPolicy`. */
  readonly policy: Policy | SignedPolicy;
  readonly now: Date;
  readonly expected: Expected;
  /** The namespace whose quorum key signs. Default: that of the kind, such as `prod/notarizer`. */
  readonly namespace?: string;
}

interface WithTolerance {
  /** Milliseconds that clocks may differ: a token is still accepted for so long. Default: 0. */
  readonly toleranceMs?: number;
}

export type SessionTokenOptions = TokenOptions<ExpectedSession> & WithTolerance;
export type OtpTokenOptions = TokenOptions<ExpectedOtp> & WithTolerance;
type BundleKind = Exclude<TokenKind, "session" | "otp">;
export type SignedBundleOptions<K extends BundleKind> = TokenOptions<ExpectedBundle> & { readonly kind: K };

interface TokenFacts extends Pick<
  Report,
  "tool" | "policy" | "policyDigest" | "signedPolicy" | "verifiedAt" | "checks"
> {
  readonly format: "bootproof-token/1";
  readonly kind: TokenKind;
  /** The namespace whose quorum key has to sign. */
  readonly namespace: string;
  /** The deployment of the policy whose quorum key signed, or null. */
  readonly deployment: string | null;
  /** Signed members that this package does not interpret. */
  readonly notInterpreted: readonly string[];
  /** Sentences on what is not proven. */
  readonly unproven: readonly string[];
}

/** The report of a token: its claims are verified, and null if a check failed. */
export type TokenReport<Claims> = TokenFacts &
  ({ readonly verdict: "verified"; readonly claims: Claims } | { readonly verdict: "rejected"; readonly claims: null });

const idOr = <S extends symbol>(any: S, name: string): Shape<string | S> => {
  const isId = (value: unknown): value is string | S => value === any || (typeof value === "string" && value !== "");
  return simple(`an id that is not empty, or ${name}`, isId);
};
const organization = /* @__PURE__ */ idOr(ANY_ORGANIZATION, "ANY_ORGANIZATION");
const COMMON = { policy: required(ANY_POLICY), now: date, namespace: demand(nonEmptyText) };
const SESSION: MembersOf<ExpectedSession> = {
  organizationId: organization,
  userId: demand(nonEmptyText),
  publicKey: demand(hex(33, 65)),
  sessionType: demand(nonEmptyText),
};
const OTP: MembersOf<ExpectedOtp> = {
  organizationId: organization,
  publicKey: demand(hex(33, 65)),
  contact: demand(nonEmptyText),
  verificationType: demand(nonEmptyText),
};
const BUNDLE: MembersOf<ExpectedBundle> = {
  organizationId: organization,
  userId: /* @__PURE__ */ idOr(ANY_USER, "ANY_USER"),
};

/**
 * Verifies a session token, which a backend gets as a bearer token. A fault of the token is in the report and never
 * thrown. The check of the signature is not RFC 7518's, and no other JWT library makes it (token/README.md, "Formats").
 * Throws TypeError for invalid options.
 * @example
 * ```ts
 * const report = await verifySessionToken(token, { policy, now: new Date(), expected: { organizationId } });
 * if (report.verdict !== "verified") throw new Error("not a session of this organization");
 * console.log(report.claims.userId, report.claims.publicKey);
 * ```
 */
export async function verifySessionToken(
  token: string,
  given: SessionTokenOptions,
): Promise<TokenReport<ClaimsOf["session"]>> {
  const shapes = { ...COMMON, expected: optionsShape(SESSION), toleranceMs: optional(count) };
  const options = typedOptions<SessionTokenOptions>("options", given, shapes);
  const { userId, sessionType, publicKey } = options.expected;
  return verified("session", token, options, { userId, sessionType, publicKey });
}

/** Verifies the token that proves a verified one-time password. As {@link verifySessionToken}, with its own claims. */
export async function verifyOtpToken(token: string, given: OtpTokenOptions): Promise<TokenReport<ClaimsOf["otp"]>> {
  const shapes = { ...COMMON, expected: optionsShape(OTP), toleranceMs: optional(count) };
  const options = typedOptions<OtpTokenOptions>("options", given, shapes);
  const { contact, verificationType, publicKey } = options.expected;
  return verified("otp", token, options, { contact, verificationType, publicKey });
}

/**
 * Verifies a bundle that says to which key a secret is encrypted, or that carries an exported one. It has no time. The
 * caller names the kind, since bundles of two kinds look alike. Throws TypeError for invalid options.
 */
export async function verifySignedBundle<K extends BundleKind>(
  bundle: string,
  given: SignedBundleOptions<K>,
): Promise<TokenReport<ClaimsOf[K]>> {
  const kind = { read: (value: unknown, place: { fault(text: string): undefined }) => bundleKind<K>(value, place) };
  const shapes = { ...COMMON, kind, expected: optionsShape(BUNDLE) } as MembersOf<SignedBundleOptions<K>>;
  const options = typedOptions<SignedBundleOptions<K>>("options", given, shapes);
  return verified(options.kind, bundle, options, { userId: options.expected.userId });
}

function bundleKind<K extends BundleKind>(value: unknown, place: { fault(text: string): undefined }): K {
  const kinds = KIND_NAMES.filter((name) => SIGNED_KINDS[name].form === "bundle");
  return (kinds as readonly unknown[]).includes(value)
    ? (value as K)
    : place.fault(`expected one of ${kinds.join(", ")}`)!;
}

type Wanted = Readonly<Record<string, string | symbol | undefined>>;

async function verified<K extends TokenKind>(
  kind: K,
  given: unknown,
  options: TokenOptions<Pick<ExpectedToken, "organizationId">> & WithTolerance,
  beside: Wanted,
): Promise<TokenReport<ClaimsOf[K]>> {
  const { policy: source, now, toleranceMs = 0, namespace = SIGNED_KINDS[kind].namespace, expected } = options;
  if (!isSigned(source) && !ParsedPolicy.is(source)) throw new TypeError(`options.policy: expected ${ANY_POLICY}`);
  const policy = (await policyInForce(source)) as ParsedPolicy;
  const [checks, ofPolicy] = [new Checklist("token"), new Checklist("policy")];
  appraiseCurrent(policy.signed, now, ofPolicy);
  const decoded = await decodeToken(kind, given);
  checks.conclude("token.decode", [...decoded.faults, ...(await otherKind(kind, decoded, given))]);
  const signer = await checkSigner(policy, namespace, decoded, checks);
  checkExpiry(decoded, now, toleranceMs, checks);
  const { organizationId } = expected;
  checkExpected(decoded, { organizationId, ...beside }, checks);
  checks.skipRest(checksOf("token"), "the token could not be decoded");
  const all = await withAdvice([...checks.list(), ...ofPolicy.list()]);
  const bytes = policy.bytes();
  const isGood = all.every(({ status }) => status !== "fail");
  const facts: TokenFacts = {
    format: "bootproof-token/1",
    tool: TOOL,
    kind,
    policy: policy.name,
    policyDigest: bytes && toHex(await sha256(bytes)),
    ...(policy.signed && { signedPolicy: signedClaims(policy.signed) }),
    verifiedAt: now.toISOString(),
    namespace,
    deployment: isGood ? signer!.deployment : null,
    checks: all,
    notInterpreted: decoded.notInterpreted,
    unproven: unprovenOf(kind, namespace, organizationId),
  };
  const end = isGood
    ? ({ verdict: "verified", claims: decoded.claims! } as const)
    : ({ verdict: "rejected", claims: null } as const);
  return Object.freeze({ ...facts, ...end });
}

/** Returns a sentence that names the kind of the caller's token, if it is a well-formed one of another kind. */
async function otherKind(
  kind: TokenKind,
  { faults }: { readonly faults: readonly string[] },
  given: unknown,
): Promise<string[]> {
  if (faults.length === 0) return [];
  for (const name of KIND_NAMES)
    if (name !== kind && (await decodeToken(name, given)).faults.length === 0)
      return [`it has the form of another kind: ${SIGNED_KINDS[name].title} (${name})`];
  return [];
}

/** Checks that a pinned key signed, and returns it. */
async function checkSigner(
  policy: Policy,
  namespace: string,
  { signed, namedKey }: DecodedToken<TokenKind>,
  checks: Checklist,
): Promise<TokenKey | null> {
  const keys = keysToTry(policy, namespace, namedKey, checks);
  if (keys.length === 0) checks.skip("token.signature", "the policy pins no key that may sign it");
  if (signed === null || keys.length === 0) return null;
  const valid: TokenKey[] = [];
  for (const key of keys) {
    const imported = await importPoint("P-256", fromHex(key.point)!);
    if (imported !== null && (await imported.verify(signed.message, signed.signature))) valid.push(key);
  }
  const [signer = null] = [...valid.filter(({ weakness }) => weakness === null), ...valid];
  if (signer === null) checks.fail("token.signature", `no quorum key that the policy pins for ${namespace} signed it`);
  else checks.pass("token.signature", `signed by the quorum key that deployment ${signer.deployment} pins`);
  const { weakness, deployment } = signer ?? keys[0]!;
  if (weakness !== null) checks.warn("token.key", weakness);
  else checks.pass("token.key", `deployment ${deployment} pins the quorum key of ${namespace}`);
  return signer;
}

/** Returns the keys of the policy that may have signed. Records a failure if there are none. */
function keysToTry(policy: Policy, namespace: string, namedKey: string | null, checks: Checklist): TokenKey[] {
  const pinned = tokenKeys(policy, namespace);
  const usable = pinned.filter(({ isPublic }) => !isPublic);
  const named = usable.filter(({ point }) => namedKey === null || point === namedKey);
  if (pinned.length === 0) checks.fail("token.key", noKeyText(policy, namespace));
  else if (usable.length === 0)
    checks.fail(
      "token.key",
      `anybody can sign: the secret of the quorum key that the policy pins for ${namespace} is public`,
      { causes: ["public-secret"] },
    );
  else if (named.length === 0)
    checks.fail("token.key", `the bundle names another key than those that the policy pins for ${namespace}`, {
      expected: usable.map(({ point }) => point).join(" or "),
      actual: namedKey!,
      causes: ["other-quorum-key"],
    });
  return named;
}

function checkExpiry(
  { expires, faults }: DecodedToken<TokenKind>,
  now: Date,
  toleranceMs: number,
  checks: Checklist,
): void {
  if (expires === null) {
    if (faults.length === 0) checks.skip("token.expiry", "a bundle has no time: it may be of any age");
    return;
  }
  const until = new Date(expires).toISOString();
  if (expires > now.getTime() - toleranceMs) checks.pass("token.expiry", `valid until ${until}`);
  else
    checks.fail("token.expiry", `it expired at ${until}`, {
      expected: `a time after ${new Date(now.getTime() - toleranceMs).toISOString()}`,
      actual: until,
    });
}

/** Compares what the caller expects. A value that the kind does not bind is a failure. */
function checkExpected({ claims }: DecodedToken<TokenKind>, wanted: Wanted, checks: Checklist): void {
  if (claims === null) return;
  const found = claims as unknown as Readonly<Record<string, string | null | undefined>>;
  const asked = Object.entries(wanted).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const isSame = (name: string, value: string): boolean =>
    name === "publicKey" ? equalBytes(compressedKey(value), fromHex(found[name]!)!) : found[name] === value;
  const reasons = asked
    .filter(([name, value]) => !isSame(name, value))
    .map(([name, value]) => `${name} is ${found[name] ?? "not in it"}, expected ${value}`);
  if (asked.length === 0) checks.skip("token.expected", "nothing is expected of it: every organization counts");
  else {
    const organizations = [Object.fromEntries(asked)["organizationId"], found["organizationId"]] as const;
    const causes = organizationCauses("token.expected", organizations, reasons);
    checks.conclude("token.expected", reasons, `as expected: ${asked.map(([name]) => name).join(", ")}`, { causes });
  }
}

/** Returns the compressed form (SEC1 section 2.3.3) of an uncompressed key, and any other bytes as they are. */
function compressedKey(key: string): Uint8Array {
  const bytes = fromHex(key)!;
  return bytes.length === 65 && bytes[0] === 4 ? Uint8Array.of(2 + (bytes[64]! & 1), ...bytes.subarray(1, 33)) : bytes;
}

function unprovenOf(kind: TokenKind, namespace: string, organizationId: string | symbol): string[] {
  const isBundle = SIGNED_KINDS[kind].form === "bundle";
  return [
    `That an enclave signed it is not proven: shares of the quorum key of ${namespace} can be put together elsewhere.`,
    isBundle
      ? "When it was made is not proven: a bundle has no time."
      : "That it was not revoked is not proven: revocation is not visible in a token.",
    ...(organizationId === ANY_ORGANIZATION ? ["That its organization is yours is not proven: you accept any."] : []),
  ];
}
