/** `bootproof addresses` against the lab: classes, faults, exit codes, formats, sub-organizations. */
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { FAULTS } from "../../src/lab/index.js";
import type { AddressResult } from "../../src/show/addresses.js";
import { tableJunit } from "../../src/formats/addresses.js";
import { writeText } from "../../src/show/terminal.js";
import { omissionsOf, tableCsv, tableDoc, tableExitCode, tableJson } from "../../src/show/addresses.js";
import { otherMembers } from "../../src/decode/input.js";
import { completed, submit } from "../lab/support.js";
import { startWorld, tableOf } from "./addresses-world.js";
import { type Answer, connectionTo, fileOf, scene } from "./support.js";

const world = await startWorld();
const { lab } = world;
afterAll(() => lab.close());
afterEach(() => {
  lab.setFault(null);
  lab.setSettings({});
});

const wallet = await completed(submit(lab, "createWallet", { walletName: "empty", accounts: [] }));
const policyBut = (change: (own: Record<string, unknown>, index: number) => object): string =>
  fileOf({ ...lab.policyFile, deployments: lab.policyFile.deployments.map(change as never) });
const OTHER = `0x${"42".repeat(20)}`;
const N = {
  ...{
    policy: world.policy,
    to: [...world.connection],
    closed: connectionTo({ ...lab, baseUrl: "http://127.0.0.1:1" }),
  },
  ...{ ...world.ids, org: lab.organizationId, good: ["--accept", "service,imported,exported"], other: OTHER },
  empty: (wallet["result"].createWalletResult as { walletId: string }).walletId,
  child: world.connection.map((word) => (word === lab.organizationId ? lab.childOrganizationId : word)),
  open: policyBut((own) => ({ ...own, open: ["operator"] })),
  undriven: policyBut((own, index) => {
    return { ...own, namespace: `space ${index}`, appProofs: { types: ["APP_PROOF_TYPE_POLICY_OUTCOME"] } };
  }),
  unpinned: fileOf({
    ...otherMembers(lab.policyFile, "appProofs"),
    deployments: lab.policyFile.deployments.filter(({ name }) => name === "signer lab.1"),
  }),
};
const AROUND = {
  columns: 1000,
  get now(): string {
    return new Date().toISOString();
  },
};
const { having, run, table, usage } = scene(N, AROUND);
const ASK = "addresses --policy $policy $to";
const json = async (words = "", code: 0 | 1 = 1): Promise<ReturnType<typeof tableOf>> =>
  tableOf(await run(`${ASK} --format json ${words}`.trim(), code));

const HONEST = { service: 2, imported: 2, exported: 2, derived: 4 };

describe("the classes", () => {
  it("of an honest service", async () => {
    const { counts, rows, exitCode } = await json();
    expect([counts, Object.keys(counts), exitCode]).toEqual([HONEST, Object.keys(HONEST), 1]);
    for (const [name, walletId] of Object.entries(world.ids))
      expect(new Set(rows.filter((row) => row.walletId === walletId).map((row) => row.class))).toEqual(new Set([name]));
    const { derived } = world.ids;
    expect(rows.filter(({ listed }) => !listed)).toMatchObject([{ class: "derived", walletId: derived }]);
    for (const row of rows) expect(row).toMatchObject({ organizationId: lab.organizationId });
    const [key] = rows.filter(({ privateKeyId }) => privateKeyId !== null);
    expect(key).toMatchObject({ class: "derived", walletId: null, path: null, reason: null });
  });

  it("refused, under a policy that does not pin the enclave", async () => {
    const answer = await run("addresses --policy $unpinned $to --format json --wallet $derived", 1);
    const row = tableOf(answer).rows.find((one) => one.class === "refused");
    const reason = expect.stringContaining("policy.deployment") as string;
    expect(row).toMatchObject({ deployment: null, reason });
  });
});

const row = { address: "a", listed: true, organizationId: "o", reason: "r", provenAt: null, walletId: "w", path: "p" };
const result = (classes: readonly string[], unfetched: readonly string[] = []): AddressResult =>
  ({
    rows: classes.map((name) => ({ ...row, class: name })),
    ...{ accepted: ["service"], unplaced: [], warnings: [], allActivities: false, notListed: [], unfetched },
    ...{ suborgs: null, organizationId: "o", policy: { name: null, sha256: null }, verifiedAt: new Date(0) },
  }) as unknown as AddressResult;
const unplaced = { activityId: "an-activity", type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", address: "0x42" };

describe("the exit code", () => {
  const OPEN = /the deployment .{1,7}signer lab.1.{1,7}: declares the operator open, but \w+/;
  const KINDLESS = 'add "appProofs": {"types": ["APP_PROOF_TYPE_ADDRESS_DERIVATION"]} to the deployment of the signer';
  const ONE = /^1 sub-organization: at least 8 requests/;
  table([
    [`${ASK} $good`, 0],
    [`${ASK} --accept service,exported`, 1],
    [`${ASK} --wallet $derived`, 0],
    [`${ASK} --wallet $exported --accept exported`, 0],
    [`${ASK} --wallet $empty`, 1, /^NO ADDRESSES: no list has any/],
    ["addresses --policy $policy $closed", 3, "the service cannot be reached"],
    [`${ASK} --max-accounts 3`, 3, "more than 3 items. To allow more, set --max-accounts"],
    ["addresses --policy $open $to --wallet $derived", 0, OPEN],
    ["addresses --policy $open $to --wallet $derived --format json", 0, OPEN],
    ["addresses --policy $open $to --wallet $derived --format json --fail-on-warning", 1, "policy.scope"],
    ["addresses --policy $undriven $to", 2, KINDLESS],
    // Rows alone: what no row says is on stderr.
    [`${ASK} --format csv --address $other`, 1, /bootproof: in no list: 0x42424242\.\.\.42424242$/],
    [`${ASK} --format ndjson --address $other`, 1, /^bootproof: in no list: 0x42424242\.\.\.42424242$/],
    [`${ASK} --suborgs`, 2, ONE, "--yes is required where nobody can be asked"],
    [`${ASK} --suborgs --yes --limit 0`, 3, "more than 0 items"],
    ["addresses --policy $policy $child --parent-organization-id $org", 0, "ACCEPTED: 2 rows"],
  ]);

  it("is 1 for an address that no list has, and 0 for others in any case of their digits", async () => {
    const { rows } = await json();
    const [note, ...derived] = rows.filter(({ walletId }) => walletId === world.ids.derived);
    const { address } = derived[0]!;
    const names = { address, small: address.replace(/[A-F]/g, (digit) => digit.toLowerCase()), note: note!.address };
    const one = tableOf(await having(names)(`${ASK} --format json --address $small`, 0));
    expect(one.rows.map((each) => each.address)).toEqual([address]);
    const two = tableOf(await having(names)(`${ASK} --format json --address $address $other $note`, 1));
    expect(two.notListed).toEqual([OTHER, note!.address]);
    await having(names)(`${ASK} --address $address $other`, 1, "in no list: $other");
  });

  it.each<[readonly string[], readonly string[], number]>([
    [["contradicted", "derived"], ["an organization"], 1],
    [["refused"], ["an organization"], 3],
    [["derived"], ["an organization"], 3],
    [["refused"], [], 1],
    [["exported"], [], 1],
    [["service", "derived"], [], 0],
    [[], [], 1],
  ])("of %j with %j not fetched is %d", (classes, unfetched, code) => {
    expect(tableExitCode(result(classes, unfetched))).toBe(code);
    const junit = tableJunit(result(classes, unfetched));
    const count = (element: string): number => junit.split(`<${element} `).length - 1;
    expect(junit).toMatch(new RegExp(`failures="${count("failure")}" errors="${count("error")}"`));
    expect(count("failure") + count("error") > 0).toBe(code !== 0);
    expect(count("testcase")).toBe(classes.length + 1);
  });

  it.each([
    [["derived"], [], [], 1, /^UNPLACED: 1 exported or imported key may be of any of 1 row /],
    [["derived"], ["unplaced"], [], 0, /^ACCEPTED: 1 row /],
    [["exported"], ["unplaced"], [], 1, /^NOT ACCEPTED/],
    [["exported"], ["exported"], [], 1, /^UNPLACED/],
    [["derived"], [], ["an organization"], 3, /^NOT FETCHED/],
  ] as const)(
    "of %j with an unplaced key, accepting %j, with %j not fetched, is %d",
    (names, accepted, left, code, says) => {
      const told = { ...result(names, left), accepted, unplaced: [unplaced] };
      expect([tableExitCode(told), writeText(tableDoc(told, true), {})]).toEqual([code, expect.stringMatching(says)]);
      const limit = "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT an-activity: nothing says in which wallet the key of 0x42 is";
      for (const text of [writeText(tableDoc(told, true), { width: 1000 }), tableJson(told), tableJunit(told)])
        expect(text).toContain(limit);
    },
  );
});

describe("the formats", () => {
  it("show at most 20 rows of a class, and all of them with --all", () => {
    const many = result([...Array<string>(23).fill("service"), ...Array<string>(2).fill("derived")]);
    const shown = (isAll: boolean): string => writeText(tableDoc(many, isAll), {});
    expect([shown(false), shown(true)].map((text) => text.split("wallet w").length - 1)).toEqual([22, 25]);
    expect(shown(false)).toContain("and 3 more: --all shows them");
  });

  it("do not let a spreadsheet run a cell", () => {
    const cells = {
      ...{ "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", " =1": "' =1", "＝1": "'＝1", 'a"b': '"a""b"' },
      ...{ "a,b": '"a,b"', "a;b": '"a;b"', "\t=1": "\\u{9}=1", "a\nb": "a\\u{a}b", plain: "plain" },
    };
    const rows = Object.keys(cells).map((address) => ({ ...row, class: "derived", address }));
    const lines = tableCsv({ ...result([]), rows } as unknown as AddressResult)
      .split("\n")
      .slice(1, -1);
    expect(lines.map((line) => line.split(",w,")[0]!.replace("derived,", ""))).toEqual(Object.values(cells));
  });

  const answers = new Map<string, Promise<Answer>>();
  /** Of the whole organization; asked once. */
  const told = (format: string): Promise<Answer> => {
    answers.set(format, answers.get(format) ?? run(`${ASK} --format ${format}`, 1));
    return answers.get(format)!;
  };

  it("have the same rows", async () => {
    const { rows } = tableOf(await told("json"));
    const lines = (await told("ndjson")).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    const [head, ...csv] = (await told("csv")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    expect(head!.slice(0, 5)).toEqual(["class", "address", "walletId", "path", "reason"]);
    const cells = rows.map(({ class: name, address, walletId }) => [name, address, walletId ?? ""]);
    expect(csv.map((line) => line.slice(0, 3))).toEqual(cells);
    const { stdout: junit } = await told("junit");
    expect(junit).toContain('tests="11" failures="7" errors="0"');
    const cases = [...junit.matchAll(/<testcase classname="bootproof\.addresses" name="([^"]*)"/g)];
    expect([cases.length, new Set(cases.map(([, name]) => name)).size]).toEqual([rows.length + 1, 11]);
    const { stdout: html } = await told("html");
    expect(html.split("<details>").length - 1).toBe(rows.length);
    expect([html.includes("<script"), html.includes("script-src 'none'")]).toEqual([false, true]);
  });

  it("say first what is not proven", async () => {
    const { notProven } = tableOf(await told("json"));
    const flat = (text: string): string => text.replace(/<\/?span[^>]*>/g, "").replace(/\s+/g, " ");
    expect(notProven).toHaveLength(4);
    expect((await json("--all-activities")).notProven).toEqual(notProven.slice(1));
    const [text, ...others] = await Promise.all(["text", "html", "junit"].map(told));
    for (const shown of [text!.stdout.split("\n\n")[0]!, ...others.map(({ stdout }) => stdout)])
      for (const words of notProven) expect(flat(shown)).toContain(words);
  });

  it("of rows alone tell what no row says on stderr, and nothing else", () => {
    expect(omissionsOf({ ...result([]), rows: [], accepted: [] })).toEqual(["no list has any address"]);
    const some = { ...result(["derived"]), warnings: ["a warning"], unplaced: [unplaced] };
    const nowhere =
      "unplaced: ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT an-activity: nothing says in which wallet its key is, " +
      "so it may be that of any address";
    expect(omissionsOf(some)).toEqual([nowhere, "warning: a warning"]);
    expect(omissionsOf({ ...some, accepted: ["unplaced"] })).toEqual(["warning: a warning"]);
  });
});

describe("what is asked for", () => {
  it("--no-private-keys", async () => {
    const { rows } = await json("--no-private-keys");
    expect([rows.length, rows.filter(({ walletId }) => walletId === null)]).toEqual([9, []]);
  });

  it("--suborgs, which asks before it goes on", async () => {
    const asked = (stdin: string): ReturnType<typeof scene>["run"] =>
      scene({ ...N, it: fileOf(stdin) }, { now: AROUND.now, isTTY: true }).run;
    const line = `${ASK} --suborgs $good --format json`;
    for (const answer of [
      run(`${line} --yes --limit 1`, 0),
      asked("y\n")(`${line} < $it`, 0),
      asked("YES\nmore")(`${line} < $it`, 0),
    ]) {
      const { rows, notProven } = tableOf(await answer);
      const owners = new Set(rows.map(({ organizationId }) => organizationId));
      expect([owners, notProven.length]).toEqual([new Set([lab.organizationId, lab.childOrganizationId]), 5]);
    }
    for (const stdin of ["", "\n", "n\n", "yesterday\n"]) await asked(stdin)(`${ASK} --suborgs < $it`, 2, "not agreed");
  });

  usage("addresses", [
    ["--policy p", "--base-url URL (or BOOTPROOF_BASE_URL) is required"],
    ["--policy p --from f", "--organization-id ID is required"],
    ["--accept contradicted", "--accept contradicted: expected service, imported, exported"],
    ["--accept service,", "--accept : expected service"],
    ["--accept derived", "--accept derived: expected"],
    ["--format xml", "--format xml: expected one of text, json, ndjson, csv"],
    ["--limit 3", "--limit requires --suborgs"],
    ["--yes", "--yes requires --suborgs"],
    ["--suborgs --limit x", "--limit x: expected a number"],
    ["--max-accounts -1", "--max-accounts: took -1 as its value"],
    ["--out -", "--out -: a folder is required"],
    ["--from f --base-url https://x", "--from cannot be used with --base-url"],
    ["--from f --api-key-file k", "--from cannot be used with --api-key-file"],
    ["--from f --out g", "--from cannot be used with --out"],
    ["--suborgs --parent-organization-id p", "--suborgs cannot be used with --parent-organization-id"],
    ["--suborgs --wallet w", "--suborgs cannot be used with --wallet"],
    ["--address a a", "--address a: repeated"],
  ]);
});

// Last, since it adds addresses.
describe("the faults of lists", () => {
  // The lists need more than one page for faults of pages, which are told last: each run then takes longer.
  const isOfPages = ({ name }: { readonly name: string }): boolean => /^(?:skipped-item|repeated-page)$/.test(name);
  const faults = FAULTS.filter(({ shows }) => shows !== undefined).sort(
    (one, other) => Number(isOfPages(one)) - Number(isOfPages(other)),
  );
  it.each(faults)("of a service with the fault $name", async ({ name, shows }) => {
    if (name === faults.find(isOfPages)!.name) await lab.addAccounts({ count: 120 });
    lab.setFault(name);
    const line = `${ASK} --format json $good`;
    if (shows === "unfetched") return void (await run(line, 3, '"bootproof-error/1"'));
    const answer = await run(line, ["service", "imported"].includes(shows!) ? 0 : 1);
    expect(Object.keys(tableOf(answer).counts)).toContain(shows);
  });
});
