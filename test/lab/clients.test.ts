/** What ordinary clients of this family send beside the documented operations (client/README.md, "Operations"). */
import { afterAll, describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import { verifyEvidence } from "../../src/index.js";
import { startLab } from "../../src/lab/index.js";
import {
  type Json,
  TWO_ACCOUNTS,
  account,
  completed,
  envelope,
  judge,
  query,
  send,
  statusOf,
  submit,
} from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { ids, operator, organizationId } = lab;
const proven = { generateAppProofs: true };
const payloadsOf = (activity: Json): Json[] =>
  activity["appProofs"].map((proof: Json) => JSON.parse(proof["proofPayload"]) as Json);
const addressProofsOf = (activity: Json): Json[] =>
  payloadsOf(activity).flatMap(({ addressDerivationProof }) => addressDerivationProof ?? []);

/** An activity that waits for votes. */
const ask = async (): Promise<Json> =>
  (await submit(lab, "updateWallet", { walletId: ids.walletId, walletName: "voted on" }, { key: operator.apiKey }))
    .body["activity"] as Json;

describe("create_wallet", () => {
  it("derives and proves an address for each account, and returns the defaults", async () => {
    const accounts = [...TWO_ACCOUNTS.accounts, account("m/44'/60'/0'/0/1", "ADDRESS_FORMAT_UNCOMPRESSED")];
    const activity = await completed(submit(lab, "createWallet", { walletName: "vault", accounts }, proven));
    expect(activity["type"]).toBe("ACTIVITY_TYPE_CREATE_WALLET");
    expect(activity["intent"]).toEqual({ createWalletIntent: { walletName: "vault", accounts, mnemonicLength: 12 } });
    const { walletId, addresses } = activity["result"].createWalletResult;
    expect(addresses).toEqual([
      expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      expect.stringMatching(/^04[0-9a-f]{128}$/),
    ]);
    expect(addressProofsOf(activity)).toEqual(
      accounts.map(({ path }, index) => ({
        organizationId,
        walletId,
        derivationPath: path,
        address: addresses[index],
      })),
    );
    expect((await judge(lab, activity)).verdict).toBe("verified");
    expect((await query(lab, "get_wallet", { walletId })).body).toMatchObject({
      wallet: { walletId, walletName: "vault" },
    });
    expect((await completed(submit(lab, "updateWallet", { walletId, walletName: "renamed" }))).result).toEqual({
      updateWalletResult: { walletId },
    });
  });

  it.each([
    ["a path that is none", { accounts: [account("44/60")] }],
    ["a path beyond its numbers", { accounts: [account("m/44'/2147483648")] }],
    ["a format that the lab does not make", { accounts: [account("m/0", "ADDRESS_FORMAT_SOLANA")] }],
    ["the same account twice", { accounts: [account("m/0"), account("m/0")] }],
    ["a mnemonic of 13 words", { accounts: [], mnemonicLength: 13 }],
    ["no accounts member", {}],
  ])("refuses %s", async (_, parameters) => {
    expect(await statusOf(submit(lab, "createWallet", { walletName: "w", ...parameters }))).toBe(400);
  });
});

it("create_private_keys returns addresses as objects, with proofs without wallet and path", async () => {
  const privateKeys = [
    {
      privateKeyName: "k",
      curve: "CURVE_SECP256K1",
      privateKeyTags: [],
      addressFormats: ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_COMPRESSED"],
    },
  ];
  const activity = await completed(submit(lab, "createPrivateKeys", { privateKeys }, proven));
  const [made] = activity["result"].createPrivateKeysResultV2.privateKeys;
  expect(made.addresses.map(({ format }: Json) => format)).toEqual(privateKeys[0]!.addressFormats);
  expect(addressProofsOf(activity)).toEqual(made.addresses.map(({ address }: Json) => ({ organizationId, address })));
});

it.each([
  ["createSubOrganization", "V7"],
  ["createSubOrganizationV8", "V8"],
] as const)(
  "%s: address proofs speak of the new organization, which is a child that acts for itself",
  async (name, version) => {
    const rootUsers = [
      {
        userName: "u",
        apiKeys: [{ apiKeyName: "k", publicKey: lab.apiKey.publicKey, curveType: "API_KEY_CURVE_P256" }],
        authenticators: [],
        oauthProviders: [],
      },
    ];
    const parameters = { subOrganizationName: "customer", rootUsers, rootQuorumThreshold: 1, wallet: TWO_ACCOUNTS };
    const activity = await completed(submit(lab, name, parameters, proven));
    expect(activity["type"]).toBe(`ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_${version}`);
    expect(activity["intent"][`createSubOrganizationIntent${version}`].wallet.mnemonicLength).toBe(12);
    const { subOrganizationId, wallet, rootUserIds } = activity["result"][`createSubOrganizationResult${version}`];
    expect(rootUserIds).toHaveLength(1);
    expect(
      addressProofsOf(activity).map((proof) => [proof["organizationId"], proof["walletId"], proof["address"]]),
    ).toEqual(wallet.addresses.map((address: string) => [subOrganizationId, wallet.walletId, address]));
    expect(payloadsOf(activity)[0]!["policyOutcomeProof"].organizationId).toBe(organizationId);
    expect(
      await statusOf(query(lab, "get_wallet", { walletId: wallet.walletId }, { organizationId: subOrganizationId })),
    ).toBe(200);
  },
);

it.each([
  [undefined, true, 200],
  [undefined, false, 200],
  [true, false, 200],
  [false, true, 200],
  [true, null, 400],
  [1, true, 400],
  [undefined, "true", 400],
])("generateAppProofs may be %j beside the parameters and %j among them: %i", async (beside, among, status) => {
  const parameters = { walletId: ids.walletId, walletName: "flagged" };
  const flagged = { ...parameters, generateAppProofs: among };
  const json = JSON.parse(envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", flagged)) as Json;
  const text = JSON.stringify({ ...json, generateAppProofs: beside });
  const answer = await send(lab, "submit/update_wallet", text);
  expect(answer.status).toBe(status);
  if (status !== 200) return;
  const { intent, appProofs } = answer.body["activity"] as Json;
  expect([intent, appProofs !== undefined]).toEqual([{ updateWalletIntent: parameters }, Boolean(beside || among)]);
});

describe("a fingerprint", () => {
  const vote = (fingerprint: string, sending = {}) =>
    send(
      lab,
      "submit/approve_activity",
      envelope(lab, "ACTIVITY_TYPE_APPROVE_ACTIVITY", { fingerprint }, sending),
      sending,
    );

  it("is accepted by votes with and without prefix", async () => {
    for (const shown of [(text: string) => text, (text: string) => text.replace("sha256:", "")]) {
      const { id, fingerprint } = await ask();
      const { status, body } = await vote(shown(fingerprint));
      expect([status, body["activity"].id, body["activity"].fingerprint]).toEqual([200, id, fingerprint]);
    }
    const { fingerprint } = await ask();
    expect((await vote(`sha256:${fingerprint}`)).status).toBe(404);
    expect((await vote(fingerprint.replace("sha256:", "sha512:"))).status).toBe(404);
  });

  it("of a vote that requests proofs: the activity has proofs from then on", async () => {
    const waiting = await ask();
    expect(waiting).not.toHaveProperty("appProofs");
    const { body } = await vote(waiting["fingerprint"], proven);
    expect(body["activity"]).toMatchObject({
      id: waiting["id"],
      type: "ACTIVITY_TYPE_UPDATE_WALLET",
      fingerprint: waiting["fingerprint"],
    });
    expect((await judge(lab, body["activity"])).verdict).toBe("verified");
  });
});

describe("queries of ordinary clients", () => {
  it("whoami", async () => {
    const { body } = await query(lab, "whoami");
    expect(body).toEqual({ organizationId, organizationName: "Lab", userId: ids.userId, username: "admin" });
    const child = { key: lab.child.apiKey, organizationId: lab.childOrganizationId };
    expect((await query(lab, "whoami", {}, child)).body).toMatchObject({
      organizationId: lab.childOrganizationId,
      userId: lab.child.userId,
    });
    // A user who does not know the own organization asks its parent, and nobody else's.
    expect((await query(lab, "whoami", {}, { key: lab.child.apiKey })).body).toMatchObject({
      organizationId: lab.childOrganizationId,
      userId: lab.child.userId,
    });
    expect(await statusOf(query(lab, "whoami", {}, { key: lab.child.apiKey, organizationId: "another" }))).toBe(404);
    expect(await statusOf(query(lab, "list_users", {}, { key: lab.child.apiKey }))).toBe(403);
  });

  it("list_activities, the newest first, filtered by one value or several", async () => {
    const list = async (parameters: Json): Promise<Json[]> =>
      (await query(lab, "list_activities", parameters)).body["activities"] as Json[];
    const limit = { paginationOptions: { limit: "100" } };
    const waiting = await ask();
    const all = await list(limit);
    expect(all[0]!["id"]).toBe(waiting["id"]);
    expect(all.at(-1)!["id"]).toBe(lab.walletActivityId);
    expect(all.every((activity) => activity["organizationId"] === organizationId)).toBe(true);
    expect((await list({})).map(({ id }) => id)).toEqual(all.slice(0, 10).map(({ id }) => id));
    const ofType = (type: string): Json[] => all.filter((activity) => activity["type"] === type);
    expect(await list({ ...limit, filterByType: "ACTIVITY_TYPE_CREATE_WALLET" })).toEqual(
      ofType("ACTIVITY_TYPE_CREATE_WALLET"),
    );
    const both = ["ACTIVITY_TYPE_CREATE_WALLET", "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2"];
    expect(await list({ ...limit, filterByType: both })).toHaveLength(both.flatMap(ofType).length);
    expect(waiting["status"]).toBe("ACTIVITY_STATUS_CONSENSUS_NEEDED");
    expect(await list({ ...limit, filterByStatus: [waiting["status"]] })).toEqual(
      all.filter(({ status }) => status === waiting["status"]),
    );
    expect(await list({ filterByStatus: "ACTIVITY_STATUS_FAILED" })).toEqual([]);
    expect(await list({ ...limit, filterByStatus: [], filterByType: [] })).toHaveLength(all.length);
    expect(await statusOf(query(lab, "list_activities", { filterByStatus: 1 }))).toBe(400);
  });
});

it("an enclave attests a nonce", async () => {
  const { enclaveId, ephemeralKey } = lab.enclaves[0]!;
  const proof = lab.attest(enclaveId, toUtf8("a verifier's nonce"));
  expect(proof["ephemeralPublicKeyHex"]).toBe(ephemeralKey);
  const { report } = await verifyEvidence({ bootProofs: [proof] }, { policy: lab.policy, now: new Date() });
  expect(report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)).toEqual(["bind.nonce"]);
  expect(() => lab.attest("signer lab.9", new Uint8Array(1))).toThrow(RangeError);
});
