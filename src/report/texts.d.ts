/** Texts that bin/texts.mjs makes of `explanations.md` and `docs/glossary.md`. */
import type { CheckId } from "../checks.js";

interface Explained {
  readonly proves: string;
  readonly genuine: string;
  readonly hostile: string;
  /** Text for a check that can warn. */
  readonly warns?: string;
  readonly advice: string;
  /** Text that follows the usual advice of the check. */
  readonly next: string;
  readonly sources: readonly string[];
}

export interface TermExplanation {
  /** The term as it is written. */
  readonly name: string;
  /** Definition in one line. */
  readonly title: string;
  readonly means: string;
}

export declare const EXPLAINED: Readonly<Record<CheckId, Explained>>;
/** Verdicts, statuses and exit codes. */
export declare const TERMS: Readonly<Record<string, TermExplanation>>;
/** Terms by the word that `explain` takes, in lower case with hyphens for spaces. */
export declare const GLOSSARY: Readonly<Record<string, TermExplanation>>;
/** Members of the policy that are no such term, in lower case. */
export declare const MEMBERS: Readonly<Record<string, TermExplanation>>;
