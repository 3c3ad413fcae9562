/** Signs of life: entries that say that the watch polled, also where it found nothing new. */
import { TOOL } from "../version.js";
import { type PollCount, type Watched, watchedName } from "./entry.js";
import { passedMs } from "./outages.js";
import type { Recorder } from "./recorder.js";
import type { LogStore } from "./store.js";

interface Count {
  readonly good: number;
  readonly failed: number;
}

const NONE: Count = { good: 0, failed: 0 };

interface SignsOptions {
  readonly watched: readonly Watched[];
  readonly log: LogStore;
  readonly recorder: Recorder;
  readonly now: () => Date;
  readonly heartbeatMs: number;
}

export class Signs {
  readonly #options: SignsOptions;
  readonly #polls = new Map<string, Count>();
  /** The polls that the entries of this process have counted. */
  #counted: ReadonlyMap<string, Count> = new Map();
  /** Time of the newest `started` or `heartbeat` of this process, or of the log with `once`. */
  #since: string | undefined;

  constructor(options: SignsOptions) {
    this.#options = options;
  }

  /** Counts a poll, and returns the number of polls of this name. */
  count(watched: Watched, isGood: boolean): number {
    const name = watchedName(watched);
    const { good, failed } = this.#polls.get(name) ?? NONE;
    this.#polls.set(name, isGood ? { good: good + 1, failed } : { good, failed: failed + 1 });
    return good + failed + 1;
  }

  get polls(): number {
    return [...this.#polls.values()].reduce((sum, { good, failed }) => sum + good + failed, 0);
  }

  async started(settingDigest: string): Promise<void> {
    const { heartbeatMs, log, now, recorder, watched } = this.#options;
    const [at, adopted] = [now().toISOString(), log.adopted?.()];
    const tool = { name: TOOL.name, version: TOOL.version };
    const adopting = adopted === undefined ? {} : { adopted };
    await recorder.record({ at, event: "started", watched, heartbeatMs, settingDigest, tool, ...adopting });
    this.#since = at;
  }

  async sign(event: "heartbeat" | "stopped"): Promise<void> {
    const { now, recorder, watched } = this.#options;
    const at = now().toISOString();
    const counted = new Map(this.#polls);
    const polls = watched.map((one): PollCount => {
      const name = watchedName(one);
      const [all, before] = [counted.get(name) ?? NONE, this.#counted.get(name) ?? NONE];
      return { ...one, good: all.good - before.good, failed: all.failed - before.failed };
    });
    // A full disk refuses it: the next one counts these polls, too.
    if (!(await recorder.tryRecord({ at, event, since: this.#since ?? at, polls }))) return;
    [this.#since, this.#counted] = [at, counted];
  }

  /** Writes a heartbeat, unless the log has a newer sign. A clock that was set back must not put it off. */
  async signIfDue(): Promise<void> {
    const { heartbeatMs, log, now } = this.#options;
    this.#since = log.lastSign();
    const last = this.#since === undefined ? null : new Date(this.#since);
    if (last === null || last > now() || passedMs(last, now()) >= heartbeatMs) await this.sign("heartbeat");
  }
}
