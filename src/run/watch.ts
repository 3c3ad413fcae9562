/**
 * The watch (run/README.md, "The watch"). Each poll fetches the newest boot proofs, verifies them at the current time,
 * and records results that are news.
 */
import { NamedEvidence, verifyEvidence } from "../bootproof.js";
import { fromHex, toUtf8 } from "../bytes.js";
import { type JsonValue, copyJson, parseJson } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { callable, having, instanceOf, options, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, flag, hex, list, nonEmptyText, optional, wholeNumber } from "../decode/shapes.js";
import { ClientError } from "../door/errors.js";
import type { Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import { PLAIN_OPTIONS } from "../plain-settings.js";
import { isAccepted } from "../report/accepted.js";
import type { Report } from "../report/report.js";
import { SignedPolicy } from "../signed-policy/open.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { TOOL } from "../version.js";
import { Announcer, type Deliver } from "./announce.js";
import type { WatchPoll, WatchStatus } from "./health.js";
import {
  type PollCount,
  type RunContent,
  type RunLine,
  type Watched,
  type WatchResult,
  evidenceDigest,
  isApp,
  watchedName,
} from "./line.js";
import { type Announced, RunLog, standingOf, unrecorded } from "./log.js";
import {
  type Failure,
  FetchError,
  MAX_WAIT_MS,
  type Outage,
  type WatchMessage,
  backoffMs,
  failureOf,
  newOutage,
  outageAfterFailure,
  outageEnd,
  passedMs,
} from "./outages.js";
import {
  type HeldSetting,
  Reloads,
  type SettingReload,
  type Strictness,
  type WatchSetting,
  holdSetting,
} from "./reload.js";
import { idsOf } from "./result.js";

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
  /** The file of results, such as `openLog(path)` of `bootproof/run/node`. Default: memory only. */
  readonly log?: RunLog;
  /** Milliseconds from the end of a good poll of a name to its next one, 1,000 to 86,400,000. Default: 60,000. */
  readonly intervalMs?: number;
  /** Milliseconds between two signs of life in the file, 1,000 to 604,800,000. Default: 3,600,000. */
  readonly aliveMs?: number;
  /** Whether the watch ends after one poll of each name. */
  readonly once?: boolean;
  /** Receives each line once it is in the file, and each refusal that the file does not take. */
  readonly onEntry?: (line: RunLine | Pick<RunLine, "bytes">) => void;
  /**
   * Delivers each refusal at least once, in order, one at a time; without a file at most once. After five rejections
   * the next one is delivered, and this one is tried again after five minutes, and after a restart. A feed of a signed
   * policy that was rolled back or forked is a refusal, too.
   */
  readonly onRefusal?: Deliver;
  /** Delivers the beginning and the end of outages as `onRefusal` does refusals. Neither waits for the other. */
  readonly onOutage?: Deliver;
  /**
   * Number of failed polls, 0 to 1,000,000. Beginning and end of an outage are recorded only if more than this number
   * of polls of this process failed. An outage without an end in the file continues after a restart. Default: 5.
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
   * Reloads policy and bundles while the watch runs, all of them or none. A changed setting is recorded, and all names
   * are polled at once. A refused reload is recorded, too, and is tried again after each interval, or after `refreshMs`
   * of a signed policy.
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

export interface WatchSummary {
  /** Number of lines that this process recorded. */
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
  /** What was not announced, of each kind for which there is a target. */
  readonly waiting: readonly Announced[];
  /** Whether the feed of the signed policy was rolled back or forked at the newest refresh. */
  readonly isFeedContradicted: boolean;
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
  ...{ intervalMs: 60_000, aliveMs: 3_600_000, outageAfter: 5, outageRepeatMs: 3_600_000, once: false },
  ...{ onEntry: NOTHING, onPoll: NOTHING, onStatus: NOTHING, onMessage: NOTHING },
};
type Settings = WatchOptions & Required<Pick<WatchOptions, keyof typeof DEFAULTS>>;

/** Milliseconds that the end of a watch waits for its file. */
const MOST_ENDING_MS = 5000;
/** Milliseconds after which the last round waits for no response. */
const MOST_LAST_ROUND_MS = 60_000;
const LEAST_REFRESH_MS = 1000;
/** Number of requests at once. One that takes longer than a second counts no more, so that it delays no other name. */
const MOST_REQUESTS = 4;
const MOST_COUNTED_MS = 1000;
/** Limit of a boot proof as JSON text, in bytes: twice that of a response, because rewriting can lengthen numbers. */
const MAX_BOOT_PROOF_BYTES = 2 * 1024 * 1024;

/**
 * Watches until the signal is aborted, or for one poll. Rejects with TypeError for invalid options; with the error of
 * the file if it takes no line any more, after the refusal that it did not take was delivered; and with
 * {@link FetchError} if the service refuses the credentials for every name in the first poll. Other errors of the
 * service or the network do not end the watch.
 * @example
 * ```ts
 * const { log, close } = await openLog("boots.jsonl");
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
  log: optional(instanceOf(RunLog, "a RunLog")),
  intervalMs: optional(wholeNumber(1000, 86_400_000)),
  aliveMs: optional(wholeNumber(1000, WEEK_MS)),
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

interface Turn {
  readonly begun: Promise<void>;
  readonly ended: AbortController;
}

type Fetched = { readonly bootProof: JsonValue } | { readonly failure: Failure };

/** What this watch knows of one name. */
interface Name {
  readonly watched: Watched;
  outage: Outage | null;
  polls: number;
  refusals: number;
  seenAt: Date | null;
  evidenceAt: Date | null;
  /** Ends the timer of `maxSilenceMs`. */
  silence: AbortController;
  /** Polls since the last sign of life. */
  good: number;
  failed: number;
}

class Watch {
  readonly #options: Settings;
  readonly #log: RunLog;
  readonly #names: ReadonlyMap<string, Name>;
  readonly #cache: SignatureCache;
  readonly #silent: Name[] = [];
  readonly #announcers: Readonly<Partial<Record<Announced, Announcer>>>;
  readonly #reloads: Reloads;
  readonly #signed: SignedPolicy | null;
  readonly #stop = new AbortController();
  readonly #running = new Set<AbortController>();
  readonly #requests = new Set<AbortController>();
  readonly #sleeping = new Set<AbortController>();
  readonly #errors: unknown[] = [];
  #setting: HeldSetting | null = null;
  #startedAt: Date;
  #signedAt: Date | null = null;
  #recorded = 0;
  #status = "";
  #unauthorized = 0;
  /** Whether the file takes no line any more, so that each name is polled once more. */
  #isLastRound = false;
  /** Rises when all names become due at once. */
  #turn = 0;
  #wakeReload: () => void = NOTHING;
  #pause: Promise<unknown> = Promise.resolve();
  /** The newest requests. */
  #turns: readonly Turn[] = [];

  constructor(given: WatchOptions) {
    const own = typedOptions("options", given, WATCH_OPTIONS);
    this.#options = Object.assign(Object.create(null), DEFAULTS, own) as Settings;
    const { log = new RunLog(), now, onMessage: report, outageRepeatMs: repeatMs, random, sleep } = this.#options;
    const { policy, reload } = this.#options;
    const none = { polls: 0, refusals: 0, seenAt: null, evidenceAt: null, good: 0, failed: 0 };
    this.#names = new Map(
      watchedBy(this.#options).map((watched) => {
        const since = log.outageSince(watched);
        const outage = since && newOutage(since, true);
        return [watchedName(watched), { watched, outage, silence: new AbortController(), ...none }];
      }),
    );
    this.#log = log;
    this.#cache = own.cache ?? new SignatureCache();
    this.#startedAt = now();
    const shared = { now, random, sleep, report };
    const announcer = (what: Announced, deliver: Deliver | undefined): Partial<Record<Announced, Announcer>> =>
      deliver === undefined
        ? {}
        : {
            [what]: new Announcer({ ...shared, what, log: this.#log, deliver, announced: (of) => this.#announced(of) }),
          };
    this.#announcers = { ...announcer("refusal", own.onRefusal), ...announcer("outage", own.onOutage) };
    const read = reload?.read ?? ((): Promise<WatchSetting> => Promise.resolve(own));
    this.#signed = SignedPolicy.is(policy) ? policy : null;
    // A feed that is refused is reported at each refresh.
    this.#reloads = new Reloads({ ...shared, repeatMs: this.#signed ? 0 : repeatMs, strictness: own, read });
  }

  async run(): Promise<WatchSummary> {
    const { now, signal } = this.#options;
    this.#setting = await holdSetting(this.#options, this.#options);
    this.#reloads.readAt = this.#startedAt = now();
    this.#stop.signal.addEventListener("abort", () => {
      this.#makeDue();
      for (const one of [...this.#running, ...this.#requests]) one.abort();
    });
    const stop = (): void => this.#stop.abort();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    try {
      this.#reportStatus();
      await this.#work();
    } finally {
      signal?.removeEventListener("abort", stop);
    }
    if (this.#errors.length > 0) throw this.#errors[0];
    return this.#summary();
  }

  /** Ends the watch if the work rejects, unless the watch has ended it; in a last round once each name was polled. */
  async #guarded(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!(error instanceof ClientError && error.code === "aborted")) this.#errors.push(error);
      if (!this.#isLastRound) this.#stop.abort();
    });
  }

  async #work(): Promise<void> {
    const { once, reload } = this.#options;
    const { signal } = this.#stop;
    for (const name of this.#names.values()) this.#limitSilence(name);
    const announcers = Object.values(this.#announcers);
    const announcing = announcers.map((announcer) => this.#guarded(announcer.run(signal)));
    const end = reload?.when(() => {
      this.#reloads.isAsked = true;
      this.#wakeReload();
    });
    const beside = [this.#followSetting(), this.#keepSigns()].map((work) => this.#guarded(work));
    await Promise.all([...this.#names.values()].map((name) => this.#guarded(this.#follow(name))));
    for (const { silence } of this.#names.values()) silence.abort();
    end?.();
    if (this.#errors.length === 0) await this.#guarded(this.#signOnce());
    for (const announcer of announcers) announcer.close();
    if (once) await Promise.all(announcing);
    this.#stop.abort();
    const stopped = this.#hasSigns && this.#errors.length === 0 ? this.#sign("stopped", this.#signedAt) : null;
    await this.#briefly(Promise.all([...announcing, ...beside, stopped]));
  }

  /** Records what waits, and of a scheduled watch a sign of life, if it is due. */
  async #signOnce(): Promise<void> {
    const { once, aliveMs, now } = this.#options;
    // A clock that was set back must not put it off.
    const last = this.#log.lastSign === undefined ? null : new Date(this.#log.lastSign);
    const isDue = last === null || last > now() || passedMs(last, now()) >= aliveMs;
    if (once && isDue && this.#log.isKept) await this.#sign("alive", last);
  }

  async #run<T>(work: (signal: Signal) => Promise<T>, among = this.#running): Promise<T> {
    const own = new AbortController();
    if (this.#stop.signal.aborted) own.abort();
    among.add(own);
    return work(own.signal).finally(() => among.delete(own));
  }

  /** Polls a name until the watch ends. No name waits for another. */
  async #follow(name: Name): Promise<void> {
    const { once, intervalMs, random } = this.#options;
    while (!this.#stop.signal.aborted) {
      const turn = this.#turn;
      const failure = await this.#run((own) => this.#poll(name, own));
      if (once || this.#isLastRound) return;
      const { failedPolls = 1 } = name.outage ?? {};
      await this.#sleep(failure === null ? intervalMs : backoffMs(failedPolls - 1, random()), turn);
    }
  }

  async #poll(name: Name, signal: Signal): Promise<Failure | null> {
    const fetched = await this.#run((own) => this.#fetch(name.watched, own), this.#requests);
    if (signal.aborted) return null;
    const work = (): Promise<Failure | null> =>
      this.#take(name, (fetched as { readonly bootProof: JsonValue }).bootProof);
    const failure = "failure" in fetched ? fetched.failure : await untilAborted(this.#log.inOrder(work), signal);
    this.#note(name, failure);
    return failure;
  }

  /** Notes the result of a poll. Throws {@link FetchError} if the first poll of every name is refused. */
  #note(name: Name, failure: Failure | null): void {
    const { watched } = name;
    name.polls++;
    if (failure === null) name.good++;
    else name.failed++;
    if (name.polls === 1 && failure?.kind === "credentials") this.#unauthorized++;
    if (name.polls === 1 && this.#unauthorized === this.#names.size)
      throw new FetchError("credentials", failure!.message);
    const at = this.#options.now();
    this.#noteOutage(name, failure, at);
    const { polls, refusals, evidenceAt } = name;
    const isRefused = this.#log.standing(watched)?.isRefused ?? null;
    const counts = { polls, refusals, evidenceAt, recorded: this.#recorded };
    this.#options.onPoll({ at, watched, failure, isRefused, ...counts });
  }

  #noteOutage(name: Name, failure: Failure | null, at: Date): void {
    const { onMessage, outageAfter: after, outageRepeatMs: repeatMs } = this.#options;
    const poll = { watched: name.watched, at, after, repeatMs };
    if (failure === null && name.outage === null) return;
    const before = name.outage ?? newOutage(at, false);
    const { outage, message, event } = failure ? outageAfterFailure(before, failure, poll) : outageEnd(before, poll);
    name.outage = outage;
    if (message) onMessage(message);
    if (event) void this.#guarded(this.#record(event));
  }

  #summary(): WatchSummary {
    const names = [...this.#names.values()];
    const watchedOf = (which: (name: Name) => boolean): Watched[] => names.filter(which).map(({ watched }) => watched);
    return {
      recorded: this.#recorded,
      polls: names.reduce((sum, { polls }) => sum + polls, 0),
      refused: watchedOf(({ watched }) => this.#log.standing(watched)?.isRefused === true),
      unfetched: names.flatMap(({ watched, outage }) => (outage?.failure ? [{ ...outage.failure, watched }] : [])),
      unseen: watchedOf(({ seenAt }) => seenAt === null),
      silent: this.#silent.map(({ watched, seenAt, outage }) => ({
        watched,
        since: seenAt ?? this.#startedAt,
        message: outage?.failure?.message ?? null,
      })),
      waiting: this.#kinds.filter((what) => this.#log.pending(what).length > 0),
      isFeedContradicted: this.#reloads.refusal?.isContradiction === true,
    };
  }

  /** The kinds that have a target. */
  get #kinds(): Announced[] {
    return Object.keys(this.#announcers) as Announced[];
  }

  /** Reports the status if it has changed. */
  #reportStatus(): void {
    const waiting = this.#kinds.flatMap((what) => this.#log.pending(what));
    const [oldest] = waiting.map(({ at }) => at).sort();
    const signed = this.#setting?.policy.signed;
    const status = {
      settingRefusedSince: this.#reloads.refusal?.since ?? null,
      settingReadAt: this.#reloads.readAt,
      policyDigest: this.#setting?.policyDigest ?? null,
      policyExpiresAt: signed ? new Date(signed.expiresAt) : null,
      isFeedContradicted: this.#reloads.refusal?.isContradiction === true,
      undelivered: { count: waiting.length, oldest: oldest === undefined ? null : new Date(oldest) },
    };
    const text = JSON.stringify(status);
    if (text !== this.#status) this.#options.onStatus(status);
    this.#status = text;
  }

  /** Restarts the timer of a name. No times are compared: clocks may be set, and a request may never end. */
  #limitSilence(name: Name): void {
    const { maxSilenceMs, sleep } = this.#options;
    name.silence.abort();
    if (maxSilenceMs === undefined) return;
    const { signal } = (name.silence = new AbortController());
    const end = (): void => {
      if (signal.aborted) return;
      this.#silent.push(name);
      this.#stop.abort();
    };
    sleep(maxSilenceMs, signal).then(end, NOTHING);
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
    return this.#options.sleep(milliseconds, signal).catch(NOTHING);
  }

  /** Waits for work that a hanging disk can hold up forever. */
  async #briefly(work: Promise<unknown>): Promise<void> {
    const ended = new AbortController();
    await Promise.race([work, this.#options.sleep(MOST_ENDING_MS, ended.signal)]).catch(NOTHING);
    ended.abort();
  }

  /**
   * Reads the setting again when asked, and after each interval while the newest reload is refused. With a signed
   * policy it is read again after each of its `refreshMs`.
   */
  async #followSetting(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const asked = new Promise<void>((resolve) => (this.#wakeReload = resolve));
      const refreshMs = this.#signed && Math.max(LEAST_REFRESH_MS, this.#signed.waitMs);
      const waitMs = refreshMs ?? (this.#reloads.refusal && this.#options.intervalMs);
      const due = waitMs === null ? [] : [this.#sleep(waitMs, this.#turn)];
      if (!this.#reloads.isAsked) await Promise.race([asked, ...due]);
      if (!signal.aborted) await this.#reload();
    }
  }

  async #reload(): Promise<void> {
    const { isAsked } = this.#reloads;
    const before = this.#setting!;
    const { setting, event } = await this.#reloads.next(before, this.#stop.signal);
    // A result is verified and recorded in one step, so each is by the setting that the file has before it.
    await this.#log.inOrder(async () => {
      if (event !== null) await this.#append(event);
      this.#setting = setting;
    });
    this.#reportStatus();
    if (isAsked || setting !== before) this.#makeDue();
  }

  get #hasSigns(): boolean {
    return this.#log.isKept && !this.#options.once;
  }

  async #keepSigns(): Promise<void> {
    const { aliveMs, now } = this.#options;
    const { signal } = this.#stop;
    if (!this.#hasSigns) return;
    const watched = [...this.#names.values()].map((name) => name.watched);
    const { digest: settingDigest } = this.#setting!;
    await this.#record({ event: "started", watched, aliveMs, tool: TOOL, settingDigest, setting: null });
    for (this.#signedAt = now(); !signal.aborted;) {
      await this.#pauseFor(aliveMs, signal);
      if (!signal.aborted) await this.#sign("alive", this.#signedAt);
    }
  }

  /** Records a sign of life, with the polls since the one before. */
  async #sign(event: "alive" | "stopped", since: Date | null): Promise<void> {
    const at = this.#options.now();
    const polls = [...this.#names.values()].map((name): PollCount => {
      const { watched, good, failed } = name;
      [name.good, name.failed] = [0, 0];
      return { ...watched, good, failed };
    });
    await this.#record({ event, since: (since ?? at).toISOString(), polls });
    this.#signedAt = at;
  }

  #record(content: RunContent): Promise<void> {
    return this.#log.inOrder(() => this.#append(content));
  }

  async #announced(of: number): Promise<void> {
    await this.#record({ event: "announced", of });
    this.#reportStatus();
  }

  /**
   * Appends a line, in order. A refusal that the file does not take is announced without it. Each name is polled once
   * more, unless another process has the file, and then the watch ends.
   */
  async #append(content: RunContent): Promise<void> {
    const at = this.#options.now();
    const own = "verdict" in content ? this.#verifiedAt : at;
    try {
      const line = await this.#log.record(own, content);
      this.#recorded++;
      this.#options.onEntry(line);
    } catch (error) {
      if ("verdict" in content && !isAccepted(content)) await this.#showUnrecorded(content as WatchResult, own);
      if ((error as { readonly code?: unknown }).code !== "in-use") this.#beginLastRound();
      throw error;
    }
    for (const announcer of Object.values(this.#announcers)) announcer.wake();
    this.#reportStatus();
  }

  #beginLastRound(): void {
    const giveUp = (): void => this.#requests.forEach((one) => one.abort());
    if (!this.#isLastRound) this.#options.sleep(MOST_LAST_ROUND_MS, this.#stop.signal).then(giveUp, NOTHING);
    this.#isLastRound = true;
    this.#makeDue();
  }

  /** Time of the verification whose result is being recorded. */
  #verifiedAt = new Date(0);

  async #showUnrecorded(result: WatchResult, at: Date): Promise<void> {
    const { onEntry, onMessage, signal } = this.#options;
    const bytes = unrecorded(at, result);
    onEntry({ bytes });
    const { bootProofs: _, ...shown } = result;
    onMessage({ event: "unrecorded", at, result: shown });
    await this.#announcers.refusal?.deliver({ bytes }, signal ?? new AbortController().signal, null);
  }

  /** Waits until there is room for a request, and for the end of each pause that the service demanded. */
  async #mayRequest(before: Turn | undefined): Promise<void> {
    await before?.begun;
    if (before?.ended.signal.aborted === false) await this.#pauseFor(MOST_COUNTED_MS, before.ended.signal);
    for (let pause: unknown = null; pause !== this.#pause;) await (pause = this.#pause);
  }

  async #fetch(watched: Watched, signal: Signal): Promise<Fetched> {
    const [before, ended] = [this.#turns.at(-MOST_REQUESTS), new AbortController()];
    const begun = this.#mayRequest(before);
    this.#turns = [...this.#turns.slice(1 - MOST_REQUESTS), { begun, ended }];
    try {
      await untilAborted(begun, signal);
      const bootProof = await untilAborted(this.#options.newest(watched, signal), signal);
      if (bootProof !== null && bootProof !== undefined) return { bootProof };
      return { failure: { kind: "missing", message: "the service has no such boot proof", retryAfterMs: null } };
    } catch (error) {
      const failure = failureOf(error);
      const pauseMs = Math.min(failure.retryAfterMs ?? 0, MAX_WAIT_MS);
      const pause = (): Promise<void> => this.#run((own) => this.#pauseFor(pauseMs, own));
      if (pauseMs > 0) this.#pause = Promise.all([this.#pause, pause()]);
      return { failure };
    } finally {
      ended.abort();
    }
  }

  /** Judges a boot proof, and records its result if that is news. */
  async #take(name: Name, answer: JsonValue): Promise<Failure | null> {
    if (this.#stop.signal.aborted) return null;
    const result = await this.#judge(name, answer);
    if ("kind" in result) return result;
    name.seenAt = this.#options.now();
    this.#limitSilence(name);
    if (this.#log.standing(name.watched)?.key === standingOf(result)) return null;
    if (!isAccepted(result)) name.refusals++;
    await this.#append(result);
    return null;
  }

  async #judge(name: Name, answer: JsonValue): Promise<WatchResult | Failure> {
    const { policy, evidence, options: strictness, digest: settingDigest, policyDigest } = this.#setting!;
    const { watched } = name;
    // The watch verifies the form that a line has, so the line reproduces the verdict.
    const { value: bootProof, faults } = attempt(() => parseJson(JSON.stringify(copyJson(answer))));
    if (bootProof === undefined) return { kind: "answer", message: faultText(faults), retryAfterMs: null };
    const piece = isApp(watched)
      ? new NamedEvidence(watched.app, bootProof, { latestOf: watched.app })
      : new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(watched.ephemeralKey)! });
    const now = (this.#verifiedAt = this.#options.now());
    const { report } = await verifyEvidence(
      { bootProofs: [piece], ...evidence },
      { ...strictness, bootProofsOnly: true, policy, now, cache: this.#cache },
    );
    const [boot] = report.claims?.bootProofs ?? [];
    // Only a report of verified evidence has claims.
    if (boot !== undefined) name.evidenceAt = new Date(boot.hardware.documentTime);
    return watchResultOf(watched, bootProof, report, { policyDigest, settingDigest }).catch((error: unknown) => {
      if (error instanceof MalformedError) return { kind: "answer", message: error.message, retryAfterMs: null };
      throw error;
    });
  }
}

/** Makes a result of a report. Rejects with {@link MalformedError} if the boot proof is too large. */
export async function watchResultOf(
  watched: Watched,
  bootProof: JsonValue,
  { verdict, stale, checks, claims, refusedFor }: Report,
  digests: Pick<WatchResult, "policyDigest" | "settingDigest">,
): Promise<WatchResult> {
  const text = JSON.stringify(bootProof);
  const { length } = toUtf8(text);
  if (length > MAX_BOOT_PROOF_BYTES)
    throw new MalformedError("boot-proof", [
      { path: "", message: `${length} bytes as JSON text, expected at most ${MAX_BOOT_PROOF_BYTES}` },
    ]);
  const names = (claims?.bootProofs ?? []).flatMap(({ deployment }) => deployment ?? []);
  return {
    ...watched,
    entry: await evidenceDigest(text),
    verdict,
    failed: idsOf(checks, "fail"),
    warnings: idsOf(checks, "warn"),
    ...(stale && { stale }),
    ...(refusedFor && { refusedFor }),
    ...(names.length > 0 && { deployments: names }),
    ...digests,
    details: checks.flatMap(({ id, status, subject, detail }) => (status === "fail" ? [{ id, subject, detail }] : [])),
    bootProofs: [bootProof],
  };
}
