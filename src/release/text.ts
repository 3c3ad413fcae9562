/** The document of a check of releases. */
import { listed } from "../errors.js";
import { CHANGES, SEVERITIES } from "../diff/changes.js";
import type { Change } from "../diff/diff.js";
import { SEVERITY_TONES } from "../diff/text.js";
import { numbered } from "../report/facts.js";
import { printableStart, shortHex } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import { type Doc, type Row, type Tone, rows, section, words } from "../show/doc.js";
import { type LineOptions, writeText } from "../show/terminal.js";
import type { CheckedRelease, ReleaseCheck, ReleaseStatus } from "./check.js";
import type { ReleaseHistory } from "./history.js";

const TONES: Readonly<Record<ReleaseStatus, Tone>> = {
  good: "good",
  bad: "bad",
  "not checked": "bad",
  older: "quiet",
  skipped: "quiet",
};
const MAX_NAME = 160;
const WANTED = "check: expected the awaited result of checkReleases";
const OLDER = "A release that is older than every minNonce of the policy is listed, and nothing is demanded of it.";
const DEMANDS: Readonly<Record<ReleaseCheck["demand"], string>> = {
  "manifest set": "Demanded: approvals of the manifest set that was given.",
  policy: "Demanded: approvals of the manifest sets that the policy pins.",
  none: "Demanded: no manifest set.",
};
const NOT_ANCHORED = "not anchored: too few approvers in the set of a good release before it, or in a demanded set";

/**
 * Renders a check. The first line is `good` or `not good` with the counts. Each history follows, ordered by nonce, with
 * the changes, then the releases of no history, and what cannot be known. Ends with a line feed. Throws TypeError for
 * any other value.
 */
export function renderReleaseCheck(check: ReleaseCheck, options: LineOptions = {}): string {
  return renderWhole(check, WANTED, () => writeText(releaseDoc(check), options));
}

function releaseDoc({ good, demand, counts, releases, histories, unknowable }: ReleaseCheck): Doc {
  const statuses = (Object.keys(TONES) as ReleaseStatus[]).filter((status) => counts[status] > 0);
  const isAll = statuses.join() === "good";
  const text = isAll
    ? numbered(counts.good, "release")
    : statuses.map((status) => `${counts[status]} ${status}`).join(", ");
  const others = releases.filter(({ place }) => place === null);
  const head = [
    words(`${good ? "good" : "not good"}: ${text === "" ? "nothing was checked" : text}`, "strong"),
    words(DEMANDS[demand]),
    ...(counts.older > 0 ? [words(OLDER)] : []),
  ];
  return {
    sections: [
      { blocks: head },
      ...histories.flatMap((history, index) =>
        section(`${name(history.application)} (${name(history.namespace)})`, [
          rows(historyRows(history, ofHistory(releases, index))),
        ]),
      ),
      ...(others.length === 0 ? [] : [{ blocks: [rows(others.map((release) => releaseRow(release)))] }]),
      { blocks: unknowable.map((sentence) => words(sentence)) },
    ],
  };
}

/** Returns the releases of a history by their place, because several releases can have the same name. */
function ofHistory(releases: readonly CheckedRelease[], history: number): CheckedRelease[] {
  const found = releases.filter(({ place }) => place?.history === history);
  return found.sort((one, other) => one.place!.index - other.place!.index);
}

function historyRows({ steps, faults }: ReleaseHistory, releases: readonly CheckedRelease[]): Row[] {
  return releases.map((release, index) => {
    const found = faults.filter((fault) => fault.index === index);
    const isLoose = release.status === "bad" && release.faults.length === 0 && found.length === 0;
    return releaseRow(release, [
      ...(isLoose ? [failRow(NOT_ANCHORED)] : []),
      ...(index === 0 ? [] : changeRows(steps[index - 1]!.changes)),
      ...found.map(({ message }) => failRow(message)),
    ]);
  });
}

function failRow(text: string): Row {
  return { label: "fail", tone: "bad", text };
}

function releaseRow(release: CheckedRelease, more: readonly Row[] = []): Row {
  const { status, nonce, manifestHash, threshold, members, approvedBy, faults, notes } = release;
  const who = listed(approvedBy.map(({ alias }) => name(alias)));
  const facts = [
    name(release.name),
    ...(nonce === null ? [] : [`nonce ${nonce}`]),
    ...(manifestHash === null ? [] : [shortHex(manifestHash)]),
    ...(threshold === null
      ? []
      : [`approved by ${who === "" ? "nobody" : who} (${threshold} of ${members!} required)`]),
  ];
  const below = [
    ...faults.map(({ file, message }) => failRow(`${file}: ${message}`)),
    ...notes.map(({ file, message }) => ({ label: "note", text: `${file}: ${message}` })),
    ...more,
  ];
  return { label: status, tone: TONES[status], text: facts.join(", "), below };
}

function changeRows(changes: readonly Change[]): Row[] {
  return SEVERITIES.flatMap((severity) => {
    const titles = changes
      .filter((change) => change.severity === severity)
      .map(({ what, place }) => (what === "other" ? place : CHANGES[what].title));
    const text = listed([...new Set(titles)]);
    return text === "" ? [] : [{ label: severity, tone: SEVERITY_TONES[severity], text }];
  });
}

function name(text: string): string {
  return printableStart(text, MAX_NAME);
}
