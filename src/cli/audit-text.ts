/** What `audit` writes on stderr: progress and summary. */
import type { AuditSummary } from "../run/index.js";
import type { AuditEnd } from "../run/node.js";
import type { AuditProgress } from "../run/node-audit.js";
import { printable, quoted } from "../report/printable.js";
import type { Io } from "./io.js";

const LOG_EVERY_MS = 30_000;

/** Progress of an audit: at a terminal one line that changes, otherwise a new line every {@link LOG_EVERY_MS}. */
export class AuditProgressLine {
  readonly #io: Io;
  #total: number | null = null;
  #startedAt = 0;
  #loggedAt = 0;
  /** The first progress of this process. */
  #first: AuditProgress | null = null;

  constructor(io: Io) {
    this.#io = io;
  }

  /** `total` is the size of all inputs in bytes, or null if it is unknown. */
  start(total: number | null): void {
    this.#total = total;
    this.#startedAt = performance.now();
    this.#loggedAt = this.#startedAt;
    this.#io.progress("verifying");
  }

  report(at: AuditProgress): void {
    const now = performance.now();
    this.#first ??= at;
    const text = progressText(at, this.#first, { seconds: (now - this.#startedAt) / 1000, total: this.#total });
    this.#io.progress(text);
    if (this.#io.stderr.isTTY === true || now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = now;
    const { entries, refused, bytes } = at;
    const fields = { entries, accepted: entries - refused, bytes };
    this.#io.report(`note: ${text}\n`, { event: "progress", fields });
  }
}

interface Pace {
  readonly seconds: number;
  readonly total: number | null;
}

/** Returns a line of progress. The rate counts only what follows `first`, since threads still start before it. */
export function progressText(at: AuditProgress, first: AuditProgress, { seconds, total }: Pace): string {
  const entries = at.entries - first.entries;
  const bytes = at.bytes - first.bytes;
  const done = `${count(at.entries)} entries verified`;
  const refused = at.refused > 0 ? `, ${count(at.refused)} not accepted` : "";
  if (entries <= 0 || seconds <= 0) return done + refused;
  const rate = `, ${count(Math.round(entries / seconds))} a second`;
  if (total === null || total <= 0 || bytes <= 0) return done + refused + rate;
  const left = Math.max(0, ((total - at.bytes) * seconds) / bytes);
  return `${done}${refused}, ${Math.min(100, Math.floor((100 * at.bytes) / total))} %${rate}, ${timeText(left)} left`;
}

function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.ceil((seconds % 3600) / 60)} min`;
}

/** Returns the number with commas between thousands, in any locale. */
function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function interruptedText(entries: number, hasFile: boolean): string {
  const goesOn = hasFile ? "with --resume, the same command goes on from there" : "without --out it begins anew";
  return `interrupted after ${count(entries)} entries; ${goesOn}\n`;
}

/** Returns the summary of what was reported, and of the whole file if that is more. */
export function summaryText(ended: AuditEnd): string {
  const { end, reported, total, included, emptyLines, slowest, unjudged } = ended;
  const isAll = reported.entries === total.entries;
  const lines = [
    headline(reported, isAll ? ENDS[end] : ` added${ENDS[end]}`),
    ...emptyLineLines(emptyLines),
    ...(included > 0 ? [`${count(included)} of them in an earlier run that ended before it reported them`] : []),
    ...countLines("Failed", reported.failures),
    ...expectedLines(ended),
    ...countLines("Deployments", reported.deployments, quoted),
  ];
  if (unjudged.length > 0) lines.push(`NOT JUDGED: ${unjudged.map(({ file, line }) => `${file}:${line}`).join(", ")}`);
  if (reported.oldest !== null)
    lines.push(`Documents: the oldest of ${reported.oldest}, the newest of ${reported.newest!}`);
  if (slowest !== null)
    lines.push(`Slowest: line ${slowest.line} of ${slowest.file}, ${slowest.milliseconds.toFixed(1)} ms`);
  if (!isAll) lines.push(`In total ${headline(total, "")}`);
  return `${lines.map(printable).join("\n")}\n`;
}

const ENDS = { done: "", failed: ", then stopped at the first entry not accepted", aborted: " so far" } as const;

function headline({ entries, accepted, verdicts, stale }: AuditSummary, suffix: string): string {
  const shown = (["verified", "authentic", "rejected", "malformed", "unjudged"] as const)
    .filter((verdict) => verdicts[verdict] > 0)
    .map((verdict) => {
      const age = verdict === "rejected" && stale > 0 ? ` (${count(stale)} only because of their age)` : "";
      return `${count(verdicts[verdict])} ${verdict}${age}`;
    });
  const refused = verdicts.verified + verdicts.authentic - accepted;
  const why = refused === 0 ? "" : `; ${count(refused)} REFUSED because of a warning, although verified or authentic`;
  return `${count(entries)} ${entries === 1 ? "entry" : "entries"}${suffix}: ${shown.join(", ") || "nothing"}${why}`;
}

/** Returns a line about empty lines, which count when entries are numbered, but have no results. */
function emptyLineLines(emptyLines: number): string[] {
  if (emptyLines === 0) return [];
  return [
    emptyLines === 1
      ? "1 empty line, which is not an entry"
      : `${count(emptyLines)} empty lines, which are not entries`,
  ];
}

function countLines(what: string, counts: Readonly<Record<string, number>>, shown = (name: string) => name): string[] {
  const all = Object.entries(counts).map(([name, times]) => `${shown(name)} ${count(times)}`);
  return all.length === 0 ? [] : [`${what}: ${all.join(", ")}`];
}

/**
 * Returns lines about entries and expectations without a counterpart. Without these lines, an entry that was compared
 * with nothing would look like one that met its expectation.
 */
function expectedLines({ reported: { withoutExpected }, unmet }: AuditEnd): string[] {
  const entries = withoutExpected === 1 ? "1 entry, which was" : `${count(withoutExpected)} entries, which were`;
  const without = withoutExpected === 0 ? [] : [`No line of --expected is for ${entries} compared with nothing`];
  if (unmet === null || unmet.count === 0) return without;
  const rest = unmet.count - unmet.first.length;
  const named = unmet.first.map(({ line, entry }) => `line ${line} (${entry.slice(0, 16)}…)`).join(", ");
  const lines = unmet.count === 1 ? "1 line of --expected" : `${count(unmet.count)} lines of --expected`;
  return [...without, `The input has no entry for ${lines}: ${named}${rest > 0 ? ` and ${count(rest)} more` : ""}`];
}
