import { type Check, checkRow } from "../checks.js";
import { type Notice, isBad, isGood, warningsOf } from "../report/facts.js";
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
  notesOf,
  openLines,
  reasonLines,
} from "./parts.js";

const XML = '<?xml version="1.0" encoding="UTF-8"?>';

type Attributes = Readonly<Record<string, string | number>>;

/**
 * Returns the report as JUnit XML for CI systems, with a line feed at its end (formats/README.md, "junit"). `notices`
 * are those of a bundle, and are shown with the verdict. Throws TypeError for a value that is not a report.
 * @example
 * ```ts
 * const { report } = await verifyEvidence(evidence, { policy, now: new Date(), acceptance: "strict" });
 * const xml = renderJunit(report);
 * ```
 */
export function renderJunit(report: Report, notices: readonly Notice[] = []): string {
  return ofReport(report, () => {
    const flagged = new Map(flaggedIn(report).map((one) => [one.check, one]));
    const bad = report.checks.filter(isBad);
    const failed = bad.filter(isFailed).length;
    const counts = {
      tests: report.checks.length + 1,
      failures: failed + (isGood(report) ? 0 : 1),
      errors: bad.length - failed,
    };
    const skipped = report.checks.filter(({ status }) => status === "skip").length;
    return suiteText({ ...counts, skipped }, timestampOf(report), [
      ...node("properties", {}, properties(report, notices)),
      ...verdictCase(report, notices),
      ...report.checks.flatMap((check) => checkCase(check, flagged.get(check))),
    ]);
  });
}

/** The file: one suite with these children. */
export function suiteText(
  { skipped, ...counts }: Readonly<Record<"tests" | "failures" | "errors" | "skipped", number>>,
  timestamp: string | null,
  children: readonly string[],
): string {
  const all = { name: "bootproof", ...counts };
  const suite = { ...all, skipped, time: 0, ...(timestamp !== null && { timestamp }) };
  const lines = node("testsuites", { ...all, time: 0 }, node("testsuite", suite, children));
  return `${[XML, ...lines].join("\n")}\n`;
}

/**
 * Renders a command's failure instead of a report, as one test case with an error. With an empty file there would seem
 * to be nothing to test.
 */
export function renderJunitFailure(failure: CommandFailure): string {
  const type = `exit code ${failure.exitCode}`;
  const error = leaf("error", { type, message: failure.headline }, failureLines(failure));
  return suiteText({ tests: 1, failures: 0, errors: 1, skipped: 0 }, null, testCase("report", "verdict", [error]));
}

function isFailed({ status }: Check): boolean {
  return status === "fail";
}

/** Returns the time in UTC without the suffix `Z`, because the schemas allow no time zone. */
function timestampOf({ verifiedAt }: Report): string {
  return verifiedAt.replace(/(?:\.\d+)?Z$/, "");
}

/**
 * Returns a test case for the verdict. A viewer that counts failures would otherwise show a rejected report without
 * failed checks as good.
 */
function verdictCase(report: Report, notices: readonly Notice[]): string[] {
  const [text, ...lines] = headLines(report, notices);
  const open = openLines(report);
  if (isGood(report)) return testCase("report", "verdict", [leaf("system-out", {}, [text!, ...lines, ...open])]);
  const warnings = lines.filter((line) => line.startsWith("WARNING "));
  const failure = leaf("failure", { type: "verdict", message: text! }, [text!, ...warnings]);
  return testCase("report", "verdict", [failure, leaf("system-out", {}, [...lines, ...open])]);
}

/** The name has the piece, since each boot proof has every check. Its file is in the properties and in the failure. */
function checkCase(check: Check, flagged: Flagged | undefined): string[] {
  const { id, subject, about = subject } = check;
  const title = checkRow(id)?.title;
  const name = `${title === undefined ? id : `${id}: ${title}`} (${about})`;
  return testCase(id.split(".")[0]!, name, outcome(check, flagged));
}

function outcome(check: Check, flagged: Flagged | undefined): string[] {
  if (flagged === undefined) return check.status === "skip" ? [leaf("skipped", {}, [printable(check.detail)])] : [];
  const { level, who, detail } = flagged;
  if (level !== "error") return [leaf("system-out", {}, [`${level.toUpperCase()}: ${detail}`])];
  const message = printableStart(detail, MAX_TEXT);
  const body = [who, printable(check.detail), ...reasonLines(check, "verbose")];
  return [leaf(isFailed(check) ? "failure" : "error", { type: check.id, message }, body)];
}

/** Jenkins takes all before the last dot of a class for its package, so no name of a file may be in it. */
export function testCase(kind: string, name: string, children: readonly string[]): string[] {
  const all = { classname: `bootproof.${kind}`, name, time: 0 };
  return children.length === 0 ? [leaf("testcase", all, [])] : node("testcase", all, children);
}

function properties(report: Report, notices: readonly Notice[]): string[] {
  const { verdict, stale, tool, policy, policyDigest, verifiedAt, validationTime, evidence } = report;
  const rows: [string, string | null][] = [
    ["verdict", verdict],
    ["stale", String(stale)],
    ["policy", policy],
    ["policy.sha256", policyDigest],
    ["verified-at", verifiedAt],
    ["validation-time", validationTime],
    ["tool", `${tool.name} ${tool.version}`],
    ...evidence.map(({ subject, name, sha256 }): [string, string] => {
      return [`evidence.${subject}`, [name, sha256 === null ? null : `SHA-256 ${sha256}`].filter(Boolean).join(", ")];
    }),
    ...warningsOf(report, notices).map((text, index): [string, string] => [`warning.${index + 1}`, text]),
    ...notesOf(notices).map((text, index): [string, string] => [`note.${index + 1}`, text]),
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [leaf("property", { name, value }, [])]));
}

function node(name: string, attributes: Attributes, children: readonly string[]): string[] {
  return [`<${start(name, attributes)}>`, ...children.map((child) => `  ${child}`), `</${name}>`];
}

export function leaf(name: string, attributes: Attributes, text: readonly string[]): string {
  const inner = text.map(escaped).join("\n");
  return inner === "" ? `<${start(name, attributes)}/>` : `<${start(name, attributes)}>${inner}</${name}>`;
}

function start(name: string, attributes: Attributes): string {
  return [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escaped(String(value))}"`)].join(" ");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * Makes a text printable and escapes it. XML 1.0 forbids control characters, lone surrogates and U+FFFE even if
 * escaped.
 */
function escaped(text: string): string {
  return printable(text).replace(/[&<>"]/g, (char) => ENTITIES[char]!);
}
