/** An activity and its app proofs: what is compared, and with what. */
import { describe, expect, it } from "vitest";
import type { CheckId, CheckStatus } from "../../src/checks.js";
import { JsonNumber, type JsonObject, type JsonValue } from "../../src/decode/json.js";
import { addressDerivationPayload, customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import type { Report } from "../../src/report/report.js";
import { AppProofUses, type Expected, type VerifiedActivity, verifyEvidence } from "../../src/index.js";
import { after, drop, forge, idsOf, judge, judged, optionsOf, put, withActivity } from "../attacks/support.js";

const { address, walletId, organizationId } = LAB_ADDRESS;
const OTHER = "0x00000000000000000000000000000000000000aa";
const derived = (facts: Partial<typeof LAB_ADDRESS> = {}): JsonObject =>
  addressDerivationPayload(after(60), { ...LAB_ADDRESS, ...facts });

const VOTE = { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", parameters: { fingerprint: "sha256:ab" } };

/** `says` is in the words of the check that is not good. */
type Row = [
  name: string,
  claimsAndCoverage: string,
  forged?: { activity?: (activity: JsonObject) => JsonObject; payloads?: JsonObject[] },
  says?: string,
];

const merged =
  (more: JsonObject) =>
  (activity: JsonObject): JsonObject => ({ ...activity, ...more });
const result = (value: JsonValue) => put("result", value);
/** Of an operation that asks for no accounts. */
const elsewhere = (intent: JsonObject, value: JsonObject) => merged({ intent: { x: intent }, result: { x: value } });
const other: Partial<typeof LAB_ADDRESS> = { address: OTHER };
const outcomes = (...list: (readonly [ms: number, outcome: string])[]): JsonObject[] => [
  ...list.map(([ms, outcome]) =>
    policyOutcomePayload(new Date(after(60).getTime() + ms), organizationId, `OUTCOME_${outcome}`),
  ),
  derived(),
];
/** Of the type that makes organizations. */
const withSubOrganization = (each: JsonObject): JsonObject =>
  put(
    "type",
    "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
  )(put("result.createWalletResult.subOrganizationId", "sub")(each));

const rows: Row[] = [
  [
    "an address in another case",
    "pass pass",
    { activity: result({ x: { walletId, addresses: [address.toLowerCase()] } }) },
  ],
  [
    "an address that is not hex, in another case",
    "fail warn",
    { payloads: [derived({ address: "AbC" })], activity: result({ x: { walletId, addresses: ["abc"] } }) },
  ],
  [
    "an address in an account",
    "pass pass",
    { activity: elsewhere({}, { walletId, accounts: [{ address, name: "a" }] }) },
  ],
  ["an address in arrays of arrays", "pass pass", { activity: elsewhere({ walletId }, { list: [[{ address }]] }) }],
  ["more addresses than accounts", "pass warn", { activity: result({ x: { walletId, addresses: [address, OTHER] } }) }],
  [
    "two addresses, two proofs",
    "pass pass",
    { payloads: [derived(), derived(other)], activity: elsewhere({}, { walletId, addresses: [address, OTHER] }) },
  ],
  [
    "two addresses of one account, two proofs",
    "pass warn",
    { payloads: [derived(), derived(other)], activity: result({ x: { walletId, addresses: [address, OTHER] } }) },
  ],
  ["one of two proofs of another address", "fail pass", { payloads: [derived(), derived(other)] }],
  [
    "an empty result",
    "pass warn",
    { payloads: [policyOutcomePayload(after(60), organizationId)], activity: result({}) },
  ],
  ["an empty result, and a proof of a wallet", "fail warn", { activity: result({}) }],
  [
    "another address, a proof at its path",
    "fail warn",
    { activity: result({ x: { walletId, addresses: [OTHER] } }) },
    `address ${address} at path ${LAB_ADDRESS.derivationPath}`,
  ],
  [
    "another address, a proof without a path",
    "fail warn",
    { payloads: [drop("addressDerivationProof.derivationPath")(derived())] },
    `address ${address} without a path`,
  ],
  [
    "a result that has no new address",
    "pass pass",
    { payloads: [policyOutcomePayload(after(60), organizationId)], activity: elsewhere({}, { name: "x" }) },
    "the result holds no new address",
  ],
  [
    "a type that makes keys, an address that its intent says already",
    "pass warn",
    { activity: elsewhere({ addresses: ["", OTHER], walletId }, { addresses: [address, OTHER] }) },
  ],
  ...["ACTIVITY_TYPE_UPDATE_WALLET", "MY_ACTIVITY_TYPE_CREATE_WALLET"].map((type): Row => [
    `a type that makes none (${type}), an address that its intent says already`,
    "pass pass",
    {
      activity: merged({
        type,
        intent: { x: { addresses: ["", OTHER], walletId } },
        result: { x: { addresses: [address, OTHER] } },
      }),
    },
  ]),
  ...[outcomes([0, "ALLOW"], [0, "REJECTED"]), outcomes([0, "REJECTED"], [0, "ALLOW"])].map((payloads, index): Row => [
    `two decisions at one time (${index})`,
    "fail pass",
    { payloads },
    index === 0 ? "OUTCOME_ALLOW, OUTCOME_REJECTED" : "OUTCOME_REJECTED, OUTCOME_ALLOW",
  ]),
  ["the wallet in the intent", "pass pass", { activity: elsewhere({ walletId }, { addresses: [address] }) }],
  [
    "the wallet one level down",
    "pass pass",
    { activity: elsewhere({}, { wallet: { walletId, addresses: [address] } }) },
  ],
  [
    "another wallet in the intent",
    "fail warn",
    { activity: elsewhere({ walletId: "another" }, { addresses: [address] }) },
  ],
  [
    "another wallet in the intent than in the result",
    "fail warn",
    { activity: elsewhere({ walletId: "another" }, { walletId, addresses: [address] }) },
  ],
  [
    "another wallet one level down",
    "fail pass",
    { activity: elsewhere({}, { walletId, wallet: { walletId: "another" }, addresses: [address] }) },
    `several wallets: ${walletId}, another`,
  ],
  [
    "the wallet in the intent, an empty one in the result",
    "pass pass",
    { activity: elsewhere({ walletId }, { walletId: "", addresses: [address] }) },
  ],
  ["a proof without a wallet", "fail warn", { payloads: [drop("addressDerivationProof.walletId")(derived())] }],
  ["a proof whose wallet is empty", "fail warn", { payloads: [derived({ walletId: "" })] }, "names no wallet"],
  ...[drop("addressDerivationProof.walletId")(derived()), derived({ walletId: "", derivationPath: "" })].map(
    (proof, index): Row => [
      `a proof ${["without a wallet", "whose wallet is empty"][index]!}, of a result without one`,
      "pass pass",
      { payloads: [proof], activity: elsewhere({}, { privateKeys: [{ addresses: [{ address }] }] }) },
    ],
  ),
  [
    "a proof of a wallet, of a result without one",
    "fail warn",
    { activity: elsewhere({}, { privateKeys: [{ addresses: [{ address }] }] }) },
    `wallet ${walletId}, the activity names none`,
  ],
  ["a proof of another wallet", "fail warn", { payloads: [derived({ walletId: "another" })] }],
  [
    "a proof of another organization that the result names",
    "fail pass",
    {
      payloads: [derived({ organizationId: "sub" })],
      activity: put("result.createWalletResult.subOrganizationId", "sub"),
    },
  ],
  [
    "a sub-organization that it makes, and proofs of the organization only",
    "pass pass",
    { activity: withSubOrganization },
  ],
  [
    "a proof of a sub-organization that stands in another place",
    "fail pass",
    {
      payloads: [derived({ organizationId: "sub" })],
      activity: (each) =>
        put(
          "type",
          "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
        )(put("result.createWalletResult.wallet", { subOrganizationId: "sub" })(each)),
    },
  ],
  ["an application's own proof alone", "pass warn", { payloads: [customPayload(after(60))] }],
  [
    "an address that is not text",
    "pass warn",
    { payloads: [customPayload(after(60))], activity: result({ x: { addresses: [7, null, [address]] } }) },
  ],
];

function statusOf(report: Report, id: CheckId): CheckStatus {
  return report.checks.find((check) => check.id === id)!.status;
}

function detailsOf(report: Report): string {
  return report.checks.map(({ detail }) => detail).join("\n");
}

describe("an activity", () => {
  it.each(rows)("%s: claims and coverage %s", async (_, claimsAndCoverage, forged = {}, says) => {
    const [claims, coverage] = claimsAndCoverage!.split(" ");
    const evidence = forge(forged);
    const report = await judge(evidence, { given: withActivity });
    expect(statusOf(report, "activity.claims")).toBe(claims);
    expect(statusOf(report, "activity.coverage")).toBe(coverage);
    if (says !== undefined) expect(detailsOf(report)).toContain(says);
    expect(report.verdict).toBe(claims === "fail" ? "rejected" : "verified");
    const strict = await judge(evidence, { given: withActivity, policy: { appProofs: { coverage: true } } });
    expect(statusOf(strict, "activity.coverage")).toBe(coverage === "warn" ? "fail" : coverage);
  });

  it("of which one app proof of three is rejected is not verified", async () => {
    const evidence = forge();
    const [good] = evidence.appProofs;
    const appProofs = [good!, { ...good, signature: "11".repeat(64) }, good!];
    const { report, verified } = await judged(evidence, {
      given: () => ({ bootProofs: [evidence.bootProof], activity: { ...evidence.activity, appProofs } }),
    });
    const claims = report.checks.find(({ id }) => id === "activity.claims")!;
    expect(claims).toMatchObject({ status: "skip", detail: expect.stringMatching(/^1 of 3 app proofs/) as string });
    expect(verified.get("activity")).toBeNull();
  });

  it.each([
    ["intent", elsewhere({}, { addresses: [address] }), "warn"],
    ["result", elsewhere({}, {}), "skip"],
    ["organizationId", elsewhere({ walletId }, { addresses: [address] }), "pass"],
    ["appProofs", elsewhere({ walletId }, { addresses: [] }), "pass"],
  ])("of which the %s cannot be read contradicts nothing, and is not verified", async (name, activity, coverage) => {
    const evidence = forge({ activity: (each) => ({ ...activity(each), [name]: 7 }) });
    const { report, verified } = await judged(evidence, { given: withActivity });
    expect(statusOf(report, "activity.claims")).toBe("skip");
    expect(statusOf(report, "activity.coverage")).toBe(coverage);
    expect(verified.get("activity")).toBeNull();
  });

  it("without an address of three that were asked for says which", async () => {
    const activity = elsewhere({ walletId }, { addresses: [address, "a", "b"] });
    const report = await judge(forge({ activity }), { given: withActivity });
    expect(detailsOf(report)).toContain("no verified app proof backs a, b");
  });

  it.each<[string, JsonObject, JsonObject, CheckStatus]>([
    ["at the same member", { address: OTHER }, { addresses: [address], address: OTHER }, "pass"],
    ["at another member", { note: OTHER }, { addresses: [address, OTHER] }, "warn"],
  ])("may repeat an address of the caller's own parameters: %s", async (_, parameters, value, status) => {
    const sent = { walletId, ...parameters };
    const coverage = async (type: string): Promise<CheckStatus> => {
      const activity = (each: JsonObject) => put("type", type)(elsewhere(sent, value)(each));
      const expected = { organizationId, parameters: sent };
      const report = await judge(forge({ activity }), { given: withActivity, expected });
      return statusOf(report, "activity.coverage");
    };
    expect(await coverage("ACTIVITY_TYPE_CUSTOM")).toBe(status);
    for (const type of ["CREATE_WALLET", "CREATE_PRIVATE_KEYS_V2", "IMPORT_WALLET", "INIT_IMPORT_WALLET"])
      expect(await coverage(`ACTIVITY_TYPE_${type}`), type).toBe("warn");
  });

  it.each<[Report["verdict"], string | null, Expected | undefined]>([
    ["verified", "request", { organizationId, parameters: { walletId } }],
    ["verified", "id", { organizationId, id: "a1" }],
    ["verified", "fingerprint", { organizationId, ...VOTE }],
    ["verified", null, { organizationId }],
    ["verified", null, undefined],
  ])("is %s, and says by what it was compared: %s", async (verdict, question, expected) => {
    const activity = merged({ id: "a1", intent: { x: { walletId } }, fingerprint: VOTE.parameters.fingerprint });
    const how = { given: withActivity, ...(expected && { expected }) };
    const { report, verified } = await judged(forge({ activity }), how);
    expect([report.verdict, report.claims?.activity?.question]).toEqual([verdict, question]);
    expect(verified.get("activity")).toMatchObject({ question });
    const skipped = expected === undefined ? "skip" : "pass";
    expect(statusOf(report, "activity.request")).toBe(question === "fingerprint" ? "warn" : skipped);
  });

  it("that was voted on says what its type and parameters are, and what to do", async () => {
    const evidence = forge({ activity: merged({ fingerprint: VOTE.parameters.fingerprint }) });
    const report = await judge(evidence, { given: withActivity, expected: { organizationId, ...VOTE } });
    expect(report.checks.find(({ id }) => id === "activity.request")!.detail).toBe(
      "the answer to a vote is the activity that was voted on; only its fingerprint was compared, so type and " +
        "parameters are the service's word: verify the activity with the request that was voted on, or compare them " +
        "with what you meant to vote on",
    );
  });
});

describe("numbers of an activity", () => {
  const evidence = forge();
  const literal = (text: string): JsonNumber => new JsonNumber(text);
  const [even, odd] = [literal("9007199254740992"), literal("9007199254740993")];
  const withLimit = (limit: JsonValue): JsonObject =>
    put("intent.createWalletIntent.limits", [{ limit }])(evidence.activity);
  const parametersWith = (limit: JsonValue): JsonObject =>
    (withLimit(limit)["intent"] as JsonObject)["createWalletIntent"] as JsonObject;
  const failing = async (activity: JsonObject, expected: Partial<Expected>, uses?: AppProofUses): Promise<string> => {
    const asked = { organizationId, ...expected };
    const options = { ...optionsOf(evidence, { expected: asked }), ...(uses && { uses }) };
    const { report } = await verifyEvidence({ bootProofs: [evidence.bootProof], activity }, options);
    return report.verdict === "verified" ? "" : idsOf(report, "fail").join();
  };

  const pairs: [answered: JsonValue, sent: JsonValue, isSame: boolean][] = [
    [1, literal("1.0"), true],
    [even, 2 ** 53, true],
    [odd, even, false],
    [odd, 2 ** 53, false],
    [literal("1"), "1", false],
  ];

  it.each(pairs)("are compared with the parameters by their decimal value: %j, %j", async (answered, sent, isSame) => {
    const expected = { parameters: parametersWith(sent) };
    expect(await failing(withLimit(answered), expected)).toBe(isSame ? "" : "activity.request");
  });

  it.each(pairs)("are compared with those of its repetition: %j, %j", async (stated, repeated, isSame) => {
    const { intent } = withLimit(stated);
    const activity = { ...evidence.activity, intent: intent!, result: { activity: withLimit(repeated) } };
    expect(await failing(activity, {})).toBe(isSame ? "" : "activity.decode");
  });

  it.each(pairs)("tell two requests apart, for which one app proof is used: %j, %j", async (first, second, isSame) => {
    const uses = new AppProofUses();
    const sent = (limit: JsonValue) => ({ parameters: parametersWith(limit), requestedAt: after(60) });
    expect(await failing(withLimit(first), sent(first), uses)).toBe("");
    expect(await failing(withLimit(second), sent(second), uses)).toBe(isSame ? "" : "activity.claims");
  });
});

describe("what no app proof speaks of", () => {
  const told = async (
    value: JsonValue,
    how: { readonly payloads?: JsonObject[]; readonly type?: string } = {},
  ): Promise<readonly string[]> => {
    const { payloads, type } = how;
    const activity = merged({ ...(type !== undefined && { type }), intent: { x: {} }, result: { x: value } });
    const { report, verified } = await judged(forge({ ...(payloads && { payloads }), activity }), {
      given: withActivity,
    });
    expect(idsOf(report, "fail")).toEqual([]);
    return (verified.get("activity") as VerifiedActivity).resultWithoutProof;
  };

  const members: [name: string, value: JsonValue, paths: string[]][] = [
    ["the wallet and its addresses are spoken of", { walletId, addresses: [address] }, []],
    ["other members are not", { walletId, addresses: [address], name: "n", count: 0 }, ["name", "count"]],
    ["empty ones say nothing", { walletId, addresses: [address], name: "", list: [], more: null, flag: false }, []],
    ["lists are told whole", { walletId, addresses: [address], tags: ["a", "b"] }, ["tags"]],
    [
      "of a list with a covered place, the others are told",
      { walletId, addresses: [address, OTHER] },
      ["addresses[1]"],
    ],
    [
      "objects are told by their members, at any depth",
      { wallet: { walletId, addresses: [{ address, format: "f" }], deep: { x: [1], y: "" } } },
      ["wallet.deep.x"],
    ],
    ["a wallet's id under another name", { walletId, addresses: [address], id: walletId }, ["id"]],
    [
      "another value under that name",
      { walletId, addresses: [address], tags: { subOrganizationId: "s" } },
      ["tags.subOrganizationId"],
    ],
    ["a list of it", { walletId, addresses: [address], wallets: [walletId] }, ["wallets"]],
    [
      "in lists of lists with a covered place",
      { walletId, list: [[{ address }, "x"], "y"] },
      ["list[0][1]", "list[1]"],
    ],
  ];
  it.each(members)("%s", async (_, value, paths) => {
    expect(await told(value)).toEqual(paths);
  });

  it("a new sub-organization is spoken of where proofs are of it", async () => {
    const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    const value = { subOrganizationId: "sub", wallet: { walletId, addresses: [address] } };
    expect(await told(value, { type })).toEqual(["subOrganizationId"]);
    expect(await told(value, { type, payloads: [derived({ organizationId: "sub" })] })).toEqual([]);
  });

  it("the first hundred members are told", async () => {
    const many = Array.from({ length: 101 }, (_, index) => `m${index}`);
    const value = Object.fromEntries(many.map((name) => [name, 1]));
    expect(await told({ walletId, addresses: [address], ...value })).toEqual(many.slice(0, 100));
  });

  it("nothing is told of a result that is empty", async () => {
    const activity = merged({ intent: { x: {} }, result: {} });
    const payloads = [policyOutcomePayload(after(60), organizationId)];
    const { verified } = await judged(forge({ activity, payloads }), { given: withActivity });
    expect(verified.get("activity")).toMatchObject({ resultWithoutProof: [] });
  });
});

// client/README.md, "Activities": `result.activity` repeats the full field set.
describe("an activity that repeats itself in its result", () => {
  const covered = { policy: { appProofs: { coverage: true, required: true } }, given: withActivity };
  const repeated = (each: JsonObject): JsonObject => ({ ...drop("intent")(each), result: { activity: each } });

  it("is read", async () => {
    const report = await judge(forge({ activity: repeated }), covered);
    expect(report.verdict).toBe("verified");
    expect(report.claims!.activity!.coveredAddresses).toEqual([address]);
  });

  const hidden: [name: string, activity: (activity: JsonObject) => JsonObject][] = [
    [
      "a result beside an empty repetition",
      (each) => ({
        ...each,
        result: {
          createWalletResult: { walletId: "another", addresses: [OTHER] },
          activity: { intent: {}, result: {} },
        },
      }),
    ],
    [
      "a result beside a good repetition",
      (each) => ({
        ...each,
        result: { createWalletResult: { walletId: "another", addresses: [OTHER] }, activity: each },
      }),
    ],
    ["an address beside a good repetition", (each) => ({ ...each, result: { address: OTHER, activity: each } })],
    [
      "an intent beside a good repetition",
      (each) => ({ ...each, intent: { createWalletIntent: { walletId: "another" } }, result: { activity: each } }),
    ],
    [
      "a repetition inside a repetition",
      (each) => ({
        ...each,
        result: { activity: { ...each, result: { createWalletResult: { addresses: [OTHER] }, activity: each } } },
      }),
    ],
  ];
  it.each(hidden)("hides nothing: %s", async (_, activity) => {
    const report = await judge(forge({ activity }), covered);
    expect(report.verdict).toBe("rejected");
    expect(report.checks.filter(({ subject, status }) => subject === "activity" && status === "fail")).not.toEqual([]);
  });
});

it("an activity is not made good by app proofs that stand beside it and are not its own", async () => {
  const evidence = forge();
  const activity = drop("appProofs")(evidence.activity);
  const report = await judge(evidence, {
    given: () => ({ bootProofs: [evidence.bootProof], appProofs: evidence.appProofs, activity }),
  });
  expect(idsOf(report, "fail")).toEqual(["activity.decode"]);
});
