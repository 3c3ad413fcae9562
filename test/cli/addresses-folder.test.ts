/** The folder of `bootproof addresses`: --out, --from, Ctrl-C, and each of its files altered. */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runAny as run } from "../../src/cli/commands.js";
import { otherMembers } from "../../src/decode/input.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Json, completed, query, submit } from "../lab/support.js";
import { type World, newFolder, startWorld, tableOf } from "./addresses-world.js";
import { type Answer, bootproof, connectionTo, fileOf, readJson, refusal, refused } from "./support.js";

const ACCEPT = ["--accept", "service,imported,exported"];
let world: World;
/** A complete folder, which no test changes. */
let whole: string;
let own: string;
let table: Answer;

beforeAll(async () => {
  world = await startWorld();
  whole = newFolder();
  table = await world.run(["--out", whole, "--format", "json", ...ACCEPT]);
  own = join(whole, world.lab.organizationId);
});
afterAll(() => world.lab.close());
afterEach(() => world.lab.setFault(null));

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

const classesOf = (answer: Answer): Readonly<Record<string, number>> => tableOf(answer).counts;

describe("a folder", () => {
  it("has the lists, a bundle of each activity with proofs, and an index", async () => {
    const { complete, organizations, question, ...others } = index(whole);
    expect([table.code, complete]).toEqual([0, true]);
    // No table: the index of many addresses would be too long to read.
    expect(Object.keys(others)).toEqual(["format", "parentOrganizationId"]);
    expect(question).toEqual({
      organizationId: world.lab.organizationId,
      suborgs: false,
      walletId: null,
      addresses: [],
      privateKeys: true,
    });
    const [{ lists, activities }] = organizations as [Json];
    expect(lists.map(({ operation }: Json) => operation)).toEqual([
      "list_wallets",
      "list_private_keys",
      "list_wallet_accounts",
    ]);
    expect(readdirSync(own)).toHaveLength(lists.length + activities.length);
    const bundles = readdirSync(own).filter((name) => "bundle" in readJson(join(own, name)));
    expect(bundles.length).toBeGreaterThan(3);
    for (const name of bundles) {
      const { code } = await bootproof(["verify", join(own, name), "--policy", world.policy], {
        now: new Date().toISOString(),
      });
      expect(code).toBe(0);
    }
  });

  it("is for its owner only, and has no seed that an export handed over", async () => {
    const modeOf = (path: string): number => statSync(path).mode & 0o777;
    expect([whole, own].map(modeOf)).toEqual([0o700, 0o700]);
    const files = [join(whole, "index.json"), ...readdirSync(own).map((name) => join(own, name))];
    expect(new Set(files.map(modeOf))).toEqual(new Set([0o600]));
    const { body } = await query(world.lab, "list_activities", {});
    const exports = (body["activities"] as Json[]).filter(({ type }) => type === "ACTIVITY_TYPE_EXPORT_WALLET");
    expect(JSON.stringify(exports)).toContain('"exportBundle":"');
    const kept = files.map((file) => readFileSync(file, "utf8"));
    for (const { id } of exports) expect(kept.join()).toContain(id);
    expect(kept.join()).not.toContain("exportBundle");
  });

  it("of all activities answers for those of the known types, and not the reverse", async () => {
    await refused(3, world.from(whole, "--all-activities", ...ACCEPT), "the folder was made for less");
    const folder = newFolder();
    expect((await world.run(["--all-activities", "--out", folder, ...ACCEPT])).code).toBe(0);
    for (const more of [[], ["--all-activities"]]) expect((await world.from(folder, ...more, ...ACCEPT)).code).toBe(0);
  });

  it("answers again without a network", async () => {
    const again = await world.from(whole, "--format", "json", ...ACCEPT);
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(tableOf(again).rows).toEqual(tableOf(table).rows);
    const text = await world.from(whole);
    expect([text.code, text.stderr]).toEqual([1, ""]);
  });

  it("answers under another policy", async () => {
    const { lab } = world;
    const deployments = lab.policyFile.deployments.filter(({ name }) => name !== "signer lab.1");
    const policy = fileOf({ ...lab.policyFile, deployments });
    const args = ["addresses", "--from", whole, "--organization-id", lab.organizationId, "--format", "json"];
    const answer = await bootproof([...args, "--policy", policy], { now: new Date().toISOString() });
    expect([answer.code, classesOf(answer)["refused"]! > 0]).toEqual([1, true]);
  });

  it("of another organization is told apart", async () => {
    const other = { ...world.lab, organizationId: world.lab.childOrganizationId };
    const args = ["addresses", "--from", whole, "--organization-id", other.organizationId, "--policy", world.policy];
    await refused(
      2,
      bootproof(args),
      `the folder is of organization ${world.lab.organizationId}, expected ${other.organizationId}`,
    );
  });

  it("of a part answers for this part alone", async () => {
    const folder = newFolder();
    const { exported, derived } = world.ids;
    expect((await world.run(["--wallet", exported, "--out", folder, ...ACCEPT])).code).toBe(0);
    expect((await world.from(folder, "--wallet", exported, ...ACCEPT)).code).toBe(0);
    await refused(3, world.from(folder, ...ACCEPT), "the folder was made for less");
    await refused(3, world.from(folder, "--wallet", derived), "the folder was made for less");
    expect((await world.from(whole, "--wallet", derived)).code).toBe(0);
    expect((await world.from(whole, "--no-private-keys", ...ACCEPT)).code).toBe(0);
    await refused(3, world.from(whole, "--suborgs", ...ACCEPT), "the folder was made for less");
    const keyless = newFolder();
    expect((await world.run(["--no-private-keys", "--out", keyless, ...ACCEPT])).code).toBe(0);
    await refused(3, world.from(keyless, ...ACCEPT), "the folder was made for less");
    const [{ address }] = tableOf(table).rows.filter((row) => row.class === "derived" && row.listed) as unknown as [
      { address: string },
    ];
    const named = newFolder();
    expect((await world.run(["--address", address, "--out", named])).code).toBe(0);
    expect((await world.from(named, "--address", address)).code).toBe(0);
    await refused(3, world.from(named), "the folder was made for less");
  });

  it("with sub-organizations answers for one or all", async () => {
    const folder = newFolder();
    const made = await world.run(["--suborgs", "--yes", "--out", folder, "--format", "json", ...ACCEPT]);
    const all = await world.from(folder, "--suborgs", "--format", "json", ...ACCEPT);
    expect([made.code, all.code, tableOf(all).rows]).toEqual([0, 0, tableOf(made).rows]);
    const one = await world.from(folder, "--format", "json", ...ACCEPT);
    expect([one.code, tableOf(one).rows]).toEqual([0, tableOf(table).rows]);
  });
});

describe("a folder that is altered", () => {
  it("in any byte of a file of each kind, but for the index", async () => {
    const bundle = readdirSync(own).find((name) => "bundle" in readJson(join(own, name)))!;
    for (const name of ["list_1.json", "list_2.json", "list_3.json", bundle]) {
      const folder = copied();
      const path = join(folder, world.lab.organizationId, name);
      writeFileSync(path, readFileSync(path, "utf8").replace(/"(?=:)/, ' "'));
      await refused(3, world.from(folder), "not as it was written: its SHA-256 is another");
      rmSync(path);
      await refused(3, world.from(folder), "no such file");
      mkdirSync(path);
      await refused(3, world.from(folder), "not a regular file");
    }
  }, 60_000);

  it.each<[string, (altered: Json) => void, number, string]>([
    ["not complete", (altered) => (altered["complete"] = false), 3, "the folder is not complete"],
    ["of another format", (altered) => (altered["format"] = "x"), 3, "format"],
    ["without a mark", (altered) => delete altered["complete"], 3, "complete: "],
    ["with another member", (altered) => (altered["more"] = 1), 3, "more: unknown member"],
    ["with another list", (altered) => (altered["organizations"][0].lists[0].operation = "x"), 3, "operation"],
    ["with lists exchanged", ({ organizations: [one] }) => one.lists.reverse(), 3, "not as it was written"],
  ])("in its index: %s", async (_, alter, code, message) => {
    const folder = copied();
    alterIndex(folder, alter);
    await refused(code, world.from(folder, ...ACCEPT), message);
  });

  it("in its index: not JSON, or not there", async () => {
    const folder = copied();
    writeFileSync(join(folder, "index.json"), "{");
    await refused(3, world.from(folder), "index.json");
    rmSync(join(folder, "index.json"));
    await refused(
      3,
      world.from(folder),
      "no index.json in it: expected a folder that bootproof addresses --out completed",
    );
    await refused(2, world.from(join(folder, "none")), "not a folder");
  });

  it.each<[string, (organizations: Json[]) => unknown]>([
    ["lacks organization", (all) => all.pop()],
    ["lacks organization", ([one]) => (one!["organizationId"] = "other")],
    ["twice", (all) => all.push(all[0]!)],
    ["lacks list_wallets of", ([one]) => one!["lists"].shift()],
    ["lacks list_private_keys of", ([one]) => one!["lists"].splice(1, 1)],
    ["lacks list_wallet_accounts of", ([one]) => one!["lists"].pop()],
  ])("in its index, which %s", async (says, alter) => {
    const folder = copied();
    alterIndex(folder, ({ organizations }) => alter(organizations as Json[]));
    await refused(3, world.from(folder), says);
  });

  it("in its index: more activities than other JSON may have values", async () => {
    const folder = copied();
    const more = Array.from({ length: 90_000 }, (_, number) => ({ activityId: `none-${number}`, sha256: "00" }));
    alterIndex(folder, ({ organizations: [one] }) => one.activities.push(...more));
    await refused(3, world.from(folder), "no such file");
  });

  it("in a file that is too long, or none", async () => {
    const folder = copied();
    truncateSync(join(folder, world.lab.organizationId, "list_1.json"), 64 * 1024 * 1024 + 1);
    await refused(3, world.from(folder), "67108865 bytes, expected at most 67108864");
    rmSync(join(folder, "index.json"));
    mkdirSync(join(folder, "index.json"));
    await refused(3, world.from(folder), "not a regular file");
  });

  const accounts = "list_3";

  it("with its digests: an address of a list is contradicted", async () => {
    const folder = copied();
    const [{ address }] = tableOf(table).rows.filter((row) => row.class === "derived" && row.listed) as unknown as [
      { address: string },
    ];
    alterFile(folder, accounts, (list) => {
      list["accounts"].find((one: Json) => one["address"] === address).address = `0x${"42".repeat(20)}`;
    });
    const answer = await world.from(folder, "--format", "json", ...ACCEPT);
    expect([answer.code, classesOf(answer)["contradicted"]]).toEqual([1, 2]);
  });

  it("with its digests: a list that leaves an account out, an import called generated", async () => {
    const folder = copied();
    alterFile(folder, accounts, (list) => {
      list["accounts"] = list["accounts"].filter((one: Json) => one["walletId"] !== world.ids.derived);
    });
    const answer = await world.from(folder, "--format", "json", ...ACCEPT);
    expect([answer.code, classesOf(answer)["contradicted"]]).toEqual([1, 2]);
    const other = copied();
    alterFile(other, "list_1", (list) => {
      for (const wallet of list["wallets"]) wallet.imported = wallet.exported = false;
    });
    expect(classesOf(await world.from(other, "--format", "json"))).toEqual(tableOf(table).counts);
  });

  it.each<[string, (list: Json) => unknown]>([
    ["another organization's account", ({ accounts: [one] }) => void (one.organizationId = "x")],
    ["no list", () => ({})],
    ["a text", () => "text"],
    ["null", () => [null]],
  ])("with its digests: %s", async (_, alter) => {
    const folder = copied();
    alterFile(folder, accounts, alter);
    await refused(3, world.from(folder, ...ACCEPT), /malformed|accounts/);
  });

  it("with its digests: a proof, a boot proof, an activity", async () => {
    const [{ activityId }] = tableOf(table).rows.filter(
      (row) => row.walletId === world.ids.derived && row.listed,
    ) as unknown as [{ activityId: string }];
    const altered = async (alter: (bundle: Json) => unknown): Promise<Answer> => {
      const folder = copied();
      alterFile(folder, activityId, alter);
      return world.from(folder, "--format", "json", ...ACCEPT);
    };
    const payload = (from: string, to: string) => (bundle: Json) => {
      for (const proof of bundle["activity"].appProofs) proof.proofPayload = proof.proofPayload.replace(from, to);
    };
    const forged = await altered(payload('"address":"0x', '"address":"0X'));
    expect(forged.code).toBe(1);
    expect(classesOf(forged)).not.toMatchObject({ derived: 4 });
    // One boot proof of a key is enough, wherever it is: to refuse the key, all of them have to be altered.
    const folder = copied();
    for (const name of readdirSync(own).filter((each) => "bundle" in readJson(join(own, each))))
      alterFile(folder, name.replace(".json", ""), (bundle) => {
        for (const boot of bundle["bootProofs"]) boot.qosManifestB64 = `AAAA${String(boot.qosManifestB64).slice(4)}`;
      });
    const booted = await world.from(folder, "--format", "json", ...ACCEPT);
    expect([booted.code, classesOf(booted)]).toEqual([1, { refused: 7, service: 2 }]);
    const unkeyed = await altered((bundle) => {
      for (const boot of bundle["bootProofs"]) boot.ephemeralPublicKeyHex = "04";
    });
    expect([unkeyed.code, classesOf(unkeyed)["refused"]]).toEqual([1, 2]);
    // Without its boot proofs an activity has no proof that counts, and without its activity nothing is there to read.
    const bare = await altered(({ activity }) => ({ activity }));
    expect([bare.code, classesOf(bare)["service"]]).toEqual([0, 4]);
    for (const alter of [() => ({}), () => "x", (bundle: Json) => void delete bundle["activity"]])
      expect((await altered(alter)).code).toBe(3);
    const foreign = await altered((bundle) => void (bundle["activity"].organizationId = "x"));
    expect([foreign.code, classesOf(foreign)["service"]]).toEqual([0, 4]);
  });
});

describe("--out", () => {
  it("refuses a folder that somebody else made, is complete, or is of another question", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "file"), "");
    await refused(2, world.run(["--out", folder]), "the folder is not empty, and bootproof addresses did not make it");
    expect(readdirSync(folder)).toEqual(["file"]);
    await refused(2, world.run(["--out", whole]), "the folder is complete");
    const other = copied();
    alterIndex(other, (altered) => (altered["complete"] = false));
    await refused(2, world.run(["--out", other, "--no-private-keys"]), "the folder is of another question");
    await refused(2, world.run(["--out", join(folder, "file", "below")]), /not written: /);
    await refused(2, world.run(["--out", join(folder, "file")]), "is a file, and --out takes a folder");
    await refused(2, world.run(["--out", join(folder, "none", "below")]), "not written: no such file");
    expect((await world.run(["--out", other, ...ACCEPT])).code).toBe(0);
    expect(index(other)["complete"]).toBe(true);
  });

  it("keeps ids apart that are no file names", async () => {
    const folder = copied();
    const [{ activityId }] = tableOf(table).rows.filter((row) => row.class === "derived" && row.listed) as unknown as [
      { activityId: string },
    ];
    alterIndex(folder, ({ organizations: [one] }) => {
      one.activities.find((each: Json) => each["activityId"] === activityId).activityId = "../../../etc/passwd";
    });
    const says = await refusal(3, world.from(folder), "no such file");
    expect(says).not.toContain("etc");
  });
});

describe("a signal, where nothing is fetched,", () => {
  const handlers = (): number => process.listenerCount("SIGINT");
  /** Runs the command, and returns its exit code and the numbers of handlers while it asks or verifies. */
  const watched = async (argv: readonly string[]): Promise<[code: number, asking: number[], verifying: number[]]> => {
    const [before, asking, verifying]: [number, number[], number[]] = [handlers(), [], []];
    const stdin = async function* (): AsyncGenerator<Uint8Array> {
      asking.push(handlers() - before);
      yield Buffer.from("n\n");
    };
    const code = await run(argv, {
      stdin: stdin(),
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
  const words = (): string[] => ["addresses", "--policy", world.policy];

  it("ends the command at its question", async () => {
    const [code, asking] = await watched([...words(), "--suborgs", ...world.connection]);
    expect([code, asking]).toEqual([2, [0]]);
  });

  it("ends the command with --from", async () => {
    const args = ["--from", whole, "--organization-id", world.lab.organizationId, ...ACCEPT];
    const [code, , verifying] = await watched([...words(), ...args]);
    expect([code, new Set(verifying)]).toEqual([0, new Set([0])]);
  });

  it("is handled while evidence is fetched", async () => {
    const [code, , verifying] = await watched([...words(), ...world.connection, ...ACCEPT]);
    expect([code, verifying]).toEqual([0, expect.arrayContaining([1])]);
  });
});

describe("an interruption", () => {
  let proxy: Server;
  let asked: string[];
  /** The number of requests of boot proofs after which the process is interrupted. */
  let most = Infinity;
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        asked.push(request.url!.split("/").at(-1)!);
        if (asked.filter((name) => name === "get_boot_proof").length > most) process.emit("SIGINT");
        const headers = otherMembers(request.headers as JsonObject, "host", "connection", "content-length");
        const answer = await fetch(world.lab.baseUrl + request.url!, {
          method: "POST",
          headers: headers as Record<string, string>,
          body: Buffer.concat(chunks),
        });
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(await answer.text());
      })().catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => proxy.close());

  it("leaves a folder from which the same command goes on", async () => {
    const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const args = ["addresses", "--policy", world.policy, ...connectionTo({ ...world.lab, baseUrl }), ...ACCEPT];
    const present = { now: new Date().toISOString() };
    const folder = newFolder();
    [asked, most] = [[], 0];
    const says = await refusal(3, bootproof([...args, "--out", folder], present), "interrupted");
    expect(says).toContain(`the same command goes on from ${folder}`);
    expect(index(folder)["complete"]).toBe(false);
    await refused(3, world.from(folder), "the folder is not complete");
    [asked, most] = [[], 1];
    await refused(3, bootproof([...args, "--out", folder], present), "interrupted");
    [asked, most] = [[], Infinity];
    const rest = await bootproof([...args, "--out", folder, "--format", "json"], present);
    expect([rest.code, tableOf(rest).rows]).toEqual([0, tableOf(table).rows]);
    expect(asked).toContain("get_boot_proof");
    expect((await world.from(folder, ...ACCEPT)).code).toBe(0);
  });

  it("costs no evidence twice", async () => {
    const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const folder = copied();
    alterIndex(folder, (altered) => (altered["complete"] = false));
    [asked, most] = [[], Infinity];
    const connection = connectionTo({ ...world.lab, baseUrl });
    const args = ["addresses", "--policy", world.policy, "--out", folder, ...connection, ...ACCEPT];
    expect((await bootproof(args, { now: new Date().toISOString() })).code).toBe(0);
    expect(asked).toContain("list_wallet_accounts");
    expect(asked.filter((name) => name === "get_boot_proof" || name === "list_app_proofs")).toEqual([]);
  });
});

// The last test, since it makes a wallet in the organization.
it("a folder of a wallet without accounts answers, too", async () => {
  const folder = newFolder();
  const { result } = await completed(submit(world.lab, "createWallet", { walletName: "empty", accounts: [] }));
  const { walletId } = (result as Json)["createWalletResult"] as { walletId: string };
  const args = ["--wallet", walletId];
  expect((await world.run(["--out", folder, ...args])).code).toBe(1);
  expect((await world.from(folder, ...args)).code).toBe(1);
});
