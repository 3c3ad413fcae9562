/** Explanations of checks and terms, whose texts are in `explanations.md`. Verification does not load them. */
import { CHECK_IDS, CHECK_TITLES, type CheckFamily, type CheckId, isCheckId } from "../checks.js";
import { editDistance } from "../decode/nearest.js";
import { ADVICE } from "./advice.js";
import { known } from "./check-lines.js";
import { type TextOptions, pageOf, wrapped } from "./layout.js";
import { GROUPS } from "./pieces.js";
import { EXPLAINED, GLOSSARY, MEMBERS, TERMS, type TermExplanation } from "./texts.js";

export { GLOSSARY, TERMS };

export type ExplanationOptions = Pick<TextOptions, "color" | "width">;

/** The usual advice after a failure of each check. */
export const CHECK_ADVICE: Readonly<Record<CheckId, string>> = ADVICE;

/** The explanation of a check, which `bootproof explain` shows. */
export interface CheckExplanation {
  readonly id: CheckId;
  /** Statement that is true if the check passes. */
  readonly title: string;
  /** Heading under which reports show the check. */
  readonly group: string;
  /** Facts that are known if the check passes, and how far they can be believed. */
  readonly proves: string;
  /** Causes of a failure without an attack, and attacks that make it fail. */
  readonly fails: { readonly genuine: string; readonly hostile: string };
  /** Cases in which the check is a warning instead of a failure, or null if there are none. */
  readonly warns: string | null;
  readonly advice: string;
  /** Sections of documents, in this package or public, that state the check's rule. */
  readonly sources: readonly string[];
}

/** Returns the explanation of a check. Throws TypeError for an unknown id. */
export function explainCheck(id: CheckId): CheckExplanation {
  if (!isCheckId(id)) throw new TypeError(`id: expected one of CHECK_IDS, such as ${CHECK_IDS[0]!}`);
  const { proves, genuine, hostile, warns = null, advice, next, sources } = EXPLAINED[id];
  return {
    id,
    title: CHECK_TITLES[id],
    group: groupOf(id),
    proves,
    fails: { genuine, hostile },
    warns,
    advice: `${advice} ${next}`,
    sources,
  };
}

function groupOf(id: CheckId): string {
  return GROUPS[id.split(".")[0] as CheckFamily];
}

/** Words of earlier versions of this tool, with the words that replaced them. */
const FORMER: Readonly<Record<string, string>> = { but: "warning", appraisal: "policy" };

/** Explains a term, given in lower case with hyphens for spaces. Returns null for an unknown one. */
export function explainTerm(word: string): TermExplanation | null {
  return known({ ...MEMBERS, ...TERMS, ...GLOSSARY }, known(FORMER, word) ?? word) ?? null;
}

export function explainedWords(): string[] {
  return [...CHECK_IDS, ...Object.keys({ ...MEMBERS, ...TERMS, ...GLOSSARY })];
}

export const HEADINGS = { genuine: "Why it fails without an attack", hostile: "Which attacks it stops" } as const;

/** Renders the explanation of a check as text in lines of `width` columns (60 to 200, by default 80). */
export function renderCheckExplanation(explanation: CheckExplanation, options: ExplanationOptions = {}): string {
  const { id, title, group, proves, fails, warns, advice, sources } = explanation;
  const sections: [string, readonly string[]][] = [
    ["What it proves", [proves]],
    [HEADINGS.genuine, [fails.genuine]],
    [HEADINGS.hostile, [fails.hostile]],
    ["When it only warns", warns === null ? [] : [warns]],
    ["What to do", [advice]],
    ["Source", sources],
  ];
  return rendered(`${id}: ${title}`, `Group: ${group}`, sections, options);
}

export function renderTermExplanation({ name, title, means }: TermExplanation, options: ExplanationOptions): string {
  return rendered(`${name}: ${title}`, null, [["", [means]]], options);
}

export function renderCheckList(options: ExplanationOptions = {}): string {
  const page = pageOf(options);
  const groups = new Map<string, CheckId[]>();
  for (const id of CHECK_IDS) groups.set(groupOf(id), [...(groups.get(groupOf(id)) ?? []), id]);
  const column = Math.max(...CHECK_IDS.map((id) => id.length));
  const lines = [...groups].flatMap(([group, ids]) => [
    page.paint(group, "bold"),
    ...ids.flatMap((id) => wrapped(page, `  ${id.padEnd(column)}  `, CHECK_TITLES[id])),
    "",
  ]);
  const words = `${Object.keys(TERMS).join(", ")} (0 to 3 are exit codes)`;
  const terms = Object.keys(GLOSSARY).join(", ");
  return `${[...lines, ...wrapped(page, "", `Also explained: ${words}, and the terms ${terms}.`)].join("\n")}\n`;
}

function rendered(
  heading: string,
  note: string | null,
  sections: readonly [heading: string, texts: readonly string[]][],
  options: ExplanationOptions,
): string {
  const page = pageOf(options);
  const lines = sections
    .filter(([, texts]) => texts.length > 0)
    .flatMap(([title, texts]) => [
      "",
      ...(title === "" ? [] : [page.paint(title, "bold")]),
      ...texts.flatMap((text) => wrapped(page, "  ", text)),
    ]);
  const first = wrapped(page, "", heading).map((line) => page.paint(line, "bold"));
  return `${[...first, ...(note === null ? [] : [note]), ...lines].join("\n")}\n`;
}

const MAX_NEAR = 5;
/** Maximum length of a word that is compared. */
const MAX_COMPARED = 64;

/** Returns up to five words that contain the word or, if there are none, differ from it in few letters. */
export function nearestWords(word: string, others: readonly string[] = []): string[] {
  const known = [...new Set([...explainedWords(), ...others])];
  if (word === "" || word.length > MAX_COMPARED) return [];
  const holding = known.filter((one) => one.includes(word));
  const most = Math.floor(word.length / 2);
  const near = holding.length > 0 ? holding : known.filter((one) => distanceOf(word, one) <= most);
  return [...near].sort((a, b) => distanceOf(word, a) - distanceOf(word, b)).slice(0, MAX_NEAR);
}

/** Returns the distance to an id or to a part of it. `nonse` is near `bind.nonce`. */
function distanceOf(word: string, known: string): number {
  return Math.min(...[known, ...known.split(".")].map((part) => editDistance(word, part)));
}
