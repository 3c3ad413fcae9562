/** The first sentence of a report, and what every form of it says beside that. */
import { known, labelOf } from "../report/labels.js";
import { type Notice, headlineFacts, numbered, warningsOf, whyNotGood } from "../report/facts.js";
import { printable, printableStart, quoted } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import type { Report, Verdict } from "../report/report.js";
import { isByMakersPolicy } from "../report/unproven.js";
import type { Look } from "./checks.js";
import type { Tone } from "./doc.js";

const MAX_SENTENCE = 160;

const WANTED =
  "report: expected a whole report (bootproof-report/1), such as `report` in the awaited result of verifyEvidence";

/** Returns what `write` makes of the report. Throws TypeError for a value that is not a report. */
export function ofReport<T>(report: Report, write: () => T): T {
  return renderWhole(report, WANTED, write);
}

const SENTENCES: Readonly<Record<Verdict, (report: Report, policy: string, withCause: boolean) => string>> = {
  verified: (_, policy) => `VERIFIED: every check passed, and the deployment is one that ${policy} pins.`,
  authentic: (report) => {
    const none = isByMakersPolicy(report) ? "the only policy came with the evidence" : "no policy was given";
    return `AUTHENTIC: every check passed, but ${none}: the enclave is genuine, and may be anybody's.`;
  },
  rejected: (report, _, withCause) => {
    const rejection = report.stale === true ? staleSentence(report) : "REJECTED: nothing is proven.";
    return `${rejection} ${failureSentence(report, withCause)}`;
  },
};

/** Tones of the first sentence by its first word. Any other word has the tone of a rejection. */
const TONES: Readonly<Record<string, Tone>> = { VERIFIED: "good", AUTHENTIC: "warning" };

function staleSentence({ maxAge }: Report): string {
  const allowed = maxAge?.from === "caller" ? "you allow" : "the policy allows";
  return `REJECTED, STALE: the evidence is genuine, but older than ${allowed}. Nothing is proven.`;
}

/**
 * Returns the first sentence of every format, with the number of WARNING lines. It begins with a good verdict only if
 * that verdict is accepted. Without the cause it only counts the failed checks: the text has the cause elsewhere.
 */
export function verdictSentence(report: Report, notices: readonly Notice[] = [], withCause = true): string {
  const count = warningsOf(report, notices).length;
  return sentenceOf(report, withCause).replace(":", count === 0 ? ":" : ` with ${numbered(count, "warning")}:`);
}

export function verdictTone(sentence: string): Tone {
  const [word] = /^[A-Z]*/.exec(sentence)!;
  return sentence.startsWith(`${word},`) ? "bad" : (known(TONES, word) ?? "bad");
}

function sentenceOf(report: Report, withCause: boolean): string {
  const policy = report.policy === null ? "the policy" : `the policy ${quoted(report.policy)}`;
  const sentence = known(SENTENCES, report.verdict)?.(report, policy, withCause);
  if (sentence === undefined)
    return `UNKNOWN: ${quoted(String(report.verdict))} is not a verdict of this tool. Nothing is proven.`;
  const why = whyNotGood(report);
  return why === null ? sentence : `REFUSED: ${why}.`;
}

function failureSentence(report: Report, withCause: boolean): string {
  const failed = report.checks.filter((check) => check.status === "fail");
  const [first] = failed;
  if (first === undefined) return "";
  if (!withCause) return failed.length === 1 ? "One check failed." : `${failed.length} checks failed.`;
  const count = failed.length === 1 ? "One check failed:" : `${failed.length} checks failed, the first is`;
  const detail = printableStart(first.detail, MAX_SENTENCE);
  return `${count} ${printable(first.id)} (${labelOf(first.about ?? first.subject, report)}): ${detail}`;
}

/** Returns the age, then the line of each boot proof. More than `most` boot proofs share a line. */
export function factLines(report: Report, most?: number): string[] {
  const { age, lines } = headlineFacts(report, most);
  return age === null ? [...lines] : [age, ...lines];
}

/** Returns lines with the policy, the time and the tool. The policy's file takes the place of its name. */
export function originLines(report: Report, { hex, policyFile = null }: Pick<Look, "hex" | "policyFile">): string[] {
  const { policy, policyDigest, verifiedAt, tool } = report;
  const digest = policyDigest === null ? "" : ` (SHA-256 ${hex(policyDigest)})`;
  const name = policy === null ? "without a name" : quoted(policy);
  const words = policyFile === null ? `${name}${digest}` : `${printable(policyFile)}${digest}, ${name}`;
  const by = policy === null && policyDigest === null ? [] : [`policy ${words}`];
  const made = `${printableStart(tool.name, 40)} ${printableStart(tool.version, 40)}`;
  const signed = signedText(report, hex);
  return [...by, ...(signed === null ? [] : [signed]), `verified at ${printable(verifiedAt)} by ${made}`];
}

/** Returns which version of a signed policy judged, and who signed it. Null for any other policy. */
export function signedText(
  { signedPolicy }: Pick<Report, "signedPolicy">,
  hex: (text: string) => string,
): string | null {
  if (signedPolicy === undefined) return null;
  const { name, version, expiresAt, signedBy } = signedPolicy;
  const by = signedBy.map(hex).join(", ");
  return `version ${version} of ${quoted(name)}, valid until ${printable(expiresAt)}, signed by ${by}`;
}
