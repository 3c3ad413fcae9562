/** One call of a method: its requests, and the verified activity from which the returned value is built. */
import { lastOf } from "../bytes.js";
import { outcomeOf, soleMember } from "../decode/activity.js";
import { type JsonObject, type JsonValue, copyJson, isJsonObject } from "../decode/json.js";
import { answerOfValue, holdsResult } from "../door/answer.js";
import type { Entrance, EntranceCall } from "../door/entrance.js";
import type { Handed } from "../door/handed.js";
import { type FindBootProof, type Query, evidenceByKey } from "../door/evidence-source.js";
import type { Exchange, Polling } from "../door/exchange.js";
import { type ServiceQuestion, authOperationOf, isSubmit, operationOf } from "../door/question.js";
import { type Attempt, attempt, faultText } from "../errors.js";
import {
  type ForeignClient,
  type ForeignMembers,
  GET_ACTIVITY,
  type Method,
  foreignRequest,
  plainJson,
  queriesOf,
} from "./foreign.js";
import { keepProof, keepReport } from "./results.js";

/** The settings that all calls of a wrapped client share. */
export interface CallSetting {
  readonly client: ForeignClient;
  readonly evidence: ForeignClient | FindBootProof | null;
  readonly entrance: Entrance;
  readonly hasAuthProxy: boolean;
  readonly organizationId: string | undefined;
  readonly pollIntervalMs: number;
  readonly pollAttempts: number;
  /** Whether the SDK reads `generateAppProofs` only inside `parameters`. */
  readonly isFlagAmongParameters: boolean;
}

/** Thrown instead of sending: a trial sends nothing. */
class TriedToSend extends Error {}

interface Opened {
  readonly exchange: Exchange;
  /** Whether the request is `get_activity` after a submit of this call. */
  readonly isFetched: boolean;
}

/** The activity that is returned to the caller, with its report if it was verified. */
interface Answered extends Pick<Handed, "report" | "reason"> {
  readonly activity: JsonObject;
}

/** The value for the caller. */
interface Finished extends Pick<Handed, "report" | "reason"> {
  readonly value: unknown;
}

export class Call {
  readonly #setting: CallSetting;
  readonly #isTrial: boolean;
  readonly #answered: Answered[] = [];
  readonly #submits: Exchange[] = [];
  #requests = 0;

  constructor(setting: CallSetting, isTrial = false) {
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
    await this.#setting.entrance.ready(opened.exchange);
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
    // What is allowed for the auth proxy is not for the service.
    if ("isProven" in question && !question.isProven)
      throw new TypeError(`${question.operation}: not sent: the signed body lacks generateAppProofs: true`);
    await this.#setting.entrance.ready(opened.exchange);
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
    const operation = authOperationOf(path);
    const copied = attempt(() => copyJson(given));
    const body = copied.value;
    if (operation === null) throw new TypeError(`${path}: not sent: expected /v1/NAME`);
    if (!isJsonObject(body)) {
      const fault = body === undefined ? faultText(copied.faults) : "not an object";
      throw new TypeError(`${operation}: not sent: expected a JSON object (${fault})`);
    }
    const verifier = await this.#setting.entrance.authProxy();
    const asked = verifier.ask(operation, copied, isAllowed);
    const answer = await send.call(this.#setting.client, path, plainJson(body), ...more);
    const query = this.#queriesOf(this.#setting.organizationId ?? "", []);
    const settled = await verifier.settle(asked, answerOfValue(answer), { query });
    const value = plainJson(settled.value);
    if (typeof value === "object" && value !== null) keepProof(value, settled);
    return value;
  }

  /** Builds the value for the caller from the activities of this call. Returns null if the value must be withheld. */
  finished(value: unknown, isEnvelope: boolean): Finished | null {
    const answered = this.#answered.find(({ activity }) => isActivityOf(value, activity));
    if (answered === undefined) return holdsAnyResult(value) ? null : { value, report: null };
    const { report } = answered;
    const [submit] = this.#submits;
    const isFlat = submit !== undefined && !isEnvelope && report !== null;
    const isVote = submit?.question.kind === "vote";
    return { ...answered, value: isFlat ? flat(answered.activity, isVote) : { activity: answered.activity } };
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
    const exchange =
      operation === null ? "the path is not that of an operation" : this.#setting.entrance.ask(operation, body);
    if (typeof exchange === "string") throw new TypeError(`${operation?.name ?? path}: not sent: ${exchange}`);
    const { question } = exchange;
    if (question.kind === "activity") {
      const own = this.#submits.find(({ firstId }) => firstId === question.activityId) ?? lastOf(this.#submits);
      if (own !== undefined) return { exchange: own, isFetched: true };
    }
    if (isSubmit(question)) this.#submits.push(exchange);
    return { exchange, isFetched: false };
  }

  async #settled({ exchange, isFetched }: Opened, answer: unknown, more: readonly unknown[]): Promise<unknown> {
    const { entrance, organizationId } = this.#setting;
    const { question } = exchange;
    // The organization of a question that names none is that of the client's configuration.
    const owner = question.organizationId ?? organizationId ?? "";
    const call: EntranceCall = {
      query: this.#queriesOf(owner, more),
      isFetched,
      ...(isSubmit(question) && { polling: this.#polling(owner, more) }),
    };
    const handed = await entrance.settle(exchange, answerOfValue(answer), call);
    const value = plainJson(handed.value);
    if (handed.settled.kind === "other") keepReport(handed.report, [value]);
    else this.#answered.push({ ...handed, activity: (value as JsonObject)["activity"] as JsonObject });
    return value;
  }

  #polling(organizationId: string, more: readonly unknown[]): Polling {
    const { client, pollIntervalMs, pollAttempts } = this.#setting;
    return {
      attempts: pollAttempts,
      ask: async (activityId) => {
        await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
        return answerOfValue(await foreignRequest(client)(GET_ACTIVITY, { activityId, organizationId }, ...more));
      },
    };
  }

  #queriesOf(organizationId: string, more: readonly unknown[]): Query {
    const { client, evidence } = this.#setting;
    const isFunction = typeof evidence === "function";
    const query = queriesOf((isFunction ? null : evidence) ?? client, organizationId, evidence === null ? more : []);
    return isFunction ? evidenceByKey(evidence, query) : query;
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
