import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.js";
import { OPTION_NAMES } from "../../src/cli/option-table.js";
import { CHECK_IDS, CHECK_TITLES, type CheckId, checkRow } from "../../src/checks.js";
import { CHECK_ADVICE } from "../../src/report/explanations.js";
import { GLOSSARY, TERMS, explainCheck, nearestWords } from "../../src/report/explanations.js";
import { checkListDoc, renderCheckExplanation, termDoc } from "../../src/show/explanations.js";
import { writeText } from "../../src/show/terminal.js";

const sentences = (text: string): number => (text.match(/[.?](?= [A-Z-]| bootproof|$)/g) ?? []).length;
const linesOf = (text: string): string[] => text.split("\n");

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

describe("an explanation as text", () => {
  it.each([60, 80, 200])("fits %d columns, without a word cut", (width) => {
    const known = new Set(
      [...CHECK_IDS.map(explainCheck).flatMap((one) => Object.values(one))].flat().flatMap(wordsOf),
    );
    for (const id of CHECK_IDS) {
      const text = renderCheckExplanation(explainCheck(id), { width });
      expect(linesOf(text).filter((line) => line.length > width)).toEqual([]);
      expect(text.endsWith("\n")).toBe(true);
      const body = text.split(/^What it proves$/m)[1]!.split(/^Source$/m)[0]!;
      const cut = wordsOf(body).filter((word) => !known.has(word) && !/^(?:What|Why|When|Which)$/.test(word));
      expect(cut.filter((word) => /[a-z]{3}/.test(word) && !wordsOf(WORDS_OF_HEADINGS).includes(word))).toEqual([]);
    }
    for (const term of Object.values({ ...TERMS, ...GLOSSARY }))
      expect(linesOf(writeText(termDoc(term), { width })).filter((line) => line.length > width)).toEqual([]);
    expect(linesOf(writeText(checkListDoc(), { width })).filter((line) => line.length > width)).toEqual([]);
  });

  it("takes a width that is none for the nearest", () => {
    const explanation = explainCheck("bind.key");
    expect(renderCheckExplanation(explanation, { width: 5 })).toBe(renderCheckExplanation(explanation, { width: 60 }));
    expect(renderCheckExplanation(explanation, { width: 500 })).toBe(
      renderCheckExplanation(explanation, { width: 200 }),
    );
    expect(renderCheckExplanation(explanation)).toBe(renderCheckExplanation(explanation, { width: 80 }));
  });

  it("has its parts in order, and leaves out what there is not", () => {
    const headings = (id: CheckId): string[] =>
      linesOf(renderCheckExplanation(explainCheck(id))).filter((line) => /^(?:W|Source)/.test(line));
    const [proves, genuine, hostile, ...rest] = headings("chain.anchor");
    expect([proves, genuine, hostile]).toEqual([
      "What it proves",
      "Why it fails without an attack",
      "Which attacks it stops",
    ]);
    expect(rest).toEqual(["When it only warns", "What to do", "Source"]);
    expect(headings("cose.signature")).not.toContain("When it only warns");
  });

  it("is in colour only where that is wanted", () => {
    expect(renderCheckExplanation(explainCheck("bind.key"))).not.toContain("\u001b");
    expect(renderCheckExplanation(explainCheck("bind.key"), { color: true })).toContain("\u001b[1mWhat it proves");
  });
});

const WORDS_OF_HEADINGS = "it fails without an attack attacks stops only warns to do";

function wordsOf(value: unknown): string[] {
  if (typeof value === "string") return value.split(/\s+/);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(wordsOf) : [];
}

describe("the list of checks", () => {
  it("has every id once, under its group, and the words that are explained too", () => {
    const text = writeText(checkListDoc());
    expect([...text.matchAll(/^ {2}([a-z-]+\.[a-z-]+) /gm)].map(([, id]) => id)).toEqual(CHECK_IDS);
    expect(text).toMatch(/^Document and certificate chain\n {2}boot\.decode/);
    const others = text.split("Also explained: ")[1]!.replaceAll("\n", " ");
    for (const term of Object.keys({ ...TERMS, ...GLOSSARY })) expect(others).toContain(term);
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
