/** The state that a long-running command reports, as one plain object (run/README.md, "Health"). */
import { TOOL } from "../version.js";
import { type Watched, isApp, watchedName } from "./line.js";
import type { Failure } from "./outages.js";
import type { QueueContact } from "./queue-options.js";

export type HealthCommand = "watch" | "worker" | "audit";

export interface HealthSubject {
  readonly command: HealthCommand;
  /** Names that a watch polls. Default: none. */
  readonly watched?: readonly Watched[];
  /** Files or folders of an audit. Default: none. */
  readonly inputs?: readonly string[];
  /** Whether an audit uses a queue; a worker always does. Default: false. */
  readonly hasQueue?: boolean;
}

/** Result of one poll of one name, and counts of this watch so far. */
export interface WatchPoll {
  /** End of the poll. */
  readonly at: Date;
  readonly watched: Watched;
  /** Number of polls of this name. */
  readonly polls: number;
  /** Why the boot proof could not be fetched or read; null after a good poll. */
  readonly failure: Failure | null;
  /** Whether the newest verdict of this name is a refusal, even one from before this watch; null before the first. */
  readonly isRefused: boolean | null;
  /** Number of refusals of this name that this watch found. */
  readonly refusals: number;
  /** Time in the newest verified attestation document of this name; null before this watch verified one. */
  readonly evidenceAt: Date | null;
  /** Number of entries, of all names, that this watch recorded. */
  readonly recorded: number;
}

/** Setting, log and deliveries of a watch. */
export interface WatchStatus {
  /** Time of the first refused reload; null unless the newest reload was refused. */
  readonly settingRefusedSince: Date | null;
  /** Time of the last successful read of policy and bundles. */
  readonly settingReadAt: Date | null;
  /** SHA-256, in hex, of the bytes of the policy that is used; null if it was passed as a value. */
  readonly policyDigest: string | null;
  /** Time from which a signed policy makes each verification fail; null if the policy is not signed. */
  readonly policyExpiresAt: Date | null;
  /** Whether the feed of the signed policy was rolled back or forked at the newest refresh. */
  readonly isFeedContradicted: boolean;
  /** Refusals and entries of outages that were not delivered, and the time of the oldest. */
  readonly undelivered: { readonly count: number; readonly oldest: Date | null };
}

/** The newest signed checkpoint of a watch's log. */
interface HealthCheckpoint {
  /** Number of entries that it covers. */
  readonly entries: number;
  readonly at: Date;
}

/** Counts of this process so far. */
export interface HealthWork {
  /** Number of entries that this process judged, without those of earlier runs. */
  readonly entries: number;
  /** Number of entries that were not accepted; null if the process does not know. */
  readonly refused: number | null;
  /** Time in the newest verified attestation document; null without one. */
  readonly evidenceAt: Date | null;
}

export interface WatchedState extends Pick<WatchPoll, "polls" | "isRefused" | "refusals" | "evidenceAt"> {
  /** Name of the application; null if a key is watched. */
  readonly app: string | null;
  /** The key in hex; null if an application is watched. */
  readonly ephemeralKey: string | null;
  /** Time of the last poll that fetched and read its boot proof. */
  readonly seenAt: Date | null;
  /** Seconds since `seenAt`, or since the start, by a clock that is never set. */
  readonly seenAge: number;
  /** Time of the first failed poll since the last good one; null after a good poll. */
  readonly outageSince: Date | null;
  readonly outages: number;
  readonly failedPolls: number;
}

interface QueueState extends QueueContact {
  readonly outages: number;
  /** Time at which this process was last connected to the queue's server. */
  readonly contactAt: Date | null;
  /** Seconds since `contactAt`, or since the start, by a clock that is never set. */
  readonly contactAge: number;
}

/** The state of a process. A health file has it as JSON. */
export interface HealthState extends HealthWork {
  readonly health: "bootproof-health/3";
  readonly command: HealthCommand;
  readonly version: string;
  readonly startedAt: Date;
  /** Time of this state. In a health file it is the sign of life. */
  readonly aliveAt: Date;
  /**
   * Time of the last success: the time since which every name of a watch was seen, the last judged entry of a worker or
   * audit, or the end of an audit that had nothing to add.
   */
  readonly goodAt: Date | null;
  /** Seconds since `goodAt`, or since the start, by a clock that is never set. */
  readonly goodAge: number;
  readonly isReady: boolean;
  readonly inputs: readonly string[];
  readonly watched: readonly WatchedState[];
  /** Null before a watch reports it. */
  readonly status: WatchStatus | null;
  readonly checkpoint: HealthCheckpoint | null;
  /** Entries judged a second, over the last minute; null before there are two counts. */
  readonly rate: number | null;
  readonly queue: QueueState | null;
}

/** Milliseconds since the last contact after which the queue is unavailable. A worker contacts it every second. */
const AWAY_MS = 15_000;
/** Milliseconds without a judged entry after which a worker, while jobs wait, or an audit is not ready. */
const STALL_MS = 30_000;
const RATE_MS = 60_000;
const SAMPLE_MS = 1000;

/** A time by the wall clock, and by the clock that is never set, in milliseconds. */
interface Moment {
  readonly at: Date;
  readonly ticks: number;
}

type Known = Omit<WatchedState, "seenAt" | "seenAge"> & { readonly seen: Moment | null };
const UNSEEN = {
  ...{ polls: 0, isRefused: null, refusals: 0, evidenceAt: null },
  ...{ seen: null, outageSince: null, outages: 0, failedPolls: 0 },
};

interface HealthClocks {
  readonly now: () => Date;
  readonly monotonic: () => number;
  /** Called after a success. */
  readonly onGood: () => void;
}

/** What `startHealth` returns has these functions. */
export class HealthRecord {
  readonly #subject: HealthSubject;
  readonly #clocks: HealthClocks;
  readonly #start: Moment;
  readonly #watched = new Map<string, Known>();
  #good: Moment | null = null;
  /** The last time at which an entry was judged, or no job waited. */
  #moved: Moment;
  #status: WatchStatus | null = null;
  #checkpoint: HealthCheckpoint | null = null;
  #work: HealthWork = { entries: 0, refused: null, evidenceAt: null };
  /** Counts of the last minute. */
  readonly #samples: { readonly ticks: number; readonly entries: number }[] = [];
  #queue: (QueueContact & Pick<QueueState, "outages">) | null = null;
  #contact: Moment | null = null;

  constructor(subject: HealthSubject, clocks: HealthClocks) {
    [this.#subject, this.#clocks] = [subject, clocks];
    this.#start = this.#moved = this.#moment();
    for (const watched of subject.watched ?? []) this.#watched.set(watchedName(watched), unseen(watched));
  }

  /** Records what `onPoll` of a watch reports. */
  readonly poll = (poll: WatchPoll): void => {
    const { at, watched, failure, recorded, polls, isRefused, refusals, evidenceAt } = poll;
    const before = this.#watched.get(watchedName(watched)) ?? unseen(watched);
    const { outageSince, outages, failedPolls } = before;
    const outage = failure && {
      outageSince: outageSince ?? at,
      outages: outages + (outageSince === null ? 1 : 0),
      failedPolls: failedPolls + 1,
    };
    const now = outage ?? { seen: this.#moment(at), outageSince: null };
    this.#watched.set(watchedName(watched), { ...before, polls, isRefused, refusals, evidenceAt, ...now });
    this.#count({ entries: recorded, refused: null, evidenceAt: null });
    if (failure === null) this.#clocks.onGood();
  };

  /** Records what `onStatus` of a watch reports. */
  readonly status = (status: WatchStatus): void => void (this.#status = status);

  /** Records the newest checkpoint of a watch's log. */
  readonly checkpoint = (checkpoint: HealthCheckpoint): void => void (this.#checkpoint = checkpoint);

  /** Records the counts so far. Call it after each judged batch. */
  readonly work = (work: HealthWork): void => {
    if (work.entries > this.#work.entries) this.idle();
    this.#count(work);
  };

  /** Records a success: an entry was judged, or the run ended with nothing to add. */
  readonly idle = (): void => {
    this.#good = this.#moved = this.#moment();
    this.#clocks.onGood();
  };

  /** Records what `onQueue` of a worker or a queue's judge reports. */
  readonly queue = (contact: QueueContact): void => {
    const { outages = 0, isConnected: wasConnected = true } = this.#queue ?? {};
    this.#queue = { ...contact, outages: outages + (wasConnected && !contact.isConnected ? 1 : 0) };
    if (contact.isConnected) this.#contact = this.#moment();
    // An audit has work until it ends, also where the server refuses its jobs, so only a worker can have none.
    if (contact.waiting === 0 && this.#subject.command === "worker") this.#moved = this.#moment();
  };

  readonly state = (): HealthState => {
    const { command, inputs = [] } = this.#subject;
    const [good, contact] = [this.#goodMoment(), this.#contact];
    return {
      health: "bootproof-health/3",
      command,
      version: TOOL.version,
      startedAt: this.#start.at,
      aliveAt: this.#clocks.now(),
      goodAt: good?.at ?? null,
      goodAge: this.#age(good),
      isReady: this.#isReady(good !== null),
      inputs: [...inputs],
      watched: [...this.#watched.values()].map(({ seen, ...known }) => {
        return { ...known, seenAt: seen?.at ?? null, seenAge: this.#age(seen) };
      }),
      status: this.#status,
      checkpoint: this.#checkpoint,
      ...this.#work,
      rate: this.#rate(),
      queue: this.#queue && { ...this.#queue, contactAt: contact?.at ?? null, contactAge: this.#age(contact) },
    };
  };

  #moment(at = this.#clocks.now()): Moment {
    return { at, ticks: this.#clocks.monotonic() };
  }

  /** Returns the seconds since a moment, or since the start. */
  #age(since: Moment | null): number {
    return (this.#clocks.monotonic() - (since ?? this.#start).ticks) / 1000;
  }

  /** Returns the last success. For a watch it is that of the name that was not seen for the longest time. */
  #goodMoment(): Moment | null {
    if (this.#subject.command !== "watch") return this.#good;
    const seen = [...this.#watched.values()].map((known) => known.seen);
    return seen.toSorted((a, b) => (a?.ticks ?? -Infinity) - (b?.ticks ?? -Infinity))[0] ?? null;
  }

  #isReady(hasSucceeded: boolean): boolean {
    const { command, hasQueue = command === "worker" } = this.#subject;
    if (command === "watch") {
      const isSeen = [...this.#watched.values()].every(({ outageSince }) => outageSince === null);
      return hasSucceeded && isSeen && (this.#status?.settingRefusedSince ?? null) === null;
    }
    // A worker that never had a job is ready to take one. An audit that judged nothing has not shown that it can.
    const isMoving = this.#age(this.#moved) * 1000 <= STALL_MS && (command === "worker" || hasSucceeded);
    return isMoving && (!hasQueue || this.#isQueueThere());
  }

  /** Whether the queue was contacted recently: a process that is stuck reports no lost connection. */
  #isQueueThere(): boolean {
    const isConnected = this.#queue?.isConnected === true && this.#contact !== null;
    return isConnected && this.#age(this.#contact) * 1000 <= AWAY_MS;
  }

  #count({ entries, refused, evidenceAt }: HealthWork): void {
    this.#work = { entries, refused, evidenceAt };
    const [samples, ticks] = [this.#samples, this.#clocks.monotonic()];
    if (ticks - (samples.at(-1)?.ticks ?? -Infinity) >= SAMPLE_MS) samples.push({ ticks, entries });
    while (samples.length > 2 && samples[1]!.ticks <= ticks - RATE_MS) samples.shift();
  }

  #rate(): number | null {
    const [first] = this.#samples;
    const passed = first === undefined ? 0 : this.#clocks.monotonic() - first.ticks;
    return passed >= SAMPLE_MS ? (1000 * (this.#work.entries - first!.entries)) / passed : null;
  }
}

function unseen(watched: Watched): Known {
  const name = isApp(watched) ? { app: watched.app, ephemeralKey: null } : { app: null, ...watched };
  return { ...name, ...UNSEEN };
}
