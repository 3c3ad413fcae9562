/** The chain of trust of one boot proof in a report: the state, reason and checks of each link. */
import { type Check, type CheckId, type CheckSubject, checkRow } from "../checks.js";
import { isGoodVerdict } from "../report/accepted.js";
import { hasBadChecks, isBad, isNote } from "../report/facts.js";
import type { BootProofClaims, Report } from "../report/report.js";
import { speakerOf } from "../report/statements.js";
import { linkFacts } from "./facts.js";
import {
  ABSENT,
  DECIDED_BY,
  LINKS,
  type LinkId,
  type LinkState,
  NOT_COMPARED,
  SAID_BY_IMAGE,
  STATE_WORDS,
} from "./links.js";

export interface Link {
  readonly id: LinkId;
  readonly title: string;
  readonly state: LinkState;
  /** The name of the state, or more exact words for it. */
  readonly word: string;
  readonly reason: string;
  /** Warnings of the link's checks. A link with warnings may still be proven. */
  readonly warnings: readonly string[];
  readonly checks: readonly Check[];
  /** The claims of the report at this link; empty for rejected evidence. */
  readonly statements: ReturnType<typeof linkFacts>;
}

/** Returns the number of chains: one for each boot proof, and one if the report has no boot proofs. */
function chainCount(report: Report): number {
  const subjects = [...report.evidence, ...report.checks].flatMap(({ subject, ...rest }) => {
    return [subject, "about" in rest ? rest.about : undefined];
  });
  const indices = subjects.map((subject) => indexIn("boot", subject) ?? -1);
  return Math.max(1, report.claims?.bootProofs.length ?? 0, Math.max(-1, ...indices) + 1);
}

/** Checks of each chain, and in `stray` those of no chain. */
interface SortedChecks {
  readonly chains: readonly (readonly Check[])[];
  readonly stray: readonly Check[];
}

/** Sorts in one pass, because a report may have hundreds of chains and thousands of checks. */
function sortedChecks(report: Report): SortedChecks {
  const chains = Array.from({ length: chainCount(report) }, (): Check[] => []);
  const stray: Check[] = [];
  for (const check of report.checks) {
    const own = new Set(chainsOf(check, report, chains.length).filter((boot) => boot < chains.length));
    for (const boot of own) chains[boot]!.push(check);
    if (own.size === 0) stray.push(check);
  }
  return { chains, stray };
}

/** Returns the chain of each boot proof by its index. No link of a rejected report is proven. */
export function chainsOfTrust(report: Report): readonly (readonly Link[])[] {
  const rejected = !isGoodVerdict(report.verdict) || hasBadChecks(report);
  return sortedChecks(report).chains.map((own, boot) => chainOfTrust(own, boot, { report, rejected }));
}

function chainOfTrust(
  own: readonly Check[],
  boot: number,
  { report, rejected }: { readonly report: Report; readonly rejected: boolean },
): readonly Link[] {
  const claims = report.claims?.bootProofs[boot];
  const links: Link[] = [];
  for (const id of Object.keys(LINKS) as LinkId[]) {
    const checks = own.filter((check) => (checkRow(check.id)?.link ?? "other") === id);
    if (id === "other" && checks.length === 0) continue;
    const above = links.find(({ state }) => state === "failed");
    const warned = checks.filter((check) => check.status === "warn" && !isNote(check, report));
    const warnings = warned.map(({ detail }) => detail);
    const isUncompared = id === "claims" && claims !== undefined && checks.length > 0;
    const trustedBy = report.verdict === "verified" ? "policy" : "caller";
    const judged = judge({ id, checks, warnings, rejected, claims, above, trustedBy });
    links.push({
      id,
      title: LINKS[id].title,
      word: isUncompared && judged.state === "open" ? NOT_COMPARED : STATE_WORDS[judged.state],
      warnings,
      ...judged,
      checks,
      statements: rejected ? {} : linkFacts(id, report, boot),
    });
  }
  return links;
}

/** Returns checks of app proofs whose boot proof the report does not name. */
export function checksOfNoChain(report: Report): readonly Check[] {
  return sortedChecks(report).stray;
}

/** Returns the chains of a check. A check of all evidence is in every chain. */
function chainsOf(check: Check, report: Report, count: number): readonly number[] {
  const about = check.about ?? check.subject;
  const boot = indexIn("boot", about);
  if (boot !== null) return [boot];
  if (count === 1) return [0];
  if (about === "policy") return Array.from({ length: count }, (_, index) => index);
  const proofs = report.claims?.appProofs ?? [];
  if (about === "activity") return [...new Set(proofs.map(({ bootProof }) => bootProof))];
  const proof = proofs[indexIn("app", about) ?? -1];
  return proof === undefined ? [] : [proof.bootProof];
}

/** Returns 3 for `boot[3]`. */
function indexIn(kind: "boot" | "app", subject: CheckSubject | undefined): number | null {
  const found = /^(boot|app)\[(\d{1,6})\]$/.exec(subject ?? "");
  return found?.[1] === kind ? Number(found[2]) : null;
}

interface Findings {
  readonly id: LinkId;
  readonly checks: readonly Check[];
  readonly warnings: readonly string[];
  readonly rejected: boolean;
  readonly claims: BootProofClaims | undefined;
  /** The first failed link above this one. */
  readonly above: Link | undefined;
  /** Who named the trust anchors. */
  readonly trustedBy: "policy" | "caller";
}
type Judged = Pick<Link, "state" | "reason"> & Partial<Pick<Link, "word" | "warnings">>;

/** The first rule that returns a state decides. */
const RULES: readonly ((findings: Findings) => Judged | null)[] = [
  ifFailed,
  ifNotChecked,
  ifRejected,
  ifUndecided,
  ifDebug,
  ifWord,
  ifWarned,
];

function judge(findings: Findings): Judged {
  for (const rule of RULES) {
    const judged = rule(findings);
    if (judged !== null) return judged;
  }
  return { state: "proven", reason: heldText(findings) };
}

function heldText({ checks, warnings }: Findings): string {
  const ids = checks.filter(({ status }) => status === "skip").map(({ id }) => id);
  const held = checks.length - ids.length;
  const warned = warnings.length > 0 ? ", with a warning" : "";
  const open = ids.length === 0 ? "" : ` Not checked: ${ids.join(", ")}.`;
  return `${held === 1 ? "One check" : `${held} checks`} held${warned}.${open}`;
}

function ifFailed({ checks }: Findings): Judged | null {
  const failed = checks.filter(isBad);
  const [first] = failed;
  if (first === undefined) return null;
  const count = failed.length === 1 ? "" : `${failed.length} of its ${checks.length} checks failed; the first: `;
  return { state: "failed", reason: `${count}${first.detail} (${first.id})` };
}

function ifNotChecked({ id, checks }: Findings): Judged | null {
  const [first] = checks;
  if (first === undefined) return { state: "open", reason: ABSENT[id] ?? "This report has no check about this link." };
  if (checks.some(({ status }) => status !== "skip")) return null;
  return { state: "open", reason: `No check could be run: ${listOnce(checks.map(({ detail }) => detail))}.` };
}

function ifRejected({ rejected, above }: Findings): Judged | null {
  if (!rejected) return null;
  const why =
    above === undefined
      ? "the evidence as a whole was rejected: do not trust any of it"
      : `it depends on a link above that failed (${above.title})`;
  return { state: "unproven", reason: `Nothing failed here, but ${why}.` };
}

function ifUndecided({ id, checks, claims }: Findings): Judged | null {
  if (claims === undefined) return { state: "unproven", reason: "The report has no claims about this boot proof." };
  const deciding = checks.filter((check) => DECIDED_BY[id].includes(check.id));
  if (deciding.some(({ status }) => /^(?:pass|warn)$/.test(status))) return null;
  if (id === "other") return { state: "unproven", reason: "This version does not know what these checks prove." };
  const why = deciding.length === 0 ? "the report has no such check" : listOnce(deciding.map(({ detail }) => detail));
  return { state: "open", reason: `${DECIDED_BY[id].join(" or ")} would prove this, but was not run: ${why}.` };
}

function listOnce(texts: readonly string[]): string {
  return [...new Set(texts)].join("; ");
}

function ifDebug({ id, claims }: Findings): Judged | null {
  if (id !== "measurements" || claims?.image.debug !== true) return null;
  return { state: "unproven", reason: "Debug mode was found and allowed: it is not proven which code runs." };
}

const WORTHLESS = "These statements are consistent, but prove nothing.";
const LEGACY_WORD =
  "The enclave committed to no manifest (legacy) and the policy pins none: only its application states this.";

function ifWord({ id, claims }: Findings): Judged | null {
  const speaker = claims === undefined ? null : speakerOf(claims);
  if (!SAID_BY_IMAGE.has(id) || claims === undefined || speaker === null) return null;
  if (speaker === "its application") {
    // The link of the policy rests on more than the application: it also pins PCRs, which the hardware attests.
    return id === "policy" ? null : { state: "word", reason: `${LEGACY_WORD} ${WORTHLESS}` };
  }
  const why = claims.image.pinned
    ? "In debug mode it is not known which code states this."
    : "No policy pins the image, so these are statements of an unknown image.";
  return { state: "word", reason: `${why} ${WORTHLESS}` };
}

/** Checks whose warning takes the place of "Proven". */
const WARNED: Readonly<Partial<Record<LinkId, CheckId>>> = { anchor: "chain.anchor", key: "bind.commitment" };

function ifWarned(findings: Findings): Judged | null {
  const { id, checks, trustedBy } = findings;
  const warned = checks.find((check) => check.id === WARNED[id] && check.status === "warn");
  if (warned === undefined) return null;
  const warnings = [warned.detail];
  const word = id === "anchor" ? `Trusted by the ${trustedBy}, not AWS's` : "Warning: legacy";
  return { state: "warned", word, warnings, reason: heldText({ ...findings, warnings }) };
}
