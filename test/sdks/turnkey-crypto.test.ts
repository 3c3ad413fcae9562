/** Another verifier on the conformance corpus: where it differs, and why (test/conformance/README.md). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { results, total } from "../conformance/verifiers.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const README = fileURLToPath(new URL("../conformance/README.md", import.meta.url));
const known = JSON.parse(readFileSync(join(HERE, "turnkey-crypto.json"), "utf8")) as {
  readonly verifier: string;
  readonly reasons: Readonly<Record<string, string>>;
  readonly falseAccepts: Readonly<Record<string, string>>;
  readonly falseRejects: Readonly<Record<string, string>>;
};

const asked = results(join(HERE, "turnkey-crypto.mjs"));

it("@turnkey/crypto differs where its table says, for a reason, and nowhere else", async () => {
  const { code, stdout, results: all } = await asked;
  const of = (outcome: string): string[] => all.filter((one) => one.outcome === outcome).map(({ folder }) => folder);
  expect(of("false accepts").sort()).toEqual(Object.keys(known.falseAccepts).sort());
  expect(of("false rejects").sort()).toEqual(Object.keys(known.falseRejects).sort());
  expect(of("other reasons")).toEqual([]);
  expect(code).toBe(1);
  const readme = readFileSync(README, "utf8");
  const [agreed, , accepts, rejects] = total(stdout);
  for (const row of [
    `| agreed | ${agreed} |`,
    `| accepted, and refused by the corpus | ${accepts} |`,
    `| refused, and accepted by the corpus | ${rejects} |`,
  ])
    expect(readme).toContain(row);
});

it("@turnkey/crypto is asked of genuine evidence that it accepts, too", async () => {
  const { results: all } = await asked;
  const agreed = all.filter(({ outcome, answer }) => outcome === "agreed" && answer.verdict === "authentic");
  expect(agreed.length).toBeGreaterThan(10);
});

it("@turnkey/crypto has a reason for each difference, each of them used, counted in the document", () => {
  const used = [...Object.values(known.falseAccepts), ...Object.values(known.falseRejects)];
  expect([...new Set(used)].sort()).toEqual(Object.keys(known.reasons).sort());
  const counts = Object.keys(known.reasons).map((reason) => used.filter((one) => one === reason).length);
  const table = [...readFileSync(README, "utf8").matchAll(/^\| (\d+) \| /gm)].map(([, n]) => Number(n));
  const rejects = Object.keys(known.falseRejects).length;
  expect([...table, rejects].sort()).toEqual(counts.sort());
  const { version } = JSON.parse(readFileSync(join(HERE, "node_modules/@turnkey/crypto/package.json"), "utf8")) as {
    version: string;
  };
  expect(known.verifier).toBe(`@turnkey/crypto ${version}`);
});
