/** Each fault of lists, over HTTP: a plain caller lists, verifies and joins, and finds what the fault's row says. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { joinAddresses } from "../../src/addresses/join.js";
import type { AddressRow } from "../../src/addresses/join.js";
import { readAccounts, readPrivateKeys, readWallets } from "../../src/addresses/lists.js";
import { verifyAddressActivity } from "../../src/addresses/verify.js";
import { FAULTS, type LabFault, startLab } from "../../src/lab/index.js";
import { EVIDENCE_FAULTS, type Json, TWO_ACCOUNTS, account, completed, query, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => {
  lab.setFault(null);
  lab.setSettings({});
});
const { organizationId } = lab;
const PROVEN = { generateAppProofs: true };
const PRIVATE_KEY = { curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };

beforeAll(async () => {
  const accounts = [0, 1, 2, 3].map((index) => account(`m/44'/60'/1'/0/${index}`));
  for (let index = 1; index < 3; index++)
    await completed(submit(lab, "createWallet", { walletName: `w${index}`, accounts }, PROVEN));
  const privateKeys = [{ privateKeyName: "k", ...PRIVATE_KEY }];
  await completed(submit(lab, "createPrivateKeys", { privateKeys }, PROVEN));
});

class Unfetched extends Error {}

async function answerOf(name: string, parameters: Json = {}): Promise<Json> {
  const { status, body } = await query(lab, name, parameters);
  if (status !== 200) throw new Unfetched(`${name}: ${status}`);
  return body;
}

/** The pages of a list, read after the last id until one is empty. */
async function pagesOf(name: string, idName: string, limit: string): Promise<Json[]> {
  const [pages, ids]: [Json[], Set<string>] = [[], new Set()];
  for (let after: string | undefined; ;) {
    const body = await answerOf(name, { paginationOptions: { limit, ...(after && { after }) } });
    const page = (Object.values(body)[0] as Json[]).map((item) => item[idName] as string);
    if (page.length === 0) return pages;
    if (page.every((id) => ids.has(id))) throw new Unfetched(`${name} repeats itself`);
    for (const id of page) ids.add(id);
    pages.push(body);
    after = page.at(-1);
  }
}

async function audit(limit = "4"): Promise<AddressRow[]> {
  const [wallets, privateKeys] = [await answerOf("list_wallets"), await answerOf("list_private_keys")];
  const accounts = (await pagesOf("list_wallet_accounts", "walletAccountId", limit)).flatMap((page) => {
    try {
      return readAccounts(page, organizationId);
    } catch (error) {
      throw new Unfetched(String(error));
    }
  });
  const activities = (await pagesOf("list_activities", "id", limit)).flatMap((page) => page["activities"] as Json[]);
  const evidence = await Promise.all(activities.map(verified));
  const lists = { wallets: readWallets(wallets), accounts, privateKeys: readPrivateKeys(privateKeys), listedAt: null };
  return joinAddresses(
    lists,
    evidence.filter((one) => one !== null),
    { organizationId },
  );
}

async function verified(activity: Json): ReturnType<typeof verifyAddressActivity> {
  const proofs = activity["appProofs"] ?? (await answerOf("list_app_proofs", { activityId: activity["id"] })).appProofs;
  const keys = [...new Set((proofs as Json[]).map(({ publicKey }) => publicKey as string))];
  const answers = await Promise.all(keys.map((ephemeralKey) => query(lab, "get_boot_proof", { ephemeralKey })));
  const bootProofs = answers.flatMap(({ status, body }) => (status === 200 ? [body] : []));
  const options = { policy: lab.policy, now: new Date(), organizationId };
  return verifyAddressActivity({ ...activity, appProofs: proofs }, bootProofs, options);
}

async function classesOf(limit?: string): Promise<string[]> {
  try {
    return [...new Set((await audit(limit)).map((row) => row.class))];
  } catch (error) {
    if (error instanceof Unfetched) return ["unfetched"];
    throw error;
  }
}

const ofLists = FAULTS.filter(({ shows }) => shows !== undefined);

describe("an honest lab", () => {
  it.each([{}, { order: 3 }, { order: "newest" }, { listsAppProofs: false }, { listsChildActivities: true }] as const)(
    "has only derived addresses: %j",
    async (settings) => {
      lab.setSettings(settings);
      expect(await classesOf()).toEqual(["derived"]);
    },
  );
});

describe("the faults of lists", () => {
  it("are those of the design, each with its operations, and none of checks", () => {
    expect(ofLists.map(({ name }) => name)).toEqual([
      "exchanged-address",
      "exchanged-path",
      "account-of-another-wallet",
      "import-called-generated",
      "repeated-page",
      "skipped-item",
      "missing-account",
      "foreign-account",
      "foreign-activity",
      "wallets-of-a-child",
    ]);
    for (const { needs, fails } of ofLists) expect([needs!.length > 0, fails]).toEqual([true, []]);
    expect(EVIDENCE_FAULTS).toHaveLength(FAULTS.length - ofLists.length);
  });

  it.each(ofLists.filter(({ name }) => name !== "import-called-generated"))("$name", async (fault) => {
    lab.setFault(fault.name);
    expect(await classesOf()).toContain(fault.shows);
    const onOnePage = ON_ONE_PAGE[fault.name];
    if (onOnePage !== undefined) expect((await classesOf("100"))[0]).toBe(onOnePage);
  });

  /** Faults of pages do not show in a list of one page. */
  const ON_ONE_PAGE: Readonly<Record<string, string>> = { "repeated-page": "unfetched", "skipped-item": "derived" };

  const LISTS = ["list_wallets", "list_wallet_accounts", "list_private_keys", "list_activities", "list_suborgs"];

  it("alter the lists that they name, and no others", async () => {
    // A first page of each, and the page after the first item of those with pages.
    const after: Record<string, string> = {
      list_wallet_accounts: (await answerOf("list_wallet_accounts")).accounts[0].walletAccountId,
      list_activities: (await answerOf("list_activities")).activities[0].id,
      list_suborgs: lab.childOrganizationId,
    };
    const answers = (): Promise<string[]> =>
      Promise.all(
        LISTS.map(async (name) => {
          const page = { paginationOptions: { limit: "2", after: after[name] } };
          return JSON.stringify([await answerOf(name), after[name] === undefined ? null : await answerOf(name, page)]);
        }),
      );
    const honest = await answers();
    for (const { name, needs } of ofLists.filter((one) => one.name !== "import-called-generated")) {
      lab.setFault(name);
      const altered = await answers();
      const changed = LISTS.filter((_, index) => altered[index] !== honest[index]);
      expect(changed, name).toEqual(LISTS.filter((one) => needs!.includes(one)));
      lab.setFault(null);
    }
  });

  it("import-called-generated", async () => {
    const bundle = { userId: lab.ids.userId, encryptedBundle: "known to somebody" };
    await completed(submit(lab, "importWallet", { ...bundle, ...TWO_ACCOUNTS }, PROVEN));
    await completed(submit(lab, "importPrivateKey", { ...bundle, privateKeyName: "i", ...PRIVATE_KEY }, PROVEN));
    const imported = async (): Promise<unknown[]> =>
      [...(await answerOf("list_wallets")).wallets, ...(await answerOf("list_private_keys")).privateKeys].filter(
        (one: Json) => one["imported"] === true,
      );
    expect(await imported()).toHaveLength(2);
    const honest = await audit();
    lab.setFault("import-called-generated");
    expect(await imported()).toHaveLength(0);
    expect(await audit()).toEqual(honest);
    expect(honest.filter((row) => row.class === "imported")).toHaveLength(3);
  });
});

describe("get_wallet_account", () => {
  it.each(ofLists.filter(({ needs }) => needs!.includes("get_wallet_account")))("$name", async (fault: LabFault) => {
    const [{ walletId, path }] = (await answerOf("list_wallet_accounts")).accounts;
    const { account: honest } = await answerOf("get_wallet_account", { walletId, path });
    lab.setFault(fault.name);
    expect((await answerOf("get_wallet_account", { walletId, path })).account).not.toEqual(honest);
  });
});

// This comes last: it leaves an account without a proof.
describe("addresses on the word of the service", () => {
  it("are those whose proofs or boot proofs are gone, and those of old activities", async () => {
    lab.setSettings({ appProofsKeptMs: 0 });
    expect(await classesOf()).toEqual(["service"]);
    lab.setSettings({ bootProofsKeptMs: 0 });
    expect(await classesOf()).toEqual(["service"]);
    lab.setSettings({});
    const [{ walletId }] = (await answerOf("list_wallets")).wallets;
    const accounts = [account("m/44'/60'/0'/0/77")];
    await completed(submit(lab, "createWalletAccounts", { walletId, accounts }));
    const rows = (await audit()).filter((row) => !["derived", "imported"].includes(row.class));
    expect(rows).toMatchObject([{ class: "service", path: accounts[0]!["path"], walletId }]);
  });
});
