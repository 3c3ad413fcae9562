/** The service without its socket. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { FEATURE_NAME_WEBHOOK } from "../client/operations.js";
import { type Shape, flag, matching, nonEmptyText, object, oneOf, optional, readShape } from "../decode/shapes.js";
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { type QosJsonInput, canonicalQosJson } from "../decode/qos-json.js";
import { MalformedError, faultText } from "../errors.js";
import { addressDerivationPayload, policyOutcomePayload } from "./enclave.js";
import { bareFingerprint, fingerprintOf } from "./fingerprint.js";
import { LAB_OPERATIONS } from "./operations.js";
import { newActivity } from "./past-activities.js";
import { decide } from "./policies.js";
import { sha256 } from "./qos.js";
import { LAB_QUERIES, shown } from "./queries.js";
import type { Sources } from "./question.js";
import type { ActivityRecord, Organization } from "./records.js";
import { Refusal, invalid, notAllowed, notFound, tooMany } from "./refusal.js";
import type { LabOperation, Outcome } from "./call.js";
import { type LabQuery, recordsOf } from "./rows.js";
import { type Caller, authenticate } from "./stamps.js";
import type { Reader, Transaction } from "./state.js";
import { ownedOf } from "./users.js";
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

type Ending = Decided & { readonly status: string; readonly members?: JsonObject };

interface Envelope {
  readonly timestampMs: string;
  readonly organizationId: string;
  readonly parameters: JsonObject;
  readonly generateAppProofs?: boolean;
}

/** The submits that add a vote to a waiting activity. */
const VOTES: Readonly<Record<string, string>> = {
  approve_activity: "VOTE_SELECTION_APPROVED",
  reject_activity: "VOTE_SELECTION_REJECTED",
};

/** The header of an answer that is the lab's guess. */
export const GUESS_HEADER = { "X-Bootproof-Lab": "behaviour not known" } as const;

interface Parts extends Sources {
  readonly webhooks: Webhooks;
}

export class Service {
  readonly #parts: Parts;
  /** The times of the last requests, in milliseconds of a clock that does not stop, since clients really wait. */
  #limit: object | undefined;
  #requests: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  static knows(path: string): boolean {
    return HANDLERS.has(path);
  }

  /** Returns whether nobody published what the service does at this path. */
  static guesses(path: string): boolean {
    return HANDLERS.get(path)?.isGuess === true;
  }

  /** Handles a request. Throws {@link Refusal}. */
  async handle({ path, headers, body }: Request): Promise<JsonObject> {
    const handler = HANDLERS.get(path);
    if (handler === undefined) throw notFound(`there is no ${path}`);
    this.#limitRate();
    const { state, now: clock } = this.#parts;
    const now = clock();
    const caller = authenticate(headers, body, state, now);
    return handler.handle(this, { caller, json: bodyJson(body), body, now });
  }

  #limitRate(): void {
    const { rateLimit } = this.#parts.settings.current;
    // A limit that is set anew counts from then on.
    if (rateLimit !== this.#limit) this.#requests = [];
    this.#limit = rateLimit;
    if (rateLimit === undefined) return;
    const now = performance.now();
    this.#requests = this.#requests.filter((time) => time > now - rateLimit.perMs);
    if (this.#requests.length >= rateLimit.requests) throw tooMany(this.#requests[0]! + rateLimit.perMs - now);
    this.#requests.push(now);
  }

  async submit(name: string, stamped: Stamped): Promise<JsonObject> {
    const operation = submitOf(name, stamped.json);
    const envelope = this.#envelope(stamped, operation);
    const selection = VOTES[name];
    const record = await this.#parts.state.transact(async (tx) => {
      if (selection !== undefined) return this.#decide(selection, stamped, envelope, tx);
      const known = tx.get("fingerprints", bareFingerprint(fingerprintOf(stamped.body)));
      return known === undefined ? this.#begin(operation, stamped, envelope, tx) : tx.get("activities", known)!;
    });
    return { activity: shown(record, name, this.#parts) };
  }

  /** Adds a vote to a waiting activity. */
  #decide(selection: string, stamped: Stamped, envelope: Envelope, tx: Transaction): Promise<ActivityRecord> {
    const { organizationId, parameters, generateAppProofs = false } = envelope;
    const organization = tx.get("organizations", organizationId)!;
    const id = tx.get("fingerprints", bareFingerprint(String(parameters["fingerprint"]))) ?? "";
    const waiting = tx.get("activities", id);
    if (waiting?.activity.organizationId !== organizationId)
      throw notFound("the organization has no activity with this fingerprint");
    if (waiting.activity.status !== "ACTIVITY_STATUS_CONSENSUS_NEEDED")
      throw invalid("the activity does not wait for votes");
    const { record: voter } = stamped.caller;
    if (/none|denied/.test(decide(tx, organization, waiting, [voter]).kind))
      throw notAllowed(`no policy allows user ${voter.user.userId} to vote on ${String(waiting.activity["type"])}`);
    // A voter may request proofs that the submitter did not.
    const wanted = { ...waiting, generateAppProofs: waiting.generateAppProofs || generateAppProofs };
    return this.#vote(wanted, selection, { organization, stamped, tx });
  }

  /** Answers a query. The caller may also belong to the parent of the organization in the query, and to a child. */
  async query({ parameters: shape, answer, byChild }: LabQuery, { caller, json }: Stamped): Promise<JsonObject> {
    const { organizationId, ...rest } = isJsonObject(json) ? json : {};
    if (typeof organizationId !== "string") throw invalid("organizationId: expected a string");
    const parameters = parsed(shape, rest) as JsonObject;
    const organization = this.#organization(organizationId);
    const own = this.#organization(caller.record.organizationId);
    const allowed = [organization.organizationId, organization.parentOrganizationId];
    if (!allowed.includes(own.organizationId) && !(byChild && own.parentOrganizationId === organizationId)) {
      throw notAllowed(`user ${caller.record.user.userId} may not read organization ${organizationId}`);
    }
    return answer({ ...this.#parts, organization, caller, parameters });
  }

  #envelope({ caller, json, now }: Stamped, { name, parameters, byParent }: LabOperation): Envelope {
    const shape = object({ ...ENVELOPE, type: oneOf(...versionsOf(name).map(({ type }) => type)), parameters });
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
    const isParent = byParent && caller.record.organizationId === organization.parentOrganizationId;
    if (caller.record.organizationId !== organization.organizationId && !isParent) {
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
    const organization = tx.get("organizations", envelope.organizationId)!;
    const { parameters, timestampMs, generateAppProofs = false } = envelope;
    const activity = newActivity(organization.organizationId, operation, { parameters, body, timestampMs, now });
    const { userId } = caller.record.user;
    const created = { activity, userId, operation: operation.name, parameters, generateAppProofs };
    const own = tx.get("organizations", caller.record.organizationId)!;
    if (decide(tx, own, created, [caller.record]).kind === "none")
      throw notAllowed(`no policy allows user ${userId} to submit ${operation.type}`);
    tx.put("fingerprints", bareFingerprint(fingerprintOf(body)), activity.id);
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
    const after = await this.#decided(voted, selection === "VOTE_SELECTION_REJECTED", votes.length > 0, handling);
    tx.put("activities", after.activity.id, after);
    const { webhooks, misbehaviour, state } = this.#parts;
    const urls = this.#receivers(organization);
    tx.afterwards(() => {
      for (const url of urls) webhooks.deliver(url, misbehaviour.activity(after.activity, "webhook", state));
    });
    return after;
  }

  #decided(
    voted: ActivityRecord,
    rejected: boolean,
    waited: boolean,
    handling: Handling,
  ): Promise<ActivityRecord> | ActivityRecord {
    if (rejected) return this.#ended(voted, { status: "REJECTED", outcome: "OUTCOME_REJECTED" }, handling);
    const { organization, stamped, tx } = handling;
    const voters = (voted.activity["votes"] as JsonObject[]).flatMap(
      ({ userId }) => tx.get("users", String(userId)) ?? [],
    );
    const own = tx.get("organizations", stamped.caller.record.organizationId)!;
    const decision = decide(tx, waited ? organization : own, voted, voters);
    if (decision.kind === "allowed") return this.#finish(voted, waited, handling);
    if (decision.kind !== "denied")
      return this.#ended(voted, { status: "CONSENSUS_NEEDED", outcome: "OUTCOME_REQUIRES_CONSENSUS" }, handling);
    return this.#failed(voted, notAllowed(decision.message), "OUTCOME_DENY_EXPLICIT", handling);
  }

  #failed(record: ActivityRecord, { code, message }: Refusal, outcome: string, handling: Handling): ActivityRecord {
    return this.#ended(record, { status: "FAILED", outcome, members: { failure: { code, message } } }, handling);
  }

  /** Gives the activity a status and other members, and the proofs of what was decided. */
  #ended(record: ActivityRecord, { status, members, ...decided }: Ending, handling: Handling): ActivityRecord {
    const isOpen = status === "CONSENSUS_NEEDED";
    const state = { status: `ACTIVITY_STATUS_${status}`, canApprove: isOpen, canReject: isOpen };
    return this.#withProofs({ ...record, activity: { ...record.activity, ...state, ...members } }, decided, handling);
  }

  /**
   * Finishes the activity. If it has `waited`, a refusal is recorded as a failed activity, since the request has ended.
   */
  async #finish(record: ActivityRecord, waited: boolean, handling: Handling): Promise<ActivityRecord> {
    const { organization, stamped, tx } = handling;
    const { intentMember, resultMember, carryOut } = SUBMITS.find(({ type }) => type === record.activity["type"])!;
    // The facts are read before the operation changes anything.
    const facts = record.generateAppProofs ? this.#decisionFacts(record, organization, tx) : {};
    const { parameters, userId } = record;
    try {
      const actor = tx.get("users", userId);
      if (actor === undefined) throw notFound(`there is no user ${userId}`);
      const { quorumKey } = this.#parts.fleet;
      const call = { tx, organization, actor, parameters, now: stamped.now, quorumKey };
      const { intent, result, addresses = [] } = await carryOut(call);
      const members = { intent: { [intentMember]: { ...parameters, ...intent } }, result: { [resultMember]: result } };
      return this.#ended(
        record,
        { status: "COMPLETED", outcome: "OUTCOME_ALLOW", members, addresses, facts },
        handling,
      );
    } catch (error) {
      if (!waited || !(error instanceof Refusal)) throw error;
      return this.#failed(record, error, "OUTCOME_ERROR", handling);
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
    const approvals = (activity["votes"] as Record<string, string>[]).map((vote) => ({
      ...{ userId: vote["userId"]!, publicKey: vote["publicKey"]! },
      ...{ scheme: vote["scheme"]!, signature: vote["signature"]! },
    }));
    const parent = tx.get("organizations", organization.parentOrganizationId ?? "");
    return {
      decisionContextDigest: digest({ id, type, timestampMs, intent, userId, approvals }),
      organizationDataDigest: digest(organizationData(tx, organization)),
      parentOrganizationDataDigest: parent === undefined ? "" : digest(organizationData(tx, parent)),
      userRequestApprovals: approvals,
    };
  }

  /** Returns the URLs of the webhooks that the organization and its parent have before the activity. */
  #receivers(organization: Organization): string[] {
    const { state } = this.#parts;
    const parent = state.get("organizations", organization.parentOrganizationId ?? "");
    return [organization, ...(parent ? [parent] : [])].flatMap((one) => {
      const feature = one.features.find(({ name }) => name === FEATURE_NAME_WEBHOOK)?.value ?? "";
      const endpoints = recordsOf(state, one, "webhookEndpoint").filter(({ isActive }) => isActive === true);
      return [...(feature === "" ? [] : [feature]), ...endpoints.map(({ url }) => String(url))];
    });
  }
}

interface Handler {
  readonly isGuess: boolean;
  readonly handle: (service: Service, stamped: Stamped) => Promise<JsonObject>;
}

const SUBMITS: readonly LabOperation[] = Object.values(LAB_OPERATIONS);
const ENVELOPE = {
  timestampMs: matching(/^[0-9]+$/, "a decimal number"),
  organizationId: nonEmptyText,
  generateAppProofs: optional(flag),
};

/** The handlers by path. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...Object.values(LAB_QUERIES).map((one): [string, Handler] => [
    `/public/v1/query/${one.name}`,
    { isGuess: one.isGuess, handle: (service, stamped) => service.query(one, stamped) },
  ]),
  ...SUBMITS.map(({ name, isGuess }): [string, Handler] => [
    `/public/v1/submit/${name}`,
    { isGuess, handle: (service, stamped) => service.submit(name, stamped) },
  ]),
]);

function versionsOf(name: string): LabOperation[] {
  return SUBMITS.filter((operation) => operation.name === name);
}

/** Returns the operation of a request. The request's type selects one of its versions. */
function submitOf(name: string, json: JsonValue): LabOperation {
  const versions = versionsOf(name);
  return versions.find(({ type }) => isJsonObject(json) && json["type"] === type) ?? versions[0]!;
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
