/** Questions to the auth proxy, and what contradicts an answer: no signature is verified here. */
import { describe, expect, it } from "vitest";
import { MAX_APP_PROOFS } from "../../src/decode/app-proof-limits.js";
import { type JsonObject, type JsonValue, parseJson } from "../../src/decode/json.js";
import { faultText } from "../../src/errors.js";
import {
  type SignUpAnswer,
  type SignUpQuestion,
  type TokenQuestion,
  authQuestionOf,
  coverageContradictions,
  isAuthOperation,
  readSignUpAnswer,
  readTokenAnswer,
  walletContradictions,
} from "../../src/door/auth-proxy.js";
import { authOperationOf } from "../../src/door/question.js";

const [P0, P1] = ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"];
const [A, B] = ["0x00000000000000000000000000000000000000aA", "0x00000000000000000000000000000000000000bB"];
const KEY = `02${"ab".repeat(32)}`;
const LONG_KEY = `04${"ab".repeat(64)}`;

describe("the path of an operation", () => {
  it.each([
    ["/v1/signup_v2", "signup_v2"],
    ["/v1/x", "x"],
    ["/v1/signup/", null],
    ["//v1/signup", null],
    ["/v1/signup?a=1", null],
    ["/v1/Signup", null],
    ["/v1/sign-up", null],
    ["/v1/%73ignup", null],
    ["/v1/signup\n", null],
    ["/v2/signup", null],
    ["", null],
  ])("%j is that of %s", (path, name) => {
    expect(authOperationOf(path)).toBe(name);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "", "SIGNUP", "signup_v3"])(
    "%j is no operation, and is not sent unless it is allowed",
    (name) => {
      expect(isAuthOperation(name)).toBe(false);
      expect(authQuestionOf(name, {}, false)).toMatch(/no such operation/);
      expect(authQuestionOf(name, {}, true)).toEqual({ kind: "unknown", operation: name });
    },
  );
});

const wallet = (...paths: string[]): JsonObject => ({ walletName: "w", accounts: paths.map((path) => ({ path })) });

describe("a question", () => {
  it.each<[string, JsonValue | undefined, JsonObject]>([
    ["signup", {}, { wallet: null, accounts: 0 }],
    ["signup", { wallet: null }, { wallet: null, accounts: 0 }],
    ["signup_v2", { wallet: wallet() }, { wallet: wallet(), accounts: 0 }],
    ["signup_v2", { wallet: wallet(P0, P0) }, { wallet: wallet(P0, P0), accounts: 2 }],
    ["signup_v2", { Wallet: wallet(P0), WALLET: wallet(P1) }, { wallet: null, accounts: 0 }],
  ])("%s with %j is that of a sign-up", (operation, body, expected) => {
    expect(authQuestionOf(operation, body, false)).toEqual({ kind: "sign-up", operation, ...expected });
  });

  it("reads no member of __proto__", () => {
    const body = parseJson(`{"__proto__":${JSON.stringify({ wallet: wallet(P0) })}}`);
    expect(authQuestionOf("signup", body, false)).toMatchObject({ wallet: null, accounts: 0 });
  });

  it.each<[string, JsonObject, Partial<TokenQuestion>]>([
    ["oauth_login", { publicKey: KEY }, { token: "session", members: ["session"], organizationId: null }],
    ["otp_login", { publicKey: KEY, organizationId: null }, { token: "session", organizationId: null }],
    ["otp_login_v2", { publicKey: KEY.toUpperCase(), organizationId: "o" }, { publicKey: KEY, organizationId: "o" }],
    ["oauth_login", { publicKey: LONG_KEY }, { publicKey: LONG_KEY }],
    ["otp_verify", { publicKey: KEY }, { token: "otp", members: ["verificationToken"], publicKey: KEY }],
    ["otp_verify", {}, { token: "otp", publicKey: null }],
    ["otp_verify_v2", { publicKey: "not read", organizationId: 1 }, { token: "otp", publicKey: null }],
    ["otp_init_v2", {}, { token: "otp-target", members: ["otpEncryptionTargetBundle", "otpId"] }],
  ])("%s with %j is that of a token", (operation, body, expected) => {
    expect(authQuestionOf(operation, body, false)).toMatchObject({ kind: "token", operation, ...expected });
  });

  it.each(["otp_init", "account", "oauth2_authenticate", "wallet_kit_client_params", "wallet_kit_config"])(
    "%s is not verified, whatever its body",
    (operation) => {
      for (const body of [undefined, null, [], { wallet: 1 }])
        expect(authQuestionOf(operation, body, false)).toEqual({ kind: "unverified", operation });
    },
  );

  it.each<[string, JsonValue | undefined, RegExp]>([
    ["signup", undefined, /expected an object/],
    ["signup", "{}", /expected an object/],
    ["signup", { wallet: [] }, /wallet: expected an object/],
    ["signup", { wallet: {} }, /wallet\.accounts: /],
    ["signup", { wallet: { accounts: [null] } }, /accounts\[0\]: expected an object/],
    ["signup", { wallet: { accounts: [{ path: P0 }, {}] } }, /accounts\[1\]\.path: /],
    ["signup", { wallet: { accounts: [{ path: "" }] } }, /accounts\[0\]\.path: /],
    ["signup", { wallet: { accounts: [{ path: 1 }] } }, /accounts\[0\]\.path: /],
    ["oauth_login", undefined, /expected an object/],
    ["oauth_login", { publicKey: null }, /publicKey: /],
    ["oauth_login", { publicKey: `${KEY}00` }, /publicKey: /],
    ["oauth_login", { publicKey: `${KEY.slice(0, -1)}g` }, /publicKey: /],
    ["oauth_login", { publicKey: KEY, organizationId: 1 }, /organizationId: /],
    ["otp_verify", { publicKey: "" }, /publicKey: /],
    ["otp_init_v2", [], /expected an object/],
    ["otp_verify_v2", undefined, /expected an object/],
  ])("%s with %j is not sent, even if it is allowed", (operation, body, message) => {
    for (const isAllowed of [false, true]) expect(authQuestionOf(operation, body, isAllowed)).toMatch(message);
  });
});

const ANSWER = { organizationId: "o", userId: "u", wallet: { walletId: "w", addresses: [A] }, appProofs: [] };
const asked = (paths: readonly string[] | null): SignUpQuestion =>
  authQuestionOf("signup", paths === null ? {} : { wallet: wallet(...paths) }, true) as SignUpQuestion;
const answer = (more: JsonObject): SignUpAnswer => readSignUpAnswer({ ...ANSWER, ...more }).value!;

describe("the answer to a sign-up", () => {
  it.each<[string, JsonObject | string, JsonObject]>([
    ["the whole", ANSWER, ANSWER],
    ["an organization alone", { organizationId: "o" }, { organizationId: "o" }],
    [
      "nulls",
      { organizationId: "o", userId: null, wallet: null, appProofs: null },
      { organizationId: "o", userId: null, wallet: null, appProofs: null },
    ],
    ["other members", { ...ANSWER, session: "s", wallet: { ...ANSWER.wallet, mnemonic: "m" } }, ANSWER],
    [
      "the members again in other spellings",
      {
        ...ANSWER,
        Wallet: { walletId: "mine", addresses: [B] },
        organization_id: "mine",
        app_proofs: [],
        APPPROOFS: [1],
      },
      ANSWER,
    ],
    ["a member __proto__", `{"__proto__":{"organizationId":"mine"},${JSON.stringify(ANSWER).slice(1)}`, ANSWER],
    [
      "__proto__ in the wallet",
      `{"organizationId":"o","wallet":{"__proto__":{"seed":1},"walletId":"w","addresses":[]}}`,
      { organizationId: "o", wallet: { walletId: "w", addresses: [] } },
    ],
  ])("with %s hands on its known members", (_, given, value) => {
    const read = readSignUpAnswer(typeof given === "string" ? parseJson(given) : given);
    expect(read.faults).toEqual([]);
    expect(JSON.parse(JSON.stringify(read.value!.value))).toEqual(value);
    expect(Object.keys(read.value!.value)).not.toContain("__proto__");
  });

  it.each<[string, JsonValue, RegExp]>([
    ["null", null, /expected an object/],
    ["a list", [ANSWER], /expected an object/],
    ["an error with status 200", { code: 3, message: "no", details: [] }, /organizationId: /],
    ["a number as organization", { ...ANSWER, organizationId: 1 }, /organizationId: /],
    ["an organization that only __proto__ has", parseJson('{"__proto__":{"organizationId":"o"}}'), /organizationId: /],
    ["a user that is an object", { ...ANSWER, userId: {} }, /userId: /],
    ["no id of the wallet", { ...ANSWER, wallet: { addresses: [A] } }, /wallet\.walletId: /],
    ["no addresses", { ...ANSWER, wallet: { walletId: "w" } }, /wallet\.addresses: /],
    ["an empty address", { ...ANSWER, wallet: { walletId: "w", addresses: [""] } }, /addresses\[0\]: /],
    [
      "an address in an object",
      { ...ANSWER, wallet: { walletId: "w", addresses: [{ address: A }] } },
      /addresses\[0\]: /,
    ],
    [
      "too many addresses",
      { ...ANSWER, wallet: { walletId: "w", addresses: Array<string>(MAX_APP_PROOFS + 1).fill(A) } },
      /addresses: 2049 entries/,
    ],
    [
      "too many app proofs",
      { ...ANSWER, appProofs: Array<JsonValue>(MAX_APP_PROOFS + 1).fill(null) },
      /appProofs: 2049 entries/,
    ],
  ])("is not read with %s", (_, given, message) => {
    const { value, faults } = readSignUpAnswer(given);
    expect(value).toBeUndefined();
    expect(faultText(faults)).toMatch(message);
  });

  it.each<[readonly string[] | null, JsonObject, readonly (string | RegExp)[]]>([
    [null, { wallet: null }, []],
    [null, {}, [/has a wallet, and none was requested/]],
    [null, { wallet: { walletId: "w", addresses: [] } }, [/has a wallet, and none was requested/]],
    [[], { wallet: { walletId: "w", addresses: [] } }, []],
    [[], {}, [/has 1 addresses, and 0 accounts/]],
    [[P0], {}, []],
    [[P0], { wallet: null }, [/a wallet was requested/]],
    [[P0], { wallet: { walletId: "w", addresses: [] } }, [/has 0 addresses, and 1 accounts/]],
    [[P0], { wallet: { walletId: "w", addresses: [A, A] } }, [/has 2 addresses, and 1 accounts/]],
    [[P0, P1], {}, [/has 1 addresses, and 2 accounts/]],
  ])("to accounts %j with %j contradicts them: %j", (paths, more, expected) => {
    const found = walletContradictions(asked(paths), answer(more));
    expect(found).toEqual(expected.map((one) => expect.stringMatching(one) as string));
  });
});

const proof = (address: string, derivationPath: string, more: JsonObject = { walletId: "w" }): JsonObject => ({
  proofPayload: JSON.stringify({
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    timestampMs: "1",
    addressDerivationProof: { organizationId: "o", address, derivationPath, ...more },
  }),
});
const outcome: JsonObject = {
  proofPayload: JSON.stringify({
    type: "APP_PROOF_TYPE_POLICY_OUTCOME",
    timestampMs: "1",
    policyOutcomeProof: { organizationId: "o", outcome: "OUTCOME_ALLOW" },
  }),
};
const COVERS = /^no app proof of this wallet, at the path requested, covers /;
const STRAY = /is of no account that was requested$/;
const ELSEWHERE = /names another wallet$/;

describe("app proofs", () => {
  const both = [proof(A, P0), proof(B, P1)];
  it.each<[string, string[], string[], JsonValue[], RegExp[]]>([
    ["one for each address", [P0, P1], [A, B], both, []],
    ["one for each, in another order", [P0, P1], [A, B], [...both].reverse(), []],
    ["a decision beside them", [P0], [A], [outcome, proof(A, P0)], []],
    ["an address of the answer in another case", [P0], [A.toLowerCase()], [proof(A, P0)], []],
    ["an address of the app proof in another case", [P0], [A], [proof(A.toUpperCase().replace("X", "x"), P0)], []],
    ["0X, which is another text", [P0], [A], [proof(A.replace("x", "X"), P0)], [COVERS, STRAY]],
    ["base58 in another case, which is another address", [P0], ["1Aa"], [proof("1aA", P0)], [COVERS, STRAY]],
    ["none", [P0], [A], [], [COVERS]],
    ["a decision alone", [P0], [A], [outcome], [COVERS]],
    ["one of two", [P0, P1], [A, B], [proof(A, P0)], [COVERS]],
    ["addresses exchanged", [P0, P1], [B, A], both, [COVERS, COVERS, STRAY, STRAY]],
    ["one address for both accounts", [P0, P1], [A, A], [proof(A, P0)], [COVERS]],
    ["one address for both accounts, and the other's app proof", [P0, P1], [A, A], both, [COVERS, STRAY]],
    ["another path", [P0], [A], [proof(A, P1)], [COVERS, STRAY]],
    ["the path in another spelling", [P0], [A], [proof(A, P0.replaceAll("'", "h"))], [COVERS, STRAY]],
    ["another wallet", [P0], [A], [proof(A, P0, { walletId: "mine" })], [COVERS, ELSEWHERE]],
    ["one more, of another wallet", [P0], [A], [proof(A, P0), proof(B, P1, { walletId: "mine" })], [ELSEWHERE]],
    ["one more, of this wallet", [P0], [A], [proof(A, P0), proof(B, P1)], [STRAY]],
    ["one more address at the same path", [P0], [A], [proof(A, P0), proof(B, P0)], [STRAY]],
    ["one that is no object", [P0], [A], [null, 1, [], "x"], [COVERS]],
    ["a payload that is not JSON", [P0], [A], [{ proofPayload: "{" }], [COVERS]],
    ["an address twice in its payload", [P0], [A], [doubled()], [COVERS]],
    ["an account more than addresses", [P0, P1], [A], [proof(A, P0)], [COVERS, COVERS]],
    ["an address more than accounts", [P0], [A, B], both, [COVERS, COVERS, STRAY]],
  ])("with %s", (_, paths, addresses, appProofs, expected) => {
    const found = coverageContradictions(asked(paths), answer({ wallet: { walletId: "w", addresses }, appProofs }));
    expect(found).toEqual(expected.map((one) => expect.stringMatching(one) as string));
  });

  it("of an answer without a wallet name another wallet", () => {
    const given = answer({ wallet: null, appProofs: [proof(A, P0)] });
    expect(coverageContradictions(asked(null), given)).toEqual([expect.stringMatching(ELSEWHERE)]);
  });
});

function doubled(): JsonObject {
  const { proofPayload } = proof(B, P0);
  return { proofPayload: String(proofPayload).replace(`"address":`, `"address":"${A}","address":`) };
}

describe("the answer with a token", () => {
  const [session, target] = [
    authQuestionOf("oauth_login", { publicKey: KEY }, false),
    authQuestionOf("otp_init_v2", {}, false),
  ] as [TokenQuestion, TokenQuestion];

  it("hands on its known members", () => {
    const given = parseJson('{"session":"s","Session":"t","__proto__":{"session":"u"},"more":1}');
    expect({ ...readTokenAnswer(session, given).value }).toEqual({ session: "s" });
    const bundle = { otpId: "i", otpEncryptionTargetBundle: "b" };
    expect({ ...readTokenAnswer(target, bundle).value }).toEqual(bundle);
  });

  it.each<[TokenQuestion, JsonValue, RegExp]>([
    [session, null, /expected an object/],
    [session, {}, /session: /],
    [session, { session: "" }, /session: /],
    [session, { session: { token: "t" } }, /session: /],
    [session, { Session: "s" }, /session: /],
    [session, parseJson('{"__proto__":{"session":"s"}}'), /session: /],
    [target, { otpEncryptionTargetBundle: "b" }, /otpId: /],
    [target, { otpId: "i" }, /otpEncryptionTargetBundle: /],
  ])("is not read: %#", (question, given, message) => {
    const { value, faults } = readTokenAnswer(question, given);
    expect(value).toBeUndefined();
    expect(faultText(faults)).toMatch(message);
  });
});
