import { type Notice, isGood } from "../report/facts.js";
import { printable, printableStart } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { ofReport } from "../show/verdict.js";
import {
  type CommandFailure,
  type Flagged,
  MAX_TEXT,
  failureLines,
  flaggedIn,
  headLines,
  openLines,
  reasonLines,
} from "./parts.js";

type Command = "error" | "warning" | "notice";

/**
 * Returns the report as workflow commands of GitHub Actions, with a line feed at its end (formats/README.md, "github").
 * `notices` are those of a bundle, and are shown with the verdict. Throws TypeError for a value that is not a report.
 */
export function renderGithub(report: Report, notices: readonly Notice[] = []): string {
  return ofReport(report, () => `${commandsOf(report, notices).join("\n")}\n`);
}

export function renderGithubFailure(failure: CommandFailure): string {
  const [first = "", ...others] = failureLines(failure);
  return `${command("error", { title: "bootproof" }, [`${failure.headline}: ${first}`, ...others])}\n`;
}

function commandsOf(report: Report, notices: readonly Notice[]): string[] {
  const lines = [...headLines(report, notices), ...openLines(report)];
  if (isGood(report)) return [command("notice", { title: "bootproof" }, lines)];
  const flagged = flaggedIn(report);
  const isError = ({ level }: Flagged): boolean => level === "error";
  // GitHub shows only ten errors of a step, so the first error contains the counts.
  return [
    command("error", { title: "bootproof" }, lines),
    ...[...flagged.filter(isError), ...flagged.filter((one) => !isError(one))].map(annotation),
  ];
}

const COMMANDS: Readonly<Record<Flagged["level"], Command>> = { error: "error", warning: "warning", note: "notice" };

function annotation({ check, level, who, detail, file }: Flagged): string {
  const place = file === null ? {} : { file, line: "1" };
  const text = `${who}: ${printableStart(detail, MAX_TEXT)}`;
  return command(COMMANDS[level], { title: `bootproof ${check.id}`, ...place }, [
    text,
    ...reasonLines(check, "normal"),
  ]);
}

function command(name: Command, properties: Readonly<Record<string, string>>, lines: readonly string[]): string {
  const given = Object.entries(properties).map(([key, value]) => `${key}=${property(value)}`);
  return `::${name} ${given.join(",")}::${lines.map(data).join("%0A")}`;
}

/** Escapes text of evidence: it can neither end a command nor begin one. */
function data(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
