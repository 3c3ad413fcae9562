/** The built command against a lab that the built command runs. Needs `npm run build`. */
import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../support/loose.js";
import { readJson, words } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-built-lab-"));
let lab: ChildProcess;
let facts: Loose;
let connection: string[];
let policy: string;

function built(
  args: readonly string[],
  options: { input?: string | Buffer; env?: Record<string, string> } = {},
): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: "utf8",
    input: options.input ?? "",
    env: { ...process.env, ...options.env },
  });
}

beforeAll(async () => {
  lab = spawn(process.execPath, [COMMAND, "lab", "--data", folder], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((listens) => lab.stdout!.once("data", listens));
  facts = readJson(join(folder, "lab.json"));
  connection = [
    "--base-url",
    facts["baseUrl"] as string,
    "--organization-id",
    facts["organizationId"] as string,
    "--api-key-file",
    join(folder, facts["apiKeyFile"] as string),
  ];
  policy = join(folder, facts["policyFile"] as string);
});
afterAll(async () => {
  const ended = new Promise((end) => lab.once("exit", end));
  lab.kill("SIGINT");
  expect(await ended).toBe(0);
});

/** Submits as a user of curl does: a body in a file, its stamp from the command. */
async function submit(): Promise<string> {
  const body = JSON.stringify({
    type: "ACTIVITY_TYPE_UPDATE_WALLET",
    timestampMs: String(Date.now()),
    organizationId: facts["organizationId"] as string,
    parameters: { walletId: facts["ids"].walletId as string, walletName: "stamped by hand" },
    generateAppProofs: true,
  });
  const { status, stdout, stderr } = built(["stamp", "--api-key-file", connection[5]!], { input: body });
  expect([status, stderr]).toEqual([0, ""]);
  const answer = await fetch(`${facts["baseUrl"] as string}/public/v1/submit/update_wallet`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", "X-Stamp": stdout.trim() },
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Loose)["activity"].id as string;
}

describe("the built command and its lab", () => {
  it("stamp a request, fetch its evidence, verify it, and bundle it for later", async () => {
    const id = await submit();
    const env = { BOOTPROOF_BASE_URL: connection[1]!, BOOTPROOF_ORGANIZATION_ID: connection[3]! };
    const verified = built(["verify", "--activity-id", id, "--policy", policy, "--api-key-file", connection[5]!], {
      env,
    });
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    expect(verified.stdout).toMatch(/^VERIFIED/);

    const evidence = join(folder, "evidence.json");
    writeFileSync(evidence, built(["fetch", "--activity-id", id, ...connection]).stdout);
    const bundle = join(folder, "bundle.json");
    // What is fetched is a bundle: it is verified as a whole, and taken apart to be packed with a policy.
    expect(built(["verify", evidence, "--policy", policy]).status).toBe(0);
    const { bootProofs, activity } = readJson(evidence);
    const [boots, one] = [join(folder, "boots.json"), join(folder, "activity.json")];
    writeFileSync(boots, JSON.stringify({ bootProofs }));
    writeFileSync(one, JSON.stringify({ activity }));
    const { status, stdout } = built(["bundle", "--boot-proof", boots, "--activity", one, "--policy", policy]);
    expect(status).toBe(0);
    writeFileSync(bundle, stdout);
    expect(built(["verify", bundle, "--policy", policy]).status).toBe(0);
    expect(built(["verify", bundle]).status).toBe(2);
    // The bundle's policy names the lab's root: the caller has to, too.
    const anchor = join(folder, facts["trustAnchorFile"] as string);
    expect(built(["verify", bundle, "--bundle-policy"]).status).toBe(2);
    const own = built(["verify", bundle, "--bundle-policy", "--trust-anchor", anchor]);
    expect([own.status, own.stdout.slice(0, 9)]).toEqual([0, "AUTHENTIC"]);
    expect(built(["verify", bundle, "--policy", policy, "--now", "2046-01-01T00:00:00Z"]).status).toBe(1);
    expect(built(["verify", bundle, "--no-policy"]).status).toBe(1);
  });

  it("verify the newest boot proof of each application in one step, with the right exit code", () => {
    const policyFile = readJson(policy) as Loose;
    const demanding = join(folder, "demanding.json");
    writeFileSync(demanding, JSON.stringify({ ...policyFile, appProofs: { required: true } }));
    const asked = ["verify", "--app", "signer", "policy-engine", "--policy", demanding];
    const { status, stdout, stderr } = built([...asked, ...connection]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.replace(/\s+/g, " ")).toMatch(
      /VERIFIED.* WARNING .*app proofs were not part of .*\(appProofs\.required\) were not applied.*service's word/,
    );
    const missing = built(["verify", "--app", "signer", "nobody", "none", "--policy", policy, ...connection]);
    expect([missing.status, missing.stdout]).toEqual([3, ""]);
    expect(missing.stderr.match(/^bootproof: (?:nobody|none): /gm)).toHaveLength(2);
    expect(built(asked).status).toBe(2);
    const other = join(folder, "other.json");
    const deployments = (policyFile["deployments"] as Loose[]).map((one) => ({ ...one, pivotHash: "00".repeat(32) }));
    writeFileSync(other, JSON.stringify({ ...policyFile, deployments }));
    expect(built(["verify", "--app", "signer", "--policy", other, ...connection]).status).toBe(1);
  });

  it("fetch what the activity in a file lacks, and take an id in the old spelling with a note", async () => {
    const id = await submit();
    const whole = JSON.parse(built(["fetch", "--activity-id", id, ...connection]).stdout) as Loose;
    const { appProofs, ...bare } = whole["activity"] as Loose;
    expect(appProofs).not.toHaveLength(0);
    const file = join(folder, "bare-activity.json");
    writeFileSync(file, JSON.stringify(bare));
    const { status, stdout, stderr } = built(["fetch", "--activity", file, ...connection]);
    expect([status, stderr]).toEqual([0, ""]);
    const bundle = join(folder, "fetched-bundle.json");
    writeFileSync(bundle, stdout);
    expect(built(["verify", bundle, "--policy", policy]).status).toBe(0);
    const old = built(["fetch", "--activity", id, ...connection]);
    expect([old.status, old.stderr]).toEqual([0, expect.stringMatching(/^note: .* --activity-id ID\n$/)]);
  });

  it("make keys, which the lab does not know", () => {
    const file = join(folder, "new-key.json");
    const { status, stdout } = built(["keygen", "--out", file]);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^0[23][0-9a-f]{64}\n$/)]);
    const refused = built(["fetch", "--app", "signer", ...connection.slice(0, 4), "--api-key-file", file]);
    expect([refused.status, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).toContain("HTTP 401 PUBLIC_KEY_NOT_FOUND");
    expect(built(["keygen", "--out", file]).status).toBe(2);
  });

  it("end with exit code 3 where nobody listens, in good time and without a stack trace", () => {
    const { status, stdout, stderr } = built(
      words`fetch --app signer --base-url http://localhost:9 ${connection.slice(2)}`,
    );
    expect([status, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^bootproof: signer: http:\/\/localhost:9: .*cannot be reached.*\n$/);
  });
});

it("the demo needs no network, and the commands that it prints do the same when they are pasted", () => {
  const at = mkdtempSync(join(tmpdir(), "bootproof-demo's "));
  symlinkSync(COMMAND, join(at, "bootproof"));
  writeFileSync(join(at, "offline.cjs"), "require('net').Socket.prototype.connect = () => { throw Error('online') };");
  const env = { PATH: `${at}:${process.env["PATH"]}`, NODE_OPTIONS: `--require="${join(at, "offline.cjs")}"` };
  const demo = built(["demo", "--out", join(at, "demo")], { env });
  expect([demo.status, demo.stderr]).toEqual([0, ""]);
  const commands = demo.stdout.slice(demo.stdout.lastIndexOf("\n\n"));
  expect(commands).toMatch(/^\n\ncd '/);
  const pasted = spawnSync("sh", { input: commands, encoding: "utf8", env: { ...process.env, ...env }, cwd: "/" });
  // A long text repeats its verdict at the end.
  expect([...new Set(pasted.stdout.match(/^(?:VERIFIED|REJECTED)/gm))]).toEqual(["VERIFIED", "REJECTED"]);
  expect([pasted.status, pasted.stdout]).toEqual([0, expect.stringContaining("One check failed: app.signature")]);
});

it("verifying files loads nothing of client and lab", () => {
  const command = readFileSync(COMMAND, "utf8");
  expect(
    ["EARN_PROVIDER", "DhkemP256", "LEVEL_LOCKED", "PUBLIC_KEY_NOT_FOUND"].filter((word) => command.includes(word)),
  ).toEqual([]);
  expect(command.length).toBeLessThan(400_000);
});
