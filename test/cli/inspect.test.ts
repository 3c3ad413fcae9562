import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, type Surroundings, bootproof, fileOf, scene, vector } from "./support.js";

const pem = readFileSync(vector("trust-anchors/aws_root_cert.pem"), "utf8");
const policy = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "p"])).stdout);
const BUNDLE = await bootproof(["bundle", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--policy", policy]);
const PADDED = { bundle: "bootproof-bundle/1", bootProofs: [], appProofs: [], x: "y".repeat(2 * 1024 * 1024) };
const N = {
  ...{ boot: BOOT_1, app: APP_1, policy, release: vector("releases/r2025.9.3.yaml"), certificates: fileOf(pem + pem) },
  ...{ bundle: fileOf(BUNDLE.stdout), key: fileOf({ publicKey: `02${"ab".repeat(32)}`, privateKey: "5e".repeat(32) }) },
  ...{
    text: fileOf("hello"),
    yaml: fileOf("policy: bootproof/1\n"),
    folder: vector("boot-proofs"),
    padded: fileOf(PADDED),
  },
  twice: fileOf("version: r1\nx:\n  appBinaryDigest: 00\n  a: 1\n  a: 2\n"),
  big: fileOf(new Uint8Array(9 * 1024 * 1024)),
};
const { run, table, usage } = scene(N);

describe("inspect", () => {
  it.each<[string, string, string?]>([
    ["boot", "boot proof", "boot-proof"],
    ["policy", "policy (JSON)", "policy"],
    ["release", "release (YAML)", "release"],
    ["bundle", "bundle (JSON)"],
    ["certificates", "certificates (PEM)", "certificates"],
    ["key", "API key (JSON)", "api-key"],
  ])("shows %s", async (name, first, golden) => {
    const { stdout, stderr } = await run(`inspect $${name}`, 0, /^NOT VERIFIED/, "!5e5e");
    expect([stdout.split("\n")[3], stderr]).toEqual([expect.stringContaining(first), ""]);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    if (golden !== undefined) await expect(stdout).toMatchFileSnapshot(`golden/inspect-${golden}.txt`);
  });

  it("shows stdin, as JSON too", async () => {
    const { stdout } = await run("inspect - --format json < $app", 0);
    const members = ["NOT VERIFIED", "kind", "encoding", "faults", "leftOut", "says"];
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(members);
  });

  it("fits the terminal, or what COLUMNS says, with colour for a terminal only", async () => {
    const shown = async (around: Surroundings): Promise<string> =>
      (await bootproof(["inspect", BOOT_1], around)).stdout;
    const widest = async (COLUMNS: string): Promise<number> =>
      Math.max(...(await shown({ env: { COLUMNS } })).split("\n").map((line) => line.length));
    expect(await widest("60")).toBeLessThanOrEqual(60);
    expect(await widest("120")).toBeGreaterThan(100);
    expect(await widest("nonsense")).toBeLessThanOrEqual(80);
    expect(await shown({ isTTY: true })).toMatch(/^\u001b\[30;43mNOT VERIFIED\u001b\[0m/);
    expect(await shown({ isTTY: true, env: { NO_COLOR: "1" } })).not.toContain("\u001b");
  });

  table([["inspect $padded --format json", 0, PADDED.x]]);
  usage("inspect", [
    ["$text", "not recognised: it looks like text of an unknown format bootproof inspect --help lists"],
    ["$yaml", "it looks like YAML that is not a release: evidence and policies are JSON"],
    ["$twice", "not YAML: Map keys must be unique"],
    ["$big", "larger than 8 MiB"],
    ["$folder", "no release in it"],
    ["missing", "missing: no such file"],
    ["", "FILE is required: the file to show"],
    ["$app $app", "too many arguments"],
    ["$app --format yaml", "--format yaml: expected one of text, json"],
    ["$boot --format html", "--format html: expected one of text, json"],
  ]);
});
