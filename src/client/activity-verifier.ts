/**
 * Verifies activities of one service under one policy, which may be a signed one, with any client. It fetches the boot
 * proof of each key that the app proofs name, verifies all evidence, and compares it with the request.
 */
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { type VerifyOptions, verifyAnswer } from "../bootproof.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { having, instanceOf, plain } from "../decode/options.js";
import { type MembersOf, count, demand, list, oneOf, optional } from "../decode/shapes.js";
import type { Report } from "../report/report.js";
import type { AskedActivity } from "../exchange/exchange.js";
import type { VerifiedActivity } from "../verify/activity.js";
import { isAcceptedReport } from "../verification.js";
import { ANY_POLICY, SignedPolicy, policyInForce } from "../signed-policy/open.js";
import { AppProofUses } from "../verify/app-proof-uses.js";
import { turn } from "../verify/in-turns.js";
import { SignatureCache } from "../verify/signature-cache.js";
import {
  BootProofCache,
  type CacheLimits,
  type FetchedBootProof,
  type HeldPolicy,
  namedBootProofs,
} from "./boot-proof-cache.js";
import { type DemandedBuilds, buildsOf } from "./builds.js";
import { ClientError, RejectedActivityError } from "./errors.js";
import { type AskService, type EvidenceSource, fetchEvidence, hasAppProofs, withAppProofs } from "./evidence.js";
import type { Signal } from "./platform.js";
import { untilAborted } from "./transport.js";

export interface VerificationOptions extends DemandedBuilds, Pick<VerifyOptions, "cache" | "acceptance" | "maxAgeMs"> {
  /**
   * Limit of cached boot proofs, which have at most 16 MiB together. Over a limit, the least recently used one is
   * dropped. Only verified ones are cached. Default: 256.
   */
  readonly bootProofLimit?: number;
  /**
   * Milliseconds that a boot proof is cached. Each call checks policy, ages and certificates again. Default: an hour.
   */
  readonly bootProofMaxAgeMs?: number;
}

export const VERIFICATION_OPTIONS: MembersOf<VerificationOptions> = {
  bootProofLimit: optional(count),
  bootProofMaxAgeMs: optional(count),
  cache: optional(instanceOf(SignatureCache, "a SignatureCache")),
  acceptance: demand(oneOf("standard", "strict")),
  maxAgeMs: demand(count),
  provenance: optional(list(plain)),
  provenanceVerifier: optional(having("verify")),
};

export interface PollingOptions {
  /**
   * Milliseconds between two polls for a pending activity. Default: 500; for another SDK's client its
   * `activityPoller.intervalMs`, or 500 if it has none.
   */
  readonly pollIntervalMs?: number;
  /**
   * Number of polls for a pending activity. After the last poll, a client of another SDK returns the unfinished
   * activity, and this package's client rejects. Default: 40; for another SDK's client its `activityPoller.numRetries`,
   * or 120 if it has none.
   */
  readonly pollAttempts?: number;
}

export const POLLING_OPTIONS: MembersOf<PollingOptions> = {
  pollIntervalMs: optional(count),
  pollAttempts: optional(count),
};

interface CallParts {
  readonly signal?: Signal | undefined;
  /** Used instead of the source's query function. */
  readonly query?: EvidenceSource["query"];
  /** The part of an unfinished activity that its rejection may show. */
  readonly unfinished?: JsonObject;
}

interface VerifiedEvidence {
  /** The activity as verified. */
  readonly activity: JsonValue;
  readonly report: Report;
  readonly verified: VerifiedActivity;
}

export class ActivityVerifier {
  readonly source: EvidenceSource;
  readonly signatures: SignatureCache;
  readonly limits: CacheLimits;
  readonly bootProofs: BootProofCache;
  readonly strictness: Pick<VerifyOptions, "acceptance" | "maxAgeMs">;
  readonly #policy: Policy | SignedPolicy;
  readonly #demanded: DemandedBuilds;
  #held: HeldPolicy;
  readonly #uses = new AppProofUses();

  /** Throws TypeError for an invalid policy. The options may have other members, too. */
  constructor(source: EvidenceSource, given: Policy | SignedPolicy, options: VerificationOptions) {
    const policy = SignedPolicy.is(given) ? given.policy : given;
    if (!ParsedPolicy.is(policy))
      throw new TypeError(`policy${given === undefined ? " is required:" : ": expected"} ${ANY_POLICY}`);
    this.source = source;
    this.#policy = given;
    this.#demanded = options;
    this.#held = { policy, builds: buildsOf(policy, options) };
    this.signatures = options.cache ?? new SignatureCache();
    const { acceptance = "standard", maxAgeMs } = options;
    this.strictness = { acceptance, ...(maxAgeMs !== undefined && { maxAgeMs }) };
    const { bootProofLimit: limit = 256, bootProofMaxAgeMs: maxAge = 3_600_000 } = options;
    this.limits = { limit, maxAgeMs: maxAge };
    this.bootProofs = new BootProofCache({ source, ...this.limits, options: (held) => this.options(held) });
  }

  /**
   * Verifies an activity. Rejects with {@link RejectedActivityError}, or {@link ClientError} (`evidence`, `aborted`).
   */
  async verify(asked: AskedActivity, call: CallParts = {}): Promise<VerifiedEvidence> {
    const { expected, refusals, operation, began = null } = asked;
    const held = await untilAborted(this.begin(), call.signal).catch((error: Error) => {
      throw evidenceError(error, factsOf(asked.activity, operation));
    });
    const { activity, bootProofs } = await this.#fetched(asked, held, call);
    const pieces = namedBootProofs(bootProofs.map(({ bootProof }) => bootProof));
    // Verification unwraps this wrapper only, even if the activity has a member `activity` of its own.
    const evidence = { bootProofs: pieces, activity: { activity }, ...held.builds.evidence };
    const options = { ...this.options(held), ...(expected && { expected }) };
    await turn();
    const { report, activity: verified } = await verifyAnswer(evidence, options, refusals, { began });
    if (isAcceptedReport(report) && verified !== null) return { activity, report, verified };
    const facts = { ...factsOf(activity, operation), hasAppProofs: hasAppProofs(activity) };
    throw new RejectedActivityError(report, { ...facts, unfinished: call.unfinished ?? null });
  }

  /**
   * Returns what one verification uses. Rejects with TypeError if a new version of a signed policy demands provenance,
   * and the options have none.
   */
  async begin(): Promise<HeldPolicy> {
    const policy = await policyInForce(this.#policy);
    if (policy !== this.#held.policy) this.#held = { policy, builds: buildsOf(policy, this.#demanded) };
    return this.#held;
  }

  /** The policy, or the version of a signed policy that is in force now. */
  get policy(): Policy {
    return SignedPolicy.is(this.#policy) ? this.#policy.policy : this.#policy;
  }

  /** Returns the options of a verification at the present time. */
  options({ policy, builds }: HeldPolicy): VerifyOptions {
    const { source, signatures, strictness } = this;
    return { policy, now: source.now(), cache: signatures, uses: this.#uses, ...strictness, ...builds.options };
  }

  async #fetched(
    { activity, expected, refusals, operation, isFetched }: AskedActivity,
    held: HeldPolicy,
    { signal, query = this.source.query, unfinished }: CallParts,
  ): ReturnType<typeof fetchEvidence<FetchedBootProof>> {
    // Evidence is requested in the activity's own organization, where the caller may read app proofs and boot proofs.
    const owner = expected === null ? {} : { organizationId: expected.organizationId };
    const owned: EvidenceSource["query"] = (name, parameters, more) => query(name, parameters, { ...owner, ...more });
    const ask: AskService = (name, parameters) => owned(name, parameters, signal ? { signal } : {});
    try {
      const isOpen = isFetched && refusals.length === 0 && unfinished === undefined;
      const whole = isOpen ? await withAppProofs(ask, activity) : activity;
      return await untilAborted(
        fetchEvidence(whole, (key) => this.bootProofs.find(key, held, owned)),
        signal,
      );
    } catch (error) {
      // The activity is refused in any case, so missing evidence does not matter.
      if (error instanceof ClientError && refusals.length > 0) return { activity, bootProofs: [], missing: [] };
      throw error instanceof ClientError ? evidenceError(error, factsOf(activity, operation)) : error;
    }
  }
}

type ActivityFacts = Pick<RejectedActivityError, "operation" | "activityId" | "activityStatus">;

function factsOf(activity: JsonValue, operation: string | null): ActivityFacts {
  const member = (name: string): string | null => {
    const value = isJsonObject(activity) ? activity[name] : undefined;
    return typeof value === "string" ? value.slice(0, 100) : null;
  };
  return { operation, activityId: member("id"), activityStatus: member("status") };
}

export function evidenceError(
  cause: Error,
  { operation, activityId }: Omit<ActivityFacts, "activityStatus">,
): ClientError {
  const code = cause instanceof ClientError && cause.code === "aborted" ? "aborted" : "evidence";
  const advice =
    operation === null ? "" : " It was submitted: verify it later with verifyActivity, and do not submit it again.";
  const message = `the evidence for ${activityId ?? "the activity"} could not be fetched (${cause.message}).${advice}`;
  return new ClientError(code, message, {
    operation,
    activityId,
    cause,
    effect: operation === null ? "none" : "unknown",
  });
}
