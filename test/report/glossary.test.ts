/** The terms that `explain` knows: those of docs/glossary.md. */
import { expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { GLOSSARY, TERMS } from "../../src/report/explanations.js";

const entries = Object.entries(GLOSSARY);

it("the glossary has the terms that documents and reports use, in the order of the alphabet", () => {
  const words = entries.map(([word]) => word);
  expect(words).toEqual([...words].sort((a, b) => (a < b ? -1 : 1)));
  expect(words).toEqual(
    expect.arrayContaining([
      ...["pivot", "manifest-set", "share-set", "quorum-key", "ephemeral-key", "commitment", "pcrs", "legacy", "live"],
      ...["setup", "warning", "note", "evidence", "manifest", "envelope", "nonce", "policy", "trust-anchor"],
    ]),
  );
});

it.each(entries)("the term %s is named as it is written, and explained in a few sentences", (word, term) => {
  const { name, title, means } = term;
  expect(word).toBe(name.toLowerCase().replaceAll(" ", "-"));
  expect(CHECK_IDS).not.toContain(word);
  expect(Object.keys(TERMS)).not.toContain(word);
  expect(title).toMatch(/^[\p{L}\d].*[^.]$/u);
  expect(means).toMatch(/^\S.*\.$/s);
  expect(means.length).toBeLessThan(400);
});

it("every verdict, status and exit code is explained", () => {
  const words = ["verified", "authentic", "rejected", "stale", "pass", "fail", "warn", "skip", "0", "1", "2", "3"];
  expect(Object.keys(TERMS).sort()).toEqual(words.sort());
});
