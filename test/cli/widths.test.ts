/** What the command shows of many pieces, at a terminal of any width. */
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import type { Report } from "../../src/report/report.js";
import { fleetOf, policyFor } from "./many.js";
import { bootproof } from "./support.js";

const now = "2026-03-04T07:00:00Z";
const MANY = 20;
const fleet = fleetOf(MANY, (index) =>
  index === 7 ? "启动证明 🔐 of the production signer.json" : `bp-${index}.json`,
);
const good = policyFor(fleet);
const pcrs = { "0": "aa".repeat(48), "3": "bb".repeat(48) };
const bad = policyFor(fleet, { pcrs, namespace: "启动/".repeat(40) });
const [one] = fleet.boots as [string];
const verify = (policy: string, boots: readonly string[], ...rest: string[]): string[] => {
  return ["verify", "--boot-proof", ...boots, "--policy", policy, "--now", now, ...rest];
};
const linesOf = (text: string): string[] => text.trimEnd().split("\n");

it.each([
  ["everything of two", verify(good, [one, fleet.boots[7]!], "--verbose"), 0],
  ["many that fail", verify(bad, fleet.boots), 1],
  ["a summary", verify(bad, fleet.boots.slice(0, 9), "--summary"), 1],
  ["an inspection", ["inspect", fleet.boots[7]!], 0],
  ["failures on stderr", ["pin", "--boot-proof", one], 1],
] as const)("no line is wider than 60 or 120 columns: %s", async (_, args, code) => {
  for (const columns of ["60", "120"]) {
    const answer = await bootproof(args, { env: { COLUMNS: columns } });
    expect(answer.code).toBe(code);
    for (const line of linesOf(answer.stdout + answer.stderr))
      expect(stringWidth(line), line).toBeLessThanOrEqual(Number(columns));
  }
});

describe("many boot proofs", () => {
  it("that fail are told in full once, and are named in JSON", async () => {
    const { stdout } = await bootproof(verify(bad, fleet.boots));
    expect(stdout.match(/^ {2}FAIL {2}boot\[\d+\] = /gm)).toHaveLength(MANY);
    expect(stdout.match(/PCR0 aaaa/g)).toHaveLength(1);
    expect(stdout.match(/policy\.pcrs +same as under boot\[0\]$/gm)).toHaveLength(MANY - 1);
    expect(linesOf(stdout).length).toBeLessThan(200);
    const { checks, stale } = JSON.parse(
      (await bootproof(verify(bad, fleet.boots, "--format", "json"))).stdout,
    ) as Report;
    const check = checks.find(({ id, about }) => id === "policy.pcrs" && about === "boot[18]")!;
    expect([stale, check.subject, check.name]).toEqual([false, "policy", fleet.boots[18]]);
    expect(check.advice).toMatch(/^PCR0: .* PCR3: /);
  });
});
