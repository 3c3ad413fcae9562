/** The documents of explanations, and the list of all of them. */
import { CHECK_IDS, CHECK_TITLES } from "../checks.js";
import {
  type CheckExplanation,
  GLOSSARY,
  TERMS,
  type TermExplanation,
  explanationParts,
} from "../report/explanations.js";
import { checkGroup } from "../report/labels.js";
import { grouped } from "../report/statements.js";
import { type Doc, rows, section, words } from "./doc.js";
import { type LineOptions, writeText } from "./terminal.js";

export type ExplanationOptions = LineOptions;

/** Renders the explanation of a check as text in lines of `width` columns (60 to 200, by default 80). */
export function renderCheckExplanation(explanation: CheckExplanation, options: ExplanationOptions = {}): string {
  return writeText(explanationDoc(explanation), options);
}

export function explanationDoc(explanation: CheckExplanation): Doc {
  const { id, title, group } = explanation;
  const head = { blocks: [words(`${id}: ${title}`, "strong"), words(`Group: ${group}`)] };
  const parts = explanationParts(explanation).flatMap(({ heading, texts }) =>
    section(
      heading,
      texts.map((text) => words(text)),
    ),
  );
  return { sections: [head, ...parts] };
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
