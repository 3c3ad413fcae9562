/** The first minutes with the built command, and what it says of itself. Needs `npm run build`. */
import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { bootproof } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-stranger-"));
// The command on the PATH, and no word of npm, which runs the tests.
const env = { ...process.env, npm_command: "", COLUMNS: "", PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` };
writeFileSync(join(folder, "bootproof"), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`);
chmodSync(join(folder, "bootproof"), 0o755);

function built(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", env, input: "" });
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe("the first minutes", () => {
  let lab: ChildProcess;
  let greeting = "";
  beforeAll(async () => {
    const [first] = /\$ (bootproof lab)$/m.exec(built().stdout)!.slice(1);
    lab = spawn("bash", ["-c", `exec ${first!}`], { env, cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    lab.stdout!.setEncoding("utf8");
    for await (const text of lab.stdout! as AsyncIterable<string>) {
      greeting += text;
      if (greeting.includes("Ctrl-C ends it.")) break;
    }
  });
  afterAll(async () => {
    const ended = new Promise((end) => lab.once("exit", end));
    lab.kill("SIGINT");
    await ended;
  });

  it("start with the help, which says where to go on", () => {
    const { status, stdout, stderr } = built();
    expect([status, stderr]).toEqual([2, ""]);
    expect(stdout).toContain("Start here; no account is needed.");
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it.skipIf(!hasCurl)("lead to a first VERIFIED and a first REJECTED, by what the lab says to type", () => {
    const commands = greeting
      .replaceAll("\\\n", " ")
      .split("\n")
      .filter((line) => line.startsWith("  $ "));
    const { stdout, stderr } = spawnSync("bash", ["-c", commands.map((line) => line.slice(4)).join("\necho ---\n")], {
      encoding: "utf8",
      env,
      cwd: folder,
    });
    const firstLines = stdout.split("---\n").map((text) => /^[A-Za-z.{]+/.exec(text)?.[0] ?? "");
    expect(firstLines).toEqual(["", "", "", "VERIFIED", "", "", "REJECTED", "policy.nonce", "", "VERIFIED", "", "{"]);
    expect(stdout).toContain("policy.nonce");
    // What pin says of a policy that it has just made, and nothing else.
    expect(stderr).toMatch(/^Pinned what this boot proof shows/m);
    expect(stderr).not.toContain("bootproof: ");
  });
});

describe("the built command", () => {
  it.each([["bind.key"], ["stale"], ["3"]])("explains %s as the source does", async (word) => {
    const { status, stdout, stderr } = built("explain", word);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toBe((await bootproof(["explain", word])).stdout);
  });

  it("lists what it explains, and knows what is near", () => {
    for (const id of CHECK_IDS) expect(built("explain").stdout).toContain(`  ${id} `);
    const { status, stderr } = built("explain", "bind.kye");
    expect([status, stderr]).toEqual([2, expect.stringContaining("did you mean bind.key")]);
  }, 30_000);

  it.each([["bash"], ["zsh"], ["fish"]])("completes in %s as the source does", async (shell) => {
    const { status, stdout } = built("completion", shell);
    expect([status, stdout]).toEqual([0, (await bootproof(["completion", shell])).stdout]);
  });

  it("is completed by bash as it is installed", () => {
    const asks = 'COMP_WORDS=(bootproof ver); COMP_CWORD=1; _bootproof; echo "${COMPREPLY[@]}"';
    const asked = `eval "$(bootproof completion bash)"; ${asks}`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", asked], { encoding: "utf8", env });
    expect([stdout, stderr]).toEqual(["verify\n", ""]);
  });

  it("says what is wrong with a command line, and as JSON where that is asked for", () => {
    const { status, stdout, stderr } = built("verify", "--frmat", "--format", "json");
    const message = "unknown option --frmat (did you mean --format?)";
    expect([status, stderr]).toEqual([2, `bootproof: ${message}\nSee bootproof verify --help.\n`]);
    expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-error/1", exitCode: 2, errors: [{ message }] });
  });

  it("ends with 3, and says so as JSON, where the service cannot be reached", () => {
    const key = join(folder, "key.json");
    expect(built("keygen", "--out", key).status).toBe(0);
    const connection = ["--base-url", "http://localhost:9", "--organization-id", "o", "--api-key-file", key];
    const { status, stdout } = built("verify", "--activity-id", "x", "--no-policy", "--format=json", ...connection);
    expect([status, JSON.parse(stdout)]).toMatchObject([3, { format: "bootproof-error/1", exitCode: 3 }]);
  });

  it("is as wide as COLUMNS says, where there is no terminal", () => {
    const { stdout } = spawnSync(process.execPath, [COMMAND, "verify", "--help"], {
      encoding: "utf8",
      env: { ...env, COLUMNS: "60" },
    });
    const widths = stdout.split("\n").map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(60);
    expect(Math.max(...widths)).toBeGreaterThan(55);
  });

  it("writes no progress where there is no terminal", () => {
    const { stdout, stderr } = built("verify", "--boot-proof", "/dev/null", "--no-policy");
    expect(stdout + stderr).not.toMatch(/[\r\u001b]/);
  });
});
