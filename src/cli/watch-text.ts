/** What `watch` writes: a line for each entry on stdout, and messages on stderr. */
import { fromUtf8 } from "../bytes.js";
import { printable, quoted } from "../report/printable.js";
import type { EventEntry, FindingEntry, LogEntry, LogLine, WatchMessage, Watched } from "../watch/index.js";

export function entryJson({ bytes }: LogLine): string {
  return `${fromUtf8(bytes)!}\n`;
}

const MAX_DETAIL = 200;

/** Text that evidence chose is made printable. */
export function entryText(entry: LogEntry): string {
  return "event" in entry ? eventText(entry) : findingText(entry);
}

function eventText(entry: EventEntry): string {
  return `${entry.at} #${entry.n} ${eventWords(entry)}\n`;
}

function eventWords(entry: EventEntry): string {
  switch (entry.event) {
    case "outage-began": {
      const { watched, kind, since, message } = entry;
      return `OUTAGE ${namesOf(watched)}: ${LOUD[kind]} since ${since}: ${printable(message.slice(0, MAX_DETAIL))}`;
    }
    case "outage-ended": {
      const { watched, since, failedPolls } = entry;
      return `OUTAGE ENDED ${namesOf(watched)}: ${pollsText(failedPolls)} without a response since ${since}`;
    }
    case "policy-changed": {
      const { policy, policyDigest, before } = entry;
      const name = policy === null ? "" : ` ${quoted(policy)}`;
      return `POLICY CHANGED:${name} ${digestText(policyDigest)}, before ${digestText(before)}`;
    }
    case "continued":
      return `CONTINUED in ${printable(entry.file)}`;
  }
}

function digestText(digest: string | null): string {
  return digest === null ? "without a digest" : `sha256:${digest}`;
}

function pollsText(polls: number): string {
  return polls === 1 ? "1 poll" : `${polls} polls`;
}

function findingText(entry: FindingEntry): string {
  const { n, at, verdict, failed, refusedFor, deployment } = entry;
  const reasons = failed.map(({ id, detail }) => `${id} (${printable(detail.slice(0, MAX_DETAIL))})`);
  const stale = entry.stale ? ", for its age alone" : "";
  const why = verdict === "rejected" ? `${stale}: ${reasons.join("; ")}` : deploymentText(deployment);
  const buts = (refusedFor ?? []).map((reason) => ` BUT ${printable(reason)}`).join("");
  const word = refusedFor === undefined ? verdict.toUpperCase() : `REFUSED, ${verdict.toUpperCase()}`;
  return `${at} #${n} ${word} ${nameOfEntry(entry)}${why}${buts}\n`;
}

function deploymentText(deployment: string | null): string {
  return deployment === null ? "" : ` as ${quoted(deployment)}`;
}

function nameOfEntry({ app, ephemeralKey }: FindingEntry): string {
  return nameOf(app === null ? { ephemeralKey: ephemeralKey! } : { app });
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
  const at = message.at.toISOString();
  switch (message.event) {
    case "outage": {
      const { watched, kind, again, since } = message;
      const still = again ? ` still, since ${since.toISOString()}` : "";
      const next = once ? "" : ". It will be polled again";
      const said = message.message.replace(/\.$/, "");
      return `warning: ${at} ${namesOf(watched)}: ${LOUD[kind]}${still}: ${printable(said)}${next}\n`;
    }
    case "recovered": {
      const { watched, since, failedPolls } = message;
      const polls = pollsText(failedPolls);
      const from = since.toISOString();
      return `note: ${at} ${namesOf(watched)}: reachable again, after ${polls} without a response since ${from}\n`;
    }
    case "not-handed-on": {
      const { n, attempts, tries } = message;
      const what = tries ? "will retry" : `given up after ${attempts} attempts`;
      return `warning: ${at} the refusal of entry ${n} was not delivered: ${printable(message.message)}; ${what}\n`;
    }
    case "handed-on":
      return `note: ${at} the refusal of entry ${message.n} was delivered at attempt ${message.attempts}\n`;
  }
}
