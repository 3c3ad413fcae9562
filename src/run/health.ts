/** The state that a long-running command reports, as one plain object (run/README.md, "Health"). */
import { TOOL } from "../version.js";

export type HealthCommand = "watch" | "worker" | "audit";

export interface HealthSubject {
  readonly command: HealthCommand;
  /** Names that a watch polls. Default: none. */
  readonly watched?: readonly HealthPoll["watched"][];
  /** Files or folders of an audit. Default: none. */
  readonly inputs?: readonly string[];
  /** Whether an audit uses a queue; a worker always does. Default: false. */
  readonly hasQueue?: boolean;
}

/** Result of one poll of one application or key, and counts of this watch so far. `WatchPoll` has this shape. */
export interface HealthPoll {
  /** End of the poll. */
  readonly at: Date;
  readonly watched: { readonly app: string } | { readonly ephemeralKey: string };
  /** Number of polls of this name. */
  readonly polls: number;
  /** Why the boot proof could not be fetched or read; null after a good poll. */
  readonly failure: { readonly kind: string } | null;
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
export interface HealthStatus {
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
export interface HealthCheckpoint {
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

/** The connection to the queue, as it is now. */
export interface HealthQueue {
  /** Address of the server without credentials. */
  readonly server: string;
  readonly isConnected: boolean;
  /** Number of jobs that no worker has taken; null if unknown. */
  readonly waiting: number | null;
}

export interface WatchedState {
  /** Name of the application; null if a key is watched. */
  readonly app: string | null;
  /** The key in hex; null if an application is watched. */
  readonly ephemeralKey: string | null;
  readonly polls: number;
  /** Time of the last poll that fetched and read its boot proof. */
  readonly seenAt: Date | null;
  /** Seconds since `seenAt`, or since the start, by a clock that is never set. */
  readonly seenAge: number;
  /** Time of the first failed poll since the last good one; null after a good poll. */
  readonly outageSince: Date | null;
  readonly outages: number;
  readonly failedPolls: number;
  readonly isRefused: boolean | null;
  readonly refusals: number;
  readonly evidenceAt: Date | null;
}

export interface QueueState extends HealthQueue {
  readonly outages: number;
  /** Time at which this process was last connected to the queue's server. */
  readonly contactAt: Date | null;
  /** Seconds since `contactAt`, or since the start, by a clock that is never set. */
  readonly contactAge: number;
}

/** The state of a process. A health file has it as JSON. */
export interface HealthState {
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
  readonly status: HealthStatus | null;
  readonly checkpoint: HealthCheckpoint | null;
  readonly entries: number;
  /** Entries judged a second, over the last minute; null before there are two counts. */
  readonly rate: number | null;
  readonly refused: number | null;
  readonly evidenceAt: Date | null;
  readonly queue: QueueState | null;
}

/** Milliseconds since the last contact after which the queue is unavailable. A worker contacts it every second. */
const AWAY_MS = 15_000;
/** Milliseconds without a judged entry after which a worker, while jobs wait, or an audit is not ready. */
const STALL_MS = 30_000;
const RATE_MS = 60_000;
const SAMPLE_MS = 1000;

interface Sample {
  readonly at: number;
  readonly entries: number;
}

/** A time by the wall clock, and by the clock that is never set, in milliseconds. */
interface Moment {
  readonly at: Date;
  readonly ticks: number;
}

type Known = Omit<WatchedState, "seenAt" | "seenAge"> & { readonly seen: Moment | null };

export class HealthRecord {
  readonly #subject: HealthSubject;
  readonly #now: () => Date;
  readonly #monotonic: () => number;
  readonly #start: Moment;
  readonly #watched = new Map<string, Known>();
  #good: Moment | null = null;
  /** The last time at which an entry was judged, or no job waited. */
  #movedTicks: number;
  #status: HealthStatus | null = null;
  #checkpoint: HealthCheckpoint | null = null;
  #work: HealthWork = { entries: 0, refused: null, evidenceAt: null };
  #samples: Sample[] = [];
  #queue: Omit<QueueState, "contactAt" | "contactAge"> | null = null;
  #contact: Moment | null = null;

  constructor(subject: HealthSubject, { now, monotonic }: { now: () => Date; monotonic: () => number }) {
    this.#subject = subject;
    this.#now = now;
    this.#monotonic = monotonic;
    this.#start = this.#moment();
    this.#movedTicks = this.#start.ticks;
    for (const watched of subject.watched ?? [])
      this.#watched.set(nameOf(watched), { ...UNSEEN, ...membersOf(watched) });
  }

  /** Records a poll. Returns whether it fetched and read the boot proof. */
  poll(poll: HealthPoll): boolean {
    const name = nameOf(poll.watched);
    this.#watched.set(name, knownAfter(this.#watched.get(name) ?? UNSEEN, poll, this.#moment(poll.at)));
    this.#count({ entries: poll.recorded, refused: null, evidenceAt: null });
    return poll.failure === null;
  }

  status(status: HealthStatus): void {
    this.#status = status;
  }

  checkpoint(checkpoint: HealthCheckpoint): void {
    this.#checkpoint = checkpoint;
  }

  /** Records the counts so far. Returns whether an entry was judged since the last call. */
  work(work: HealthWork): boolean {
    const isMore = work.entries > this.#work.entries;
    if (isMore) this.idle();
    this.#count(work);
    return isMore;
  }

  /** Records a success: an entry was judged, or the run ended with nothing to add. */
  idle(): void {
    this.#good = this.#moment();
    this.#movedTicks = this.#good.ticks;
  }

  queue(queue: HealthQueue): void {
    const { outages = 0, isConnected: wasConnected = true } = this.#queue ?? {};
    const { isConnected, waiting } = queue;
    this.#queue = { ...queue, outages: outages + (wasConnected && !isConnected ? 1 : 0) };
    if (isConnected) this.#contact = this.#moment();
    // An audit has work until it ends, also where the server refuses its jobs, so only a worker can have none.
    if (waiting === 0 && this.#subject.command === "worker") this.#movedTicks = this.#monotonic();
  }

  state(): HealthState {
    const { command, inputs = [] } = this.#subject;
    const { entries, refused, evidenceAt } = this.#work;
    const good = this.#goodMoment();
    return {
      health: "bootproof-health/3",
      command,
      version: TOOL.version,
      startedAt: this.#start.at,
      aliveAt: this.#now(),
      goodAt: good?.at ?? null,
      goodAge: this.#age(good),
      isReady: this.#isReady(good !== null),
      inputs: [...inputs],
      watched: [...this.#watched.values()].map(({ seen, ...known }) => {
        return { ...known, seenAt: seen?.at ?? null, seenAge: this.#age(seen) };
      }),
      status: this.#status,
      checkpoint: this.#checkpoint,
      entries,
      rate: this.#rate(),
      refused,
      evidenceAt,
      queue: this.#queue && {
        ...this.#queue,
        contactAt: this.#contact?.at ?? null,
        contactAge: this.#age(this.#contact),
      },
    };
  }

  #moment(at = this.#now()): Moment {
    return { at, ticks: this.#monotonic() };
  }

  #age(since: Moment | null): number {
    return (this.#monotonic() - (since ?? this.#start).ticks) / 1000;
  }

  /** Returns the last success. For a watch it is that of the name that was not seen for the longest time. */
  #goodMoment(): Moment | null {
    if (this.#subject.command !== "watch") return this.#good;
    const seen = [...this.#watched.values()].map((known) => known.seen);
    const [first = null] = seen.toSorted((a, b) => (a?.ticks ?? -Infinity) - (b?.ticks ?? -Infinity));
    return first;
  }

  #isReady(hasSucceeded: boolean): boolean {
    const { command, hasQueue = command === "worker" } = this.#subject;
    if (command === "watch") return hasSucceeded && this.#isWatching();
    // A worker that never had a job is ready to take one. An audit that judged nothing has not shown that it can.
    const isMoving = this.#monotonic() - this.#movedTicks <= STALL_MS && (command === "worker" || hasSucceeded);
    return isMoving && (!hasQueue || this.#isQueueThere());
  }

  #isWatching(): boolean {
    const { settingRefusedSince = null } = this.#status ?? {};
    const isSeen = [...this.#watched.values()].every(({ outageSince }) => outageSince === null);
    return isSeen && settingRefusedSince === null;
  }

  /**
   * Whether the queue was contacted recently. A process that is stuck reports no lost connection, so `isConnected`
   * alone is not enough.
   */
  #isQueueThere(): boolean {
    const isConnected = this.#queue?.isConnected === true && this.#contact !== null;
    return isConnected && this.#age(this.#contact) * 1000 <= AWAY_MS;
  }

  #count(work: HealthWork): void {
    this.#work = work;
    const at = this.#monotonic();
    const last = this.#samples.at(-1);
    if (last === undefined || at - last.at >= SAMPLE_MS) this.#samples.push({ at, entries: work.entries });
    while (this.#samples.length > 2 && this.#samples[1]!.at <= at - RATE_MS) this.#samples.shift();
  }

  #rate(): number | null {
    const [first] = this.#samples;
    const passed = first === undefined ? 0 : this.#monotonic() - first.at;
    return passed >= SAMPLE_MS ? (1000 * (this.#work.entries - first!.entries)) / passed : null;
  }
}

const UNSEEN: Known = {
  app: null,
  ephemeralKey: null,
  polls: 0,
  seen: null,
  outageSince: null,
  outages: 0,
  failedPolls: 0,
  isRefused: null,
  refusals: 0,
  evidenceAt: null,
};

function membersOf(watched: HealthPoll["watched"]): Pick<WatchedState, "app" | "ephemeralKey"> {
  return { app: null, ephemeralKey: null, ...watched };
}

function nameOf(watched: HealthPoll["watched"]): string {
  return "app" in watched ? `app ${watched.app}` : `key ${watched.ephemeralKey}`;
}

function knownAfter(before: Known, poll: HealthPoll, moment: Moment): Known {
  const { polls, isRefused, refusals, evidenceAt } = poll;
  const known = { ...before, ...membersOf(poll.watched), polls, isRefused, refusals, evidenceAt };
  if (poll.failure === null) return { ...known, seen: moment, outageSince: null };
  const isNew = before.outageSince === null;
  return {
    ...known,
    outageSince: before.outageSince ?? moment.at,
    outages: before.outages + (isNew ? 1 : 0),
    failedPolls: before.failedPolls + 1,
  };
}
