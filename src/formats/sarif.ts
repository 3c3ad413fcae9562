import { CHECK_IDS, type Check, type CheckId, isCheckId } from "../checks.js";
import type { JsonObject } from "../decode/json.js";
import { explainCheck, explanationParts } from "../report/explanations.js";
import { type Notice, hasBadChecks, isGood, warningsOf } from "../report/facts.js";
import { jsonDocument } from "../report/json.js";
import { capitalized, printable } from "../report/printable.js";
import type { EvidencePiece, Report } from "../report/report.js";
import { grouped, provenStatements } from "../report/statements.js";
import { openParts } from "../show/report.js";
import { ofReport, verdictSentence } from "../show/verdict.js";
import { TOOL } from "../version.js";
import {
  type CommandFailure,
  type Flagged,
  flaggedIn,
  headLines,
  notesOf,
  openLines,
  pathWithoutIndex,
  reasonLines,
} from "./parts.js";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const INFORMATION_URI = "https://www.npmjs.com/package/bootproof";
const VERDICT_RULE = "verdict";

/**
 * Returns the report as SARIF 2.1.0 for code scanning, with a line feed at its end (formats/README.md, "sarif").
 * `notices` are those of a bundle, and are shown with the verdict. Throws TypeError for a value that is not a report.
 * @example
 * ```ts
 * const { report } = await verifyEvidence(evidence, { policy, now: new Date() });
 * const log = renderSarif(report);
 * ```
 */
export function renderSarif(report: Report, notices: readonly Notice[] = []): string {
  return ofReport(report, () => jsonDocument(logOf(report, notices)));
}

function logOf(report: Report, notices: readonly Notice[]): JsonObject {
  const { tool, evidence } = report;
  const flagged = flaggedIn(report);
  const rules = rulesFor(flagged.map(({ check }) => check));
  const places = new Map(rules.map(({ id }, index) => [id, index]));
  const results = [...verdictResults(report, notices), ...flagged.map((one) => checkResult(one, report))];
  const run = {
    tool: { driver: { name: tool.name, version: tool.version, informationUri: INFORMATION_URI, rules } },
    // The run itself succeeded, even if it rejected the evidence.
    invocations: [{ executionSuccessful: true }],
    artifacts: [...grouped(evidence, ({ subject, name }) => uriOf(pathWithoutIndex(name || subject)))].map(artifactOf),
    columnKind: "utf16CodeUnits",
    results: results.map((result) => ({ ...result, ruleIndex: places.get(result.ruleId)! })),
    properties: propertiesOf(report, notices),
  };
  return { $schema: SCHEMA, version: "2.1.0", runs: [run] } as unknown as JsonObject;
}

/** Renders a failed run instead of a report. It has no `results`, since an empty list would close every alert. */
export function renderSarifFailure(failure: CommandFailure): string {
  const notifications = failure.problems.map(({ message, file }) => ({
    level: "error",
    message: { text: literal([failure.headline, message, ...failure.advice].join("\n")) },
    ...(file !== undefined && { locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) } } }] }),
  }));
  const run = {
    tool: { driver: { name: TOOL.name, version: TOOL.version, informationUri: INFORMATION_URI } },
    invocations: [
      { executionSuccessful: false, exitCode: failure.exitCode, toolExecutionNotifications: notifications },
    ],
  };
  return jsonDocument({ $schema: SCHEMA, version: "2.1.0", runs: [run] });
}

type Rule = Readonly<Record<string, unknown>> & { readonly id: string };

function rulesFor(findings: readonly Check[]): Rule[] {
  const strange = new Set<string>(findings.map(({ id }) => id).filter((id) => !isCheckId(id) && id !== VERDICT_RULE));
  return [
    rule(VERDICT_RULE, "the evidence meets the policy, without warnings", [
      ["What it proves", "All that the checks of the report prove."],
      ["What to do", "Read the report's failures, its warnings and what is not proven before you rely on a result."],
    ]),
    ...CHECK_IDS.map(ruleOf),
    ...[...strange].map((id) => {
      return rule(id, "a check that this version does not know", [
        ["What to do", "Read the report with the version that made it, or a newer one."],
      ]);
    }),
  ];
}

function ruleOf(id: CheckId): Rule {
  const explanation = explainCheck(id);
  const parts = explanationParts(explanation).map(({ heading, texts }) => [heading, texts.join("; ")] as const);
  return rule(id, explanation.title, parts);
}

function rule(id: string, title: string, sections: readonly (readonly [heading: string, text: string])[]): Rule {
  const text = sections.map(([heading, words]) => `${heading}: ${words}`).join("\n");
  const markdown = sections.map(([heading, words]) => `**${heading}**\n\n${words}`).join("\n\n");
  return {
    id: printable(id),
    name: nameOf(id),
    shortDescription: { text: title },
    fullDescription: { text: `${title}. ${sections[0]![1]}` },
    help: { text, markdown },
    defaultConfiguration: { level: "error" },
    properties: { tags: ["security"] },
  };
}

/** Returns what viewers show (`name` of a rule in SARIF), such as `PolicyQuorumKey`. It must not be the id. */
function nameOf(id: string): string {
  const words = id.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const all = words.length > 1 ? words : ["report", ...words];
  return all.map(capitalized).join("");
}

interface Result {
  readonly ruleId: string;
  readonly level: "error" | "warning" | "note";
  readonly message: { readonly text: string };
  readonly locations: readonly object[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
}

/**
 * Returns a result for the verdict, or none if it is not needed. A good report needs it to show warnings. Any other
 * report needs it if no check failed, or if the bundle has notices.
 */
function verdictResults(report: Report, notices: readonly Notice[]): Result[] {
  const good = isGood(report);
  const isTold = good ? warningsOf(report, notices).length === 0 : hasBadChecks(report) && notices.length === 0;
  if (isTold) return [];
  const lines = [...headLines(report, notices), ...openLines(report)];
  return [result(VERDICT_RULE, good ? "warning" : "error", lines, placeOf(firstFile(report), VERDICT_RULE))];
}

function checkResult({ check, level, who, detail, file }: Flagged, report: Report): Result {
  const { id, about = check.subject, name = "" } = check;
  const lines = [`${who}: ${detail}`, ...reasonLines(check, "verbose")];
  return result(printable(id), level, lines, placeOf(file ?? firstFile(report), `${id} ${about} ${name}`));
}

type Place = Pick<Result, "locations" | "partialFingerprints">;

function result(ruleId: string, level: Result["level"], lines: readonly string[], place: Place): Result {
  return { ruleId, level, message: { text: lines.map(literal).join("\n") }, ...place };
}

/** Escapes a text. SARIF reads `[text](target)` as a link and braces as arguments, and evidence must make neither. */
function literal(text: string): string {
  return text.replaceAll("](", "] (").replace(/[{}]/g, "$&$&");
}

/**
 * Returns the first file. It is used for checks without a file, since code scanning requires a place for each result.
 */
function firstFile({ evidence }: Report): string {
  return pathWithoutIndex(evidence.find(({ name }) => name !== null && name !== "")?.name ?? "evidence");
}

/**
 * Returns the first line of the file as the place. `what` is the same for a finding in every run, so code scanning
 * recognizes the finding.
 */
function placeOf(file: string, what: string): Place {
  const physicalLocation = { artifactLocation: { uri: uriOf(file) }, region: { startLine: 1 } };
  return { locations: [{ physicalLocation }], partialFingerprints: { primaryLocationLineHash: `${digest(what)}:1` } };
}

function artifactOf([uri, pieces]: readonly [string, readonly EvidencePiece[]]): object {
  const { sha256, name } = pieces[0]!;
  const subjects = pieces.map(({ subject }) => subject).join(", ");
  return {
    location: { uri },
    description: { text: literal(name === null ? subjects : `${subjects} = ${printable(pathWithoutIndex(name))}`) },
    ...(sha256 !== null && { hashes: { "sha-256": sha256 } }),
  };
}

/**
 * Returns a relative path as a relative URI, and an absolute path as a `file:` URI. Encoding keeps a name from being
 * read as another reference.
 */
function uriOf(path: string): string {
  const parts = path.replaceAll("\\", "/").split("/");
  const encoded = parts.filter((part) => part !== "").map((part) => encodeURIComponent(printable(part)));
  const isAbsolute = parts[0] === "" || /^[A-Za-z]:$/.test(parts[0]!);
  return (isAbsolute ? "file:///" : "") + encoded.join("/");
}

/** By a mask, since `BigInt.asUintN` of QuickJS answers with negative numbers. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash.toString(16).padStart(16, "0");
}

function propertiesOf(report: Report, notices: readonly Notice[]): object {
  const { verdict, stale, policy, policyDigest, verifiedAt, validationTime, checks } = report;
  const count = (wanted: Check["status"]): number => checks.filter(({ status }) => status === wanted).length;
  return {
    verdict,
    stale,
    headline: verdictSentence(report, notices),
    warnings: warningsOf(report, notices),
    notes: notesOf(notices),
    notProven: openParts(report),
    proven: provenStatements(report),
    policy,
    policySha256: policyDigest,
    verifiedAt,
    validationTime,
    checks: { pass: count("pass"), fail: count("fail"), warn: count("warn"), skip: count("skip") },
  };
}
