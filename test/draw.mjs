/**
 * Draws comments and messages of src and bin for readers who have not seen the project (.github/CONTRIBUTING.md,
 * "Words"): `node test/draw.mjs [SEED]`. The seed is the hash of the commit by default, so that nobody chooses them.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ROOT, trackedFiles } from "./tracked.mjs";

const COMMENTS = 200;
const MESSAGES = 100;
const seed = process.argv[2] ?? execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();

/** The comments before each token, with the line of code that follows them, which they may name. */
function commentsOf(file, text) {
  const found = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) return void children.forEach(visit);
    const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
    const lines = comments.map(({ pos, end }) => text.slice(pos, end));
    if (lines.length > 0)
      found.push(`${lines.join("\n")}\n    > ${text.slice(node.getStart(source)).split("\n", 1)[0]}`);
  };
  visit(source);
  return found;
}

/** Texts of four words or more. */
function messagesOf(file, text) {
  const found = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
      const shown = node.getText(source);
      if (shown.split(/\s+/).length >= 4 && /[a-z]{3}/.test(shown)) found.push(shown);
    } else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The SHA-256 of the seed and the text decides the order. */
function drawn(texts, count) {
  const ranked = texts.map((one) => [createHash("sha256").update(`${seed}\n${one}`).digest("hex"), one]);
  return ranked.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, count);
}

const files = trackedFiles().filter((file) => /^(?:src|bin)\/.*\.ts$/.test(file));
const texts = files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]);
const located = (of) => texts.flatMap(([file, text]) => of(file, text).map((one) => `${file}: ${one}`));
const shown = (name, chosen) =>
  console.log(`\n# ${name}\n\n${chosen.map(([, one], at) => `${at + 1}. ${one}`).join("\n\n")}`);
console.log(`Seed ${seed}`);
shown("Comments", drawn(located(commentsOf), COMMENTS));
shown("Messages", drawn(located(messagesOf), MESSAGES));
