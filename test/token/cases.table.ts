/** Tokens and bundles that must be accepted, or refused by these checks and by no other. */
import { ANY_ORGANIZATION, ANY_USER } from "../../src/token/index.js";
import type { CheckId, Policy } from "../../src/index.js";
import type { TokenKind } from "../../src/token/decode.js";
import { toHex } from "../../src/bytes.js";
import { qosSign } from "../../src/lab/qos.js";
import { signingPoint } from "../../src/verify/qos-key.js";
import { readVectorJson } from "../support/vectors.js";
import {
  BEARER,
  EXPORT_DATA,
  FETCHER,
  GENUINE,
  IMPORT_DATA,
  NOTARIZER,
  NOW,
  ORG,
  OTHER,
  OTP_CLAIMS,
  OTP_TARGET_DATA,
  SESSION_CLAIMS,
  SIGNER,
  USER,
  derOf,
  genuineKey,
  otherS,
  otpToken,
  pinning,
  policyOf,
  sessionToken,
  signedBundle,
} from "./support.js";

export interface TokenCase {
  readonly name: string;
  readonly kind: TokenKind;
  readonly token: unknown;
  readonly fails: readonly CheckId[];
  readonly policy?: Policy;
  readonly expected?: object;
  readonly now?: Date;
}

const seconds = NOW.getTime() / 1000;
const session = (name: string, token: unknown, fails: readonly CheckId[], more: Partial<TokenCase> = {}) =>
  ({ kind: "session", name: `session: ${name}`, token, fails, ...more }) as const;
const otp = (name: string, token: unknown, fails: readonly CheckId[], more: Partial<TokenCase> = {}) =>
  ({ kind: "otp", name: `otp: ${name}`, token, fails, ...more }) as const;
const bundle = (
  kind: TokenKind,
  name: string,
  token: unknown,
  fails: readonly CheckId[],
  more: Partial<TokenCase> = {},
) => ({ kind, name: `${kind}: ${name}`, token, fails, ...more }) as const;

const DECODE = ["token.decode"] as const;
const SIGNATURE = ["token.signature"] as const;
const BOTH = ["token.decode", "token.signature"] as const;
const good = sessionToken();
const [head, body, signature] = good.split(".") as [string, string, string];
const without = (claims: object, name: string): object =>
  Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
const claimed = (claims: object): string => sessionToken({ claims: { ...SESSION_CLAIMS, ...claims } });
const text = JSON.stringify(SESSION_CLAIMS);
const publicKeys = readVectorJson("public-keys.json") as unknown as { readonly quorumKey?: string };
const KNOWN = JSON.stringify(publicKeys).match(/[0-9a-f]{260}/)![0];

const P256_P = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
/** No y belongs to the x 1 (1 - 3 + b is no square). */
const NOT_ON_CURVE = `02${"1".padStart(64, "0")}`;
/** The x 5 is of a point, and so would be this one modulo the prime. */
const BEYOND_PRIME = `03${(BigInt(`0x${P256_P}`) + 5n).toString(16)}`;

export const ATTACKS: readonly TokenCase[] = [
  // Form.
  session("nothing", "", DECODE),
  session("no string", undefined, DECODE),
  session("an object", { token: good }, DECODE),
  session("two parts", `${head}.${body}`, DECODE),
  session("four parts", `${good}.AA`, DECODE),
  session("without its signature", `${head}.${body}.`, DECODE),
  session("padding", `${head}.${body}.${signature}==`, DECODE),
  session("a line break", `${good}\n`, DECODE),
  session("white space before it", ` ${good}`, ["token.decode", "token.signature"]),
  session("as an HTTP header", `Bearer ${good}`, ["token.decode", "token.signature"]),
  session("the standard alphabet", `${head}.${body}.${signature.slice(0, -2)}+/`, DECODE),
  session("bits left over", `${head}.${body}.${signature.slice(0, -1)}${after(signature.at(-1)!)}`, DECODE),
  session("a length that base64 does not have", `${head}.${body}A.${signature}`, BOTH),
  session("longer than any", `${head}.${"A".repeat(70_000)}.${signature}`, DECODE),
  session("a signature of 63 bytes", sessionToken({ sign: (m) => qosSign(NOTARIZER, m).subarray(1) }), DECODE),
  session("a signature of 65 bytes", sessionToken({ sign: (m) => Uint8Array.of(...qosSign(NOTARIZER, m), 0) }), DECODE),
  session("a signature in DER", sessionToken({ sign: (m) => derOf(qosSign(NOTARIZER, m)) }), DECODE),
  // Header.
  session("alg none", sessionToken({ header: '{"alg":"none","typ":"JWT"}' }), DECODE),
  session("alg HS256", sessionToken({ header: '{"alg":"HS256","typ":"JWT"}' }), DECODE),
  session("alg in lower case", sessionToken({ header: '{"alg":"es256","typ":"JWT"}' }), DECODE),
  session("no typ", sessionToken({ header: '{"alg":"ES256"}' }), DECODE),
  session("a kid", sessionToken({ header: '{"alg":"ES256","typ":"JWT","kid":"1"}' }), DECODE),
  session("a jwk", sessionToken({ header: '{"alg":"ES256","typ":"JWT","jwk":{}}' }), DECODE),
  session("alg twice", sessionToken({ header: '{"alg":"none","alg":"ES256","typ":"JWT"}' }), DECODE),
  session("a header that is a list", sessionToken({ header: '["ES256","JWT"]' }), DECODE),
  session("a header that is not JSON", sessionToken({ header: "ES256" }), DECODE),
  // Claims.
  ...Object.keys(SESSION_CLAIMS).flatMap((name) => [
    session(`no ${name}`, sessionToken({ claims: without(SESSION_CLAIMS, name) }), DECODE),
    session(`${name} null`, claimed({ [name]: null }), DECODE),
    session(`${name} an object`, claimed({ [name]: {} }), DECODE),
  ]),
  session("exp as a string", claimed({ exp: String(seconds + 900) }), DECODE),
  session("exp of a fraction", claimed({ exp: seconds + 900.5 }), DECODE),
  session("exp negative", claimed({ exp: -1 }), DECODE),
  session("exp zero", claimed({ exp: 0 }), DECODE),
  session(
    "exp past every date",
    sessionToken({ payload: text.replace(/"exp":\d+/, '"exp":9007199254740991') }),
    DECODE,
  ),
  session("exp of 1e400", sessionToken({ payload: text.replace(/"exp":\d+/, '"exp":1e400') }), DECODE),
  session("exp twice", sessionToken({ payload: text.replace("{", '{"exp":9999999999,') }), DECODE),
  session("organization_id twice", sessionToken({ payload: text.replace("{", '{"organization_id":"x",') }), DECODE),
  session("another claim twice", sessionToken({ payload: text.replace("{", '{"scope":"a","scope":"b",') }), DECODE),
  session("text after the claims", sessionToken({ payload: `${text} ` + "x" }), DECODE),
  session("claims that are not UTF-8", sessionToken({ payload: text }).replace(body, "_w"), BOTH),
  session("an empty user", claimed({ user_id: "" }), DECODE),
  session("a key of another length", claimed({ public_key: SESSION_CLAIMS.public_key.slice(2) }), DECODE),
  session("an uncompressed key", claimed({ public_key: BEARER }), DECODE),
  session("a key with another prefix", claimed({ public_key: `05${SESSION_CLAIMS.public_key.slice(2)}` }), DECODE),
  session("a key that is not on the curve", claimed({ public_key: NOT_ON_CURVE }), DECODE),
  session("a key whose x is the prime", claimed({ public_key: `02${P256_P}` }), DECODE),
  session("a key whose x is beyond the prime", claimed({ public_key: BEYOND_PRIME }), DECODE),
  otp("a key that is not on the curve", otpToken({ claims: { ...OTP_CLAIMS, public_key: NOT_ON_CURVE } }), DECODE),
  // Another kind.
  session("an OTP token", otpToken(), ["token.decode", "token.signature"]),
  session("an OTP token of the notarizer", otpToken({ key: NOTARIZER, rounds: 1 }), DECODE),
  otp("a session token", sessionToken(), ["token.decode", "token.signature"]),
  otp("a session token of the fetcher", sessionToken({ key: FETCHER, rounds: 0 }), DECODE),
  session("an import bundle", signedBundle(), DECODE),
  // Signature.
  session("signed by another", sessionToken({ key: OTHER }), SIGNATURE),
  session("signed by the signer", sessionToken({ key: SIGNER }), SIGNATURE),
  session("signed as RFC 7518 says", sessionToken({ rounds: 0 }), SIGNATURE),
  session("hashed three times", sessionToken({ rounds: 2 }), SIGNATURE),
  otp("hashed twice", otpToken({ rounds: 1 }), SIGNATURE),
  otp("signed by another", otpToken({ key: OTHER }), SIGNATURE),
  otp("signed by the notarizer", otpToken({ key: NOTARIZER }), SIGNATURE),
  session("a signature of zeros", sessionToken({ sign: () => new Uint8Array(64) }), SIGNATURE),
  session("another's claims", `${head}.${claimed({ user_id: "mallory" }).split(".")[1]}.${signature}`, SIGNATURE),
  session(
    "another spelling of the header",
    sessionToken({ header: '{"typ":"JWT","alg":"ES256"}' }).replace(/^[^.]+/, head),
    SIGNATURE,
  ),
  // Time.
  session("expired", claimed({ exp: seconds - 1 }), ["token.expiry"]),
  session("expired this second", claimed({ exp: seconds }), ["token.expiry"]),
  session("milliseconds read as seconds", good, ["token.expiry"], { now: new Date((seconds + 900) * 1000) }),
  otp("expired", otpToken({ claims: { ...OTP_CLAIMS, exp: String(NOW.getTime() - 1) } }), ["token.expiry"]),
  otp("expired this millisecond", otpToken({ claims: { ...OTP_CLAIMS, exp: String(NOW.getTime()) } }), [
    "token.expiry",
  ]),
  otp("exp in seconds", otpToken({ claims: { ...OTP_CLAIMS, exp: String(seconds + 900) } }), ["token.expiry"]),
  otp("exp as a number", otpToken({ claims: { ...OTP_CLAIMS, exp: NOW.getTime() + 1000 } }), DECODE),
  otp("exp past every date", otpToken({ claims: { ...OTP_CLAIMS, exp: "9000000000000000" } }), DECODE),
  otp("exp with zeros before it", otpToken({ claims: { ...OTP_CLAIMS, exp: `0${OTP_CLAIMS.exp}` } }), DECODE),
  otp("exp in hex", otpToken({ claims: { ...OTP_CLAIMS, exp: "0x1d" } }), DECODE),
  ...Object.keys(OTP_CLAIMS).map((name) => otp(`no ${name}`, otpToken({ claims: without(OTP_CLAIMS, name) }), DECODE)),
  // What is expected.
  session("of another organization", good, ["token.expected"], { expected: { organizationId: `${ORG}0` } }),
  session("of an organization in another case", good, ["token.expected"], {
    expected: { organizationId: ORG.toUpperCase() },
  }),
  session("where any is a word that came from somewhere", good, ["token.expected"], {
    expected: { organizationId: "any" },
  }),
  session("of another user", good, ["token.expected"], { expected: { organizationId: ANY_ORGANIZATION, userId: ORG } }),
  session("of another type", good, ["token.expected"], {
    expected: { organizationId: ORG, sessionType: "SESSION_TYPE_READ" },
  }),
  session("of another key", good, ["token.expected"], {
    expected: { organizationId: ORG, publicKey: toHex(signingPoint(SIGNER.publicKey)) },
  }),
  otp("of another contact", otpToken(), ["token.expected"], {
    expected: { organizationId: ORG, contact: "User@example.com" },
  }),
  otp("of another verification", otpToken(), ["token.expected"], {
    expected: { organizationId: ORG, verificationType: "OTP_TYPE_SMS" },
  }),
  // Keys of the policy.
  session("no deployment of the namespace", good, ["token.key"], { policy: policyOf(pinning("prod/signer", SIGNER)) }),
  session("a namespace in another case", good, ["token.key"], {
    policy: policyOf(pinning("prod/Notarizer", NOTARIZER)),
  }),
  session("a deployment of several namespaces", good, ["token.key"], {
    policy: policyOf(pinning(["prod/notarizer", "prod/signer"], NOTARIZER, { name: "both" })),
  }),
  session("a deployment without a quorum key", good, ["token.key"], {
    policy: policyOf({ ...pinning("prod/notarizer", NOTARIZER), quorumKey: undefined }),
  }),
  session("a quorum key whose secret is public", good, ["token.key"], {
    policy: policyOf(pinning("prod/notarizer", KNOWN)),
  }),
  session(
    "the encryption half signed",
    sessionToken({ sign: (m) => qosSign({ ...NOTARIZER, signing: NOTARIZER.encryption }, m) }),
    SIGNATURE,
  ),
  // Bundles.
  bundle("import", "an export bundle", signedBundle({ data: EXPORT_DATA }), DECODE),
  bundle("export", "an import bundle", signedBundle(), DECODE),
  bundle("import", "the target of a one-time password", signedBundle({ data: OTP_TARGET_DATA }), DECODE),
  bundle("otp-target", "an import bundle of the fetcher", signedBundle({ key: FETCHER }), DECODE),
  bundle("otp-target", "one of the signer", signedBundle({ data: OTP_TARGET_DATA }), ["token.key"]),
  bundle("import", "signed by its sender", signedBundle({ key: OTHER }), ["token.key"]),
  bundle(
    "import",
    "that names the pinned key, and is signed by another",
    signedBundle({ key: OTHER, members: { enclaveQuorumPublic: toHex(signingPoint(SIGNER.publicKey)) } }),
    SIGNATURE,
  ),
  bundle(
    "import",
    "other data",
    signedBundle({ members: { data: toHex(Buffer.from(JSON.stringify({ ...IMPORT_DATA, userId: "x" }))) } }),
    SIGNATURE,
    { expected: { organizationId: ORG, userId: ANY_USER } },
  ),
  bundle("import", "one member more", signedBundle({ data: { ...IMPORT_DATA, note: "" } }), DECODE),
  bundle(
    "import",
    "a member twice",
    signedBundle({ dataText: JSON.stringify(IMPORT_DATA).replace("{", '{"userId":"x",') }),
    DECODE,
  ),
  bundle(
    "import",
    "a target that is no point",
    signedBundle({ data: { ...IMPORT_DATA, targetPublic: `04${"01".repeat(64)}` } }),
    DECODE,
  ),
  bundle(
    "import",
    "a compressed target",
    signedBundle({ data: { ...IMPORT_DATA, targetPublic: SESSION_CLAIMS.public_key } }),
    DECODE,
  ),
  bundle("import", "another version", signedBundle({ members: { version: "v2.0.0" } }), DECODE),
  bundle("import", "a member beside", signedBundle({ members: { url: "https://example.com" } }), DECODE),
  bundle("import", "a signature r‖s", signedBundle({ members: { dataSignature: "01".repeat(64) } }), DECODE),
  bundle("import", "data that is not hex", signedBundle({ members: { data: "zz" } }), DECODE),
  bundle("import", "not JSON", "v1.0.0", DECODE),
  bundle("import", "of another organization", signedBundle(), ["token.expected"], {
    expected: { organizationId: USER, userId: USER },
  }),
  bundle("import", "where any is a word that came from somewhere", signedBundle(), ["token.expected"], {
    expected: { organizationId: "any", userId: "any" },
  }),
  bundle("import", "of another user", signedBundle(), ["token.expected"], {
    expected: { organizationId: ORG, userId: ORG },
  }),
  bundle("export", "whose user is expected", signedBundle({ data: EXPORT_DATA }), ["token.expected"], {
    expected: { organizationId: ORG, userId: USER },
  }),
  bundle("export", "of another organization", signedBundle({ data: EXPORT_DATA }), ["token.expected"], {
    expected: { organizationId: USER, userId: ANY_USER },
  }),
  bundle("export", "without its ciphertext", signedBundle({ data: { ...EXPORT_DATA, ciphertext: "" } }), DECODE),
  bundle(
    "otp-target",
    "whose organization is expected",
    signedBundle({ data: OTP_TARGET_DATA, key: FETCHER }),
    ["token.expected"],
    { expected: { organizationId: ORG, userId: ANY_USER } },
  ),
];

/** The last character of base64url with another bit that is left over. */
function after(char: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return alphabet[alphabet.indexOf(char) ^ 1]!;
}

const genuine = policyOf(
  pinning(GENUINE.session.signedBy, genuineKey(GENUINE.session)),
  pinning(GENUINE.otp.signedBy, genuineKey(GENUINE.otp)),
);
const ANY = { expected: { organizationId: ANY_ORGANIZATION } };

/** The genuine tokens, and variants of good ones. */
export const ACCEPTED: readonly TokenCase[] = [
  session("genuine", GENUINE.session.token, [], { policy: genuine, now: new Date("2025-06-02T15:07:16.999Z"), ...ANY }),
  otp("genuine", GENUINE.otp.token, [], { policy: genuine, now: new Date("2026-07-01T15:27:31.260Z"), ...ANY }),
  session("good", good, []),
  session("of an organization whose name is any", claimed({ organization_id: "any" }), [], {
    expected: { organizationId: "any" },
  }),
  session("of the expected user, type and key", good, [], {
    expected: { organizationId: ORG, userId: USER, sessionType: "SESSION_TYPE_READ_WRITE", publicKey: BEARER },
  }),
  session("a high s", sessionToken({ sign: (message) => otherS(qosSign(NOTARIZER, message)) }), []),
  session("other claims", claimed({ scope: "a", session_profile_id: "p" }), []),
  session("the other order of the header", sessionToken({ header: '{"typ":"JWT","alg":"ES256"}' }), []),
  session("one of several keys", good, [], {
    policy: policyOf(pinning("prod/notarizer", [toHex(OTHER.publicKey), toHex(NOTARIZER.publicKey)])),
  }),
  session("the second deployment", good, [], {
    policy: policyOf(pinning("prod/notarizer", OTHER, { name: "old" }), pinning("prod/notarizer", NOTARIZER)),
  }),
  otp("good", otpToken(), []),
  bundle("import", "good", signedBundle(), []),
  bundle("import", "without a version", signedBundle({ members: { version: undefined } }), []),
  bundle("export", "good", signedBundle({ data: EXPORT_DATA }), []),
  bundle("otp-target", "good", signedBundle({ data: OTP_TARGET_DATA, key: FETCHER }), []),
];
