/** The service without its socket. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { FEATURE_NAME_WEBHOOK, submitBody } from "../client/operations.js";
import { type ReadOf, type Shape, object, readShape, text } from "../decode/shapes.js";
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { type QosJsonInput, canonicalQosJson } from "../decode/qos-json.js";
import { MalformedError, faultText } from "../errors.js";
import type { LabOperation, Outcome } from "./call.js";
import { addressDerivationPayload, policyOutcomePayload } from "./enclave.js";
import { bareFingerprint, fingerprintOf } from "./fingerprint.js";
import { LAB_OPERATIONS } from "./operations.js";
import { sha256 } from "./qos.js";
import { QUERIES, type Query, shown } from "./queries.js";
import type { Sources } from "./question.js";
import type { ActivityRecord, Organization } from "./records.js";
import { Refusal, invalid, notAllowed, notFound, tooMany } from "./refusal.js";
import { type Caller, authenticate } from "./stamps.js";
import type { Reader, Transaction } from "./state.js";
import { isRoot, owned, ownedOf } from "./users.js";
import type { Webhooks } from "./webhooks.js";

/** Limits of a request's age in milliseconds. The interface defines none, so they are the lab's own. */
const LIVENESS_MS = { past: 5 * 60_000, future: 60_000 } as const;

interface Request {
  /** The path without the query string. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

interface Stamped {
  readonly caller: Caller;
  readonly json: JsonValue;
  readonly body: Uint8Array;
  readonly now: Date;
}

interface Handling {
  readonly organization: Organization;
  readonly stamped: Stamped;
  readonly tx: Transaction;
}

/** A decision to prove. `facts` default to those of the present state. */
type Decided = Pick<Outcome, "addresses"> & { readonly outcome: string; readonly facts?: JsonObject };

type Envelope = ReadOf<ReturnType<typeof submitBody>> & { readonly parameters: JsonObject };

const DECISIONS = {
  approve_activity: { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", selection: "VOTE_SELECTION_APPROVED" },
  reject_activity: { type: "ACTIVITY_TYPE_REJECT_ACTIVITY", selection: "VOTE_SELECTION_REJECTED" },
} as const;
type DecisionName = keyof typeof DECISIONS;
const fingerprintParameters = object({ fingerprint: text });

interface Parts extends Sources {
  readonly webhooks: Webhooks;
}

export class Service {
  readonly #parts: Parts;
  /** The times of the last requests, in milliseconds of a clock that does not stop, since clients really wait. */
  #requests: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  static knows(path: string): boolean {
    return HANDLERS.has(path);
  }

  /** Handles a request. Throws {@link Refusal}. */
  async handle({ path, headers, body }: Request): Promise<JsonObject> {
    const handler = HANDLERS.get(path);
    if (handler === undefined) throw notFound(`there is no ${path}`);
    this.#limitRate();
    const { state, now: clock } = this.#parts;
    const now = clock();
    const caller = authenticate(headers, body, state, now);
    return handler(this, { caller, json: bodyJson(body), body, now });
  }

  #limitRate(): void {
    const { rateLimit } = this.#parts.settings.current;
    if (rateLimit === undefined) return;
    const now = performance.now();
    this.#requests = this.#requests.filter((time) => time > now - rateLimit.perMs);
    if (this.#requests.length >= rateLimit.requests) throw tooMany(this.#requests[0]! + rateLimit.perMs - now);
    this.#requests.push(now);
  }

  async submit(name: string, stamped: Stamped): Promise<JsonObject> {
    const operation = submitOf(name, stamped.json);
    const envelope = this.#envelope(stamped, submitBody(operation));
    const record = await this.#parts.state.transact(async (tx) => {
      const known = tx.get("fingerprints", bareFingerprint(fingerprintOf(stamped.body)));
      return known === undefined ? this.#begin(operation, stamped, envelope, tx) : tx.get("activities", known)!;
    });
    return { activity: shown(record, name, this.#parts) };
  }

  /** Adds a vote to a waiting activity. */
  async decide(name: DecisionName, stamped: Stamped): Promise<JsonObject> {
    const operation = { type: DECISIONS[name].type, parameters: fingerprintParameters };
    const { organizationId, parameters, generateAppProofs = false } = this.#envelope(stamped, submitBody(operation));
    const record = await this.#parts.state.transact(async (tx) => {
      const organization = tx.get("organizations", organizationId)!;
      const id = tx.get("fingerprints", bareFingerprint(String(parameters["fingerprint"]))) ?? "";
      const waiting = tx.get("activities", id);
      if (waiting?.activity.organizationId !== organizationId)
        throw notFound("the organization has no activity with this fingerprint");
      if (waiting.activity.status !== "ACTIVITY_STATUS_CONSENSUS_NEEDED")
        throw invalid("the activity does not wait for votes");
      approvalsWanted(tx, organization, stamped.caller, String(waiting.activity["type"]));
      // A voter may request proofs that the submitter did not.
      const wanted = { ...waiting, generateAppProofs: waiting.generateAppProofs || generateAppProofs };
      return this.#vote(wanted, DECISIONS[name].selection, { organization, stamped, tx });
    });
    return { activity: shown(record, name, this.#parts) };
  }

  /** Answers a query. The caller may also belong to the parent of the organization in the query. */
  async query({ parameters: shape, answer }: Query, { caller, json }: Stamped): Promise<JsonObject> {
    const { organizationId, ...rest } = isJsonObject(json) ? json : {};
    if (typeof organizationId !== "string") throw invalid("organizationId: expected a string");
    const parameters = parsed(shape, rest) as JsonObject;
    const organization = this.#organization(organizationId);
    const own = caller.record.organizationId;
    if (own !== organization.organizationId && own !== organization.parentOrganizationId) {
      throw notAllowed(`user ${caller.record.user.userId} may not read organization ${organizationId}`);
    }
    return answer({ ...this.#parts, organization, caller, parameters });
  }

  #envelope({ caller, json, now }: Stamped, shape: Shape<unknown>): Envelope {
    const envelope = parsed(shape, withOneAppProofFlag(json)) as Envelope;
    const late = now.getTime() - Number(envelope.timestampMs);
    if (late > LIVENESS_MS.past || late < -LIVENESS_MS.future) {
      const by = `${Math.abs(Math.round(late / 1000))} s ${late > 0 ? "old" : "in the future"}`;
      throw invalid(
        `timestampMs: the request is ${by}; at most ${LIVENESS_MS.past / 1000} s and ${LIVENESS_MS.future / 1000} s ` +
          `are allowed`,
      );
    }
    const organization = this.#organization(envelope.organizationId);
    if (caller.record.organizationId !== organization.organizationId) {
      throw notAllowed(
        `user ${caller.record.user.userId} does not belong to organization ${organization.organizationId}`,
      );
    }
    return envelope;
  }

  #organization(organizationId: string): Organization {
    const organization = this.#parts.state.get("organizations", organizationId);
    if (organization === undefined)
      throw new Refusal("ORGANIZATION_NOT_FOUND", `there is no organization ${organizationId}`);
    return organization;
  }

  /** Runs the activity at once or waits for approvals. */
  async #begin(
    operation: LabOperation,
    stamped: Stamped,
    envelope: Envelope,
    tx: Transaction,
  ): Promise<ActivityRecord> {
    const { caller, body, now } = stamped;
    const { name, type, intentMember } = operation;
    const organization = tx.get("organizations", envelope.organizationId)!;
    const wanted = approvalsWanted(tx, organization, caller, type);
    const { parameters, timestampMs, generateAppProofs = false } = envelope;
    const [id, fingerprint, milliseconds] = [randomUUID(), fingerprintOf(body), String(now.getTime())];
    const created: ActivityRecord = {
      activity: {
        id,
        organizationId: organization.organizationId,
        status: "ACTIVITY_STATUS_CONSENSUS_NEEDED",
        type,
        timestampMs,
        intent: { [intentMember]: parameters },
        result: {},
        votes: [],
        fingerprint,
        canApprove: true,
        canReject: true,
        createdAt: milliseconds,
        updatedAt: milliseconds,
      },
      userId: caller.record.user.userId,
      operation: name,
      parameters,
      generateAppProofs,
      approvalsWanted: wanted,
    };
    tx.put("fingerprints", bareFingerprint(fingerprint), id);
    return this.#vote(created, "VOTE_SELECTION_APPROVED", { organization, stamped, tx });
  }

  async #vote(before: ActivityRecord, selection: string, handling: Handling): Promise<ActivityRecord> {
    const { organization, stamped, tx } = handling;
    const votes = before.activity["votes"] as JsonObject[];
    if (votes.some((vote) => vote["userId"] === stamped.caller.record.user.userId))
      throw invalid("the user has voted on this activity already");
    const activity = {
      ...before.activity,
      votes: [...votes, voteOf(stamped, before.activity.id, selection)],
      updatedAt: String(stamped.now.getTime()),
    };
    const voted = { ...before, activity };
    const rejected = selection === "VOTE_SELECTION_REJECTED";
    const after =
      rejected || activity.votes.length < before.approvalsWanted
        ? this.#unfinished(voted, rejected, handling)
        : await this.#finish(voted, votes.length > 0, handling);
    tx.put("activities", after.activity.id, after);
    tx.afterwards(() => this.#notify(organization, after.activity));
    return after;
  }

  #unfinished(record: ActivityRecord, rejected: boolean, handling: Handling): ActivityRecord {
    const status = rejected ? "ACTIVITY_STATUS_REJECTED" : "ACTIVITY_STATUS_CONSENSUS_NEEDED";
    const outcome = rejected ? "OUTCOME_REJECTED" : "OUTCOME_REQUIRES_CONSENSUS";
    const activity = { ...record.activity, status, canApprove: !rejected, canReject: !rejected };
    return this.#withProofs({ ...record, activity }, { outcome }, handling);
  }

  /**
   * Finishes the activity. If it has `waited`, a refusal is recorded as a failed activity, since the request has ended.
   */
  async #finish(record: ActivityRecord, waited: boolean, handling: Handling): Promise<ActivityRecord> {
    const {
      organization,
      stamped: { now },
      tx,
    } = handling;
    const { intentMember, resultMember, carryOut } = SUBMITS.find(({ type }) => type === record.activity["type"])!;
    const done = { ...record.activity, canApprove: false, canReject: false };
    // The facts are read before the operation changes anything.
    const facts = record.generateAppProofs ? this.#decisionFacts(record, organization, tx) : {};
    try {
      const actor = owned(tx.get("users", record.userId), organization, `user ${record.userId}`);
      const outcome = await carryOut({ tx, organization, actor, parameters: record.parameters, now });
      const activity = {
        ...done,
        status: "ACTIVITY_STATUS_COMPLETED",
        intent: { [intentMember]: { ...record.parameters, ...outcome.intent } },
        result: { [resultMember]: outcome.result },
      };
      const decided = { outcome: "OUTCOME_ALLOW", addresses: outcome.addresses ?? [], facts };
      return this.#withProofs({ ...record, activity }, decided, handling);
    } catch (error) {
      if (!waited || !(error instanceof Refusal)) throw error;
      const activity = {
        ...done,
        status: "ACTIVITY_STATUS_FAILED",
        failure: { code: error.code, message: error.message },
      };
      return this.#withProofs({ ...record, activity }, { outcome: "OUTCOME_ERROR", facts }, handling);
    }
  }

  #withProofs(record: ActivityRecord, decided: Decided, { organization, tx }: Handling): ActivityRecord {
    if (!record.generateAppProofs) return record;
    const { outcome, addresses = [], facts = this.#decisionFacts(record, organization, tx) } = decided;
    const { organizationId } = organization;
    const decision = this.#parts.fleet.appProof(
      "policy-engine",
      (at) => policyOutcomePayload(at, organizationId, outcome, facts),
      tx,
    );
    const unproven = this.#parts.settings.current.unprovenTypes?.includes(String(record.activity["type"])) === true;
    const derived = (unproven ? [] : addresses).map((facts) =>
      this.#parts.fleet.appProof("signer", (at) => addressDerivationPayload(at, facts), tx),
    );
    return { ...record, activity: { ...record.activity, appProofs: [decision, ...derived] } };
  }

  #decisionFacts({ activity, userId }: ActivityRecord, organization: Organization, tx: Transaction): JsonObject {
    const { id, type, timestampMs, intent } = activity;
    const approvals = (activity["votes"] as JsonObject[]).map(({ userId: voter, publicKey, scheme, signature }) => ({
      userId: voter!,
      publicKey: publicKey!,
      scheme: scheme!,
      signature: signature!,
    }));
    const parent =
      organization.parentOrganizationId === undefined
        ? undefined
        : tx.get("organizations", organization.parentOrganizationId);
    return {
      decisionContextDigest: digest({ id, type, timestampMs, intent, userId, approvals }),
      organizationDataDigest: digest(organizationData(tx, organization)),
      parentOrganizationDataDigest: parent === undefined ? "" : digest(organizationData(tx, parent)),
      userRequestApprovals: approvals,
    };
  }

  /** Delivers the activity to the webhooks that the organization and its parent had before the activity. */
  #notify(organization: Organization, activity: JsonObject): void {
    const parent = this.#parts.state.get("organizations", organization.parentOrganizationId ?? "");
    for (const { features } of [organization, ...(parent ? [parent] : [])]) {
      const url = features.find((feature) => feature.name === FEATURE_NAME_WEBHOOK)?.value ?? "";
      if (url !== "")
        this.#parts.webhooks.deliver(url, this.#parts.misbehaviour.activity(activity, "webhook", this.#parts.state));
    }
  }
}

type Handler = (service: Service, stamped: Stamped) => Promise<JsonObject>;

const SUBMITS: readonly LabOperation[] = Object.values(LAB_OPERATIONS);

/** The handlers by path. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...QUERIES.map((one): [string, Handler] => [
    `/public/v1/query/${one.name}`,
    (service, stamped) => service.query(one, stamped),
  ]),
  ...SUBMITS.map(({ name }): [string, Handler] => [
    `/public/v1/submit/${name}`,
    (service, stamped) => service.submit(name, stamped),
  ]),
  ...(Object.keys(DECISIONS) as DecisionName[]).map((name): [string, Handler] => [
    `/public/v1/submit/${name}`,
    (service, stamped) => service.decide(name, stamped),
  ]),
]);

/** Returns the operation of a request. The request's type selects one of its versions. */
function submitOf(name: string, json: JsonValue): LabOperation {
  const versions = SUBMITS.filter((operation) => operation.name === name);
  return versions.find(({ type }) => isJsonObject(json) && json["type"] === type) ?? versions[0]!;
}

/** Returns the number of required approvals. Throws if the caller may not submit the type. */
function approvalsWanted(reader: Reader, organization: Organization, caller: Caller, type: string): number {
  if (isRoot(organization, caller.record)) return 1;
  const policies = ownedOf(reader.all("policies"), organization).filter((one) => one.activityTypes.includes(type));
  const denied = policies.length === 0 || policies.some((policy) => policy.effect === "EFFECT_DENY");
  if (denied) throw notAllowed(`no policy allows user ${caller.record.user.userId} to submit ${type}`);
  return Math.min(...policies.map((policy) => policy.approvals));
}

function voteOf({ caller, body, now }: Stamped, activityId: string, selection: string): JsonObject {
  const { user } = caller.record;
  const { publicKey, signature, scheme } = caller;
  return {
    id: randomUUID(),
    userId: user.userId,
    user: user as unknown as JsonObject,
    activityId,
    selection,
    message: fromUtf8(body)!,
    publicKey,
    signature,
    scheme,
    createdAt: String(now.getTime()),
  };
}

function organizationData(reader: Reader, organization: Organization): QosJsonInput {
  const data = {
    organization,
    users: ownedOf(reader.all("users"), organization),
    tags: ownedOf(reader.all("tags"), organization),
    wallets: ownedOf(reader.all("wallets"), organization),
    policies: ownedOf(reader.all("policies"), organization),
  };
  return data as unknown as QosJsonInput;
}

function digest(data: QosJsonInput): string {
  return toHex(sha256(toUtf8(canonicalQosJson(data))));
}

/** Moves `generateAppProofs` out of the parameters, where some clients put it. */
function withOneAppProofFlag(json: JsonValue): JsonValue {
  const given = isJsonObject(json) ? json["parameters"] : undefined;
  if (!isJsonObject(json) || !isJsonObject(given) || !("generateAppProofs" in given)) return json;
  const { generateAppProofs: among, ...parameters } = given;
  const { generateAppProofs: beside } = json;
  // If one of the two flags is not a boolean, that flag is kept, so that the schema refuses the request.
  const wanted = typeof among === "boolean" && typeof beside === "boolean" ? among || beside : among;
  return {
    ...json,
    parameters,
    generateAppProofs: typeof beside === "boolean" || beside === undefined ? wanted! : beside,
  };
}

/** Parses strict JSON. Throws Refusal. */
export function bodyJson(body: Uint8Array): JsonValue {
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof MalformedError) throw invalid(`the body is not strict JSON: ${faultText(error.faults)}`);
    throw error;
  }
}

/** Reads parameters. Throws Refusal. */
export function parsed<T>(shape: Shape<T>, value: unknown): T {
  const { value: read, faults } = readShape(shape, value);
  if (faults.length > 0) throw invalid(faultText(faults.slice(0, 20)));
  return read as T;
}
