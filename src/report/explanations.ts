/** Explanations of checks and terms, whose texts are in `explanations.md`. Verification does not load them. */
import { CHECK_IDS, CHECK_TITLES, type CheckId, isCheckId } from "../checks.js";
import { editDistance } from "../decode/nearest.js";
import { ADVICE } from "./advice.js";
import { checkGroup, known } from "./labels.js";
import { EXPLAINED, GLOSSARY, MEMBERS, TERMS, type TermExplanation } from "./texts.js";

export { GLOSSARY, TERMS, type TermExplanation };

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
    group: checkGroup(id),
    proves,
    fails: { genuine, hostile },
    warns,
    advice: `${advice} ${next}`,
    sources,
  };
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

/** Returns the texts of an explanation under their headings, in the order in which they are read. */
export function explanationParts(
  explanation: CheckExplanation,
): { readonly heading: string; readonly texts: readonly string[] }[] {
  const { proves, fails, warns, advice, sources } = explanation;
  return [
    { heading: "What it proves", texts: [proves] },
    { heading: "Why it fails without an attack", texts: [fails.genuine] },
    { heading: "Which attacks it stops", texts: [fails.hostile] },
    ...(warns === null ? [] : [{ heading: "When it only warns", texts: [warns] }]),
    { heading: "What to do", texts: [advice] },
    { heading: "Source", texts: sources },
  ];
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
