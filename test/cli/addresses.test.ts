/** `bootproof addresses` against the lab: classes, faults, exit codes, formats, sub-organizations. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { FAULTS } from "../../src/lab/index.js";
import type { AddressResult } from "../../src/show/addresses.js";
import { tableJunit } from "../../src/formats/addresses.js";
import { writeText } from "../../src/show/terminal.js";
import { omissionsOf, tableCsv, tableDoc, tableExitCode, tableJson } from "../../src/show/addresses.js";
import { otherMembers } from "../../src/decode/input.js";
import { completed, submit } from "../lab/support.js";
import { type World, startWorld, tableOf } from "./addresses-world.js";
import { type Answer, bootproof, connectionTo, fileOf, refused } from "./support.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.lab.close());
afterEach(() => {
  world.lab.setFault(null);
  world.lab.setSettings({});
});
const run = (...args: string[]): Promise<Answer> => world.run(args);
const json = async (...args: string[]): Promise<ReturnType<typeof tableOf> & { code: number }> => {
  const answer = await run("--format", "json", ...args);
  return { ...tableOf(answer), code: answer.code };
};

const HONEST = { service: 2, imported: 2, exported: 2, derived: 4 };

describe("the classes", () => {
  it("of an honest service", async () => {
    const { counts, rows, code, exitCode } = await json();
    expect([counts, code, exitCode]).toEqual([HONEST, 1, 1]);
    expect(Object.keys(counts)).toEqual(Object.keys(HONEST));
    const classOf = (walletId: string): string[] => [
      ...new Set(rows.filter((row) => row.walletId === walletId).map((row) => row.class)),
    ];
    const { derived, ...others } = world.ids;
    for (const [name, walletId] of Object.entries(others)) expect(classOf(walletId)).toEqual([name]);
    expect(classOf(derived)).toEqual(["derived"]);
    expect(rows.filter(({ listed }) => !listed)).toMatchObject([{ class: "derived", walletId: derived }]);
    for (const row of rows) expect(row).toMatchObject({ organizationId: world.lab.organizationId });
    const [key] = rows.filter(({ privateKeyId }) => privateKeyId !== null);
    expect(key).toMatchObject({ class: "derived", walletId: null, path: null, reason: null });
  });

  it("refused, under a policy that does not pin the enclave", async () => {
    const [own] = world.lab.policyFile.deployments.filter(({ name }) => name === "signer lab.1");
    const file = otherMembers(world.lab.policyFile, "appProofs");
    const policy = fileOf({ ...file, deployments: [own] });
    const answer = await bootproof(
      ["addresses", "--policy", policy, "--format", "json", "--wallet", world.ids.derived, ...world.connection],
      { now: new Date().toISOString() },
    );
    const { rows } = tableOf(answer);
    const [row] = rows.filter((one) => one.class === "refused");
    expect([answer.code, row]).toMatchObject([
      1,
      { deployment: null, reason: expect.stringContaining("policy.deployment") as string },
    ]);
  });
});

const row = {
  address: "a",
  listed: true,
  organizationId: "o",
  reason: "r",
  provenAt: null,
  walletId: "w",
  path: "p",
};
const result = (classes: readonly string[], unfetched: readonly string[] = []): AddressResult =>
  ({
    rows: classes.map((name) => ({ ...row, class: name })),
    accepted: ["service"],
    unplaced: [],
    warnings: [],
    allActivities: false,
    notListed: [],
    unfetched,
    suborgs: null,
    organizationId: "o",
    policy: { name: null, sha256: null },
    verifiedAt: new Date(0),
  }) as unknown as AddressResult;

const unplaced = { activityId: "an-activity", type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", address: "0x42" };

const GOOD = ["--accept", "service,imported,exported"];

describe("the exit code", () => {
  it("is 0 if every class is derived or accepted", async () => {
    expect((await run(...GOOD)).code).toBe(0);
    expect((await run("--accept", "service,exported")).code).toBe(1);
    expect((await run("--wallet", world.ids.derived)).code).toBe(0);
    expect((await run("--wallet", world.ids.exported, "--accept", "exported")).code).toBe(0);
  });

  it("is 1 if there is no address", async () => {
    const empty = await completed(submit(world.lab, "createWallet", { walletName: "empty", accounts: [] }));
    const { walletId } = empty["result"].createWalletResult as { walletId: string };
    const { code, stdout } = await run("--wallet", walletId);
    expect([code, stdout.split("\n")[0]]).toEqual([1, expect.stringMatching(/^NO ADDRESSES: no list has any/)]);
  });

  it("is 1 for an address that no list has, and 0 for others in any case of their digits", async () => {
    const { rows } = await json();
    const [note, ...derived] = rows.filter((row) => row.walletId === world.ids.derived);
    const { address } = derived[0]!;
    const table = await json(
      "--address",
      address.replace(/[A-F]/g, (digit) => digit.toLowerCase()),
    );
    expect([table.code, table.rows.map((row) => row.address)]).toEqual([0, [address]]);
    const other = `0x${"42".repeat(20)}`;
    const unlisted = await json("--address", address, other, note!.address);
    expect([unlisted.code, unlisted.notListed]).toEqual([1, [other, note!.address]]);
    expect((await run("--address", address, other)).stdout).toContain(`in no list: ${other}`);
  });

  it("is 3 if a list cannot be fetched, and nothing is on stdout", async () => {
    const closed = connectionTo({ ...world.lab, baseUrl: "http://127.0.0.1:1" });
    await refused(3, bootproof(["addresses", "--policy", world.policy, ...closed]), "the service cannot be reached");
    await refused(3, run("--max-accounts", "3"), "more than 3 items. To allow more, set --max-accounts");
  });

  it.each(["text", "json"])(
    "is that of the classes under a policy that leaves the operator open: %s",
    async (format) => {
      const deployments = world.lab.policyFile.deployments.map((own) => ({ ...own, open: ["operator"] }));
      const policy = fileOf({ ...world.lab.policyFile, deployments });
      const words = ["addresses", "--policy", policy, "--format", format, "--wallet", world.ids.derived];
      const around = { now: new Date().toISOString(), columns: 1000 };
      const weak = await bootproof([...words, ...world.connection], around);
      const says = /the deployment .{1,7}signer lab.1.{1,7}: declares the operator open, but \w+/;
      expect([weak.code, weak.stdout.replace(/\s+/g, " ")]).toEqual([0, expect.stringMatching(says)]);
      if (format === "text") return;
      const strict = await bootproof([...words, "--fail-on-warning", ...world.connection], around);
      expect([strict.code, strict.stdout]).toEqual([1, expect.stringContaining("policy.scope")]);
    },
  );

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
      const table = { ...result(names, left), accepted, unplaced: [unplaced] };
      expect([tableExitCode(table), writeText(tableDoc(table, true), {}).split("\n")[0]]).toEqual([
        code,
        expect.stringMatching(says),
      ]);
      const limit = "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT an-activity: nothing says in which wallet the key of 0x42 is";
      for (const text of [writeText(tableDoc(table, true), { width: 1000 }), tableJson(table), tableJunit(table)])
        expect(text).toContain(limit);
    },
  );

  it("shows at most 20 rows of a class, and all of them with --all", () => {
    const many = result([
      ...Array.from({ length: 23 }, () => "service"),
      ...Array.from({ length: 2 }, () => "derived"),
    ]);
    const shown = (isAll: boolean): number => writeText(tableDoc(many, isAll), {}).split("wallet w").length - 1;
    expect([shown(false), shown(true)]).toEqual([22, 25]);
    expect(writeText(tableDoc(many, false), {})).toContain("and 3 more: --all shows them");
  });

  it("does not let a spreadsheet run a cell", () => {
    const cells = ["=1+1", "+1", "-1", "@x", " =1", "＝1", 'a"b', "a,b", "a;b", "\t=1", "a\nb", "plain"];
    const lines = tableCsv({
      ...result([]),
      rows: cells.map((address) => ({ ...row, class: "derived", address })),
    } as unknown as AddressResult);
    const shown = lines
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(",w,")[0]!.replace("derived,", ""));
    expect(shown).toEqual([
      "'=1+1",
      "'+1",
      "'-1",
      "'@x",
      "' =1",
      "'＝1",
      '"a""b"',
      '"a,b"',
      '"a;b"',
      "\\u{9}=1",
      "a\\u{a}b",
      "plain",
    ]);
  });
});

describe("the formats", () => {
  const answers = new Map<string, Promise<Answer>>();
  /** Of the whole organization; asked once. */
  const told = (format: string): Promise<Answer> => {
    answers.set(format, answers.get(format) ?? run("--format", format));
    return answers.get(format)!;
  };

  it("have the same rows", async () => {
    const { rows } = tableOf(await told("json"));
    const ndjson = await told("ndjson");
    expect([ndjson.code, ndjson.stderr]).toEqual([1, ""]);
    const lines = ndjson.stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    const csv = (await told("csv")).stdout.trimEnd().split("\n");
    expect(csv[0]).toMatch(/^class,address,walletId,path,reason,/);
    expect(csv.slice(1).map((line) => line.split(",").slice(0, 3))).toEqual(
      rows.map(({ class: name, address, walletId }) => [name, address, walletId ?? ""]),
    );
    const { stdout: junit, code } = await told("junit");
    expect([code, junit.split("<testcase ").length - 2]).toEqual([1, rows.length]);
    expect(junit).toContain('tests="11" failures="7" errors="0"');
    const cases = [...junit.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"/g)];
    expect(new Set(cases.map(([, classname]) => classname))).toEqual(new Set(["bootproof.addresses"]));
    expect(new Set(cases.map(([, , name]) => name)).size).toBe(11);
    const { stdout: html, stderr } = await told("html");
    expect(stderr).toBe("");
    expect(html.split("<details>").length - 1).toBe(rows.length);
    expect(html).not.toMatch(/<script/);
    expect(html).toContain("script-src 'none'");
  });

  it("say first what is not proven", async () => {
    const { notProven } = tableOf(await told("json"));
    const flat = (text: string): string => text.replace(/<\/?span[^>]*>/g, "").replace(/\s+/g, " ");
    const { stdout } = await told("text");
    expect(notProven).toHaveLength(4);
    expect((await json("--all-activities")).notProven).toEqual(notProven.slice(1));
    const others = await Promise.all(["html", "junit"].map(told));
    for (const shown of [stdout.split("\n\n")[0]!, ...others.map((one) => one.stdout)])
      for (const text of notProven) expect(flat(shown)).toContain(text);
  });
});

describe("csv and ndjson, which have rows only", () => {
  it.each(["csv", "ndjson"])("%s says on stderr what no row says", async (format) => {
    const other = `0x${"42".repeat(20)}`;
    const named = await run("--format", format, "--address", other);
    expect([named.code, named.stderr]).toEqual([1, "bootproof: in no list: 0x42424242...42424242\n"]);
  });

  it("tell nothing else on stderr", () => {
    const empty = { ...result([]), rows: [], accepted: [] };
    expect(omissionsOf(empty)).toEqual(["no list has any address"]);
    const told = { ...result(["derived"]), warnings: ["a warning"], unplaced: [unplaced] };
    expect(omissionsOf(told)).toEqual([
      "unplaced: ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT an-activity: nothing says in which wallet its key is, " +
        "so it may be that of any address",
      "warning: a warning",
    ]);
    expect(omissionsOf({ ...told, accepted: ["unplaced"] })).toEqual(["warning: a warning"]);
  });
});

describe("what is asked for", () => {
  it("--no-private-keys", async () => {
    const { rows } = await json("--no-private-keys");
    expect(rows.filter(({ walletId }) => walletId === null)).toEqual([]);
    expect(rows).toHaveLength(9);
  });

  it("--suborgs, which asks before it goes on", async () => {
    const says = /^1 sub-organization: at least 8 requests/;
    const { childOrganizationId, organizationId } = world.lab;
    for (const [args, surroundings] of [
      [["--yes", "--limit", "1"], {}],
      [[], { isTTY: true, stdin: "y\n" }],
      [[], { isTTY: true, stdin: "YES\nmore" }],
    ] as const) {
      const answer = await world.run(["--suborgs", ...GOOD, "--format", "json", ...args], surroundings);
      expect([answer.code, answer.stderr]).toEqual([0, expect.stringMatching(says)]);
      const owners = new Set(tableOf(answer).rows.map((row) => row.organizationId));
      expect(owners).toEqual(new Set([organizationId, childOrganizationId]));
      expect(tableOf(answer).notProven).toHaveLength(5);
    }
    await refused(2, run("--suborgs"), says, "--yes is required where nobody can be asked");
    for (const stdin of ["", "\n", "n\n", "yesterday\n"])
      await refused(2, world.run(["--suborgs"], { isTTY: true, stdin }), "not agreed");
  });

  it("more sub-organizations than --limit", async () => {
    await refused(3, run("--suborgs", "--yes", "--limit", "0"), "more than 0 items");
  });

  it("a sub-organization, whose parent may have made its wallets", async () => {
    const child = world.connection.map((word) =>
      word === world.lab.organizationId ? world.lab.childOrganizationId : word,
    );
    const { code, stdout } = await bootproof(
      ["addresses", "--policy", world.policy, ...child, "--parent-organization-id", world.lab.organizationId],
      { now: new Date().toISOString() },
    );
    expect([code, stdout.split("\n")[0]]).toEqual([0, expect.stringContaining("ACCEPTED: 2 rows")]);
  });
});

describe("wrong uses", () => {
  const from = (...args: string[]): Promise<Answer> => bootproof(["addresses", ...args]);
  it.each<[string, string[], string]>([
    ["no connection", ["--policy", "p"], "--base-url URL (or BOOTPROOF_BASE_URL) is required"],
    ["no organization", ["--policy", "p", "--from", "f"], "--organization-id ID is required"],
    [
      "a class that is never fine",
      ["--accept", "contradicted"],
      "--accept contradicted: expected service, imported, exported",
    ],
    ["a class twice removed", ["--accept", "service,"], "--accept : expected service"],
    ["a class that needs no name", ["--accept", "derived"], "--accept derived: expected"],
    ["an unknown format", ["--format", "xml"], "--format xml: expected one of text, json, ndjson, csv"],
    ["a limit alone", ["--limit", "3"], "--limit requires --suborgs"],
    ["a yes alone", ["--yes"], "--yes requires --suborgs"],
    ["a limit that is no number", ["--suborgs", "--limit", "x"], "--limit x: expected a number"],
    ["accounts that are no number", ["--max-accounts", "-1"], "--max-accounts: took -1 as its value"],
    ["stdout as a folder", ["--out", "-"], "--out -: a folder is required"],
    ["a folder and a service", ["--from", "f", "--base-url", "https://x"], "--from and --base-url exclude each other"],
    ["a folder and a key", ["--from", "f", "--api-key-file", "k"], "--from and --api-key-file exclude each other"],
    ["two folders", ["--from", "f", "--out", "g"], "--from and --out exclude each other"],
    [
      "a parent of all",
      ["--suborgs", "--parent-organization-id", "p"],
      "--suborgs and --parent-organization-id exclude",
    ],
    ["a wallet of all", ["--suborgs", "--wallet", "w"], "--suborgs and --wallet exclude each other"],
    ["an address twice", ["--address", "a", "a"], "--address a: repeated"],
  ])("%s", (_, args, message) => refused(2, from(...args), message));

  it("a policy under which no deployment is known to derive addresses", async () => {
    const types = ["APP_PROOF_TYPE_POLICY_OUTCOME"];
    const deployments = world.lab.policyFile.deployments.map((own, index) => {
      return { ...own, namespace: `space ${index}`, appProofs: { types } };
    });
    const policy = fileOf({ ...world.lab.policyFile, deployments });
    await refused(
      2,
      bootproof(["addresses", "--policy", policy, ...world.connection]),
      'add "appProofs": {"types": ["APP_PROOF_TYPE_ADDRESS_DERIVATION"]} to the deployment of the signer',
    );
  });
});

// Last, since it adds addresses.
describe("the faults of lists", () => {
  // The lists need more than one page for faults of pages, which are told last: each run then takes longer.
  const isOfPages = (name: string): boolean => name === "skipped-item" || name === "repeated-page";
  const faults = FAULTS.filter(({ shows }) => shows !== undefined).sort(
    (one, other) => Number(isOfPages(one.name)) - Number(isOfPages(other.name)),
  );
  it.each(faults)("of a service with the fault $name", async ({ name, shows }) => {
    if (name === faults.find((each) => isOfPages(each.name))!.name) await world.lab.addAccounts({ count: 120 });
    world.lab.setFault(name);
    const answer = await run("--format", "json", "--accept", "service,imported,exported");
    if (shows === "unfetched") {
      expect([answer.code, answer.stdout]).toMatchObject([3, expect.stringContaining('"bootproof-error/1"')]);
      return;
    }
    const { counts } = tableOf(answer);
    expect(Object.keys(counts)).toContain(shows);
    expect(answer.code).toBe(["service", "imported"].includes(shows!) ? 0 : 1);
  });
});
