/**
 * Verified calls: nothing of an activity reaches the caller before an enclave that the policy pins has vouched for it.
 *
 * What that proves, and what not: the app proofs were signed by such an enclave, not before the request (but for a minute
 * of skew), for this organization where they name one, and came back for no other request made here; addresses that they
 * derive agree with the result; the enclave's last decision was to allow. Intent and result are compared with the request.
 * That the service carried the request out as the result says is still its word, wherever no proof speaks of it.
 */
import { type Policy, isPolicy } from "../appraise/policy.js";
import { type Verification, verifyEvidence } from "../bootproof.js";
import { toHex, toUtf8 } from "../bytes.js";
import type { Check, CheckId, CheckSubject } from "../checks.js";
import { readActivity } from "../decode/activity.js";
import { readAppProof } from "../decode/app-proof.js";
import { jsonInput, unwrap } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { faultText } from "../errors.js";
import type { Report } from "../report/report.js";
import type { VerifiedActivity } from "../verify/activity.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import { SKEW_MS } from "../verify/context.js";
import { sha256 } from "../verify/digest.js";
import { SignatureMemory } from "../verify/signature-memory.js";
import { BootProofMemory, type FetchedBootProof } from "./boot-proof-memory.js";
import { type Expectation, contradictionsOf, foreignProofFaults, soleMember } from "./contradictions.js";
import { ClientError, RejectedActivityError } from "./errors.js";
import {
  type ActivityJson, QUERY_OPERATIONS, SUBMIT_OPERATIONS, type SubmitName, type SubmitOperation, type SubmitParameters, type SubmitResult,
  activitySchema,
} from "./operations.js";
import { type CallOptions, type UndocumentedSubmit, outcomeOf, query, readShape, submit } from "./requests.js";
import { type Transport, untilAborted } from "./transport.js";

export interface VerificationOptions {
  /** How many verified boot proofs are remembered, the least recently used going first. */
  readonly bootProofLimit?: number;
  /** How long one is remembered before it is fetched again. Policy, ages and certificates are asked anew on every call. */
  readonly bootProofMaxAgeMs?: number;
  /** Remembers valid signatures; may be shared with other verifications. */
  readonly memory?: SignatureMemory;
}

const DEFAULT_LIMIT = 256;
const DEFAULT_MAX_AGE_MS = 3_600_000;
/** An activity that names more keys is no answer of an honest service: the others count as without a boot proof. */
const MAX_KEYS = 16;

/** What a verified call answers: never a result without the report that stands for it. */
export interface VerifiedCall<Result> {
  readonly result: Result;
  /** As the service answered it. */
  readonly activity: ActivityJson;
  /** Its verdict is `verified`. */
  readonly report: Report;
  /** What was verified: the activity, its app proofs, and the boot proof of each. */
  readonly verified: VerifiedActivity;
}

export type VerifiedSubmitFunctions = {
  readonly [N in SubmitName]: (parameters: SubmitParameters<N>, options?: CallOptions) => Promise<VerifiedCall<SubmitResult<N>>>;
};

/**
 * The submits of a client under one policy. Each asks for app proofs, fetches the boot proof of each key they name, and
 * throws {@link RejectedActivityError} with every failed check, or {@link ClientError}, unless all of it is verified. An
 * activity that comes back without app proofs is rejected, whatever the policy's `appProofs.required` says.
 */
export interface VerifiedClient extends VerifiedSubmitFunctions {
  readonly policy: Policy;
  /** A submit that is not documented. */
  submit(operation: UndocumentedSubmit, parameters: object, options?: CallOptions): Promise<VerifiedCall<JsonValue>>;
  /**
   * Verifies a past activity: JSON value or text, bare or in its wrapper. App proofs that are not in it are asked for with
   * `list_app_proofs`. It has to be one of `organizationId`, the client's where not given, and completed. Throws
   * MalformedError (`json`) for text that is no JSON.
   */
  verifyActivity(activity: unknown, options?: CallOptions): Promise<VerifiedCall<JsonValue>>;
}

/** Makes the verified calls over a transport. Throws TypeError for what is no policy: before anything is submitted. */
export function verifiedClient(transport: Transport, policy: Policy, options: VerificationOptions = {}): VerifiedClient {
  if (!isPolicy(policy)) throw new TypeError("a policy is wanted, as parsePolicy answers it");
  const verifier = new ActivityVerifier(transport, policy, options);
  const documented = Object.entries(SUBMIT_OPERATIONS).map(([name, operation]) => [
    name, (parameters: unknown, call?: CallOptions) => verifier.submit(operation, operation, parameters, call),
  ] as const);
  return {
    ...(Object.fromEntries(documented) as unknown as VerifiedSubmitFunctions),
    policy,
    submit: (operation, parameters, call) => verifier.submit(operation, null, parameters, call),
    verifyActivity: (activity, call) => verifier.verifyPast(activity, call),
  };
}

class ActivityVerifier {
  readonly #transport: Transport;
  readonly #policy: Policy;
  readonly #signatures: SignatureMemory;
  readonly #bootProofs: BootProofMemory;
  readonly #used = new UsedAppProofs();

  constructor(transport: Transport, policy: Policy, options: VerificationOptions) {
    this.#transport = transport;
    this.#policy = policy;
    this.#signatures = options.memory ?? new SignatureMemory();
    const bounds = { limit: options.bootProofLimit ?? DEFAULT_LIMIT, maxAgeMs: options.bootProofMaxAgeMs ?? DEFAULT_MAX_AGE_MS };
    this.#bootProofs = new BootProofMemory(transport, policy, this.#signatures, bounds);
  }

  async submit<Result>(
    sent: UndocumentedSubmit, operation: SubmitOperation | null, parameters: unknown, options: CallOptions = {},
  ): Promise<VerifiedCall<Result>> {
    const { request, answer } = await submit(this.#transport, operation ?? sent, parameters, { ...options, generateAppProofs: true });
    const expected = { organizationId: request.organizationId, request, operation };
    return this.#verify(unwrap(answer, "activity"), expected, sent.name, options.signal);
  }

  async verifyPast(input: unknown, options: CallOptions = {}): Promise<VerifiedCall<JsonValue>> {
    const organizationId = options.organizationId ?? this.#transport.organizationId;
    const activity = await this.#withAppProofs(unwrap(jsonInput(input), "activity"), organizationId, options);
    return this.#verify(activity, { organizationId, request: null, operation: operationOf(activity) }, null, options.signal);
  }

  /** The activity, with the app proofs that the service lists for it where it carries none. */
  async #withAppProofs(activity: unknown, organizationId: string, { signal }: CallOptions): Promise<unknown> {
    if (!isJsonObject(activity)) return activity;
    const { id } = activity;
    const holders = [activity, outcomeOf(activity).repetition];
    if (typeof id !== "string" || id === "" || holders.some((holder) => (holder?.["appProofs"] ?? null) !== null)) return activity;
    const listed = await query(this.#transport, QUERY_OPERATIONS.listAppProofs, { activityId: id }, { organizationId, ...(signal && { signal }) });
    return { ...activity, appProofs: isJsonObject(listed) ? (listed["appProofs"] ?? []) : [] };
  }

  async #verify<Result>(activity: unknown, expected: Expectation, sent: string | null, signal?: AbortSignal): Promise<VerifiedCall<Result>> {
    const facts = factsOf(activity, sent);
    const fetched = await this.#fetchBootProofs(activity, facts, signal);
    const verification = await this.#verifyEvidence(activity, fetched);
    const typed = readResult<Result>(activity, expected);
    const report = withFailures(verification.report, [
      ...bootFailures(fetched),
      ...answerFailures(activity, typed.fault, expected, verification.appProofs),
      ...(expected.request ? freshnessFailures(verification.appProofs, Number(expected.request.timestampMs)) : []),
    ]);
    const judged = await this.#withoutReuse(report, verification, expected);
    if (judged.verdict !== "verified" || verification.activity === null || typed.value === null) throw new RejectedActivityError(judged, facts);
    return { ...typed.value, report: judged, verified: verification.activity };
  }

  /** The boot proofs of the keys that the app proofs name: those that the service has. */
  async #fetchBootProofs(activity: unknown, facts: ActivityFacts, signal: AbortSignal | undefined): Promise<FetchedBootProof[]> {
    const keys = appProofsOf(activity).flatMap((proof) => readAppProof(proof).value.publicKey ?? []);
    const wanted = [...new Set(keys.map(toHex))].slice(0, MAX_KEYS);
    try {
      const fetched = await untilAborted(Promise.all(wanted.map((key) => this.#bootProofs.get(key))), signal);
      return fetched.filter((one) => one !== null);
    } catch (error) {
      throw error instanceof ClientError ? evidenceError(error, facts) : error;
    }
  }

  async #verifyEvidence(activity: unknown, fetched: readonly FetchedBootProof[]): Promise<Verification> {
    const now = this.#transport.now();
    return verifyEvidence({ bootProofs: fetched.map((one) => one.evidence), activity: wrapped(activity) }, { policy: this.#policy, now, memory: this.#signatures });
  }

  /** The report, rejected where an app proof has vouched for the answer to another request before. */
  async #withoutReuse(report: Report, { activity }: Verification, { request }: Expectation): Promise<Report> {
    if (report.verdict !== "verified" || activity === null || request === null) return report;
    const name = toHex(await sha256(toUtf8(JSON.stringify(request))));
    if (this.#used.claim(activity.activity.appProofs, name)) return report;
    return withFailures(report, [failure("activity.claims", "activity", "one of its app proofs came with the answer to another request before")]);
  }
}

/** The documented operation of an activity's type; null where it is of none. */
function operationOf(activity: unknown): SubmitOperation | null {
  const type = isJsonObject(activity) ? activity["type"] : undefined;
  return Object.values(SUBMIT_OPERATIONS).find((operation) => operation.type === type) ?? null;
}

/** In the wrapper, so that what is unwrapped from it is this very value, whatever its members are called. */
function wrapped(activity: unknown): unknown {
  return { activity };
}

function appProofsOf(activity: unknown): readonly unknown[] {
  return readActivity(wrapped(activity)).value.appProofs ?? [];
}

interface ActivityFacts {
  readonly operation: string | null;
  readonly activityId: string | null;
  readonly activityStatus: string | null;
}

function factsOf(activity: unknown, operation: string | null): ActivityFacts {
  const member = (name: string): string | null => {
    const value = isJsonObject(activity) ? activity[name] : undefined;
    return typeof value === "string" ? value.slice(0, 100) : null;
  };
  return { operation, activityId: member("id"), activityStatus: member("status") };
}

function evidenceError(cause: ClientError, { operation, activityId }: ActivityFacts): ClientError {
  const code = cause.code === "aborted" ? "aborted" : "evidence";
  const advice = operation === null ? "" : " It was submitted: verify it later with verifyActivity, and do not submit it again.";
  const message = `the evidence for ${activityId ?? "the activity"} could not be fetched (${cause.message}).${advice}`;
  return new ClientError(code, message, { operation, activityId, cause, effect: operation === null ? "none" : "unknown" });
}

function failure(id: CheckId, subject: CheckSubject, detail: string): Check {
  return { id, subject, status: "fail", detail };
}

/** What failed when each boot proof was held against the key that it was asked for. */
function bootFailures(fetched: readonly FetchedBootProof[]): Check[] {
  return fetched.flatMap(({ failures }, index) => failures.map((check) => ({ ...check, subject: `boot[${index}]` as const })));
}

function answerFailures(
  activity: unknown, fault: string | null, expected: Expectation, appProofs: readonly (VerifiedAppProof | null)[],
): Check[] {
  const reasons = isJsonObject(activity) ? [...contradictionsOf(activity, expected), ...foreignProofFaults(appProofs, expected)] : [];
  return [
    ...(fault === null ? [] : [failure("activity.decode", "activity", fault)]),
    ...(reasons.length === 0 ? [] : [failure("activity.claims", "activity", reasons.join("; "))]),
  ];
}

/** A proof that is older than the request was not made for it. */
function freshnessFailures(appProofs: readonly (VerifiedAppProof | null)[], requestedAt: number): Check[] {
  return appProofs.flatMap((proof, index) => {
    const made = proof?.payload.timestampMs ?? requestedAt;
    if (made >= requestedAt - SKEW_MS) return [];
    const detail = `made at ${new Date(made).toISOString()}, before the request of ${new Date(requestedAt).toISOString()} was sent`;
    return [failure("app.time", `app[${index}]`, detail)];
  });
}

/** The report with these checks failed beside those that failed already. */
function withFailures(report: Report, failures: readonly Check[]): Report {
  if (failures.length === 0) return report;
  const checks = report.checks.map((check) => {
    const also = failures.filter(({ id, subject }) => id === check.id && subject === check.subject);
    const details = [...(check.status === "fail" ? [check.detail] : []), ...also.map(({ detail }) => detail)];
    return also.length === 0 ? check : { ...also[0]!, ...(check.status === "fail" && check), detail: [...new Set(details)].join("; ") };
  });
  const added = failures.filter(({ id, subject }) => !report.checks.some((check) => check.id === id && check.subject === subject));
  return { ...report, verdict: "rejected", checks: [...checks, ...added], claims: null };
}

/** The typed answer, or what is wrong with it. */
function readResult<Result>(
  activity: unknown, { operation }: Expectation,
): { value: { activity: ActivityJson; result: Result } | null; fault: string | null } {
  const whole = readShape(activitySchema, activity, "");
  if (whole.value === undefined) return { value: null, fault: faultText(whole.faults) };
  const outcome = soleMember(outcomeOf(activity as JsonObject).result);
  if (outcome === undefined) return { value: null, fault: null };
  if (operation === null) return { value: { activity: whole.value, result: outcome as Result }, fault: null };
  const result = readShape(operation.result, outcome, `result.${operation.resultMember}`);
  if (result.value === undefined) return { value: null, fault: faultText(result.faults) };
  return { value: { activity: whole.value, result: result.value as Result }, fault: null };
}

/**
 * Which request each app proof came back for. A proof names no activity, so that one and the same would pass for any other
 * of the organization: the time of the request bounds how old it may be, and this, that it is accepted for one request
 * only. Those that came first are forgotten first.
 */
class UsedAppProofs {
  static readonly LIMIT = 4096;
  readonly #requests = new Map<string, string>();

  /** Whether all the proofs are the request's: new, or its own from before. */
  claim(appProofs: readonly unknown[], request: string): boolean {
    const names = appProofs.map(proofName);
    if (names.some((name) => (this.#requests.get(name) ?? request) !== request)) return false;
    for (const name of names) {
      this.#requests.set(name, request);
      if (this.#requests.size > UsedAppProofs.LIMIT) this.#requests.delete(this.#requests.keys().next().value!);
    }
    return true;
  }
}

/** Key and `r` of a proof that was verified: whoever turns `s` over has another signature, and no other proof. */
function proofName(proof: unknown): string {
  const { publicKey, signature } = readAppProof(proof).value;
  return `${toHex(publicKey!)}:${toHex(signature!.subarray(0, 32))}`;
}
