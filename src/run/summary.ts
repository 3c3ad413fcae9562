/** Counts over the results of many entries. */
import { CHECK_IDS, type CheckId } from "../checks.js";
import { isAccepted } from "../report/accepted.js";
import type { HealthWork } from "./health.js";
import type { EntryResult } from "./result.js";

/** Counts as plain data of bounded size. */
export interface AuditSummary {
  readonly entries: number;
  readonly accepted: number;
  readonly verdicts: Readonly<Record<EntryResult["verdict"], number>>;
  readonly stale: number;
  /** Number of entries without an expectation, if others have one. */
  readonly withoutExpected: number;
  /** Number of entries that failed each check, in the order of the checks. */
  readonly failures: Readonly<Partial<Record<CheckId, number>>>;
  /** Number of entries that matched each deployment. */
  readonly deployments: Readonly<Record<string, number>>;
  /** The oldest time of a verified document, in RFC 3339. Null if none is known: no line of results has it. */
  readonly oldest: string | null;
  readonly newest: string | null;
}

export class Tally {
  entries = 0;
  accepted = 0;
  readonly #verdicts = { verified: 0, authentic: 0, rejected: 0, malformed: 0, unjudged: 0 };
  #stale = 0;
  #withoutExpected = 0;
  readonly #failures = new Map<string, number>();
  readonly #deployments = new Map<string, number>();
  #oldest: string | null = null;
  #newest: string | null = null;

  add(result: EntryResult & { readonly expected?: false }): void {
    this.entries++;
    if (isAccepted(result)) this.accepted++;
    this.#verdicts[result.verdict]++;
    if (result.stale === true) this.#stale++;
    if (result.expected === false) this.#withoutExpected++;
    for (const id of result.failed) count(this.#failures, id);
    for (const name of result.deployments ?? []) count(this.#deployments, name);
    if (result.documentTimes === undefined) return;
    // All times have the same form, so they can be compared as text.
    const [oldest, newest] = result.documentTimes;
    if (this.#oldest === null || oldest < this.#oldest) this.#oldest = oldest;
    if (this.#newest === null || newest > this.#newest) this.#newest = newest;
  }

  /** Adds accepted entries of which only the numbers are known. */
  addAccepted(entries: number, verified: number): void {
    this.entries += entries;
    this.accepted += entries;
    this.#verdicts.verified += verified;
    this.#verdicts.authentic += entries - verified;
  }

  /** What a command reports while it works. */
  get work(): HealthWork & { readonly refused: number } {
    const { entries, accepted } = this;
    return { entries, refused: entries - accepted, evidenceAt: this.#newest === null ? null : new Date(this.#newest) };
  }

  summary(): AuditSummary {
    return {
      entries: this.entries,
      accepted: this.accepted,
      verdicts: { ...this.#verdicts },
      stale: this.#stale,
      withoutExpected: this.#withoutExpected,
      failures: Object.fromEntries(
        CHECK_IDS.flatMap((id) => (this.#failures.has(id) ? [[id, this.#failures.get(id)!]] : [])),
      ),
      deployments: Object.fromEntries([...this.#deployments].sort(([a], [b]) => (a < b ? -1 : 1))),
      oldest: this.#oldest,
      newest: this.#newest,
    };
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
