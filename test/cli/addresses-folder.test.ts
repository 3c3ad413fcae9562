/** The folder of `bootproof addresses`: --out, --from, Ctrl-C, and each of its files altered. */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runAny } from "../../src/cli/commands.js";
import { otherMembers } from "../../src/decode/input.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Json, completed, query, submit } from "../lab/support.js";
import { newFolder, startWorld, tableOf } from "./addresses-world.js";
import { type Answer, connectionTo, fileOf, readJson, scene } from "./support.js";

const ACCEPT = ["--accept", "service,imported,exported"];
const world = await startWorld();
afterAll(() => world.lab.close());
afterEach(() => world.lab.setFault(null));
/** A complete folder, which no test changes. */
const whole = newFolder();
const table = await world.run(["--out", whole, "--format", "json", ...ACCEPT]);
const own = join(whole, world.lab.organizationId);
const derived = tableOf(table).rows.find((row) => row.class === "derived" && row.listed && row.walletId !== null)!;
const bundles = readdirSync(own).filter((name) => "bundle" in readJson(join(own, name)));

const index = (folder: string): Json => readJson(join(folder, "index.json"));
const digestOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

/** A copy of the folder. */
function copied(): string {
  const folder = newFolder();
  cpSync(whole, folder, { recursive: true });
  return folder;
}

/** Alters the index of a folder. */
function alterIndex(folder: string, alter: (index: Json) => void): void {
  const altered = index(folder);
  alter(altered);
  writeFileSync(join(folder, "index.json"), JSON.stringify(altered));
}

/** Alters a file of the organization, and its digest in the index, as who can write the folder would. */
function alterFile(folder: string, name: string, alter: (content: Json) => unknown): void {
  const path = join(folder, world.lab.organizationId, `${name}.json`);
  const content = readJson(path);
  writeFileSync(path, JSON.stringify(alter(content) ?? content));
  const digest = digestOf(path);
  alterIndex(folder, ({ organizations }) => {
    const [{ lists, activities }] = organizations as [Json];
    const entry = /^list_/.test(name)
      ? lists[Number(name.slice(5)) - 1]
      : activities.find(({ activityId }: Json) => activityId === name);
    entry.sha256 = digest;
  });
}

const { organizationId, childOrganizationId, policyFile, baseUrl } = world.lab;
const narrower = policyFile.deployments.filter(({ name }) => name !== "signer lab.1");
const N = {
  ...{ policy: world.policy, to: [...world.connection], org: organizationId, child: childOrganizationId, whole },
  ...{ accept: ACCEPT, address: derived.address, exported: world.ids.exported, derived: world.ids.derived },
  narrower: fileOf({ ...policyFile, deployments: narrower }),
};
const AROUND = {
  get now(): string {
    return new Date().toISOString();
  },
};
const { having, run } = scene(N, AROUND);
const FROM = "addresses --policy $policy --organization-id $org --from";
const OUT = "addresses --policy $policy $to --out";
/** Asks a folder, which is refused with exit code 3 unless another is expected. */
const refuses = async (folder: string, ...says: (string | RegExp)[]): Promise<unknown> =>
  having({ folder })(`${FROM} $folder $accept`, 3, ...says);
const countsOf = async (folder: string, code: number): Promise<Readonly<Record<string, number>>> =>
  tableOf(await having({ folder })(`${FROM} $folder --format json $accept`, code)).counts;
const LESS = "the folder was made for less";

describe("a folder", () => {
  it("has the lists, a bundle of each activity with proofs, and an index", async () => {
    const { complete, organizations, question, ...others } = index(whole);
    expect([table.code, complete]).toEqual([0, true]);
    // No table: the index of many addresses would be too long to read.
    expect(Object.keys(others)).toEqual(["format", "parentOrganizationId"]);
    expect(question).toEqual({ organizationId, suborgs: false, walletId: null, addresses: [], privateKeys: true });
    const [{ lists, activities }] = organizations as [Json];
    const operations = ["list_wallets", "list_private_keys", "list_wallet_accounts"];
    expect(lists.map(({ operation }: Json) => operation)).toEqual(operations);
    expect(readdirSync(own)).toHaveLength(lists.length + activities.length);
    expect(bundles.length).toBeGreaterThan(3);
    for (const name of bundles) await having({ it: join(own, name) })("verify $it --policy $policy", 0);
  });

  it("is for its owner only, and has no seed that an export handed over", async () => {
    const modeOf = (path: string): number => statSync(path).mode & 0o777;
    expect([whole, own].map(modeOf)).toEqual([0o700, 0o700]);
    const files = [join(whole, "index.json"), ...readdirSync(own).map((name) => join(own, name))];
    expect(new Set(files.map(modeOf))).toEqual(new Set([0o600]));
    const { body } = await query(world.lab, "list_activities", {});
    const exports = (body["activities"] as Json[]).filter(({ type }) => type === "ACTIVITY_TYPE_EXPORT_WALLET");
    expect(JSON.stringify(exports)).toContain('"exportBundle":"');
    const kept = files.map((file) => readFileSync(file, "utf8")).join();
    for (const { id } of exports) expect(kept).toContain(id);
    expect(kept).not.toContain("exportBundle");
  });

  it("answers again without a network, under another policy, and for its own organization", async () => {
    const again = await run(`${FROM} $whole --format json $accept`, 0);
    expect([tableOf(again).rows, again.stderr]).toEqual([tableOf(table).rows, ""]);
    await run(`${FROM} $whole`, 1);
    const narrow = await run(`${FROM.replace("$policy", "$narrower")} $whole --format json`, 1);
    expect(tableOf(narrow).counts["refused"]).toBeGreaterThan(0);
    const other = "the folder is of organization $org, expected $child";
    await run(`${FROM.replace("$org", "$child")} $whole`, 2, other);
  });

  it.each<[made: string, answers: string[], not: string[]]>([
    ["--all-activities $accept", ["$accept", "--all-activities $accept"], []],
    ["--wallet $exported $accept", ["--wallet $exported $accept"], ["$accept", "--wallet $derived"]],
    ["--no-private-keys $accept", [], ["$accept"]],
    ["--address $address", ["--address $address"], [""]],
  ])("made with %s answers for this part alone", async (made, answers, not) => {
    const ask = having({ folder: newFolder() });
    await ask(`${OUT} $folder ${made}`, 0);
    for (const words of answers) await ask(`${FROM} $folder ${words}`, 0);
    for (const words of not) await ask(`${FROM} $folder ${words}`.trim(), 3, LESS);
  });

  it("of all wallets answers for a part, and not for more", async () => {
    for (const words of ["--wallet $derived", "--no-private-keys $accept"]) await run(`${FROM} $whole ${words}`, 0);
    for (const more of ["--all-activities", "--suborgs"]) await run(`${FROM} $whole ${more} $accept`, 3, LESS);
  });

  it("with sub-organizations answers for one or all", async () => {
    const ask = having({ folder: newFolder() });
    const made = await ask(`${OUT} $folder --suborgs --yes --format json $accept`, 0);
    const all = await ask(`${FROM} $folder --suborgs --format json $accept`, 0);
    expect(tableOf(all).rows).toEqual(tableOf(made).rows);
    const one = await ask(`${FROM} $folder --format json $accept`, 0);
    expect(tableOf(one).rows).toEqual(tableOf(table).rows);
  });
});

describe("a folder that is altered", () => {
  it("in any byte of a file of each kind, but for the index", async () => {
    for (const name of ["list_1.json", "list_2.json", "list_3.json", bundles[0]!]) {
      const folder = copied();
      const path = join(folder, organizationId, name);
      writeFileSync(path, readFileSync(path, "utf8").replace(/"(?=:)/, ' "'));
      await refuses(folder, "not as it was written: its SHA-256 is another");
      rmSync(path);
      await refuses(folder, "no such file");
      mkdirSync(path);
      await refuses(folder, "not a regular file");
    }
  }, 60_000);

  const more = Array.from({ length: 90_000 }, (_, number) => ({ activityId: `none-${number}`, sha256: "00" }));
  it.each<[string, (altered: Json) => unknown]>([
    ["the folder is not complete", (altered) => (altered["complete"] = false)],
    ["format", (altered) => (altered["format"] = "x")],
    ["complete: ", (altered) => delete altered["complete"]],
    ["more: unknown member", (altered) => (altered["more"] = 1)],
    ["operation", (altered) => (altered["organizations"][0].lists[0].operation = "x")],
    ["not as it was written", ({ organizations: [one] }) => one.lists.reverse()],
    ["lacks organization", ({ organizations }) => organizations.pop()],
    ["lacks organization", ({ organizations: [one] }) => (one["organizationId"] = "other")],
    ["twice", ({ organizations }) => organizations.push(organizations[0])],
    ["lacks list_wallets of", ({ organizations: [one] }) => one.lists.shift()],
    ["lacks list_private_keys of", ({ organizations: [one] }) => one.lists.splice(1, 1)],
    ["lacks list_wallet_accounts of", ({ organizations: [one] }) => one.lists.pop()],
    // More activities than other JSON may have values.
    ["no such file", ({ organizations: [one] }) => one.activities.push(...more)],
  ])("in its index: %s", async (says, alter) => {
    const folder = copied();
    alterIndex(folder, (altered) => void alter(altered));
    await refuses(folder, says);
  });

  it("in its index: an id that is no file name, not JSON, a folder, or not there", async () => {
    const folder = copied();
    const path = join(folder, "index.json");
    alterIndex(folder, ({ organizations: [one] }) => {
      const activity = one.activities.find((each: Json) => each["activityId"] === derived.activityId);
      activity.activityId = "../../../etc/passwd";
    });
    await refuses(folder, "no such file", "!etc");
    writeFileSync(path, "{");
    await refuses(folder, "index.json");
    rmSync(path);
    await refuses(folder, "no index.json in it: expected a folder that bootproof addresses --out completed");
    mkdirSync(path);
    await refuses(folder, "not a regular file");
    await having({ none: join(folder, "none") })(`${FROM} $none`, 2, "not a folder");
  });

  it("in a file that is too long", async () => {
    const folder = copied();
    truncateSync(join(folder, organizationId, "list_1.json"), 64 * 1024 * 1024 + 1);
    await refuses(folder, "67108865 bytes, expected at most 67108864");
  });

  it.each<[string, (list: Json) => void]>([
    [
      "an address of a list",
      ({ accounts }) => {
        const one = accounts.find(({ address }: Json) => address === derived.address);
        one.address = `0x${"42".repeat(20)}`;
      },
    ],
    [
      "a list that leaves an account out",
      (list) => {
        list["accounts"] = list["accounts"].filter((one: Json) => one["walletId"] !== world.ids.derived);
      },
    ],
  ])("with its digests: %s is contradicted", async (_, alter) => {
    const folder = copied();
    alterFile(folder, "list_3", alter);
    expect((await countsOf(folder, 1))["contradicted"]).toBe(2);
  });

  it("with its digests: an import called generated is an import still", async () => {
    const folder = copied();
    alterFile(folder, "list_1", ({ wallets }) => {
      for (const wallet of wallets) wallet.imported = wallet.exported = false;
    });
    expect(await countsOf(folder, 0)).toEqual(tableOf(table).counts);
  });

  it.each<[string, (list: Json) => unknown]>([
    ["another organization's account", ({ accounts: [one] }) => void (one.organizationId = "x")],
    ["no list", () => ({})],
    ["a text", () => "text"],
    ["null", () => [null]],
  ])("with its digests: %s", async (_, alter) => {
    const folder = copied();
    alterFile(folder, "list_3", alter);
    await refuses(folder, /malformed|accounts/);
  });

  it.each<[string, (bundle: Json) => unknown, number, object]>([
    [
      "a proof",
      ({ activity }) => {
        for (const one of activity.appProofs)
          one.proofPayload = one.proofPayload.replace('"address":"0x', '"address":"0X');
      },
      1,
      { refused: 2 },
    ],
    [
      "the key of a boot proof",
      ({ bootProofs }) => {
        for (const boot of bootProofs) boot.ephemeralPublicKeyHex = "04";
      },
      1,
      { refused: 2 },
    ],
    // Without its boot proofs an activity has no proof that counts.
    ["no boot proofs", ({ activity }) => ({ activity }), 0, { service: 4 }],
    ["another organization", ({ activity }) => void (activity.organizationId = "x"), 0, { service: 4 }],
  ])("with its digests: %s", async (_, alter, code, counts) => {
    const folder = copied();
    alterFile(folder, derived.activityId!, alter);
    expect(await countsOf(folder, code)).toMatchObject(counts);
  });

  it("with its digests: every boot proof of a key, since one is enough; no activity", async () => {
    const folder = copied();
    for (const name of bundles)
      alterFile(folder, name.replace(".json", ""), ({ bootProofs }) => {
        for (const boot of bootProofs) boot.qosManifestB64 = `AAAA${String(boot.qosManifestB64).slice(4)}`;
      });
    expect(await countsOf(folder, 1)).toEqual({ refused: 7, service: 2 });
    for (const alter of [() => ({}), () => "x", (bundle: Json) => void delete bundle["activity"]]) {
      const other = copied();
      alterFile(other, derived.activityId!, alter);
      await refuses(other);
    }
  });
});

it("--out refuses a folder that somebody else made, is complete, or is of another question", async () => {
  const folder = newFolder();
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "");
  const other = copied();
  alterIndex(other, (altered) => (altered["complete"] = false));
  const out = having({ folder, other });
  await out(`${OUT} $folder`, 2, "the folder is not empty, and bootproof addresses did not make it");
  expect(readdirSync(folder)).toEqual(["file"]);
  await out(`${OUT} $whole`, 2, "the folder is complete");
  await out(`${OUT} $other --no-private-keys`, 2, "the folder is of another question");
  await out(`${OUT} $folder/file/below`, 2, "not written: ");
  await out(`${OUT} $folder/file`, 2, "is a file, and --out takes a folder");
  await out(`${OUT} $folder/none/below`, 2, "not written: no such file");
  await out(`${OUT} $other $accept`, 0);
  expect(index(other)["complete"]).toBe(true);
});

describe("a signal, where nothing is fetched,", () => {
  const handlers = (): number => process.listenerCount("SIGINT");
  /** Runs the command, and returns its exit code and the numbers of handlers while it asks or verifies. */
  const watched = async (...more: string[]): Promise<[code: number, asking: number[], verifying: number[]]> => {
    const [before, asking, verifying]: [number, number[], number[]] = [handlers(), [], []];
    const code = await runAny(["addresses", "--policy", world.policy, ...more], {
      stdin: (async function* () {
        asking.push(handlers() - before);
        yield Buffer.from("n\n");
      })(),
      stdout: { write: () => true, isTTY: false, columns: 0, rows: 0 },
      stderr: { write: () => true, isTTY: true, columns: 0 },
      env: {},
      now: () => {
        verifying.push(handlers() - before);
        return new Date();
      },
    });
    expect(handlers()).toBe(before);
    return [code, asking, verifying];
  };

  it("ends the command at its question, and with --from; it is handled while evidence is fetched", async () => {
    expect((await watched("--suborgs", ...world.connection)).slice(0, 2)).toEqual([2, [0]]);
    const [code, , verifying] = await watched("--from", whole, "--organization-id", organizationId, ...ACCEPT);
    expect([code, new Set(verifying)]).toEqual([0, new Set([0])]);
    const fetching = await watched(...world.connection, ...ACCEPT);
    expect([fetching[0], fetching[2]]).toEqual([0, expect.arrayContaining([1])]);
  });
});

describe("an interruption", () => {
  let asked: string[];
  /** The number of requests of boot proofs after which the process is interrupted. */
  let most = Infinity;
  const proxy = createServer(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    asked.push(request.url!.split("/").at(-1)!);
    if (asked.filter((name) => name === "get_boot_proof").length > most) process.emit("SIGINT");
    const headers = otherMembers(request.headers as JsonObject, "host", "connection", "content-length");
    try {
      const init = { method: "POST", headers: headers as Record<string, string>, body };
      const answer = await fetch(baseUrl + request.url!, init);
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    } catch {
      response.destroy();
    }
  });
  let through: string[];
  beforeAll(async () => {
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    through = connectionTo({ ...world.lab, baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  });
  afterAll(() => void proxy.close());
  const out = async (folder: string, limit: number, ...row: [number, ...string[]]): Promise<Answer> => {
    [asked, most] = [[], limit];
    return having({ folder, to: through })(`${OUT} $folder --format json $accept`, ...row);
  };

  it("leaves a folder from which the same command goes on", async () => {
    const folder = newFolder();
    await out(folder, 0, 3, "interrupted", "the same command goes on from $folder");
    expect(index(folder)["complete"]).toBe(false);
    await refuses(folder, "the folder is not complete");
    await out(folder, 1, 3, "interrupted");
    expect(tableOf(await out(folder, Infinity, 0)).rows).toEqual(tableOf(table).rows);
    expect(asked).toContain("get_boot_proof");
    await having({ folder })(`${FROM} $folder $accept`, 0);
  });

  it("costs no evidence twice", async () => {
    const folder = copied();
    alterIndex(folder, (altered) => (altered["complete"] = false));
    await out(folder, Infinity, 0);
    expect(asked).toContain("list_wallet_accounts");
    expect(asked.filter((name) => name === "get_boot_proof" || name === "list_app_proofs")).toEqual([]);
  });
});

// The last test, since it makes a wallet in the organization.
it("a folder of a wallet without accounts answers, too", async () => {
  const { result } = await completed(submit(world.lab, "createWallet", { walletName: "empty", accounts: [] }));
  const { walletId } = (result as Json)["createWalletResult"] as { walletId: string };
  const ask = having({ folder: newFolder(), wallet: walletId });
  await ask(`${OUT} $folder --wallet $wallet`, 1);
  await ask(`${FROM} $folder --wallet $wallet`, 1);
});
