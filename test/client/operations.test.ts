/** Every operation over real HTTP: path, stamp and body of the request, and the checked response. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  ACTIVITY_STATUSES,
  type Client,
  ClientError,
  QUERY_OPERATIONS,
  type QueryName,
  type QueryParameters,
  type QueryResult,
  SUBMIT_OPERATIONS,
  type SubmitName,
  type SubmitParameters,
  type SubmitResult,
} from "../../src/client/index.js";
import { CAIP2_CHAINS, pathOf, queryBody, submitBody } from "../../src/client/operations.js";
import { readShape } from "../../src/decode/shapes.js";
import {
  AT,
  ORGANIZATION,
  type Recorded,
  fakeFetch,
  fakeServer,
  isStamped,
  rejectionOf,
  testClient,
} from "./support.js";

const TIME = { seconds: "1772600767", nanos: "0" };
const ONRAMP = {
  fiatOnrampCredentialId: "c1",
  onrampProvider: "FIAT_ON_RAMP_PROVIDER_ALPHA",
  publishableApiKey: "pk",
  encryptedSecretApiKey: "sealed",
} as const;
const SESSION = {
  organizationId: ORGANIZATION,
  organizationName: "o",
  userId: "u1",
  username: "ada",
  apiKeyId: "k1",
  credentialBundle: "bundle",
};

const ACCOUNT = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};
const HOW_TO_SIGN = {
  signWith: "0x01",
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_KECCAK256",
};

/** The rest of a submit follows from its name; `version` is that of its type, intent and result. */
type SubmitCases = {
  readonly [N in SubmitName]: {
    readonly parameters: SubmitParameters<N>;
    readonly result: SubmitResult<N>;
    readonly version?: string;
    /** Where the result has another version than the type. */
    readonly resultVersion?: string;
  };
};
type SubmitCase = SubmitCases[SubmitName];
type Loose = Record<string, (parameters: unknown, options?: object) => Promise<Record<string, unknown>>>;

const FEATURE = { name: "FEATURE_NAME_WEBHOOK", value: "https://hooks.test/" };

// client/README.md, "Operations", spelled out here once more.
const SUBMITS: SubmitCases = {
  updateWallet: { parameters: { walletId: "w1", walletName: "Ærø ✓" }, result: { walletId: "w1" } },
  updateFiatOnRampCredential: { parameters: ONRAMP, result: { fiatOnRampCredentialId: "c1" } },
  updateUserTag: {
    parameters: { userTagId: "t1", newUserTagName: "ops", addUserIds: ["u1"], removeUserIds: [] },
    result: { userTagId: "t1" },
  },
  deleteApiKeys: { parameters: { userId: "u1", apiKeyIds: ["k1", "k2"] }, result: { apiKeyIds: ["k1", "k2"] } },
  deletePolicies: { parameters: { policyIds: ["p1"] }, result: { policyIds: ["p1"] } },
  createReadWriteSession: {
    parameters: {
      targetPublicKey: "04ab",
      userId: "u1",
      apiKeyName: "session",
      expirationSeconds: "900",
      invalidateExisting: true,
    },
    version: "V2",
    result: SESSION,
  },
  setOrganizationFeature: { parameters: FEATURE, result: { features: [FEATURE] } },
  createWallet: {
    parameters: { walletName: "treasury", accounts: [ACCOUNT], mnemonicLength: 24 },
    result: { walletId: "w1", addresses: ["0x01"] },
  },
  signRawPayload: {
    parameters: { ...HOW_TO_SIGN, payload: "p" },
    version: "V2",
    resultVersion: "",
    result: { r: "00", s: "01", v: "00" },
  },
  signRawPayloads: {
    parameters: { ...HOW_TO_SIGN, payloads: ["p", "q"] },
    result: { signatures: [{ r: "00", s: "01", v: "00" }] },
  },
  signTransaction: {
    parameters: { signWith: "0x01", unsignedTransaction: "02c0", type: "TRANSACTION_TYPE_ETHEREUM" },
    version: "V2",
    resultVersion: "",
    result: { signedTransaction: "02c1" },
  },
};

const pathNameOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const BOOT_PROOF = {
  ephemeralPublicKeyHex: "04ab",
  cloudAttestationDocB64: "AAEC",
  qosManifestB64: "AA==",
  qosManifestEnvelopeB64: "AA==",
  deploymentLabel: "d",
  enclaveApp: "signer",
  owner: "o",
  createdAt: TIME,
  qosManifestVersion: "v2",
};
const PROVIDER = {
  providerId: "i1",
  providerName: "n",
  issuer: "https://i",
  audience: "a",
  subject: "s",
  createdAt: TIME,
  updatedAt: TIME,
};
const APP_PROOF = {
  scheme: "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256",
  publicKey: "04",
  proofPayload: "{}",
  signature: "00",
};
const OPERATOR_SET = {
  id: "s1",
  name: "manifest set",
  organizationId: ORGANIZATION,
  operators: [{ id: "o1", name: "ada", publicKey: "04", createdAt: TIME }],
  threshold: 2,
};
const DEPLOYMENT = {
  id: "d1",
  organizationId: ORGANIZATION,
  appId: "1875aeaf-f5e1-4f3b-9cea-5bb5727b91e0",
  manifestSet: OPERATOR_SET,
  shareSet: OPERATOR_SET,
  manifest: { id: "m1", manifest: "e30=", createdAt: TIME },
  qosVersion: "kept",
  createdAt: TIME,
};
const PROVISIONING_DETAILS = { attestationDocument: "hEQ=", manifestEnvelope: "e30=" };
const USER = {
  userId: "u1",
  userName: "ada",
  userEmail: "ada@service.test",
  userPhoneNumber: "",
  userTags: ["t1"],
  oauthProviders: [PROVIDER],
  authenticators: [
    {
      transports: ["AUTHENTICATOR_TRANSPORT_BLE", "AUTHENTICATOR_TRANSPORT_TELEPATHY"],
      attestationType: "none",
      aaguid: "0",
      credentialId: "c",
      model: "m",
      credential: { publicKey: "04", type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR" },
      authenticatorId: "a",
      authenticatorName: "n",
      createdAt: TIME,
      updatedAt: TIME,
    },
  ],
  apiKeys: [
    {
      credential: { publicKey: "02", type: "CREDENTIAL_TYPE_NOT_KNOWN_YET" },
      apiKeyId: "k1",
      apiKeyName: "n",
      createdAt: TIME,
      updatedAt: TIME,
      expirationSeconds: "900",
    },
  ],
  createdAt: TIME,
  updatedAt: TIME,
};
const VAULT = {
  vaultAddress: "0x1",
  provider: "EARN_PROVIDER_GAMMA",
  display: { usd: "1", crypto: "2" },
  depositsDisabled: false,
};

type QueryCases = {
  readonly [N in QueryName]: { readonly parameters: QueryParameters<N>; readonly answer: QueryResult<N> };
};

const NONCES = { address: `0x${"aB".repeat(20)}`, caip2: "eip155:8453", nonce: true };
const QUERIES: QueryCases = {
  listEarnEnabledVaults: {
    parameters: { provider: "EARN_PROVIDER_BETA", caip19: "eip155:1/erc20:0xa0b8" },
    answer: { enabledVaults: [VAULT, {}] },
  },
  getBootProof: { parameters: { ephemeralKey: "04AB" }, answer: { bootProof: BOOT_PROOF } },
  getOauthProviders: { parameters: { userId: "u1" }, answer: { oauthProviders: [PROVIDER] } },
  getNonces: { parameters: NONCES, answer: { nonce: "7" } },
  getUser: { parameters: { userId: "u1" }, answer: { user: USER } },
  getLatestBootProof: { parameters: { appName: "signer" }, answer: { bootProof: BOOT_PROOF } },
  listAppProofs: { parameters: { activityId: "a1" }, answer: { appProofs: [APP_PROOF] } },
  getTvcDeployment: { parameters: { deploymentId: "d1" }, answer: { tvcDeployment: DEPLOYMENT } },
  getTvcDeploymentProvisioningDetails: { parameters: { deploymentId: "d1" }, answer: PROVISIONING_DETAILS },
};

/** The flat activity of a response. */
function activityOf(name: string, one: SubmitCase): Record<string, unknown> {
  const { parameters, result, version, resultVersion = version } = one;
  const type = `ACTIVITY_TYPE_${pathNameOf(name).toUpperCase()}`;
  return {
    id: "a1",
    organizationId: ORGANIZATION,
    status: "ACTIVITY_STATUS_COMPLETED",
    type: version === undefined ? type : `${type}_${version}`,
    intent: { [`${name}Intent${version ?? ""}`]: parameters },
    result: { [`${name}Result${resultVersion ?? ""}`]: result },
    votes: [],
    fingerprint: "f",
    canApprove: false,
    canReject: false,
    createdAt: "1772600767000",
    updatedAt: "1772600767000",
  };
}

const WALLET_ACTIVITY = activityOf("updateWallet", SUBMITS.updateWallet);

describe("over HTTP", () => {
  let reply: object;
  let server: Awaited<ReturnType<typeof fakeServer>>;
  let client: Client;
  beforeAll(async () => {
    server = await fakeServer(() => ({ body: reply }));
    client = await testClient({ baseUrl: server.baseUrl });
  });
  beforeEach(() => void server.requests.splice(0));
  afterAll(() => server.close());

  const sole = (): Recorded => {
    expect(server.requests).toHaveLength(1);
    return server.requests[0]!;
  };

  const expectSent = (path: string, body: object): void => {
    const request = sole();
    expect(request).toMatchObject({ method: "POST", path });
    expect(request.headers).toMatchObject({ "content-type": "application/json", accept: "application/json" });
    expect(Object.keys(request.headers).filter((name) => name.startsWith("x-"))).toEqual(["x-stamp"]);
    expect(isStamped(request.headers["x-stamp"] as string, request.raw)).toBe(true);
    expect(isStamped(request.headers["x-stamp"] as string, Buffer.concat([request.raw, Buffer.from(" ")]))).toBe(false);
    expect(request.body).toEqual(body);
  };

  it.each(Object.entries<SubmitCase>(SUBMITS))("%s", async (name, one) => {
    const activity = activityOf(name, one);
    reply = { activity };
    expect(await (client as object as Loose)[name]!(one.parameters)).toEqual({ activity, result: one.result });
    const path = `/public/v1/submit/${pathNameOf(name)}`;
    const [type, timestampMs] = [activity["type"], String(AT.getTime())];
    expectSent(path, { type, timestampMs, organizationId: ORGANIZATION, parameters: one.parameters });
    const operation = SUBMIT_OPERATIONS[name as SubmitName];
    expect(readShape(submitBody(operation), sole().body).faults).toEqual([]);
    expect(pathOf(operation)).toBe(path);
    expect([operation.intentMember, operation.resultMember]).toEqual(
      [activity["intent"], activity["result"]].flatMap((part) => Object.keys(part as object)),
    );
  });

  it.each(Object.entries<QueryCases[QueryName]>(QUERIES))("%s", async (name, { parameters, answer }) => {
    reply = answer;
    expect(await (client as object as Loose)[name]!(parameters)).toEqual(answer);
    const path = `/public/v1/query/${pathNameOf(name)}`;
    expectSent(path, { organizationId: ORGANIZATION, ...parameters });
    const operation = QUERY_OPERATIONS[name as QueryName];
    expect(readShape(queryBody(operation), sole().body).faults).toEqual([]);
    expect(pathOf(operation)).toBe(path);
  });

  it("sends operations that are not documented", async () => {
    reply = { activity: { anything: 1 } };
    const operation = { name: "create_wallet", type: "ACTIVITY_TYPE_CREATE_WALLET" };
    expect(await client.submit(operation, { walletName: "new" }, { generateAppProofs: false })).toEqual(reply);
    expectSent("/public/v1/submit/create_wallet", {
      type: "ACTIVITY_TYPE_CREATE_WALLET",
      timestampMs: String(AT.getTime()),
      organizationId: ORGANIZATION,
      parameters: { walletName: "new" },
      generateAppProofs: false,
    });
    server.requests.splice(0);
    reply = { whatever: [1] };
    expect(await client.query("get_activity", { activityId: "a1" })).toEqual(reply);
    expectSent("/public/v1/query/get_activity", { organizationId: ORGANIZATION, activityId: "a1" });
  });

  it("keeps the path of the base address", async () => {
    reply = { nonce: "1" };
    const behind = await testClient({ baseUrl: `${server.baseUrl}/gateway/` });
    await behind.getNonces({ address: `0x${"00".repeat(20)}`, caip2: "eip155:1" });
    expect(sole().path).toBe("/gateway/public/v1/query/get_nonces");
  });
});

const answered = async (body: unknown): Promise<Client> => testClient({ fetch: fakeFetch(() => ({ body })).fetch });

describe("responses", () => {
  it("may repeat the fields in result.activity, and are kept completely", async () => {
    const { id, status, type, organizationId } = WALLET_ACTIVITY;
    const activity = {
      id,
      status,
      type,
      organizationId,
      timestampMs: "1",
      result: { activity: { ...WALLET_ACTIVITY, later: [null] } },
      newer: { a: 1 },
    };
    const answer = await (await answered({ activity })).updateWallet({ walletId: "w1" });
    expect(answer.result).toEqual({ walletId: "w1" });
    expect(answer.activity).toEqual(activity);
  });

  it.each(ACTIVITY_STATUSES.filter((status) => !status.endsWith("COMPLETED")))(
    "have no result yet with status %s",
    async (status) => {
      const activity = { ...WALLET_ACTIVITY, status, result: null, failure: { code: 3, message: "no" } };
      expect(await (await answered({ activity })).updateWallet({ walletId: "w1" })).toEqual({ activity, result: null });
    },
  );

  it("may carry members, statuses and enum values that are not known, and null for what is absent", async () => {
    const activity = {
      ...WALLET_ACTIVITY,
      status: "ACTIVITY_STATUS_NEW",
      failure: null,
      canApprove: null,
      votes: [{ selection: "VOTE_SELECTION_MAYBE", user: null, x: 1 }],
      appProofs: [{ ...APP_PROOF, extra: true }],
      createdAt: TIME,
      other: { deep: [{ kept: true }] },
    };
    expect((await (await answered({ activity, beside: 1 })).updateWallet({ walletId: "w1" })).activity).toEqual(
      activity,
    );
    const vaults = { enabledVaults: [{ ...VAULT, newMember: "kept", curator: null }], next: "page" };
    expect(await (await answered(vaults)).listEarnEnabledVaults({})).toEqual(vaults);
    expect(await (await answered({})).listEarnEnabledVaults({})).toEqual({});
  });

  it.each(["deploymentLabel", "enclaveApp", "owner", "createdAt"])(
    "may be without the boot proof's %s",
    async (name) => {
      for (const absent of [undefined, null]) {
        const bootProof = { ...BOOT_PROOF, [name]: absent };
        const client = await answered({ bootProof });
        expect((await client.getBootProof({ ephemeralKey: "04" })).bootProof).toEqual(bootProof);
      }
    },
  );

  it("call the attestation document by the interface's name, whichever they spell", async () => {
    const { cloudAttestationDocB64, ...rest } = BOOT_PROOF;
    const aliased = await answered({ bootProof: { ...rest, awsAttestationDocB64: cloudAttestationDocB64 } });
    expect((await aliased.getBootProof({ ephemeralKey: "04" })).bootProof).toEqual(BOOT_PROOF);
    const both = await answered({ bootProof: { ...BOOT_PROOF, awsAttestationDocB64: cloudAttestationDocB64 } });
    expect((await both.getBootProof({ ephemeralKey: "04" })).bootProof).toEqual(BOOT_PROOF);
    for (const bootProof of [rest, { ...BOOT_PROOF, awsAttestationDocB64: "other" }]) {
      const error = await rejectionOf<ClientError>(
        (await answered({ bootProof })).getBootProof({ ephemeralKey: "04" }),
      );
      expect(error).toMatchObject({ code: "answer", faults: [{ path: "bootProof.cloudAttestationDocB64" }] });
    }
  });

  it("of deployments may lack what is not needed, and have more", async () => {
    const bare = {
      id: "d1",
      organizationId: "o",
      appId: "a",
      manifest: { manifest: "e30=", x: 1 },
      shareSet: null,
      y: 2,
    };
    const client = await answered({ tvcDeployment: bare, next: "page" });
    expect(await client.getTvcDeployment({ deploymentId: "d1" })).toEqual({ tvcDeployment: bare, next: "page" });
    const state = { provisioningState: "PROVISIONING_STATE_PENDING" };
    for (const details of [{ ...PROVISIONING_DETAILS, more: [1] }, { ...PROVISIONING_DETAILS, ...state }, state])
      expect(await (await answered(details)).getTvcDeploymentProvisioningDetails({ deploymentId: "d1" })).toEqual(
        details,
      );
  });

  const wallet = { name: "updateWallet", parameters: { walletId: "w1" } };
  const deployment = { name: "getTvcDeployment", parameters: { deploymentId: "d1" } };
  const details = { ...deployment, name: "getTvcDeploymentProvisioningDetails" };
  const user = { name: "getUser", parameters: { userId: "u1" } };
  const ofActivity = (more: object): object => ({ activity: { ...WALLET_ACTIVITY, ...more } });
  const ofDeployment = (more: object): object => ({ tvcDeployment: { ...DEPLOYMENT, ...more } });
  const broken: [string, typeof wallet | typeof deployment | typeof user, unknown, string[]][] = [
    ["no activity", wallet, {}, ["activity.id", "activity.organizationId", "activity.status", "activity.type"]],
    ["no status", wallet, ofActivity({ status: undefined }), ["activity.status"]],
    [
      "a result of another shape",
      wallet,
      ofActivity({ result: { updateWalletResult: { walletId: 7 } } }),
      ["activity.result.updateWalletResult.walletId"],
    ],
    [
      "empty ids and a number as manifest",
      deployment,
      ofDeployment({ organizationId: "", appId: "", manifest: { manifest: 7 } }),
      ["tvcDeployment.organizationId", "tvcDeployment.appId", "tvcDeployment.manifest.manifest"],
    ],
    [
      "a set that is text, and a threshold that is text",
      deployment,
      ofDeployment({ manifestSet: "s1", shareSet: { threshold: "2" } }),
      ["tvcDeployment.manifestSet", "tvcDeployment.shareSet.threshold"],
    ],
    ["a document that is a list", details, { attestationDocument: [] }, ["attestationDocument"]],
    [
      "several faults of a user",
      user,
      { user: { userName: 1, userTags: [2] } },
      ["user.userId", "user.userName", "user.userTags[0]"],
    ],
  ];
  it.each(broken)("are refused with %s", async (_, { name, parameters }, body, paths) => {
    const error = await rejectionOf<ClientError>(((await answered(body)) as object as Loose)[name]!(parameters));
    expect(error).toBeInstanceOf(ClientError);
    const effect = name === "updateWallet" ? "unknown" : "none";
    expect(error).toMatchObject({ code: "answer", effect, operation: pathNameOf(name) });
    expect(error.faults.map(({ path }) => path)).toEqual(paths);
  });
});

describe("responses of excessive length", () => {
  it("have a hundred faults, and the number of the others", async () => {
    const error = await rejectionOf<ClientError>(
      (await answered({ appProofs: Array(1000).fill({}) })).listAppProofs({ activityId: "a" }),
    );
    expect(error.faults).toHaveLength(101);
    expect(error.faults.slice(-2)).toEqual([
      { path: "appProofs[24].signature", message: "expected a string, got nothing" },
      { path: "", message: "and 3900 more" },
    ]);
  });

  it("of boot proofs are limited to 1 MiB", async () => {
    const proof = { bootProof: { qosManifestB64: "x".repeat(1024 * 1024 + 2000) } };
    for (const ask of [
      (client: Client) => client.getBootProof({ ephemeralKey: "04" }),
      (client: Client) => client.getLatestBootProof({ appName: "a" }),
      (client: Client) => client.getTvcDeploymentProvisioningDetails({ deploymentId: "d" }),
    ])
      expect(await rejectionOf<ClientError>(ask(await answered(proof)))).toMatchObject({
        code: "answer",
        faults: [{ message: "longer than 1049600 bytes" }],
      });
    expect((await rejectionOf<ClientError>((await answered(proof)).getUser({ userId: "u" }))).faults[0]!.path).toBe(
      "user",
    );
  });
});

describe("requests", () => {
  const wrong: [string, string, unknown, string][] = [
    ["an unknown member", "updateWallet", { walletId: "w", walletNmae: "typo" }, "parameters.walletNmae"],
    ["a missing id", "updateWallet", {}, "parameters.walletId"],
    ["an empty id", "getUser", { userId: "" }, "parameters.userId"],
    [
      "a provider that is not text",
      "updateFiatOnRampCredential",
      { ...ONRAMP, onrampProvider: 1 },
      "parameters.onrampProvider",
    ],
    [
      "a number for a decimal text",
      "createReadWriteSession",
      { targetPublicKey: "04", expirationSeconds: 900 },
      "parameters.expirationSeconds",
    ],
    ["a key that is not hex", "getBootProof", { ephemeralKey: "0x04" }, "parameters.ephemeralKey"],
    ["a chain that is not text", "getNonces", { address: `0x${"00".repeat(20)}`, caip2: 2 }, "parameters.caip2"],
    ["an address that is none", "getNonces", { address: "0x12", caip2: "eip155:1" }, "parameters.address"],
    ["no parameters", "getUser", undefined, "parameters"],
    ["a lone surrogate", "updateWallet", { walletId: "w", walletName: "\ud800" }, "parameters.walletName"],
  ];
  it.each(wrong)("with %s are not sent", async (_, name, parameters, path) => {
    const { fetch, requests } = fakeFetch(() => ({ body: {} }));
    const client = await testClient({ fetch });
    const error = await rejectionOf<ClientError>((client as unknown as Loose)[name]!(parameters));
    expect(error).toMatchObject({ name: "ClientError", code: "request", effect: "none" });
    expect(error.faults.map((fault) => fault.path)).toContain(path);
    expect(requests).toHaveLength(0);
  });

  // A newer service has values that this package does not: to refuse them is the service's.
  it.each<[string, string, object]>([
    ["onrampProvider", "updateFiatOnRampCredential", { ...ONRAMP, onrampProvider: "FIAT_ON_RAMP_PROVIDER_GAMMA" }],
    ["provider", "listEarnEnabledVaults", { provider: "EARN_PROVIDER_GAMMA" }],
    ["caip2", "getNonces", { address: `0x${"00".repeat(20)}`, caip2: "eip155:999999" }],
  ])("with a %s that is not documented are sent as they are", async (member, name, parameters) => {
    const { fetch, requests } = fakeFetch(() => ({ status: 400, body: { code: 3, message: "unknown" } }));
    const error = await rejectionOf<ClientError>(
      ((await testClient({ fetch })) as unknown as Loose)[name]!(parameters),
    );
    expect(error).toMatchObject({ name: "ServiceError", status: 400 });
    const { body } = requests[0]!;
    expect((body["parameters"] ?? body) as object).toMatchObject(parameters);
    const whole = "type" in body ? submitBody(SUBMIT_OPERATIONS.updateFiatOnRampCredential) : null;
    const strict =
      whole ?? queryBody(name === "getNonces" ? QUERY_OPERATIONS.getNonces : QUERY_OPERATIONS.listEarnEnabledVaults);
    expect(
      readShape<unknown>(strict, body).faults.map(({ path }) => path.replace("parameters.", "")),
      "a service of today",
    ).toEqual([member]);
  });

  it("never quote their values in errors", async () => {
    const client = await testClient({ fetch: fakeFetch(() => ({ body: {} })).fetch });
    const secret = "s3cr3t-value";
    const given = {
      ...ONRAMP,
      onrampProvider: { secret },
      publishableApiKey: { secret },
      projectId: 7,
    } as unknown as typeof ONRAMP;
    const error = await rejectionOf<ClientError>(client.updateFiatOnRampCredential(given));
    expect(error.faults).toHaveLength(3);
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain(secret);
  });

  it.each(["", "../query", "a/b", "A", "a b", "a%2f"])("of an operation called %j are not sent", async (name) => {
    const { fetch, requests } = fakeFetch(() => ({ body: {} }));
    const client = await testClient({ fetch });
    expect(await rejectionOf(client.submit({ name, type: "T" }, {}))).toMatchObject({ code: "request" });
    expect(await rejectionOf(client.query(name, {}))).toMatchObject({ code: "request" });
    expect(requests).toHaveLength(0);
  });

  it("know the sixteen chains", () => {
    expect(new Set(CAIP2_CHAINS).size).toBe(16);
  });
});

describe("options", () => {
  it.each([
    "",
    "service.test",
    "ftp://service.test",
    "https://user:pass@service.test",
    "https://service.test/?a=1",
    "https://service.test/#a",
  ])("refuse the base address %j", async (baseUrl) => {
    await expect(testClient({ baseUrl })).rejects.toThrow(TypeError);
  });

  it("refuse an empty organization, and no stamper", async () => {
    await expect(testClient({ organizationId: "" })).rejects.toThrow("organizationId");
    await expect(testClient({ stamper: {} as never })).rejects.toThrow("stamper");
  });
});
