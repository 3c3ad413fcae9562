/** The built command in a process of its own. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { APP_1, APP_2, BOOT_1, BOOT_2, NOW, bootproof, fileOf, readJson } from "./support.js";

const root = new URL("../../", import.meta.url);
const { bin } = readJson(fileURLToPath(new URL("package.json", root))) as { bin: { bootproof: string } };
const COMMAND = fileURLToPath(new URL(bin.bootproof, root));

function built(
  args: readonly string[],
  options: { input?: string | Buffer; command?: string; env?: Record<string, string> } = {},
): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: "utf8",
    input: options.input ?? "",
    env: { ...process.env, ...options.env },
  });
}

/** Through a shell, for pipes and redirections. */
function shell(line: string): SpawnSyncReturns<string> {
  return spawnSync("/bin/bash", ["-c", line], {
    encoding: "utf8",
    env: { ...process.env, NODE: process.execPath, COMMAND, BOOT_1, APP_1 },
  });
}

describe("the built command", () => {
  it("answers as the source does", async () => {
    const args = ["verify", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--no-policy", "--now", NOW];
    const { status, stdout, stderr } = built(args);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toBe((await bootproof(args)).stdout);
  });

  it("pins, verifies and rejects", () => {
    const { status, stdout } = built(["pin", "--boot-proof", "-"], { input: readFileSync(BOOT_1) });
    expect(status).toBe(0);
    const policy = fileOf(stdout);
    expect(built(["verify", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--policy", policy]).status).toBe(0);
    expect(built(["verify", "--boot-proof", BOOT_1, "--app-proof", APP_2, "--policy", policy]).status).toBe(1);
    expect(built(["verify", "--boot-proof", BOOT_1]).status).toBe(2);
  });

  it("names a file of another kind, and what a file is that is not JSON", () => {
    const wrong = built(["verify", "--boot-proof", APP_1, "--app-proof", BOOT_1, "--no-policy"]);
    expect([wrong.status, wrong.stdout, wrong.stderr]).toEqual([
      2,
      "",
      `bootproof: ${APP_1}: this is an app proof; --app-proof takes it\n` +
        `bootproof: ${BOOT_1}: this is a boot proof; --boot-proof takes it\n`,
    ]);
    const stdin = built(["bundle", "--boot-proof", "-", "--no-policy"], { input: readFileSync(APP_1) });
    expect([stdin.status, stdin.stderr]).toEqual([2, "bootproof: stdin: this is an app proof; --app-proof takes it\n"]);
    const piped = shell('gzip -c "$BOOT_1" | "$NODE" "$COMMAND" pin --boot-proof -');
    expect([piped.status, piped.stderr]).toEqual([
      2,
      "bootproof: stdin: compressed with gzip: decompress it first (gunzip; curl --compressed)\n",
    ]);
  });

  it("says that a variable of the shell is not set, with quotes around it and without", () => {
    const quoted = shell('"$NODE" "$COMMAND" verify --boot-proof "$BOOT_1" --policy "$UNSET"');
    expect([quoted.status, quoted.stderr]).toEqual([
      2,
      expect.stringMatching(/^bootproof: --policy: empty: a shell variable may be unset\n/),
    ]);
    const bare = shell('"$NODE" "$COMMAND" verify --policy $UNSET --boot-proof "$BOOT_1"');
    expect([bare.status, bare.stderr]).toEqual([
      2,
      expect.stringContaining("bootproof: --policy: took --boot-proof, an option, as its value: a shell variable"),
    ]);
  });

  it("takes boot proofs in a list, and skips rules about app proofs where none are asked for", () => {
    const pinned = JSON.parse(built(["pin", "--boot-proof", BOOT_1]).stdout) as object;
    const policy = fileOf({ ...pinned, appProofs: { required: true } });
    const file = fileOf([readJson(BOOT_1), { bootProof: readJson(BOOT_1) }]);
    const { status, stdout } = built(["verify", "--boot-proof", file, "--policy", policy, "--format", "json"]);
    expect([status, JSON.parse(stdout)]).toMatchObject([
      0,
      { evidence: [{ name: `${file}[0]` }, { name: `${file}[1]` }], notApplied: ["appProofs.required"] },
    ]);
    const asked = ["--app-proof", fileOf([]), "--policy", policy];
    expect(built(["verify", "--boot-proof", file, ...asked]).status).toBe(1);
  });

  it("inspects, and pins a release", () => {
    expect(built(["inspect", BOOT_1]).stdout).toMatch(/^NOT VERIFIED/);
    const release = fileURLToPath(new URL("test-vectors/releases/r2025.9.3.yaml", root));
    const pinned = fileOf(built(["pin", "--boot-proof", BOOT_1]).stdout);
    for (const [path, words] of [
      [release, /^release \(YAML\)\n\nversion {2}r2025\.9\.3\n/m],
      [pinned, /^policy \(JSON\)\n[^]*\(what answers\)/m],
      [fileOf({ ...(readJson(BOOT_1) as object), extra: 1 }), /^\(unknown members\)\n {2}extra {2}1$/m],
    ] as const) {
      const { status, stdout, stderr } = built(["inspect", path], { env: { COLUMNS: "60" } });
      expect([status, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(words);
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
    }
    expect(built(["inspect", "-"], { input: "<html></html>" })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("an HTML or XML page") as string,
    });
    expect(JSON.parse(built(["pin", "--release", release, "--app", "signer"]).stdout)).toMatchObject({
      policy: "bootproof/1",
    });
  });

  it("tells what changed: two boot proofs, a policy and its edited copy, two bundles", () => {
    const captured = built(["diff", BOOT_1, BOOT_2]);
    expect([captured.status, captured.stderr]).toEqual([1, ""]);
    expect(captured.stdout).toMatch(/^different: 1 notable, 7 minor\nNOT VERIFIED: /);
    expect(built(["diff", BOOT_1, "-"], { input: readFileSync(BOOT_1) }).status).toBe(0);

    const pinned = built(["pin", "--boot-proof", BOOT_1]).stdout;
    const edited = fileOf(pinned.replace(/"minNonce": \d+/, '"minNonce": 1'));
    const policy = fileOf(pinned);
    const review = built(["diff", policy, edited, "--format", "json"]);
    expect(review.status).toBe(1);
    expect(JSON.parse(review.stdout)).toMatchObject({
      format: "bootproof-diff/1",
      counts: { critical: 1, notable: 0, minor: 0 },
      changes: [{ what: "policy.pin", severity: "critical", after: "1" }],
    });

    const pack = (under: string): string =>
      fileOf(built(["bundle", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--policy", under, "--now", NOW]).stdout);
    const bundles = built(["diff", pack(policy), pack(edited)]);
    expect(bundles.stdout).toContain("CRITICAL  pin minNonce of ");
    expect(bundles.stdout).toContain("at      policy.deployments.");
    expect(bundles.status).toBe(1);
    expect(built(["diff", policy, BOOT_1])).toMatchObject({ status: 2, stdout: "" });
  });

  it("tells version and help", () => {
    expect(built(["--version"]).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(built(["verify", "--help"]).stdout).toContain("--boot-proof");
  });

  it("has no colour in a pipe, and no stack trace ever", () => {
    for (const input of ["", "\u0000".repeat(10_000), "{".repeat(10_000), '{"bootProof":{"bootProof":{}}}']) {
      const { status, stdout, stderr } = built(["verify", "--boot-proof", "-", "--no-policy"], { input });
      expect([1, 2]).toContain(status);
      expect(stdout + stderr).not.toMatch(/\u001b|\n\s+at |node:internal/);
    }
  });

  it("keeps the verdict's exit code when its reader has seen enough", () => {
    const pair = '"$NODE" "$COMMAND" verify --boot-proof "$BOOT_1" --app-proof "$APP_1" --no-policy';
    expect(shell(`${pair} | head -c 10; exit "\${PIPESTATUS[0]}"`)).toMatchObject({
      status: 0,
      stdout: "AUTHENTIC:",
      stderr: "",
    });
    expect(shell(`${pair} --at now | true; exit "\${PIPESTATUS[0]}"`)).toMatchObject({ status: 1, stderr: "" });
  });

  it("says so when its result cannot be written", () => {
    const { status, stderr } = shell('"$NODE" "$COMMAND" inspect "$BOOT_1" > /dev/full');
    expect(status).toBe(2);
    expect(stderr).toBe("bootproof: the result could not be written (ENOSPC)\n");
  });

  it("reads pipes that are files", () => {
    expect(shell('"$NODE" "$COMMAND" verify --boot-proof <(cat "$BOOT_1") --no-policy').status).toBe(0);
  });
});
