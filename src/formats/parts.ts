/**
 * Lines of text that the formats for CI share. Text of evidence is made printable here, so no line contains a line
 * feed.
 */
import type { Check } from "../checks.js";
import { labelOf } from "../report/labels.js";
import { sideBySide } from "../report/compare.js";
import { type Notice, countsOf, isNote, warningsOf } from "../report/facts.js";
import { atMost } from "../show/checks.js";
import { lookOf } from "../show/text.js";
import { printable, printableLines } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { factLines, originLines } from "../show/verdict.js";
import { openParts } from "../show/report.js";

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

export function failureLines({ problems, advice }: CommandFailure): string[] {
  const described = problems.map(({ file, message }) => (file === undefined ? message : `${file}: ${message}`));
  return [...described, ...advice].flatMap((text) => text.split("\n"));
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

export function besideVerdict(report: Report, notices: readonly Notice[]): string[] {
  return [
    ...warningTexts(report, notices),
    ...notesOf(notices),
    ...factLines(report),
    countsOf(report, notices),
    ...originLines(report, WHOLE),
  ].filter((line) => line !== "");
}

export function warningTexts(report: Report, notices: readonly Notice[]): string[] {
  return warningsOf(report, notices).map((text) => `WARNING ${text}`);
}

export function notesOf(notices: readonly Notice[]): string[] {
  return notices.flatMap(({ kind, text }) => {
    if (kind === "warning") return [];
    return kind === "item" ? `- ${text}` : text;
  });
}

/** Returns {@link openParts} as a line for each heading and statement. */
export function openLines(report: Report): string[] {
  return openParts(report).flatMap(({ heading, statements }) => [heading, ...statements.map((text) => `- ${text}`)]);
}

/**
 * Returns lines with the compared values and the advice of a check. `values` are shown whole, or shortened to their
 * difference.
 */
export function reasonLines(check: Check, values: "whole" | "short"): string[] {
  const { advice, stale } = check;
  return [
    ...comparedLines(check, values),
    ...(stale === true ? ["stale: genuine, but older than the policy allows"] : []),
    ...printableLines(advice ?? "", MAX_TEXT).flatMap(
      (line, index) => (index === 0 ? line && `-> ${line}` : line) || [],
    ),
  ];
}

function comparedLines({ expected, actual }: Check, values: "whole" | "short"): string[] {
  const isShort = values === "short" && expected !== undefined && actual !== undefined;
  const { note, ...sides } = isShort
    ? sideBySide(expected, actual)
    : { expected: lines(expected), actual: lines(actual), note: null };
  const cut = isShort ? atMost : (all: readonly string[]) => all;
  return [
    ...cut(sides.expected).map((line) => `expected  ${line}`),
    ...cut(sides.actual).map((line) => `actual    ${line}`),
    ...(note === null ? [] : [note]),
  ];
}

function lines(text: string | undefined): string[] {
  return text === undefined ? [] : text.split("\n").map(printable);
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
