/** Addresses of organizations against the lab, over HTTP: classes, faults of lists, pages, limits, and what is sent. */
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ActivityPiece, type AddressPiece, collectAddresses, joinPieces } from "../../src/door/addresses.js";
import type { AddressProgress } from "../../src/door/addresses.js";
import { type AddressRow, DerivationPolicyError } from "../../src/addresses/index.js";
import {
  type AddressesOptions,
  type ClientError,
  type ClientOptions,
  apiKeyStamper,
  createClient,
} from "../../src/client/index.js";
import { parsePolicy } from "../../src/index.js";
import { type Lab, startLab } from "../../src/lab/index.js";
import { type Json, TWO_ACCOUNTS, account, completed, submit } from "../lab/support.js";
import { rejectionOf } from "../client/support.js";

type Collecting = Parameters<typeof collectAddresses>[1];

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const PROVEN = { generateAppProofs: true };
const PRIVATE_KEY = { curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => {
  lab.setFault(null);
  lab.setSettings({});
});

/** A client of the lab that records the names of its requests, and the options of paging. */
async function recorded(more: Partial<ClientOptions> = {}, at: Lab = lab) {
  const names: string[] = [];
  const bodies: Json[] = [];
  const counting = (async (input: string, init: RequestInit) => {
    names.push(input.slice(input.lastIndexOf("/") + 1));
    bodies.push(JSON.parse(Buffer.from(init.body as Uint8Array).toString()) as Json);
    return fetch(input, init);
  }) as typeof fetch;
  const stamper = await apiKeyStamper(at.apiKey);
  const { baseUrl, organizationId } = at;
  const client = createClient({ baseUrl, organizationId, stamper, fetch: counting, ...more });
  const numbers = (): Record<string, number> =>
    Object.fromEntries([...new Set(names)].map((name) => [name, names.filter((one) => one === name).length]));
  return { client, names, bodies, numbers };
}

type Rows = AsyncIterable<AddressRow>;
const collected = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
};

async function rowsOf(options?: AddressesOptions, more?: Partial<ClientOptions>): Promise<AddressRow[]> {
  const { client } = await recorded(more);
  return collected(client.withVerification(lab.policy).addresses(options) as Rows);
}
const classesOf = (rows: readonly AddressRow[]): string[] => [...new Set(rows.map((row) => row.class))];
const resultOf = (activity: Json): Json => Object.values(activity["result"] as Json)[0] as Json;
const made = async (...args: Parameters<typeof submit>): Promise<Json> => resultOf(await completed(submit(...args)));
const failureOf = (rows: Promise<unknown>): Promise<ClientError> => rejectionOf<ClientError>(rows);

let walletId: string;
let addresses: string[];
let keyAddress: string;
beforeAll(async () => {
  const accounts = [0, 1, 2, 3].map((index) => account(`m/44'/60'/1'/0/${index}`));
  ({ walletId, addresses } = (await made(lab, "createWallet", { walletName: "w", accounts }, PROVEN)) as never);
  const privateKeys = [{ privateKeyName: "k", ...PRIVATE_KEY }];
  const { privateKeys: keys } = await made(lab, "createPrivateKeys", { privateKeys }, PROVEN);
  keyAddress = (keys as Json[])[0]!["addresses"][0].address;
});

describe("an organization", () => {
  it("has a row for each account and private key, all derived", async () => {
    const rows = await rowsOf();
    expect(rows).toHaveLength(7);
    expect(classesOf(rows)).toEqual(["derived"]);
    expect(
      rows
        .filter((row) => row.walletId === walletId)
        .map(({ address }) => address)
        .sort(),
    ).toEqual([...addresses].sort());
    expect(rows.find(({ address }) => address === keyAddress)).toMatchObject({ walletId: null, reason: null });
  });

  it.each([{ order: 3 }, { order: "newest" }, { listsAppProofs: false }, { listsChildActivities: true }] as const)(
    "is the same under %j",
    async (settings) => {
      const honest = await rowsOf();
      lab.setSettings(settings);
      const sorted = (rows: readonly AddressRow[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
      expect(sorted(await rowsOf())).toEqual(sorted(honest));
    },
  );

  it("is the client's, or the one that is named", async () => {
    const child = await rowsOf({ organizationId: lab.childOrganizationId });
    expect(child.map((row) => [row.class, row.walletId])).toEqual([
      ["derived", lab.child.walletId],
      ["derived", lab.child.walletId],
    ]);
  });

  it("is read by a wallet, addresses, or without private keys", async () => {
    expect((await rowsOf({ walletId })).map(({ address }) => address)).toEqual(addresses);
    const upper = addresses[0]!.toUpperCase().replace("0X", "0x");
    const two = await rowsOf({ addresses: [upper, keyAddress, "0xunknown"] });
    expect(two.map((row) => [row.class, row.address]).sort()).toEqual(
      [
        ["derived", addresses[0]],
        ["derived", keyAddress],
      ].sort(),
    );
    const wallets = await rowsOf({ privateKeys: false });
    expect(wallets.map((row) => row.privateKeyId)).toEqual(Array(6).fill(null));
  });

  it("is not asked for what the filter leaves out", async () => {
    lab.setSettings({ listsAppProofs: false });
    const { client, numbers } = await recorded();
    const verified = client.withVerification(lab.policy);
    await collected(verified.addresses({ walletId }));
    expect(numbers()).toMatchObject({ list_app_proofs: 1 });
    expect(numbers()).not.toHaveProperty("list_private_keys");
    const other = await recorded();
    await collected(other.client.withVerification(lab.policy).addresses({ addresses: [addresses[1]!] }));
    expect(other.numbers()).toMatchObject({ list_app_proofs: 1, list_private_keys: 1 });
    const third = await recorded();
    await collected(third.client.withVerification(lab.policy).addresses({ privateKeys: false }));
    expect(third.numbers()).toMatchObject({ list_app_proofs: 2 });
    expect(third.numbers()).not.toHaveProperty("list_private_keys");
  });

  it.each([
    ["that did not complete", { status: "ACTIVITY_STATUS_FAILED" }],
    ["that says that it requested none", { generateAppProofs: false }],
  ])("is not asked for app proofs of an activity %s", async (_, members) => {
    lab.setSettings({ listsAppProofs: false });
    const { client, numbers } = await recorded();
    const query = async (name: string, parameters: object, options: object): Promise<Json> => {
      const answer = (await client.query(name, parameters, options)) as Json;
      if (name !== "list_activities") return answer;
      return { activities: (answer["activities"] as Json[]).map((one) => ({ ...one, ...members })) };
    };
    const source = { now: () => new Date(), query: query as never };
    const pieces = collectAddresses(source, { organizationIds: [lab.organizationId] });
    const [table] = await collected(joinPieces(pieces, { policy: lab.policy, now: () => new Date() }));
    expect(classesOf(table!.rows)).toEqual(["service"]);
    expect(numbers()).not.toHaveProperty("list_app_proofs");
  });

  it("is an error over the caller's bound, and not at it", async () => {
    const accounts = (await rowsOf({ privateKeys: false })).length;
    const error = await failureOf(rowsOf({ privateKeys: false, maxAccounts: accounts - 1 }));
    expect([error.code, error.operation]).toEqual(["limit", "list_wallet_accounts"]);
    expect(await rowsOf({ privateKeys: false, maxAccounts: accounts })).toHaveLength(accounts);
  });

  it("is read on where the service's pages are shorter than they were asked for", async () => {
    const { client, numbers } = await recorded();
    const short = async (name: string, parameters: Json, options: object): Promise<never> => {
      const { paginationOptions } = parameters;
      const limited = paginationOptions && { paginationOptions: { ...paginationOptions, limit: "2" } };
      return client.query(name, { ...parameters, ...limited }, options) as Promise<never>;
    };
    const source = { now: () => new Date(), query: short as never };
    const pieces = collectAddresses(source, { organizationIds: [lab.organizationId] });
    const [table] = await collected(joinPieces(pieces, { policy: lab.policy, now: () => new Date() }));
    expect(table!.rows.map((row) => row.class)).toEqual(Array(7).fill("derived"));
    expect(numbers()["list_wallet_accounts"]).toBeGreaterThanOrEqual(3);
  });

  it("names the wallet of a contradiction although only its address was asked for", async () => {
    lab.setFault("exchanged-address");
    const [row] = (await rowsOf()).filter((one) => one.class === "contradicted");
    expect(classesOf(await rowsOf({ addresses: [row!.address] }))).toEqual(["contradicted"]);
  });
});

describe("the faults of lists", () => {
  it("missing-account: the list is read on after its short page before the address is reported", async () => {
    lab.setFault("missing-account");
    const { client, bodies, names } = await recorded();
    const rows = await collected(client.withVerification(lab.policy).addresses());
    expect(rows[0]).toMatchObject({ class: "contradicted", listed: false });
    const pages = bodies.filter((_, index) => names[index] === "list_wallet_accounts");
    expect(pages).toHaveLength(2);
    lab.setFault(null);
    const honest = await recorded();
    await collected(honest.client.withVerification(lab.policy).addresses());
    expect(honest.numbers()).toMatchObject({ list_activities: 1 });
  });

  it("foreign-account: an error, and no class", async () => {
    lab.setFault("foreign-account");
    const error = await failureOf(rowsOf());
    expect([error.name, error.code, error.operation]).toEqual(["ClientError", "answer", "list_wallet_accounts"]);
    expect(error.message).toContain("another organization");
  });
});

describe("an organization of many accounts", () => {
  let many: Lab;
  beforeAll(async () => {
    many = await startLab();
    await many.addAccounts({ count: 240, perActivity: 20 });
  });
  afterAll(() => many.close());
  beforeEach(() => {
    many.setFault(null);
    many.setSettings({});
  });
  const sweep = async (options: AddressesOptions = {}, more: Partial<ClientOptions> = {}, at = many) => {
    const { client, ...requests } = await recorded(more, at);
    return { ...requests, rows: collected(client.withVerification(at.policy).addresses(options)) };
  };
  const COUNTS = { list_wallets: 1, list_private_keys: 1, list_wallet_accounts: 3, list_activities: 1 };

  it("takes as many requests as it has pages and keys, and tells its progress", async () => {
    const events: AddressProgress[] = [];
    const { rows, numbers } = await sweep({ onProgress: (event) => events.push(event) });
    expect((await rows).map((row) => row.class)).toEqual(Array(242).fill("derived"));
    // 242 accounts are three pages. 13 activities with their app proofs are one page. Four enclaves signed.
    expect(numbers()).toEqual({ ...COUNTS, whoami: 1, get_boot_proof: 4 });
    const { organizationId } = many;
    const end = { organizationId, requests: 11, listed: 242, left: 0, activities: 13, bootProofs: 4, waitMs: 0 };
    expect(events.at(-1)).toMatchObject(end);
    expect(Math.max(...events.map(({ left }) => left))).toBe(242);
  });

  it("keeps neither answers nor activities until its end", async () => {
    const { client } = await recorded({}, many);
    const source = { now: () => new Date(), query: client.query as never };
    const kept: WeakRef<object>[] = [];
    const watched = async function* (): AsyncGenerator<AddressPiece> {
      for await (const piece of collectAddresses(source, { organizationIds: [many.organizationId] })) {
        if (piece.kind === "list") kept.push(new WeakRef(piece.answer as object));
        if (piece.kind === "activity") kept.push(new WeakRef(piece.activity as object));
        yield piece;
      }
    };
    for await (const { rows } of joinPieces(watched(), { policy: many.policy, now: () => new Date() })) {
      expect(rows).toHaveLength(242);
      // What was read in this turn of the event loop is not collected before the next one.
      await setTimeout();
      collectGarbage();
      // The last one of each list may still be held by what reads it.
      const alive = kept.filter((each) => each.deref() !== undefined).length;
      expect([kept.length, Math.max(alive, 4)]).toEqual([18, 4]);
    }
  });

  it("takes one more an activity where their list has no app proofs, and none for a parent that is named", async () => {
    many.setSettings({ listsAppProofs: false });
    const { rows, numbers } = await sweep({ parentOrganizationId: many.organizationId });
    expect(await rows).toHaveLength(242);
    expect(numbers()).toEqual({ ...COUNTS, list_app_proofs: 13, get_boot_proof: 4 });
  });

  it("takes smaller pages where an answer is too long", async () => {
    const { rows, bodies, names } = await sweep({}, { maxResponseBytes: 100_000 });
    expect(classesOf(await rows)).toEqual(["derived"]);
    const limits = bodies
      .filter((_, index) => names[index] === "list_activities")
      .map(({ paginationOptions }) => paginationOptions.limit as string);
    expect(limits.slice(0, 6)).toEqual(["100", "50", "25", "12", "6", "3"]);
    expect(new Set(limits.slice(6))).toEqual(new Set(["3"]));
    const { rows: refused } = await sweep({}, { maxResponseBytes: 20_000 });
    expect((await failureOf(refused)).isTooLong).toBe(true);
  });
});

it("fetches the boot proofs of all keys of an activity", async () => {
  const many = await startLab();
  for (let index = 0; index < 16; index++) await many.addRelease({ app: "signer", name: `s${index}` });
  const accounts = Array.from({ length: 20 }, (_, index) => account(`m/44'/60'/0'/0/${index}`));
  const { walletId: ofMany } = await made(many, "createWallet", { walletName: "many", accounts }, PROVEN);
  const { client, numbers } = await recorded({}, many);
  const rows = await collected(
    client.withVerification(many.policy).addresses({ walletId: ofMany as unknown as string }),
  );
  expect(rows.map((row) => row.class)).toEqual(Array(20).fill("derived"));
  expect(numbers()["get_boot_proof"]).toBeGreaterThan(16);
  await many.close();
});

it("measures the age of an address against the list that lacks it", async () => {
  const { client } = await recorded();
  const accounts = [account("m/44'/60'/8'/0/0")];
  let left: string | undefined;
  const query = async (name: string, parameters: Json, options: object): Promise<Json> => {
    if (name === "list_private_keys")
      left = (await made(lab, "createWalletAccounts", { walletId, accounts }, PROVEN))["addresses"][0];
    await setTimeout(2);
    const answer = (await client.query(name, parameters, options)) as Json;
    if (name !== "list_wallet_accounts") return answer;
    return { accounts: (answer["accounts"] as Json[]).filter(({ address }) => address !== left) };
  };
  const source = { now: () => new Date(), query: query as never };
  const pieces = collectAddresses(source, { organizationIds: [lab.organizationId] });
  const [table] = await collected(joinPieces(pieces, { policy: lab.policy, now: () => new Date() }));
  expect(table!.rows[0]).toMatchObject({ class: "contradicted", address: left, listed: false });
});

describe("what could not be fetched", () => {
  const failing = (operation: string, status: number, headers: Record<string, string> = {}, times = Infinity) => {
    let left = times;
    return (async (input: string, init: RequestInit) => {
      if (!input.endsWith(`/${operation}`) || left-- <= 0) return fetch(input, init);
      return new Response("{}", { status, headers });
    }) as typeof fetch;
  };
  const quick = { maxRetries: 0, sleep: async (ms: number) => void (ms === 30_000 && (await new Promise(() => {}))) };

  it.each([
    ["list_wallets", 500, "service"],
    ["list_wallet_accounts", 403, "service"],
    ["list_private_keys", 404, "service"],
    ["list_activities", 500, "service"],
    ["get_boot_proof", 500, "evidence"],
    ["list_app_proofs", 404, "evidence"],
    ["whoami", 503, "service"],
  ] as const)("%s with HTTP %i is a ClientError (%s)", async (operation, status, code) => {
    if (operation === "list_app_proofs") lab.setSettings({ listsAppProofs: false });
    const error = await failureOf(rowsOf({}, { fetch: failing(operation, status), ...quick }));
    expect([error.name === "ServiceError" || error.name === "ClientError", error.code]).toEqual([true, code]);
    const cause = code === "evidence" ? (error.cause as ClientError) : error;
    expect(cause.operation).toBe(operation);
  });

  it("a refused whoami only leaves the parent unknown", async () => {
    const rows = await rowsOf({}, { fetch: failing("whoami", 403), ...quick });
    expect(rows.length).toBeGreaterThan(6);
  });

  it.each(["list_wallets", "list_private_keys", "list_wallet_accounts", "list_activities"])(
    "%s without its list is an error of the answer",
    async (operation) => {
      const empty = (async (input: string, init: RequestInit) =>
        input.endsWith(`/${operation}`) ? new Response("{}") : fetch(input, init)) as typeof fetch;
      const error = await failureOf(rowsOf({}, { fetch: empty }));
      expect([error.name, error.code, error.operation]).toEqual(["ClientError", "answer", operation]);
    },
  );

  it("429 is waited for, up to a limit of time and of number", async () => {
    const waits: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      if (ms === 30_000) return new Promise(() => {});
      waits.push(ms);
      return undefined;
    };
    const once = failing("list_wallets", 429, { "Retry-After": "600" }, 1);
    const told: number[] = [];
    const onProgress = ({ step, waitMs }: AddressProgress): void => void (step === "wait" && told.push(waitMs));
    await rowsOf({ walletId, onProgress }, { fetch: once, maxRetries: 3, sleep });
    expect([waits, told]).toEqual([[600_000], [600_000]]);
    waits.length = 0;
    const tooLong = failing("list_wallets", 429, { "Retry-After": "901" });
    const long = await failureOf(rowsOf({}, { fetch: tooLong, maxRetries: 3, sleep }));
    expect(waits).toEqual([]);
    expect(long).toMatchObject({ status: 429, retryAfterMs: 901_000 });
    const always = failing("list_wallets", 429);
    expect(await failureOf(rowsOf({}, { fetch: always, maxRetries: 0, sleep }))).toMatchObject({ status: 429 });
    expect(waits).toEqual(Array(20).fill(10_000));
  });

  it("an abort ends it, also while it waits", async () => {
    const abort = new AbortController();
    const onProgress = ({ step }: AddressProgress): void => {
      if (step === "list_activities") abort.abort();
    };
    expect((await failureOf(rowsOf({ signal: abort.signal, onProgress }))).code).toBe("aborted");
    const second = new AbortController();
    const waiting = ({ step }: AddressProgress): void => {
      if (step === "wait") second.abort();
    };
    const fetching = failing("list_wallets", 429, { "Retry-After": "300" });
    const options = { signal: second.signal, onProgress: waiting };
    expect((await failureOf(rowsOf(options, { fetch: fetching, maxRetries: 0 }))).code).toBe("aborted");
  });

  it("options and policies are checked before anything is sent", async () => {
    const { client, names } = await recorded();
    const renamed = JSON.stringify(lab.policyFile).replaceAll("APP_PROOF_TYPE_ADDRESS_DERIVATION", "OTHER");
    const verified = client.withVerification(lab.policy);
    expect(() => verified.addresses({ wallet: walletId } as never)).toThrow(TypeError);
    expect(() => verified.addresses({ maxAccounts: -1 })).toThrow(TypeError);
    expect(() => verified.addresses({ addresses: [] })).toThrow("addresses: empty: expected at least one");
    const policy = parsePolicy(renamed);
    expect(() => client.withVerification(policy).addresses()).toThrow(DerivationPolicyError);
    expect(names).toEqual([]);
  });
});

describe("parents and children", () => {
  let subOrganizationId: string;
  let children: string[];
  const rootUsers = [{ userName: "root", apiKeys: [], authenticators: [], oauthProviders: [] }];
  beforeAll(async () => {
    const wallet = TWO_ACCOUNTS;
    const parameters = { subOrganizationName: "made", rootUsers, rootQuorumThreshold: 1, wallet };
    subOrganizationId = (await made(lab, "createSubOrganization", parameters, PROVEN))["subOrganizationId"] as string;
    children = [lab.childOrganizationId, subOrganizationId];
  });
  const collect = async (options: Partial<Collecting> = {}) => {
    const { client, ...requests } = await recorded();
    const source = { now: () => new Date(), query: client.query as never };
    return { ...requests, pieces: collectAddresses(source, { organizationIds: children, ...options }) };
  };
  const tablesOf = (pieces: AsyncIterable<AddressPiece> | AddressPiece[], policy = lab.policy) =>
    collected(joinPieces(pieces, { policy, now: () => new Date() }));

  it("a sub-organization's first wallet is proven by the parent's activity, which whoami finds", async () => {
    const rows = await rowsOf({ organizationId: subOrganizationId });
    expect(rows.map((row) => row.class)).toEqual(["derived", "derived"]);
    const named = await rowsOf({ organizationId: subOrganizationId, parentOrganizationId: lab.organizationId });
    expect(named).toEqual(rows);
  });

  it.each([{ listsAppProofs: false }, { listsAppProofs: false, childAppProofsOf: "parent" }] as const)(
    "is the same under %j",
    async (settings) => {
      lab.setSettings(settings);
      for (const organizationId of children)
        expect((await rowsOf({ organizationId })).map((row) => row.class)).toEqual(["derived", "derived"]);
    },
  );

  it.each([
    ["has none, and that of the child has them", { parent: [], child: "forwarded" }, "derived"],
    ["is not found, and that of the child has them", { parent: 404, child: "forwarded" }, "derived"],
    ["has none, nor has that of the child", { parent: [], child: [] }, "service"],
    ["has none, and that of the child is not found", { parent: [], child: 404 }, "service"],
  ] as const)("app proofs of the parent's activity, where the id of the parent %s", async (_, answers, name) => {
    lab.setSettings({ listsAppProofs: false });
    const { client } = await recorded();
    const asked: string[] = [];
    const query = async (operation: string, parameters: Json, options: Json): Promise<Json> => {
      if (operation !== "list_app_proofs") return client.query(operation, parameters, options);
      const isParent = options["organizationId"] === lab.organizationId;
      asked.push(isParent ? "parent" : "child");
      const answer = answers[isParent ? "parent" : "child"];
      if (answer === 404) return client.query(operation, { activityId: "none" }, options);
      if (answer !== "forwarded") return { appProofs: answer };
      return client.query(operation, parameters, { organizationId: lab.organizationId });
    };
    const organizationIds = [subOrganizationId];
    const source = { now: () => new Date(), query: query as never };
    const [table] = await tablesOf(collectAddresses(source, { organizationIds }));
    expect(table!.rows.map((row) => row.class)).toEqual([name, name]);
    expect(asked).toEqual(["parent", "child"]);
  });

  it("says that the parent is not known, where it is not", async () => {
    const refused = (async (input: string, init: RequestInit) =>
      input.endsWith("/whoami") ? new Response("{}", { status: 403 }) : fetch(input, init)) as typeof fetch;
    const rows = await rowsOf({ organizationId: subOrganizationId }, { fetch: refused });
    expect(rows.map((row) => [row.class, row.reason])).toEqual(
      Array(2).fill(["service", expect.stringContaining("parent organization is not known")]),
    );
    const wrong = await rowsOf({ organizationId: subOrganizationId, parentOrganizationId: lab.childOrganizationId });
    expect(classesOf(wrong)).toEqual(["service"]);
  });

  it("reads the parent's activities once for all children", async () => {
    const { pieces, names, bodies } = await collect();
    const tables = await tablesOf(pieces);
    expect(tables.map(({ organizationId, rows }) => [organizationId, classesOf(rows)])).toEqual(
      children.map((id) => [id, ["derived"]]),
    );
    const owners = bodies
      .filter((_, index) => names[index] === "list_activities")
      .map((body) => body["organizationId"]);
    expect(owners).toEqual([lab.organizationId, ...children]);
  });

  it("reads them once, too, where the parent itself is collected, which comes first", async () => {
    const { organizationId } = lab;
    const organizationIds = [...children, organizationId];
    lab.setSettings({ listsChildActivities: true });
    const { pieces, names, bodies } = await collect({ organizationIds, parentOrganizationId: organizationId });
    const kept = await collected(pieces);
    const ids = kept.flatMap((piece) => (piece.kind === "activity" ? [piece.activityId] : []));
    expect(ids).toHaveLength(new Set(ids).size);
    const tables = await tablesOf(kept);
    expect(tables.map((table) => table.organizationId)).toEqual([organizationId, ...children]);
    expect(tables.slice(1).map(({ rows }) => classesOf(rows))).toEqual([["derived"], ["derived"]]);
    const owners = bodies
      .filter((_, index) => names[index] === "list_activities")
      .map((body) => body["organizationId"]);
    expect(owners).toEqual([organizationId, ...children]);
  });

  it("evidence that is there already is not fetched again", async () => {
    lab.setSettings({ listsAppProofs: false });
    const kept = await collected((await collect()).pieces);
    const known = async (id: string): Promise<ActivityPiece | null> =>
      kept.find((piece) => piece.kind === "activity" && piece.activityId === id) as ActivityPiece;
    const { pieces, numbers } = await collect({ known });
    const untimed = (all: readonly AddressPiece[]) => all.map((piece) => ({ ...piece, at: 0 }));
    expect(untimed(await collected(pieces))).toEqual(untimed(kept));
    expect(Object.keys(numbers())).not.toContain("list_app_proofs");
    expect(Object.keys(numbers())).not.toContain("get_boot_proof");
  });

  it.each<[string, (piece: ActivityPiece, other: ActivityPiece) => Partial<ActivityPiece>]>([
    ["of another activity", (_, { activity, bootProofs }) => ({ activity, bootProofs })],
    ["that cannot be read", () => ({ activity: {} })],
    ["without a boot proof of each key", () => ({ bootProofs: [] })],
  ])("evidence %s is fetched again", async (_, alter) => {
    const kept = await collected((await collect()).pieces);
    const all = kept.filter((piece) => piece.kind === "activity");
    expect(all).toHaveLength(2);
    const known = async (id: string): Promise<ActivityPiece> => {
      const own = all.find(({ activityId }) => activityId === id)!;
      return {
        ...own,
        ...alter(
          own,
          all.find((piece) => piece !== own)!,
        ),
      };
    };
    const again = await collected((await collect({ known })).pieces);
    expect(again.filter((piece) => piece.kind === "activity")).toEqual(all);
  });
});

describe("each class", () => {
  const options = (row: AddressRow): AddressesOptions => ({ addresses: [row.address] });

  it("service where proofs or boot proofs are not kept any more", async () => {
    lab.setSettings({ appProofsKeptMs: 0 });
    expect(classesOf(await rowsOf())).toEqual(["service"]);
    lab.setSettings({ bootProofsKeptMs: 0 });
    const rows = await rowsOf();
    expect(classesOf(rows)).toEqual(["service"]);
    expect(rows[0]!.reason).toContain("boot proof");
  });

  it("derived, and in no list, for an address that was not kept, and for one that was deleted", async () => {
    const accounts = [account("m/44'/60'/7'/0/0")];
    const notKept = await made(lab, "createWalletAccounts", { walletId, accounts, persist: false }, PROVEN);
    const { client, numbers } = await recorded();
    const rows = await collected(client.withVerification(lab.policy).addresses());
    expect(numbers()).toMatchObject({ list_wallet_accounts: 1 });
    expect(rows.filter((row) => !row.listed)).toMatchObject([
      { address: notKept["addresses"][0], reason: expect.stringContaining("persist") as string },
    ]);
    expect(classesOf(await rowsOf(options(rows.find((row) => !row.listed)!)))).toEqual(["derived"]);
  });
});
