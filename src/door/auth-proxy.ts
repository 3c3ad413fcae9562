/** Requests to the auth proxy, and what their answers are compared with (door/README.md, "The auth proxy"). */
import { type AddressDerivationProof, readAppProof, readAppProofPayloadText } from "../decode/app-proof.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import {
  type Shape,
  anything,
  either,
  hex,
  list,
  nonEmptyText,
  nullish,
  object,
  readShape,
  text,
} from "../decode/shapes.js";
import { faultText, shownName } from "../errors.js";
import { coverageOf } from "../verify/addresses.js";

/** A sign-up, which makes an organization and perhaps a wallet. */
export interface SignUpQuestion {
  readonly kind: "sign-up";
  readonly operation: string;
  /** The wallet as requested, or null if none is. */
  readonly wallet: JsonObject | null;
  /** Number of accounts that are requested. Without accounts, nothing of the answer can be proven. */
  readonly accounts: number;
}

/** A request whose answer has a signed token or bundle. */
export interface TokenQuestion {
  readonly kind: "token";
  readonly operation: string;
  readonly token: "session" | "otp" | "otp-target";
  /** The members of the answer that are handed on. The first one is the token. */
  readonly members: readonly [string, ...string[]];
  /** The organization that the request names, or null. */
  readonly organizationId: string | null;
  /** The key that the request names, or null. */
  readonly publicKey: string | null;
  /** Whether the token of the answer would bind no key, because the request may name one and does not. */
  readonly lacksKey: boolean;
}

/** A request whose answer has nothing that can be verified. `unknown` is one that the caller allows by its name. */
interface OtherAuthQuestion {
  readonly kind: "unverified" | "unknown";
  readonly operation: string;
}

export type AuthQuestion = SignUpQuestion | TokenQuestion | OtherAuthQuestion;

interface TokenRule extends Pick<TokenQuestion, "token" | "members"> {
  /** Whether the request names the key that the token binds. */
  readonly names: "a key" | "perhaps a key" | "no key";
}

const SESSION: TokenRule = { token: "session", members: ["session"], names: "a key" };
const OTP = { token: "otp", members: ["verificationToken"] } as const;

/** Every operation of the auth proxy. Others are not sent, unless they are allowed as unproven. */
const OPERATIONS = {
  signup: "sign-up",
  signup_v2: "sign-up",
  oauth_login: SESSION,
  otp_login: SESSION,
  otp_login_v2: SESSION,
  otp_verify: { ...OTP, names: "perhaps a key" },
  otp_verify_v2: { ...OTP, names: "no key" },
  otp_init_v2: { token: "otp-target", members: ["otpEncryptionTargetBundle", "otpId"], names: "no key" },
  otp_init: "unverified",
  account: "unverified",
  oauth2_authenticate: "unverified",
  wallet_kit_client_params: "unverified",
  wallet_kit_config: "unverified",
} as const satisfies Readonly<Record<string, "sign-up" | "unverified" | TokenRule>>;

export type AuthProxyOperation = keyof typeof OPERATIONS;

export function isAuthOperation(name: string): name is AuthProxyOperation {
  return Object.hasOwn(OPERATIONS, name);
}

const IGNORED = { unknown: "ignore" } as const;
const WALLET = object({ accounts: list(object({ path: nonEmptyText }, IGNORED), 0, MAX_APP_PROOFS) }, IGNORED);
const SIGN_UP = object({ wallet: nullish(WALLET) }, IGNORED);
const KEY: Shape<string> = either(hex(33), hex(65), "a P-256 key in hex, compressed (33 bytes) or not (65 bytes)");
const NAMED = {
  "a key": object({ organizationId: nullish(nonEmptyText), publicKey: KEY }, IGNORED),
  "perhaps a key": object({ publicKey: nullish(KEY) }, IGNORED),
  "no key": object({}, IGNORED),
} as const satisfies Record<TokenRule["names"], unknown>;

/** Returns the question of a request, or its fault. `body` is undefined if it is not strict JSON. */
export function authQuestionOf(
  operation: string,
  body: JsonValue | undefined,
  isAllowed: boolean,
): AuthQuestion | string {
  const rule: "sign-up" | "unverified" | TokenRule | undefined = isAuthOperation(operation)
    ? OPERATIONS[operation]
    : undefined;
  if (rule === undefined && !isAllowed) return `the auth proxy has no such operation; got ${shownName(operation)}`;
  if (rule === undefined || rule === "unverified") return { kind: rule ?? "unknown", operation };
  return rule === "sign-up" ? signUpQuestion(operation, body) : tokenQuestion(operation, rule, body);
}

function signUpQuestion(operation: string, body: JsonValue | undefined): SignUpQuestion | string {
  const { value, faults } = readShape(SIGN_UP, body);
  if (value === undefined) return faultText(faults);
  const wallet = (body as JsonObject)["wallet"];
  return {
    kind: "sign-up",
    operation,
    wallet: isJsonObject(wallet) ? wallet : null,
    accounts: value.wallet?.accounts.length ?? 0,
  };
}

function tokenQuestion(
  operation: string,
  { token, members, names }: TokenRule,
  body: JsonValue | undefined,
): TokenQuestion | string {
  const shape: Shape<{ organizationId?: string | null | undefined; publicKey?: string | null | undefined }> =
    NAMED[names];
  const { value, faults } = readShape(shape, body);
  if (value === undefined) return faultText(faults);
  const { organizationId = null, publicKey = null } = value;
  const lacksKey = names === "perhaps a key" && publicKey === null;
  return { kind: "token", operation, token, members, organizationId, publicKey, lacksKey };
}

const RESULT = object(
  {
    organizationId: nonEmptyText,
    // JSON of Protobuf writes what is missing as empty.
    wallet: nullish(object({ walletId: text, addresses: list(nonEmptyText, 0, MAX_APP_PROOFS) }, IGNORED)),
    userId: nullish(text),
    appProofs: nullish(list(anything as Shape<JsonValue>, 0, MAX_APP_PROOFS)),
  },
  IGNORED,
);

/** An answer to a sign-up, of which nothing is verified. */
export interface SignUpAnswer {
  readonly organizationId: string;
  readonly wallet: { readonly walletId: string; readonly addresses: readonly string[] } | null;
  readonly appProofs: readonly JsonValue[];
  /** The known members of the answer. */
  readonly value: JsonObject;
}

/** Reads the answer to a sign-up, or the faults of its form. */
export function readSignUpAnswer(answer: JsonValue): ReturnType<typeof readShape<SignUpAnswer>> {
  const read = readShape(RESULT, answer);
  if (read.value === undefined) return read;
  const { organizationId, appProofs } = read.value;
  const wallet = read.value.wallet ?? null;
  const isEmpty = wallet?.walletId === "";
  if (isEmpty && wallet.addresses.length > 0)
    return { value: undefined, faults: [{ path: "wallet.walletId", message: "empty" }] };
  const value = read.value as JsonObject;
  return { value: { organizationId, wallet: isEmpty ? null : wallet, appProofs: appProofs ?? [], value }, faults: [] };
}

/** Reads the answer of a token's question: its known members, which are texts, or the faults. */
export function readTokenAnswer(
  { members }: TokenQuestion,
  answer: JsonValue,
): ReturnType<typeof readShape<JsonObject>> {
  const shapes = Object.fromEntries(members.map((name) => [name, nonEmptyText]));
  return readShape(object(shapes, IGNORED) as Shape<unknown> as Shape<JsonObject>, answer);
}

/** Returns every way in which wallet and addresses of the answer differ from those that were requested. */
export function walletContradictions({ wallet: requested, accounts }: SignUpQuestion, answer: SignUpAnswer): string[] {
  const { wallet } = answer;
  if (requested === null) return wallet === null ? [] : ["the answer has a wallet, and none was requested"];
  if (wallet === null) return ["a wallet was requested, and the answer has none"];
  const found = wallet.addresses.length;
  return found === accounts ? [] : [`the wallet has ${found} addresses, and ${accounts} accounts were requested`];
}

/**
 * Returns every way in which the app proofs of the answer do not cover its wallet: each address needs an app proof of
 * this wallet at the path that was requested. The app proofs themselves are verified elsewhere.
 */
export function coverageContradictions({ wallet: requested }: SignUpQuestion, answer: SignUpAnswer): string[] {
  const { wallet, appProofs } = answer;
  const proofs = appProofs.flatMap(derivationOf);
  const walletId = wallet?.walletId ?? null;
  const result = { wallet: { addresses: [...(wallet?.addresses ?? [])] } };
  const coverage = coverageOf({ intent: { wallet: requested }, result, walletId, makesKeys: true, proofs });
  const others = proofs.filter((proof) => (proof.walletId ?? null) !== walletId);
  const shown = (proof: AddressDerivationProof): string => shownName(proof.address);
  return [
    ...coverage.uncovered.map(
      (address) => `no app proof of this wallet, at the path requested, covers ${shownName(address)}`,
    ),
    ...others.map((proof) => `the app proof of ${shown(proof)} names another wallet`),
    ...coverage.stray
      .filter((proof) => !others.includes(proof))
      .map((proof) => `the app proof of ${shown(proof)} is of no account that was requested`),
  ];
}

function derivationOf(appProof: JsonValue): readonly AddressDerivationProof[] {
  const { proofPayload } = readAppProof(appProof).value;
  if (proofPayload === undefined) return [];
  const { addressDerivationProof } = readAppProofPayloadText(proofPayload).value;
  return addressDerivationProof === undefined ? [] : [addressDerivationProof];
}
