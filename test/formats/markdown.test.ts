/** Markdown, as an independent reader of GitHub's kind of it understands it. */
import { type Token, marked } from "marked";
import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../src/formats/markdown.js";
import {
  AUTHENTIC,
  CONTRADICTORY,
  FAILED,
  GOOD,
  HOSTILE,
  HOSTILE_GOOD,
  HOSTILE_WORDS,
  NOTICES,
  STALE_REPORT,
  TOLD,
  WITH_WARNING,
  rejected,
} from "./told.js";

function tokensOf(markdown: string): Token[] {
  const all: Token[] = [];
  marked.walkTokens(marked.lexer(markdown, { gfm: true }), (token) => void all.push(token));
  return all;
}

/** What stands outside of code, in which GitHub looks for mentions, references, links and formulas. */
const looseText = (tokens: readonly Token[]): string =>
  tokens
    .flatMap((token) => (token.type === "text" && !("tokens" in token && token.tokens) ? token.raw : []))
    .join("\n");
const spans = (markdown: string): string[] =>
  tokensOf(markdown).flatMap((token) => (token.type === "codespan" ? (token as { text: string }).text : []));
const headings = (markdown: string): string[] => [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, text]) => text!);

describe("Markdown", () => {
  it.each(TOLD)("has no markup but ours: %s", (_, report) => {
    const tokens = tokensOf(renderMarkdown(report, NOTICES));
    const kinds = new Set(tokens.map(({ type }) => type));
    const ours = ["heading", "text", "space", "strong", "list", "list_item", "codespan", "html", "paragraph", "escape"];
    expect([...kinds].filter((kind) => !ours.includes(kind))).toEqual([]);
    const html = tokens.filter(({ type }) => type === "html").map(({ raw }) => raw.trim());
    for (const text of html)
      expect(text).toMatch(/^(?:<details>\n<summary>(?:All checks|Evidence): [\w ,]*<\/summary>|<\/details>)$/);
    expect(html).toHaveLength(4);
    expect(tokens.filter(({ type }) => type === "heading").map((token) => (token as { depth: number }).depth)).toEqual(
      headings(renderMarkdown(report, NOTICES)).map(() => 2),
    );
    expect(
      tokens.filter((token) => token.type === "list").some((token) => (token as { ordered: boolean }).ordered),
    ).toBe(false);
  });

  it.each(TOLD)("has nothing that GitHub makes a link, mention, reference, emoji or formula of: %s", (_, report) => {
    const text = looseText(tokensOf(renderMarkdown(report, NOTICES))).replaceAll("SHA-256", "");
    expect(text).toContain("Not proven");
    expect(/[@#$<>&[\]*_~`|\\/]|:\w+:|www\.|\b[0-9a-f]{7,}\b|\b[A-Z]+-\d/.exec(text)?.[0] ?? null).toBe(null);
    expect(/[^\n\x20-\x7e]/.exec(text)?.[0] ?? null).toBe(null);
  });

  it("keeps what evidence says as it is said", () => {
    const all = spans(renderMarkdown(HOSTILE));
    expect(all).toContain("<img src=x onerror=alert(1)>");
    expect(all.join(" ")).toContain("`code` ``two`` *a* _b_ **c** ~~d~~ $x$ $`y`$ :tada: | a | b |");
    expect(all.join(" ")).toContain("\\u{a}# heading\\u{a}- item\\u{a}1. one");
    expect(HOSTILE_WORDS.length).toBeGreaterThan(10);
    expect(headings(renderMarkdown(HOSTILE_GOOD))[0]).toMatch(/^VERIFIED with \d warnings$/);
  });

  it.each(GOOD)("begins with the verdict, and what is not proven stands as large: %s", (_, report) => {
    const all = headings(renderMarkdown(report));
    expect(all[0]).toMatch(/^(?:VERIFIED|AUTHENTIC)/);
    expect(all).toContain("Not proven");
    expect(all.at(-1)).toBe("Proven");
  });

  it("says the warnings, the notes, that it is stale, that it contradicts itself", () => {
    const markdown = renderMarkdown(WITH_WARNING, NOTICES);
    expect(headings(markdown)[0]).toBe("VERIFIED with 2 warnings");
    expect(markdown).toContain(
      "\n- **WARNING** the policy came with the bundle\n- **WARNING** the certificates lead to ",
    );
    expect(markdown).toContain(
      "\n- The bundle was made at noon.\n- verdict: verified in the report, rejected by its evidence\n",
    );
    expect(headings(renderMarkdown(STALE_REPORT))[0]).toBe("REJECTED, STALE");
    expect(headings(renderMarkdown(CONTRADICTORY))[0]).toBe("REFUSED");
  });

  it("lets no line of a notice become one of its own", () => {
    const markdown = renderMarkdown(WITH_WARNING, [{ kind: "note", text: "one\n# two\n\n@three" }]);
    expect(markdown).toContain("\n- `one\\u{a}# two\\u{a}\\u{a}@three`\n");
  });

  it("has what nothing pins under a heading of its own", () => {
    expect(headings(renderMarkdown(AUTHENTIC))).toEqual([
      "AUTHENTIC",
      "Not proven: its image, which nothing pins, says that",
      "Not proven",
      "Proven",
    ]);
  });

  it("has words in a row that are code in one span, and no space before a sentence", () => {
    const checks = [{ ...FAILED, detail: "x1 y2: a.b c.d, (e.f) is g.h" }];
    expect(renderMarkdown(rejected(checks))).toContain(
      '- `FAIL` `policy.pcrs` `boot[0] =` "`evidence/boot proof.json`": `x1 y2`: `a.b c.d`, (`e.f`) is `g.h`\n',
    );
  });

  it.each([
    ['in "my file.json", "a b"', 'in "`my file.json`", "a b"'],
    ['"a\\" `b` c.d" is e.f', '"``a\\" `b` c.d``" is `e.f`'],
    ['an open "quote of c.d', 'an open "`quote of c.d`'],
  ])("keeps what is quoted together: %s", (detail, shown) => {
    expect(renderMarkdown(rejected([{ ...FAILED, detail }]))).toContain(`: ${shown}\n`);
  });

  it("tells what fails alike once", () => {
    const checks = Array.from({ length: 5 }, (_, index) => ({ ...FAILED, about: `boot[${index}]` }) as const);
    const [failures] = renderMarkdown(rejected(checks)).split("<details>") as [string];
    expect(failures.match(/`policy\.pcrs`/g)).toHaveLength(2);
    expect(failures).toContain("`policy.pcrs` 5 boot proofs, ");
  });

  it("fits into a step summary of 1 MiB, whatever the evidence", () => {
    const long = "é<".repeat(2000);
    const checks = Array.from({ length: 300 }, (_, index) => {
      const values = { detail: `${index} ${long}`, expected: `${index} é\n`.repeat(1000), actual: long, advice: long };
      return { ...FAILED, ...values, about: `boot[${index}]` } as const;
    });
    const evidence = checks.map(({ about }) => ({ subject: about, name: long, sha256: "13".repeat(32) }));
    const markdown = renderMarkdown(rejected(checks, { evidence }));
    expect(new TextEncoder().encode(markdown).length).toBeLessThan(1024 * 1024);
    expect(markdown.match(/^- and \d+ more, which `--format json` lists$/gm)).toHaveLength(2);
  });
});
