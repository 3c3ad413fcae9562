/**
 * The client against the lab, over real HTTP: every operation, both kinds of stamp, a session, a webhook, and every
 * fault.
 */
import { createECDH } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { AskService } from "../../src/door/evidence-source.js";
import {
  apiKeyStamper,
  createClient,
  encryptOnRampSecret,
  fetchLatestBootProof,
  openSession,
  webhookHandler,
} from "../../src/client/index.js";
import { renderText } from "../../src/index.js";
import { startLab } from "../../src/lab/index.js";
import { loopback } from "../support/loopback.js";
import { members, typed as typedData } from "../support/typed-data.js";
import { rejectionOf } from "./support.js";

/** Two proofs of an address within one millisecond are equal, so the second would count as one that was used before. */
let last = 0;
const now = (): Date => new Date((last = Math.max(Date.now(), last + 1)));
const lab = await startLab({ now, applications: [{ name: "own", binaryDigest: "00".repeat(32) }] });
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

const { ids } = lab;
const connection = {
  baseUrl: lab.baseUrl,
  organizationId: lab.organizationId,
  stamper: await apiKeyStamper(lab.apiKey),
};
const client = createClient(connection);
const verified = client.withVerification(lab.policy);

describe("the newest boot proof of an application", () => {
  const query: AskService = (name, parameters) => client.query(name, parameters);

  it("is null where the service has none, and none of another application's label", async () => {
    expect(await fetchLatestBootProof(query, "nobody")).toBeNull();
    const mistaken: AskService = (name) => query(name, { appName: "signer" });
    await expect(fetchLatestBootProof(mistaken, "policy-engine")).rejects.toMatchObject({
      code: "answer",
      message: expect.stringContaining('"signer", expected "policy-engine"') as string,
    });
    expect(await fetchLatestBootProof(async () => ({ bootProof: { enclaveApp: null } }), "x")).toEqual({
      enclaveApp: null,
    });
    await expect(fetchLatestBootProof(() => Promise.reject(new Error("down")), "x")).rejects.toThrow("down");
  });
});

describe("verified calls", () => {
  it("of every submit", async () => {
    const onRampKey = createECDH("prime256v1").generateKeys("hex", "compressed");
    const calls = [
      await verified.updateWallet({ walletId: ids.walletId, walletName: "verified" }),
      await verified.updateFiatOnRampCredential({
        fiatOnrampCredentialId: ids.fiatOnrampCredentialId,
        onrampProvider: "FIAT_ON_RAMP_PROVIDER_BETA",
        publishableApiKey: "pk_test",
        encryptedSecretApiKey: await encryptOnRampSecret("sk_test", onRampKey),
      }),
      await verified.updateUserTag({
        userTagId: ids.userTagId,
        newUserTagName: "staff",
        addUserIds: [ids.userId],
        removeUserIds: [],
      }),
      await verified.setOrganizationFeature({ name: "FEATURE_NAME_LAB", value: "on" }),
      await verified.deleteApiKeys({ userId: ids.userId, apiKeyIds: [ids.spareApiKeyId] }),
      await verified.deletePolicies({ policyIds: [ids.policyId] }),
    ];
    expect(calls.map(({ report }) => report.verdict)).toEqual(calls.map(() => "verified"));
    expect(calls.map(({ result }) => Object.values(result)[0])).toEqual([
      ids.walletId,
      ids.fiatOnrampCredentialId,
      ids.userTagId,
      expect.arrayContaining([expect.objectContaining({ name: "FEATURE_NAME_LAB" })]),
      [ids.spareApiKeyId],
      [ids.policyId],
    ]);
  });

  it("of a new wallet, and of signatures by its key", async () => {
    const made = await verified.createWallet({
      walletName: "treasury",
      accounts: [
        {
          curve: "CURVE_SECP256K1",
          pathFormat: "PATH_FORMAT_BIP32",
          path: "m/44'/60'/0'/0/0",
          addressFormat: "ADDRESS_FORMAT_ETHEREUM",
        },
      ],
    });
    const [address] = made.result.addresses as [string];
    expect(made.report.claims!.activity!.coveredAddresses).toEqual([address]);
    const how = {
      signWith: address,
      encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
      hashFunction: "HASH_FUNCTION_KECCAK256",
    } as const;
    const one = await verified.signRawPayload({ ...how, payload: "pay" });
    const several = await verified.signRawPayloads({ ...how, payloads: ["pay", "hold"] });
    const transaction = await verified.signTransaction({
      signWith: address,
      type: "TRANSACTION_TYPE_ETHEREUM",
      unsignedTransaction: "0x02c90180808080808000c0",
    });
    const signers = [one, several, transaction].map(({ report }) =>
      report.claims!.activity!.signatures!.map(({ signWith, open }) => [signWith, open]),
    );
    expect(signers).toEqual([1, 2, 1].map((count) => Array(count).fill([address, null])));
    expect(several.result.signatures).toHaveLength(2);
    expect([one.result.r, transaction.result.signedTransaction]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^02[0-9a-f]+$/),
    ]);
  });

  it("of a session, whose key then makes verified calls itself", async () => {
    const { session, result } = await openSession(verified, { apiKeyName: "from a test", expirationSeconds: "60" });
    expect(result.userId).toBe(ids.userId);
    const own = createClient({ ...connection, stamper: session.stamper });
    expect(
      (await own.getUser({ userId: ids.userId })).user.apiKeys!.some(({ apiKeyId }) => apiKeyId === result.apiKeyId),
    ).toBe(true);
    expect(
      (await own.withVerification(lab.policy).updateWallet({ walletId: ids.walletId, walletName: "session" })).report
        .verdict,
    ).toBe("verified");
  });

  it("of a past activity without app proofs, with a message that names generateAppProofs", async () => {
    const { activity } = await client.updateWallet({ walletId: ids.walletId, walletName: "unproven" });
    const { message } = await rejectionOf(verified.verifyActivity(activity));
    expect(message).toMatch(
      /^rejected: activity\.decode \(\S+\): this operation returned no app proofs: was `generateAppProofs` set; 16 op/,
    );
  });
});

describe("verified signatures", async () => {
  const accounts = async (): Promise<string[]> => {
    const listed = await client.query("list_wallet_accounts", { walletId: ids.walletId });
    return (listed["accounts"] as { address: string }[]).map(({ address }) => address);
  };
  const [ethereum] = (await accounts()) as [string];
  const solana = {
    curve: "CURVE_ED25519",
    pathFormat: "PATH_FORMAT_BIP32",
    path: "m/44'/501'/0'/0'",
    addressFormat: "ADDRESS_FORMAT_SOLANA",
  };
  await client.submit(
    { name: "create_wallet_accounts", type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS" },
    { walletId: ids.walletId, accounts: [solana] },
  );
  const ed25519 = (await accounts()).at(-1)!;
  const payload = { name: "sign_raw_payload", type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2" };
  const payloads = { name: "sign_raw_payloads", type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS" };
  const transaction = { name: "sign_transaction", type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2" };
  const encoded = (encoding: string, hash: string, more: object): object => ({
    signWith: ethereum,
    encoding: `PAYLOAD_ENCODING_${encoding}`,
    hashFunction: `HASH_FUNCTION_${hash}`,
    ...more,
  });
  const to = `0x${"cc".repeat(20)}`;
  const types = {
    Person: members("string", "address[]"),
    Root: members("Person", "Person[2]", "bytes4", "bytes", "int64", "uint256", "bool"),
  };
  const EIP712Domain = [
    { name: "name", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ];
  const [bob, nobody] = [
    { m0: "Bob", m1: [] },
    { m0: "", m1: [to] },
  ];
  const message = { m0: { m0: "Cow", m1: [to, to] }, m1: [bob, nobody], m2: "0x01020304", m3: "0x0506", m4: "-7" };
  const typed = {
    ...typedData({ EIP712Domain, ...types }, { ...message, m5: String(2n ** 255n), m6: true }),
    domain: { name: "Lab", chainId: "0x1", verifyingContract: to },
  };
  const authorization = { address: to, chainId: 8453, nonce: 200 };
  /** As ethers serializes it. */
  const ethereumTransaction = (unsignedTransaction: string): object => ({
    signWith: ethereum,
    type: "TRANSACTION_TYPE_ETHEREUM",
    unsignedTransaction,
  });
  const address = "cc".repeat(20);
  const long = `0x02fa011190018080800194${address}80ba011170${"ab".repeat(70_000)}c0`;

  const requests: [string, { name: string; type: string }, object][] = [
    ["text", payload, encoded("TEXT_UTF8", "KECCAK256", { payload: "pay" })],
    ["text with SHA-256", payload, encoded("TEXT_UTF8", "SHA256", { payload: "pay" })],
    ["hex", payload, encoded("HEXADECIMAL", "KECCAK256", { payload: "0x0102" })],
    ["a digest", payload, encoded("HEXADECIMAL", "NO_OP", { payload: "ab".repeat(32) })],
    ["typed data", payload, encoded("EIP712", "NO_OP", { payload: JSON.stringify(typed) })],
    [
      "an authorization",
      payload,
      encoded("EIP7702_AUTHORIZATION", "NO_OP", { payload: JSON.stringify(authorization) }),
    ],
    ["several", payloads, encoded("TEXT_UTF8", "KECCAK256", { payloads: ["a", "b", "c"] })],
    ["Ed25519", payloads, encoded("TEXT_UTF8", "NOT_APPLICABLE", { payloads: ["a", "b"], signWith: ed25519 })],
    ["a legacy transaction", transaction, ethereumTransaction(`0xe182012c018094${address}80808221058080`)],
    ["a transaction of no chain", transaction, ethereumTransaction(`0xda80018094${address}8080`)],
    ["EIP-2930", transaction, ethereumTransaction(`0x01f30180808094${address}8080d7d694${address}c0`)],
    ["EIP-1559, and a contract's creation", transaction, ethereumTransaction("0x02c90180808080808000c0")],
    ["a long transaction", transaction, ethereumTransaction(long)],
  ];

  it.each(requests)("%s", async (_, operation, parameters) => {
    const { report, result } = await verified.submit(operation, parameters);
    expect(result).not.toBeNull();
    const { signatures = [], resultWithoutProof } = report.claims!.activity!;
    expect(signatures.map(({ open }) => open)).toEqual(Array.from(signatures, () => null));
    expect(signatures.length).toBeGreaterThan(0);
    expect(resultWithoutProof).toEqual([]);
    const proven = renderText(report).replace(/\s+/g, " ");
    expect(proven).toMatch(/signatures? verif(?:y|ies) under \S+, over what you submitted/);
  });

  it("under an id names the key as the service's word", async () => {
    const listed = await client.query("list_wallet_accounts", { walletId: ids.walletId });
    const [{ walletAccountId, publicKey }] = listed["accounts"] as [{ walletAccountId: string; publicKey: string }];
    const parameters = encoded("TEXT_UTF8", "KECCAK256", { payload: "pay", signWith: walletAccountId });
    const { report } = await verified.submit(payload, parameters);
    expect(report.claims!.activity!.signatures).toEqual([
      { index: 0, signWith: walletAccountId, publicKey, open: expect.stringContaining("is an id") as string },
    ]);
    expect(renderText(report).replace(/\s+/g, " ")).toMatch(
      /The signature: it verifies over what you submitted, under [0-9a-f]{66} for/,
    );
  });

  it.each([
    ["typed data without the type of its domain", { ...typed, types }],
    ["typed data with a member of another type", { ...typed, message: { ...typed.message, m6: 1 } }],
  ])("%s is not proven", async (_, json) => {
    lab.setFault(null);
    const parameters = encoded("EIP712", "NO_OP", { payload: JSON.stringify(json) });
    // The lab does not sign it either: another activity that was completed has to do.
    const { activity } = await verified.submit(payload, encoded("TEXT_UTF8", "SHA256", { payload: "pay" }));
    const intent = { signRawPayloadIntentV2: parameters };
    const { report } = await verified.verifyActivity(
      { ...activity, intent },
      { expected: { type: payload.type, parameters } },
    );
    expect(report.checks.find(({ id }) => id === "activity.signature")?.status).toBe("warn");
    expect(report.claims!.activity!.resultWithoutProof).toEqual(["r", "s", "v"]);
  });
});

it("receives webhooks, and verifies their activities", async () => {
  const outcomes: string[] = [];
  const handle = webhookHandler({
    verified,
    organizationIds: [lab.organizationId, lab.childOrganizationId],
    jwks: lab.jwks,
    onVerified: ({ activity }) => void outcomes.push(`verified ${activity.type}`),
    onRejected: ({ activity }, { failures }) =>
      void outcomes.push(`rejected ${activity.type} ${failures.map(({ id }) => id).join()}`),
  });
  const server = await loopback(async ({ method = "", headers }, outgoing, body) => {
    const received = { method, headers: headers as Record<string, string>, body: body };
    const { status } = await handle(new Request("http://receiver/", received));
    outgoing.writeHead(status).end();
  });
  const url = `${server.url}/`;
  try {
    await verified.setOrganizationFeature({ name: "FEATURE_NAME_WEBHOOK", value: url });
    await lab.deliveriesSettled();
    outcomes.splice(0);
    await verified.updateWallet({ walletId: ids.walletId, walletName: "hooked" });
    await client.updateWallet({ walletId: ids.walletId, walletName: "hooked again" });
    await lab.deliveriesSettled();
    expect(outcomes.sort()).toEqual([
      "rejected ACTIVITY_TYPE_UPDATE_WALLET activity.decode",
      "verified ACTIVITY_TYPE_UPDATE_WALLET",
    ]);
  } finally {
    await client.setOrganizationFeature({ name: "FEATURE_NAME_WEBHOOK", value: "" });
    await lab.deliveriesSettled();
    await server.close();
  }
});
