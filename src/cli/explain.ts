/** `bootproof explain`: what a check proves, why it fails, and what to do. It also explains verdicts and exit codes. */
import { CHECK_IDS, isCheckId } from "../checks.js";
import { listed } from "../errors.js";
import type * as explanations from "../report/explanations.js";
import { jsonDocument } from "../report/json.js";
import type { Doc } from "../show/doc.js";
import type * as documents from "../show/explanations.js";
import { writeText } from "../show/terminal.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { UsageError, textOptions } from "./io.js";
import { OPTION_NAMES, commandsWith } from "./option-table.js";
import { seeHelpOf } from "./options.js";

const EXAMPLES = `
Without WORD: every check, by group. WORD is a check id from a report or log, a verdict or a status (verified,
authentic, rejected, stale, pass, fail, warn, skip), an exit code (0 to 3), a term (pivot, manifest-set, pcrs, …), a
member of the policy (maxAge, …) or an option, with or without its dashes.

Examples:
    $ bootproof explain bind.key
    $ bootproof explain rejected
    $ bootproof explain 3
    $ bootproof explain manifest-set
    $ bootproof explain maxAge
    $ bootproof explain policy.scope --format json

Exit codes: 0 explained, 2 no such word.`;

export const addExplainCommand = commandOf<"explain", [word: string | undefined]>(
  "explain",
  {
    help: EXAMPLES,
    takesOptions: true,
  },
  async ({ command, args, flags: { format }, io }, word) => {
    args.throwFaults();
    const [library, docs] = await Promise.all([import("../report/explanations.js"), import("../show/explanations.js")]);
    const found = word === undefined ? listOf(library, docs) : explanationOf(library, docs, word, seeHelpOf(command));
    io.stdout.write(format === "json" ? jsonDocument(found.json) : writeText(found.doc(), textOptions(io)));
    return EXIT.good;
  },
);

type Explanations = typeof explanations;
type TermExplanation = explanations.TermExplanation;
type Documents = typeof documents;

interface Found {
  readonly json: object;
  readonly doc: () => Doc;
}

const JSON_FORMAT = "bootproof-explanation/1";

function listOf({ GLOSSARY, TERMS, explainCheck }: Explanations, { checkListDoc }: Documents): Found {
  const checks = CHECK_IDS.map((id) => {
    const { title, group } = explainCheck(id);
    return { id, title, group };
  });
  const terms = Object.entries({ ...TERMS, ...GLOSSARY }).map(([term, { title }]) => ({ term, title }));
  return { json: { format: JSON_FORMAT, checks, terms }, doc: checkListDoc };
}

function explanationOf(library: Explanations, docs: Documents, word: string, see: string): Found {
  const asked = word.toLowerCase();
  if (isCheckId(asked)) {
    const explanation = library.explainCheck(asked);
    return {
      json: { format: JSON_FORMAT, ...explanation },
      doc: () => docs.explanationDoc(explanation),
    };
  }
  const hyphens = word.replace(/(?<=[a-z])(?=[A-Z])| /g, "-").toLowerCase();
  const term =
    [asked, hyphens, asked.replace(PCR, "pcrs")].map(library.explainTerm).find(Boolean) ?? termOfOption(asked);
  if (term === null) throw new UsageError([unknown(word, asked, library)], see);
  const { name, ...rest } = term;
  return {
    json: { format: JSON_FORMAT, term: name, ...rest },
    doc: () => docs.termDoc(term),
  };
}

/** Matches the name of one PCR. */
const PCR = /^pcr-?\d+$/;

function unknown(word: string, asked: string, { nearestWords }: Explanations): string {
  const near = nearestWords(
    asked,
    OPTION_NAMES.map((name) => `--${name}`),
  );
  const hint = near.length === 0 ? "run bootproof explain for a list" : `did you mean ${near.join(", ")}?`;
  return `${word}: not a check, verdict, status, exit code, term, option or member of the policy: ${hint}`;
}

function termOfOption(word: string): TermExplanation | null {
  const name = word.replace(/^--/, "");
  const rows = commandsWith(name);
  if (rows.length === 0) return null;
  const commandsOf = (some: typeof rows): string[] => some.map(({ command }) => command);
  const helps = [...new Set(rows.map(({ help }) => help))].map((help) => {
    const own = rows.filter((row) => row.help === help);
    return `${own.length === rows.length ? "" : `${commandsOf(own).join(", ")}: `}${help}.`;
  });
  return { name: `--${name}`, title: `an option of ${listed(commandsOf(rows), ", ")}`, means: helps.join(" ") };
}
