/** One call of a method: every request that it sends, and the verified activity that its value is built from. */
import { COMPLETED, isVote, outcomeOf, soleMember } from "../decode/activity.js";
import { DECIMAL_TIME } from "../decode/decimal-time.js";
import { type JsonObject, type JsonValue, isJsonObject, jsonKey } from "../decode/json.js";
import { cut, listed } from "../errors.js";
import type { ActivityVerifier, ExpectedOfOwner } from "../client/activity-verifier.js";
import { RejectedActivityError, rejectionAdvice } from "../client/errors.js";
import type { Report } from "../report/report.js";
import {
  type ForeignClient,
  GET_ACTIVITY,
  hasPrototypeMember,
  plainJson,
  queriesOf,
  foreignRequest,
  responseOf,
  submitOf,
} from "./foreign.js";

/** What a call needs of the wrapper. */
export interface Setting {
  readonly client: ForeignClient;
  readonly evidence: ForeignClient | null;
  readonly verifier: ActivityVerifier;
  readonly organizationId: string | undefined;
  readonly pollIntervalMs: number;
  readonly pollAttempts: number;
  /** Its SDK reads `generateAppProofs` among the parameters only. */
  readonly isFlagAmongParameters: boolean;
  readonly submitted: SubmittedRequests;
}

interface Sent {
  readonly operation: string;
  readonly expected: ExpectedOfOwner;
}

const MAX_SUBMITTED = 4096;

/** Requests by the organization and id of their activity. The service chooses ids: the first request keeps its id. */
export class SubmittedRequests {
  readonly #requests = new Map<string, ExpectedOfOwner>();

  get(organizationId: string, id: string): ExpectedOfOwner | undefined {
    return this.#requests.get(jsonKey([organizationId, id]));
  }

  isOfAnother(id: string, expected: ExpectedOfOwner): boolean {
    const known = this.get(expected.organizationId, id);
    const keyOf = (one: ExpectedOfOwner): string => jsonKey(one as unknown as JsonObject);
    return known !== undefined && keyOf(known) !== keyOf(expected);
  }

  keep(id: string, expected: ExpectedOfOwner): void {
    if (this.get(expected.organizationId, id) !== undefined) return;
    this.#requests.set(jsonKey([expected.organizationId, id]), expected);
    if (this.#requests.size > MAX_SUBMITTED) this.#requests.delete(this.#requests.keys().next().value!);
  }
}

/** The activity of a response, as the caller gets it. */
interface Answered {
  readonly activity: JsonObject;
  /** Null unless verified. */
  readonly report: Report | null;
}

export class Call {
  readonly #setting: Setting;
  readonly #answered: Answered[] = [];
  /** The type of its submit. */
  #submitted: string | null = null;
  #organizationId: string | null = null;
  #requests = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** Whether the call sent nothing. */
  get isSilent(): boolean {
    return this.#requests === 0;
  }

  /** In place of the client's own. */
  async request(path: string, body: unknown, ...more: readonly unknown[]): Promise<unknown> {
    this.#requests++;
    const operation = submitOf(path);
    if (operation !== null) return this.#submit(path, operation, body, more);
    const copy = responseOf(body);
    const question = this.#withOrganization(path, jsonObjectOf(copy));
    // The copy is sent, unless the body is no JSON object.
    const sent = isJsonObject(copy) ? plainJson(question) : body;
    return this.#queried(await foreignRequest(this.#setting.client)(path, sent, ...more), question, more);
  }

  /** Sends a request that the caller's stamper has signed. `send` returns the service's response. */
  async signed(path: string, body: JsonObject, send: () => Promise<unknown>): Promise<unknown> {
    this.#requests++;
    const operation = submitOf(path);
    if (operation === null) return this.#queried(await send(), body, []);
    const sent = this.#sentBy(operation, body);
    const flags = [body, jsonObjectOf(body["parameters"] ?? null)].map((one) => one["generateAppProofs"]);
    if (!flags.includes(true))
      throw new TypeError(`${operation}: not sent: it is signed without generateAppProofs: true`);
    return this.#settle(await send(), sent, []);
  }

  /** The value for the caller: built anew where it holds an activity of this call. */
  finished(value: unknown, isEnvelope: boolean): { readonly value: unknown; readonly report: Report | null } {
    const activity = isJsonObject(value) && Object.hasOwn(value, "activity") ? value["activity"] : undefined;
    const answered = this.#answered.find((one) => one.activity === activity);
    if (answered === undefined) return { value, report: null };
    const { report } = answered;
    const isFlat = this.#submitted !== null && !isEnvelope && report !== null;
    return {
      value: isFlat ? flat(answered.activity, isVote(this.#submitted)) : { activity: answered.activity },
      report,
    };
  }

  async #submit(path: string, operation: string, body: unknown, more: readonly unknown[]): Promise<unknown> {
    const { organizationId } = this.#setting;
    const owned = withMembers(organizationId === undefined ? {} : { organizationId }, jsonObjectOf(responseOf(body)));
    const proven = this.#withAppProofs(owned);
    const sent = this.#sentBy(operation, proven);
    return this.#settle(await foreignRequest(this.#setting.client)(path, plainJson(proven), ...more), sent, more);
  }

  #withAppProofs(body: JsonObject): JsonObject {
    const parameters = jsonObjectOf(body["parameters"] ?? null);
    const flag = { generateAppProofs: true };
    const flagged = { parameters: withMembers(parameters, flag) };
    if (this.#setting.isFlagAmongParameters) return withMembers(body, flagged);
    const isAmong = Object.hasOwn(parameters, "generateAppProofs");
    return withMembers(body, { ...(isAmong && flagged), ...flag });
  }

  /** The caller's request. Throws TypeError before anything is sent. */
  #sentBy(operation: string, body: JsonObject): Sent {
    const { type, organizationId = this.#setting.organizationId, parameters, timestampMs } = body;
    if (typeof type !== "string" || typeof organizationId !== "string" || !isJsonObject(parameters))
      throw new TypeError(`${operation}: not sent: type, organizationId and parameters wanted`);
    const isTime = typeof timestampMs === "string" && DECIMAL_TIME.test(timestampMs);
    const requestedAt = isTime ? timestampMs : String(this.#setting.verifier.source.now().getTime());
    this.#submitted = type;
    this.#organizationId = organizationId;
    return { operation, expected: { organizationId, type, parameters, requestedAt } };
  }

  /** The activity of a submit, when it changes no more by itself. */
  async #settle(first: unknown, { operation, expected }: Sent, more: readonly unknown[]): Promise<unknown> {
    const { activityId, answer, isPolled } = await this.#polled(first, expected.organizationId, more);
    // The answer to a vote may be the activity that was voted on.
    const id = isVote(expected.type) ? null : activityId;
    const { submitted } = this.#setting;
    const isOfAnother = id !== null && submitted.isOfAnother(id, expected);
    const whole = isPolled && activityId !== null ? { ...expected, id: activityId } : expected;
    const faults = isOfAnother ? ["the activity's id belongs to another request"] : [];
    const answered = await this.#answer(answer, { expected: whole, operation, faults }, more);
    if (id !== null) submitted.keep(id, expected);
    return answered;
  }

  async #polled(
    first: unknown,
    organizationId: string,
    more: readonly unknown[],
  ): Promise<{ readonly activityId: string | null; readonly answer: JsonValue; readonly isPolled: boolean }> {
    const { client, pollAttempts, pollIntervalMs } = this.#setting;
    let answer = responseOf(first);
    const { id } = activityIn(answer);
    const activityId = typeof id === "string" && id !== "" ? id : null;
    let attempts = 0;
    while (activityId !== null && isPending(activityIn(answer)) && attempts < pollAttempts) {
      attempts++;
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
      answer = responseOf(await foreignRequest(client)(GET_ACTIVITY, { activityId, organizationId }, ...more));
    }
    return { activityId, answer, isPolled: attempts > 0 };
  }

  /** A client may poll without the organization of the call. */
  #withOrganization(path: string, body: JsonObject): JsonObject {
    const { activityId } = body;
    const organizationId = this.#organizationId;
    if (path !== GET_ACTIVITY || organizationId === null || typeof activityId !== "string") return body;
    const isOwn = this.#setting.submitted.get(organizationId, activityId) !== undefined;
    return isOwn ? withMembers(body, { organizationId }) : body;
  }

  async #queried(value: unknown, body: JsonObject, more: readonly unknown[]): Promise<unknown> {
    if (!isJsonObject(value)) return value;
    if (Array.isArray(value["activities"]))
      return { ...value, activities: value["activities"].map((one) => withoutResult(jsonObjectOf(responseOf(one)))) };
    if (!Object.hasOwn(value, "activity")) return value;
    const { activityId, organizationId = this.#setting.organizationId } = body;
    if (typeof organizationId !== "string")
      throw new TypeError("organizationId: wanted, since the activity is verified");
    const id = typeof activityId === "string" ? activityId : undefined;
    const submitted = id === undefined ? undefined : this.#setting.submitted.get(organizationId, id);
    const expected = { ...(submitted ?? { organizationId }), ...(id !== undefined && { id }) };
    return this.#answer(responseOf(value), { expected, operation: null, faults: [] }, more);
  }

  /** Throws {@link RejectedActivityError}. */
  async #answer(
    answer: JsonValue,
    asked: {
      readonly expected: ExpectedOfOwner;
      readonly operation: string | null;
      readonly faults: readonly string[];
    },
    more: readonly unknown[],
  ): Promise<{ readonly activity: JsonObject }> {
    const activity = activityIn(answer);
    const faults = [...asked.faults, ...formFaults(answer)];
    const isFinished = activity["status"] === COMPLETED || faults.length > 0 || activity["status"] === undefined;
    const answered = isFinished
      ? await this.#verified(faults.length > 0 ? [answer] : activity, { ...asked, faults }, more)
      : { activity: plainJson(withoutResult(activity)), report: null };
    this.#answered.push(answered);
    return { activity: answered.activity };
  }

  async #verified(
    activity: JsonValue,
    asked: {
      readonly expected: ExpectedOfOwner;
      readonly operation: string | null;
      readonly faults: readonly string[];
    },
    more: readonly unknown[],
  ): Promise<Answered> {
    const { client, evidence, verifier } = this.#setting;
    const { expected, operation: sent, faults } = asked;
    const query = queriesOf(evidence ?? client, expected.organizationId, evidence === null ? more : []);
    try {
      // A list is no activity: it is rejected, whatever it holds.
      const verified = await verifier.verify({ activity, expected, sent, signal: undefined, query });
      return { activity: plainJson(verified.activity as JsonObject), report: verified.report };
    } catch (error) {
      throw error instanceof RejectedActivityError ? rejection(error, activity, faults) : error;
    }
  }
}

/** Signers of other libraries keep only the message of an error, so it begins with the ids of the checks. */
function rejection(
  error: RejectedActivityError,
  activity: JsonValue,
  faults: readonly string[],
): RejectedActivityError {
  const { report, failures, operation } = error;
  const shown = Array.isArray(activity) ? activityIn(activity[0] ?? null) : jsonObjectOf(activity);
  const [activityId, activityStatus] = [textOf(shown["id"]), textOf(shown["status"])];
  const ids = [...new Set(failures.map(({ id }) => id))].join(", ");
  const about = [operation, activityId].filter((one) => one !== null).join(" ");
  const reasons = [...faults, ...failures.map(({ id, detail }) => `${id}: ${cut(detail, 1000)}`)];
  const facts = { operation, activityId, activityStatus, hasAppProofs: Object.hasOwn(shown, "appProofs") };
  const what = about === "" ? ids : `${ids} (${about})`;
  const message = `rejected: ${what}: ${listed(reasons, "; ")}. ${rejectionAdvice(facts)}`;
  return new RejectedActivityError(report, { ...facts, message });
}

/** What no honest response has: nothing of it would be verified. */
function formFaults(answer: JsonValue): string[] {
  const others = Object.keys(jsonObjectOf(answer)).filter((name) => name !== "activity");
  return [
    ...(others.length === 0 ? [] : [`the response has ${listed(others.map(quoted), ", ")} beside the activity`]),
    ...(hasPrototypeMember(answer) ? ["the response has a member __proto__"] : []),
  ];
}

const quoted = (name: string): string => JSON.stringify(cut(name, 64));

function activityIn(answer: JsonValue): JsonObject {
  return jsonObjectOf(jsonObjectOf(answer)["activity"] ?? null);
}

/** Without a prototype, as copies are. */
export function jsonObjectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : (Object.create(null) as JsonObject);
}

function withMembers(object: JsonObject, members: JsonObject): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, object, members);
}

/** Every other status may still change by itself. */
const SETTLED: readonly JsonValue[] = [
  COMPLETED,
  "ACTIVITY_STATUS_FAILED",
  "ACTIVITY_STATUS_REJECTED",
  "ACTIVITY_STATUS_CONSENSUS_NEEDED",
  "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
];

function isPending({ status }: JsonObject): boolean {
  return typeof status === "string" && !SETTLED.includes(status);
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value.slice(0, 100) : null;
}

function withoutResult(activity: JsonObject): JsonObject {
  const others = Object.entries(activity).filter(([name]) => !["result", "appProofs"].includes(name));
  return Object.fromEntries(others) as JsonObject;
}

/** As the SDKs with flat results return it: of a vote, the members are those of `result` itself. */
function flat(activity: JsonObject, isVote: boolean): JsonObject {
  const { result } = outcomeOf(activity);
  const members = isVote ? result : soleMember(result);
  return { ...(isJsonObject(members) ? members : {}), activity };
}
