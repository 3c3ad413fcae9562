/** Which lists each fault of lists alters. What a caller makes of them: test/door/addresses.test.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FAULTS, startLab } from "../../src/lab/index.js";
import { type Json, TWO_ACCOUNTS, account, completed, query, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));
const PROVEN = { generateAppProofs: true };
const PRIVATE_KEY = { curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };

beforeAll(async () => {
  const accounts = [0, 1, 2, 3].map((index) => account(`m/44'/60'/1'/0/${index}`));
  for (let index = 1; index < 3; index++)
    await completed(submit(lab, "createWallet", { walletName: `w${index}`, accounts }, PROVEN));
  const privateKeys = [{ privateKeyName: "k", ...PRIVATE_KEY }];
  await completed(submit(lab, "createPrivateKeys", { privateKeys }, PROVEN));
});

async function answerOf(name: string, parameters: Json = {}): Promise<Json> {
  const { status, body } = await query(lab, name, parameters);
  if (status !== 200) throw new Error(`${name}: ${status}`);
  return body;
}

const ofLists = FAULTS.filter(({ shows }) => shows !== undefined);

describe("the faults of lists", () => {
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
    lab.setFault("import-called-generated");
    expect(await imported()).toHaveLength(0);
  });
});
