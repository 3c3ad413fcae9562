import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, type Surroundings, bootproof, fileOf, vector, words, refused } from "./support.js";

describe("inspect", () => {
  it("shows a boot proof", async () => {
    const { code, stdout, stderr } = await bootproof(["inspect", BOOT_1]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^NOT VERIFIED/);
    await expect(stdout).toMatchFileSnapshot("golden/inspect-boot-proof.txt");
  });

  it("shows stdin, as JSON too", async () => {
    const { code, stdout } = await bootproof(["inspect", "-", "--format", "json"], { stdin: readFileSync(APP_1) });
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual([
      "NOT VERIFIED",
      "kind",
      "encoding",
      "faults",
      "leftOut",
      "says",
    ]);
  });

  it("shows a policy, a release, a bundle, a chain and a key file", async () => {
    const policy = (await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "p"])).stdout;
    const bundle = await bootproof(
      words`bundle --boot-proof ${BOOT_1} --app-proof ${APP_1} --policy ${fileOf(policy)}`,
    );
    const pem = readFileSync(vector("trust-anchors/aws_root_cert.pem"), "utf8");
    const files: readonly (readonly [name: string, path: string, first: string])[] = [
      ["policy", fileOf(policy), "policy (JSON)"],
      ["release", vector("releases/r2025.9.3.yaml"), "release (YAML)"],
      ["bundle", fileOf(bundle.stdout), "bundle (JSON)"],
      ["certificates", fileOf(pem + pem), "certificates (PEM)"],
      ["api-key", fileOf({ publicKey: `02${"ab".repeat(32)}`, privateKey: "5e".repeat(32) }), "API key (JSON)"],
    ];
    for (const [name, path, first] of files) {
      const { code, stdout, stderr } = await bootproof(["inspect", path]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.split("\n")[3]).toBe(first);
      expect(stdout).not.toContain("5e5e");
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
      if (name !== "bundle") await expect(stdout).toMatchFileSnapshot(`golden/inspect-${name}.txt`);
    }
  });

  it("fits the terminal, or what COLUMNS says", async () => {
    const widest = async (surroundings: Surroundings): Promise<number> => {
      const { stdout } = await bootproof(["inspect", BOOT_1], surroundings);
      return Math.max(...stdout.split("\n").map((line) => line.length));
    };
    expect(await widest({ env: { COLUMNS: "60" } })).toBeLessThanOrEqual(60);
    expect(await widest({ env: { COLUMNS: "120" } })).toBeGreaterThan(100);
    expect(await widest({ env: { COLUMNS: "nonsense" } })).toBe(await widest({}));
  });

  it("takes a bundle of more than one MiB", async () => {
    const bundle = { bundle: "bootproof-bundle/1", bootProofs: [], appProofs: [], x: "y".repeat(2 * 1024 * 1024) };
    const { code, stdout } = await bootproof(["inspect", fileOf(bundle), "--format", "json"]);
    expect(code).toBe(0);
    expect(stdout).toContain(bundle.x);
  });

  it("has colour for a terminal only", async () => {
    expect((await bootproof(["inspect", APP_1], { isTTY: true })).stdout).toMatch(
      /^\u001b\[30;43mNOT VERIFIED\u001b\[0m/,
    );
    expect((await bootproof(["inspect", APP_1], { isTTY: true, env: { NO_COLOR: "1" } })).stdout).not.toContain(
      "\u001b",
    );
  });

  it.each([
    [
      "what is not evidence",
      [fileOf("hello")],
      "not recognised: it looks like text of an unknown format. Known kinds: boot",
    ],
    ["nothing", [fileOf("")], "empty"],
    ["broken JSON", [fileOf('{"a":\n')], "not strict JSON: the text ends early (line 2, column 1)"],
    [
      "UTF-16",
      [fileOf(Buffer.from("\ufeff{}", "utf16le"))],
      "UTF-16 text, as PowerShell's > writes it: save it as UTF-8",
    ],
    [
      "other YAML",
      [fileOf("policy: bootproof/1\n")],
      "it looks like YAML that is not a release: evidence and policies are JSON",
    ],
    ["a web page", [fileOf("<!doctype html>")], "an HTML or XML page without evidence, probably a server's error"],
    [
      "broken YAML",
      [fileOf("version: r1\nx:\n  appBinaryDigest: 00\n  a: 1\n  a: 2\n")],
      "not YAML: Map keys must be unique",
    ],
    ["too much", [fileOf(new Uint8Array(9 * 1024 * 1024))], "larger than 8 MiB"],
    ["a directory without a release", [vector("boot-proofs")], "no release in it"],
    ["no file", ["missing"], "missing: no such file"],
    ["no argument", [], "FILE is required: the file to show"],
    ["two arguments", [APP_1, APP_1], "too many arguments"],
    ["another format", [APP_1, "--format", "yaml"], "--format yaml: expected one of text, json"],
  ])("refuses %s", (_, args, message) => refused(2, bootproof(["inspect", ...args]), message));
});
