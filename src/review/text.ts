/** Renders a review for a terminal. */
import { listed } from "../errors.js";
import { NOT_THERE } from "../diff/changes.js";
import { changeLines } from "../diff/text.js";
import { sideBySide } from "../report/compare.js";
import { type Page, type TextOptions, headingLines, pageOf, paragraphs, wordFirst, wrapped } from "../report/layout.js";
import { printable, printableStart, quoted } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import type { ReviewedDeployment } from "./deployments.js";
import type { ReviewFault } from "./faults.js";
import type { ManifestReview, ReviewedApproval, UnpinnedMember } from "./review.js";

const LABEL = 14;
const MAX_VALUE = 1000;
/** Maximum characters of an unchanged value, which nobody has to read. */
const MAX_KNOWN = 200;
const MAX_NAME = 160;
const WANTED = "review: expected the awaited result of reviewManifest";

/**
 * Renders a review. The first sentence is what no review can know. The verdict with the hash that an approval signs
 * follows, then every fault with advice, the pins, the members that no pin fixes, the changes, and who may approve.
 * Ends with a line feed. Throws TypeError for any other value.
 */
export function renderReview(review: ManifestReview, options: TextOptions = {}): string {
  return renderWhole(review, WANTED, () => reviewText(review, pageOf(options)));
}

function reviewText(review: ManifestReview, page: Page): string {
  const parts = [
    review.unknowable.flatMap((sentence) => wrapped(page, "", printable(sentence))),
    verdictLines(review, page),
    ...review.faults.map((fault) => faultLines(fault, page)),
    section(
      "Pins",
      review.deployments.flatMap((one) => deploymentLines(one, page)),
      page,
    ),
    section(
      "Members that no pin holds",
      review.members.flatMap((member) => memberLines(member, review.changes !== null, page)),
      page,
    ),
    section(
      "Changes since the previous manifest",
      (review.changes ?? []).flatMap((change) => changeLines(page, change)),
      page,
    ),
    section("Approvals", approvalLines(review, page), page),
    section(
      "Notes",
      review.notes.flatMap((note) => wrapped(page, "  ", printable(note))),
      page,
    ),
  ];
  return paragraphs(parts);
}

function section(title: string, lines: readonly string[], page: Page): string[] {
  return lines.length === 0 ? [] : [...headingLines(title, page), ...lines];
}

function verdictLines(review: ManifestReview, page: Page): string[] {
  const { ok, faults, deployment, manifestHash, manifestVersion, namespace, nonce, measured } = review;
  const verdict = ok
    ? `EVERYTHING HOLDS: everything that was given was compared, with the deployment ${quoted(deployment!)}.`
    : `DO NOT APPROVE: ${faults.length} ${faults.length === 1 ? "fault" : "faults"}.`;
  const lines = wrapped(page, "", verdict);
  return [
    ...lines.map((line) => page.paint(line, "bold", ok ? "green" : "red")),
    ...labelled(page, "manifest", `${quoted(namespace, MAX_NAME)}, nonce ${nonce}, ${manifestVersion}`),
    ...labelled(page, "built", measured.length === 0 ? "nothing was given" : listed(measured)),
    // The hash is on a line of its own and unbroken, so that it can be copied.
    ...labelled(page, "signs", "the hash that an approval signs:"),
    `  ${printable(manifestHash)}`,
  ];
}

function faultLines({ code, message, expected, actual, advice }: ReviewFault, page: Page): string[] {
  return [
    ...wordFirst(page, ["FAIL", "bold", "red"], wrapped(page, "FAIL ", `${printable(message)} (${code})`)),
    // The values of an open member are left out here, because the list of members shows them in full.
    ...(code === "open-member" ? [] : sidesOf(expected, actual)).flatMap(([label, text]) =>
      labelled(page, label, text),
    ),
    ...labelled(page, "to do", printable(advice)),
  ];
}

function sidesOf(expected: string | null, actual: string | null): (readonly [string, string])[] {
  const sides = expected !== null && actual !== null ? sideBySide(expected, actual) : null;
  const lines = (text: string | null): readonly string[] =>
    text === null ? [] : text.split("\n").map((line) => printableStart(line, MAX_VALUE));
  const labelledLines = (label: string, texts: readonly string[]): (readonly [string, string])[] =>
    texts.map((text, index) => [index === 0 ? label : "", text]);
  return [
    ...labelledLines("expected", sides?.expected ?? lines(expected)),
    ...labelledLines("actual", sides?.actual ?? lines(actual)),
  ];
}

function deploymentLines({ name, pins, notCompared }: ReviewedDeployment, page: Page): string[] {
  const named = (holds: boolean): string => listed(pins.filter((one) => one.holds === holds).map(({ pin }) => pin));
  const rows = [
    ["holds", named(true)],
    ["does not", named(false)],
    ["not here", notCompared.length === 0 ? "" : `${listed(notCompared)}: only a boot proof shows it`],
  ] as const;
  return [
    ...wrapped(page, "  ", quoted(name, MAX_NAME)),
    ...rows.flatMap(([label, text]) => (text === "" ? [] : labelled(page, label, printable(text), "    "))),
  ];
}

function memberLines(
  { place, name, before, after, status }: UnpinnedMember,
  hasPrevious: boolean,
  page: Page,
): string[] {
  const title = status === "open" ? `${printable(place)} (--accept ${name})` : printable(place);
  if (status === "unchanged") return labelled(page, status, `${title} ${printableStart(after!, MAX_KNOWN)}`);
  if (!hasPrevious) return labelled(page, status, `${title} ${printable(after!)}`);
  const side = (label: string, text: string | null): string[] =>
    labelled(page, label, text === null ? NOT_THERE : printable(text), "    ");
  return [...labelled(page, status, title), ...side("before", before), ...side("after", after)];
}

function approvalLines({ approvers: { threshold, members }, approvals }: ManifestReview, page: Page): string[] {
  const names = (approved: boolean): string =>
    listed(members.filter((one) => one.approved === approved).map(({ alias }) => quoted(alias, MAX_NAME)));
  const bad = approvals.filter(({ status }) => status !== "valid");
  return [
    ...labelled(page, "required", `${threshold} of ${members.length} members of the manifest's own set`),
    ...labelled(page, "approved by", names(true) || "nobody yet"),
    ...labelled(page, "may approve", names(false) || "nobody else"),
    ...bad.flatMap((one) => labelled(page, one.status, approvalText(one))),
  ];
}

function approvalText({ set, alias }: ReviewedApproval): string {
  return `${quoted(alias, MAX_NAME)}, for the ${set} set`;
}

function labelled(page: Page, label: string, text: string, indent = "  "): string[] {
  return wrapped(page, indent + label.padEnd(LABEL - indent.length), text);
}
