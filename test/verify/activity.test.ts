/** An activity and its app proofs: what is compared, and with what. */
import { describe, expect, it } from "vitest";
import type { CheckId, CheckStatus } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { addressDerivationPayload, customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import type { Report } from "../../src/report/report.js";
import { after, drop, forge, idsOf, judge, put, withActivity } from "../attacks/support.js";

const { address, walletId, organizationId } = LAB_ADDRESS;
const OTHER = "0x00000000000000000000000000000000000000aa";
const derived = (facts: Partial<typeof LAB_ADDRESS> = {}): JsonObject =>
  addressDerivationPayload(after(60), { ...LAB_ADDRESS, ...facts });

interface Row {
  readonly name: string;
  readonly activity?: (activity: JsonObject) => JsonObject;
  readonly payloads?: JsonObject[];
  readonly claims: CheckStatus;
  readonly coverage: CheckStatus;
}

const merged =
  (more: JsonObject) =>
  (activity: JsonObject): JsonObject => ({ ...activity, ...more });
const result = (value: JsonValue) => put("result", value);
/** Of an operation that asks for no accounts. */
const elsewhere = (intent: JsonObject, value: JsonObject) => merged({ intent: { x: intent }, result: { x: value } });
const other: Partial<typeof LAB_ADDRESS> = { address: OTHER };

const rows: Row[] = [
  { name: "as it is", claims: "pass", coverage: "pass" },
  {
    name: "an address in another case",
    activity: result({ x: { walletId, addresses: [address.toLowerCase()] } }),
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "an address that is not hex, in another case",
    payloads: [derived({ address: "AbC" })],
    activity: result({ x: { walletId, addresses: ["abc"] } }),
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "an address in an account",
    activity: elsewhere({}, { walletId, accounts: [{ address, name: "a" }] }),
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "an address in arrays of arrays",
    activity: elsewhere({ walletId }, { list: [[{ address }]] }),
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "an address without 0x",
    activity: result({ x: { walletId, addresses: [address.slice(2)] } }),
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "an address beside that has no proof",
    activity: elsewhere({ walletId }, { addresses: [address, OTHER] }),
    claims: "pass",
    coverage: "warn",
  },
  {
    name: "more addresses than accounts",
    activity: result({ x: { walletId, addresses: [address, OTHER] } }),
    claims: "pass",
    coverage: "warn",
  },
  {
    name: "another address",
    activity: result({ x: { walletId, addresses: [OTHER] } }),
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "two addresses, two proofs",
    payloads: [derived(), derived(other)],
    activity: elsewhere({}, { walletId, addresses: [address, OTHER] }),
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "two addresses of one account, two proofs",
    payloads: [derived(), derived(other)],
    activity: result({ x: { walletId, addresses: [address, OTHER] } }),
    claims: "pass",
    coverage: "warn",
  },
  {
    name: "one of two proofs of another address",
    payloads: [derived(), derived(other)],
    claims: "fail",
    coverage: "pass",
  },
  { name: "a result without addresses", activity: result({ x: { walletId } }), claims: "pass", coverage: "warn" },
  {
    name: "an empty result",
    payloads: [policyOutcomePayload(after(60), organizationId)],
    activity: result({}),
    claims: "pass",
    coverage: "warn",
  },
  { name: "an empty result, and a proof of a wallet", activity: result({}), claims: "fail", coverage: "warn" },
  {
    name: "another wallet in the result",
    activity: result({ x: { walletId: "another", addresses: [address] } }),
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "the wallet in the intent",
    activity: elsewhere({ walletId }, { addresses: [address] }),
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "the wallet one level down",
    activity: elsewhere({}, { wallet: { walletId, addresses: [address] } }),
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "another wallet in the intent",
    activity: elsewhere({ walletId: "another" }, { addresses: [address] }),
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "another wallet in the intent than in the result",
    activity: elsewhere({ walletId: "another" }, { walletId, addresses: [address] }),
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "another wallet one level down",
    activity: elsewhere({}, { walletId, wallet: { walletId: "another" }, addresses: [address] }),
    claims: "fail",
    coverage: "pass",
  },
  {
    name: "a proof without a wallet",
    payloads: [drop("addressDerivationProof.walletId")(derived())],
    claims: "fail",
    coverage: "warn",
  },
  {
    name: "a proof without a wallet, of a result without one",
    claims: "pass",
    coverage: "pass",
    payloads: [drop("addressDerivationProof.walletId")(derived())],
    activity: elsewhere({}, { privateKeys: [{ addresses: [{ address }] }] }),
  },
  {
    name: "a proof of a wallet, of a result without one",
    activity: elsewhere({}, { privateKeys: [{ addresses: [{ address }] }] }),
    claims: "fail",
    coverage: "warn",
  },
  { name: "a proof of another wallet", payloads: [derived({ walletId: "another" })], claims: "fail", coverage: "warn" },
  { name: "another organization", activity: put("organizationId", "another"), claims: "fail", coverage: "pass" },
  {
    name: "a proof of another organization",
    payloads: [derived({ organizationId: "another" })],
    claims: "fail",
    coverage: "pass",
  },
  {
    name: "a proof of another organization that the result names",
    payloads: [derived({ organizationId: "sub" })],
    activity: put("result.createWalletResult.subOrganizationId", "sub"),
    claims: "fail",
    coverage: "pass",
  },
  {
    name: "a proof of the sub-organization that it makes",
    payloads: [derived({ organizationId: "sub" })],
    claims: "warn",
    coverage: "pass",
    activity: (each) =>
      put(
        "type",
        "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
      )(put("result.createWalletResult.subOrganizationId", "sub")(each)),
  },
  {
    name: "a proof of a sub-organization that stands in another place",
    payloads: [derived({ organizationId: "sub" })],
    claims: "fail",
    coverage: "pass",
    activity: (each) =>
      put(
        "type",
        "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
      )(put("result.createWalletResult.wallet", { subOrganizationId: "sub" })(each)),
  },
  {
    name: "an outcome of this organization",
    payloads: [policyOutcomePayload(after(60), organizationId), derived()],
    claims: "pass",
    coverage: "pass",
  },
  {
    name: "an outcome of another organization",
    payloads: [policyOutcomePayload(after(60), "another"), derived()],
    claims: "fail",
    coverage: "pass",
  },
  { name: "an application's own proof alone", payloads: [customPayload(after(60))], claims: "pass", coverage: "warn" },
  {
    name: "an address that is no text",
    payloads: [customPayload(after(60))],
    activity: result({ x: { addresses: [7, null, [address]] } }),
    claims: "pass",
    coverage: "warn",
  },
];

function statusOf(report: Report, id: CheckId): CheckStatus {
  return report.checks.find((check) => check.id === id)!.status;
}

describe("an activity", () => {
  it.each(rows)("$name: claims $claims, coverage $coverage", async ({ activity, payloads, claims, coverage }) => {
    const evidence = forge({ ...(payloads && { payloads }), ...(activity && { activity }) });
    const report = await judge(evidence, { given: withActivity });
    expect(statusOf(report, "activity.claims")).toBe(claims);
    expect(statusOf(report, "activity.coverage")).toBe(coverage);
    expect(report.verdict).toBe(claims === "fail" ? "rejected" : "verified");
    const strict = await judge(evidence, { given: withActivity, policy: { appProofs: { coverage: true } } });
    expect(statusOf(strict, "activity.coverage")).toBe(coverage === "warn" ? "fail" : coverage);
  });

  it("of a rejected app proof is rejected with it", async () => {
    const evidence = forge({ alterAppProof: { signature: () => new Uint8Array(64) } });
    const report = await judge(evidence, { given: withActivity });
    expect(idsOf(report, "fail")).toEqual(["app.signature"]);
    expect(statusOf(report, "activity.claims")).toBe("skip");
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
