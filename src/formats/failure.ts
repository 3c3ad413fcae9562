/** The document of a command that verified nothing, for people: a dashboard shows a state, and no older report. */
import { type Doc, section, words } from "../show/doc.js";
import { writeMarkdown } from "../show/markdown.js";
import { TOOL } from "../version.js";
import { type CommandFailure, problemTexts } from "./parts.js";

function failureDoc(failure: CommandFailure): Doc {
  const { headline, advice, exitCode, at } = failure;
  const [first = headline, ...others] = problemTexts(failure);
  const tried = at?.toISOString() ?? "an unknown time";
  const text = `NOT VERIFIED: ${first}`;
  return {
    sections: [
      {
        blocks: [
          { kind: "verdict", text, tone: "bad" },
          ...(others.length === 0 ? [] : [{ kind: "list", items: others } as const]),
          words(`${headline}. This says nothing about the evidence.`),
          words(`Tried at ${tried} by ${TOOL.name} ${TOOL.version}, exit code ${exitCode}.`),
        ],
      },
      ...section("What to do", [{ kind: "list", items: advice.flatMap((text) => text.split("\n")) }]),
    ],
  };
}

export function renderMarkdownFailure(failure: CommandFailure): string {
  return writeMarkdown(failureDoc(failure));
}

/** Returns a page without a script. */
export async function renderHtmlFailure(failure: CommandFailure): Promise<string> {
  const { renderDoc } = await import("../page/page.js");
  return renderDoc("NOT VERIFIED", failureDoc(failure));
}
