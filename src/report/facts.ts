/** Facts that every rendering of a report shows: bad checks, counts, warnings, and the head. */
import { lastOf } from "../bytes.js";
import type { Check } from "../checks.js";
import { isAccepted, isGoodVerdict } from "./accepted.js";
import { type ShownCheck, labelOf } from "./labels.js";
import { capitalized, printable, quoted } from "./printable.js";
import type { BootProofClaims, Claims, Report } from "./report.js";
import { carriesNonce, shortList, speakerOf } from "./statements.js";
import { CAVEATS, caveats } from "./unproven.js";

/** A text that is shown with the verdict, but is not in the report. An `item` is in a list that explains a warning. */
export interface Notice {
  readonly kind: "warning" | "note" | "item";
  readonly text: string;
}

/**
 * Whether a report may be shown as good. A report from a file may have been altered, so with a failed check it is not
 * good, whatever its verdict.
 */
export function isGood(report: Pick<Report, "verdict" | "checks" | "refusedFor">): boolean {
  return isAccepted(report) && !hasBadChecks(report);
}

/** Returns the reason why a report with a good verdict is not good, or null for any other report. */
export function whyNotGood(report: Pick<Report, "verdict" | "checks" | "refusedFor">): string | null {
  const { verdict } = report;
  if (isGood(report) || !isGoodVerdict(verdict)) return null;
  return `the verdict "${verdict}" is ${hasBadChecks(report) ? "wrong: a check failed" : "not accepted with warnings"}`;
}

export function hasBadChecks({ checks }: Pick<Report, "checks">): boolean {
  return checks.some(isBad);
}

/** Whether the status is a failure or unknown. */
export function isBad({ status }: Pick<Check, "status">): boolean {
  return !/^(?:pass|warn|skip)$/.test(status);
}

export function shownCheck(check: Check, report: Pick<Report, "claims">): ShownCheck {
  return isNote(check, report) ? { ...check, status: "note" } : check;
}

/**
 * Whether a check with status `warn` is a note: it then weakens no verdict. Rejected evidence has only notes.
 * `app.time` is a note unless the app proof has no time.
 */
export function isNote({ id, status, subject }: Check, { claims }: Pick<Report, "claims">): boolean {
  if (status !== "warn" || claims === null) return status === "warn";
  if (id !== "app.time") return !Object.hasOwn(CAVEATS, id);
  return claims.appProofs.some(({ time }, index) => subject === `app[${index}]` && time !== null);
}

/** Returns the line of counts. Its number of warnings is the number of WARNING lines. */
export function countsOf(report: Report, notices: readonly Notice[]): string {
  return countWords(report.checks, report, warningsOf(report, notices).length);
}

/** Returns the counts of some checks of a report. */
export function countWords(checks: readonly Check[], report: Pick<Report, "claims">, warnings?: number): string {
  const shown = checks.map((check) => shownCheck(check, report));
  const count = (wanted: ShownCheck["status"]): number => shown.filter(({ status }) => status === wanted).length;
  const words: [number, string][] = [
    [count("pass"), "passed"],
    [count("fail"), "failed"],
    [warnings ?? count("warn"), "warning"],
    [count("note"), "note"],
    [count("skip"), "skipped"],
  ];
  const found = words.filter(([number]) => number > 0);
  return found.map(([number, word]) => (/ed$/.test(word) ? `${number} ${word}` : numbered(number, word))).join(", ");
}

/** Returns a count such as `1 note` or `2 notes`. */
export function numbered(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Returns everything that weakens the verdict, and the caller's reasons to refuse it. Each is a WARNING line. */
export function warningsOf(report: Report, notices: readonly Notice[]): string[] {
  const shown = notices.filter(({ kind }) => kind === "warning").map(({ text }) => text);
  return [...new Set([...shown, ...caveats(report), ...(report.refusedFor ?? [])])];
}

/**
 * Returns the facts of the head: a sentence on the age of the oldest document and what it means, which is null for
 * rejected evidence, and a line for each boot proof. More than `most` boot proofs share a line. For rejected evidence,
 * the line only names the boot proofs, because nothing about it is proven.
 */
export function headlineFacts(
  report: Report,
  most = 3,
): { readonly age: string | null; readonly lines: readonly string[] } {
  const { claims, verifiedAt } = report;
  if (claims === null) return { age: null, lines: [rejectedLine(report)] };
  const { bootProofs } = claims;
  const lines =
    bootProofs.length > Math.max(1, most)
      ? [togetherLine(bootProofs, verifiedAt)]
      : bootProofs.map((boot, index) => {
          const subject = bootProofs.length === 1 ? "" : `${labelOf(`boot[${index}]`, report)}: `;
          // The namespace is last, because the evidence chose it and the end of a line is truncated first.
          const dates = datesText([boot], verifiedAt);
          return `${subject}document of ${dates}; ${deploymentText(boot)}; ${namespaceText(boot)}`;
        });
  return { age: oldestAge(report, claims), lines };
}

/**
 * Returns how long an enclave has run, and what shows that it still runs, such as `this enclave started 12 days ago;
 * whether it still runs is not shown: no app proof was given`. Times are in RFC 3339. `newestAppProof` is the time of
 * the newest app proof of this enclave. Null means that there is none with a time, for the reason `without`.
 */
export function ageSentence(
  documentTime: string,
  verifiedAt: string,
  newestAppProof: string | null = null,
  { enclave = "this enclave", without = "no app proof was given" } = {},
): string {
  const started = `${enclave} started ${ageText(documentTime, verifiedAt, "ago")}`;
  if (newestAppProof === null) return `${started}; whether it still runs is not shown: ${without}`;
  const when = `${ageText(newestAppProof, verifiedAt, "ago")} (${printable(newestAppProof)})`;
  return `${started}; its newest app proof shows that it still ran ${when}`;
}

/** Returns a sentence on the oldest document. A bare document, and one with a nonce, may be made at any time. */
function oldestAge(report: Report, { bootProofs, appProofs }: Claims): string | null {
  const timeOf = (index: number): string => bootProofs[index]!.hardware.documentTime;
  const [oldest] = [...bootProofs.keys()].sort((one, other) => Date.parse(timeOf(one)) - Date.parse(timeOf(other)));
  if (oldest === undefined) return null;
  const which = (what: string): string =>
    bootProofs.length === 1 ? `this ${what}` : `the oldest of ${bootProofs.length} ${what}s`;
  const made = `${which("document")} was made ${ageText(timeOf(oldest), report.verifiedAt, "ago")}`;
  if (carriesNonce(report, oldest)) return capitalized(`${made}, after you chose its nonce.`);
  const boot = bootProofs[oldest]!;
  if (boot.image.manifest === null) return capitalized(`${made}; nothing shows that its enclave still runs.`);
  const own = appProofs.filter(({ bootProof }) => bootProof === oldest);
  const times = own.flatMap(({ time }) => time ?? []);
  const newest = times.sort((one, other) => Date.parse(other) - Date.parse(one))[0] ?? null;
  const speaker = newest === null ? null : speakerOf(boot);
  if (newest === null && own.some(({ answers }) => answers !== null))
    return capitalized(
      `${which("enclave")} started ${ageText(timeOf(oldest), report.verifiedAt, "ago")}; ${ANSWERED}.`,
    );
  const without = own.length === 0 ? "no app proof was given" : "its app proofs have no time";
  const said = ageSentence(timeOf(oldest), report.verifiedAt, newest, { enclave: which("enclave"), without });
  return capitalized(`${said}${speaker === null ? "" : `, as ${speaker} says`}.`);
}

const ANSWERED = "an app proof answers your challenge, so it ran after you made that";

/** Units in milliseconds. An age of at least two units uses that unit, so that rounding hides less than half of it. */
const UNITS: readonly (readonly [name: string, length: number])[] = [
  ["days", 86_400_000],
  ["hours", 3_600_000],
  ["minutes", 60_000],
];

/** Returns an age, rounded down. The document's clock may be ahead of the verifier's. */
function ageText(time: string, now: string, past: "old" | "ago"): string {
  const milliseconds = Date.parse(now) - Date.parse(time);
  if (Number.isNaN(milliseconds)) return past === "old" ? "of unknown age" : "at an unknown time";
  const [unit, length] = UNITS.find(([, each]) => Math.abs(milliseconds) >= 2 * each) ?? ["seconds", 1000];
  const count = Math.floor(Math.abs(milliseconds) / length);
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit} ${milliseconds < 0 ? "in the future" : past}`;
}

/** Returns the line for rejected evidence. It has no claims, because a reader would take them for findings. */
function rejectedLine(report: Report): string {
  const boots = report.evidence.filter(({ subject }) => subject.startsWith("boot["));
  const labels = shortList(boots.map(({ subject }) => labelOf(subject, report)));
  return `not proven: namespace, deployment and date of ${labels || "the evidence"}`;
}

/** Returns a line with the oldest and newest document, and each deployment and namespace once. */
function togetherLine(boots: readonly BootProofClaims[], now: string): string {
  const each = (text: (boot: BootProofClaims) => string): string => shortList([...new Set(boots.map(text))]);
  const timeOf = ({ hardware }: BootProofClaims): number => Date.parse(hardware.documentTime);
  const byDate = [...boots].sort((one, other) => timeOf(one) - timeOf(other));
  const dates = datesText([byDate[0]!, lastOf(byDate)!], now);
  return `${boots.length} boot proofs, documents of ${dates}; ${each(deploymentText)}; ${each(namespaceText)}`;
}

function datesText(boots: readonly BootProofClaims[], now: string): string {
  const times = [...new Set(boots.map(({ hardware }) => hardware.documentTime))];
  return times.map((time) => `${printable(time)}, ${ageText(time, now, "old")}`).join(", to ");
}

function deploymentText({ deployment }: BootProofClaims): string {
  return deployment === null ? "no deployment of a policy" : `deployment ${quoted(deployment)}`;
}

function namespaceText(boot: BootProofClaims): string {
  const { manifest } = boot.image;
  if (manifest === null) return "no namespace (a bare document)";
  const speaker = speakerOf(boot);
  return `namespace ${quoted(manifest.namespace)}${speaker === null ? "" : ` (not proven: ${speaker} says so)`}`;
}
