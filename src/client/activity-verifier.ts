/**
 * Verifies activities of one service under one policy, with any client: fetches the boot proof of each key that the app
 * proofs name, verifies all of it, and compares it with the request.
 */
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { verifyEvidence } from "../bootproof.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { type OptionShapes, typedOptions } from "../decode/options.js";
import { anyObject, anything, count, list, oneOf } from "../decode/shapes.js";
import type { Report } from "../report/report.js";
import type { VerifiedActivity } from "../verify/activity.js";
import { isAcceptedReport } from "../verification.js";
import { AppProofUses } from "../verify/app-proof-uses.js";
import type { Expected } from "../verify/expectation.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { BootProofCache, type FetchedBootProof, namedBootProofs } from "./boot-proof-cache.js";
import { type DemandedBuilds, type Builds, buildsOf } from "./builds.js";
import { ClientError, RejectedActivityError } from "./errors.js";
import { type AskService, type EvidenceSource, fetchEvidence, hasAppProofs, withAppProofs } from "./evidence.js";
import type { Signal } from "./platform.js";
import { untilAborted } from "./transport.js";

export interface VerificationOptions extends DemandedBuilds {
  /** Limit of cached boot proofs; the least recently used goes first. Default: 256. */
  readonly bootProofLimit?: number;
  /** Milliseconds that one is cached. Policy, ages and certificates are checked on every call. Default: an hour. */
  readonly bootProofMaxAgeMs?: number;
  /** Caches valid signatures; may be shared with other verifications. */
  readonly cache?: SignatureCache;
  /** `strict`: what weakens the verdict is a rejection, as in `VerifyOptions`. Default: `standard`. */
  readonly acceptance?: "standard" | "strict";
}

const VERIFICATION_OPTIONS: OptionShapes<VerificationOptions> = {
  bootProofLimit: count,
  bootProofMaxAgeMs: count,
  cache: anyObject,
  acceptance: oneOf("standard", "strict"),
  provenance: list(anything),
  provenanceVerifier: anyObject,
};
const DEFAULT_LIMIT = 256;
const DEFAULT_MAX_AGE_MS = 3_600_000;

export type ExpectedOfOwner = Expected & { readonly organizationId: string };

interface Case {
  /** Without its wrapper. */
  readonly activity: JsonValue;
  readonly expected: ExpectedOfOwner;
  /** The submitted operation; null for a past activity, whose app proofs may have to be fetched. */
  readonly sent: string | null;
  readonly signal: Signal | undefined;
  /** In place of the source's. */
  readonly query?: EvidenceSource["query"];
}

interface VerifiedEvidence {
  /** As verified. */
  readonly activity: JsonValue;
  readonly report: Report;
  readonly verified: VerifiedActivity;
}

type BootProofOf = (key: string) => Promise<FetchedBootProof | null>;

interface Fetching {
  readonly queryService: AskService;
  readonly bootProofOf: BootProofOf;
  readonly signal: Signal | undefined;
}

export class ActivityVerifier {
  readonly source: EvidenceSource;
  readonly policy: Policy;
  readonly signatures: SignatureCache;
  readonly bootProofs: BootProofCache;
  readonly acceptance: "standard" | "strict";
  readonly builds: Builds;
  readonly #uses = new AppProofUses();

  /** Throws TypeError for an invalid policy or option. */
  constructor(source: EvidenceSource, policy: Policy, given: VerificationOptions = {}) {
    if (!ParsedPolicy.is(policy)) throw new TypeError("policy: a result of parsePolicy wanted");
    const options = typedOptions("options", given, VERIFICATION_OPTIONS);
    if (options.cache !== undefined && !(options.cache instanceof SignatureCache))
      throw new TypeError("options.cache: a SignatureCache wanted");
    this.source = source;
    this.policy = policy;
    this.signatures = options.cache ?? new SignatureCache();
    this.acceptance = options.acceptance ?? "standard";
    this.builds = buildsOf(policy, options);
    const bounds = {
      limit: options.bootProofLimit ?? DEFAULT_LIMIT,
      maxAgeMs: options.bootProofMaxAgeMs ?? DEFAULT_MAX_AGE_MS,
    };
    this.bootProofs = new BootProofCache(source, policy, this.signatures, { ...bounds, ...this.builds.options });
  }

  /** Throws {@link RejectedActivityError} with every failed check, or {@link ClientError} (`evidence`, `aborted`). */
  async verify({
    activity: given,
    expected,
    sent,
    signal,
    query = this.source.query,
  }: Case): Promise<VerifiedEvidence> {
    const { organizationId } = expected;
    const queryService: AskService = (name, parameters) =>
      query(name, parameters, { organizationId, ...(signal && { signal }) });
    const bootProofOf: BootProofOf = (key) => this.bootProofs.find(key, query);
    const { activity, bootProofs } = await this.#fetched(given, sent, { queryService, bootProofOf, signal });
    const pieces = namedBootProofs(bootProofs.map(({ bootProof }) => bootProof));
    // Wrapped, so that unwrapping yields exactly this value whatever its members are called.
    const evidence = { bootProofs: pieces, activity: { activity }, ...this.builds.evidence };
    const { report, activity: verified } = await verifyEvidence(evidence, {
      policy: this.policy,
      now: this.source.now(),
      cache: this.signatures,
      expected,
      uses: this.#uses,
      acceptance: this.acceptance,
      ...this.builds.options,
    });
    if (!isAcceptedReport(report) || verified === null)
      throw new RejectedActivityError(report, { ...factsOf(activity, sent), hasAppProofs: hasAppProofs(activity) });
    return { activity, report, verified };
  }

  async #fetched(
    activity: JsonValue,
    sent: string | null,
    { queryService, bootProofOf, signal }: Fetching,
  ): ReturnType<typeof fetchEvidence<FetchedBootProof>> {
    try {
      const whole = sent === null ? await withAppProofs(queryService, activity) : activity;
      return await untilAborted(fetchEvidence(whole, bootProofOf), signal);
    } catch (error) {
      throw error instanceof ClientError ? evidenceError(error, factsOf(activity, sent)) : error;
    }
  }
}

interface ActivityFacts {
  readonly operation: string | null;
  readonly activityId: string | null;
  readonly activityStatus: string | null;
}

function factsOf(activity: JsonValue, operation: string | null): ActivityFacts {
  const member = (name: string): string | null => {
    const value = isJsonObject(activity) ? activity[name] : undefined;
    return typeof value === "string" ? value.slice(0, 100) : null;
  };
  return { operation, activityId: member("id"), activityStatus: member("status") };
}

function evidenceError(cause: ClientError, { operation, activityId }: ActivityFacts): ClientError {
  const code = cause.code === "aborted" ? "aborted" : "evidence";
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
