/** The formats for CI, as the built command writes them of evidence of every kind. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { junitFaults, sarifFaults } from "../formats/schemas.js";
import { fleetOf, policyFor } from "./many.js";
import { APP_1, BOOT_1, NOW, bootproof, fileOf, readJson, vector } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-formats-"));

function built(args: readonly string[], env: Record<string, string> = {}): SpawnSyncReturns<string> {
  const surroundings = { ...process.env, GITHUB_STEP_SUMMARY: "", ...env };
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", env: surroundings });
}

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "captured"])).stdout);
const { deployments, ...others } = readJson(POLICY) as { deployments: readonly object[] };
const OTHER = fileOf({ ...others, deployments: [{ ...deployments[0], namespace: "another" }] });
const PIECES = ["--boot-proof", BOOT_1, "--app-proof", APP_1];
const BUNDLE = fileOf((await bootproof(["bundle", ...PIECES, "--policy", POLICY])).stdout);
const fleet = fleetOf(5, (index) => `boot proof ${index}.json`);
const hostile = { ...readJson(BOOT_1), "\n::error::forged": "](x)<b>", ephemeralPublicKeyHex: "\n::error::forged <b>" };

/** What is verified, the exit code, and words that each format has to say. */
const CASES: Readonly<Record<string, readonly [args: readonly string[], code: number, words: readonly string[]]>> = {
  verified: [[...PIECES, "--policy", POLICY], 0, ["VERIFIED"]],
  authentic: [[...PIECES, "--no-policy"], 0, ["AUTHENTIC", "Whose enclave this is"]],
  rejected: [["--boot-proof", BOOT_1, "--policy", OTHER], 1, ["REJECTED", "policy.namespace", "bootproof-1.json"]],
  stale: [
    ["--boot-proof", BOOT_1, "--policy", fileOf({ ...readJson(POLICY), maxAge: "1h" })],
    1,
    ["STALE", "policy.age", "bootproof-1.json"],
  ],
  "many pieces": [
    ["--boot-proof", ...fleet.boots, "--policy", policyFor(fleet, { namespace: "another" })],
    1,
    ["10 checks failed", "policy.deployment", "boot proof 4.json"],
  ],
  "a bundle by its maker's policy": [
    [BUNDLE, "--bundle-policy"],
    0,
    ["AUTHENTIC", "WARNING", "the policy came with the bundle"],
  ],
  "a bare document": [
    ["--attestation", vector("nitro/anchorage-turnkey-turnkey-attestation-base64-20250505.cbor"), "--no-policy"],
    0,
    ["AUTHENTIC"],
  ],
  "hostile evidence": [["--boot-proof", fileOf(hostile), "--no-policy"], 1, ["REJECTED", "boot.decode"]],
};

describe.each(Object.entries(CASES))("%s", (_, [args, code, words]) => {
  const verify = (format: string, env?: Record<string, string>): string => {
    const { status, stdout, stderr } = built(["verify", ...args, "--now", NOW, "--format", format], env);
    expect(status).toBe(code);
    const brief = stderr.replace(/^warning: the policy came with the bundle.*\n/, "");
    expect(brief).toMatch(code === 0 ? /^(?:VERIFIED|AUTHENTIC)/ : /^REJECTED/);
    expect(brief.trimEnd().split("\n").length).toBeLessThanOrEqual(6);
    return stdout;
  };

  it("as JUnit", async () => {
    const xml = verify("junit");
    expect(await junitFaults(xml)).toEqual([]);
    for (const word of words) expect(xml).toContain(word);
    expect(/failures="0" errors="0"/.test(xml)).toBe(code === 0);
  });

  it("as SARIF", () => {
    const text = verify("sarif");
    expect(sarifFaults(JSON.parse(text))).toEqual([]);
    for (const word of words) expect(text).toContain(word);
    expect(/"level": "error",\n *"message"/.test(text)).toBe(code === 1);
  });

  it("as workflow commands, with a step summary", () => {
    const summary = join(folder, `summary-${code}-${words.length}-${args.length}.md`);
    writeFileSync(summary, "# Another command's\n");
    const stdout = verify("github", { GITHUB_STEP_SUMMARY: summary });
    for (const word of words) expect(stdout.replaceAll("%2C", ",")).toContain(word);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.every((line) => /^::(?:error|warning|notice) title=bootproof/.test(line))).toBe(true);
    if (code === 0) expect(lines.map((line) => line.slice(0, 8))).toEqual(["::notice"]);
    else expect(lines[0]).toMatch(/^::error title=bootproof::REJECTED/);
    expect(readFileSync(summary, "utf8")).toBe(`# Another command's\n\n${verify("markdown")}`);
  });

  it("as Markdown", () => {
    const markdown = verify("markdown", { GITHUB_STEP_SUMMARY: join(folder, "not-written") });
    for (const word of words) expect(markdown).toContain(word);
    expect(markdown).toMatch(code === 0 ? /^## (?:VERIFIED|AUTHENTIC)/ : /^## REJECTED/);
  });
});

describe("a step summary", () => {
  const verify = (path: string, ...rest: string[]): SpawnSyncReturns<string> =>
    built(["verify", ...PIECES, "--no-policy", "--now", NOW, "--format", "github", ...rest], {
      GITHUB_STEP_SUMMARY: path,
    });

  it("that cannot be written is a warning: the verdict stands", () => {
    const { status, stdout, stderr } = verify(folder);
    expect([status, stdout.slice(0, 8)]).toEqual([0, "::notice"]);
    expect(stderr).toMatch(/^warning: no step summary was written to .*: EISDIR/);
  });

  it("that would be longer than GitHub shows is left as it was", () => {
    const path = join(folder, "full");
    writeFileSync(path, "x".repeat(1024 * 1024 - 100));
    const { status, stderr } = verify(path);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^warning: no step summary was written to .*full: it would be longer than 1 MiB\nAUTHENTIC: /,
    );
    expect(readFileSync(path, "utf8")).toHaveLength(1024 * 1024 - 100);
  });

  it("is written with --quiet, too, and begins a file that is not there", () => {
    const path = join(folder, "new");
    expect(verify(path, "--quiet")).toMatchObject({ stdout: expect.stringMatching(/^::notice/) as string, stderr: "" });
    expect(readFileSync(path, "utf8")).toMatch(/^## AUTHENTIC\n/);
  });
});
