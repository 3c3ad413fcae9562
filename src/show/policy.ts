/** Text of a checked policy: its faults, or the pins and open questions of each deployment. */
import type { DescribedDeployment, PolicyCheck } from "../appraise/describe.js";
import type { AppProofRules } from "../appraise/parsed-policy.js";
import type { PinName } from "../appraise/pins.js";
import { printable, printableStart, quoted } from "../report/printable.js";
import { type Block, type Doc, type Row, type Section, rows, section, words } from "./doc.js";
import { type LineOptions, writeText } from "./terminal.js";

const MAX_SENTENCE = 1200;

/**
 * Renders the result of `checkPolicy` as text in lines of `width` columns (by default 80), with a line feed at its end.
 * `name` is the name of the policy's file.
 */
export function renderPolicyCheck(check: PolicyCheck, name: string, options: LineOptions = {}): string {
  return writeText(policyDoc(check, name), options);
}

export function policyDoc(check: PolicyCheck, name: string): Doc {
  return { sections: check.faults.length > 0 ? [faultSection(check, name)] : goodSections(check, name) };
}

function warningRow(text: string): Row {
  return { label: "WARN", tone: "warning", text: printableStart(text, MAX_SENTENCE) };
}

function faultSection({ faults }: PolicyCheck, name: string): Section {
  const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
  const items = faults.map(({ path, message }) =>
    printableStart(path === "" ? message : `${path}: ${message}`, MAX_SENTENCE),
  );
  const text = `MALFORMED: ${name} has ${count}, so no evidence can pass.`;
  return {
    blocks: [
      { kind: "verdict", text, tone: "bad" },
      { kind: "list", items },
    ],
  };
}

function goodSections(check: PolicyCheck, name: string): Section[] {
  const { deployments, warnings = [] } = check;
  const count = deployments.length === 1 ? "one deployment" : `${deployments.length} deployments`;
  const weak = warnings.length + deployments.flatMap(({ reasons }) => reasons).length;
  const warned = weak === 0 ? "" : `, with ${weak} ${weak === 1 ? "warning" : "warnings"} (WARN)`;
  const text = `WELL-FORMED: ${name} pins ${count}${warned}.`;
  const review = "Only a review shows whether it pins the right ones: compare them with a source that you trust.";
  return [
    { blocks: [{ kind: "verdict", text, tone: weak === 0 ? "good" : "warning" }, words(review)] },
    ...policySection(check),
    ...deployments.flatMap(deploymentSection),
  ];
}

function policySection(check: PolicyCheck): Section[] {
  const { name = null, trustAnchors = [], maxAge = null, appProofs, allowDebug, warnings = [], notes = [] } = check;
  const list: Block = rows([
    { label: "trust anchors", text: trustAnchors.map((anchor) => anchor.name).join(", ") },
    { label: "maxAge", text: maxAge === null ? "none" : durationText(maxAge) },
    ...(appProofs === undefined ? [] : [{ label: "app proofs", text: appProofText(appProofs) }]),
    { label: "debug mode", text: allowDebug === true ? "allowed" : "refused" },
    ...warnings.map(warningRow),
    ...notes.map((text) => ({ label: "note", text })),
  ]);
  return section(name === null ? "Policy, without a name" : `Policy ${quoted(name, 256)}`, [list]);
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

/** Returns the duration in the largest unit that divides it, as in policies. */
export function durationText(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, one]) => milliseconds % one === 0) ?? ["s", 1000];
  return `${milliseconds / size}${unit}`;
}

function deploymentSection(deployment: DescribedDeployment): Section[] {
  const { name, kind, answers, pinned, pcrs, appProofTypes, appProofBytes, reasons } = deployment;
  const pins = (names: readonly PinName[], indexes: readonly number[]): string =>
    names.map((pin) => (pin === "pcrs" ? `pcrs ${indexes.join(", ")}` : pin)).join("; ");
  const open = kind === "qos" ? "OPEN, as the policy says" : "open";
  const answerRow = (label: keyof typeof answers, indexes: readonly number[]): Row => {
    const own = indexes.filter((index) => pcrs.includes(index));
    return { label, text: pins(answers[label], own) || open };
  };
  const types = appProofTypes?.join(", ") ?? "what the policy allows";
  const bytes = appProofBytes ? "; and any bytes, so none of addresses and decisions" : "";
  const list: Row[] = [
    answerRow("image", kind === "qos" ? [0, 1, 2] : [0, 1, 2, 8]),
    answerRow("application", [0, 1, 2]),
    answerRow("operator", kind === "qos" ? [3] : [3, 4, 8]),
    { label: "all pins", text: pins(pinned, pcrs) },
    ...(kind === "qos" ? [{ label: "app proofs", text: types + bytes }] : []),
    ...reasons.map(warningRow),
  ];
  return section(`Deployment ${quoted(name, 256)}${kind === "qos" ? "" : ` (${kind}: bare documents)`}`, [rows(list)]);
}
