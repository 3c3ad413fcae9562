/**
 * The watch (watch/README.md). Each poll fetches the newest boot proofs, verifies them at the current time, and records
 * findings that are new.
 */
import { NamedEvidence, verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { type JsonValue, copyJson, parseJson } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { callable, having, instanceOf, options, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, flag, hex, list, nonEmptyText, oneOf, optional, wholeNumber } from "../decode/shapes.js";
import type { Signal } from "../client/platform.js";
import { untilAborted } from "../client/transport.js";
import { inTurns } from "../verify/in-turns.js";
import { SignatureCache } from "../verify/signature-cache.js";
import {
  type Finding,
  type FindingEntry,
  type LogLine,
  type Watched,
  eventLineAfter,
  findingOf,
  isApp,
  lineAfter,
  standingOf,
  watchedName,
} from "./entry.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import { Handover } from "./handover.js";
import { type Failure, type WatchMessage, FetchError, Outages, Silence, failureOf } from "./outages.js";
import { type HeldSetting, Reloads, type SettingReload, type WatchSetting, holdSetting } from "./setting.js";
import { type LogStore, type OutageEntry, isRefusal, memoryStore } from "./store.js";

export interface WatchOptions extends WatchSetting {
  /** Whether debug mode is accepted with a warning, even if the policy does not allow it. */
  readonly allowDebug?: boolean;
  /** `strict` refuses a boot proof if something weakens its verdict. Default: `standard`. */
  readonly acceptance?: "standard" | "strict";
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
  /** Milliseconds from the end of a poll to the next one, 1,000 to 86,400,000. Default: 60,000. */
  readonly intervalMs?: number;
  /** Whether the watch ends after one poll. Each refusal then gets at most three attempts of delivery. */
  readonly once?: boolean;
  /** Receives each entry once it is in the log. */
  readonly onEntry?: (line: LogLine) => void;
  /**
   * Delivers each refusal at least once, in order, one at a time. A rejected delivery is repeated, even after a
   * restart.
   */
  readonly onRefusal?: (line: LogLine<FindingEntry>, signal: Signal) => Promise<void>;
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
   * (`setting-changed`), and a poll uses it at once. A refused reload is recorded, too (`setting-refused`), and is
   * tried again before each poll.
   */
  readonly reload?: SettingReload;
  /** Receives the result of each poll, once its entries are in the log. */
  readonly onPoll?: (poll: WatchPoll) => void;
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

/** Result of one poll, and counts of this watch so far. */
export interface WatchPoll {
  /** End of the poll. */
  readonly at: Date;
  readonly polls: number;
  /** Number of entries that this watch recorded. */
  readonly recorded: number;
  /** Time of the first refused reload; null unless the newest reload was refused. */
  readonly settingRefusedSince: Date | null;
  /** Applications and then keys, in the order of the options. */
  readonly watched: readonly {
    readonly watched: Watched;
    /** Why the boot proof could not be fetched or read; null after a good poll. */
    readonly failure: Failure | null;
    /** Whether the newest verdict of this name is a refusal, even one from before this watch. */
    readonly isRefused: boolean;
    /** Number of refusals that this watch recorded. */
    readonly refusals: number;
    /** Time in the newest verified attestation document of this name; null before this watch verified one. */
    readonly evidenceAt: Date | null;
  }[];
}

export interface WatchSummary {
  readonly recorded: number;
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
}

export interface Silent {
  readonly watched: Watched;
  /** Time of the last good poll of this name, or of the start of the watch. */
  readonly since: Date;
  /** The newest failure; null without one. It may quote the service: escape it before you print it. */
  readonly message: string | null;
}

const DEFAULT_INTERVAL_MS = 60_000;
const DEFAULT_OUTAGE_AFTER = 5;
const DEFAULT_REPEAT_MS = 3_600_000;
const WEEK_MS = 604_800_000;
/** Limit of concurrent requests, because each response may be large. */
const AT_ONCE = 4;

/**
 * Watches until the signal is aborted, or for one poll. Rejects with TypeError for invalid options, and if an entry
 * cannot be written. Rejects with {@link FetchError} if the service refuses the credentials for every name in the first
 * poll. Other errors of the service or the network do not end the watch.
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
const WATCH_OPTIONS: MembersOf<WatchOptions> = {
  policy: plain,
  allowDebug: optional(flag),
  acceptance: optional(oneOf("standard", "strict")),
  apps: optional(list(nonEmptyText)),
  ephemeralKeys: optional(list(KEY)),
  newest: callable,
  log: optional(having("append")),
  intervalMs: optional(wholeNumber(1000, 86_400_000)),
  once: optional(flag),
  onEntry: optional(callable),
  onRefusal: optional(callable),
  onOutage: optional(callable),
  outageAfter: optional(wholeNumber(0, 1_000_000)),
  outageRepeatMs: optional(wholeNumber(60_000, WEEK_MS)),
  maxSilenceMs: optional(wholeNumber(0, WEEK_MS)),
  reload: optional(options<SettingReload>({ read: callable, when: callable })),
  onPoll: optional(callable),
  onMessage: optional(callable),
  signal: optional(having()),
  now: callable,
  sleep: callable,
  random: callable,
  cache: optional(instanceOf(SignatureCache, "a SignatureCache")),
  provenance: optional(list(plain)),
  provenanceVerifier: optional(having("verify")),
};

function watchedBy(options: WatchOptions): Watched[] {
  const { apps = [], ephemeralKeys = [], intervalMs = DEFAULT_INTERVAL_MS, maxSilenceMs = Infinity } = options;
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
  readonly #options: WatchOptions;
  readonly #watched: readonly Watched[];
  readonly #log: LogStore;
  readonly #cache: SignatureCache;
  readonly #outages: Outages;
  readonly #refusals: Handover;
  readonly #outageEntries: Handover;
  readonly #silence: Silence | null;
  readonly #stop = new AbortController();
  /** Time of the last good poll of each name. */
  readonly #seen = new Map<string, Date>();
  readonly #silent: Watched[] = [];
  #startedAt = new Date(0);
  readonly #reloads: Reloads;
  /** The present setting; null before the start. */
  #setting: HeldSetting | null = null;
  #wake = (): void => {};
  #appending: Promise<unknown> = Promise.resolve();
  readonly #evidenceAt = new Map<string, Date>();
  readonly #refused = new Map<string, number>();
  #polls = 0;
  #recorded = 0;

  constructor(given: WatchOptions) {
    const options = typedOptions("options", given, WATCH_OPTIONS);
    this.#options = options;
    this.#watched = watchedBy(options);
    this.#log = options.log ?? memoryStore();
    this.#cache = options.cache ?? new SignatureCache();
    const tell = options.onMessage ?? ((): void => {});
    const { now, random, sleep, outageAfter, outageRepeatMs, maxSilenceMs } = options;
    const open = this.#watched.flatMap((one) => {
      const since = this.#log.openOutage(watchedName(one));
      return since === undefined ? [] : [{ watched: one, since: new Date(since) }];
    });
    const [after, repeatMs] = [outageAfter ?? DEFAULT_OUTAGE_AFTER, outageRepeatMs ?? DEFAULT_REPEAT_MS];
    const read = options.reload?.read ?? (() => Promise.reject(new TypeError("options.reload: required")));
    this.#reloads = new Reloads({ read, tell, now, repeatMs, strictness: options });
    this.#outages = new Outages({ now, random, tell, after, repeatMs, open });
    const shared = { ...options, log: this.#log, tell };
    this.#refusals = new Handover({ ...shared, what: "refusal", deliver: options.onRefusal });
    // Outages are delivered apart from refusals, so a failing delivery of one kind does not delay the other.
    this.#outageEntries = new Handover({ ...shared, what: "outage", deliver: options.onOutage });
    const limit = (signal: Signal): Promise<void> => sleep(maxSilenceMs!, signal);
    this.#silence = maxSilenceMs === undefined ? null : new Silence(limit, (one) => this.#endSilent(one));
  }

  async run(): Promise<WatchSummary> {
    const { signal, once = false } = this.#options;
    this.#setting = await holdSetting(this.#options, this.#options);
    const stop = (): void => this.#stop.abort();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const handovers = [this.#refusals, this.#outageEntries];
    const handing = handovers.map((handover) => handover.run(this.#stop.signal));
    // If `run` rejects, the watch stops, and the `await` below throws the error.
    for (const one of handing) one.catch(stop);
    try {
      await this.#pollOn(once);
      for (const handover of handovers) handover.close();
      if (!once) stop();
      await Promise.all(handing);
    } catch (error) {
      stop();
      await Promise.allSettled(handing);
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
    return this.#summary();
  }

  async #pollOn(once: boolean): Promise<void> {
    const { now, reload, intervalMs = DEFAULT_INTERVAL_MS } = this.#options;
    const { signal } = this.#stop;
    this.#startedAt = now();
    for (const watched of this.#watched) this.#silence?.seen(watched);
    const end = reload?.when(() => {
      this.#reloads.ask();
      this.#wake();
    });
    try {
      while (!signal.aborted) {
        // If another process has taken over the log, the watch must end even if this poll would write nothing.
        await this.#log.requireHeld();
        await this.#takeSetting();
        const failures = await this.#poll();
        if (signal.aborted || once) return;
        await this.#sleep(failures.length < this.#watched.length ? intervalMs : this.#outages.waitMs(failures));
      }
    } finally {
      this.#silence?.end();
      end?.();
    }
  }

  async #summary(): Promise<WatchSummary> {
    const refused = this.#watched.filter((watched) => this.#isRefused(watched));
    return {
      recorded: this.#recorded,
      polls: this.#polls,
      refused,
      unfetched: this.#outages.now,
      unseen: this.#watched.filter((watched) => !this.#seen.has(watchedName(watched))),
      silent: this.#silent.map((watched) => ({
        watched,
        since: this.#seen.get(watchedName(watched)) ?? this.#startedAt,
        message: this.#outages.failureOf(watched)?.message ?? null,
      })),
      waiting: await this.#refusals.isWaiting(),
      outagesWaiting: await this.#outageEntries.isWaiting(),
    };
  }

  #endSilent(watched: Watched): void {
    this.#silent.push(watched);
    this.#stop.abort();
  }

  /** Waits until the next poll is due, a reload is requested, or the watch ends. */
  async #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.#stop;
    if (this.#reloads.isAsked) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#wake = wake;
    signal.addEventListener("abort", wake);
    if (signal.aborted) wake();
    await this.#options.sleep(milliseconds, woken.signal).catch(() => {});
    signal.removeEventListener("abort", wake);
  }

  /** Reloads the setting if needed. It changes only between two polls, so each poll uses one setting. */
  async #takeSetting(): Promise<void> {
    const { setting, event } = await this.#reloads.next(this.#setting!, this.#stop.signal);
    if (event !== null) await this.#append(await eventLineAfter(this.#log.tail(), event));
    this.#setting = setting;
  }

  async #append(line: LogLine): Promise<void> {
    await this.#log.append(line);
    this.#recorded++;
    this.#options.onEntry?.(line);
  }

  async #poll(): Promise<Failure[]> {
    const fetched = await inTurns(this.#watched, AT_ONCE, (watched) => this.#pollOne(watched));
    if (this.#stop.signal.aborted) return [];
    this.#polls++;
    const states = this.#watched.map((watched, index) => ({ watched, failure: fetched[index]! }));
    const failures = fetched.flatMap((failure) => failure ?? []);
    const isRefusedWhole = failures.length === fetched.length && failures.every(({ kind }) => kind === "credentials");
    if (this.#polls === 1 && isRefusedWhole) throw new FetchError("credentials", failures[0]!.message);
    for (const event of this.#outages.note(states)) {
      await this.#append(await eventLineAfter(this.#log.tail(), event));
      this.#outageEntries.wake();
    }
    this.#options.onPoll?.(this.#pollOf(states));
    return failures;
  }

  #pollOf(states: readonly { readonly watched: Watched; readonly failure: Failure | null }[]): WatchPoll {
    const watched = states.map((state) => {
      const name = watchedName(state.watched);
      return {
        ...state,
        isRefused: this.#isRefused(state.watched),
        refusals: this.#refused.get(name) ?? 0,
        evidenceAt: this.#evidenceAt.get(name) ?? null,
      };
    });
    const settingRefusedSince = this.#reloads.refusedSince;
    return { at: this.#options.now(), polls: this.#polls, recorded: this.#recorded, settingRefusedSince, watched };
  }

  #isRefused(watched: Watched): boolean {
    const standing = this.#log.standing(watchedName(watched));
    return standing?.isRefused ?? standing?.verdict === "rejected";
  }

  async #pollOne(watched: Watched): Promise<Failure | null> {
    const fetched = await this.#fetch(watched);
    if (this.#stop.signal.aborted) return null;
    if ("failure" in fetched) return fetched.failure;
    // Entries are recorded one at a time, because each hashes the previous one.
    const recorded = this.#appending.then(() => this.#record(watched, fetched.bootProof));
    this.#appending = recorded.catch(() => {});
    return recorded;
  }

  async #fetch(watched: Watched): Promise<Fetched> {
    try {
      const bootProof = await untilAborted(this.#options.newest(watched, this.#stop.signal), this.#stop.signal);
      if (bootProof !== null && bootProof !== undefined) return { bootProof };
      return { failure: { kind: "missing", message: "the service has no such boot proof", retryAfterMs: null } };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  }

  async #record(watched: Watched, answer: JsonValue): Promise<Failure | null> {
    const { now } = this.#options;
    const { policy, evidence, options, digest: settingDigest } = this.#setting!;
    if (this.#stop.signal.aborted) return null;
    const { value: bootProof, faults } = attempt(() => recordable(answer));
    if (bootProof === undefined) return { kind: "answer", message: faultText(faults), retryAfterMs: null };
    const piece = isApp(watched)
      ? new NamedEvidence(watched.app, bootProof, { latestOf: watched.app })
      : new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(watched.ephemeralKey)! });
    const { report } = await verifyEvidence(
      { bootProofs: [piece], ...evidence },
      { ...options, bootProofsOnly: true, policy, now: now(), cache: this.#cache },
    );
    const [boot] = report.claims?.bootProofs ?? [];
    // Only a report of verified evidence has claims.
    if (boot !== undefined) this.#evidenceAt.set(watchedName(watched), new Date(boot.hardware.documentTime));
    const finding = await findingOf(watched, bootProof, { report, settingDigest }).catch(asFailure);
    if ("kind" in finding) return finding;
    this.#seen.set(watchedName(watched), now());
    this.#silence?.seen(watched);
    if (this.#log.standing(watchedName(watched))?.key !== standingOf(finding)) await this.#recordNews(watched, finding);
    return null;
  }

  async #recordNews(watched: Watched, finding: Finding): Promise<void> {
    const line = await lineAfter(this.#log.tail(), finding);
    await this.#append(line);
    if (!isRefusal(line)) return;
    this.#refused.set(watchedName(watched), (this.#refused.get(watchedName(watched)) ?? 0) + 1);
    this.#refusals.wake();
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
