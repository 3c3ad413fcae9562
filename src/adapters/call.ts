/** One call of a method: its requests, and the verified activity from which the returned value is built. */
import { lastOf } from "../bytes.js";
import { outcomeOf, soleMember } from "../decode/activity.js";
import { type JsonObject, type JsonValue, copyJson, isJsonObject } from "../decode/json.js";
import { type Attempt, attempt, faultText } from "../errors.js";
import type { AccountVerifier } from "../client/account-verifier.js";
import type { ActivityVerifier } from "../client/activity-verifier.js";
import { type EvidenceSource, type FindBootProof, evidenceByKey } from "../client/evidence.js";
import { answerOfValue, holdsResult } from "../exchange/answer.js";
import type { Bindings } from "../exchange/bindings.js";
import { type AskedActivity, Exchange } from "../exchange/exchange.js";
import { type ServiceQuestion, operationOf, questionOf } from "../exchange/question.js";
import type { Report } from "../report/report.js";
import {
  type ForeignClient,
  type ForeignMembers,
  GET_ACTIVITY,
  type Method,
  foreignRequest,
  plainJson,
  queriesOf,
} from "./foreign.js";
import type { AuthProxyVerifier } from "./auth-proxy.js";
import { authOperationOf } from "../exchange/auth-proxy.js";
import { keepProof, keepReport, rejected } from "./results.js";

/** The settings that all calls of a wrapped client share. */
export interface Setting {
  readonly client: ForeignClient;
  readonly evidence: ForeignClient | FindBootProof | null;
  readonly verifier: ActivityVerifier;
  /** Null if the client has no auth proxy. */
  readonly authProxy: AuthProxyVerifier | null;
  /** Null if accounts are not verified. */
  readonly accounts: AccountVerifier | null;
  readonly organizationId: string | undefined;
  readonly pollIntervalMs: number;
  readonly pollAttempts: number;
  /** Whether the SDK reads `generateAppProofs` only inside `parameters`. */
  readonly isFlagAmongParameters: boolean;
  readonly bindings: Bindings;
}

/** Thrown instead of sending: a trial sends nothing. */
class TriedToSend extends Error {}

interface Opened {
  readonly exchange: Exchange;
  /** Whether the request is `get_activity` after a submit of this call. */
  readonly isFetched: boolean;
}

/** The activity that is returned to the caller, with its report if it was verified. */
interface Answered {
  readonly activity: JsonObject;
  readonly report: Report | null;
}

export class Call {
  readonly #setting: Setting;
  readonly #isTrial: boolean;
  readonly #answered: Answered[] = [];
  readonly #submits: Exchange[] = [];
  #requests = 0;

  constructor(setting: Setting, isTrial = false) {
    this.#setting = setting;
    this.#isTrial = isTrial;
  }

  /** Whether the call made no request. */
  get isSilent(): boolean {
    return this.#requests === 0;
  }

  /** Replaces the client's own `request`. */
  async request(path: string, given: unknown, ...more: readonly unknown[]): Promise<unknown> {
    this.#begin();
    const copy = attempt(() => copyJson(given));
    const body = copy.value === undefined ? copy : { value: this.#completed(path, copy.value), faults: [] as [] };
    const opened = this.#open(path, body);
    const sent = isJsonObject(body.value) ? plainJson(body.value) : given;
    return this.#settled(opened, await foreignRequest(this.#setting.client)(path, sent, ...more), more);
  }

  /** Sends a request that the caller's stamper has signed. `send` resolves to the answer of the service. */
  async signed(
    url: string,
    body: Attempt<JsonValue>,
    send: (question: ServiceQuestion) => Promise<unknown>,
  ): Promise<unknown> {
    this.#begin();
    const opened = this.#open(pathIn(url), body);
    const { question } = opened.exchange;
    if ("isProven" in question && !question.isProven)
      throw new TypeError(`${question.operation}: not sent: the signed body lacks generateAppProofs: true`);
    return this.#settled(opened, await send(question), []);
  }

  /** Replaces the client's own `authProxyRequest`, which `send` is. */
  async proxied(
    { send, isAllowed }: { readonly send: Method; readonly isAllowed: true | undefined },
    path: string,
    given: unknown,
    more: readonly unknown[],
  ): Promise<unknown> {
    this.#begin();
    const verifier = this.#setting.authProxy!;
    const operation = authOperationOf(path);
    const copied = attempt(() => copyJson(given));
    const body = copied.value;
    if (operation === null) throw new TypeError(`${path}: not sent: expected /v1/NAME`);
    if (!isJsonObject(body)) {
      const fault = body === undefined ? faultText(copied.faults) : "not an object";
      throw new TypeError(`${operation}: not sent: expected a JSON object (${fault})`);
    }
    const asked = verifier.ask(operation, copied, isAllowed);
    const answer = await send.call(this.#setting.client, path, plainJson(body), ...more);
    const query = this.#queriesOf(this.#setting.organizationId ?? "", []);
    const settled = await verifier.settle(asked, answerOfValue(answer), { query });
    const value = plainJson(settled.value);
    if (typeof value === "object" && value !== null) keepProof(value, settled);
    return value;
  }

  /** Builds the value for the caller from the activities of this call. Returns null if the value must be withheld. */
  finished(value: unknown, isEnvelope: boolean): { readonly value: unknown; readonly report: Report | null } | null {
    const answered = this.#answered.find(({ activity }) => isActivityOf(value, activity));
    if (answered === undefined) return holdsAnyResult(value) ? null : { value, report: null };
    const { report } = answered;
    const [submit] = this.#submits;
    const isFlat = submit !== undefined && !isEnvelope && report !== null;
    const isVote = submit?.question.kind === "vote";
    return { value: isFlat ? flat(answered.activity, isVote) : { activity: answered.activity }, report };
  }

  #begin(): void {
    this.#requests++;
    if (this.#isTrial) throw new TriedToSend();
  }

  /** Adds `generateAppProofs`, and the organization, which an SDK may leave out when it polls. */
  #completed(path: string, body: JsonValue): JsonValue {
    const isSubmit = path.startsWith(SUBMIT);
    if (!isJsonObject(body) || !(isSubmit || path === GET_ACTIVITY)) return body;
    const own = this.#submits.find(({ firstId }) => firstId !== null && firstId === body["activityId"]);
    const organizationId = this.#setting.organizationId;
    const owned = withMembers(organizationId === undefined ? {} : { organizationId }, body);
    if (isSubmit) return this.#withAppProofs(owned);
    return own === undefined ? owned : withMembers(owned, { organizationId: own.question.organizationId });
  }

  #withAppProofs(body: JsonObject): JsonObject {
    const flag = { generateAppProofs: true };
    const parameters = isJsonObject(body["parameters"]) ? body["parameters"] : null;
    const flagged = parameters && { parameters: withMembers(parameters, flag) };
    if (this.#setting.isFlagAmongParameters) return withMembers(body, { ...flagged });
    const isAmong = parameters !== null && Object.hasOwn(parameters, "generateAppProofs");
    return withMembers(body, { ...(isAmong && flagged), ...flag });
  }

  /**
   * Returns the exchange for a request. Throws TypeError before anything is sent. A `get_activity` after a submit of
   * this call continues that submit, so its answer is compared with the submit, and not by id alone.
   */
  #open(path: string, body: Attempt<JsonValue>): Opened {
    const operation = operationOf(path);
    const question = operation === null ? "the path is not that of an operation" : questionOf(operation, body);
    if (typeof question === "string") throw new TypeError(`${operation?.name ?? path}: not sent: ${question}`);
    if (question.kind === "activity") {
      const own = this.#submits.find(({ firstId }) => firstId === question.activityId) ?? lastOf(this.#submits);
      if (own !== undefined) return { exchange: own, isFetched: true };
    }
    const exchange = new Exchange(question, this.#setting.bindings);
    if (question.kind === "submit" || question.kind === "vote") this.#submits.push(exchange);
    return { exchange, isFetched: false };
  }

  async #settled({ exchange, isFetched }: Opened, answer: unknown, more: readonly unknown[]): Promise<unknown> {
    const verify = (asked: AskedActivity): ReturnType<ActivityVerifier["verify"]> => this.#verified(asked, more);
    const ask = (activityId: string): Promise<unknown> => this.#asked(exchange, activityId, more);
    const polling = {
      attempts: isFetched || exchange.question.kind === "activity" ? 0 : this.#setting.pollAttempts,
      ask: async (activityId: string) => answerOfValue(await ask(activityId)),
    };
    const settled = isFetched
      ? await exchange.settle(answerOfValue(answer), verify, true)
      : await exchange.settlePolled(answerOfValue(answer), verify, polling);
    if (settled.kind === "other") return this.#judged(exchange, settled.value, more);
    const report = settled.kind === "verified" ? settled.verified.report : null;
    const answered = { activity: plainJson(settled.activity), report };
    this.#answered.push(answered);
    return { activity: answered.activity };
  }

  /** Returns what is handed on of an answer to a query. */
  async #judged({ question }: Exchange, answer: JsonValue, more: readonly unknown[]): Promise<JsonValue> {
    const { accounts, organizationId = null } = this.#setting;
    if (question.kind !== "query" || accounts === null) return plainJson(answer);
    const owned = { ...question, organizationId: question.organizationId ?? organizationId };
    const query = this.#queriesOf(owned.organizationId ?? "", more);
    const judged = await accounts.verify(owned, answer, { query });
    const value = plainJson(judged?.value ?? answer);
    keepReport(judged?.report ?? null, value);
    return value;
  }

  #queriesOf(organizationId: string, more: readonly unknown[]): EvidenceSource["query"] {
    const { client, evidence, verifier } = this.#setting;
    const isFunction = typeof evidence === "function";
    const query = queriesOf((isFunction ? null : evidence) ?? client, organizationId, evidence === null ? more : []);
    return isFunction ? evidenceByKey(evidence, verifier.source.now, query).query : query;
  }

  async #asked({ question }: Exchange, activityId: string, more: readonly unknown[]): Promise<unknown> {
    await new Promise((resolve) => setTimeout(resolve, this.#setting.pollIntervalMs));
    const { organizationId } = question;
    return foreignRequest(this.#setting.client)(GET_ACTIVITY, { activityId, organizationId }, ...more);
  }

  async #verified(asked: AskedActivity, more: readonly unknown[]): ReturnType<ActivityVerifier["verify"]> {
    const query = this.#queriesOf(asked.expected?.organizationId ?? "", more);
    return rejected(this.#setting.verifier.verify(asked, { query }));
  }
}

const SUBMIT = "/public/v1/submit/";

/** Returns the path from `/public/v1/` on, without the service's address. */
export function pathIn(url: string): string {
  return url.slice(Math.max(0, url.indexOf("/public/v1/")));
}

function isActivityOf(value: unknown, activity: JsonObject): boolean {
  return Object.getOwnPropertyDescriptor(Object(value), "activity")?.value === activity;
}

/**
 * Whether a value holds a result, even an inherited or hidden one, or one that a getter returns. If a getter throws or
 * nesting never ends, the answer is true, since a result may be hidden there.
 */
function holdsAnyResult(value: unknown): boolean {
  try {
    const { activity, activities } = Object(value) as ForeignMembers;
    return holdsResult([value, { activity, activities }]);
  } catch {
    return true;
  }
}

function withMembers(object: JsonObject, members: JsonObject): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, object, members);
}

/**
 * Returns the activity as some SDKs do: in `activity`, with the result's members beside it. They are the members of the
 * only member of `result` or, for a vote, of `result` itself.
 */
function flat(activity: JsonObject, isVote: boolean): JsonObject {
  const { result } = outcomeOf(activity);
  const members = isVote ? result : soleMember(result);
  return { ...(isJsonObject(members) ? members : {}), activity };
}
