/** A signed policy that is kept up to date: the consumer (signed-policy/README.md, "Consumer"). */
import type { Policy } from "../appraise/policy.js";
import { callable, having, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, demand, optional, wholeNumber } from "../decode/shapes.js";
import { SignedPolicyError } from "./errors.js";
import { isSigned, markSigned } from "./in-force.js";
import {
  type AcceptedVersion,
  type ConsumerState,
  type PinnedSigners,
  type PolicySigners,
  type Walk,
  readPinnedSigners,
  readState,
  stateText,
  walkFeed,
} from "./feed.js";
import { policyOf } from "./payload.js";
import { withinTime } from "../verify/in-turns.js";
import { requireRuntime } from "../verify/runtime.js";

/** Where a consumer keeps what it accepted. `fileState` of `bootproof/signed-policy/node` keeps it in a file. */
export interface SignedPolicyState {
  /** Returns the text that was written last, or null if there is none. */
  readonly read: () => Promise<string | null | undefined>;
  /**
   * Writes the text whole, if the state still is `before`. Returns false if it is not; it is then read again. A store
   * that one process alone writes may ignore `before` and return nothing.
   */
  readonly write: (text: string, before: string | null) => Promise<unknown>;
}

export interface SignedPolicyOptions {
  /** The keys that the application pins: the file's JSON text, its bytes, or the parsed value. */
  readonly signers: PolicySigners | string | Uint8Array;
  /** Fetches the feed, within 60 seconds. Nothing that it returns is trusted. */
  readonly source: () => Promise<Uint8Array | string>;
  /** Without a state, an old version that is still valid can be shown as the newest. */
  readonly state?: SignedPolicyState;
  readonly now: () => Date;
  /** Milliseconds between two refreshes, to which up to a tenth is added at random. Default: 5 minutes. */
  readonly refreshMs?: number;
  /**
   * Called with what an operator must know: a refresh that failed, a version that is not used yet, a signature that
   * does not count. Default: `console.warn` with the message, or `console.error` for a feed that was rolled back or
   * forked. What it throws is written to the console.
   */
  readonly onNotice?: (notice: string, error?: SignedPolicyError) => void;
  /** Returns a number from 0 to 1. Default: `Math.random`, since the jitter is no secret. */
  readonly random?: () => number;
}

const OPTIONS: MembersOf<SignedPolicyOptions> = {
  signers: unchecked,
  source: callable,
  state: demand(having("read", "write")),
  now: callable,
  refreshMs: optional(wholeNumber(0)),
  onNotice: optional(callable),
  random: optional(callable),
};

const REFRESH_MS = 5 * 60_000;
const SOURCE_MS = 60_000;
const MAX_WRITES = 5;

/** A signed policy of which always the newest accepted version is in force. */
export class SignedPolicy {
  readonly #options: SignedPolicyOptions;
  readonly #pinned: PinnedSigners;
  #newest: AcceptedVersion;
  #policy: Policy;
  #refreshing: Promise<boolean> | null = null;
  #due: Promise<unknown> | null = null;
  /** Times between which no refresh is due. A clock that was set back is outside, too. */
  #fresh: readonly [fromMs: number, toMs: number];

  /** @internal */
  constructor(options: SignedPolicyOptions, pinned: PinnedSigners, { newest, policy }: Newest, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a signed policy is made by openSignedPolicy only");
    [this.#options, this.#pinned, this.#newest, this.#policy] = [options, pinned, newest, policy];
    this.#fresh = this.#freshFromNow();
    markSigned(this);
  }

  static is(value: unknown): value is SignedPolicy {
    return isSigned(value);
  }

  /** The policy in force. It is immutable: a refresh replaces it. `policy.current` fails once it has expired. */
  get policy(): Policy {
    return this.#policy;
  }

  get version(): number {
    return this.#newest.version;
  }

  /** The envelope of the version in force as JSON text. A bundle shows it. */
  get envelope(): string {
    return this.#policy.signed!.envelope;
  }

  /**
   * Fetches the feed, one fetch at a time. Resolves to whether a new version is in force. Rejects with
   * {@link SignedPolicyError} if the feed cannot be fetched or is refused; the policy in force then stays so until it
   * expires.
   */
  refresh(): Promise<boolean> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
      this.#fresh = this.#freshFromNow();
    });
    return this.#refreshing;
  }

  /**
   * Returns the policy for the next verification. When a refresh is due, it is begun, and awaited only if the policy in
   * force has expired. A refresh that fails is told to `onNotice`.
   */
  async current(): Promise<Policy> {
    const now = this.#options.now().getTime();
    const isExpired = now >= this.#newest.expiresAt.getTime();
    const [from, to] = this.#fresh;
    if (now < from || now >= to) {
      // All verifications that wait for one fetch share it, so that a failure is told once.
      this.#due ??= this.refresh()
        .catch((error: unknown) => this.#report(error))
        .finally(() => (this.#due = null));
      if (isExpired) await this.#due;
    }
    return this.#policy;
  }

  async #refresh(): Promise<boolean> {
    const { newest, policy } = await readNewest(this.#options, this.#pinned, this.#newest);
    if (newest.envelope.sha256 === this.#newest.envelope.sha256) return false;
    [this.#newest, this.#policy] = [newest, policy];
    return true;
  }

  /** Milliseconds from a refresh to the next one, with jitter. */
  get waitMs(): number {
    const { refreshMs = REFRESH_MS, random = Math.random } = this.#options;
    return refreshMs * (1 + random() / 10);
  }

  #freshFromNow(): readonly [number, number] {
    const now = this.#options.now().getTime();
    return [now, now + this.waitMs];
  }

  #report(error: unknown): void {
    const failure = asSignedPolicyError(error);
    const words = `the signed policy ${this.#pinned.name} was not refreshed, version ${this.version} stays in force`;
    void notify(this.#options, `${words}: ${failure.message}`, failure);
  }
}

const TOKEN = Symbol();

/**
 * Opens a signed policy: fetches its feed, verifies it from the state on (or from the pinned keys), and writes the
 * state. If the feed cannot be fetched, the version of the state is in force until it expires. Rejects with
 * {@link SignedPolicyError}, and with TypeError for an invalid option.
 * @example
 * ```ts
 * const signed = await openSignedPolicy({ signers, source, now: () => new Date() });
 * requireVerified(await verifyEvidence({ bootProofs: [bootProof] }, { policy: signed.policy, now: new Date() }));
 * ```
 */
export async function openSignedPolicy(options: SignedPolicyOptions): Promise<SignedPolicy> {
  requireRuntime();
  const own = typedOptions("options", options, OPTIONS);
  const pinned = await readPinnedSigners(own.signers);
  return new SignedPolicy(own, pinned, await readNewest(own, pinned, null), TOKEN);
}

/** A version with its policy, which is read before the version is remembered. */
interface Newest {
  readonly newest: AcceptedVersion;
  readonly policy: Policy;
}

function withPolicy(newest: AcceptedVersion, { state }: SignedPolicyOptions): Newest {
  return { newest, policy: policyOf(newest, { signedBy: newest.signedBy, remembered: state !== undefined }) };
}

/** Reads the feed from the newest known version on, and writes the state before anything new is used. */
async function readNewest(
  options: SignedPolicyOptions,
  pinned: PinnedSigners,
  known: AcceptedVersion | null,
): Promise<Newest> {
  const { source, state, now } = options;
  const late = (): Error => new Error(`the source did not answer within ${SOURCE_MS} ms`);
  const feed = await withinTime(Promise.resolve().then(source), SOURCE_MS, late).catch(asSignedPolicyError);
  for (let writes = 0; writes < MAX_WRITES; writes++) {
    const text = (await stateStep("read", () => state?.read())) ?? null;
    const kept = text === null ? null : await readState(text, pinned.name);
    const before = newer(kept, known && { pinned: pinned.digest, newest: known }, pinned);
    if (feed instanceof SignedPolicyError) return withoutFeed(feed, { options, pinned, known, before });
    const walk = await walkFeed(feed, pinned, before, now());
    for (const note of walk.notes) void notify(options, note);
    const read = withPolicy(walk.newest, options);
    if (state === undefined || walk.isEarly || isKept(walk, kept, pinned)) return read;
    const next = stateText({ pinned: pinned.digest, newest: walk.newest });
    if ((await stateStep("write", () => state.write(next, text))) !== false) return read;
  }
  throw new SignedPolicyError("state", "the state was changed by another process at each attempt to write it");
}

interface Known {
  readonly options: SignedPolicyOptions;
  readonly pinned: PinnedSigners;
  readonly known: AcceptedVersion | null;
  readonly before: ConsumerState | null;
}

/**
 * Returns the version of the state at a start without a feed, unless it is below the least one that is pinned. Throws
 * the error at any other time.
 */
function withoutFeed(error: SignedPolicyError, { options, pinned, known, before }: Known): Newest {
  if (known !== null || before?.pinned !== pinned.digest) throw error;
  if (before.newest.version < (pinned.minVersion ?? 1)) throw error;
  void notify(
    options,
    `the feed was not fetched (${error.message}): version ${before.newest.version} of the state is used`,
  );
  return withPolicy(before.newest, options);
}

/** Returns the newer of the state and what this process accepted. Another process may have accepted more. */
function newer(kept: ConsumerState | null, known: ConsumerState | null, pinned: PinnedSigners): ConsumerState | null {
  if (kept === null || known === null) return kept ?? known;
  return kept.pinned === pinned.digest && kept.newest.version >= known.newest.version ? kept : known;
}

function isKept({ newest }: Walk, kept: ConsumerState | null, pinned: PinnedSigners): boolean {
  return kept?.pinned === pinned.digest && kept.newest.envelope.sha256 === newest.envelope.sha256;
}

async function stateStep<T>(what: "read" | "write", step: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    const words = what === "read" ? "cannot be read" : "cannot be written, so the new version is not used";
    throw new SignedPolicyError("state", `the state ${words}: ${messageOf(error)}`, {}, { cause: error });
  }
}

/** Tells the operator, by the console where the caller's function fails. Never rejects. */
async function notify({ onNotice }: SignedPolicyOptions, notice: string, error?: SignedPolicyError): Promise<void> {
  const { console } = globalThis as Partial<typeof globalThis>;
  if (onNotice === undefined) return console?.[error?.isContradiction ? "error" : "warn"](notice);
  try {
    await (onNotice(notice, error) as unknown);
  } catch (failure) {
    console?.error(`${notice} (onNotice failed: ${messageOf(failure)})`);
  }
}

function asSignedPolicyError(error: unknown): SignedPolicyError {
  if (error instanceof SignedPolicyError) return error;
  return new SignedPolicyError("fetch", messageOf(error), {}, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
