/** A service with a software enclave. It follows the interface, except for the lies of a test. */
import { randomUUID } from "node:crypto";
import { toHex } from "../../src/bytes.js";
import { type Client, type ClientOptions, SUBMIT_OPERATIONS } from "../../src/client/index.js";
import type { SubmitOperation } from "../../src/client/operations.js";
import { type JsonObject, folded, parseJson } from "../../src/decode/json.js";
import { type Policy, parsePolicy } from "../../src/index.js";
import { type AppProofAlterations, SoftwareEnclave, policyOutcomePayload } from "../../src/lab/enclave.js";
import { type ForgeOptions, Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type QosKeyPair, generateQosKeyPair } from "../../src/lab/qos.js";
import { ACTIVITY_RULES } from "../../src/decode/activity-rules.js";
import { ORGANIZATION, type Recorded, type Reply, fakeFetch, testClient } from "./support.js";

export const lab = new Forge();
/** Another party with its own keys and root under the same names. */
export const otherLab = new Forge();
/** When the enclave booted. Requests begin five minutes later. */
export const BOOTED = new Date("2026-03-04T05:06:07.000Z");
const FIRST_REQUEST = 300_000;

/** What a lie changes. */
export interface Lies {
  /** In the making of the enclave's boot proof. */
  readonly boot?: Partial<ForgeOptions>;
  /** What the enclave signs for a request. */
  readonly payloads?: (request: JsonObject, service: AttestedService) => JsonObject[];
  readonly proof?: AppProofAlterations;
  /** The activity, finished. */
  readonly activity?: (activity: JsonObject, service: AttestedService) => JsonObject;
  /** The whole answer to a submit. */
  readonly answer?: (activity: JsonObject) => unknown;
  /** The answer to get_boot_proof. */
  readonly bootProof?: (answer: JsonObject, key: string) => Reply;
  /** The answer to get_activity. */
  readonly past?: (activity: JsonObject) => Reply;
  /** The answer to list_app_proofs. */
  readonly listed?: (service: AttestedService) => JsonObject[];
}

export type Verified = ReturnType<Client["withVerification"]>;

export class AttestedService {
  readonly lies: Lies;
  /** The keys of the requested boot proofs, in order. */
  readonly asked: string[] = [];
  readonly requests: Recorded[];
  readonly fetch: typeof fetch;
  /** By key in hex. */
  readonly bootProofs = new Map<string, JsonObject>();
  readonly activities: JsonObject[] = [];
  enclave: SoftwareEnclave;
  /** Milliseconds since the boot. */
  clock = FIRST_REQUEST;

  constructor(lies: Lies = {}) {
    // Without a prototype, so that it has only the test's lies.
    this.lies = Object.assign(Object.create(null) as Lies, lies);
    this.enclave = this.boot();
    ({ fetch: this.fetch, requests: this.requests } = fakeFetch((request) => this.#answer(request)));
  }

  get now(): Date {
    return new Date(BOOTED.getTime() + this.clock);
  }

  /** A new life of the enclave, with a new key unless one is given. */
  boot(ephemeralKey: QosKeyPair = generateQosKeyPair()): SoftwareEnclave {
    const options = { lab, at: BOOTED, ephemeralKey, payloads: [], ...this.lies.boot };
    const { bootProof, manifestHash } = forgeEvidence(options);
    const { publicKey } = options.ephemeralKey;
    this.bootProofs.set(toHex(publicKey), bootProof);
    const { pki, measurements } = options.lab;
    return new SoftwareEnclave({
      pki,
      measurements,
      manifestHash,
      generation: "live",
      ephemeralKey: options.ephemeralKey,
    });
  }

  async client(options: Partial<ClientOptions> = {}): Promise<Client> {
    return testClient({ fetch: this.fetch, now: () => this.now, ...options });
  }

  /** Verified calls under a policy that pins all of the lab, which `rest` alters. */
  async verified(rest?: JsonObject, options?: Parameters<Client["withVerification"]>[1]): Promise<Verified> {
    return (await this.client()).withVerification(policyOf(rest), options);
  }

  /** What the enclave signs by default: that the request is allowed. */
  allow(at = this.now, organizationId = ORGANIZATION): JsonObject {
    return { ...policyOutcomePayload(at, organizationId), requestId: randomUUID() };
  }

  #answer({ path, body }: Recorded): Reply | Promise<Reply> {
    const json = parseJson(JSON.stringify(body)) as JsonObject;
    if (path.endsWith("/get_boot_proof")) return this.#bootProof(String(json["ephemeralKey"]));
    if (path.endsWith("/list_app_proofs")) return this.#appProofs(String(json["activityId"]));
    if (path.endsWith("/get_activity")) return this.#past(String(json["activityId"]));
    const activity = this.#activity(json);
    return { body: this.lies.answer?.(activity) ?? { activity } };
  }

  #bootProof(key: string): Reply {
    this.asked.push(key);
    const bootProof = this.bootProofs.get(key);
    if (bootProof === undefined) return { status: 404, body: { code: 5, message: "no such key", details: [] } };
    return this.lies.bootProof?.({ bootProof }, key) ?? { body: { bootProof } };
  }

  #past(activityId: string): Reply {
    const activity = this.activities.find(({ id }) => id === activityId) ?? { id: activityId };
    return this.lies.past?.(activity) ?? { body: { activity } };
  }

  #appProofs(activityId: string): Reply {
    if (this.lies.listed) return { body: { appProofs: this.lies.listed(this) } };
    const found = this.activities.find((activity) => activity["id"] === activityId);
    return { body: { appProofs: found?.["appProofs"] ?? [] } };
  }

  #activity(request: JsonObject): JsonObject {
    const operation = Object.values(SUBMIT_OPERATIONS).find(({ type }) => type === request["type"]) as
      | SubmitOperation
      | undefined;
    const parameters = request["parameters"] as JsonObject;
    const payloads =
      request["generateAppProofs"] === true
        ? (this.lies.payloads?.(request, this) ?? [this.allow(this.now, String(request["organizationId"]))])
        : [];
    const repeats = Object.values(ACTIVITY_RULES).find(({ type }) => type === operation?.type)?.repeats ?? [];
    const stated = Object.entries({ organizationId: request["organizationId"]!, ...parameters });
    const result = Object.fromEntries(
      repeats.map((member) => [member, stated.find(([name]) => folded(name) === folded(member))?.[1] ?? "chosen"]),
    );
    const activity: JsonObject = {
      id: randomUUID(),
      organizationId: request["organizationId"]!,
      status: "ACTIVITY_STATUS_COMPLETED",
      type: request["type"]!,
      intent: { [operation?.intentMember ?? "intent"]: parameters },
      result: { [operation?.resultMember ?? "result"]: result },
      votes: [],
      fingerprint: "f",
      canApprove: false,
      canReject: false,
      createdAt: String(this.now.getTime()),
      updatedAt: String(this.now.getTime()),
      ...(payloads.length > 0 && {
        appProofs: payloads.map((payload) => this.enclave.appProof(payload, this.lies.proof)),
      }),
    };
    const told = this.lies.activity?.(activity, this) ?? activity;
    this.activities.push(told);
    return told;
  }
}

export const { anchorPem } = forgeEvidence({ lab, at: BOOTED });

/** A policy that pins all of the lab. */
export function policyOf(rest: JsonObject = {}, deployments: JsonObject[] = [labDeployment(lab)]): Policy {
  return parsePolicy(JSON.stringify(labPolicy(anchorPem, deployments, rest)));
}
