/** The question: what contradicts it, and what may be more than was asked. */
import { describe, expect, it } from "vitest";
import { readActivity } from "../../src/decode/activity.js";
import { type JsonObject, type JsonValue, parseJson } from "../../src/decode/json.js";
import {
  activityContradictions,
  activityQuestion,
  comparedMembers,
  identityContradictions,
  isEmpty,
  isVotedOn,
  proofContradictions,
  requestTime,
  sameAddress,
  unansweredAddresses,
} from "../../src/verify/contradictions.js";
import { type Expected, expectationOf } from "../../src/verify/expectation.js";

const ORGANIZATION = "org-1";
const PROOF = { scheme: "s", publicKey: "p", proofPayload: "{}", signature: "s" };

function activity(members: JsonObject): JsonObject {
  return {
    id: "a1",
    organizationId: ORGANIZATION,
    status: "ACTIVITY_STATUS_COMPLETED",
    appProofs: [PROOF],
    ...members,
  };
}

function contradictions(expected: Partial<Expected>, given: JsonObject): string[] {
  // As it arrives: parsed, without prototypes.
  const { value } = readActivity(parseJson(JSON.stringify(given)));
  return activityContradictions(expectationOf({ organizationId: ORGANIZATION, ...expected }), value);
}

const wallet = (intent: JsonObject, result: JsonObject = { walletId: "w1" }): JsonObject =>
  activity({
    type: "ACTIVITY_TYPE_UPDATE_WALLET",
    intent: { updateWalletIntent: intent },
    result: { updateWalletResult: result },
  });
const custom = (intent: JsonValue, result: JsonValue = {}): JsonObject =>
  activity({ type: "ACTIVITY_TYPE_CUSTOM", intent: { i: intent }, result: { r: result } });
const CUSTOM = { type: "ACTIVITY_TYPE_CUSTOM" };

const asked = (parameters: JsonObject): Partial<Expected> => ({ ...CUSTOM, parameters });
const vote = (fingerprint: string, kind = "APPROVE"): Partial<Expected> => ({
  type: `ACTIVITY_TYPE_${kind}_ACTIVITY`,
  parameters: { fingerprint },
});
const voted = (fingerprint: string): JsonObject => ({ ...wallet({ walletId: "w1" }), fingerprint });
/** An activity whose members have the names of no operation. */
const named = (type: string, intent: JsonValue, result: JsonValue): JsonObject =>
  activity({ type: `ACTIVITY_TYPE_${type}`, intent: { x: intent }, result: { y: result } });
const deletion = (intended: JsonValue, deleted: JsonValue): JsonObject =>
  activity({
    type: "ACTIVITY_TYPE_DELETE_POLICIES",
    intent: { deletePoliciesIntent: { policyIds: intended } },
    result: { deletePoliciesResult: { policyIds: deleted } },
  });
const session = (intent: JsonObject, result: JsonObject): JsonObject =>
  activity({
    type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2",
    intent: { createReadWriteSessionIntentV2: intent },
    result: { createReadWriteSessionResultV2: result },
  });
const feature = (value: JsonValue | undefined, features: JsonValue): JsonObject =>
  activity({
    type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
    intent: { setOrganizationFeatureIntent: { name: "F", ...(value !== undefined && { value }) } },
    result: { setOrganizationFeatureResult: { features } },
  });

it("empty is what services leave out, and 0 and {} are not", () => {
  for (const value of [undefined, null, "", false, []]) expect(isEmpty(value)).toBe(true);
  for (const value of [0, {}, " ", true, [null], { length: 0 }]) expect(isEmpty(value)).toBe(false);
});

it("identity is organization, id and type, of which null is not compared", () => {
  const answered = { organizationId: "o", id: "a", type: "t" };
  const none = { organizationId: null, id: null, type: null };
  expect(identityContradictions(none, answered)).toEqual([]);
  expect(identityContradictions(answered, answered)).toEqual([]);
  for (const name of ["organizationId", "id", "type"] as const) {
    expect(identityContradictions({ ...none, [name]: "x" }, answered)).toEqual([
      `${name} is ${answered[name]}, expected x`,
    ]);
    expect(identityContradictions({ ...none, [name]: "x" }, {})).toEqual([`${name} is missing, expected x`]);
  }
});

it("numbers of lists and of repeated members are compared by their decimal value", () => {
  const numbers = (text: string): JsonValue => parseJson(text, { numbers: "literal" });
  const found = (given: JsonObject): string[] =>
    activityContradictions(expectationOf({ organizationId: ORGANIZATION }), readActivity(given).value);
  expect(found(deletion([1, 2], numbers("[2.0, 10e-1]")))).toEqual([]);
  expect(found(deletion([2 ** 53], numbers("[9007199254740993]")))).toHaveLength(1);
  expect(found(feature(1, [{ name: "F", value: numbers("1.0") }]))).toEqual([]);
  expect(found(feature(2 ** 53, [{ name: "F", value: numbers("9007199254740993") }]))).toHaveLength(1);
});

const sent = { type: "ACTIVITY_TYPE_UPDATE_WALLET", parameters: { walletId: "w1", walletName: "n" } };
const GOOD: [string, Partial<Expected>, JsonObject][] = [
  [
    "with null members beside the one",
    sent,
    activity({
      type: sent.type,
      intent: { updateWalletIntent: sent.parameters, deletePoliciesIntent: null },
      result: { updateWalletResult: { walletId: "w1" }, deletePoliciesResult: null },
    }),
  ],
  [
    'in which absent, null, "", false and [] are the same',
    asked({ a: null, b: "", c: false, d: [], f: { g: "" } }),
    custom({ e: false, f: {} }),
  ],
  ["the other way about", asked({ f: { h: 1 } }), custom({ a: null, b: "", c: false, d: [], f: { g: null, h: 1 } })],
  [
    "with generateAppProofs among the parameters",
    { ...sent, parameters: { ...sent.parameters, generateAppProofs: true } },
    wallet(sent.parameters),
  ],
  [
    "with what the service may fill in",
    { type: "ACTIVITY_TYPE_CREATE_WALLET", parameters: { walletName: "n" } },
    activity({
      type: "ACTIVITY_TYPE_CREATE_WALLET",
      intent: { createWalletIntent: { walletName: "n", mnemonicLength: 12 } },
      result: { createWalletResult: { walletId: "w" } },
    }),
  ],
  [
    "with what it may fill in one level down",
    { type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", parameters: { wallet: { walletName: "n" } } },
    named(
      "CREATE_SUB_ORGANIZATION_V7",
      { wallet: { walletName: "n", mnemonicLength: 12 } },
      { subOrganizationId: "s" },
    ),
  ],
  [
    "with a session of whom the service chose",
    { type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", parameters: { targetPublicKey: "04" } },
    session({ targetPublicKey: "04", userId: "u" }, { organizationId: ORGANIZATION, userId: "u" }),
  ],
  [
    "with a session of which the service filled in all that it may",
    { type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", parameters: {} },
    session({ userId: "u", apiKeyName: "n", expirationSeconds: "9" }, { organizationId: ORGANIZATION, userId: "u" }),
  ],
  [
    "of another version, whose members have other names",
    { type: "ACTIVITY_TYPE_DELETE_POLICIES_V2", parameters: { policyIds: ["a"] } },
    named("DELETE_POLICIES_V2", { policyIds: ["a"] }, { policyIds: ["a"] }),
  ],
  ["with ids once that were submitted twice", {}, deletion(["a", "b", "a"], ["b", "a"])],
  [
    "that describes by objects what was submitted as texts, or the other way about",
    asked({ tags: ["a"], key: "k", users: [{ name: "u" }] }),
    custom({ tags: ["a"], key: "k", users: [{ name: "u" }] }, { tags: [{ tagId: "1" }], key: {}, users: ["u1"] }),
  ],
  [
    "with two spellings of one value",
    asked({ userIds: ["a"] }),
    custom({ userIds: ["a"] }, { userIds: ["a"], user_ids: ["a"], UserIDs: null }),
  ],
  ["of an operation that has a version inside its name", {}, named("DELETE_V2_POLICIES", { policyIds: ["a"] }, {})],
  [
    "that sets a feature, beside what is none",
    { type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", parameters: { name: "F" } },
    feature(undefined, [null, { name: "F" }]),
  ],
  ["to a rejecting vote, the activity voted on", vote("ab", "REJECT"), voted("sha256:ab")],
  [
    "that sets a feature among others",
    { type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", parameters: { name: "F", value: "" } },
    feature(undefined, [{ name: "G", value: "1" }, { name: "F" }]),
  ],
  ["to a vote, the activity voted on", vote("sha256:ab"), voted("ab")],
  [
    "to a vote, the vote itself",
    vote("x", "REJECT"),
    activity({
      type: "ACTIVITY_TYPE_REJECT_ACTIVITY",
      intent: { rejectActivityIntent: { fingerprint: "x" } },
      result: {},
    }),
  ],
];

const BAD: [string, Partial<Expected>, JsonObject, string][] = [
  ["with another intent", sent, wallet({ walletId: "w1", walletName: "evil" }), "the intent's walletName"],
  ["with less in its intent", sent, wallet({ walletId: "w1" }), "the intent's walletName"],
  ["with more in its intent", sent, wallet({ ...sent.parameters, walletTag: "x" }), "the intent's walletTag"],
  ["with 0 where nothing was sent", asked({}), custom({ count: 0 }), "the intent's count"],
  ["with text in place of a number", asked({ n: 1 }), custom({ n: "1" }), "the intent's n"],
  ["with a list in another order", asked({ l: ["a", "b"] }), custom({ l: ["b", "a"] }), "the intent's l"],
  [
    "with another value deep inside",
    asked({ a: [{ b: { c: "x" } }] }),
    custom({ a: [{ b: { c: "y" } }] }),
    "the intent's a",
  ],
  [
    "that fills in what that operation does not",
    asked({}),
    custom({ mnemonicLength: 12 }),
    "the intent's mnemonicLength",
  ],
  [
    "that changes what it may only fill in",
    { type: "ACTIVITY_TYPE_CREATE_WALLET", parameters: { mnemonicLength: 24 } },
    activity({
      type: "ACTIVITY_TYPE_CREATE_WALLET",
      intent: { createWalletIntent: { mnemonicLength: 12 } },
      result: { createWalletResult: {} },
    }),
    "the intent's mnemonicLength",
  ],
  [
    "that fills in another operation's place",
    asked({ wallet: { walletName: "n" } }),
    custom({ wallet: { walletName: "n", mnemonicLength: 12 } }),
    "the intent's wallet",
  ],
  ["with two intents", {}, activity({ ...CUSTOM, intent: { a: {}, b: {} }, result: {} }), "intent has 2 members"],
  ["with two results", {}, activity({ ...CUSTOM, intent: {}, result: { a: {}, b: {} } }), "result has 2 members"],
  [
    "with another operation's result",
    {},
    activity({ type: sent.type, intent: { updateWalletIntent: {} }, result: { deletePoliciesResult: {} } }),
    "result holds deletePoliciesResult, expected updateWalletResult",
  ],
  [
    "with a session in another organization",
    {},
    session({ userId: "u" }, { organizationId: "org-2", userId: "u" }),
    "the result's organizationId",
  ],
  [
    "with another user's session than was asked",
    { type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", parameters: { userId: "v" } },
    session({ userId: "v" }, { organizationId: ORGANIZATION, userId: "u" }),
    "the result's userId",
  ],
  ["with a feature of another value", {}, feature("a", [{ name: "F", value: "b" }]), "the result's features"],
  [
    "with a feature twice",
    {},
    feature("a", [
      { name: "F", value: "b" },
      { name: "F", value: "a" },
    ]),
    "the result's features",
  ],
  ["without the feature", {}, feature("a", []), "the result's features"],
  [
    "with a feature as its intent says, and not as was asked",
    { type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", parameters: { name: "F", value: "b" } },
    feature("a", [{ name: "F", value: "a" }]),
    "the intent's value is not what was submitted; the result's features",
  ],
  [
    "with another operation's names, of a feature",
    {},
    named("SET_ORGANIZATION_FEATURE", {}, {}),
    "intent holds x, expected setOrganizationFeatureIntent; result holds y, expected setOrganizationFeatureResult",
  ],
  ["to a vote, an activity whose fingerprint is empty as well", vote(""), voted(""), "fingerprint"],
  ["to a vote on a fingerprint, an activity without one", vote("ab"), wallet({ walletId: "w1" }), "fingerprint"],
  [
    "to a vote, an activity whose fingerprint has the name of the hash inside",
    vote("a-b"),
    voted("a-sha256:b"),
    "fingerprint",
  ],
  [
    "that names another organization, which its intent names, too",
    {},
    session({ userId: "u", organizationId: "org-2" }, { organizationId: "org-2", userId: "u" }),
    "the result's organizationId",
  ],
  ["with a session of nobody", {}, session({ userId: "u" }, { organizationId: ORGANIZATION }), "the result's userId"],
  [
    "that renames another organization",
    { type: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", parameters: { organizationName: "n" } },
    named("UPDATE_ORGANIZATION_NAME", { organizationName: "n" }, { organizationName: "n", organizationId: "org-2" }),
    "the result's organizationId is not what was submitted",
  ],
  [
    "with another value under another spelling",
    asked({ userIds: ["a"] }),
    custom({ userIds: ["a"] }, { userIds: ["a"], USER_IDS: ["b"] }),
    "the result's USER_IDS is not what was submitted",
  ],
  [
    "with another value under another spelling, before the one that was asked",
    asked({ userIds: ["a"] }),
    custom({ userIds: ["a"] }, { USER_IDS: ["b"], userIds: ["a"] }),
    "the result's userIds is not what was submitted",
  ],
  [
    "with another user's session than its intent has, where none was submitted",
    { type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", parameters: { targetPublicKey: "04" } },
    session({ targetPublicKey: "04", userId: "u" }, { organizationId: ORGANIZATION, userId: "v" }),
    "the result's userId",
  ],
  [
    "whose intent has two spellings, and whose result has one",
    {},
    custom({ userIds: ["a"], UserIds: ["b"] }, { userIds: ["a"] }),
    "the result's userIds",
  ],
  ["with an object among texts", asked({ l: ["a"] }), custom({ l: ["a"] }, { l: ["a", {}] }), "the result's l"],
  ["with an object for an id", {}, wallet({ walletId: "w1" }, { walletId: { id: "w2" } }), "the result's walletId"],
  ["with another number", asked({ n: 1 }), custom({ n: 1 }, { n: 2 }), "the result's n"],
  ["with hex digits of another value", asked({ a: "0xAb" }), custom({ a: "0xAb" }, { a: "0xac" }), "the result's a"],
  ["with another case of an id", asked({ a: "Ab" }), custom({ a: "Ab" }, { a: "ab" }), "the result's a"],
  [
    "that deletes what was not submitted",
    { type: "ACTIVITY_TYPE_DELETE_API_KEYS", parameters: { userId: "u", apiKeyIds: [] } },
    activity({
      type: "ACTIVITY_TYPE_DELETE_API_KEYS",
      intent: { deleteApiKeysIntent: { userId: "u" } },
      result: { deleteApiKeysResult: { apiKeyIds: ["victim"] } },
    }),
    "the result's apiKeyIds",
  ],
  ["to a vote on nobody knows what", { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY" }, voted("x"), "fingerprint"],
];

describe("an answer", () => {
  it.each(GOOD)("%s contradicts nothing", (_, expected, given) => {
    expect(contradictions(expected, given)).toEqual([]);
  });

  it.each(BAD)("%s is none", (_, expected, given, says) => {
    expect(contradictions(expected, given).join("; ")).toContain(says);
  });

  it("is quoted up to a length", () => {
    const given = { ...wallet({ walletId: "w1" }), organizationId: "x".repeat(101) };
    expect(contradictions({}, given)).toEqual([`organizationId is ${"x".repeat(100)}, expected org-1`]);
  });

  it("is told of without quoting parameters, which may be confidential", () => {
    const told = contradictions(asked({ key: "SECRET" }), custom({ key: "OTHER" })).join();
    expect(told).not.toMatch(/SECRET|OTHER/);
  });
});

describe("the time of the request", () => {
  const { value } = readActivity(wallet({ walletId: "w1" }));
  const vote = expectationOf({
    organizationId: ORGANIZATION,
    type: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
    parameters: { fingerprint: "x" },
    requestedAt: new Date(5000),
  });

  it("is what was asked; nobody's where nobody said", () => {
    expect(requestTime(null, value)).toBeNull();
    expect(requestTime(expectationOf({ organizationId: ORGANIZATION }), value)).toBeNull();
    expect(requestTime(expectationOf({ organizationId: ORGANIZATION, requestedAt: 0 }), value)).toBe(0);
    expect(requestTime({ ...vote, requestedAt: null }, value)).toBeNull();
    for (const requestedAt of [new Date(5000), 5000, "5000"])
      expect(requestTime(expectationOf({ organizationId: ORGANIZATION, requestedAt }), value)).toBe(5000);
  });

  it("of a vote without an activity is that of the vote", () => {
    expect(requestTime(vote)).toBe(5000);
  });

  it("of a vote is that of the activity voted on, and never later than the vote", () => {
    const at = (members: JsonObject): number | null =>
      requestTime(vote, readActivity({ ...wallet({ walletId: "w1" }), ...members }).value);
    expect(at({ timestampMs: "2000" })).toBe(2000);
    expect(at({ createdAt: "3000" })).toBe(3000);
    expect(at({ createdAt: { seconds: "4", nanos: "0" } })).toBe(4000);
    expect(at({ timestampMs: "9000" })).toBe(5000);
    expect(at({})).toBe(5000);
    expect(at({ type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", timestampMs: "2000" })).toBe(5000);
  });
});

const NO_QUESTIONS: unknown[] = [
  null,
  "org",
  [],
  {},
  { organizationId: "" },
  { organizationId: null },
  { organizationId: "o", id: "" },
  { organizationId: "o", type: 0 },
  { organizationId: "o", parameters: [] },
  { organizationId: "o", parameters: { a: 1n } },
  { organizationId: "o", requestedAt: new Date(NaN) },
  { organizationId: "o", requestedAt: "" },
  { organizationId: "o", requestedAt: -1 },
  { organizationId: "o", requestedAt: "2026-01-01" },
  { organizationId: "o", requestedAt: [5000] },
  { organizationId: "o", addresses: [] },
  { organizationId: "o", addresses: [""] },
  { organizationId: "o", addresses: "0x1" },
  { organizationId: "o", walletId: "w" },
];

describe("a question", () => {
  it.each(
    NO_QUESTIONS.map((value) => [
      JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? "1n" : each)) ?? "undefined",
      value,
    ]),
  )("is not %s", (_, value) => {
    expect(() => expectationOf(value as Expected)).toThrow(TypeError);
  });

  it("with parameters that are no JSON is told what is wrong in them", () => {
    const cause = /^expected\.parameters: (?!expected an object)/;
    expect(() => expectationOf({ organizationId: "o", parameters: { a: 1n } })).toThrow(cause);
  });
});

describe("the comparison with a question", () => {
  it("is what an answer was held against; of a vote, without what only the fingerprint ties", () => {
    const { value } = readActivity(wallet({ walletId: "w1" }));
    const asked = (type: string): readonly string[] =>
      comparedMembers(expectationOf({ organizationId: "o", type, parameters: {}, requestedAt: 0 }), value);
    expect(asked("ACTIVITY_TYPE_UPDATE_WALLET")).toEqual(["organizationId", "type", "parameters", "requestedAt"]);
    expect(asked("ACTIVITY_TYPE_APPROVE_ACTIVITY")).toEqual(["organizationId"]);
    expect(asked("ACTIVITY_TYPE_REJECT_ACTIVITY")).toEqual(["organizationId"]);
    expect(comparedMembers(null, value)).toEqual([]);
    expect(isVotedOn(null, value)).toBe(false);
    expect(isVotedOn(null, {})).toBe(false);
  });

  it.each<[string | null, Partial<Expected>]>([
    ["request", { type: "ACTIVITY_TYPE_UPDATE_WALLET", parameters: {} }],
    ["request", { parameters: {}, id: "a1" }],
    ["request", { type: "ACTIVITY_TYPE_UPDATE_WALLET", parameters: { fingerprint: "ab" } }],
    ["id", { id: "a1" }],
    ["id", { id: "a1", type: "ACTIVITY_TYPE_UPDATE_WALLET", requestedAt: 0, addresses: ["0x1"] }],
    ["fingerprint", { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", parameters: { fingerprint: "ab" } }],
    ["fingerprint", { type: "ACTIVITY_TYPE_REJECT_ACTIVITY", parameters: { fingerprint: "ab" }, id: "a1" }],
    [null, {}],
    [null, { type: "ACTIVITY_TYPE_UPDATE_WALLET", requestedAt: 0, addresses: ["0x1"] }],
  ])("an activity is compared by: %s (expected: %j)", (question, expected) => {
    const { value } = readActivity({ ...wallet({ walletId: "w1" }), fingerprint: "ab" });
    expect(activityQuestion(expectationOf({ organizationId: ORGANIZATION, ...expected }), value)).toBe(question);
  });

  it("a vote that is answered with the vote itself is compared by its request", () => {
    const type = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
    const { value } = readActivity(activity({ type, intent: { i: { fingerprint: "ab" } }, result: {} }));
    const expectation = expectationOf({ organizationId: ORGANIZATION, type, parameters: { fingerprint: "ab" } });
    expect(activityQuestion(expectation, value)).toBe("request");
    expect(activityQuestion(null, value)).toBeNull();
  });
});

it("proofs without an activity are of the organization and addresses that were asked for", () => {
  const expectation = expectationOf({ organizationId: "o", addresses: ["0xAb", "addr"] });
  expect(proofContradictions(expectation, { organizationId: "o", address: "0xaB" })).toEqual([]);
  expect(proofContradictions(expectation, { organizationId: "o" })).toEqual([]);
  expect(proofContradictions(expectation, { organizationId: "p", address: "Addr" })).toHaveLength(2);
  expect(unansweredAddresses(expectation, ["0xab"])).toEqual(["addr"]);
  expect(unansweredAddresses(null, [])).toEqual([]);
  expect(sameAddress("0xAB", "0xab")).toBe(true);
  for (const text of ["AB", "x0xAB", "0xABg", "0x"]) expect(sameAddress(text, text.toLowerCase())).toBe(text === "0x");
});
