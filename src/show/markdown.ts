/** Writes a document as Markdown for GitHub. No text becomes a link, an image, a mention, a reference or HTML. */
import { lastOf, toUtf8 } from "../bytes.js";
import { runsOf } from "../report/compare.js";
import { printable } from "../report/printable.js";
import { type Block, type Doc, type Row, type Section, isValue, asSentence } from "./doc.js";

/** Limit of the lists of a section in bytes, because GitHub shows nothing of a step summary above 1 MiB. */
const MAX_LIST = 250_000;
const MAX_FOLDED = 150_000;

/** Returns the document as Markdown, with a line feed at its end. */
export function writeMarkdown({ sections }: Doc): string {
  return `${sections.map(sectionText).join("\n\n")}\n`;
}

function sectionText({ heading, blocks, isFolded = false }: Section): string {
  const most = isFolded ? MAX_FOLDED : MAX_LIST;
  // Sentences that follow one another become a list.
  const isSentence = ({ kind }: Block): boolean => /^(?:words|warning|list)$/.test(kind);
  const shown = blocks.filter((block) => block.kind !== "rows" || block.rows.length > 0);
  const parts = runsOf(shown, (last, block) => isSentence(last) && isSentence(block)).map((run) =>
    run.length === 1 ? blockText(run[0], most) : listed(run.flatMap(itemsOf), most),
  );
  if (isFolded) return `<details>\n<summary>${plain(heading ?? "")}</summary>\n\n${parts.join("\n\n")}\n\n</details>`;
  return [...(heading === undefined ? [] : [`## ${plain(heading)}`]), ...parts].join("\n\n");
}

function itemsOf(block: Block): string[] {
  return block.kind === "list" ? block.items.map(plain) : [blockText(block, MAX_LIST)];
}

function blockText(block: Block, most: number): string {
  switch (block.kind) {
    case "verdict": {
      const end = block.text.indexOf(":");
      const rest = asSentence(block.text.slice(end + 1).trim());
      return [`## ${plain(block.text.slice(0, end))}`, ...(rest === "" ? [] : [`**${plain(rest)}**`])].join("\n\n");
    }
    case "warning":
      return `**WARNING** ${plain(block.text)}`;
    case "words":
      return plain(block.text);
    case "list":
      return listed(block.items.map(plain), most);
    case "rows":
      return listed(
        block.rows.map((row) => rowText(row, "")),
        most,
      );
    case "value":
      return code(block.text);
  }
}

function rowText({ label = "", id, text, isCommand = false, below = [] }: Row, indent: string): string {
  const names = [label, id ?? ""].filter((name) => name !== "").map(code);
  // Hex and the like is code as a whole. Brackets that mark bytes would otherwise become a link.
  const words = text === undefined ? [] : [isCommand || isValue(text) ? code(text) : plain(text)];
  const inner = below.map((row) => `\n${indent}  - ${rowText(row, `${indent}  `)}`).join("");
  return [...names, ...words].join(" ") + inner;
}

function listed(items: readonly string[], most: number): string {
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

/**
 * A word that Markdown and GitHub leave as it is: letters or a few digits, with punctuation around them. Letters that
 * could be a commit hash are excluded.
 */
const PLAIN_WORD = /^["'(]*(?:(?![a-f]{7,}\b)[A-Za-z]+(?:['-][a-z]+)*[).,;:!?"']*|\d{1,4}[,;:]?)$/;

interface Token {
  readonly before: string;
  /** What is code; null in a plain word. */
  readonly core: string | null;
  readonly after: string;
}

function tokenOf(word: string): Token {
  if (word.split(" ").every((part) => PLAIN_WORD.test(part))) return { before: word, core: null, after: "" };
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
  const tokens: Token[] = [];
  for (const token of wordsOf(printable(sentence)).map(tokenOf)) {
    const last = lastOf(tokens);
    const isOneSpan = last !== undefined && last.core !== null && token.core !== null;
    if (isOneSpan && last.after === "" && token.before === "")
      tokens[tokens.length - 1] = { ...last, core: `${last.core} ${token.core}`, after: token.after };
    else tokens.push(token);
  }
  return tokens.map(({ before, core, after }) => before + (core === null ? "" : code(core)) + after).join(" ");
}

/** Returns the words. What stands in double quotes, such as a path with spaces, is one. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let isQuoted = false;
  for (const word of text.split(" ")) {
    if (isQuoted) words.push(`${words.pop()!} ${word}`);
    else words.push(word);
    if (word.replace(/\\./g, "").split('"').length % 2 === 0) isQuoted = !isQuoted;
  }
  return words;
}

function code(text: string): string {
  const shown = printable(text);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const room = shown === "" || /^[ `]|[ `]$/.test(shown) ? " " : "";
  return `${fence}${room}${shown}${room}${fence}`;
}
