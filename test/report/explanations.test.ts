import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.js";
import { OPTION_NAMES } from "../../src/cli/option-table.js";
import { CHECK_IDS, CHECK_TITLES, type CheckId, checkRow } from "../../src/checks.js";
import { CHECK_ADVICE } from "../../src/report/explanations.js";
import { GLOSSARY, TERMS, explainCheck, nearestWords } from "../../src/report/explanations.js";

const sentences = (text: string): number => (text.match(/[.?](?= [A-Z-]| bootproof|$)/g) ?? []).length;

describe("the explanation of each check", () => {
  it.each(CHECK_IDS)("%s has every part, in a few sentences", (id) => {
    const { title, group, proves, fails, warns, advice, sources } = explainCheck(id);
    expect(title).toBe(CHECK_TITLES[id]);
    expect(group).not.toBe("");
    for (const text of [proves, fails.genuine, fails.hostile, ...(warns === null ? [] : [warns]), advice]) {
      expect(text).toMatch(/^[A-Z-].*[.]$/s);
      expect(sentences(text), text).toBeGreaterThanOrEqual(1);
      expect(sentences(text), text).toBeLessThanOrEqual(6);
      expect(text).not.toMatch(/ {2}|\n/);
    }
    expect(sources.length).toBeGreaterThan(0);
    // Whether there are such sections, test/citations.test.ts asks of all documents.
    for (const source of sources)
      expect(source).toMatch(
        /^src\/[\w-]+\/README\.md, ".+"$|^RFC \d{4}(?: section [\d.]+)?$|^(?:AWS|QOS), [\w.\-/]+, "attestation_\w+"$/,
      );
  });

  it("is of its own check: no text stands there twice, and none repeats what reports say", () => {
    const texts = CHECK_IDS.map(explainCheck).flatMap(({ proves, fails }) => [proves, fails.hostile]);
    expect(new Set(texts).size).toBe(texts.length);
    for (const id of CHECK_IDS) {
      const { advice } = explainCheck(id);
      expect(advice.split(CHECK_ADVICE[id])).toEqual(["", expect.stringMatching(/^ \S/)]);
    }
  });

  it("says of every check that can warn when it does", () => {
    expect(CHECK_IDS.filter((id) => explainCheck(id).warns !== null)).toEqual(
      CHECK_IDS.filter((id) => checkRow(id)!.warn !== undefined),
    );
  });

  it("cites one section of this repository at least", () => {
    expect(CHECK_IDS.filter((id) => !explainCheck(id).sources.some((source) => source.startsWith("src/")))).toEqual([]);
  });

  it("names options and commands that there are", () => {
    const texts = JSON.stringify([CHECK_IDS.map(explainCheck), TERMS, GLOSSARY]);
    const commands = Object.values(COMMANDS).flatMap((group) => Object.keys(group));
    for (const [, name] of texts.matchAll(/bootproof ([a-z]+) /g)) expect(commands).toContain(name);
    // Of the tool that starts enclaves.
    for (const [name] of texts.replaceAll("--debug-mode", "").matchAll(/--[a-z-]+/g))
      expect(OPTION_NAMES).toContain(name.slice(2));
  });

  it("is of an id, and of nothing else", () => {
    expect(() => explainCheck("policy" as CheckId)).toThrow(TypeError);
    expect(() => explainCheck("__proto__" as CheckId)).toThrow(/expected one of CHECK_IDS/);
  });
});

describe("the words that are near", () => {
  it.each([
    ["policy.scop", ["policy.scope"]],
    ["bnd.kye", ["bind.key"]],
    ["pcr", ["bind.pcrs", "policy.pcrs"]],
    ["nonse", ["bind.nonce", "policy.nonce"]],
    ["xyzzy", []],
    ["", []],
    ["a".repeat(65), []],
  ])("to %j are %j", (word, near) => {
    expect(nearestWords(word).slice(0, 2)).toEqual(near);
  });

  it("are five at most", () => {
    expect(nearestWords("policy")).toHaveLength(5);
  });
});
