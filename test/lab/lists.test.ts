/** Lists of wallets, accounts, keys, activities and sub-organizations: pages, settings, and what moves keys. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startLab } from "../../src/lab/index.js";
import type { ServiceSettings } from "../../src/lab/settings.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import {
  type Json,
  TARGET_PUBLIC_KEY,
  TWO_ACCOUNTS,
  completed,
  judge,
  query,
  send,
  statusOf,
  submit,
} from "./support.js";

const PROVEN = { generateAppProofs: true };
const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => lab.setSettings({}));
const { organizationId } = lab;

async function listOf(name: string, parameters: Json = {}, sending: Json = {}): Promise<Json[]> {
  const { status, body } = await query(lab, name, parameters, sending);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return Object.values(body)[0] as Json[];
}

/** Every item of a list, page by page, as a client that knows nothing of the order. */
async function pagesOf(name: string, limit: string, parameters: Json = {}): Promise<Json[][]> {
  const pages: Json[][] = [];
  for (let after: string | undefined; ; after = idOf(pages.at(-1)!.at(-1)!)) {
    const page = await listOf(name, { ...parameters, paginationOptions: { limit, ...(after && { after }) } });
    if (page.length === 0) return pages;
    pages.push(page);
  }
}

const idOf = (item: Json | string): string =>
  typeof item === "string" ? item : (item["walletAccountId"] ?? item["id"]);
const idsOf = (items: readonly (Json | string)[]): string[] => items.map(idOf);
const proofsOf = (activity: Json): Json[] => ((activity["appProofs"] ?? []) as Json[]).map(payloadOf).filter(Boolean);
const payloadOf = ({ proofPayload }: Json): Json => JSON.parse(proofPayload)["addressDerivationProof"];
const resultOf = (activity: Json): Json => Object.values(activity["result"] as Json)[0] as Json;

describe("pages", () => {
  let walletId: string;
  let all: string[];
  beforeAll(async () => {
    lab.setSettings({});
    walletId = await lab.addAccounts({ count: 25, perActivity: 10 });
    all = idsOf((await pagesOf("list_wallet_accounts", "100", { walletId })).flat());
  });

  it("have ten items by default, and 100 at most", async () => {
    expect(idsOf(await listOf("list_wallet_accounts", { walletId }))).toEqual(all.slice(0, 10));
    for (const limit of ["0", "101", "-1", "x", 10])
      expect(await statusOf(query(lab, "list_wallet_accounts", { paginationOptions: { limit } }))).toBe(400);
  });

  it.each([
    [{ limit: "4", after: 3 }, [4, 8]],
    [{ limit: "4", after: 22 }, [23, 25]],
    [{ limit: "4", after: 24 }, [24, 24]],
    [{ limit: "4", before: 10 }, [6, 10]],
    [{ limit: "4", before: 2 }, [0, 2]],
    [{ after: 3 }, [4, 14]],
  ] as const)("%j", async (page, [from, to]) => {
    const ids = Object.entries(page).map(([name, value]) => [name, typeof value === "number" ? all[value] : value]);
    const paginationOptions = Object.fromEntries(ids);
    expect(idsOf(await listOf("list_wallet_accounts", { walletId, paginationOptions }))).toEqual(all.slice(from, to));
  });

  it("are refused for an id that the list does not have, and for two ids", async () => {
    for (const paginationOptions of [{ after: "id" }, { before: "id" }, { after: all[0], before: all[2] }])
      expect(await statusOf(query(lab, "list_wallet_accounts", { paginationOptions }))).toBe(400);
  });

  it.each<NonNullable<ServiceSettings["order"]>>(["oldest", "newest", 7, 8])("in the order %s", async (order) => {
    lab.setSettings({ order });
    const pages = await pagesOf("list_wallet_accounts", "7", { walletId });
    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 4]);
    const ids = idsOf(pages.flat());
    expect([...ids].sort()).toEqual([...all].sort());
    const orders = { oldest: all, newest: [...all].reverse() } as const;
    if (typeof order === "string") expect(ids).toEqual(orders[order]);
    else expect([orders.oldest, orders.newest]).not.toContainEqual(ids);
    lab.setSettings({ order: 9 });
    if (typeof order === "number")
      expect(idsOf((await pagesOf("list_wallet_accounts", "7", { walletId })).flat())).not.toEqual(ids);
  });

  it("have each activity once, newest first, in any size", async () => {
    const whole = (await listOf("list_activities", { paginationOptions: { limit: "100" } })) as Json[];
    const times = whole.map(({ createdAt }) => Number(createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(idsOf((await pagesOf("list_activities", "2")).flat())).toEqual(idsOf(whole));
    lab.setSettings({ order: "oldest" });
    expect(idsOf((await pagesOf("list_activities", "3")).flat())).toEqual(idsOf(whole).reverse());
  });

  it("grow by the padding", async () => {
    lab.setSettings({ paddingBytes: 5000 });
    const [one] = await listOf("list_wallet_accounts");
    expect(one!["padding"]).toHaveLength(5000);
    expect((await listOf("list_activities"))[0]!["padding"]).toHaveLength(5000);
  });
});

describe("settings", () => {
  it("are checked", () => {
    expect(() => lab.setSettings({ order: "random" as never })).toThrow(TypeError);
    expect(() => lab.setSettings({ other: 1 } as never)).toThrow(TypeError);
  });

  it("limit the rate of requests, with Retry-After", async () => {
    lab.setSettings({ rateLimit: { requests: 2, perMs: 30_000 } });
    const body = JSON.stringify({ organizationId });
    for (let request = 0; request < 2; request++)
      expect((await send(lab, "query/list_wallets", body)).status).toBe(200);
    const refused = await fetch(`${lab.baseUrl}/public/v1/query/list_wallets`, { method: "POST", body });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
    expect(await refused.json()).toMatchObject({ code: 8, message: "too many requests: wait 30 s" });
    const later = performance.now() + 30_000;
    const clock = vi.spyOn(performance, "now").mockReturnValue(later);
    expect((await send(lab, "query/list_wallets", body)).status).toBe(200);
    clock.mockRestore();
  });

  it("list_activities without app proofs, which list_app_proofs still has", async () => {
    lab.setSettings({ listsAppProofs: false });
    const activities = await listOf("list_activities", { paginationOptions: { limit: "100" } });
    expect(activities.filter((one) => "appProofs" in one)).toEqual([]);
    expect(await listOf("list_app_proofs", { activityId: lab.walletActivityId })).toHaveLength(3);
    lab.setSettings({});
    const filled = await listOf("list_activities", { paginationOptions: { limit: "100" } });
    expect(filled.filter((one) => "appProofs" in one)).not.toEqual([]);
  });

  it("a parent's list with the activities of its children, only if set", async () => {
    const owners = async (): Promise<unknown[]> => {
      const activities = await listOf("list_activities", { paginationOptions: { limit: "100" } });
      return [...new Set(activities.map((one) => one["organizationId"]))].sort();
    };
    expect(await owners()).toEqual([organizationId]);
    lab.setSettings({ listsChildActivities: true });
    expect(await owners()).toEqual([organizationId, lab.childOrganizationId].sort());
    const child = { organizationId: lab.childOrganizationId };
    expect((await listOf("list_activities", {}, child)).map((one) => one["organizationId"])).toEqual([
      lab.childOrganizationId,
    ]);
  });

  it("list_app_proofs wants the child or the parent for the activity of a child", async () => {
    const statuses = (activityId: string): Promise<number[]> =>
      Promise.all(
        [organizationId, lab.childOrganizationId].map((id) =>
          statusOf(query(lab, "list_app_proofs", { activityId }, { organizationId: id })),
        ),
      );
    expect(await statuses(lab.child.walletActivityId)).toEqual([404, 200]);
    lab.setSettings({ childAppProofsOf: "parent" });
    expect(await statuses(lab.child.walletActivityId)).toEqual([200, 404]);
    expect(await statuses(lab.walletActivityId)).toEqual([200, 404]);
  });

  it("app proofs and boot proofs that are not kept any more", async () => {
    const [{ publicKey }] = (await listOf("list_app_proofs", { activityId: lab.walletActivityId })) as [Json];
    const bootProof = (): Promise<number> => statusOf(query(lab, "get_boot_proof", { ephemeralKey: publicKey }));
    lab.setSettings({ appProofsKeptMs: 0 });
    expect(await listOf("list_app_proofs", { activityId: lab.walletActivityId })).toEqual([]);
    const { body } = await query(lab, "get_activity", { activityId: lab.walletActivityId });
    expect(body["activity"]).not.toHaveProperty("appProofs");
    expect(await bootProof()).toBe(200);
    lab.setSettings({ bootProofsKeptMs: 0 });
    expect(await listOf("list_app_proofs", { activityId: lab.walletActivityId })).toHaveLength(3);
    expect(await bootProof()).toBe(404);
  });

  it("types of activities that prove no address", async () => {
    lab.setSettings({ unprovenTypes: ["ACTIVITY_TYPE_IMPORT_WALLET"] });
    const bundle = { userId: lab.ids.userId, encryptedBundle: "unproven", ...TWO_ACCOUNTS };
    const imported = await completed(submit(lab, "importWallet", bundle, PROVEN));
    expect(imported["appProofs"]).toHaveLength(1);
    const made = await completed(submit(lab, "createWallet", TWO_ACCOUNTS, PROVEN));
    expect(made["appProofs"]).toHaveLength(3);
  });
});

describe("imports, exports and deletions", () => {
  const userId = lab.ids.userId;
  const wallet = async (walletId: unknown): Promise<Json | undefined> =>
    (await listOf("list_wallets")).find((one) => one["walletId"] === walletId);
  const privateKey = async (id: unknown): Promise<Json | undefined> =>
    (await listOf("list_private_keys")).find((one) => one["privateKeyId"] === id);

  it("import_wallet: a wallet that is marked, with proofs that do not say so", async () => {
    const parameters = { userId, encryptedBundle: "a seed", ...TWO_ACCOUNTS };
    const activity = await completed(submit(lab, "importWallet", parameters, PROVEN));
    const { walletId, addresses } = resultOf(activity);
    expect(activity["intent"].importWalletIntent.accounts).toEqual(TWO_ACCOUNTS.accounts);
    expect(await wallet(walletId)).toMatchObject({ imported: true, exported: false });
    expect(proofsOf(activity)).toEqual(
      TWO_ACCOUNTS.accounts.map(({ path }, index) => ({
        organizationId,
        walletId,
        derivationPath: path,
        address: addresses[index],
      })),
    );
    expect((await judge(lab, activity)).verdict).toBe("verified");
    const again = await completed(submit(lab, "importWallet", { ...parameters, walletName: "again" }));
    expect(resultOf(again)["addresses"]).toEqual(addresses);
    expect(await statusOf(submit(lab, "importWallet", { ...parameters, userId: "nobody" }))).toBe(404);
  });

  it("import_private_key and export_private_key", async () => {
    const key = { privateKeyName: "k", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
    const parameters = { userId, encryptedBundle: "a key", ...key };
    const activity = await completed(submit(lab, "importPrivateKey", parameters, PROVEN));
    const { privateKeyId, addresses } = resultOf(activity);
    expect(await privateKey(privateKeyId)).toMatchObject({ imported: true, exported: false, addresses });
    expect(proofsOf(activity)).toEqual([{ organizationId, address: addresses[0].address }]);
    expect((await judge(lab, activity)).verdict).toBe("verified");
    const out = { privateKeyId, targetPublicKey: TARGET_PUBLIC_KEY };
    const exported = await completed(submit(lab, "exportPrivateKey", out, PROVEN));
    expect(exported["result"].exportPrivateKeyResult).toEqual({ privateKeyId, exportBundle: expect.any(String) });
    expect(await privateKey(privateKeyId)).toMatchObject({ imported: true, exported: true });
    expect((await judge(lab, exported)).verdict).toBe("verified");
  });

  it("export_wallet sets a flag, and export_wallet_account sets none", async () => {
    const { walletId, addresses } = resultOf(await completed(submit(lab, "createWallet", TWO_ACCOUNTS, PROVEN)));
    expect(await wallet(walletId)).toMatchObject({ imported: false, exported: false });
    const targetPublicKey = TARGET_PUBLIC_KEY;
    const one = await completed(submit(lab, "exportWalletAccount", { address: addresses[0], targetPublicKey }, PROVEN));
    expect(resultOf(one)["address"]).toBe(addresses[0]);
    expect((await judge(lab, one)).verdict).toBe("verified");
    expect(await wallet(walletId)).toMatchObject({ exported: false });
    await completed(submit(lab, "exportWallet", { walletId, targetPublicKey }));
    expect(await wallet(walletId)).toMatchObject({ exported: true, imported: false });
    expect(await statusOf(submit(lab, "exportWallet", { walletId, targetPublicKey: "00" }))).toBe(400);
    const stranger = { address: "0x", targetPublicKey };
    expect(await statusOf(submit(lab, "exportWalletAccount", stranger))).toBe(404);
  });

  it("deletions take from the lists what was exported, or anything if forced", async () => {
    const { walletId } = resultOf(await completed(submit(lab, "createWallet", TWO_ACCOUNTS)));
    const [first, second] = await listOf("list_wallet_accounts", { walletId });
    const accounts = { walletAccountIds: [idOf(first!)] };
    expect(await statusOf(submit(lab, "deleteWalletAccounts", accounts))).toBe(400);
    await completed(submit(lab, "deleteWalletAccounts", { ...accounts, deleteWithoutExport: true }));
    expect(await listOf("list_wallet_accounts", { walletId })).toEqual([second]);
    expect(await statusOf(submit(lab, "deleteWalletAccounts", accounts))).toBe(404);
    expect(await statusOf(submit(lab, "deleteWallets", { walletIds: [walletId] }))).toBe(400);
    await completed(submit(lab, "exportWallet", { walletId, targetPublicKey: TARGET_PUBLIC_KEY }));
    await completed(submit(lab, "deleteWallets", { walletIds: [walletId] }));
    expect(await wallet(walletId)).toBeUndefined();
    const key = { privateKeyName: "d", curve: "CURVE_ED25519", addressFormats: [] };
    const made = await completed(submit(lab, "createPrivateKeys", { privateKeys: [key] }));
    const [{ privateKeyId }] = resultOf(made)["privateKeys"];
    const deleted = { privateKeyIds: [privateKeyId] };
    expect(await statusOf(submit(lab, "deletePrivateKeys", deleted))).toBe(400);
    await completed(submit(lab, "deletePrivateKeys", { ...deleted, deleteWithoutExport: true }));
    expect(await privateKey(privateKeyId)).toBeUndefined();
  });
});

describe("sub-organizations", () => {
  const key = generateApiKey();
  const user = (name: string): Json => ({
    userName: name,
    userEmail: `${name}@lab.example`,
    apiKeys: [{ apiKeyName: "k", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }],
    authenticators: [],
    oauthProviders: [],
  });
  const suborg = (name: string): Json => ({
    subOrganizationName: name,
    rootUsers: [user(name)],
    rootQuorumThreshold: 1,
  });

  it("V3 makes private keys", async () => {
    const privateKeys = [
      { privateKeyName: "k", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] },
    ];
    const parameters = { ...suborg("keys"), privateKeys };
    const activity = await completed(submit(lab, "createSubOrganizationV3", parameters, PROVEN));
    const { subOrganizationId, privateKeys: made } = resultOf(activity);
    const { address } = made[0].addresses[0];
    expect(proofsOf(activity)).toEqual([{ organizationId: subOrganizationId, address }]);
    const listed = await listOf("list_private_keys", {}, { organizationId: subOrganizationId });
    expect(listed).toMatchObject([{ ...made[0], imported: false }]);
    expect(await listOf("list_activities", {}, { organizationId: subOrganizationId })).toEqual([]);
    expect((await judge(lab, activity)).verdict).toBe("verified");
  });

  it("list_suborgs has pages and filters", async () => {
    const all = await listOf("list_suborgs", { paginationOptions: { limit: "100" } });
    expect(all).toContain(lab.childOrganizationId);
    expect((await pagesOf("list_suborgs", "1")).flat()).toEqual(all);
    const filtered = async (filterType: string, filterValue: string): Promise<number> =>
      (await listOf("list_suborgs", { filterType, filterValue })).length;
    expect(await filtered("NAME", "keys")).toBe(1);
    expect(await filtered("USERNAME", "customer")).toBe(1);
    expect(await filtered("EMAIL", "keys@lab.example")).toBe(1);
    expect(await filtered("PUBLIC_KEY", key.publicKey)).toBe(1);
    expect(await filtered("PUBLIC_KEY", lab.apiKey.publicKey)).toBe(0);
    expect(await statusOf(query(lab, "list_suborgs", { filterType: "OTHER" }))).toBe(400);
    expect(await listOf("list_suborgs", {}, { organizationId: lab.childOrganizationId })).toEqual([]);
  });
});
