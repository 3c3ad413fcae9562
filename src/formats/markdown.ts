import { toUtf8 } from "../bytes.js";
import type { Check } from "../checks.js";
import { type Notice, countsOf, numbered, shownCheck } from "../report/facts.js";
import { whoText } from "../report/pieces.js";
import { printable } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import type { Report } from "../report/report.js";
import { grouped, provenStatements } from "../report/statements.js";
import { WANTED, verdictSentence } from "../report/text.js";
import { badChecks, besideVerdict, detailOf, openParts, reasonLines, whoOf } from "./parts.js";

/** Limits of the lists in bytes, because GitHub shows nothing of a step summary above 1 MiB. */
const MAX_FAILURES = 250_000;
const MAX_STATEMENTS = 100_000;
const MAX_DETAILS = 150_000;

/**
 * Returns the report as Markdown for GitHub's step summaries and comments, with a line feed at its end
 * (formats/README.md, "markdown"). No text from evidence becomes a link, an image, a mention, a reference or HTML.
 * `notices` are those of a bundle, and are shown with the verdict. Throws TypeError for a value that is not a report.
 */
export function renderMarkdown(report: Report, notices: readonly Notice[] = []): string {
  return renderWhole(report, WANTED, () => {
    const parts = [
      verdictPart(report, notices),
      failuresPart(report),
      ...openParts(report).map(({ heading, statements }) => listPart(heading, statements)),
      ...(report.claims === null ? [] : [listPart("Proven", provenStatements(report))]),
      checksPart(report, notices),
      evidencePart(report),
    ];
    return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
  });
}

function verdictPart(report: Report, notices: readonly Notice[]): string {
  const sentence = verdictSentence(report, notices);
  const end = sentence.indexOf(":");
  const lines = besideVerdict(report, notices).map((line) => {
    const [, warning] = /^WARNING (.*)$/.exec(line) ?? [];
    return warning === undefined ? plain(line.replace(/^- /, "")) : `**WARNING** ${plain(warning)}`;
  });
  return [
    `## ${plain(sentence.slice(0, end))}`,
    `**${plain(sentence.slice(end + 1).trim())}**`,
    list(lines, MAX_STATEMENTS),
  ].join("\n\n");
}

function failuresPart(report: Report): string {
  const groups = grouped(badChecks(report), ({ id, detail, expected, actual }) =>
    JSON.stringify([id, detail, expected, actual]),
  );
  if (groups.size === 0) return "";
  const items = [...groups.values()].map((checks) => {
    const [first] = checks as [Check];
    const lines = reasonLines(first, "short").map((line) => `  - ${reason(line)}`);
    return [checkText(first, whoText(checks, report), report), ...lines].join("\n");
  });
  return `## Failed checks\n\n${list(items, MAX_FAILURES)}`;
}

function reason(line: string): string {
  const [, title, value] = /^(expected|actual) +(.*)$/.exec(line) ?? [];
  return value === undefined ? plain(line.replace(/^-> /, "What to do: ")) : `${title!}: ${code(value)}`;
}

function listPart(heading: string, statements: readonly string[]): string {
  return `## ${plain(heading)}\n\n${list(statements.map(plain), MAX_STATEMENTS)}`;
}

function list(items: readonly string[], most: number): string {
  const lines: string[] = [];
  let left = most;
  for (const item of items) {
    left -= toUtf8(item).length;
    if (left < 0) break;
    lines.push(`- ${item}`);
  }
  const rest = items.length - lines.length;
  return [...lines, ...(rest > 0 ? [`- and ${rest} more, which \`--format json\` lists`] : [])].join("\n");
}

function checksPart(report: Report, notices: readonly Notice[]): string {
  return details(
    `All checks: ${countsOf(report, notices)}`,
    report.checks.map((check) => checkText(check, whoOf(check, report), report)),
  );
}

function checkText(check: Check, who: string, report: Report): string {
  const { status } = shownCheck(check, report);
  return `${code(String(status))} ${code(check.id)} (${code(who)}): ${plain(detailOf(check))}`;
}

function evidencePart({ evidence }: Report): string {
  const items = evidence.map(({ subject, name, sha256 }) => {
    const title = name === null ? code(subject) : `${code(subject)} = ${code(name)}`;
    return sha256 === null ? title : `${title}, SHA-256 ${code(sha256)}`;
  });
  return details(`Evidence: ${numbered(evidence.length, "item")}`, items);
}

/** Returns a list that the reader can unfold. `summary` is never text of evidence. */
function details(summary: string, items: readonly string[]): string {
  return `<details>\n<summary>${summary}</summary>\n\n${list(items, MAX_DETAILS)}\n\n</details>`;
}

/**
 * A word that Markdown and GitHub leave as it is: letters or a few digits, with punctuation around them. Letters that
 * could be a commit hash are excluded.
 */
const PLAIN_WORD = /^["'(]*(?:(?![a-f]{7,}\b)[A-Za-z]+(?:['-][a-z]+)*[).,;:!?"']*|\d{1,4}[,;:]?)$/;
function around(word: string): { readonly before: string; readonly core: string; readonly after: string } {
  const [before] = /^["'(]*/.exec(word)!;
  let end = word.length;
  while (end > before.length && `).,;:"'`.includes(word[end - 1]!)) end--;
  if (end === before.length) return { before: "", core: word, after: "" };
  return { before, core: word.slice(before.length, end), after: word.slice(end) };
}

/**
 * Marks as code every word that is not plain. GitHub makes links, mentions and references from the rendered text, so
 * escaping does not prevent them.
 */
function plain(sentence: string): string {
  let text = "";
  let span: string[] = [];
  let lead = "";
  const add = (words: string): void => {
    text += (text === "" ? "" : " ") + words;
  };
  const close = (after = ""): void => {
    if (span.length > 0) add(lead + code(span.join(" ")) + after);
    [span, lead] = [[], ""];
  };
  for (const word of printable(sentence).split(" ")) {
    const isPlain = PLAIN_WORD.test(word);
    const { before, core, after } = around(word);
    if (isPlain || before !== "") close();
    if (isPlain) {
      add(word);
      continue;
    }
    if (before !== "") lead = before;
    span.push(core);
    if (after !== "") close(after);
  }
  close();
  return text;
}

function code(text: string): string {
  const shown = printable(text);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const room = shown === "" || /^[ `]|[ `]$/.test(shown) ? " " : "";
  return `${fence}${room}${shown}${room}${fence}`;
}
