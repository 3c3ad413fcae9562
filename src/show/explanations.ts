/** The documents of explanations, and the list of all of them. */
import { CHECK_IDS, CHECK_TITLES } from "../checks.js";
import { type CheckExplanation, GLOSSARY, HEADINGS, TERMS, type TermExplanation } from "../report/explanations.js";
import { checkGroup } from "../report/labels.js";
import { grouped } from "../report/statements.js";
import { type Doc, rows, section, words } from "./doc.js";
import { type LineOptions, writeText } from "./terminal.js";

export type ExplanationOptions = LineOptions;

/** Renders the explanation of a check as text in lines of `width` columns (60 to 200, by default 80). */
export function renderCheckExplanation(explanation: CheckExplanation, options: ExplanationOptions = {}): string {
  return writeText(explanationDoc(explanation), options);
}

export function explanationDoc({ id, title, group, proves, fails, warns, advice, sources }: CheckExplanation): Doc {
  const texts: readonly [heading: string, texts: readonly string[]][] = [
    ["What it proves", [proves]],
    [HEADINGS.genuine, [fails.genuine]],
    [HEADINGS.hostile, [fails.hostile]],
    ["When it only warns", warns === null ? [] : [warns]],
    ["What to do", [advice]],
    ["Source", sources],
  ];
  const head = { blocks: [words(`${id}: ${title}`, "strong"), words(`Group: ${group}`)] };
  const parts = texts.filter(([, own]) => own.length > 0);
  return {
    sections: [
      head,
      ...parts.flatMap(([heading, own]) =>
        section(
          heading,
          own.map((text) => words(text)),
        ),
      ),
    ],
  };
}

export function termDoc({ name, title, means }: TermExplanation): Doc {
  return { sections: [{ blocks: [words(`${name}: ${title}`, "strong")] }, { blocks: [words(means)] }] };
}

export function checkListDoc(): Doc {
  const groups = [...grouped(CHECK_IDS, checkGroup)].flatMap(([group, ids]) =>
    section(group, [rows(ids.map((id) => ({ id, text: CHECK_TITLES[id] })))]),
  );
  const terms = Object.keys(GLOSSARY).join(", ");
  const also = `${Object.keys(TERMS).join(", ")} (0 to 3 are exit codes), and the terms ${terms}.`;
  return { sections: [...groups, { blocks: [words(`Also explained: ${also}`)] }] };
}
