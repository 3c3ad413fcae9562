/** The service without its socket. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { FEATURE_NAME_WEBHOOK, submitBody } from "../client/operations.js";
import {
  type ReadOf,
  type Shape,
  either,
  list,
  matching,
  object,
  optional,
  readShape,
  text,
} from "../decode/shapes.js";
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { DOCUMENT_MEMBER } from "../decode/boot-proof.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { type QosJsonInput, canonicalQosJson } from "../decode/qos-json.js";
import { MalformedError, faultText } from "../errors.js";
import { deploymentJson } from "./applications.js";
import type { Outcome } from "./call.js";
import { type AddressFacts, addressDerivationPayload, policyOutcomePayload } from "./enclave.js";
import type { Fleet } from "./fleet.js";
import { bareFingerprint, fingerprintOf } from "./fingerprint.js";
import { KEY_QUERIES, type KeyQuery } from "./key-queries.js";
import type { Misbehaviour } from "./misbehaviour.js";
import { ANSWERS, type LabSubmitOperation, QUERIES, SUBMITS, carryOut, isRoot, owned, usersOf } from "./operations.js";
import { sha256 } from "./qos.js";
import type { ActivityRecord, Organization, SavedEnclave, SavedRelease } from "./records.js";
import { Refusal, invalid, notAllowed, notFound } from "./refusal.js";
import { type Caller, authenticate } from "./stamps.js";
import type { Reader, State, Transaction } from "./state.js";
import type { Webhooks } from "./webhooks.js";

/** The interface does not define this limit. */
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

interface Decided {
  readonly outcome: string;
  readonly addresses?: readonly AddressFacts[];
  /** The facts. Default: the present state. */
  readonly facts?: JsonObject;
}

/** An envelope (client/README.md, "Activities"). */
interface Envelope {
  readonly timestampMs: string;
  readonly organizationId: string;
  readonly parameters: JsonObject;
  readonly generateAppProofs?: boolean | undefined;
}

const DECISIONS = {
  approve_activity: { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", selection: "VOTE_SELECTION_APPROVED" },
  reject_activity: { type: "ACTIVITY_TYPE_REJECT_ACTIVITY", selection: "VOTE_SELECTION_REJECTED" },
} as const;
type DecisionName = keyof typeof DECISIONS;
const fingerprintParameters = object({ fingerprint: text });
const getActivityParameters = object({ activityId: text });
/** Some clients send one value, others a list. An empty list does not filter. */
const filter = optional(either(text, list(text), "a string or a list of strings"));
const count = matching(/^[1-9][0-9]{0,2}$/, "1 to 999");
const listActivitiesParameters = object({
  filterByStatus: filter,
  filterByType: filter,
  paginationOptions: optional(object({ limit: optional(count) })),
});
const DEFAULT_PAGE = "10";

export class Service {
  readonly #state: State;
  readonly #fleet: Fleet;
  readonly #webhooks: Webhooks;
  readonly #misbehaviour: Misbehaviour;
  readonly #now: () => Date;

  constructor(parts: { state: State; fleet: Fleet; webhooks: Webhooks; misbehaviour: Misbehaviour; now: () => Date }) {
    this.#state = parts.state;
    this.#fleet = parts.fleet;
    this.#webhooks = parts.webhooks;
    this.#misbehaviour = parts.misbehaviour;
    this.#now = parts.now;
  }

  static knows(path: string): boolean {
    return handlerOf(path) !== undefined;
  }

  /** Throws {@link Refusal}. */
  async handle({ path, headers, body }: Request): Promise<JsonObject> {
    const handler = handlerOf(path);
    if (handler === undefined) throw notFound(`there is no ${path}`);
    const now = this.#now();
    const caller = authenticate(headers, body, this.#state, now);
    return handler(this, { caller, json: bodyJson(body), body, now });
  }

  async submit(name: string, stamped: Stamped): Promise<JsonObject> {
    const operation = submitOf(name, stamped.json);
    const envelope = this.#envelope(stamped, submitBody(operation));
    const record = await this.#state.transact(async (tx) => {
      const known = tx.get("fingerprints", bareFingerprint(fingerprintOf(stamped.body)));
      return known === undefined ? this.#begin(operation, stamped, envelope, tx) : tx.get("activities", known)!;
    });
    return { activity: this.#answered(record, name) };
  }

  /** Adds a vote to a waiting activity. */
  async decide(name: DecisionName, stamped: Stamped): Promise<JsonObject> {
    const operation = { type: DECISIONS[name].type, parameters: fingerprintParameters };
    const { organizationId, parameters, generateAppProofs = false } = this.#envelope(stamped, submitBody(operation));
    const record = await this.#state.transact(async (tx) => {
      const organization = tx.get("organizations", organizationId)!;
      const id = tx.get("fingerprints", bareFingerprint(String(parameters["fingerprint"]))) ?? "";
      const waiting = tx.get("activities", id);
      if (waiting?.activity.organizationId !== organizationId)
        throw notFound("there is no activity of this fingerprint in the organization");
      if (waiting.activity.status !== "ACTIVITY_STATUS_CONSENSUS_NEEDED")
        throw invalid("the activity waits for no votes");
      approvalsWanted(tx, organization, stamped.caller, String(waiting.activity["type"]));
      // A voter may request proofs that the submitter did not.
      const wanted = { ...waiting, generateAppProofs: waiting.generateAppProofs || generateAppProofs };
      return this.#vote(wanted, DECISIONS[name].selection, { organization, stamped, tx });
    });
    return { activity: this.#answered(record, name) };
  }

  async query(name: string, stamped: Stamped): Promise<JsonObject> {
    const { key, parameters } = QUERIES.get(name)!;
    const { organization, rest } = this.#question(stamped, parameters);
    if (key === "getBootProof") return { bootProof: this.#bootProof(String(rest["ephemeralKey"])) };
    if (key === "getLatestBootProof") return { bootProof: await this.#latestBootProof(String(rest["appName"])) };
    if (key === "listAppProofs") return { appProofs: this.#activity(organization, rest, name)["appProofs"] ?? [] };
    if (key === "getTvcDeployment") return { tvcDeployment: this.#deployment(organization, rest) };
    if (key === "getTvcDeploymentProvisioningDetails") return this.#provisioningDetails(organization, rest);
    const answer = ANSWERS[key] as (question: {
      reader: Reader;
      organization: Organization;
      parameters: JsonObject;
    }) => JsonObject;
    return answer({ reader: this.#state, organization, parameters: rest });
  }

  getActivity(stamped: Stamped): JsonObject {
    const { organization, rest } = this.#question(stamped, getActivityParameters);
    return { activity: this.#activity(organization, rest, "get_activity") };
  }

  /** Lists activities, newest first. */
  listActivities(stamped: Stamped): JsonObject {
    const {
      organization: { organizationId },
      rest,
    } = this.#question(stamped, listActivitiesParameters);
    const { filterByStatus, filterByType, paginationOptions } = rest as ReadOf<typeof listActivitiesParameters>;
    const passes = (wanted: string | string[] | undefined, value: unknown): boolean =>
      [wanted ?? []].flat().length === 0 || [wanted].flat().includes(String(value));
    const newest = this.#state
      .all("activities")
      .filter(({ activity }) => activity.organizationId === organizationId)
      .filter(({ activity }) => passes(filterByStatus, activity.status) && passes(filterByType, activity["type"]))
      .sort((one, other) => Number(other.activity["createdAt"]) - Number(one.activity["createdAt"]));
    const page = newest.slice(0, Number(paginationOptions?.limit ?? DEFAULT_PAGE));
    return { activities: page.map((record) => this.#answered(record, "list_activities")) };
  }

  /** Answers in any organization. */
  whoami(stamped: Stamped): JsonObject {
    this.#question(stamped, object({}));
    const { organizationId, user } = stamped.caller.record;
    const { organizationName } = this.#organization(organizationId);
    return { organizationId, organizationName, userId: user.userId, username: user.userName };
  }

  keys(stamped: Stamped, { parameters, answer }: KeyQuery): JsonObject {
    const { organization, rest } = this.#question(stamped, parameters);
    return answer(this.#state, organization, rest);
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

  /** Reads a question. The caller may belong to the parent organization, too. */
  #question({ caller, json }: Stamped, shape: Shape<unknown>): { organization: Organization; rest: JsonObject } {
    const { organizationId, ...rest } = isJsonObject(json) ? json : {};
    if (typeof organizationId !== "string") throw invalid("organizationId: expected a string");
    const parameters = parsed(shape, rest) as JsonObject;
    const organization = this.#organization(organizationId);
    const own = caller.record.organizationId;
    if (own !== organization.organizationId && own !== organization.parentOrganizationId) {
      throw notAllowed(`user ${caller.record.user.userId} may not read organization ${organizationId}`);
    }
    return { organization, rest: parameters };
  }

  #organization(organizationId: string): Organization {
    const organization = this.#state.get("organizations", organizationId);
    if (organization === undefined)
      throw new Refusal("ORGANIZATION_NOT_FOUND", `there is no organization ${organizationId}`);
    return organization;
  }

  #answered({ activity }: ActivityRecord, operation: string): JsonObject {
    return this.#misbehaviour.activity(activity, operation, this.#state);
  }

  #bootProof(ephemeralKey: string): JsonObject {
    const bootProof = this.#misbehaviour.bootProof(ephemeralKey.toLowerCase(), this.#state);
    if (bootProof === undefined) throw notFound("no enclave of this service has the ephemeral key");
    return bootProof;
  }

  async #latestBootProof(appName: string): Promise<JsonObject> {
    const latest = await this.#state.transact((tx) => this.#fleet.latest(appName, tx));
    if (latest === undefined) throw notFound(`no enclave runs ${appName}`);
    return this.#bootProof(this.#misbehaviour.runningKey(latest.ephemeralKey, this.#state));
  }

  #deployment(organization: Organization, parameters: JsonObject): JsonObject {
    const release = this.#releaseOf(organization, parameters);
    const application = this.#state.all("applications").find(({ appId }) => appId === release.app)!;
    return deploymentJson(application, release, String(this.#enclaveOf(release).bootProof["qosManifestB64"]));
  }

  async #provisioningDetails(organization: Organization, parameters: JsonObject): Promise<JsonObject> {
    const release = this.#releaseOf(organization, parameters);
    // This renews the enclave if its certificate is about to expire.
    await this.#state.transact((tx) => this.#fleet.latest(release.app, tx));
    const proof = this.#misbehaviour.setupProof(this.#enclaveOf(release), this.#state);
    return { attestationDocument: proof[DOCUMENT_MEMBER.name]!, manifestEnvelope: proof["qosManifestEnvelopeB64"]! };
  }

  #releaseOf(organization: Organization, { deploymentId }: JsonObject): SavedRelease {
    const release = this.#state.all("releases").find(({ deployment, name }) => deployment && name === deploymentId);
    owned(release?.deployment, organization, `deployment ${String(deploymentId)}`);
    return release!;
  }

  /** Returns the first replica, or one of an earlier deployment. */
  #enclaveOf(release: SavedRelease): SavedEnclave {
    const running = this.#fleet.replicas(release.app).find((one) => one.release === release.name);
    const isOfRelease = (one: SavedEnclave): boolean => one.app === release.app && one.release === release.name;
    return this.#state.get("enclaves", running?.ephemeralKey ?? "") ?? this.#state.all("enclaves").find(isOfRelease)!;
  }

  #activity(organization: Organization, { activityId }: JsonObject, operation: string): JsonObject {
    const record = this.#misbehaviour.refuses(operation)
      ? undefined
      : this.#state.get("activities", String(activityId));
    owned(record?.activity, organization, `activity ${String(activityId)}`);
    return this.#answered(record!, operation);
  }

  /** Runs the activity at once or waits for approvals. */
  async #begin(
    operation: LabSubmitOperation,
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

  /** Finishes the activity. `waited` means that a refusal fails the activity, because its request has ended. */
  async #finish(record: ActivityRecord, waited: boolean, handling: Handling): Promise<ActivityRecord> {
    const {
      organization,
      stamped: { now },
      tx,
    } = handling;
    const { key, intentMember, resultMember } = SUBMITS.find(({ type }) => type === record.activity["type"])!;
    const done = { ...record.activity, canApprove: false, canReject: false };
    // The facts are read before the operation changes anything.
    const facts = record.generateAppProofs ? this.#decisionFacts(record, organization, tx) : {};
    try {
      const actor = owned(tx.get("users", record.userId), organization, `user ${record.userId}`);
      const outcome: Outcome = await carryOut(key, { tx, organization, actor, parameters: record.parameters, now });
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
    const decision = this.#fleet.appProof(
      "policy-engine",
      (at) => policyOutcomePayload(at, organizationId, outcome, facts),
      tx,
    );
    const derived = addresses.map((facts) =>
      this.#fleet.appProof("signer", (at) => addressDerivationPayload(at, facts), tx),
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

  /** Uses the webhooks that the organization and its parent set before the activity. */
  #notify(organization: Organization, activity: JsonObject): void {
    const parent = this.#state.get("organizations", organization.parentOrganizationId ?? "");
    for (const { features } of [organization, ...(parent ? [parent] : [])]) {
      const url = features.find((feature) => feature.name === FEATURE_NAME_WEBHOOK)?.value ?? "";
      if (url !== "") this.#webhooks.deliver(url, this.#misbehaviour.activity(activity, "webhook", this.#state));
    }
  }
}

type Handler = (service: Service, stamped: Stamped) => Promise<JsonObject> | JsonObject;

/** Undocumented but deployed queries (client/README.md, "Operations"). */
const MORE_QUERIES: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...KEY_QUERIES.map((one): [string, Handler] => [one.name, (service, stamped) => service.keys(stamped, one)]),
  ["get_activity", (service, stamped) => service.getActivity(stamped)],
  ["list_activities", (service, stamped) => service.listActivities(stamped)],
  ["whoami", (service, stamped) => service.whoami(stamped)],
]);

function handlerOf(path: string): Handler | undefined {
  const [, group, name = ""] = /^\/public\/v1\/(submit|query)\/([a-z_]+)$/.exec(path) ?? [];
  if (group === "query") {
    const more = MORE_QUERIES.get(name);
    if (more !== undefined) return more;
    return QUERIES.has(name) ? (service, stamped) => service.query(name, stamped) : undefined;
  }
  if (Object.hasOwn(DECISIONS, name)) return (service, stamped) => service.decide(name as DecisionName, stamped);
  return SUBMITS.some((operation) => operation.name === name)
    ? (service, stamped) => service.submit(name, stamped)
    : undefined;
}

/** The request's type selects one of two versions. */
function submitOf(name: string, json: JsonValue): LabSubmitOperation {
  const versions = SUBMITS.filter((operation) => operation.name === name);
  return versions.find(({ type }) => isJsonObject(json) && json["type"] === type) ?? versions[0]!;
}

/** Returns the number of required approvals. Throws if the caller may not submit the type. */
function approvalsWanted(reader: Reader, organization: Organization, caller: Caller, type: string): number {
  if (isRoot(organization, caller.record)) return 1;
  const policies = reader
    .all("policies")
    .filter((policy) => policy.organizationId === organization.organizationId && policy.activityTypes.includes(type));
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
  const { organizationId } = organization;
  const own = <T extends { readonly organizationId: string }>(records: readonly T[]): T[] =>
    records.filter((record) => record.organizationId === organizationId);
  const data = {
    organization,
    users: usersOf(reader, organization),
    tags: own(reader.all("tags")),
    wallets: own(reader.all("wallets")),
    policies: own(reader.all("policies")),
  };
  return data as unknown as QosJsonInput;
}

function digest(data: QosJsonInput): string {
  return toHex(sha256(toUtf8(canonicalQosJson(data))));
}

/** Some clients put `generateAppProofs` among the parameters. */
function withOneAppProofFlag(json: JsonValue): JsonValue {
  const given = isJsonObject(json) ? json["parameters"] : undefined;
  if (!isJsonObject(json) || !isJsonObject(given) || !("generateAppProofs" in given)) return json;
  const { generateAppProofs: among, ...parameters } = given;
  const { generateAppProofs: beside } = json;
  // The schema refuses values that are not booleans.
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

function parsed(shape: Shape<unknown>, value: unknown): unknown {
  const { value: read, faults } = readShape(shape, value);
  if (faults.length > 0) throw invalid(faultText(faults.slice(0, 20)));
  return read;
}
