/** Accounts of a sub-organization by the key of its user, with the kept evidence of its sign-up, against the lab. */
import { afterAll, describe, expect, it } from "vitest";
import { type VerifiedOptions, reportOf, verified, verifiedFetch } from "../../src/adapters/index.js";
import type { AddressRow } from "../../src/addresses/index.js";
import {
  type Client,
  type ClientError,
  type RejectedAddressesError,
  apiKeyStamper,
  createClient,
} from "../../src/client/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { type ApiKeyPair, stampWithApiKey, startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TARGET_PUBLIC_KEY, TWO_ACCOUNTS, completed, query, submit } from "../lab/support.js";
import { proxyFor } from "../proxy/support.js";

const lab = await startLab();
afterAll(() => lab.close());

/** An organization and its user. */
interface Made {
  readonly key: ApiKeyPair;
  readonly organizationId: string;
  readonly walletId: string;
  readonly kept: Json;
}

function userOf({ publicKey }: ApiKeyPair): Json {
  const apiKeys = [{ apiKeyName: "of the user", publicKey, curveType: "API_KEY_CURVE_P256" }];
  return { userName: "user", apiKeys, authenticators: [], oauthProviders: [] };
}

/** The activity of the parent, as a backend keeps it, with the boot proofs of its keys. */
async function madeByParent(): Promise<Made> {
  const key = generateApiKey();
  const own = { subOrganizationName: "customer", rootUsers: [userOf(key)], rootQuorumThreshold: 1 };
  const made = submit(lab, "createSubOrganization", { ...own, wallet: TWO_ACCOUNTS }, { generateAppProofs: true });
  const activity = await completed(made);
  const { subOrganizationId, wallet } = activity["result"]["createSubOrganizationResultV7"] as Json;
  return {
    key,
    organizationId: subOrganizationId as string,
    walletId: wallet.walletId as string,
    kept: { activity, bootProofs: await bootProofsOf(activity) },
  };
}

/** The answer of the auth proxy. */
async function signedUp(): Promise<Made> {
  const headers = { "X-Auth-Proxy-Config-ID": "lab" };
  const key = generateApiKey();
  const body = JSON.stringify({ ...userOf(key), wallet: TWO_ACCOUNTS });
  const response = await fetch(`${lab.authProxy.url}/v1/signup_v2`, { method: "POST", body, headers });
  const kept = (await response.json()) as Json;
  return { key, organizationId: kept["organizationId"] as string, walletId: kept["wallet"].walletId as string, kept };
}

async function bootProofsOf(activity: Json): Promise<Json[]> {
  const keys = new Set<string>((activity["appProofs"] ?? []).map((proof: Json) => proof["publicKey"]));
  const asked = [...keys].map((ephemeralKey) => query(lab, "get_boot_proof", { ephemeralKey }));
  return (await Promise.all(asked)).map(({ body }) => body["bootProof"] as Json);
}

/** Shaped as the clients of SDKs, with the key of the user. */
class Sdk {
  readonly config: { readonly key: ApiKeyPair };
  getWalletAccounts = (input: Json): Promise<Json> => this.request("/public/v1/query/list_wallet_accounts", input);

  constructor(config: { readonly key: ApiKeyPair }) {
    this.config = config;
  }

  async request(path: string, body: unknown): Promise<Json> {
    const text = JSON.stringify(body);
    const headers = { "X-Stamp": stampWithApiKey(this.config.key, text) };
    const response = await fetch(lab.baseUrl + path, { method: "POST", body: text, headers });
    if (!response.ok) throw new Error(`${response.status} refused`);
    return (await response.json()) as Json;
  }
}

const { policy } = lab.authProxy;
const { baseUrl } = lab;
const clientOf = async ({ organizationId, key }: Made): Promise<Client> =>
  createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(key) });
const requestOf = ({ organizationId, walletId, key }: Made): RequestInit => {
  const body = JSON.stringify({ organizationId, walletId });
  const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(key, body) };
  return { method: "POST", body, headers };
};
const PATH = "/public/v1/query/list_wallet_accounts";
type Options = Partial<VerifiedOptions>;
type Door = (made: Made, options: Options) => Promise<readonly AddressRow[]>;

const wrapped: Door = async ({ organizationId, walletId, key }, options) => {
  const client = verified(new Sdk({ key }), { policy, organizationId, verifyAddresses: true, ...options });
  return reportOf(await client.getWalletAccounts({ organizationId, walletId }))!.rows!;
};
const fetching: Door = async (made, { signUpEvidence }) => {
  const evidence = await clientOf(made);
  const through = verifiedFetch({
    policy,
    baseUrl,
    evidence,
    verifyAddresses: true,
    ...(signUpEvidence && { signUpEvidence }),
  });
  return reportOf(await through(baseUrl + PATH, requestOf(made)))!.rows!;
};
const DOORS = [
  ["a wrapped client", wrapped],
  ["a wrapped fetch", fetching],
] as const;

const parents = await madeByParent();
const others = await madeByParent();
const signUps = await signedUp();
const classes = (rows: readonly AddressRow[]): string[] => rows.map((row) => row.class);
const refusal = async (rows: Promise<unknown>): Promise<string> =>
  (await rejectionOf<RejectedAddressesError>(rows)).message;
const withActivity = ({ kept }: Made, alter: (activity: Json) => Json): Json => ({
  ...kept,
  activity: alter(kept["activity"] as Json),
});

describe.each(DOORS)("the key of a sub-organization's user, by %s", (_, ask) => {
  it("knows nothing of the parent's activity", async () => {
    const message = await refusal(ask(parents, {}));
    expect(message).toContain("service: 0x");
    expect(message).toContain("the parent organization is not known");
    expect(await refusal(ask(parents, { signUpEvidence: () => null }))).toBe(message);
  });

  it("verifies the kept activity, with its boot proofs, without them, and as text", async () => {
    const { activity } = parents.kept as { activity: Json };
    for (const kept of [parents.kept, { activity }, activity, JSON.stringify(parents.kept)]) {
      const rows = await ask(parents, { signUpEvidence: async () => kept });
      expect(rows.map((row) => [row.class, row.activityId])).toEqual([
        ["derived", activity["id"]],
        ["derived", activity["id"]],
      ]);
    }
  });

  it("verifies the kept answer of the auth proxy", async () => {
    const bootProofs = await bootProofsOf(signUps.kept);
    for (const kept of [signUps.kept, { ...signUps.kept, bootProofs }])
      expect(classes(await ask(signUps, { signUpEvidence: () => kept }))).toEqual(["derived", "derived"]);
  });

  it("is asked for the organization of the request", async () => {
    const named: string[] = [];
    const signUpEvidence = (organizationId: string): unknown => {
      named.push(organizationId);
      return parents.kept;
    };
    await ask(parents, { signUpEvidence });
    expect(named).toEqual([parents.organizationId]);
  });
});

it.each<[string, string, () => Json]>([
  ["the activity of another sub-organization", "evidence", () => others.kept],
  ["the answer of another sign-up", "evidence", () => signUps.kept],
  ["another activity", "evidence", () => ({ id: "an-id", organizationId: "o", type: "ACTIVITY_TYPE_CREATE_WALLET" })],
  ["no activity", "evidence", () => ({ activity: null })],
])("refuses as sign-up: %s", async (_, code, kept) => {
  const error = await rejectionOf<ClientError>(wrapped(parents, { signUpEvidence: kept }));
  expect([error.name, error.code]).toEqual(["ClientError", code]);
  expect(error.message).toContain(parents.organizationId);
});

it.each<[string, RegExp, () => Json | Promise<Json>]>([
  [
    "another's, said to be of this organization",
    /service: 0x/,
    () =>
      withActivity(others, ({ result, ...activity }) => ({
        ...activity,
        result: {
          createSubOrganizationResultV7: {
            ...(result as Json)["createSubOrganizationResultV7"],
            subOrganizationId: parents.organizationId,
          },
        },
      })),
  ],
  [
    "another's app proofs",
    /service: 0x/,
    () => withActivity(parents, (activity) => ({ ...activity, appProofs: others.kept["activity"].appProofs })),
  ],
  ["without app proofs", /service: 0x/, () => withActivity(parents, (activity) => ({ ...activity, appProofs: [] }))],
  [
    "with a changed app proof",
    /refused: 0x.*app\.signature/,
    () =>
      withActivity(parents, (activity) => ({
        ...activity,
        appProofs: activity["appProofs"].map((proof: Json) => ({
          ...proof,
          proofPayload: String(proof["proofPayload"]).replace(/"timestampMs":"./, '"timestampMs":"9'),
        })),
      })),
  ],
  [
    "the answer of the auth proxy with another wallet's app proofs",
    /service: 0x|contradicted: 0x/,
    () => ({ ...signUps.kept, organizationId: parents.organizationId }),
  ],
])("takes none of it on trust: %s", async (_, message, kept) => {
  expect(await refusal(wrapped(parents, { signUpEvidence: kept }))).toMatch(message);
});

it("judges what came after the sign-up, too", async () => {
  const exported = await madeByParent();
  const { organizationId, walletId, kept, key } = exported;
  const sending = { organizationId, key };
  await completed(submit(lab, "exportWallet", { walletId, targetPublicKey: TARGET_PUBLIC_KEY }, sending));
  expect(await refusal(wrapped(exported, { signUpEvidence: () => kept }))).toContain("exported: 0x");
});

it("names the option where the caller's function fails, and needs verifyAddresses beside it", async () => {
  const failing = (): never => {
    throw new Error("boom");
  };
  const error = await rejectionOf<ClientError>(wrapped(parents, { signUpEvidence: failing }));
  expect([error.code, error.message]).toEqual([
    "unreachable",
    "list_wallet_accounts: options.signUpEvidence rejected: boom",
  ]);
  const useless = { policy, signUpEvidence: () => null };
  expect(() => verified(new Sdk(parents), useless)).toThrow(/signUpEvidence: expected verifyAddresses/);
});

it("works through the proxy", async () => {
  const options = { evidence: await clientOf(parents), verifyAddresses: true } as const;
  const knowing = await proxyFor(lab, { ...options, signUpEvidence: () => parents.kept });
  const unknowing = await proxyFor(lab, options);
  const [good, bad] = await Promise.all([knowing, unknowing].map(({ url }) => fetch(url + PATH, requestOf(parents))));
  expect([good!.status, good!.headers.get("x-bootproof-accounts"), bad!.status]).toEqual([200, "derived=2", 502]);
  await Promise.all([knowing.close(), unknowing.close()]);
});
