/**
 * The watch (watch/README.md): each poll fetches the newest boot proofs, verifies them with the present as `now`, and
 * records news.
 */
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { NamedEvidence, verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { type JsonValue, copyJson, parseJson } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { type OptionShapes, callable, typedOptions } from "../decode/options.js";
import { anyObject, anything, count, flag, list, nonEmptyText, oneOf } from "../decode/shapes.js";
import { type DemandedBuilds, type Builds, buildsOf } from "../client/builds.js";
import type { Signal } from "../client/platform.js";
import { untilAborted } from "../client/transport.js";
import { inTurns } from "../verify/in-turns.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type LogLine, type Watched, findingOf, isApp, lineAfter, standingOf, watchedName } from "./entry.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import { type PlainPolicy, parsePlainPolicy } from "../plain-settings.js";
import { Handover } from "./handover.js";
import { type Failure, type WatchMessage, FetchError, Outages, failureOf } from "./outages.js";
import { type LogStore, isRefusal, memoryStore } from "./store.js";

export interface WatchOptions extends DemandedBuilds {
  /** From `parsePolicy`; or plain data, if another copy of this package made it. */
  readonly policy: Policy | PlainPolicy;
  /** Accept debug mode with a warning, even if the policy does not. */
  readonly allowDebug?: boolean;
  /** `strict`: a boot proof whose verdict something weakens is a refusal. Default: `standard`. */
  readonly acceptance?: "standard" | "strict";
  /** Each is watched by its newest boot proof. */
  readonly apps?: readonly string[];
  /** In hex. */
  readonly ephemeralKeys?: readonly string[];
  /**
   * Fetches the boot proof, for example `askService(client)`; null if there is none. A rejection is an outage, and the
   * next poll fetches again.
   */
  readonly newest: (watched: Watched, signal: Signal) => Promise<JsonValue | null>;
  /** Stores the entries: `openLog(path)` of `bootproof/watch/node`. Default: in memory only. */
  readonly log?: LogStore;
  /** Milliseconds from the end of a poll to the next one: 1,000 to 86,400,000. Default: 60,000. */
  readonly intervalMs?: number;
  /** Poll once, and try at most three times to deliver each refusal. */
  readonly once?: boolean;
  /** Called after the entry is in the log. */
  readonly onEntry?: (line: LogLine) => void;
  /**
   * Delivers each refusal, in order, one at a time, at least once: again after a rejection, and after a restart if it
   * had not resolved.
   */
  readonly onRefusal?: (line: LogLine, signal: Signal) => Promise<void>;
  /** Outages and failed deliveries, for an operator. */
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
  readonly recorded: number;
  readonly polls: number;
  /** Those whose newest verdict is a refusal, also from before this watch. */
  readonly refused: readonly Watched[];
  readonly unfetched: readonly (Failure & { readonly watched: Watched })[];
  /** Whether undelivered refusals remain. */
  readonly waiting: boolean;
}

const DEFAULT_INTERVAL_MS = 60_000;
const LEAST_INTERVAL_MS = 1000;
const MOST_INTERVAL_MS = 86_400_000;
/** Concurrent requests: each response may be large. */
const AT_ONCE = 4;

/**
 * Watches until the signal is aborted, or for one poll. Rejects with TypeError for invalid options, with {@link
 * FetchError} if the first poll is refused completely because of its credentials, and if an entry cannot be written.
 * Other errors of the service or the network do not end it.
 * @example
 * ```ts
 * const log = await openLog("boots.jsonl");
 * await watch({ policy, apps: ["signer"], newest: askService(client), log, ...SYSTEM });
 * ```
 */
export async function watch(options: WatchOptions): Promise<WatchSummary> {
  return new Watch(options).run();
}

const WATCH_OPTIONS: OptionShapes<WatchOptions> = {
  policy: anyObject,
  allowDebug: flag,
  acceptance: oneOf("standard", "strict"),
  apps: list(nonEmptyText),
  ephemeralKeys: list(nonEmptyText),
  newest: callable,
  log: anyObject,
  intervalMs: count,
  once: flag,
  onEntry: callable,
  onRefusal: callable,
  onMessage: callable,
  signal: anyObject,
  now: callable,
  sleep: callable,
  random: callable,
  cache: anyObject,
  provenance: list(anything),
  provenanceVerifier: anyObject,
};
const REQUIRED = ["policy", "newest", "now", "sleep", "random"] as const;

function watchedBy(options: WatchOptions): Watched[] {
  const missing = REQUIRED.find((name) => options[name] === undefined);
  if (missing !== undefined) throw new TypeError(`options.${missing}: wanted`);
  const { intervalMs = DEFAULT_INTERVAL_MS } = options;
  if (intervalMs < LEAST_INTERVAL_MS || intervalMs > MOST_INTERVAL_MS)
    throw new TypeError(`options.intervalMs: ${LEAST_INTERVAL_MS} to ${MOST_INTERVAL_MS} wanted`);
  const { apps = [], ephemeralKeys = [] } = options;
  const keys = ephemeralKeys.map((key) => key.toLowerCase());
  if (keys.some((key) => fromHex(key)?.length !== QOS_PUBLIC_KEY_LENGTH))
    throw new TypeError(`options.ephemeralKeys: ${2 * QOS_PUBLIC_KEY_LENGTH} hex digits each wanted`);
  const watched = [...apps.map((app) => ({ app })), ...keys.map((ephemeralKey) => ({ ephemeralKey }))];
  if (watched.length === 0) throw new TypeError("options.apps: one at least wanted, or one of options.ephemeralKeys");
  if (new Set(watched.map(watchedName)).size < watched.length)
    throw new TypeError("options.apps and options.ephemeralKeys: each once wanted");
  return watched;
}

function policyOf(policy: Policy | PlainPolicy): Policy {
  return ParsedPolicy.is(policy) ? policy : parsePlainPolicy(policy as PlainPolicy);
}

type Fetched = { readonly bootProof: JsonValue } | { readonly failure: Failure };

class Watch {
  readonly #options: WatchOptions;
  readonly #watched: readonly Watched[];
  readonly #policy: Policy;
  readonly #builds: Builds;
  readonly #log: LogStore;
  readonly #cache: SignatureCache;
  readonly #outages: Outages;
  readonly #handover: Handover;
  readonly #stop = new AbortController();
  #appending: Promise<unknown> = Promise.resolve();
  #polls = 0;
  #recorded = 0;

  constructor(given: WatchOptions) {
    const options = typedOptions("options", given, WATCH_OPTIONS);
    this.#options = options;
    this.#watched = watchedBy(options);
    this.#policy = policyOf(options.policy);
    this.#builds = buildsOf(this.#policy, options);
    this.#log = options.log ?? memoryStore();
    this.#cache = options.cache ?? new SignatureCache();
    const tell = options.onMessage ?? ((): void => {});
    this.#outages = new Outages({ now: options.now, random: options.random, tell });
    this.#handover = new Handover({ ...options, log: this.#log, tell });
  }

  async run(): Promise<WatchSummary> {
    const { signal, once = false } = this.#options;
    const stop = (): void => this.#stop.abort();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const handing = this.#handover.run(this.#stop.signal);
    // The watch ends if delivery does: the error is thrown below.
    handing.catch(stop);
    try {
      await this.#pollOn(once);
      this.#handover.close();
      if (!once) stop();
      await handing;
    } catch (error) {
      stop();
      await handing.catch(() => {});
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
    return this.#summary();
  }

  async #summary(): Promise<WatchSummary> {
    const standings = this.#watched.map((watched) => ({ watched, now: this.#log.standing(watchedName(watched)) }));
    const refused = standings
      .filter(({ now }) => now?.isRefused ?? now?.verdict === "rejected")
      .map(({ watched }) => watched);
    const waiting = this.#options.onRefusal !== undefined && (await this.#log.nextRefusal()) !== null;
    return { recorded: this.#recorded, polls: this.#polls, refused, unfetched: this.#outages.now, waiting };
  }

  async #pollOn(once: boolean): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const failures = await this.#poll();
      if (signal.aborted || once) return;
      const wait =
        failures.length < this.#watched.length
          ? (this.#options.intervalMs ?? DEFAULT_INTERVAL_MS)
          : this.#outages.waitMs(failures);
      await this.#options.sleep(wait, signal).catch(() => {});
    }
  }

  async #poll(): Promise<Failure[]> {
    const fetched = await inTurns(this.#watched, AT_ONCE, (watched) => this.#pollOne(watched));
    if (this.#stop.signal.aborted) return [];
    this.#polls++;
    const states = this.#watched.map((watched, index) => ({ watched, failure: fetched[index]! }));
    const failures = fetched.flatMap((failure) => failure ?? []);
    const isRefusedWhole = failures.length === fetched.length && failures.every(({ kind }) => kind === "credentials");
    if (this.#polls === 1 && isRefusedWhole) throw new FetchError("credentials", failures[0]!.message);
    this.#outages.note(states);
    return failures;
  }

  async #pollOne(watched: Watched): Promise<Failure | null> {
    const fetched = await this.#fetch(watched);
    if (this.#stop.signal.aborted) return null;
    if ("failure" in fetched) return fetched.failure;
    return this.#recordInTurn(watched, fetched.bootProof);
  }

  async #fetch(watched: Watched): Promise<Fetched> {
    try {
      const bootProof = await untilAborted(this.#options.newest(watched, this.#stop.signal), this.#stop.signal);
      if (bootProof !== null && bootProof !== undefined) return { bootProof };
      return { failure: { kind: "missing", message: "the service has no boot proof of it", retryAfterMs: null } };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  }

  /** Serial, because each entry hashes the previous one. */
  #recordInTurn(watched: Watched, bootProof: JsonValue): Promise<Failure | null> {
    const recorded = this.#appending.then(() => this.#record(watched, bootProof));
    this.#appending = recorded.catch(() => {});
    return recorded;
  }

  async #record(watched: Watched, answer: JsonValue): Promise<Failure | null> {
    const { allowDebug, acceptance, now, onEntry } = this.#options;
    if (this.#stop.signal.aborted) return null;
    const { value: bootProof, faults } = attempt(() => recordable(answer));
    if (bootProof === undefined) return { kind: "answer", message: faultText(faults), retryAfterMs: null };
    const piece = isApp(watched)
      ? new NamedEvidence(watched.app, bootProof, { latestOf: watched.app })
      : new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(watched.ephemeralKey)! });
    const evidence = { bootProofs: [piece], ...this.#builds.evidence };
    const { report } = await verifyEvidence(evidence, {
      ...this.#builds.options,
      bootProofsOnly: true,
      policy: this.#policy,
      now: now(),
      cache: this.#cache,
      ...(allowDebug !== undefined && { allowDebug }),
      ...(acceptance !== undefined && { acceptance }),
    });
    const finding = await findingOf(watched, bootProof, report).catch(asFailure);
    if ("kind" in finding) return finding;
    if (this.#log.standing(watchedName(watched))?.key === standingOf(finding)) return null;
    const line = await lineAfter(this.#log.tail(), finding);
    await this.#log.append(line);
    this.#recorded++;
    onEntry?.(line);
    if (isRefusal(line.entry)) this.#handover.wake();
    return null;
  }
}

/** The value as the line will hold it is verified, so that the line reproduces its verdict. */
function recordable(answer: JsonValue): JsonValue {
  return parseJson(JSON.stringify(copyJson(answer)));
}

function asFailure(error: unknown): Failure {
  if (error instanceof MalformedError) return { kind: "answer", message: error.message, retryAfterMs: null };
  throw error;
}
