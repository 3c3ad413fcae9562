/**
 * The watch (watch/README.md). Each poll fetches the newest boot proofs, verifies them at the current time, and records
 * findings that are new.
 */
import { NamedEvidence, verifyEvidence } from "../bootproof.js";
import { PLAIN_OPTIONS } from "../plain-settings.js";
import { fromHex } from "../bytes.js";
import { withoutPrototype } from "../decode/input.js";
import { type JsonValue, copyJson, parseJson } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { callable, having, instanceOf, options, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, flag, hex, list, nonEmptyText, optional, wholeNumber } from "../decode/shapes.js";
import type { Signal } from "../door/platform.js";
import { ClientError } from "../door/errors.js";
import { untilAborted } from "../door/waiting.js";
import { isAccepted } from "../report/accepted.js";
import { SignedPolicy } from "../signed-policy/open.js";
import { SignatureCache } from "../verify/signature-cache.js";
import {
  type Finding,
  type FindingEntry,
  type LogEvent,
  type LogLine,
  type UnrecordedLine,
  type Watched,
  findingOf,
  isApp,
  standingOf,
  watchedName,
} from "./entry.js";
import type { HealthPoll, HealthStatus } from "../health/state.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import { Handover, type Unrecorded } from "./handover.js";
import {
  type Delivered,
  type Failure,
  type WatchMessage,
  FetchError,
  MAX_WAIT_MS,
  Outages,
  Silence,
  failureOf,
} from "./outages.js";
import { Places } from "./places.js";
import { Recorder } from "./recorder.js";
import {
  type HeldSetting,
  Reloads,
  type SettingReload,
  type Strictness,
  type WatchSetting,
  holdSetting,
} from "./setting.js";
import { Signs } from "./signs.js";
import { type LogStore, type OutageEntry, type RefusedSettingEntry, memoryStore } from "./store.js";

export interface WatchOptions extends WatchSetting, Strictness {
  /** Applications, each watched by its newest boot proof. */
  readonly apps?: readonly string[];
  /** Ephemeral keys in hex. */
  readonly ephemeralKeys?: readonly string[];
  /**
   * Fetches the boot proof, for example `askService(client)`. Resolves to null if there is none. A rejection begins an
   * outage, and the next poll fetches again.
   */
  readonly newest: (watched: Watched, signal: Signal) => Promise<JsonValue | null>;
  /** Store of the entries, such as `openLog(path)` of `bootproof/watch/node`. Default: memory only. */
  readonly log?: LogStore;
  /** Milliseconds from the end of a good poll of a name to its next one, 1,000 to 86,400,000. Default: 60,000. */
  readonly intervalMs?: number;
  /** Milliseconds between two signs of life in the log, 1,000 to 604,800,000. Default: 3,600,000. */
  readonly heartbeatMs?: number;
  /** Whether the watch ends after one poll of each name. */
  readonly once?: boolean;
  /** Receives each entry once it is in the log, and each finding that cannot be recorded. */
  readonly onEntry?: (line: LogLine | UnrecordedLine) => void;
  /**
   * Delivers each refusal at least once, in order, one at a time. After five rejections the next one is delivered, and
   * this one is tried again each hour, and after a restart. A promise that never settles holds back the others. A
   * refusal that cannot be recorded has no `n`. A feed of a signed policy that was rolled back or forked is a refusal,
   * too.
   */
  readonly onRefusal?: (
    line: LogLine<FindingEntry | RefusedSettingEntry> | UnrecordedLine,
    signal: Signal,
  ) => Promise<void>;
  /**
   * Delivers the recorded entries of outages: when each began, and when it ended. Deliveries work as for `onRefusal`,
   * and neither waits for the other.
   */
  readonly onOutage?: (line: LogLine<OutageEntry>, signal: Signal) => Promise<void>;
  /**
   * Number of failed polls, 0 to 1,000,000. Beginning and end of an outage are recorded only if more than this number
   * of polls of this process failed. An outage without an end in the log continues after a restart. Default: 5.
   */
  readonly outageAfter?: number;
  /** Milliseconds between two messages about one outage, 60,000 to 604,800,000. Default: 3,600,000. */
  readonly outageRepeatMs?: number;
  /**
   * Milliseconds without a good poll of a name after which the watch ends, even if a request never ends. The value is
   * above `intervalMs` and at most 604,800,000. Default: no limit.
   */
  readonly maxSilenceMs?: number;
  /**
   * Reloads policy and bundles while the watch runs, all of them or none. A changed setting is recorded in the log
   * (`setting-changed`), and all names are polled at once. A refused reload is recorded, too (`setting-refused`), and
   * is tried again after each interval, or after `refreshMs` of a signed policy.
   */
  readonly reload?: SettingReload;
  /** Receives the result of each poll of each name, once its verdict is known and recorded. */
  readonly onPoll?: (poll: WatchPoll) => void;
  /** Receives the status at the start, and when it changes. */
  readonly onStatus?: (status: WatchStatus) => void;
  /** Receives messages about outages and failed deliveries for an operator. */
  readonly onMessage?: (message: WatchMessage) => void;
  readonly signal?: Signal;
  readonly now: () => Date;
  /** Resolves or rejects early when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly cache?: SignatureCache;
}

/** Result of one poll of one name, and counts of this watch so far. */
export interface WatchPoll extends Omit<HealthPoll, "watched" | "failure"> {
  readonly watched: Watched;
  readonly failure: Failure | null;
}

export interface WatchStatus extends Readonly<HealthStatus> {}

export interface WatchSummary {
  readonly recorded: number;
  /** Number of polls of all names. */
  readonly polls: number;
  /** Names whose newest verdict is a refusal, even one from before this watch. */
  readonly refused: readonly Watched[];
  readonly unfetched: readonly (Failure & { readonly watched: Watched })[];
  /** Names of which no poll of this watch was good. */
  readonly unseen: readonly Watched[];
  /** Names whose silence ended the watch (`maxSilenceMs`). */
  readonly silent: readonly Silent[];
  /** Whether undelivered refusals remain. */
  readonly waiting: boolean;
  /** Whether undelivered entries about outages remain. */
  readonly outagesWaiting: boolean;
  /** Whether the feed of the signed policy was rolled back or forked at the newest refresh. */
  readonly isFeedContradicted: boolean;
  /** False if the disk refused the last entry. */
  readonly isLogWritable: boolean;
}

export interface Silent {
  readonly watched: Watched;
  /** Time of the last good poll of this name, or of the start of the watch. */
  readonly since: Date;
  /** The newest failure; null without one. It may quote the service: escape it before you print it. */
  readonly message: string | null;
}

const WEEK_MS = 604_800_000;
const NOTHING = (): void => {};
const DEFAULTS = {
  ...{ intervalMs: 60_000, heartbeatMs: 3_600_000, outageAfter: 5, outageRepeatMs: 3_600_000, once: false },
  ...{ onEntry: NOTHING, onPoll: NOTHING, onStatus: NOTHING, onMessage: NOTHING },
};
type Settings = WatchOptions & Required<Pick<WatchOptions, keyof typeof DEFAULTS>>;

/** Limit of concurrent requests, because each response may be large. */
const AT_ONCE = 4;
/** Milliseconds after which a request gives its place up to the next name. */
const MOST_HELD_MS = 2000;
/** Longest time in milliseconds for which the message about an outage waits for those of other names. */
const MOST_TOGETHER_MS = 60_000;
/** Milliseconds that the end of a watch waits for its log. */
const MOST_ENDING_MS = 5000;
const LEAST_REFRESH_MS = 1000;
/** Names of errors of a log that takes no entries any more. */
const CHANGED: ReadonlySet<string> = new Set(["LogChangedError", "LogError"]);

/**
 * Watches until the signal is aborted, or for one poll. Rejects with TypeError for invalid options. Rejects with the
 * error of the log if it takes no entries any more, after each name was polled once more and its refusal was delivered;
 * a full disk does not end the watch. Rejects with {@link FetchError} if the service refuses the credentials for every
 * name in the first poll. Other errors of the service or the network do not end the watch.
 * @example
 * ```ts
 * const log = await openLog("boots.jsonl");
 * await watch({ policy, apps: ["signer"], newest: askService(client), log, ...SYSTEM });
 * ```
 */
export async function watch(options: WatchOptions): Promise<WatchSummary> {
  return new Watch(options).run();
}

const KEY = hex(QOS_PUBLIC_KEY_LENGTH);
const { allowDebug, acceptance, maxAgeMs } = PLAIN_OPTIONS;
const WATCH_OPTIONS: MembersOf<WatchOptions> = {
  policy: plain,
  ...{ allowDebug, acceptance, maxAgeMs },
  apps: demand(list(nonEmptyText)),
  ephemeralKeys: demand(list(KEY)),
  newest: callable,
  log: optional(having("append")),
  intervalMs: optional(wholeNumber(1000, 86_400_000)),
  heartbeatMs: optional(wholeNumber(1000, WEEK_MS)),
  once: optional(flag),
  onEntry: optional(callable),
  onRefusal: optional(callable),
  onOutage: optional(callable),
  outageAfter: optional(wholeNumber(0, 1_000_000)),
  outageRepeatMs: optional(wholeNumber(60_000, WEEK_MS)),
  maxSilenceMs: optional(wholeNumber(0, WEEK_MS)),
  reload: optional(options<SettingReload>({ read: callable, when: callable })),
  onPoll: optional(callable),
  onStatus: optional(callable),
  onMessage: optional(callable),
  signal: optional(having()),
  now: callable,
  sleep: callable,
  random: callable,
  cache: optional(instanceOf(SignatureCache, "a SignatureCache")),
  provenance: optional(list(plain)),
  provenanceVerifier: optional(having("verify")),
};

function watchedBy({ apps = [], ephemeralKeys = [], intervalMs, maxSilenceMs = Infinity }: Settings): Watched[] {
  // With a limit up to the interval, the watch would end between two good polls.
  if (maxSilenceMs <= intervalMs) throw new TypeError(`options.maxSilenceMs: expected ${intervalMs + 1} to ${WEEK_MS}`);
  const watched = [...apps.map((app) => ({ app })), ...ephemeralKeys.map((ephemeralKey) => ({ ephemeralKey }))];
  if (watched.length === 0) throw new TypeError("options.apps, options.ephemeralKeys: expected at least one name");
  if (new Set(watched.map(watchedName)).size < watched.length)
    throw new TypeError("options.apps, options.ephemeralKeys: expected no name twice");
  return watched;
}

type Fetched = { readonly bootProof: JsonValue } | { readonly failure: Failure };

class Watch {
  readonly #options: Settings;
  readonly #watched: readonly Watched[];
  readonly #log: LogStore;
  readonly #recorder: Recorder;
  readonly #signs: Signs;
  readonly #cache: SignatureCache;
  readonly #outages: Outages;
  readonly #handovers: Record<Delivered, Handover>;
  readonly #silence: Silence | null;
  readonly #places: { readonly good: Places; readonly failing: Places };
  /** Ends everything. A last round has one of its own. */
  #stop = this.#newStop();
  readonly #errors: unknown[] = [];
  /** Time of the last good poll of each name. */
  readonly #seen = new Map<string, Date>();
  readonly #silent: Watched[] = [];
  #startedAt = new Date(0);
  readonly #reloads: Reloads;
  readonly #signed: SignedPolicy | null;
  /** The present setting; null before the start. */
  #setting: HeldSetting | null = null;
  #wakeReload = (): void => {};
  /** Number of times at which all names became due at once. */
  #turn = 0;
  readonly #sleeping = new Set<AbortController>();
  /** Polls and pauses. Each has a signal, since one signal for all would have too many listeners. */
  readonly #running = new Set<AbortController>();
  /** Resolves when the service accepts requests again (`Retry-After`). */
  #pause: Promise<unknown> = Promise.resolve();
  readonly #evidenceAt = new Map<string, Date>();
  readonly #refused = new Map<string, number>();
  /** Names whose first poll was refused for its credentials. */
  #strangers = 0;
  #status = "";

  constructor(given: WatchOptions) {
    const options: Settings = withoutPrototype({ ...DEFAULTS, ...typedOptions("options", given, WATCH_OPTIONS) });
    this.#options = options;
    this.#watched = watchedBy(options);
    this.#signed = SignedPolicy.is(options.policy) ? options.policy : null;
    const log = (this.#log = options.log ?? memoryStore());
    this.#cache = options.cache ?? new SignatureCache();
    const { heartbeatMs, intervalMs, maxSilenceMs, now, onMessage: tell, outageAfter: after, sleep } = options;
    const shared = { ...options, log, tell, repeatMs: options.outageRepeatMs, onChange: () => this.#tellStatus() };
    // Outages are delivered apart from refusals, so a failing delivery of one kind does not delay the other.
    this.#handovers = {
      refusal: new Handover({ ...shared, what: "refusal", deliver: options.onRefusal }),
      outage: new Handover({ ...shared, what: "outage", deliver: options.onOutage }),
    };
    const { refusal } = this.#handovers;
    const onUnrecorded = (one: Unrecorded): void => refusal.add(one);
    this.#recorder = new Recorder({ ...shared, onUnrecorded, onKeptRecorded: () => refusal.wake() });
    this.#signs = new Signs({ watched: this.#watched, log, recorder: this.#recorder, now, heartbeatMs });
    const read = options.reload?.read ?? (async () => options);
    // An operator learns of each refresh of a signed policy that fails.
    const repeatMs = this.#signed === null ? shared.repeatMs : 0;
    this.#reloads = new Reloads({ ...shared, read, repeatMs, strictness: options });
    const [names, togetherMs] = [this.#watched.length, Math.min(intervalMs, MOST_TOGETHER_MS)];
    const record = (event: LogEvent): void => void this.#guarded(this.#recordOutage(event));
    this.#outages = new Outages({ ...shared, names, togetherMs, after, open: this.#openOutages(), record });
    const hold = (signal: Signal): Promise<void> => sleep(MOST_HELD_MS, signal);
    const ready = (): Promise<void> => this.#mayRequest();
    // A name waits for a place only if there are more names than places.
    const count = names > AT_ONCE ? AT_ONCE : Infinity;
    this.#places = { good: new Places(count, ready, hold), failing: new Places(count, ready, hold) };
    const limit = (signal: Signal): Promise<void> => sleep(maxSilenceMs!, signal);
    this.#silence = maxSilenceMs === undefined ? null : new Silence(limit, (one) => this.#endSilent(one));
  }

  #openOutages(): { readonly watched: Watched; readonly since: Date }[] {
    return this.#watched.flatMap((watched) => {
      const since = this.#log.openOutage(watchedName(watched));
      return since === undefined ? [] : [{ watched, since: new Date(since) }];
    });
  }

  async run(): Promise<WatchSummary> {
    const { now, signal } = this.#options;
    this.#setting = await holdSetting(this.#options, this.#options);
    this.#reloads.readAt = this.#startedAt = now();
    const stop = (): void => this.#stop.abort();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    try {
      this.#tellStatus();
      await this.#work();
      if (CHANGED.has((this.#errors[0] as Error | undefined)?.name ?? "")) await this.#lastRound();
    } finally {
      signal?.removeEventListener("abort", stop);
    }
    if (this.#errors.length > 0) throw this.#errors[0];
    return this.#summary();
  }

  /** Ends the watch if the work rejects, unless the watch has ended it. */
  async #guarded(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!(error instanceof ClientError && error.code === "aborted")) this.#errors.push(error);
      this.#stop.abort();
    });
  }

  async #work(): Promise<void> {
    const { log, once, reload } = this.#options;
    const { signal } = this.#stop;
    const handovers = Object.values(this.#handovers);
    for (const watched of this.#watched) this.#silence?.seen(watched);
    await this.#guarded(untilAborted(Promise.all(handovers.map((handover) => handover.begin())), signal));
    const handing = handovers.map((handover) => this.#guarded(handover.run(signal)));
    const end = reload?.when(() => {
      this.#reloads.ask();
      this.#wakeReload();
    });
    const beside = [this.#followSetting(), this.#keepSigns()].map((work) => this.#guarded(work));
    await Promise.all(this.#watched.map((watched) => this.#guarded(this.#follow(watched))));
    this.#silence?.end();
    end?.();
    if (this.#errors.length === 0) this.#outages.flush();
    const signOnce = async (): Promise<void> => (once && log !== undefined ? this.#signs.signIfDue() : undefined);
    await this.#guarded(this.#recorder.inOrder(signOnce, signal));
    for (const handover of handovers) handover.close();
    if (once) await Promise.all(handing);
    this.#stop.abort();
    const signEnd = async (): Promise<void> => (this.#hasSigns ? this.#signs.sign("stopped") : undefined);
    await this.#briefly(Promise.all([...handing, ...beside, this.#recorder.inOrder(signEnd)]));
  }

  #newStop(): AbortController {
    const stop = new AbortController();
    stop.signal.addEventListener("abort", () => {
      this.#makeDue();
      for (const one of this.#running) one.abort();
    });
    return stop;
  }

  async #run<T>(work: (signal: Signal) => Promise<T>, among = this.#running): Promise<T> {
    const own = new AbortController();
    if (this.#stop.signal.aborted) own.abort();
    among.add(own);
    return work(own.signal).finally(() => among.delete(own));
  }

  /** Polls a name until the watch ends. No name waits for another. */
  async #follow(watched: Watched): Promise<void> {
    const { once, intervalMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const turn = this.#turn;
      const failure = await this.#run((own) => this.#poll(watched, own));
      if (once) return;
      await this.#sleep(failure === null ? intervalMs : this.#outages.waitMs(watched), turn);
    }
  }

  async #poll(watched: Watched, signal: Signal): Promise<Failure | null> {
    await untilAborted(this.#log.check(), signal);
    if (!this.#recorder.isWritable) await this.#recorder.inOrder(() => this.#retry(), signal);
    const fetched = await this.#request(watched, signal);
    if (signal.aborted) return null;
    const failure =
      "failure" in fetched
        ? fetched.failure
        : await this.#recorder.inOrder(() => this.#record(watched, fetched.bootProof), signal);
    this.#note(watched, failure);
    return failure;
  }

  /** Notes the result of a poll. Throws {@link FetchError} if the first poll of every name is refused. */
  #note(watched: Watched, failure: Failure | null): void {
    const polls = this.#signs.count(watched, failure === null);
    if (polls === 1 && failure?.kind === "credentials") this.#strangers++;
    if (polls === 1 && this.#strangers === this.#watched.length) throw new FetchError("credentials", failure!.message);
    this.#outages.note(watched, failure);
    const name = watchedName(watched);
    this.#options.onPoll({
      at: this.#options.now(),
      watched,
      polls,
      failure,
      isRefused: this.#isRefused(watched),
      refusals: this.#refused.get(name) ?? 0,
      evidenceAt: this.#evidenceAt.get(name) ?? null,
      recorded: this.#recorder.recorded,
    });
  }

  #summary(): WatchSummary {
    const { refusal, outage } = this.#handovers;
    return {
      recorded: this.#recorder.recorded,
      polls: this.#signs.polls,
      refused: this.#watched.filter((watched) => this.#isRefused(watched)),
      unfetched: this.#outages.now,
      unseen: this.#watched.filter((watched) => !this.#seen.has(watchedName(watched))),
      silent: this.#silent.map((watched) => ({
        watched,
        since: this.#seen.get(watchedName(watched)) ?? this.#startedAt,
        message: this.#outages.failureOf(watched)?.message ?? null,
      })),
      waiting: refusal.waitingSince().length > 0,
      outagesWaiting: outage.waitingSince().length > 0,
      isFeedContradicted: this.#reloads.isContradicted,
      isLogWritable: this.#recorder.isWritable,
    };
  }

  /** Reports the status if it has changed. */
  #tellStatus(): void {
    const waiting = Object.values(this.#handovers).flatMap((handover) => handover.waitingSince());
    const [oldest] = waiting.sort();
    const signed = this.#setting?.policy.signed;
    const status = {
      settingRefusedSince: this.#reloads.refusedSince,
      settingReadAt: this.#reloads.readAt,
      policyDigest: this.#setting?.policyDigest ?? null,
      policyExpiresAt: signed ? new Date(signed.expiresAt) : null,
      isFeedContradicted: this.#reloads.isContradicted,
      isLogWritable: this.#recorder.isWritable,
      undelivered: { count: waiting.length, oldest: oldest === undefined ? null : new Date(oldest) },
    };
    const text = JSON.stringify(status);
    if (text !== this.#status) this.#options.onStatus(status);
    this.#status = text;
  }

  #endSilent(watched: Watched): void {
    this.#silent.push(watched);
    this.#stop.abort();
  }

  /** Makes all names due at once. */
  #makeDue(): void {
    this.#turn++;
    this.#wakeReload();
    for (const sleeper of this.#sleeping) sleeper.abort();
  }

  /** Sleeps, unless all names became due since this turn. */
  async #sleep(milliseconds: number, turn: number): Promise<void> {
    if (turn === this.#turn) await this.#run((own) => this.#pauseFor(milliseconds, own), this.#sleeping);
  }

  #pauseFor(milliseconds: number, signal: Signal): Promise<void> {
    return this.#options.sleep(milliseconds, signal).catch(() => {});
  }

  /** Waits for work that a hanging disk can hold up forever. */
  async #briefly(work: Promise<unknown>): Promise<void> {
    const ended = new AbortController();
    await Promise.race([work, this.#options.sleep(MOST_ENDING_MS, ended.signal)]).catch(() => {});
    ended.abort();
  }

  /**
   * Reads the setting again when asked, and after each interval while the newest reload is refused. With a signed
   * policy it is read again after each of its `refreshMs`.
   */
  async #followSetting(): Promise<void> {
    const { intervalMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const asked = new Promise<void>((resolve) => (this.#wakeReload = resolve));
      const refreshMs = this.#signed && Math.max(LEAST_REFRESH_MS, this.#signed.waitMs);
      const waitMs = refreshMs ?? (this.#reloads.refusedSince === null ? null : intervalMs);
      const due = waitMs === null ? [] : [this.#sleep(waitMs, this.#turn)];
      if (!this.#reloads.isAsked) await Promise.race([asked, ...due]);
      if (!signal.aborted) await this.#reload();
    }
  }

  async #reload(): Promise<void> {
    const { isAsked } = this.#reloads;
    const before = this.#setting!;
    const { setting, event } = await this.#reloads.next(before, this.#stop.signal);
    // A finding is verified and recorded in one step, so each is by the setting that the log has before it.
    await this.#recorder.inOrder(async () => {
      if (event !== null) await this.#recorder.record(event);
      this.#setting = setting;
    });
    this.#handovers.refusal.wake();
    this.#tellStatus();
    if (isAsked || setting !== before) this.#makeDue();
  }

  async #keepSigns(): Promise<void> {
    const { heartbeatMs } = this.#options;
    const { signal } = this.#stop;
    if (!this.#hasSigns) return;
    await this.#recorder.inOrder(() => this.#signs.started(this.#setting!.digest));
    while (!signal.aborted) {
      await this.#pauseFor(heartbeatMs, signal);
      if (!signal.aborted) await this.#recorder.inOrder(() => this.#signs.sign("heartbeat"));
    }
  }

  get #hasSigns(): boolean {
    return this.#options.log !== undefined && !this.#options.once;
  }

  /** Tries to write again, after the disk was full. */
  async #retry(): Promise<void> {
    if (this.#recorder.isWritable) return;
    if (this.#hasSigns) await this.#signs.sign("heartbeat");
    else await this.#recorder.recordKept();
  }

  async #recordOutage(event: LogEvent): Promise<void> {
    await this.#recorder.inOrder(() => this.#recorder.record(event));
    this.#handovers.outage.wake();
  }

  #isRefused(watched: Watched): boolean | null {
    const standing = this.#recorder.standing(watchedName(watched));
    return standing === undefined ? null : (standing.isRefused ?? standing.verdict === "rejected");
  }

  /** Fetches in a place for names that were good, or in one for names that fail. */
  #request(watched: Watched, signal: Signal): Promise<Fetched> {
    const { good, failing } = this.#places;
    return (this.#outages.failureOf(watched) === null ? good : failing).hold(() => this.#fetch(watched, signal));
  }

  async #mayRequest(): Promise<void> {
    for (let pause: unknown = null; pause !== this.#pause;) await (pause = this.#pause);
  }

  async #fetch(watched: Watched, signal: Signal): Promise<Fetched> {
    try {
      if (signal.aborted) throw new ClientError("aborted", "the watch has ended", { operation: null });
      const bootProof = await untilAborted(this.#options.newest(watched, signal), signal);
      if (bootProof !== null && bootProof !== undefined) return { bootProof };
      return { failure: { kind: "missing", message: "the service has no such boot proof", retryAfterMs: null } };
    } catch (error) {
      const failure = failureOf(error);
      const pauseMs = Math.min(failure.retryAfterMs ?? 0, MAX_WAIT_MS);
      if (pauseMs > 0) this.#pause = Promise.all([this.#pause, this.#run((own) => this.#pauseFor(pauseMs, own))]);
      return { failure };
    }
  }

  async #record(watched: Watched, answer: JsonValue): Promise<Failure | null> {
    if (this.#stop.signal.aborted) return null;
    const finding = await this.#judge(watched, answer);
    if ("kind" in finding) return finding;
    const name = watchedName(watched);
    this.#seen.set(name, this.#options.now());
    this.#silence?.seen(watched);
    if (this.#recorder.standing(name)?.key === standingOf(finding)) return null;
    if (!isAccepted(finding)) this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
    await this.#recorder.record(finding);
    this.#handovers.refusal.wake();
    return null;
  }

  async #judge(watched: Watched, answer: JsonValue): Promise<Finding | Failure> {
    const { policy, evidence, options, digest: settingDigest } = this.#setting!;
    const { value: bootProof, faults } = attempt(() => recordable(answer));
    if (bootProof === undefined) return { kind: "answer", message: faultText(faults), retryAfterMs: null };
    const piece = isApp(watched)
      ? new NamedEvidence(watched.app, bootProof, { latestOf: watched.app })
      : new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(watched.ephemeralKey)! });
    const { report } = await verifyEvidence(
      { bootProofs: [piece], ...evidence },
      { ...options, bootProofsOnly: true, policy, now: this.#options.now(), cache: this.#cache },
    );
    const [boot] = report.claims?.bootProofs ?? [];
    // Only a report of verified evidence has claims.
    if (boot !== undefined) this.#evidenceAt.set(watchedName(watched), new Date(boot.hardware.documentTime));
    return findingOf(watched, bootProof, { report, settingDigest }).catch(asFailure);
  }

  /** Fetches and verifies each name once more, and hands on what is refused, since no log will have it. */
  async #lastRound(): Promise<void> {
    if (this.#options.signal?.aborted) return;
    this.#stop = this.#newStop();
    await Promise.all(this.#watched.map((watched) => this.#run((signal) => this.#lastPoll(watched, signal))));
    await this.#handovers.refusal.handOnLast(this.#stop.signal);
  }

  async #lastPoll(watched: Watched, signal: Signal): Promise<void> {
    const fetched = await this.#request(watched, signal);
    const found = "failure" in fetched ? fetched.failure : await this.#judge(watched, fetched.bootProof);
    if (!("kind" in found)) return void this.#recorder.showUnrecorded(found);
    const { kind, message } = found;
    const at = this.#options.now();
    this.#options.onMessage({ event: "outage", at, since: at, kind, watched: [watched], message, again: false });
  }
}

/**
 * Returns the answer in the form that a line of the log has. The watch verifies this form, so the line reproduces the
 * verdict.
 */
function recordable(answer: JsonValue): JsonValue {
  return parseJson(JSON.stringify(copyJson(answer)));
}

function asFailure(error: unknown): Failure {
  if (error instanceof MalformedError) return { kind: "answer", message: error.message, retryAfterMs: null };
  throw error;
}
