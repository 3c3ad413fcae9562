/** The texts of `watch`: a line for each entry on stdout, and messages on stderr. */
import { fromUtf8 } from "../bytes.js";
import { printable, quoted } from "../report/printable.js";
import { isResult } from "../run/line.js";
import type { Announced } from "../run/log.js";
import type { PollCount, ReloadedPart, RunEvent, SettingFault, Watched } from "../run/line.js";
import type { RunLine, WatchMessage, WatchResult } from "../run/index.js";
import type { Silent } from "../run/watch.js";

export function entryJson({ bytes }: Pick<RunLine, "bytes">): string {
  return `${fromUtf8(bytes)!}\n`;
}

const MAX_DETAIL = 200;

/** Returns the text of a line, or of a refusal that no file has. Text that comes from evidence is made printable. */
export function entryText(line: RunLine | Pick<RunLine, "bytes">): string {
  if (!("entry" in line)) {
    const refusal = JSON.parse(fromUtf8(line.bytes)!) as WatchResult & { readonly at: string };
    return `${refusal.at} NOT RECORDED ${verdictText(refusal)}\n`;
  }
  const { entry } = line;
  return `${entry.at} #${entry.n} ${isResult(entry) ? verdictText(entry as WatchResult) : textBy(EVENTS, entry)}\n`;
}

type Texts<Member extends { readonly event: string }> = {
  readonly [E in Member["event"]]: (member: Extract<Member, { readonly event: E }>) => string;
};

function textBy<Member extends { readonly event: string }>(texts: Texts<Member>, member: Member): string {
  const text = texts[member.event as Member["event"]] as (member: Member) => string;
  return text(member);
}

const EVENTS: Texts<RunEvent> = {
  "outage-began": ({ watched, kind, since, message }) =>
    `OUTAGE ${namesOf(watched)}: ${LOUD[kind]} since ${since}: ${printable(message.slice(0, MAX_DETAIL))}`,
  "outage-ended": ({ watched, since, failedPolls }) =>
    `OUTAGE ENDED ${namesOf(watched)}: ${pollsText(failedPolls)} since ${since}`,
  "setting-changed": ({ changed, policy, policyDigest, policyVersion }) => {
    const version = policyVersion === undefined ? "" : ` version ${policyVersion}`;
    const name = `${policy === null ? "" : ` ${quoted(policy)}`}${version}`;
    if (changed.length === 0) return `SETTING READ: the setting is the same as before the refused reload`;
    const digest = policyDigest === null ? "without a digest" : `sha256:${policyDigest}`;
    return `SETTING CHANGED: ${partsText(changed)}; the policy is now${name} ${digest}`;
  },
  "setting-refused": ({ since, faults, contradiction }) =>
    `${contradiction ? "POLICY FEED REFUSED" : "SETTING REFUSED"} since ${since}: ${faultsText(faults)}`,
  started: ({ watched }) => `STARTED ${namesOf(watched ?? [])}`,
  accepted: ({ count, first }) => `ACCEPTED ${count} entries of ${printable(first.file)}`,
  alive: ({ since, polls }) => `ALIVE since ${since}: ${polls.map(countText).join(", ")}`,
  stopped: ({ since, polls }) => `STOPPED since ${since}: ${(polls ?? []).map(countText).join(", ")}`,
  announced: ({ of }) => `ANNOUNCED line ${of}`,
};

function countText({ good, failed, ...watched }: PollCount): string {
  return `${nameOf(watched as Watched)} ${good} good${failed === 0 ? "" : ` and ${failed} failed`}`;
}

const PARTS: Readonly<Record<ReloadedPart, string>> = {
  policy: "the policy",
  trustAnchors: "its trust anchors",
  trustedRoots: "its trusted roots",
  provenance: "the bundles of provenance",
};

function partsText(changed: readonly ReloadedPart[]): string {
  return changed.map((part) => PARTS[part]).join(", ");
}

function faultsText(faults: readonly SettingFault[]): string {
  return faults
    .map(({ file, reason }) => printable(file === null ? reason : `${file}: ${reason}`).replace(/\.$/, ""))
    .join("; ");
}

/** Returns the length of an outage. The number of polls is 0 if another process saw them fail. */
function pollsText(polls: number): string {
  if (polls === 0) return "an outage";
  return `${polls === 1 ? "1 poll" : `${polls} polls`} without a response`;
}

function verdictText(result: Omit<WatchResult, "bootProofs">): string {
  const { verdict, details, refusedFor, deployments = [] } = result;
  const reasons = details.map(({ id, detail }) => `${id} (${printable(detail.slice(0, MAX_DETAIL))})`);
  const stale = result.stale ? " only because of its age" : "";
  const as = deployments.length === 0 ? "" : ` as ${deployments.map((name) => quoted(name)).join(", ")}`;
  const why = verdict === "rejected" ? `${stale}: ${reasons.join("; ")}` : as;
  const warnings = (refusedFor ?? []).map((reason) => ` WARNING ${printable(reason)}`).join("");
  const word = refusedFor === undefined ? verdict.toUpperCase() : `REFUSED, though ${verdict},`;
  return `${word} ${nameOf(result as unknown as Watched)}${why}${warnings}`;
}

const SHOWN_DIGITS = 16;

function nameOf(watched: Watched): string {
  return "app" in watched ? printable(watched.app) : `key ${watched.ephemeralKey.slice(0, SHOWN_DIGITS)}…`;
}

function namesOf(watched: readonly Watched[]): string {
  return watched.map(nameOf).join(", ");
}

const LOUD = {
  credentials: "NOT WATCHED",
  missing: "NOT WATCHED",
  answer: "not known",
  unreachable: "not known",
} as const;

export function messageText(message: WatchMessage, once: boolean): string {
  return `${textBy(messagesOf(message.at.toISOString(), once), message)}\n`;
}

function messagesOf(at: string, once: boolean): Texts<WatchMessage> {
  return {
    outage: ({ watched, kind, again, since, message }) => {
      const still = again ? ` still, since ${since.toISOString()}` : "";
      const next = once ? "" : ". It will be polled again";
      return `warning: ${at} ${namesOf(watched)}: ${LOUD[kind]}${still}: ${sentence(message)}${next}`;
    },
    recovered: ({ watched, since, failedPolls }) => {
      const polls = pollsText(failedPolls);
      return `note: ${at} ${namesOf(watched)}: reachable again, after ${polls} since ${since.toISOString()}`;
    },
    "setting-read": ({ changed }) => {
      const said = changed.length === 0 ? "nothing has changed" : `the next poll uses ${partsText(changed)}`;
      return `note: ${at} the setting was read again: ${said}`;
    },
    "setting-refused": ({ faults, since, again, contradiction }) => {
      const still = again ? ` still, since ${since.toISOString()}` : "";
      const what = contradiction ? "POLICY FEED REFUSED" : "the reload was refused";
      const next = "The previous setting stays in use, and it is read again until it is accepted: correct it";
      return `warning: ${at} ${what}${still}: ${faultsText(faults)}. ${next}`;
    },
    "not-announced": ({ what, n, attempts, tries, message }) => {
      const next = tries ? "will retry" : `not after ${attempts} attempts; will retry in 5 minutes`;
      return `warning: ${at} the ${what} of ${lineName(n)} was not announced: ${printable(message)}; ${next}`;
    },
    announced: ({ what, n, attempts }) =>
      `note: ${at} the ${what} of ${lineName(n)} was announced at attempt ${attempts}`,
    unrecorded: ({ result }) => `warning: ${at} NOT RECORDED: ${verdictText(result)}`,
  };
}

function sentence(message: string): string {
  return printable(message.replace(/\.$/, ""));
}

function lineName(n: number | null): string {
  return n === null ? "a result that is not recorded" : `line ${n}`;
}

/** Returns the message that the watch ended because a name was not seen for too long. */
export function silentText({ watched, since, message }: Silent, at: Date): string {
  const from = `not seen since ${since.toISOString()}, longer than --max-silence`;
  const said = message === null ? "the service does not respond" : printable(message).replace(/\.$/, "");
  return `warning: ${at.toISOString()} ${nameOf(watched)}: NOT WATCHED: ${from}: ${said}. The watch ends\n`;
}

export function unseenText(unseen: readonly Watched[], at: Date): string {
  const why = "the watch ended before it received a boot proof";
  return `warning: ${at.toISOString()} ${namesOf(unseen)}: NOT WATCHED: ${why}\n`;
}

export function waitingText(what: Announced, log: string | undefined): string {
  const after = log === undefined ? "and without --log it is lost" : "and will be when the watch resumes with this log";
  return `warning: ${what === "refusal" ? "a refusal" : "an outage"} was not announced, ${after}\n`;
}

export const atMostOnceText =
  "note: without --log, refusals and outages are announced at most once, and what waits when the watch ends is lost\n";

/** Returns the message after a SIGHUP that could not reload anything. */
export function notReadText(at: Date): string {
  const why = "nothing was reloaded, since stdin cannot be read again: restart the watch to use new files";
  return `warning: ${at.toISOString()} ${why}\n`;
}
