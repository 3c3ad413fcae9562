/** The checks of a report as chains of trust, whole: a row for each link, from the anchor to the policy. */
import { type ChainLink, type Check, type CheckId, type CheckSubject, checkRow } from "../checks.js";
import { countWords, hasBadChecks, isBad, isNote, shownCheck } from "../report/facts.js";
import { isGoodVerdict } from "../report/accepted.js";
import { labelOf } from "../report/labels.js";
import { printable } from "../report/printable.js";
import type { BootProofClaims, Report } from "../report/report.js";
import { grouped, speakerOf } from "../report/statements.js";
import { type Look, adviceRows, comparedRows, rowOfCheck } from "./checks.js";
import { type Row, type Section, type Tone, rows, section } from "./doc.js";

/**
 * Links from the top, each of which depends on those above it: its title, what it asks, and the checks of which one
 * must pass before it is proven. Its other checks alone prove nothing.
 */
const LINKS: Readonly<Record<ChainLink, readonly [title: string, asks: string, ...decidedBy: CheckId[]]>> = {
  anchor: ["Anchor", "Do the certificates start at a root that this verifier trusts?", "chain.anchor"],
  certificates: [
    "Certificates",
    "Is each certificate signed by the one above it, valid and in place?",
    "chain.signature",
  ],
  document: ["Document", "Did the hardware's key sign this attestation document?", "cose.signature"],
  measurements: ["Measurements", "Did the hardware measure the image, and is it not in debug mode?", "mode.debug"],
  manifest: ["Manifest", "Does the document commit to this manifest, which lists what runs?", "bind.user-data"],
  approvals: ["Approvals", "Did enough members of the manifest set approve the manifest?", "envelope.approvals"],
  key: ["Ephemeral key", "Does the document attest this key, and did the enclave commit to it?", "bind.key"],
  "app-proofs": ["App proofs", "Did the attested key sign what the application stated?", "app.signature"],
  claims: ["Claims", "Do the statements match the request?", "app.request", "activity.request"],
  policy: ["Policy", "Is the enclave one that the policy pins?", "policy.deployment"],
  other: ["Other checks", "What else does the report check?"],
};

/** Why evidence that was not rejected may have no checks of a link. */
const NONE: Readonly<Partial<Record<ChainLink, string>>> = {
  manifest: "A bare attestation document comes without a manifest.",
  approvals: "A bare attestation document comes without approvals.",
  key: "Only the application defines what the key of a bare document is for.",
  "app-proofs": "There is no app proof.",
  claims: "There is no app proof or activity, so nothing is claimed.",
  policy: "Without a policy, neither the owner of the enclave nor the code in it is checked.",
};
const NO_CHECK = "The report has no check of this.";

/** Links whose content the hardware attests. The image states that of the others. */
const OF_HARDWARE: readonly ChainLink[] = ["anchor", "certificates", "document", "measurements", "other"];

/** The state of a link in words, and a sentence where the words do not explain themselves. */
type Judged = readonly [word: string, tone: Tone, reason?: string | undefined];
/** The claims of the boot proofs that a link rests on; undefined for one of which the report claims nothing. */
type Claimed = readonly (BootProofClaims | undefined)[];

/** Returns the chain of each boot proof. If there are several, each piece beside them has a chain of its own. */
export function chainSections(report: Report): Section[] {
  const pieces = grouped(report.checks, ({ subject, about = subject }) => about);
  const boots = [...pieces.keys()].filter((subject) => subject.startsWith("boot["));
  const chains = [...pieces].map(([subject, checks]): Row => {
    const fold = checks.some(isBad) ? "open" : "closed";
    const below = linkRows(checks, bootsOf(subject, report), report);
    return { id: labelOf(subject, report), text: countWords(checks, report), fold, below };
  });
  const all = boots.length > 1 ? chains : linkRows(report.checks, [0], report, true);
  return section("Chain of trust", [rows(all)]);
}

/** Returns the indices of the boot proofs that a piece of evidence rests on. */
function bootsOf(subject: CheckSubject, { claims }: Report): number[] {
  const [, kind, index] = /^(boot|app)\[(\d+)\]$/.exec(subject) ?? [];
  if (kind === "boot") return [Number(index)];
  if (kind === "app") return [claims?.appProofs[Number(index)]?.bootProof ?? NaN];
  return [...(claims?.bootProofs ?? []).keys()];
}

/** Returns the links, of a whole chain also those without checks. */
function linkRows(checks: readonly Check[], boots: readonly number[], report: Report, isWhole = false): Row[] {
  const byLink = grouped(checks, ({ id }) => checkRow(id)?.link ?? "other");
  const claims = boots.map((boot) => report.claims?.bootProofs[boot]);
  let failed: string | undefined;
  return (Object.keys(LINKS) as ChainLink[]).flatMap((name) => {
    const own = byLink.get(name) ?? [];
    if (own.length === 0 && (!isWhole || name === "other")) return [];
    const [title, asks] = LINKS[name];
    const [label, tone, reason] = judged(name, own, { claims, report, above: failed });
    if (tone === "bad") failed ??= title;
    const [inSight, others] = [true, false].map((wanted) => own.filter((check) => isInSight(check, report) === wanted));
    const rest = `${inSight!.length > 0 ? "other " : ""}check${others!.length === 1 ? "" : "s"}`;
    const folded: Row = {
      text: `${others!.length} ${rest}: ${countWords(others!, report)}`,
      fold: "closed",
      below: others!.map((check) => wholeRow(check, report)),
    };
    const below = [
      ...(reason === undefined ? [] : [{ text: reason }]),
      ...inSight!.map((check) => wholeRow(check, report)),
      ...(others!.length > 0 ? [folded] : []),
    ];
    return [{ label, tone, text: `${title}: ${asks}`, below }];
  });
}

function isInSight(check: Check, report: Report): boolean {
  return isBad(check) || (check.status === "warn" && !isNote(check, report));
}

interface Judging {
  readonly claims: Claimed;
  readonly report: Report;
  /** The title of the first link above that failed. */
  readonly above: string | undefined;
}

/** Returns the state of a link. The first rule that fits decides. */
function judged(name: ChainLink, checks: readonly Check[], { claims, report, above }: Judging): Judged {
  const failed = checks.filter(isBad);
  if (failed.length > 0) return failedWord(failed, checks.length);
  if (checks.length === 0) return ["Not checked", "quiet", (report.claims && NONE[name]) ?? NO_CHECK];
  if (checks.every(({ status }) => status === "skip"))
    return [openWord(name, claims), "quiet", `No check could be run: ${detailsOf(checks)}.`];
  if (name === "other") return ["Not proven", "quiet", "This version does not know what these checks prove."];
  if (!isBelieved(claims, report)) return ["Not proven", "quiet", whyUnbelieved(report, above)];
  return undecided(name, checks, claims) ?? doubtWord(name, claims) ?? warnedWord(checks, report) ?? ["Proven", "good"];
}

function failedWord(failed: readonly Check[], count: number): Judged {
  const word = failed.every(({ stale }) => stale === true) ? "Failed: too old" : "Failed";
  return [word, "bad", failed.length > 1 ? `${failed.length} of its ${count} checks failed.` : undefined];
}

/** What takes the place of "Proven" where none of the checks that decide it passed. */
function undecided(name: ChainLink, checks: readonly Check[], claims: Claimed): Judged | undefined {
  const [, , ...decidedBy] = LINKS[name];
  const deciding = checks.filter(({ id }) => decidedBy.includes(id));
  if (deciding.some(({ status }) => /^(?:pass|warn)$/.test(status))) return undefined;
  const why = deciding.length === 0 ? "the report has no such check" : detailsOf(deciding);
  return [openWord(name, claims), "quiet", `${decidedBy.join(" or ")} would prove this, but was not run: ${why}.`];
}

function whyUnbelieved(report: Report, above: string | undefined): string {
  if (above !== undefined) return `Nothing failed here, but it depends on a link above that failed (${above}).`;
  const isRejected = !isGoodVerdict(report.verdict) || hasBadChecks(report);
  if (isRejected) return "Nothing failed here, but the evidence as a whole was rejected: do not trust any of it.";
  return "The report claims nothing of the boot proof.";
}

function detailsOf(checks: readonly Check[]): string {
  return [...new Set(checks.map(({ detail }) => detail))].join("; ");
}

/** Nothing of rejected evidence is believed, whatever passed. */
function isBelieved(claims: Claimed, report: Report): boolean {
  return isGoodVerdict(report.verdict) && !hasBadChecks(report) && claims.length > 0 && !claims.includes(undefined);
}

const WORTHLESS = "These statements are consistent, but prove nothing.";

/** Returns what takes the place of "Proven" where only an image, or code in debug mode, vouches for the link. */
function doubtWord(name: ChainLink, claims: Claimed): Judged | undefined {
  const isDebug = claims.some((boot) => boot!.image.debug);
  if (name === "measurements" && isDebug)
    return ["Not proven", "quiet", "Debug mode was found and allowed: it is not proven which code runs."];
  if (OF_HARDWARE.includes(name)) return undefined;
  const speakers = claims.map((boot) => speakerOf(boot!));
  if (speakers.includes("its image")) {
    const why = isDebug ? "In debug mode it is not known which code states this." : "No policy pins the image.";
    return ["Image's word", "quiet", `${why} ${WORTHLESS}`];
  }
  // The link of the policy also rests on PCRs, which the hardware attests.
  if (name === "policy" || !speakers.includes("its application")) return undefined;
  return ["Image's word", "quiet", `The enclave committed to no manifest (legacy), and no pin holds it. ${WORTHLESS}`];
}

/** Addresses among the claims may be proven, though nothing was compared with a request. */
function openWord(name: ChainLink, claims: Claimed): string {
  return name === "claims" && claims.some((boot) => boot !== undefined) ? "Not compared" : "Not checked";
}

/** Returns what takes the place of "Proven", which would contradict the warning beside it. */
function warnedWord(checks: readonly Check[], report: Report): Judged | undefined {
  const warned = checks.filter(({ status }) => status === "warn");
  const isOf = (wanted: CheckId): boolean => warned.some(({ id }) => id === wanted);
  const trustedBy = report.verdict === "verified" ? "policy" : "caller";
  if (isOf("chain.anchor")) return [`Trusted by the ${trustedBy}, not AWS's`, "warning"];
  if (isOf("bind.commitment")) return ["Warning: legacy", "warning"];
  return warned.every((check) => isNote(check, report)) ? undefined : ["Proven, with a warning", "warning"];
}

const LINES: Look = { detail: "normal", hex: printable };
const WHOLE: Look = { ...LINES, detail: "verbose" };

/** Returns a check with both values, side by side if it did not pass, and whole. */
function wholeRow(check: Check, report: Report): Row {
  const shown = shownCheck(check, report);
  const values = comparedRows(shown, WHOLE);
  const compared = check.status === "pass" ? [] : comparedRows(shown, LINES);
  const isWhole = compared.length === 0 || compared.every(({ text }) => values.some((row) => row.text === text));
  const whole: Row[] = isWhole ? [] : [{ text: "Both values, whole", fold: "closed", below: values }];
  const title = checkRow(check.id)?.title;
  const holds = title === undefined ? [] : [{ text: `Holds when ${title}.` }];
  const below = [...holds, ...(compared.length === 0 ? values : [...compared, ...whole]), ...adviceRows(shown)];
  const isKnown = check.status === "fail" || !isBad(check);
  const prefix = isKnown ? "" : `unknown status ${printable(String(check.status))}: `;
  return { ...rowOfCheck(shown, WHOLE, { prefix }), below };
}
