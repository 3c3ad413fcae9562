/**
 * Lines of text that the formats for CI share. Text of evidence is made printable here, so no line contains a line
 * feed.
 */
import type { Check } from "../checks.js";
import { type Notice, isNote } from "../report/facts.js";
import { labelOf } from "../report/labels.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { adviceRows, comparedRows } from "../show/checks.js";
import { type Block, type Row, type Section, rows } from "../show/doc.js";
import { headBlocks, openSections } from "../show/report.js";
import { lookOf } from "../show/text.js";

/** Maximum characters of a text in a place that shows few. */
export const MAX_TEXT = 1200;
const WHOLE = lookOf("verbose");

/** The reason why a command made no report. */
export interface CommandFailure {
  readonly headline: string;
  readonly problems: readonly { readonly message: string; readonly file?: string }[];
  readonly advice: readonly string[];
  readonly exitCode: number;
  /** The time of the attempt; null if the clock itself failed. */
  readonly at: Date | null;
}

/** Returns each problem as a sentence that begins with its file. */
export function problemTexts({ problems }: CommandFailure): string[] {
  return problems.map(({ file, message }) => (file === undefined ? message : `${file}: ${message}`));
}

export function failureLines(failure: CommandFailure): string[] {
  return [...problemTexts(failure), ...failure.advice].flatMap((text) => text.split("\n"));
}

/** A check that a reader should look at, as every format for CI has it. */
export interface Flagged {
  readonly check: Check;
  /** A status that this version does not know is an error. */
  readonly level: "error" | "warning" | "note";
  readonly who: string;
  /** The printable detail, whole, after the status if that is unknown. */
  readonly detail: string;
  /** The file that the check is about; null if it is not known. */
  readonly file: string | null;
}

/** Returns the checks that failed, whose status is unknown, or that warn, in the order of the report. */
export function flaggedIn(report: Report): Flagged[] {
  const flagged = report.checks.filter(({ status }) => status !== "pass" && status !== "skip");
  return flagged.map((check) => {
    const { status, subject, about = subject } = check;
    const warns = isNote(check, report) ? "note" : "warning";
    const unknown = /^(?:fail|warn)$/.test(status) ? "" : `unknown status ${printable(String(status))}: `;
    const level = status === "warn" ? warns : "error";
    const detail = unknown + printable(check.detail);
    return { check, level, who: labelOf(about, report), detail, file: fileOf(check, report) };
  });
}

/** Returns the verdict as the first line, then what weakens it, which enclave it is, and how it was verified. */
export function headLines(report: Report, notices: readonly Notice[]): string[] {
  return linesOf([{ blocks: headBlocks(report, notices, WHOLE) }]);
}

export function notesOf(notices: readonly Notice[]): string[] {
  return notices.flatMap(({ kind, text }) => {
    if (kind === "warning") return [];
    return kind === "item" ? `- ${text}` : text;
  });
}

/** Returns what is not proven. */
export function openLines(report: Report): string[] {
  return linesOf(openSections(report, lookOf("normal")));
}

/** Returns the compared values, whole or with what differs, and the advice of a check. */
export function reasonLines(check: Check, detail: "normal" | "verbose"): string[] {
  const isPair = check.expected !== undefined && check.actual !== undefined;
  const stale: Row = { label: "stale", text: "genuine, but older than the policy allows" };
  const all = [
    ...comparedRows(check, lookOf(isPair ? detail : "verbose")),
    ...(check.stale ? [stale] : []),
    ...adviceRows(check),
  ];
  return linesOf([{ blocks: [rows(all)] }]);
}

/** Returns a document as lines, for formats whose readers lay out nothing. */
function linesOf(sections: readonly Section[]): string[] {
  const lines = sections.flatMap(({ heading, blocks }) => [heading ?? [], blocks.map(blockLines)].flat(2));
  return lines.map(printable);
}

function blockLines(block: Block): string[] {
  if (block.kind === "list") return block.items.map((item) => `- ${item}`);
  if (block.kind === "rows") return block.rows.map(({ label = "", text = "" }) => `${label.padEnd(8)}  ${text}`);
  return [block.kind === "warning" ? `WARNING ${block.text}` : block.text];
}

/**
 * Returns the file that a check is about, without an index in that file. Null if the file is not known, or if the boot
 * proof was fetched as the newest of an application: its name is then that of the application.
 */
function fileOf({ subject, about = subject, name: own }: Check, { evidence }: Report): string | null {
  const piece =
    evidence.find((one) => one.subject === about) ??
    (about.startsWith("app") ? evidence.find((one) => one.subject === "activity") : undefined);
  const name = own ?? piece?.name ?? "";
  return name === "" || (piece !== undefined && Object.hasOwn(piece, "latestOf")) ? null : pathWithoutIndex(name);
}

/** Returns `boot.json` for `boot.json[3]`. */
export function pathWithoutIndex(name: string): string {
  return name.replace(/(?<=.)\[\d+\]$/, "");
}
