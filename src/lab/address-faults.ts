/** Faults of lists of wallets, accounts and activities. The evidence of each activity is genuine. */
import type { JsonObject } from "../decode/json.js";
import { OTHER_ADDRESS, OTHER_ID, foreignActivity } from "./answer-faults.js";
import { type Behaviour, type Listing, behaviours, put } from "./behaviour.js";

type List = NonNullable<Behaviour["list"]>;
const ACCOUNTS = ["list_wallet_accounts", "get_wallet_account"];

const ofLists =
  (operations: readonly string[], alter: List): List =>
  (items, listing) =>
    operations.includes(listing.operation) && items.length > 0 ? alter(items, listing) : items;

/** Alters the first item of each page. */
const ofFirst =
  (alter: (item: JsonObject, listing: Listing) => JsonObject): List =>
  ([first, ...others], listing) => [alter(first!, listing), ...others];

/** Adds items to the first page, before its own. */
const withMore =
  (more: (listing: Listing) => readonly JsonObject[]): List =>
  (items, listing) =>
    listing.isFirstPage ? [...more(listing), ...items] : items;

/** Returns what the operation lists of another organization. */
const othersOf = ({ organizationId, others }: Listing): readonly JsonObject[] => others(organizationId);

export const ADDRESS_FAULTS = behaviours({
  "exchanged-address": {
    what: "the first account of each page has another address",
    shows: "contradicted",
    fails: [],
    needs: ACCOUNTS,
    list: ofLists(ACCOUNTS, ofFirst(put("address", OTHER_ADDRESS))),
  },
  "exchanged-path": {
    what: "the first account of each page has the path of the second one, and the second one has that of the first",
    shows: "contradicted",
    fails: [],
    needs: ["list_wallet_accounts"],
    list: ofLists(["list_wallet_accounts"], ([first, second, ...others]) =>
      second === undefined
        ? [first!]
        : [put("path", second["path"]!)(first!), put("path", first!["path"]!)(second), ...others],
    ),
  },
  "account-of-another-wallet": {
    what: "the first account of each page belongs to another wallet",
    shows: "contradicted",
    fails: [],
    needs: ACCOUNTS,
    list: ofLists(
      ACCOUNTS,
      ofFirst((account, { organizationId, reader }) => {
        const other = reader
          .all("wallets")
          .find((one) => one.organizationId === organizationId && one.walletId !== account["walletId"]);
        return { ...account, walletId: other?.walletId ?? OTHER_ID };
      }),
    ),
  },
  "import-called-generated": {
    what: "imported wallets and private keys are listed as generated ones",
    shows: "imported",
    fails: [],
    needs: ["list_wallets", "list_private_keys"],
    list: ofLists(["list_wallets", "list_private_keys"], (items) => items.map(put("imported", false))),
  },
  "repeated-page": {
    what: "each page after the first is the first again",
    shows: "unfetched",
    fails: [],
    needs: ["list_wallet_accounts", "list_activities", "list_suborgs"],
    pageStart: () => 0,
  },
  "skipped-item": {
    what: "each page after the first leaves out the item with which it should begin",
    shows: "contradicted",
    fails: [],
    needs: ["list_wallet_accounts"],
    pageStart: (start, operation) => (operation === "list_wallet_accounts" ? start + 1 : start),
  },
  "missing-account": {
    what: "the first account of each page is left out",
    shows: "contradicted",
    fails: [],
    needs: ["list_wallet_accounts"],
    list: ofLists(["list_wallet_accounts"], ([, ...others]) => others),
  },
  "foreign-account": {
    what: "the list begins with the accounts of another organization",
    shows: "unfetched",
    fails: [],
    needs: ["list_wallet_accounts"],
    list: ofLists(["list_wallet_accounts"], withMore(othersOf)),
  },
  "foreign-activity": {
    what: "each activity is one of another organization, with its genuine app proofs",
    shows: "service",
    fails: [],
    needs: ["list_activities"],
    list: ofLists(["list_activities"], (items, { reader }) =>
      items.map((activity) => ({ ...foreignActivity(activity, reader), id: activity["id"]! })),
    ),
  },
  "wallets-of-a-child": {
    what: "wallets, accounts and activities of another organization are listed, and are said to be of this one",
    shows: "refused",
    fails: [],
    needs: ["list_wallets", "list_wallet_accounts", "list_activities"],
    list: ofLists(
      ["list_wallets", "list_wallet_accounts", "list_activities"],
      withMore((listing) =>
        othersOf(listing).map((one) =>
          "organizationId" in one ? put("organizationId", listing.organizationId)(one) : one,
        ),
      ),
    ),
  },
});
