/** The state that a long-running command reports, as one plain object (health/README.md, "State"). */
import { TOOL } from "../version.js";

export type HealthCommand = "watch" | "worker" | "audit";

export interface HealthSubject {
  readonly command: HealthCommand;
  /** Names that a watch polls. Default: none. */
  readonly watched?: readonly PolledName["watched"][];
  /** Files or folders of an audit. Default: none. */
  readonly inputs?: readonly string[];
  /** Whether an audit uses a queue; a worker always does. Default: false. */
  readonly hasQueue?: boolean;
}

/** State of one application or key after a poll. `WatchPoll` of `bootproof/watch` has this shape. */
export interface PolledName {
  readonly watched: { readonly app: string } | { readonly ephemeralKey: string };
  /** Reason why the boot proof could not be fetched or read; null after a good poll. */
  readonly failure: { readonly kind: string } | null;
  /** Whether the newest verdict for this name is a refusal. */
  readonly isRefused: boolean;
  /** Number of refusals that this process recorded. */
  readonly refusals: number;
  /** Time in the newest verified attestation document of this name; null before the first. */
  readonly evidenceAt: Date | null;
}

/** Result of one poll of all watched names. */
export interface HealthPoll {
  /** Number of entries that this process recorded. */
  readonly recorded: number;
  /** Time of the first refused reload of the policy; null or absent unless the newest reload was refused. */
  readonly settingRefusedSince?: Date | null;
  readonly watched: readonly PolledName[];
}

/** Counts of this process so far. */
export interface HealthWork {
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
  /** Time of the last poll that fetched and read its boot proof. */
  readonly seenAt: Date | null;
  /** Time of the first failed poll since the last good one; null after a good poll. */
  readonly outageSince: Date | null;
  readonly outages: number;
  readonly failedPolls: number;
  readonly isRefused: boolean;
  readonly refusals: number;
  readonly evidenceAt: Date | null;
}

export interface QueueState extends HealthQueue {
  readonly outages: number;
  /** Time at which this process was last connected to the queue's server. */
  readonly contactAt: Date | null;
}

/** The state of a process. A health file has it as JSON. */
export interface HealthState {
  readonly health: "bootproof-health/1";
  readonly command: HealthCommand;
  readonly version: string;
  readonly startedAt: Date;
  /**
   * Time of the last success: a good poll of a watch, or, for a worker or audit, a contact with the queue or a judged
   * batch.
   */
  readonly goodAt: Date | null;
  readonly isReady: boolean;
  readonly inputs: readonly string[];
  readonly watched: readonly WatchedState[];
  /** Time of the first refused reload of a watch's policy; null unless the newest reload was refused. */
  readonly settingRefusedSince: Date | null;
  readonly polls: number;
  readonly entries: number;
  /** Entries judged a second, over the last minute; null before there are two counts. */
  readonly rate: number | null;
  readonly refused: number | null;
  readonly evidenceAt: Date | null;
  readonly queue: QueueState | null;
}

/** Milliseconds since the last contact after which the queue is unavailable. A worker contacts it every two seconds. */
const AWAY_MS = 15_000;
const RATE_MS = 60_000;
const SAMPLE_MS = 1000;

interface Sample {
  readonly at: number;
  readonly entries: number;
}

export class HealthRecord {
  readonly #subject: HealthSubject;
  readonly #now: () => Date;
  readonly #startedAt: Date;
  #goodAt: Date | null = null;
  #watched: readonly WatchedState[] = [];
  #settingRefusedSince: Date | null = null;
  #polls = 0;
  #work: HealthWork = { entries: 0, refused: null, evidenceAt: null };
  #samples: Sample[] = [];
  #queue: QueueState | null = null;

  constructor(subject: HealthSubject, now: () => Date) {
    this.#subject = subject;
    this.#now = now;
    this.#startedAt = now();
    this.#watched = (subject.watched ?? []).map((watched) => ({ ...UNSEEN, ...membersOf({ watched }) }));
  }

  /** Records a poll. Returns whether it fetched and read all names. */
  poll({ recorded, watched, settingRefusedSince = null }: HealthPoll): boolean {
    const at = this.#now();
    this.#settingRefusedSince = settingRefusedSince;
    this.#polls++;
    const before = new Map(this.#watched.map((state) => [nameOf(state), state]));
    this.#watched = watched.map((polled) => watchedAfter(before.get(nameOf(membersOf(polled))) ?? null, polled, at));
    this.#count({ entries: recorded, refused: null, evidenceAt: null });
    const isGood = watched.every(({ failure }) => failure === null);
    if (isGood) this.#goodAt = at;
    return isGood;
  }

  /** Records the counts so far. It is called after each judged batch. */
  work(work: HealthWork): void {
    this.#goodAt = this.#now();
    this.#count(work);
  }

  queue(queue: HealthQueue): boolean {
    const at = this.#now();
    const { outages = 0, contactAt = null, isConnected: wasConnected = true } = this.#queue ?? {};
    const { isConnected } = queue;
    this.#queue = {
      ...queue,
      outages: outages + (wasConnected && !isConnected ? 1 : 0),
      contactAt: isConnected ? at : contactAt,
    };
    if (isConnected) this.#goodAt = at;
    return isConnected;
  }

  state(): HealthState {
    const { command, inputs = [] } = this.#subject;
    const { entries, refused, evidenceAt } = this.#work;
    return {
      health: "bootproof-health/1",
      command,
      version: TOOL.version,
      startedAt: this.#startedAt,
      goodAt: this.#goodAt,
      isReady: this.#isReady(),
      inputs: [...inputs],
      watched: this.#watched,
      settingRefusedSince: this.#settingRefusedSince,
      polls: this.#polls,
      entries,
      rate: this.#rate(),
      refused,
      evidenceAt,
      queue: this.#queue,
    };
  }

  #isReady(): boolean {
    const { command, hasQueue = command === "worker" } = this.#subject;
    if (this.#goodAt === null || this.#settingRefusedSince !== null) return false;
    return (!hasQueue || this.#isQueueThere()) && this.#watched.every(({ outageSince }) => outageSince === null);
  }

  /**
   * Whether the queue was contacted recently. A process that is stuck reports no lost connection, so `isConnected`
   * alone is not enough.
   */
  #isQueueThere(): boolean {
    const { isConnected = false, contactAt = null } = this.#queue ?? {};
    return isConnected && contactAt !== null && this.#now().getTime() - contactAt.getTime() <= AWAY_MS;
  }

  #count(work: HealthWork): void {
    this.#work = work;
    const at = this.#now().getTime();
    const last = this.#samples.at(-1);
    // The clock was set back, so older samples cannot be used.
    if (last !== undefined && last.at > at) this.#samples = [];
    if (last === undefined || at - last.at >= SAMPLE_MS || last.at > at)
      this.#samples.push({ at, entries: work.entries });
    while (this.#samples.length > 2 && this.#samples[1]!.at <= at - RATE_MS) this.#samples.shift();
  }

  #rate(): number | null {
    const [first] = this.#samples;
    const passed = first === undefined ? 0 : this.#now().getTime() - first.at;
    return passed >= SAMPLE_MS ? (1000 * (this.#work.entries - first!.entries)) / passed : null;
  }
}

const UNSEEN: Omit<WatchedState, "app" | "ephemeralKey"> = {
  seenAt: null,
  outageSince: null,
  outages: 0,
  failedPolls: 0,
  isRefused: false,
  refusals: 0,
  evidenceAt: null,
};

function membersOf({ watched }: Pick<PolledName, "watched">): Pick<WatchedState, "app" | "ephemeralKey"> {
  return "app" in watched ? { app: watched.app, ephemeralKey: null } : { app: null, ...watched };
}

function nameOf({ app, ephemeralKey }: Pick<WatchedState, "app" | "ephemeralKey">): string {
  return app === null ? `key ${ephemeralKey!}` : `app ${app}`;
}

function watchedAfter(before: WatchedState | null, polled: PolledName, at: Date): WatchedState {
  const { failure, isRefused, refusals, evidenceAt } = polled;
  const { seenAt, outageSince, outages, failedPolls } = before ?? UNSEEN;
  const shared = { ...membersOf(polled), isRefused, refusals, evidenceAt };
  if (failure === null) return { ...shared, seenAt: at, outageSince: null, outages, failedPolls };
  const isNew = outageSince === null;
  return {
    ...shared,
    seenAt,
    outageSince: outageSince ?? at,
    outages: outages + (isNew ? 1 : 0),
    failedPolls: failedPolls + 1,
  };
}
