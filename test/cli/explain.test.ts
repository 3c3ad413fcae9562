import { describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { GLOSSARY, TERMS, explainCheck } from "../../src/report/explanations.js";
import { bootproof, refused, scene } from "./support.js";

describe("explain", () => {
  it.each(Object.keys(TERMS))("tells what %s means", async (term) => {
    const { code, stdout } = await bootproof(["explain", term]);
    expect([code, stdout.split(":")[0]]).toEqual([0, term]);
  });

  it.each(Object.entries(GLOSSARY))("tells what %s means, with spaces for its hyphens too", async (word, { name }) => {
    const { code, stdout } = await bootproof(["explain", word]);
    expect([code, stdout.split(":")[0]]).toEqual([0, name]);
    expect((await bootproof(["explain", name])).stdout).toBe(stdout);
  });

  it.each([
    ["BUT", "warning"],
    ["BIND.KEY", "bind.key"],
    ["appraisal", "policy"],
  ])("explains %s as %s", async (former, word) => {
    expect((await bootproof(["explain", former])).stdout).toBe((await bootproof(["explain", word])).stdout);
  });

  it("is as wide as the terminal, else as COLUMNS says", async () => {
    const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));
    const at = async (surroundings: object): Promise<number> =>
      longest((await bootproof(["explain", "policy.app-proof"], surroundings)).stdout);
    const [none, narrow, wide] = await Promise.all([
      at({}),
      at({ env: { COLUMNS: "60" } }),
      at({ env: { COLUMNS: "60" }, isTTY: true, columns: 120 }),
    ]);
    expect(narrow).toBeLessThanOrEqual(60);
    expect(none).toBeLessThanOrEqual(80);
    expect(none).toBeGreaterThan(60);
    expect(wide).toBeGreaterThan(80);
  });

  it("answers as JSON", async () => {
    const json = async (...argv: string[]): Promise<unknown> =>
      JSON.parse((await bootproof(["explain", ...argv, "--format", "json"])).stdout);
    expect(await json("bind.key")).toEqual({ format: "bootproof-explanation/1", ...explainCheck("bind.key") });
    for (const { name, ...words } of [TERMS["3"]!, GLOSSARY["pivot"]!])
      expect(await json(name)).toEqual({ format: "bootproof-explanation/1", term: name, ...words });
    const list = (await json()) as { checks: { id: string }[]; terms: { term: string }[] };
    expect(list.checks.map(({ id }) => id)).toEqual(CHECK_IDS);
    expect(list.terms.map(({ term }) => term)).toEqual(Object.keys({ ...TERMS, ...GLOSSARY }));
  });

  it.each([
    ["policy.scop", "did you mean policy.scope?"],
    ["pcr", "did you mean bind.pcrs, policy.pcrs, pcrs, --pcrs?"],
    ["xyzzy", "run bootproof explain for a list"],
    ["4", "run bootproof explain for a list"],
    ["__proto__", "run bootproof explain for a list"],
    ["", "WORD: empty: a shell variable may be unset"],
  ])("does not know %j: %s", (word, said) =>
    refused(2, bootproof(["explain", word]), said, /\nSee bootproof explain --help\.\n$/),
  );

  scene().usage("explain", [
    ["a b", "explain takes only WORD, not b"],
    ["bind.key --format xml", "expected one of text, json"],
  ]);
});
