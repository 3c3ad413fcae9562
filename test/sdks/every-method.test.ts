/** The lab's tables compared with the newest SDK, and every method of three SDKs against the lab. */
import { encode } from "cborg";
import { encryptOtpCodeToBundle } from "@turnkey/crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex } from "../../src/bytes.js";
import type { Shape } from "../../src/decode/shapes.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { type Lab, SoftwarePasskey, startLab } from "../../src/lab/index.js";
import { LAB_OPERATIONS } from "../../src/lab/operations.js";
import { LAB_QUERIES } from "../../src/lab/queries.js";
import { type Json, TARGET_PUBLIC_KEY, query, submit } from "../lab/support.js";
import { type Operation, type Type, readInterface } from "./interface.js";
import { SDKS, type Sdk, placeOf } from "./support.js";

const OPERATIONS = readInterface();
const ROWS = { submit: Object.values(LAB_OPERATIONS), query: Object.values(LAB_QUERIES) };

describe("the lab's tables", () => {
  it.each(["submit", "query"] as const)("have every path of the newest interface, and no other: %s", (group) => {
    const names = OPERATIONS.filter((one) => one.group === group).map(({ name }) => name);
    expect(names).toHaveLength({ submit: 118, query: 74 }[group]);
    expect([...new Set(ROWS[group].map(({ name }) => name))].sort()).toEqual(names.sort());
  });

  it("have the type of each submit", () => {
    for (const { name, type } of OPERATIONS.filter(({ group }) => group === "submit"))
      expect(ROWS.submit.filter((one) => one.name === name).map((one) => one.type)).toContain(type);
  });

  /** The names of all members, at any depth, sorted, with `?` where they are optional. */
  function namesOf(type: Type, at = ""): string[] {
    if (typeof type === "string" || Array.isArray(type)) return [];
    if ("list" in type) return namesOf(type["list"] as Type, `${at}[]`);
    return Object.entries(type as Readonly<Record<string, Type>>).flatMap(([name, member]) => [
      `${at}.${name}`,
      ...namesOf(member, `${at}.${name.replace("?", "")}`),
    ]);
  }
  function labNamesOf({ form }: Shape<unknown>, at = ""): string[] {
    if (form !== undefined && "items" in form) return labNamesOf(form.items, `${at}[]`);
    if (form === undefined || !("members" in form)) return [];
    return Object.entries(form.members).flatMap(([name, member]) => [
      `${at}.${name}${"optional" in member ? "?" : ""}`,
      ...labNamesOf(member, `${at}.${name}`),
    ]);
  }
  const plain = (names: readonly string[]): string[] => names.map((name) => name.replaceAll("?", "")).sort();

  it.each(OPERATIONS)(
    "accept each member of $group/$name that the interface has",
    ({ group, name, type, parameters }) => {
      const row = ROWS[group].find(
        (one) => one.name === name && (type === null || !("type" in one) || one.type === type),
      )!;
      const known = plain(labNamesOf(row.parameters));
      const isKnown = (member: string): boolean =>
        known.includes(member) ||
        known.some(
          (one) =>
            member.startsWith(`${one}.`) &&
            !known.some((two) => two.startsWith(`${one}.`) || two.startsWith(`${one}[]`)),
        );
      expect(plain(namesOf(parameters)).filter((member) => !isKnown(member))).toEqual([]);
    },
  );
});

/** The input of a method: its required members, by their names or by their types. */
function sampleOf(type: Type, known: Json, name = ""): unknown {
  if (Object.hasOwn(known, name)) return known[name];
  if (typeof type === "string") return { text: "text", flag: false, number: 1 }[type];
  if (Array.isArray(type)) return type[0];
  if ("list" in type) return [sampleOf(type["list"] as Type, known, name.replace(/s$/, ""))];
  const required = Object.entries(type as Readonly<Record<string, Type>>).filter(([member]) => !member.endsWith("?"));
  return Object.fromEntries(required.map(([member, one]) => [member, sampleOf(one, known, member)]));
}

const jwt = (claims: Json): string =>
  [{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") + ".AA";

/** A new passkey as `navigator.credentials.create` registers it. */
function attestationObject(passkey: SoftwarePasskey): string {
  const id = Buffer.from(passkey.credentialId, "base64url");
  const point = fromHex(passkey.publicKey)!;
  const key = new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, point.subarray(1, 33)],
    [-3, point.subarray(33)],
  ]);
  const head = concatBytes(new Uint8Array(53), Uint8Array.of(0, id.length));
  const authData = concatBytes(head, id, encode(key));
  return Buffer.from(encode({ fmt: "none", attStmt: {}, authData })).toString("base64url");
}

async function knownOf(lab: Lab): Promise<Json> {
  const [{ address }] = (await query(lab, "list_wallet_accounts")).body["accounts"];
  const { enabledVaults } = (await query(lab, "list_earn_enabled_vaults")).body;
  const passkey = new SoftwarePasskey();
  const { publicKey } = generateApiKey();
  return {
    walletId: lab.ids.walletId,
    userTagIds: [],
    userTags: [],
    userIds: [],
    privateKeyIds: [],
    privateKeyTags: [],
    receiverUserTags: [],
    addUserIds: [],
    removeUserIds: [],
    addPrivateKeyIds: [],
    removePrivateKeyIds: [],
    address,
    signWith: address,
    from: address,
    publicKey,
    targetPublicKey: TARGET_PUBLIC_KEY,
    credentialId: passkey.credentialId,
    attestationObject: attestationObject(passkey),
    transports: ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
    curve: "CURVE_SECP256K1",
    curveType: "API_KEY_CURVE_P256",
    path: `m/44'/60'/0'/0/${Date.now() % 2 ** 31}`,
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
    addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
    onrampProvider: "FIAT_ON_RAMP_PROVIDER_ALPHA",
    caip2: "eip155:1",
    chainCaip2: "eip155:1",
    payload: "11".repeat(32),
    encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
    hashFunction: "HASH_FUNCTION_NO_OP",
    unsignedTransaction: `02e70180808082520894${"22".repeat(20)}880de0b6b3a764000080c0`,
    url: "http://127.0.0.1:9/hook",
    wrapperAddress: enabledVaults[0].wrapperAddress,
    ephemeralKey: lab.enclaves[0]!.ephemeralKey,
    appName: "signer",
    activityId: lab.walletActivityId,
    contact: "admin@lab.example",
    email: "admin@lab.example",
    oauthProviders: [],
    oidcToken: jwt({ iss: "https://accounts.lab.example", sub: "admin", aud: "lab-app" }),
    oidcClaims: { iss: "i", sub: "s", aud: "a" },
    deleteWithoutExport: true,
  };
}

const POLICY = {
  ...{ policyName: "p", effect: "EFFECT_ALLOW", notes: "" },
  condition: "activity.type == 'ACTIVITY_TYPE_NONE'",
};

/** What a method needs beside what is known. */
const MORE: Readonly<Record<string, (lab: Lab, known: Json) => Json | Promise<Json>>> = {
  setOrganizationFeature: () => ({ name: "FEATURE_NAME_SMS_AUTH" }),
  removeOrganizationFeature: () => ({ name: "FEATURE_NAME_SMS_AUTH" }),
  updateRootQuorum: (lab) => ({ userIds: [lab.ids.userId], threshold: 1 }),
  createReadWriteSession: (lab) => ({ userId: lab.ids.userId }),
  createPolicy: () => POLICY,
  createPolicies: () => ({ policies: [POLICY] }),
  createOauthProviders: (_, { userId, oidcToken }) => ({
    ...{ userId, oauthProviders: [{ providerName: "p", oidcToken }] },
  }),
  deleteUsers: (_, { createUsers }) => ({ userIds: createUsers.userIds }),
  deleteUserTags: (_, { createUserTag }) => ({ userTagIds: [createUserTag.userTagId] }),
  deletePrivateKeyTags: (_, { createPrivateKeyTag }) => ({ privateKeyTagIds: [createPrivateKeyTag.privateKeyTagId] }),
  deleteTvcAppAndDeployments: (_, { createTvcApp }) => ({ appId: createTvcApp.appId }),
  deletePrivateKeys: (_, { privateKeys }) => ({
    ...{ privateKeyIds: [privateKeys[0].privateKeyId], deleteWithoutExport: true },
  }),
  exportPrivateKey: (_, { privateKeys }) => ({ privateKeyId: privateKeys[0].privateKeyId }),
  getPrivateKey: (_, { privateKeys }) => ({ privateKeyId: privateKeys[0].privateKeyId }),
  deleteWallets: async (lab) => {
    const made = await submit(lab, "createWallet", { walletName: "w", accounts: [] });
    return { walletIds: [made.body["activity"].result.createWalletResult.walletId], deleteWithoutExport: true };
  },
  deleteWalletAccounts: async (lab) => {
    const { accounts } = (await query(lab, "list_wallet_accounts")).body;
    return { walletAccountIds: [accounts.at(-1).walletAccountId], deleteWithoutExport: true };
  },
  verifyOtp: async (_, { initOtp: { otpId, otpEncryptionTargetBundle: target }, publicKey }) => {
    const { enclaveQuorumPublic } = JSON.parse(target) as { enclaveQuorumPublic: string };
    return {
      otpId,
      encryptedOtpBundle: await encryptOtpCodeToBundle("000000", target, publicKey, enclaveQuorumPublic),
    };
  },
  approveActivity: waiting,
  rejectActivity: waiting,
  deleteApiKeys: (_, { userId, apiKeyIds }) => ({ userId, apiKeyIds }),
  deletePolicy: (_, { policyId }) => ({ policyId }),
  deleteInvitation: (_, { invitationIds }) => ({ invitationId: invitationIds[0] }),
  updateFiatOnRampCredential: (_, known) => ({ fiatOnrampCredentialId: known["fiatOnRampCredentialId"] }),
  deleteFiatOnRampCredential: (_, known) => ({ fiatOnrampCredentialId: known["fiatOnRampCredentialId"] }),
  getApiKey: (_, { apiKeyIds }) => ({ apiKeyId: apiKeyIds[0] }),
  getAuthenticator: (_, { authenticatorIds }) => ({ authenticatorId: authenticatorIds[0] }),
  getTvcApp: (_, { createTvcApp }) => ({ tvcAppId: createTvcApp.appId }),
  getTvcDeployment: (lab) => ({ deploymentId: lab.applications[0]!.deploymentId }),
  getTvcDeploymentProvisioningDetails: (lab) => ({ deploymentId: lab.applications[0]!.deploymentId }),
  getClaimEarnFeesStatus: (_, known) => ({ claimRequestId: known["claimEarnFees"].claimRequestId }),
  getEarnClaimRewardsStatus: (_, known) => ({ claimRequestId: known["earnClaimRewards"].claimRequestId }),
  listSuborgs: () => ({}),
};

/** The inputs of submits of which the newest core still sends the type of an earlier version. */
const OF_CORE: Readonly<Record<string, (known: Json) => Json>> = {
  ethSendTransaction: ({ from, caip2 }) => ({ from, to: from, caip2 }),
  solSendTransaction: ({ signWith }) => ({ signWith, unsignedTransaction: "00", caip2: "solana:devnet" }),
  verifyOtp: ({ initOtp, publicKey }) => ({ otpId: initOtp.otpId, otpCode: "000000", publicKey }),
};

async function waiting(lab: Lab): Promise<Json> {
  const walletName = `asked for at ${performance.now()}`;
  const asked = await submit(
    lab,
    "updateWallet",
    { walletId: lab.ids.walletId, walletName },
    { key: lab.operator.apiKey },
  );
  expect(asked.body["activity"].status).toBe("ACTIVITY_STATUS_CONSENSUS_NEEDED");
  return { fingerprint: asked.body["activity"].fingerprint };
}

/** Makes first, then changes and reads, and deletes last. */
function orderOf({ group, method }: Operation): number {
  if (method === "createUsers") return -1;
  if (/^(create|init|import|earn|claim|ethSend|executeSwap)/.test(method)) return 0;
  if (method === "verifyOtp") return 1;
  return group === "submit" && /^(delete|remove)/.test(method) ? 3 : 2;
}

/** The parts of an answer that are ids for the next methods. */
function learned(method: string, answer: Json): Json {
  const result = answer["activity"]?.result ?? answer;
  const members = Object.assign(
    {},
    result,
    ...Object.values(result as Json).filter((one) => typeof one === "object"),
  ) as Json;
  const facts = Object.entries(members).filter(
    ([name]) =>
      /(?:Ids?|Bundle|Token|^privateKeys)$/.test(name) &&
      !["userIds", "privateKeyIds", "walletId", "organizationId", "userId", "oidcToken"].includes(name),
  );
  const users =
    Array.isArray(members["userIds"]) && members["userIds"].length > 0 ? { userId: members["userIds"][0] } : {};
  return { ...Object.fromEntries(facts), ...(method === "createUsers" ? users : {}), [method]: members };
}

function inputOf(sdk: Sdk, { type }: Operation, organizationId: string, parameters: Json): Json {
  if (sdk.isFlat || type === null) return { organizationId, ...parameters };
  return { type, timestampMs: String(Date.now()), organizationId, parameters };
}

describe.each(SDKS)("all methods of $name", (sdk) => {
  it("are answered", { timeout: 180_000 }, async () => {
    const lab = await startLab({ applications: [{ name: "app", binaryDigest: "11".repeat(32) }] });
    const client = sdk.client(placeOf(lab));
    const child = sdk.client(placeOf(lab, { key: lab.child.apiKey, organizationId: lab.childOrganizationId }));
    const known = await knownOf(lab);
    const methods = OPERATIONS.filter(({ method }) => typeof client[method] === "function");
    const refused: string[] = [];
    for (const operation of methods.sort((one, other) => orderOf(one) - orderOf(other))) {
      const { method, parameters } = operation;
      const isOfChild = method === "deleteSubOrganization";
      try {
        const more = await MORE[method]?.(lab, known);
        const older = sdk.name === "core" ? OF_CORE[method]?.(known) : undefined;
        const input = older ?? { ...(sampleOf(parameters, { ...known, ...more }) as Json), ...more };
        if (isOfChild) input["deleteWithoutExport"] = true;
        const organizationId = isOfChild ? lab.childOrganizationId : lab.organizationId;
        const answer = await (isOfChild ? child : client)[method]!(inputOf(sdk, operation, organizationId, input));
        Object.assign(known, learned(method, answer));
      } catch (error) {
        refused.push(`${method}: ${String(error)}`);
      }
    }
    await lab.close();
    expect(refused).toEqual([]);
    expect(methods.length).toBeGreaterThanOrEqual({ http: 192, "sdk-server": 160, core: 160 }[sdk.name]);
  });
});
