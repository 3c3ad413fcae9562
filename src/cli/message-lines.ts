/** Writes messages as lines of JSON, for `--log-format json` (cli/README.md, "Messages as JSON"). */
import { printableJson } from "../decode/json.js";
import type { ReportedEvent } from "./io.js";
import { valuesOn } from "./options.js";

type Level = "info" | "warn" | "error";

const LEVELS: Readonly<Record<string, Level>> = { note: "info", warning: "warn", bootproof: "error" };

/** Splits off the level and the time at the beginning of a text, since both are members of the JSON object. */
function textParts(text: string): { readonly level: Level; readonly text: string } {
  const [, word = "", rest = text] = /^(note|warning|bootproof): ([^]*)$/.exec(text) ?? [];
  return { level: LEVELS[word] ?? "info", text: rest.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, "") };
}

/** Returns a message as one JSON object. Its level comes from the text's first word, such as `warning`. */
export function eventLine(written: string, { event, fields = {} }: ReportedEvent, now: Date): string {
  const { level, text } = textParts(written.trimEnd());
  return printableJson(`${JSON.stringify({ time: now, level, event, fields: { text, ...fields } })}`) + "\n";
}

/** Returns the JSON objects of a text, one for each line. */
export function messageLines(written: string, now: Date): string {
  const lines = written.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => eventLine(line, { event: "message" }, now)).join("");
}

/** Returns whether messages, even those about wrong usage, are JSON. The last format on the command line decides. */
export function wantsJsonLines(argv: readonly string[]): boolean {
  return valuesOn(argv, "--log-format").at(-1) === "json";
}
