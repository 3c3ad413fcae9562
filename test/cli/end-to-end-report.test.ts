/** What the built command shows at a terminal of any width. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import type { Report } from "../../src/report/report.js";
import { MANY, fleetOf, policyFor } from "./many.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const NOW = ["--now", "2026-03-04T07:00:00Z"];

const OF_THE_TERMINAL = ["NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"];
const SURROUNDINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !OF_THE_TERMINAL.includes(name)),
);

function built(args: readonly string[], env: Record<string, string> = {}): SpawnSyncReturns<string> {
  const options = { encoding: "utf8", env: { ...SURROUNDINGS, ...env }, maxBuffer: 64 * 1024 * 1024 } as const;
  return spawnSync(process.execPath, [COMMAND, ...args], options);
}

const fleet = fleetOf(MANY, (index) =>
  index === 7 ? "启动证明 🔐 of the production signer.json" : `bp-${index}.json`,
);
const policies = {
  good: policyFor(fleet),
  stale: policyFor(fleet, {}, { maxAge: "30m" }),
  bad: policyFor(fleet, { pcrs: { "0": "aa".repeat(48), "3": "bb".repeat(48) }, namespace: "启动/".repeat(40) }),
};
const [one] = fleet.boots as [string];

function verify(policy: keyof typeof policies, boots: readonly string[], ...rest: string[]): string[] {
  return ["verify", "--boot-proof", ...boots, "--policy", policies[policy], ...NOW, ...rest];
}

const linesOf = (text: string): string[] => text.trimEnd().split("\n");
const flat = (text: string): string => text.replace(/\s+/g, " ");

describe.each([60, 80, 120, 200])("at %i columns no line is wider", (width) => {
  const env = { COLUMNS: `${width}` };
  it.each([
    ["a good report", verify("good", [one]), 0],
    ["60 that fail", verify("bad", fleet.boots), 1],
    ["everything of two", verify("good", [one, fleet.boots[7]!], "--verbose"), 0],
    ["a summary", verify("bad", fleet.boots, "--summary"), 1],
    ["an inspection", ["inspect", fleet.boots[7]!], 0],
    ["failures on stderr", ["pin", "--boot-proof", one], 1],
  ] as const)("%s", (_, args, code) => {
    const { status, stdout, stderr } = built(args, env);
    expect(status).toBe(code);
    for (const line of linesOf(stdout + stderr)) expect(stringWidth(line), line).toBeLessThanOrEqual(width);
  });
});

describe("60 boot proofs", () => {
  it("that are good are a line each, and what they have in common is said once", () => {
    const { status, stdout } = built(verify("good", fleet.boots));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^VERIFIED with 1 warning: /);
    expect(stdout.match(/^ {2}ok {4}boot\[\d+\] = .* {2}31 passed, 1 warning$/gm)).toHaveLength(MANY - 1);
    expect(flat(stdout)).toContain('ok boot[7] = "');
    expect(flat(stdout)).toContain("WARN chain.anchor 60 boot proofs, boot[0] … boot[59]: starts at");
    expect(flat(stdout)).toContain("- boot[0] … boot[59]: It booted with the manifest");
    expect(linesOf(stdout).length).toBeLessThan(140);
    expect(flat(stdout)).toMatch(/VERIFIED with 1 warning: every check passed, [^]* pins\. $/);
  });

  it("that fail are told in full once, and the verdict stands first and last", () => {
    const { status, stdout } = built(verify("bad", fleet.boots));
    expect(status).toBe(1);
    expect(stdout.match(/^ {2}FAIL {2}boot\[\d+\] = /gm)).toHaveLength(MANY);
    expect(stdout.match(/PCR0 aaaa/g)).toHaveLength(1);
    expect(stdout.match(/policy\.pcrs: same as under boot\[0\]$/gm)).toHaveLength(MANY - 1);
    expect(flat(stdout)).toContain("PCR3: the role of the instance, or its AWS account, differs");
    expect(linesOf(stdout).length).toBeLessThan(500);
    const lines = linesOf(stdout);
    expect(lines.slice(lines.lastIndexOf("") + 1).join(" ")).toMatch(/^REJECTED: nothing is proven\./);
  });

  it("fit on a screen with --summary, and are named in JSON", () => {
    const summary = built(verify("bad", fleet.boots, "--summary"), { LINES: "10" });
    expect(linesOf(summary.stdout).length).toBeLessThanOrEqual(30);
    expect(summary.stdout).toMatch(/^REJECTED: [^]*\n {6}expected {2}PCR0 aaaaaaaa…aaaaaaaa, PCR3 bbbbbbbb…bbbbbbbb\n/);
    const { checks, stale } = JSON.parse(built(verify("bad", fleet.boots, "--format", "json")).stdout) as Report;
    const check = checks.find(({ id, about }) => id === "policy.pcrs" && about === "boot[58]")!;
    expect([stale, check.subject, check.name]).toEqual([false, "policy", fleet.boots[58]]);
    expect(check.advice).toMatch(/^PCR0: .* PCR3: /);
  });
});

describe("stale evidence", () => {
  it("is told from hostile evidence, with the same exit code", () => {
    const { status, stdout } = built(verify("stale", [one]));
    expect([status, flat(stdout)]).toEqual([
      1,
      expect.stringMatching(/^REJECTED, STALE: the evidence is genuine, but older/),
    ]);
    expect(flat(stdout)).toContain("-> Get a newer boot proof (bootproof verify --app NAME");
    const json = JSON.parse(built(verify("stale", [one], "--format", "json")).stdout) as Report;
    expect(json).toMatchObject({ verdict: "rejected", stale: true, claims: null });
    const quiet = built(verify("stale", [one], "--quiet"));
    expect([quiet.status, quiet.stdout, quiet.stderr]).toEqual([1, "", expect.stringMatching(/^REJECTED, STALE: /)]);
    expect(built(verify("bad", [one])).stdout).toMatch(/^REJECTED: /);
  });
});
