/** The terms that `explain` knows, and docs/glossary.md, which has the same. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { TERMS } from "../../src/report/explanations.js";
import { GLOSSARY } from "../../src/report/glossary.js";

const document = readFileSync(new URL("../../docs/glossary.md", import.meta.url), "utf8");
const entries = Object.entries(GLOSSARY);

it("is the document, entry by entry", () => {
  const sections = document.split(/^## /m).slice(1);
  const written = sections.map((section) => {
    const [name, ...text] = section.trim().split("\n");
    return [name, text.join(" ").trim()];
  });
  const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  expect(written).toEqual(entries.map(([, { name, title, means }]) => [name, `${capitalized(title)}. ${means}`]));
});

it("has the terms that documents and reports use, in the order of the alphabet", () => {
  const words = entries.map(([word]) => word);
  expect(words).toEqual([...words].sort((a, b) => (a < b ? -1 : 1)));
  expect(words).toEqual(
    expect.arrayContaining([
      ...["pivot", "manifest-set", "share-set", "quorum-key", "ephemeral-key", "commitment", "pcrs", "legacy", "live"],
      ...["setup", "but", "evidence", "appraisal", "manifest", "envelope", "nonce", "policy", "trust-anchor"],
    ]),
  );
});

it.each(entries)("%s is named as it is written, and explained in a few sentences", (word, { name, title, means }) => {
  expect(word).toBe(name.toLowerCase().replaceAll(" ", "-"));
  expect(CHECK_IDS).not.toContain(word);
  expect(Object.keys(TERMS)).not.toContain(word);
  expect(title).toMatch(/^[\p{L}\d].*[^.]$/u);
  expect(means).toMatch(/^\S.*\.$/s);
  expect(means).not.toMatch(/ {2}|\n/);
  expect(means.length).toBeLessThan(400);
});
