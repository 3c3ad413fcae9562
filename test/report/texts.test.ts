/** How bin/texts.mjs splits `src/report/explanations.md` and docs/glossary.md: it names what is missing. */
import { expect, it } from "vitest";

interface Texts {
  readonly ADVICE: Readonly<Record<string, string>>;
  readonly EXPLAINED: Readonly<Record<string, object>>;
  readonly TERMS: Readonly<Record<string, object>>;
  readonly GLOSSARY: Readonly<Record<string, object>>;
}
type TextsOf = (explanations: string, glossary: string, rows: Readonly<Record<string, boolean>>) => Texts;

const { textsOf } = (await import(new URL("../../bin/texts.mjs", import.meta.url).href)) as { textsOf: TextsOf };

const PARTS = ["Proves", "Fails without an attack", "Stops", "Advice", "Next", "Source"];
const section = (id: string, parts: readonly string[] = PARTS): string =>
  `## ${id}\n\n${parts.map((part) => `- **${part}:** ${part}\n  of ${id}; it\n`).join("")}\n`;
const CHECKS = section("a.one") + section("a.two", [...PARTS, "Warns"]);
const DOCUMENT = `# Title\n\n${CHECKS}# Words\n\n## good\n\nA word. More.\n`;
const ROWS = { "a.one": false, "a.two": true };
const GLOSSARY = "# Glossary\n\n## PCRs of it\n\nMeasurements of\nit (X. 5). All of them.\nMore.\n";

it("sections become texts in one line each", () => {
  const texts = textsOf(DOCUMENT, GLOSSARY, ROWS);
  const one = {
    proves: "Proves of a.one; it",
    genuine: "Fails without an attack of a.one; it",
    hostile: "Stops of a.one; it",
    advice: "Advice of a.one; it",
    next: "Next of a.one; it",
    sources: ["Source of a.one", "it"],
  };
  expect(texts.EXPLAINED["a.one"]).toEqual(one);
  expect(texts.EXPLAINED["a.two"]).toHaveProperty("warns", "Warns of a.two; it");
  expect(texts.ADVICE).toEqual({ "a.one": "Advice of a.one; it", "a.two": "Advice of a.two; it" });
  expect(texts.TERMS).toEqual({ good: { name: "good", title: "a word", means: "More." } });
  expect(texts.GLOSSARY).toEqual({
    "pcrs-of-it": { name: "PCRs of it", title: "measurements of it (X", means: "5). All of them. More." },
  });
});

it.each([
  ["a check without a section", DOCUMENT, { ...ROWS, "a.three": false }, 'no section "## a.three"'],
  ...PARTS.map((part) => [
    `a section without ${part}`,
    DOCUMENT.replace(`- **${part}:** ${part}\n  of a.one`, `- ${part}\n  of a.one`),
    ROWS,
    `the section "## a.one" needs one part "- **${part}:** …"`,
  ]),
  [
    "a check that warns, and does not say when",
    DOCUMENT,
    { ...ROWS, "a.one": true },
    '"## a.one" needs one part "- **Warns',
  ],
  [
    "a check that says when it warns, and never does",
    DOCUMENT,
    { ...ROWS, "a.two": false },
    '"## a.two" needs no part "- **Warns',
  ],
  [
    "a part that is there twice",
    DOCUMENT.replace("**Next:**", "**Stops:**"),
    ROWS,
    '"## a.one" needs one part "- **Stops',
  ],
  ["a term of one sentence", `${DOCUMENT}\n## bad\n\nA word.\n`, ROWS, 'the section "## bad" needs a sentence'],
] as [string, string, Record<string, boolean>, string][])("%s is refused by name", (_, document, rows, message) => {
  expect(() => textsOf(document, GLOSSARY, rows)).toThrow(message);
});
