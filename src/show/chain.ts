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

/** Links whose content the hardware attests. The image states that of the others. */
const OF_HARDWARE: readonly ChainLink[] = ["anchor", "certificates", "document", "measurements", "other"];

type Judged = readonly [word: string, tone: Tone];
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
  const all = boots.length > 1 ? chains : linkRows(report.checks, [0], report);
  return section("Chain of trust", [rows(all)]);
}

/** Returns the indices of the boot proofs that a piece of evidence rests on. */
function bootsOf(subject: CheckSubject, { claims }: Report): number[] {
  const [, kind, index] = /^(boot|app)\[(\d+)\]$/.exec(subject) ?? [];
  if (kind === "boot") return [Number(index)];
  if (kind === "app") return [claims?.appProofs[Number(index)]?.bootProof ?? NaN];
  return [...(claims?.bootProofs ?? []).keys()];
}

function linkRows(checks: readonly Check[], boots: readonly number[], report: Report): Row[] {
  const byLink = grouped(checks, ({ id }) => checkRow(id)?.link ?? "other");
  return (Object.keys(LINKS) as ChainLink[]).flatMap((name) => {
    const own = byLink.get(name) ?? [];
    if (own.length === 0) return [];
    const [title, asks] = LINKS[name];
    const claims = boots.map((boot) => report.claims?.bootProofs[boot]);
    const [label, tone] = judged(name, own, claims, report);
    const [inSight, others] = [true, false].map((wanted) => own.filter((check) => isInSight(check, report) === wanted));
    const rest = `${inSight!.length > 0 ? "other " : ""}check${others!.length === 1 ? "" : "s"}`;
    const folded: Row = {
      text: `${others!.length} ${rest}: ${countWords(others!, report)}`,
      fold: "closed",
      below: others!.map((check) => wholeRow(check, report)),
    };
    const below = [...inSight!.map((check) => wholeRow(check, report)), ...(others!.length > 0 ? [folded] : [])];
    return [{ label, tone, text: `${title}: ${asks}`, below }];
  });
}

function isInSight(check: Check, report: Report): boolean {
  return isBad(check) || (check.status === "warn" && !isNote(check, report));
}

/** Returns the state of a link in words. The first rule that fits decides. */
function judged(name: ChainLink, checks: readonly Check[], claims: Claimed, report: Report): Judged {
  const failed = checks.filter(isBad);
  if (failed.length > 0) return [failed.every(({ stale }) => stale === true) ? "Failed: too old" : "Failed", "bad"];
  if (checks.every(({ status }) => status === "skip")) return [openWord(name, claims), "quiet"];
  if (name === "other" || !isBelieved(claims, report)) return ["Not proven", "quiet"];
  const [, , ...decidedBy] = LINKS[name];
  const isDecided = checks.some(({ id, status }) => decidedBy.includes(id) && /^(?:pass|warn)$/.test(status));
  if (!isDecided) return [openWord(name, claims), "quiet"];
  return doubtWord(name, claims) ?? warnedWord(checks, report) ?? ["Proven", "good"];
}

/** Nothing of rejected evidence is believed, whatever passed. */
function isBelieved(claims: Claimed, report: Report): boolean {
  return isGoodVerdict(report.verdict) && !hasBadChecks(report) && claims.length > 0 && !claims.includes(undefined);
}

/** Returns what takes the place of "Proven" where only an image, or code in debug mode, vouches for the link. */
function doubtWord(name: ChainLink, claims: Claimed): Judged | undefined {
  if (name === "measurements" && claims.some((boot) => boot!.image.debug)) return ["Not proven", "quiet"];
  if (OF_HARDWARE.includes(name)) return undefined;
  const speakers = claims.map((boot) => speakerOf(boot!));
  // The link of the policy also rests on PCRs, which the hardware attests.
  const isDoubted = speakers.includes("its image") || (name !== "policy" && speakers.includes("its application"));
  return isDoubted ? ["Image's word", "quiet"] : undefined;
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
  const below = [...(compared.length === 0 ? values : [...compared, ...whole]), ...adviceRows(shown)];
  const isKnown = check.status === "fail" || !isBad(check);
  const prefix = isKnown ? "" : `unknown status ${printable(String(check.status))}: `;
  return { ...rowOfCheck(shown, WHOLE, { prefix }), below };
}
