/** Text of a checked policy: its faults, or the pins and open questions of each deployment. */
import type { DescribedDeployment, PolicyCheck } from "../appraise/describe.js";
import type { AppProofRules } from "../appraise/parsed-policy.js";
import type { PinName } from "../appraise/pins.js";
import { type Page, type TextOptions, pageOf, paragraphs, wordFirst, wrapped } from "./layout.js";
import { printable, printableStart, quoted } from "./printable.js";

const LABEL = 15;
const INDENT = "  ";
const MAX_SENTENCE = 1200;

/**
 * Renders the result of `checkPolicy` as text in lines of `width` columns (by default 80), with a line feed at its end.
 * `name` is the name of the policy's file.
 */
export function renderPolicyCheck(check: PolicyCheck, name: string, options: TextOptions = {}): string {
  const page = pageOf(options);
  return paragraphs(check.faults.length > 0 ? [faultLines(check, name, page)] : goodLines(check, name, page));
}

function fact(page: Page, label: string, text: string): string[] {
  return wrapped(page, `${INDENT}${label.padEnd(LABEL)}`, text);
}

function warning(page: Page, text: string): string[] {
  return wordFirst(page, ["WARN", "onYellow"], fact(page, "WARN", printableStart(text, MAX_SENTENCE)));
}

function faultLines({ faults }: PolicyCheck, name: string, page: Page): string[] {
  const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
  const first = wrapped(page, "", `MALFORMED: ${printable(name)} has ${count}, so no evidence can pass.`);
  return [
    ...first.map((line) => page.paint(line, "bold", "red")),
    ...faults.flatMap(({ path, message }) =>
      wrapped(page, `${INDENT}- `, printableStart(path === "" ? message : `${path}: ${message}`, MAX_SENTENCE)),
    ),
  ];
}

function goodLines(check: PolicyCheck, name: string, page: Page): string[][] {
  const { deployments, warnings = [] } = check;
  const count = deployments.length === 1 ? "one deployment" : `${deployments.length} deployments`;
  const weak = warnings.length + deployments.flatMap(({ reasons }) => reasons).length;
  const warned = weak === 0 ? "" : `, with ${weak} ${weak === 1 ? "warning" : "warnings"} (WARN)`;
  const says = `WELL-FORMED: ${printable(name)} pins ${count}${warned}.`;
  const review = "Only a review shows whether it pins the right ones: compare them with a source that you trust.";
  return [
    [
      ...wrapped(page, "", says).map((line) => page.paint(line, "bold", weak === 0 ? "green" : "onYellow")),
      ...wrapped(page, "", review),
    ],
    policyLines(check, page),
    ...deployments.map((deployment) => deploymentLines(deployment, page)),
  ];
}

function policyLines(check: PolicyCheck, page: Page): string[] {
  const { name = null, trustAnchors = [], maxAge = null, appProofs, allowDebug, warnings = [], notes = [] } = check;
  return [
    page.paint(name === null ? "Policy, without a name" : `Policy ${quoted(name, 256)}`, "bold"),
    ...fact(page, "trust anchors", trustAnchors.map((anchor) => printable(anchor.name)).join(", ")),
    ...fact(page, "maxAge", maxAge === null ? "none" : durationText(maxAge)),
    ...(appProofs === undefined ? [] : fact(page, "app proofs", appProofText(appProofs))),
    ...fact(page, "debug mode", allowDebug === true ? "allowed" : "refused"),
    ...warnings.flatMap((text) => warning(page, text)),
    ...notes.flatMap((text) => fact(page, "note", text)),
  ];
}

function appProofText({ types, maxAge, untimed, required, coverage, decision }: AppProofRules): string {
  return [
    types === null ? "of any type" : `of type ${types.map((type) => printable(type)).join(" or ")}`,
    maxAge === null ? "of any age" : `at most ${durationText(maxAge)} old`,
    ...(untimed.length === 0
      ? []
      : [`without a time if its type is ${untimed.map((type) => printable(type)).join(" or ")}`]),
    required ? "one is required" : "none is required",
    ...(coverage ? ["every address of a result needs one"] : []),
    ...(decision ? ["one for the decision to allow is required"] : []),
  ].join("; ");
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

function durationText(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, one]) => milliseconds % one === 0) ?? ["s", 1000];
  return `${milliseconds / size}${unit}`;
}

function deploymentLines(deployment: DescribedDeployment, page: Page): string[] {
  const { name, kind, answers, pinned, pcrs, appProofTypes, reasons } = deployment;
  const pins = (names: readonly PinName[], indexes: readonly number[]): string =>
    names.map((pin) => (pin === "pcrs" ? `pcrs ${indexes.join(", ")}` : pin)).join("; ");
  const pinnedFact = (question: keyof typeof answers, indexes: readonly number[]): string[] => {
    const open = kind === "qos" ? "OPEN, as the policy says" : "open";
    return fact(
      page,
      question,
      pins(
        answers[question],
        indexes.filter((index) => pcrs.includes(index)),
      ) || open,
    );
  };
  const types = appProofTypes?.map((type) => printable(type)).join(", ") ?? "what the policy allows";
  return [
    page.paint(`Deployment ${quoted(name, 256)}${kind === "qos" ? "" : ` (${kind}: bare documents)`}`, "bold"),
    ...pinnedFact("image", kind === "qos" ? [0, 1, 2] : [0, 1, 2, 8]),
    ...pinnedFact("application", [0, 1, 2]),
    ...pinnedFact("operator", kind === "qos" ? [3] : [3, 4, 8]),
    ...fact(page, "all pins", pins(pinned, pcrs)),
    ...(kind === "qos" ? fact(page, "app proofs", types) : []),
    ...reasons.flatMap((reason) => warning(page, reason)),
  ];
}
