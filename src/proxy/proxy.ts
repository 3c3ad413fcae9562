/**
 * The verifying proxy without its sockets (proxy/README.md): decides on requests, and verifies answers against what was
 * sent.
 */
import type { Policy } from "../appraise/policy.js";
import { verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { ActivityVerifier, type ExpectedOfOwner } from "../client/activity-verifier.js";
import { ClientError, RejectedActivityError } from "../client/errors.js";
import type { EvidenceSource } from "../client/evidence.js";
import type { Signal } from "../client/platform.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { inTurns } from "../verify/in-turns.js";
import {
  AnswerFault,
  type ReadAnswer,
  type ReceivedActivity,
  type ReceivedAnswer,
  exactText,
  headerValues,
  readServiceAnswer,
  unfinishedActivity,
} from "./answer.js";
import type { DemandedBuilds } from "../client/builds.js";
import { type KeptBounds, type KeptRequest, KeptRequests } from "./kept.js";
import { type RefusalKind, type Reply, refusal } from "./reply.js";
import { type Decision, type AnswerQuestion, type ReceivedRequest, decideRequest } from "./request.js";

interface ProxyOptions extends DemandedBuilds {
  readonly policy: Policy;
  /** Where boot proofs and missing app proofs come from. */
  readonly evidence: EvidenceSource;
  /** Let submits without `generateAppProofs` pass, and their answers unverified. */
  readonly allowUnproven: boolean;
  readonly kept?: Partial<KeptBounds>;
  /** `strict`: a result whose report has a BUT is refused. Default: `standard`. */
  readonly acceptance?: "standard" | "strict";
}

/** What the upstream's response headers may bring along. */
const PASSED_BACK = /^[\x20-\x7e]{1,200}$/;
const RESPONSE_HEADERS = ["Retry-After", "X-Request-Id"];

const PREPARED_AT_ONCE = 4;
const VERIFIED = "X-Bootproof-Verified";
const BY_ID = { "X-Bootproof-Question": "id" };
const UNPROVEN = { "X-Bootproof": "unproven", [VERIFIED]: "none" };

export class VerifyingProxy {
  readonly #allowUnproven: boolean;
  readonly #verifier: ActivityVerifier;
  readonly #kept: KeptRequests;

  /** Throws TypeError for an invalid policy. */
  constructor({ policy, evidence, allowUnproven, kept, acceptance = "standard", ...builds }: ProxyOptions) {
    this.#allowUnproven = allowUnproven;
    this.#verifier = new ActivityVerifier(evidence, policy, { acceptance, ...builds });
    this.#kept = new KeptRequests(evidence.now, kept);
  }

  decide(request: ReceivedRequest): Decision {
    return decideRequest(request, { allowUnproven: this.#allowUnproven });
  }

  /** Caches the boot proofs of these keys, in hex, and resolves to those that the policy rejects. */
  async prepare(keys: readonly string[]): Promise<readonly string[]> {
    const { policy, bootProofs, source, signatures, builds } = this.#verifier;
    const verdicts = await inTurns(keys, PREPARED_AT_ONCE, async (key) => {
      const evidence = (await bootProofs.get(key))?.evidence ?? null;
      const options = { policy, now: source.now(), cache: signatures, ephemeralKey: fromHex(key)!, ...builds.options };
      const pieces = { bootProofs: [evidence], ...builds.evidence };
      return (await verifyEvidence(pieces, { ...options, bootProofsOnly: true })).report.verdict;
    });
    return keys.filter((_, index) => verdicts[index] !== "verified");
  }

  /** Never rejects. */
  async answer(question: AnswerQuestion, answer: ReceivedAnswer, signal: Signal): Promise<Reply> {
    try {
      const read = readServiceAnswer(answer, { isActivity: holdsActivity(question) });
      const reply = await this.#replyTo(question, read, signal);
      return { ...reply, headers: { ...passedBack(answer.rawHeaders), ...reply.headers } };
    } catch (error) {
      return refusalOf(question, error);
    }
  }

  async #replyTo(question: AnswerQuestion, read: ReadAnswer, signal: Signal): Promise<Reply> {
    if (read.kind === "error") return replyWith(read.status, read.value, { [VERIFIED]: "none" });
    if (read.kind === "other") return replyWith(200, read.value, { [VERIFIED]: "none" });
    const { activity } = read;
    const known = this.#kept.get(activity.id);
    const other = otherActivity(question, activity) ?? this.#keep(question, activity);
    if (activity.isCompleted && !isUnproven(question, known)) {
      // First, so that a refusal names every failed check.
      const reply = await this.#verified(question, activity, known, signal);
      if (other === null) return reply;
    }
    if (other !== null) throw other;
    if (activity.isCompleted) return replyWith(200, { activity: activity.json }, UNPROVEN);
    return replyWith(200, { activity: unfinishedActivity(activity.json) }, { [VERIFIED]: "none" });
  }

  /** An activity of another type is the one that was voted on: its own request is not this one. */
  #keep(question: AnswerQuestion, { id, type }: ReceivedActivity): OtherActivity | null {
    if (question.kind === "query" || type !== question.sent.type) return null;
    if (this.#kept.keep(id, { ...question.sent, isProven: question.isProven })) return null;
    return new OtherActivity(`the service answered another request with activity ${id.slice(0, 100)} before`);
  }

  async #verified(
    question: AnswerQuestion,
    received: ReceivedActivity,
    known: KeptRequest | null,
    signal: Signal,
  ): Promise<Reply> {
    const expected = expectedOf(question, received, known);
    const sent = question.kind === "submit" ? question.name : null;
    const { activity } = await this.#verifier.verify({ activity: received.json, expected, sent, signal });
    const headers = { [VERIFIED]: "activity", ...(question.kind === "query" && known === null && BY_ID) };
    return replyWith(200, { activity }, headers);
  }
}

/** What fails `activity.request` where the verifier does not know it, or there is nothing to verify. */
class OtherActivity extends Error {}

function holdsActivity({ kind, name }: AnswerQuestion): boolean {
  return kind === "submit" || name === "get_activity";
}

/** Also of an unfinished activity: another one than the requested would mislead a client that polls. */
function otherActivity(question: AnswerQuestion, { id, organizationId }: ReceivedActivity): OtherActivity | null {
  const wanted = question.kind === "submit" ? question.sent.organizationId : question.organizationId;
  if (wanted !== null && organizationId !== wanted)
    return new OtherActivity("the activity is of another organization than the request");
  if (question.kind === "query" && question.activityId !== null && id !== question.activityId)
    return new OtherActivity("the activity has another id than the requested one");
  return null;
}

function isUnproven(question: AnswerQuestion, known: KeptRequest | null): boolean {
  if (question.kind === "submit") return !question.isProven && known?.isProven !== true;
  return known !== null && !known.isProven;
}

/** From the requests alone. The answer's id only chooses among the requests that were sent. */
function expectedOf(question: AnswerQuestion, { id }: ReceivedActivity, known: KeptRequest | null): ExpectedOfOwner {
  if (question.kind === "submit") {
    const { organizationId, type, parameters, requestedAt } = question.sent;
    return { organizationId, type, parameters, requestedAt };
  }
  const { organizationId, activityId } = question;
  if (organizationId === null) throw new OtherActivity("the request names no organizationId");
  if (known !== null) {
    const { type, parameters, requestedAt } = known;
    return { organizationId, id, type, parameters, requestedAt };
  }
  if (activityId !== null) return { organizationId, id: activityId };
  throw new OtherActivity("the request names no activityId, and no submit had this activity as its answer");
}

function replyWith(status: number, value: JsonValue, headers: Readonly<Record<string, string>>): Reply {
  return { status, headers, body: exactText(value), note: null };
}

function passedBack(rawHeaders: readonly string[]): Record<string, string> {
  const passed = RESPONSE_HEADERS.flatMap((name) => {
    const values = headerValues(rawHeaders, name.toLowerCase());
    return values.length === 1 && PASSED_BACK.test(values[0]!) ? [[name, values[0]!] as const] : [];
  });
  return Object.fromEntries(passed) as Record<string, string>;
}

function refusalOf({ kind, name }: AnswerQuestion, error: unknown): Reply {
  const advice = kind === "submit" ? " The service may have carried it out: look into it before you submit again." : "";
  const failed = (of: RefusalKind, message: string, details: readonly JsonObject[] = []): Reply =>
    refusal(of, `${kind}/${message.startsWith(`${name}: `) ? "" : `${name}: `}${message}`, details);
  if (error instanceof RejectedActivityError) return failed("rejected", error.message, failedChecks(error));
  if (error instanceof OtherActivity)
    return failed("rejected", `rejected: activity.request: ${error.message}.${advice}`, [
      { id: "activity.request", subject: "activity", detail: error.message },
    ]);
  if (error instanceof AnswerFault)
    return failed("invalid-answer", `the answer of the service is refused: ${error.message}.${advice}`);
  if (error instanceof ClientError) return failed("evidence", error.message);
  return failed("internal", `a fault of the proxy: ${error instanceof Error ? error.name : "unknown"}.${advice}`);
}

function failedChecks({ report }: RejectedActivityError): JsonObject[] {
  return report.checks
    .filter(({ status }) => status === "fail")
    .map(({ id, subject, detail }) => ({ id, subject, detail }));
}
