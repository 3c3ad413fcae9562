/** Renders a check of releases for a terminal. */
import { listed } from "../errors.js";
import { CHANGES, SEVERITIES } from "../diff/changes.js";
import type { Change } from "../diff/diff.js";
import { SEVERITY_STYLES } from "../diff/text.js";
import { type Page, type Style, type TextOptions, pageOf, wordFirst, wrapped } from "../report/layout.js";
import { printable, printableStart } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import type { CheckedRelease, ReleaseCheck, ReleaseHistory, ReleaseStatus } from "./check.js";

const STYLES: Readonly<Record<ReleaseStatus, readonly Style[]>> = {
  good: ["green"],
  bad: ["bold", "red"],
  "not checked": ["bold", "red"],
  older: ["dim"],
  skipped: ["dim"],
};
const FAIL: LabelOptions = { styles: STYLES.bad };
const LABEL = 13;
const MAX_NAME = 160;
const WANTED = "check: expected the awaited result of checkReleases";

/**
 * Renders a check. The first line is `good` or `not good` with the counts. Each history follows, ordered by nonce, with
 * the changes, then the releases of no history, and what cannot be known. Ends with a line feed. Throws TypeError for
 * any other value.
 */
export function renderReleaseCheck(check: ReleaseCheck, options: TextOptions = {}): string {
  return renderWhole(check, WANTED, () => checkText(check, pageOf(options)));
}

function checkText({ good, demand, counts, releases, histories, unknowable }: ReleaseCheck, page: Page): string {
  const numbers = (Object.keys(STYLES) as ReleaseStatus[]).filter((status) => counts[status] > 0);
  const text = numbers.map((status) => `${counts[status]} ${status}`).join(", ");
  const others = releases.filter(({ place }) => place === null);
  const lines = [
    page.paint(`${good ? "good" : "not good"}: ${text === "" ? "nothing was checked" : text}`, "bold"),
    `Demanded: ${demand === "none" ? "no manifest set" : `the ${demand === "policy" ? "policy's sets" : demand}`}.`,
    ...(counts.older > 0 ? wrapped(page, "", OLDER) : []),
    ...histories.flatMap((history, index) => ["", ...historyLines(page, history, ofHistory(releases, index))]),
    ...(others.length === 0 ? [] : ["", ...others.flatMap((release) => releaseLines(page, release))]),
    "",
    ...unknowable.flatMap((sentence) => wrapped(page, "", printable(sentence))),
  ];
  return `${lines.join("\n")}\n`;
}

const OLDER = "A release that is older than every minNonce of the policy is listed, and nothing is demanded of it.";
const NOT_ANCHORED = "not anchored: too few approvers in the set of a good release before it, or in a demanded set";

/** Returns the releases of a history by their place, because several releases can have the same name. */
function ofHistory(releases: readonly CheckedRelease[], history: number): CheckedRelease[] {
  const found = releases.filter(({ place }) => place?.history === history);
  return found.sort((one, other) => one.place!.index - other.place!.index);
}

function historyLines(page: Page, history: ReleaseHistory, releases: readonly CheckedRelease[]): string[] {
  const { application, namespace, steps, faults } = history;
  return [
    page.paint(`${name(application)} (${name(namespace)})`, "bold"),
    ...releases.flatMap((release, index) => {
      const found = faults.filter((fault) => fault.index === index);
      const isLoose = release.status === "bad" && release.faults.length === 0 && found.length === 0;
      return [
        ...releaseLines(page, release),
        ...(isLoose ? labelled(page, "fail", NOT_ANCHORED, FAIL) : []),
        ...(index === 0 ? [] : changeLines(page, steps[index - 1]!.changes)),
        ...found.flatMap(({ message }) => labelled(page, "fail", message, FAIL)),
      ];
    }),
  ];
}

function releaseLines(page: Page, release: CheckedRelease): string[] {
  const { status, nonce, manifestHash, threshold, members, approvedBy, faults, notes } = release;
  const who = listed(approvedBy.map(({ alias }) => name(alias)));
  const facts = [
    name(release.name),
    ...(nonce === null ? [] : [`nonce ${nonce}`]),
    ...(manifestHash === null ? [] : [page.hex(manifestHash)]),
    ...(threshold === null
      ? []
      : [`approved by ${who === "" ? "nobody" : who} (${threshold} of ${members!} required)`]),
  ];
  return [
    ...labelled(page, status, facts.join(", "), { styles: STYLES[status], indent: "" }),
    ...faults.flatMap(({ file, message }) => labelled(page, "fail", `${file}: ${message}`, FAIL)),
    ...notes.flatMap(({ file, message }) => labelled(page, "note", `${file}: ${message}`)),
  ];
}

function changeLines(page: Page, changes: readonly Change[]): string[] {
  return SEVERITIES.flatMap((severity) => {
    const titles = changes
      .filter((change) => change.severity === severity)
      .map(({ what, place }) => (what === "other" ? place : CHANGES[what].title));
    const text = listed([...new Set(titles)]);
    return text === "" ? [] : labelled(page, severity, text, { styles: SEVERITY_STYLES[severity] });
  });
}

interface LabelOptions {
  readonly styles?: readonly Style[];
  readonly indent?: string;
}

function labelled(
  page: Page,
  label: string,
  text: string,
  { styles = [], indent = "  " }: LabelOptions = {},
): string[] {
  return wordFirst(
    page,
    [label, ...styles],
    wrapped(page, indent + label.padEnd(LABEL - indent.length), printable(text)),
  );
}

function name(text: string): string {
  return printableStart(text, MAX_NAME);
}
