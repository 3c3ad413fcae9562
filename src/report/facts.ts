/** Facts that every rendering of a report shows: bad checks, counts, warnings, and the head. */
import type { Check } from "../checks.js";
import { isAccepted, isGoodVerdict } from "./accepted.js";
import { type ShownCheck, labelOf } from "./check-lines.js";
import { printable, quoted } from "./printable.js";
import type { BootProofClaims, Claims, Report } from "./report.js";
import { capitalized, carriesNonce, shortList, speakerOf } from "./statements.js";
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
  const told = notices.filter(({ kind }) => kind === "warning").map(({ text }) => text);
  return [...new Set([...told, ...caveats(report), ...(report.refusedFor ?? [])])];
}

/** Facts of one boot proof in the head. */
interface EnclaveFacts {
  readonly label: string;
  /** Namespace, or null for a bare document, which has no manifest. */
  readonly namespace: string | null;
  /** Source of an unproven namespace, or null if it is proven or absent. */
  readonly namespaceSaidBy: "its image" | "its application" | null;
  /** Matching deployment, or null without a policy. */
  readonly deployment: string | null;
  /** Time of the document in RFC 3339. */
  readonly documentDate: string;
  /** Age at the time of verification, such as `3 days old`. */
  readonly age: string;
}

interface HeadlineFacts {
  /** Sentence on the age of the oldest document, and what it means. Null for rejected evidence. */
  readonly age: string | null;
  /** Facts of each boot proof. There are none for rejected evidence, because nothing about it is proven. */
  readonly enclaves: readonly EnclaveFacts[];
  /**
   * The facts as text. Each boot proof has a line; more than `most` share one line. For rejected evidence, the text
   * only names the boot proofs.
   */
  readonly lines: readonly string[];
}

/** Returns the facts of the head. More than `most` boot proofs share a line. */
export function headlineFacts(report: Report, most = 3): HeadlineFacts {
  if (report.claims === null) return { age: null, enclaves: [], lines: [rejectedLine(report)] };
  const enclaves = report.claims.bootProofs.map((boot, index) => enclaveFacts(boot, index, report));
  return { age: oldestAge(report, report.claims), enclaves, lines: enclaveLines(enclaves, most) };
}

/**
 * Returns how long an enclave has run, and what shows that it still runs, such as `this enclave started 12 days ago;
 * that it still runs is shown by app proofs`. Times are in RFC 3339. `newestAppProof` is the time of the newest app
 * proof of this enclave, or null if there is none with a time.
 */
export function ageSentence(
  documentTime: string,
  verifiedAt: string,
  newestAppProof: string | null = null,
  enclave = "this enclave",
): string {
  const started = `${enclave} started ${ageText(documentTime, verifiedAt, "ago")}`;
  if (newestAppProof === null) return `${started}; that it still runs is shown by app proofs`;
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
  const times = appProofs.flatMap(({ bootProof, time }) => (bootProof === oldest && time !== null ? [time] : []));
  const newest = times.sort((one, other) => Date.parse(other) - Date.parse(one))[0] ?? null;
  const speaker = newest === null ? null : speakerOf(boot);
  const said = ageSentence(timeOf(oldest), report.verifiedAt, newest, which("enclave"));
  return capitalized(`${said}${speaker === null ? "" : `, as ${speaker} says`}.`);
}

function enclaveFacts(boot: BootProofClaims, index: number, report: Report): EnclaveFacts {
  const { hardware, image, deployment } = boot;
  return {
    label: labelOf(`boot[${index}]`, report),
    namespace: image.manifest && image.manifest.namespace,
    namespaceSaidBy: image.manifest && speakerOf(boot),
    deployment,
    documentDate: printable(hardware.documentTime),
    age: ageText(hardware.documentTime, report.verifiedAt, "old"),
  };
}

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

/** Returns the lines. The namespace is last, because the evidence chose it and the end of a line is truncated first. */
function enclaveLines(enclaves: readonly EnclaveFacts[], most: number): string[] {
  if (enclaves.length > Math.max(1, most)) return [togetherLine(enclaves)];
  return enclaves.map((enclave) => {
    const subject = enclaves.length === 1 ? "" : `${enclave.label}: `;
    return `${subject}document of ${datesText([enclave])}; ${deploymentText(enclave)}; ${namespaceText(enclave)}`;
  });
}

/** Returns a line with the oldest and newest document, and each deployment and namespace once. */
function togetherLine(enclaves: readonly EnclaveFacts[]): string {
  const each = (text: (enclave: EnclaveFacts) => string): string => shortList([...new Set(enclaves.map(text))]);
  const timeOf = ({ documentDate }: EnclaveFacts): number => Date.parse(documentDate);
  const byDate = [...enclaves].sort((one, other) => timeOf(one) - timeOf(other));
  const dates = datesText([byDate[0]!, byDate.at(-1)!]);
  return `${enclaves.length} boot proofs, documents of ${dates}; ${each(deploymentText)}; ${each(namespaceText)}`;
}

function datesText(enclaves: readonly EnclaveFacts[]): string {
  return [...new Set(enclaves.map(({ documentDate, age }) => `${documentDate}, ${age}`))].join(", to ");
}

function deploymentText({ deployment }: EnclaveFacts): string {
  return deployment === null ? "no deployment of a policy" : `deployment ${quoted(deployment)}`;
}

function namespaceText({ namespace, namespaceSaidBy }: EnclaveFacts): string {
  if (namespace === null) return "no namespace (a bare document)";
  return `namespace ${quoted(namespace)}${namespaceSaidBy === null ? "" : ` (not proven: ${namespaceSaidBy} says so)`}`;
}
