/**
 * Verified calls: a caller gets nothing of an activity before an enclave pinned by the policy has vouched for it. The
 * response is compared with what was sent (verify/README.md, "The question"). Where no app proof covers it, only the
 * service claims that it executed the request as the result says.
 */
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { verifyEvidence } from "../bootproof.js";
import { outcomeOf } from "../decode/activity.js";
import { unwrapAlone } from "../decode/evidence-members.js";
import { jsonInput } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { type OptionShapes, typedOptions } from "../decode/options.js";
import { anyObject, count, readShape } from "../decode/shapes.js";
import type { Report } from "../report/report.js";
import type { Verification } from "../verification.js";
import type { VerifiedActivity } from "../verify/activity.js";
import { AppProofUses } from "../verify/app-proof-uses.js";
import { soleMember } from "../verify/contradictions.js";
import { type Expected, copyExpected, expectationOf } from "../verify/expectation.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type ActivityJson, activitySchema } from "./activity-shapes.js";
import { BootProofCache, type FetchedBootProof, namedBootProofs } from "./boot-proof-cache.js";
import { ClientError, RejectedActivityError, answerError } from "./errors.js";
import { type ActivityEvidence, type AskService, fetchEvidence, withAppProofs } from "./evidence.js";
import {
  SUBMIT_OPERATIONS,
  type SubmitName,
  type SubmitOperation,
  type SubmitParameters,
  type SubmitResult,
} from "./operations.js";
import type { Signal } from "./platform.js";
import { CALL_OPTIONS, type CallOptions, type UndocumentedSubmit, ownOperation, query, submit } from "./requests.js";
import { type Transport, untilAborted } from "./transport.js";
import type { PayloadSchemas } from "./payload-schemas.js";
import {
  type ReceivedAppProof,
  type VerifiedAppProofs,
  type VerifyAppProofsOptions,
  verifyReceivedAppProofs,
} from "./verified-app-proofs.js";

export interface VerificationOptions {
  /** Limit of cached boot proofs; the least recently used goes first. Default: 256. */
  readonly bootProofLimit?: number;
  /** Milliseconds that one is cached. Policy, ages and certificates are checked on every call. Default: an hour. */
  readonly bootProofMaxAgeMs?: number;
  /** Caches valid signatures; may be shared with other verifications. */
  readonly cache?: SignatureCache;
}

const VERIFICATION_OPTIONS: OptionShapes<VerificationOptions> = {
  bootProofLimit: count,
  bootProofMaxAgeMs: count,
  cache: anyObject,
};
const DEFAULT_LIMIT = 256;
const DEFAULT_MAX_AGE_MS = 3_600_000;

export interface VerifiedCall<Result> {
  readonly result: Result;
  readonly activity: ActivityJson;
  /** Its verdict is `verified`. */
  readonly report: Report;
  /** The activity, its app proofs, and the boot proof of each. */
  readonly verified: VerifiedActivity;
}

export type VerifiedSubmitFunctions = {
  readonly [N in SubmitName]: (
    parameters: SubmitParameters<N>,
    options?: CallOptions,
  ) => Promise<VerifiedCall<SubmitResult<N>>>;
};

export interface VerifyActivityOptions extends CallOptions {
  /** The known part of the request: id, type, parameters, time, addresses. */
  readonly expected?: Partial<Expected>;
}

/**
 * The submits of a client under one policy. Each requests app proofs, fetches the boot proof of each key they name, and
 * verifies all of it. Throws {@link RejectedActivityError} with every failed check, or {@link ClientError}. An activity
 * without app proofs is rejected, even if the policy does not set `appProofs.required`.
 */
export interface VerifiedClient extends VerifiedSubmitFunctions {
  readonly policy: Policy;
  submit(operation: UndocumentedSubmit, parameters: object, options?: CallOptions): Promise<VerifiedCall<JsonValue>>;
  /**
   * Verifies a past activity: JSON value or text, bare or in its wrapper. Missing app proofs are fetched with
   * `list_app_proofs`. The activity must be completed, belong to `organizationId` (default: the client's) and match
   * `expected`. Throws MalformedError (`json`) for text that is no JSON, TypeError for an invalid `expected`, and the
   * errors of a submit.
   */
  verifyActivity(activity: unknown, options?: VerifyActivityOptions): Promise<VerifiedCall<JsonValue>>;
  /**
   * Verifies app proofs that an application gave you, with the boot proofs of their keys, and compares them with what
   * you requested of it. At most 16 keys in one call; each is fetched once. No app proof is counted as used.
   *
   * Throws RejectedError with every failed check; {@link ClientError} `ephemeral-key` before anything is sent,
   * `evidence` where a boot proof could not be fetched, `schema` where a verified payload does not fit its schema, and
   * what a schema throws; TypeError for an empty list, without `expected` and for invalid options; RangeError for too
   * many app proofs or keys.
   *
   * @example
   * const { payloads } = await client.withVerification(policy).verifyAppProofs([{ appProof }], {
   *   expected: { payload: [{ type: "QUOTE", values: { "/challenge": challenge }, challenge: "/challenge" }] },
   * });
   */
  verifyAppProofs<Schemas extends PayloadSchemas = Record<never, never>>(
    appProofs: readonly ReceivedAppProof[],
    options: VerifyAppProofsOptions<Schemas>,
  ): Promise<VerifiedAppProofs<Schemas>>;
}

/** Throws TypeError for an invalid policy, before anything is submitted. */
export function verifiedClient(transport: Transport, policy: Policy, given: VerificationOptions = {}): VerifiedClient {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: a result of parsePolicy wanted");
  const options = typedOptions("options", given, VERIFICATION_OPTIONS);
  if (options.cache !== undefined && !(options.cache instanceof SignatureCache))
    throw new TypeError("options.cache: a SignatureCache wanted");
  const verifier = new ActivityVerifier(transport, policy, options);
  const documented = Object.entries(SUBMIT_OPERATIONS).map(
    ([name, operation]) =>
      [
        name,
        (parameters: unknown, call?: CallOptions) => verifier.submit(operation, operation, parameters, call),
      ] as const,
  );
  return {
    ...(Object.fromEntries(documented) as unknown as VerifiedSubmitFunctions),
    policy,
    submit: async (operation, parameters, call) => verifier.submit(ownOperation(operation), null, parameters, call),
    verifyActivity: (activity, call) => verifier.verifyPast(activity, call),
    verifyAppProofs: (appProofs, call) => verifier.verifyReceived(appProofs, call),
  };
}

interface Case {
  readonly activity: JsonValue;
  readonly expected: ExpectedOfOwner;
  /** Null for an undocumented one. */
  readonly operation: SubmitOperation | null;
  /** The submitted operation; null for a past activity. */
  readonly sent: string | null;
  readonly signal: Signal | undefined;
}

type ExpectedOfOwner = Expected & { readonly organizationId: string };

class ActivityVerifier {
  readonly #transport: Transport;
  readonly #policy: Policy;
  readonly #signatures: SignatureCache;
  readonly #bootProofs: BootProofCache;
  readonly #uses = new AppProofUses();

  constructor(transport: Transport, policy: Policy, options: VerificationOptions) {
    this.#transport = transport;
    this.#policy = policy;
    this.#signatures = options.cache ?? new SignatureCache();
    const bounds = {
      limit: options.bootProofLimit ?? DEFAULT_LIMIT,
      maxAgeMs: options.bootProofMaxAgeMs ?? DEFAULT_MAX_AGE_MS,
    };
    this.#bootProofs = new BootProofCache(transport, policy, this.#signatures, bounds);
  }

  async submit<Result>(
    sent: UndocumentedSubmit,
    operation: SubmitOperation | null,
    parameters: unknown,
    given: CallOptions = {},
  ): Promise<VerifiedCall<Result>> {
    const options = typedOptions("options", given, CALL_OPTIONS);
    const { request, answer } = await submit(this.#transport, operation ?? sent, parameters, {
      ...options,
      generateAppProofs: true,
    });
    const { type, organizationId, parameters: submitted, timestampMs: requestedAt } = request;
    const expected = { organizationId, type, parameters: submitted, requestedAt };
    return this.#verify({ activity: unwrapped(answer), expected, operation, sent: sent.name, signal: options.signal });
  }

  async verifyPast(input: unknown, given: VerifyActivityOptions = {}): Promise<VerifiedCall<JsonValue>> {
    const options = typedOptions("options", given, { ...CALL_OPTIONS, expected: anyObject });
    const { signal } = options;
    const expected = expectedOf(options, this.#transport.organizationId);
    const activity = unwrapped(jsonInput(input) ?? null);
    return this.#verify({ activity, expected, operation: operationOf(activity), sent: null, signal });
  }

  async verifyReceived<Schemas extends PayloadSchemas>(
    received: readonly ReceivedAppProof[],
    options: VerifyAppProofsOptions<Schemas>,
  ): Promise<VerifiedAppProofs<Schemas>> {
    const parts = {
      transport: this.#transport,
      policy: this.#policy,
      signatures: this.#signatures,
      bootProofs: this.#bootProofs,
    };
    return verifyReceivedAppProofs(parts, received, options);
  }

  async #verify<Result>(given: Case): Promise<VerifiedCall<Result>> {
    const { operation, sent } = given;
    const fetched = await this.#fetch(given);
    const { report, activity } = await this.#verifyEvidence(fetched, given.expected);
    if (report.verdict !== "verified" || activity === null)
      throw new RejectedActivityError(report, factsOf(fetched.activity, sent));
    return { ...readVerified<Result>(fetched.activity, operation, sent), report, verified: activity };
  }

  async #fetch({ activity, expected, sent, signal }: Case): Promise<ActivityEvidence<FetchedBootProof>> {
    const { organizationId } = expected;
    const queryService: AskService = (name, parameters) =>
      query(this.#transport, { name }, parameters, { organizationId, ...(signal && { signal }) });
    try {
      const whole = sent === null ? await withAppProofs(queryService, activity) : activity;
      return await untilAborted(
        fetchEvidence(whole, (key) => this.#bootProofs.find(key)),
        signal,
      );
    } catch (error) {
      throw error instanceof ClientError ? evidenceError(error, factsOf(activity, sent)) : error;
    }
  }

  async #verifyEvidence(
    { activity, bootProofs }: ActivityEvidence<FetchedBootProof>,
    expected: Expected,
  ): Promise<Verification> {
    const pieces = namedBootProofs(bootProofs.map(({ bootProof }) => bootProof));
    // Wrapped, so that unwrapping yields exactly this value whatever its members are called.
    const evidence = { bootProofs: pieces, activity: { activity } };
    return verifyEvidence(evidence, {
      policy: this.#policy,
      now: this.#transport.now(),
      cache: this.#signatures,
      expected,
      uses: this.#uses,
    });
  }
}

/** Throws TypeError for two different organizations. */
function expectedOf({ organizationId, expected: given = {} }: VerifyActivityOptions, own: string): ExpectedOfOwner {
  if (Array.isArray(given)) throw new TypeError("expected: an object wanted");
  // The checked copy is the one that is used.
  const expected = copyExpected(given);
  const named = expected.organizationId ?? organizationId ?? own;
  if ((organizationId ?? named) !== named) throw new TypeError("organizationId and expected.organizationId differ");
  const whole = { ...expected, organizationId: named };
  // Throws for invalid members before anything is fetched.
  expectationOf(whole);
  return whole;
}

function unwrapped(answer: JsonValue): JsonValue {
  return unwrapAlone(answer, "activity") as JsonValue;
}

function operationOf(activity: JsonValue): SubmitOperation | null {
  const type = isJsonObject(activity) ? activity["type"] : undefined;
  return Object.values(SUBMIT_OPERATIONS).find((operation) => operation.type === type) ?? null;
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

/** Throws {@link ClientError} (`answer`) if the result does not match the documented shape. */
function readVerified<Result>(
  activity: JsonValue,
  operation: SubmitOperation | null,
  sent: string | null,
): { activity: ActivityJson; result: Result } {
  const name = sent ?? operation?.name ?? "activity";
  const effect = sent === null ? "none" : "unknown";
  const whole = readShape(activitySchema, activity, "activity");
  if (whole.value === undefined) throw answerError(name, whole.faults, effect);
  const outcome = soleMember(outcomeOf(activity as JsonObject).result) ?? null;
  if (operation === null) return { activity: whole.value, result: outcome as Result };
  const result = readShape(operation.result, outcome, "activity.result");
  if (result.value === undefined) throw answerError(name, result.faults, effect);
  return { activity: whole.value, result: result.value as Result };
}
