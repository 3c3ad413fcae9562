/** What can only worsen the class of an address is looked for in the widest source. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { verifiedFetch } from "../../src/adapters/index.js";
import { ADDRESS_ACTIVITY_TYPES } from "../../src/addresses/lists.js";
import { otherMembers } from "../../src/decode/input.js";
import { RejectedAddressesError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { stampWithApiKey } from "../../src/lab/index.js";
import { type Json, TARGET_PUBLIC_KEY, account, completed, submit } from "../lab/support.js";
import { bootproof, connectionTo, fileOf } from "../cli/support.js";
import { type Honest, lyingLab, wire } from "../proxy/support.js";
import { testFolders } from "../support/folder.js";

const newFolder = testFolders();

/** Each door has its own lab: an answer costs as much as the organization has wallets. */
async function open() {
  const { lab, liar } = await lyingLab();
  const stamper = await apiKeyStamper(lab.apiKey);
  const { organizationId, policy } = lab;
  const client = createClient({ baseUrl: liar.url, organizationId, stamper });
  const at = { ...lab, baseUrl: liar.url };
  return { lab, liar, organizationId, policy, client, at, policyPath: fileOf(lab.policyFile) };
}
let { lab, liar, organizationId, policy, client, at, policyPath } = await open();
const PROVEN = { generateAppProofs: true };
const COMPRESSED = "ADDRESS_FORMAT_COMPRESSED";

const made = async (name: "createWallet" | "createWalletAccounts", parameters: Json, more = {}): Promise<Json> => {
  const { result } = await completed(submit(lab, name, parameters, more));
  return Object.values(result as Json)[0] as Json;
};
const exported = (address: string): Promise<Json> =>
  completed(submit(lab, "exportWalletAccount", { address, targetPublicKey: TARGET_PUBLIC_KEY }));

/** Changes the service's answers to a query. */
const lying = (name: string, alter: (answer: Json, asked: Json) => Json): void => {
  liar.lie = ({ path, json, text, status }: Honest) => {
    const asked = JSON.parse(liar.bodies.at(-1)!.toString()) as Json;
    return wire(path === `query/${name}` ? JSON.stringify(alter(json, asked)) : text, { status });
  };
};

interface Asked {
  readonly accept?: readonly "unplaced"[];
  readonly allActivities?: true;
}

/** Returns the classes of the rows of the address, or what refuses it beside them. */
type Door = (walletId: string, address: string, asked?: Asked) => Promise<string[]>;

const refusals = (error: unknown): string[] => {
  if (!(error instanceof RejectedAddressesError)) throw error;
  return [...error.rows.map((row) => row.class), ...error.unplaced.map(() => "unplaced")];
};

const command: Door = async (_, address, { accept, allActivities } = {}) => {
  const more = [...(accept ? ["--accept", accept.join()] : []), ...(allActivities ? ["--all-activities"] : [])];
  const words = ["addresses", "--policy", policyPath, "--format", "json", "--address", address, ...more];
  const { code, stdout } = await bootproof([...words, ...connectionTo(at)], { now: new Date().toISOString() });
  if (code === 3) return ["unfetched"];
  const { rows, unplaced, notProven, exitCode, warnings } = JSON.parse(stdout) as Json;
  const classes = [...rows.map((row: Json) => row["class"] as string), ...unplaced.map(() => "unplaced")];
  const isGood = rows.every((row: Json) => row["class"] === "derived") && (unplaced.length === 0 || accept);
  expect([code, exitCode, warnings]).toEqual([isGood ? 0 : 1, code, []]);
  for (const { activityId } of unplaced) expect(notProven.join("\n")).toContain(`${activityId}: nothing says in which`);
  const types = allActivities ? 0 : ADDRESS_ACTIVITY_TYPES.length;
  expect(notProven.join().match(/ACTIVITY_TYPE_\w+/g)?.length ?? 0).toBe(types + unplaced.length);
  return accept ? classes.filter((name) => name !== "unplaced") : classes;
};

const addresses: Door = async (_, address, asked = {}) => {
  const classes: string[] = [];
  try {
    for await (const row of client.withVerification(policy).addresses({ addresses: [address], ...asked }))
      classes.push(row.class);
  } catch (error) {
    return [...classes, ...refusals(error)];
  }
  return classes;
};

const fetches = new Map<string, typeof fetch>();
const fetching: Door = async (walletId, address, asked = {}) => {
  const key = JSON.stringify(asked);
  const options = { policy, baseUrl: liar.url, evidence: client, verifyAddresses: true, ...asked };
  const own = fetches.get(key) ?? verifiedFetch(options);
  fetches.set(key, own);
  const body = JSON.stringify({ organizationId, walletId, address });
  const headers = { "Content-Type": "application/json", "X-Stamp": stampWithApiKey(lab.apiKey, body) };
  const url = `${liar.url}/public/v1/query/get_wallet_account`;
  return own(url, { method: "POST", body, headers }).then(() => ["derived"], refusals);
};

const withoutAccount =
  (address: string) =>
  (answer: Json): Json => ({ accounts: answer["accounts"].filter((one: Json) => one["address"] !== address) });

describe("a folder of evidence with a boot proof", () => {
  const wallet = made("createWallet", { walletName: "k", accounts: [account("m/44'/60'/7'/0/0")] }, PROVEN);
  it.each<[string, (bootProof: Json) => unknown]>([
    ["that states no key", (each) => otherMembers(each, "ephemeralPublicKeyHex")],
    ["that states an empty key", (each) => ({ ...each, ephemeralPublicKeyHex: "" })],
    [
      "that states half a key",
      (each) => ({ ...each, ephemeralPublicKeyHex: each["ephemeralPublicKeyHex"].slice(130) }),
    ],
    ["that states a key that is no hex", (each) => ({ ...each, ephemeralPublicKeyHex: "zz".repeat(130) })],
    ["that states a key that is no text", (each) => ({ ...each, ephemeralPublicKeyHex: { key: 1 } })],
    ["that is a text", () => "no boot proof"],
    ["that is a number", () => 7],
  ])("%s refuses what names it, online and from the folder", async (_, alter) => {
    const { walletId, addresses: own } = await wallet;
    lying("get_boot_proof", (answer) => ({ bootProof: alter(answer["bootProof"] as Json) }));
    const folder = join(newFolder(), "evidence.d");
    const now = new Date().toISOString();
    const words = ["addresses", "--policy", policyPath, "--format", "json", "--wallet", String(walletId)];
    const live = await bootproof([...words, "--out", folder, ...connectionTo(at)], { now });
    const kept = await bootproof([...words, "--from", folder, "--organization-id", organizationId], { now });
    const classesIn = ({ code, stdout }: typeof live): unknown[] => {
      const { rows } = JSON.parse(stdout) as Json;
      return [code, ...(rows ?? []).map((row: Json) => [row["class"], row["address"]])];
    };
    expect(classesIn(live)).toEqual([1, ["refused", own[0]]]);
    expect(classesIn(kept)).toEqual(classesIn(live));
  });
});

const DOORS: [string, Door, Awaited<ReturnType<typeof open>>][] = [
  ["the command", command, await open()],
  ["addresses() of a client", addresses, await open()],
  ["a wrapped fetch", fetching, await open()],
];

describe.each(DOORS)("%s", (name, ask, opened) => {
  beforeAll(() => {
    ({ lab, liar, organizationId, policy, client, at, policyPath } = opened);
  });
  let wallets = 0;
  /** A wallet whose account has another format of the same key, which was made without proofs. */
  const twins = async (): Promise<{ walletId: string; address: string; twin: string }> => {
    const path = `m/44'/60'/0'/${[...name].length}/${wallets++}`;
    const { walletId, addresses: own } = await made(
      "createWallet",
      { walletName: `${name} ${wallets}`, accounts: [account(path)] },
      PROVEN,
    );
    const added = { walletId, accounts: [account(path, COMPRESSED)] };
    const { addresses: others } = await made("createWalletAccounts", added);
    return { walletId: walletId as string, address: own[0] as string, twin: others[0] as string };
  };

  it("says that a key was exported by its other format, also where that account was deleted", async () => {
    const { walletId, address, twin } = await twins();
    expect(await ask(walletId, address)).toEqual(["derived"]);
    await exported(twin);
    expect(await ask(walletId, address)).toEqual(["exported"]);
    lying("list_wallet_accounts", withoutAccount(twin));
    expect(await ask(walletId, address)).toEqual(["exported"]);
  });

  it("refuses all addresses where nothing says in which wallet an exported key is, unless it is accepted", async () => {
    const { walletId, address, twin } = await twins();
    await exported(twin);
    const gone = withoutAccount(twin);
    const hidden = (answer: Json): Json => ({
      activities: answer["activities"].filter(
        (one: Json) => one["type"].includes("EXPORT") || !JSON.stringify(one).includes(twin),
      ),
    });
    liar.lie = ({ path, json, text, status }: Honest) => {
      const lies: Record<string, (answer: Json) => Json> = { list_wallet_accounts: gone, list_activities: hidden };
      const lie = lies[path.replace("query/", "")];
      return wire(lie ? JSON.stringify(lie(json)) : text, { status });
    };
    const isCommand = ask === command;
    expect(await ask(walletId, address)).toEqual(isCommand ? ["derived", "unplaced"] : ["unplaced"]);
    expect(await ask(walletId, address, { accept: ["unplaced"] })).toEqual(["derived"]);
  });

  it("sees an export by a type of tomorrow if it asks for all activities", async () => {
    const { walletId, address, twin } = await twins();
    await exported(twin);
    const type = "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT";
    lying("list_activities", (answer, { filterByType }) => ({
      activities: answer["activities"].flatMap((one: Json) => {
        if (one["type"] !== type || !JSON.stringify(one).includes(twin)) return [one];
        return filterByType === undefined ? [{ ...one, type: `${type}_V2` }] : [];
      }),
    }));
    expect(await ask(walletId, address)).toEqual(["derived"]);
    expect(await ask(walletId, address, { allActivities: true })).toEqual(["exported"]);
  });

  it("contradicts an account whose id has two addresses, and joins one that comes twice", async () => {
    const { walletId, address, twin } = await twins();
    const again = (alter: (one: Json) => Json) =>
      lying("list_wallet_accounts", (answer) => ({
        accounts: answer["accounts"].flatMap((one: Json) => (one["address"] === address ? [one, alter(one)] : [one])),
      }));
    again((one) => one);
    expect(await ask(walletId, address)).toEqual(["derived"]);
    again((one) => ({ ...one, address: twin }));
    expect(await ask(walletId, address)).toEqual(["contradicted"]);
  });

  it("accepts nothing where the whole list cannot be had", async () => {
    const { walletId, address } = await twins();
    liar.lie = ({ path, text }: Honest) =>
      path === "query/list_wallet_accounts" ? wire("{}", { status: 403 }) : wire(text);
    const outcome = await ask(walletId, address).catch((error: unknown) => [(error as Error).name]);
    expect(["unfetched", "ServiceError", "ClientError"]).toContain(outcome[0]);
  });
});
