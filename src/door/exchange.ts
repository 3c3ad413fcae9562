/** Decides what an answer of the service is compared with (door/README.md), for every entrance. */
import { readActivity } from "../decode/activity.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { fingerprintContradictions, identityContradictions } from "../verify/contradictions.js";
import type { Report } from "../report/report.js";
import type { VerifiedActivity } from "../verify/activity.js";
import type { Expected } from "../verify/expectation.js";
import {
  type ReadAnswer,
  type AnsweredActivity,
  finishedActivity,
  isCompleted,
  isPending,
  isUnfinished,
  readActivityAnswer,
  readUnverifiedAnswer,
  unfinishedActivity,
} from "./answer.js";
import type { Bindings } from "./bindings.js";
import type { QuestionById, ServiceQuestion, SubmitQuestion, UnverifiedQuestion } from "./question.js";

export type ExpectedOfOwner = Expected & { readonly organizationId: string };

/** An activity to verify, with what it is compared with. */
export interface AskedActivity {
  /** The activity as received. Null if the answer has none: verification then fails. */
  readonly activity: JsonValue;
  /** What the activity is compared with; null if the answer must not have an activity. */
  readonly expected: ExpectedOfOwner | null;
  /** Reasons to refuse the answer whatever its app proofs say. They fail the check `activity.request`. */
  readonly refusals: readonly string[];
  /** The submitted operation; null for an activity that was not submitted by this call. */
  readonly operation: string | null;
  /** Whether the activity came from `get_activity`. Its missing app proofs are then fetched. */
  readonly isFetched: boolean;
  /** When the call began whose request it is compared with. Null if that is no call of this process. */
  readonly began?: number | null;
}

export interface VerifiedEvidence {
  /** The activity as verified. */
  readonly activity: JsonValue;
  readonly report: Report;
  readonly verified: VerifiedActivity;
}

/** Resolves to the verified activity. Rejects if the activity is not accepted. */
type Verify = (asked: AskedActivity) => Promise<VerifiedEvidence>;

/** The part of an answer that may be handed on. */
export type Settled =
  | { readonly kind: "verified"; readonly activity: JsonObject; readonly verified: VerifiedEvidence }
  /**
   * An `unfinished` activity has neither result nor app proofs. An `unproven` activity was not verified, since the
   * caller requested no app proofs. `asked` is what the activity was compared with.
   */
  | { readonly kind: "unfinished" | "unproven"; readonly activity: JsonObject; readonly asked: AskedActivity }
  | { readonly kind: "other"; readonly value: JsonValue };

export interface Polling {
  readonly attempts: number;
  /** Waits, then sends `get_activity`. */
  readonly ask: (activityId: string) => Promise<ReadAnswer>;
}

interface Comparison extends Pick<AskedActivity, "began"> {
  readonly expected: ExpectedOfOwner;
  readonly refusals: readonly string[];
  /** Whether types are compared. The activity that a vote returns is compared by its fingerprint instead. */
  readonly hasType: boolean;
  readonly isProven: boolean;
}

/** One question, and the state that its answers share. */
export class Exchange {
  readonly question: ServiceQuestion;
  readonly #bindings: Bindings;
  readonly #submitter: string;
  /** Id and type of the activity in the first answer to a submit or vote. */
  #first: { readonly id: string; readonly type: string | undefined } | null = null;

  /** `submitter` is used only to count the size of bindings for each submitter. */
  constructor(question: ServiceQuestion, bindings: Bindings, submitter = "") {
    this.question = question;
    this.#bindings = bindings;
    this.#submitter = submitter;
  }

  /** The id of the activity that answered a submit; null before the first answer. */
  get firstId(): string | null {
    return this.#first?.id ?? null;
  }

  /**
   * Reads an answer, binds it to its request, and verifies it. The binding is made before the first `await`.
   * `isFetched` means that the answer came from a later `get_activity`. Rejects with the error of `verify`.
   */
  async settle(answer: ReadAnswer, verify: Verify, isFetched = false): Promise<Settled> {
    const { question } = this;
    if (isUnverified(question)) return settleUnverified(question, answer, verify);
    const read = readActivityAnswer(answer);
    const isById = question.kind === "activity";
    const compared =
      question.kind === "activity" ? this.#compareById(question, read) : this.#compareSubmit(question, read);
    const { expected, refusals } = compared;
    const operation = isById ? null : question.operation;
    const { began = null } = compared;
    const asked = { activity: read.activity, expected, refusals, operation, isFetched: isFetched || isById, began };
    const open = handedOnUnverified(read, compared);
    if (open !== null) return { ...open, asked };
    const verified = await verify(asked);
    return { kind: "verified", activity: finishedActivity(verified.activity as JsonObject), verified };
  }

  /** Does what {@link settle} does. While the activity is pending, it sends `get_activity` up to `attempts` times. */
  async settlePolled(answer: ReadAnswer, verify: Verify, { attempts, ask }: Polling): Promise<Settled> {
    let settled = await this.settle(answer, verify);
    for (let left = attempts; left > 0 && settled.kind === "unfinished" && isPending(settled.activity); left--)
      settled = await this.settle(await ask(this.#first!.id), verify, true);
    return settled;
  }

  #compareById({ organizationId, activityId: id }: QuestionById, { faults }: AnsweredActivity): Comparison {
    const bound = this.#bindings.get(id);
    return {
      expected: { ...(bound && requestOf(bound)), organizationId, id },
      refusals: [...faults, ...ofAnother(bound, organizationId)],
      hasType: true,
      isProven: bound?.isProven ?? true,
      began: bound?.began ?? null,
    };
  }

  #compareSubmit(question: SubmitQuestion, read: AnsweredActivity): Comparison {
    const { stated, id, faults } = read;
    const isLater = this.#first !== null;
    const first = (this.#first ??= id === null ? null : { id, type: stated.type });
    const isOther = first !== null && (first.id !== id || first.type !== stated.type);
    const isVotedOn = question.kind === "vote" && stated.type !== question.type;
    const compared = isVotedOn ? this.#compareVotedOn(question, read) : this.#compareOwn(question, id);
    return {
      ...compared,
      expected: { ...compared.expected, ...(isLater && { id: first!.id }) },
      refusals: [...faults, ...(isOther ? [OTHER_ACTIVITY] : []), ...compared.refusals],
    };
  }

  #compareOwn(question: SubmitQuestion, id: string | null): Comparison {
    const conflict = id === null ? null : this.#bindings.bind(question, id, this.#submitter);
    const isProven = question.isProven || (id !== null && this.#bindings.get(id)?.isProven === true);
    return {
      expected: requestOf(question),
      refusals: conflict === null ? [] : [conflict],
      hasType: true,
      isProven,
      began: question.began ?? null,
    };
  }

  #compareVotedOn(question: SubmitQuestion, { stated, id }: AnsweredActivity): Comparison {
    const { organizationId } = question;
    const bound = id === null ? null : this.#bindings.get(id);
    return {
      expected: bound === null ? requestOf(question) : { ...requestOf(bound), organizationId, id: id! },
      refusals: [...ofAnother(bound, organizationId), ...fingerprintContradictions(question, stated)],
      hasType: bound !== null,
      isProven: question.isProven || bound?.isProven === true,
      began: bound?.began ?? null,
    };
  }
}

const OTHER_ACTIVITY = "this activity is not the one that first answered the request";

async function settleUnverified(question: UnverifiedQuestion, answer: ReadAnswer, verify: Verify): Promise<Settled> {
  const isRead = answer.value !== null || answer.faults.length === 0;
  const read = isRead ? readUnverifiedAnswer(question, answer.value) : { fault: answer.faults[0]! };
  return "value" in read ? { kind: "other", value: read.value } : refused(answer, read.fault, verify);
}

/** Returns the activity that is handed on after a comparison, without verification. Null if it must be verified. */
function handedOnUnverified(
  read: AnsweredActivity,
  compared: Comparison,
): { readonly kind: "unfinished" | "unproven"; readonly activity: JsonObject } | null {
  const { activity, isSound } = read;
  if (activity === null || !isSound || compared.refusals.length > 0 || !isIdentical(compared, read)) return null;
  if (isCompleted(activity))
    return compared.isProven ? null : { kind: "unproven", activity: finishedActivity(activity) };
  const open = isUnfinished(activity) ? unfinishedActivity(activity) : null;
  return open && { kind: "unfinished", activity: open };
}

export function isUnverified(question: ServiceQuestion): question is UnverifiedQuestion {
  return question.kind === "list" || question.kind === "query";
}

/** Whether organization, id and type are as expected. For an unfinished activity nothing else is compared. */
function isIdentical({ expected, hasType }: Comparison, { stated }: AnsweredActivity): boolean {
  const { organizationId, id = null, type = null } = expected;
  return identityContradictions({ organizationId, id, type: hasType ? type : null }, stated).length === 0;
}

function requestOf({ organizationId, type, parameters, timestampMs }: SubmitQuestion): ExpectedOfOwner {
  return { organizationId, type, parameters, requestedAt: timestampMs };
}

function ofAnother(bound: SubmitQuestion | null, organizationId: string): string[] {
  if (bound === null || bound.organizationId === organizationId) return [];
  return ["the activity's id belongs to a request of another organization"];
}

/** Always rejects. The error names the failed checks if the answer has an activity. */
async function refused(answer: ReadAnswer, fault: string, verify: Verify): Promise<never> {
  const { value } = answer;
  const activity = isJsonObject(value) ? (value["activity"] ?? null) : null;
  await verify({ activity, expected: null, refusals: [fault], operation: null, isFetched: false });
  throw new Error("an activity was accepted where the answer may not have one");
}

/**
 * Returns what to verify for an activity that the caller already has. The activity is compared with what the caller
 * expects. If the caller names no parameters, it is also compared with the request that it answered here.
 */
export function askedOfPast(
  bindings: Bindings,
  { value, faults }: ReadAnswer,
  expected: ExpectedOfOwner,
): AskedActivity {
  const { id = "" } = readActivity({ activity: value }).value;
  const bound = bindings.get(expected.id ?? id);
  return {
    activity: value,
    expected: { ...(bound && expected.parameters === undefined && { ...requestOf(bound), id }), ...expected },
    refusals: [...faults, ...ofAnother(bound, expected.organizationId)],
    operation: null,
    isFetched: true,
    began: bound?.began ?? null,
  };
}
