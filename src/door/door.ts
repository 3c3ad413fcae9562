/**
 * A door to one service under one policy, which may be a signed one: everything that an answer must pass, and what all
 * entrances share. It fetches the boot proof of each key that the app proofs name, verifies all evidence, and compares
 * it with the request.
 */
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import type { VerifyOptions } from "../bootproof.js";
import { withoutPrototype } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { ED25519_KEY_LENGTH } from "../decode/lengths.js";
import { callable, having, instanceOf, plain, required, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, count, demand, hex, list, oneOf, optional } from "../decode/shapes.js";
import { isAcceptedReport } from "../verification.js";
import { ANY_POLICY, isSigned, policyInForce } from "../signed-policy/in-force.js";
import type { SignedPolicy } from "../signed-policy/open.js";
import { AppProofUses } from "../verify/app-proof-uses.js";
import { turn } from "../verify/in-turns.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { isUnfinished } from "./answer.js";
import { Bindings } from "./bindings.js";
import {
  BootProofCache,
  type CacheLimits,
  type FetchedBootProof,
  type HeldPolicy,
  type Verifying,
} from "./boot-proof-cache.js";
import { type DemandedBuilds, buildsOf } from "./builds.js";
import { ClientError, RejectedActivityError, activityEvidenceError } from "./errors.js";
import type { fetchEvidence } from "./evidence.js";
import type { AskService, Query } from "./evidence-source.js";
import type { AskedActivity, ExpectedOfOwner, VerifiedEvidence } from "./exchange.js";
import type { Signal } from "./platform.js";
import { untilAborted } from "./waiting.js";

export interface VerificationOptions extends DemandedBuilds, Pick<VerifyOptions, "cache" | "acceptance" | "maxAgeMs"> {
  /**
   * Limit of cached boot proofs, which have at most 16 MiB together. Over a limit, the least recently used one is
   * dropped. Only verified ones are cached. Default: 256.
   */
  readonly bootProofLimit?: number;
  /**
   * Milliseconds that a boot proof is cached. Each call checks policy, ages and certificates again. Default: an hour.
   */
  readonly bootProofMaxAgeMs?: number;
  /**
   * Public keys of accounts of yours, in hex, whose addresses are a hash (Sui, Aptos). Signatures by such an account
   * are verified under the key that hashes to its address. Default: none, and they are a warning.
   */
  readonly signerKeys?: readonly string[];
}

export const VERIFICATION_OPTIONS: MembersOf<VerificationOptions> = {
  bootProofLimit: optional(count),
  bootProofMaxAgeMs: optional(count),
  signerKeys: demand(list(hex(ED25519_KEY_LENGTH))),
  cache: optional(instanceOf(SignatureCache, "a SignatureCache")),
  acceptance: demand(oneOf("standard", "strict")),
  maxAgeMs: demand(count),
  provenance: optional(list(plain)),
  provenanceVerifier: optional(having("verify")),
};

export interface PollingOptions {
  /**
   * Milliseconds between two polls for a pending activity. Default: 500; for another SDK's client its
   * `activityPoller.intervalMs`, or 500 if it has none.
   */
  readonly pollIntervalMs?: number;
  /**
   * Number of polls for a pending activity. After the last poll, a client of another SDK returns the unfinished
   * activity, and this package's client rejects. Default: 40; for another SDK's client its `activityPoller.numRetries`,
   * or 120 if it has none.
   */
  readonly pollAttempts?: number;
}

export const POLLING_OPTIONS: MembersOf<PollingOptions> = {
  pollIntervalMs: optional(count),
  pollAttempts: optional(count),
};

export interface DoorParts {
  readonly verifying: Verifying;
}

interface CallParts {
  /** Asks the service for evidence. */
  readonly query: Query;
  readonly signal?: Signal | undefined;
  /** The part of an unfinished activity that its rejection may show. */
  readonly unfinished?: JsonObject;
}

export class Door {
  readonly now: () => Date;
  readonly verifying: Verifying;
  readonly signatures: SignatureCache;
  readonly limits: CacheLimits;
  readonly bootProofs: BootProofCache;
  readonly strictness: Pick<VerifyOptions, "acceptance" | "maxAgeMs">;
  /** Requests by the activities that answered them. */
  readonly bindings = new Bindings();
  /** Organizations that answered a sign-up. A replay of an older sign-up fails by its time. */
  readonly signUps = new Recent(10_000);
  readonly #policy: Policy | SignedPolicy;
  readonly #demanded: DemandedBuilds;
  /** The public keys of accounts by their addresses, to which they hash: of verified answers, and of the caller. */
  readonly signers = new Recent(10_000);
  readonly #signerKeys: readonly string[];
  #held: HeldPolicy;
  readonly #uses = new AppProofUses();

  /** Throws TypeError for an invalid policy. The options may have other members, too. */
  constructor(all: DoorOptions, { verifying }: DoorParts) {
    const options = withoutPrototype(all);
    const { policy: given, now = () => new Date() } = options;
    const policy = isSigned(given) ? given.policy : given;
    if (!ParsedPolicy.is(policy))
      throw new TypeError(`policy${given === undefined ? " is required:" : ": expected"} ${ANY_POLICY}`);
    this.now = now;
    this.verifying = verifying;
    this.#policy = given;
    this.#demanded = options;
    this.#signerKeys = options.signerKeys ?? [];
    this.#held = { policy, builds: buildsOf(policy, options) };
    this.signatures = options.cache ?? new SignatureCache();
    const { acceptance = "standard", maxAgeMs } = options;
    this.strictness = { acceptance, ...(maxAgeMs !== undefined && { maxAgeMs }) };
    const { bootProofLimit: limit = 256, bootProofMaxAgeMs: maxAge = 3_600_000 } = options;
    this.limits = { limit, maxAgeMs: maxAge };
    this.bootProofs = new BootProofCache({ now, verifying, ...this.limits, options: (held) => this.options(held) });
  }

  /**
   * Verifies an activity. Rejects with {@link RejectedActivityError}, or {@link ClientError} (`evidence`, `aborted`).
   */
  async verify(asked: AskedActivity, call: CallParts): Promise<VerifiedEvidence> {
    const { expected, refusals, operation, began = null } = asked;
    const held = await untilAborted(this.begin(), call.signal).catch((error: Error) => {
      throw activityEvidenceError(error, factsOf(asked.activity, operation));
    });
    const { hasAppProofs, namedBootProofs, rejectionText, verifyAnswer } = await this.verifying();
    const { activity, bootProofs } = await this.#fetched(asked, held, call);
    const pieces = namedBootProofs(bootProofs.map(({ bootProof }) => bootProof));
    // Verification unwraps this wrapper only, even if the activity has a member `activity` of its own.
    const evidence = { bootProofs: pieces, activity: { activity }, ...held.builds.evidence };
    const options = { ...this.options(held), ...(expected && { expected: await this.#withKey(expected) }) };
    await turn();
    const { report, activity: verified } = await verifyAnswer(evidence, options, refusals, { began });
    if (isAcceptedReport(report) && verified !== null) return { activity, report, verified };
    const facts = { ...factsOf(activity, operation), hasAppProofs: hasAppProofs(activity) };
    const { unfinished = null } = call;
    throw new RejectedActivityError(report, { ...facts, unfinished, message: rejectionText(report, facts) });
  }

  /**
   * Returns what one verification uses. Rejects with TypeError if a new version of a signed policy demands provenance,
   * and the options have none.
   */
  async begin(): Promise<HeldPolicy> {
    const policy = await policyInForce(this.#policy);
    if (policy !== this.#held.policy) this.#held = { policy, builds: buildsOf(policy, this.#demanded) };
    return this.#held;
  }

  /** The policy, or the version of a signed policy that is in force now. */
  get policy(): Policy {
    return isSigned(this.#policy) ? this.#policy.policy : this.#policy;
  }

  /** Returns the options of a verification at the present time. */
  options({ policy, builds }: HeldPolicy): VerifyOptions {
    const { now, signatures, strictness } = this;
    return { policy, now: now(), cache: signatures, uses: this.#uses, ...strictness, ...builds.options };
  }

  /** Adds the key, of an answer or of the caller's, that hashes to the address of `signWith`. */
  async #withKey(expected: ExpectedOfOwner): Promise<ExpectedOfOwner> {
    const { signWith } = (expected.parameters ?? {}) as JsonObject;
    if (typeof signWith !== "string") return expected;
    const publicKey = this.signers.get(signWith) ?? (await this.#keyOf(signWith));
    return publicKey === undefined ? expected : { publicKey, ...expected };
  }

  /** Returns the first key of the caller's that hashes to the address, and remembers it. */
  async #keyOf(address: string): Promise<string | undefined> {
    if (this.#signerKeys.length === 0) return undefined;
    const { isAddressOf } = await import("../verify/signatures.js");
    for (const publicKey of this.#signerKeys) {
      if ((await isAddressOf(address, publicKey)) !== true) continue;
      this.signers.add(address, publicKey);
      return publicKey;
    }
    return undefined;
  }

  async #fetched(
    { activity, expected, refusals, operation, isFetched }: AskedActivity,
    held: HeldPolicy,
    { signal, query }: CallParts,
  ): ReturnType<typeof fetchEvidence<FetchedBootProof>> {
    // Evidence is requested in the activity's own organization, where the caller may read app proofs and boot proofs.
    const owner = expected === null ? {} : { organizationId: expected.organizationId };
    const owned: Query = (name, parameters, more) => query(name, parameters, { ...owner, ...more });
    const ask: AskService = (name, parameters) => owned(name, parameters, signal ? { signal } : {});
    const isRefused = refusals.length > 0 || (isJsonObject(activity) && isUnfinished(activity));
    const { fetchEvidence, withAppProofs } = await this.verifying();
    try {
      const whole = isFetched && refusals.length === 0 ? await withAppProofs(ask, activity) : activity;
      return await untilAborted(
        fetchEvidence(whole, (key) => this.bootProofs.find(key, held, owned)),
        signal,
      );
    } catch (error) {
      // The activity is refused in any case, so missing evidence does not matter.
      if (error instanceof ClientError && isRefused) return { activity, bootProofs: [], missing: [] };
      throw error instanceof ClientError ? activityEvidenceError(error, factsOf(activity, operation)) : error;
    }
  }
}

/** Names that were seen, each with a value, the last ones only. */
class Recent {
  readonly #limit: number;
  readonly #values = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns whether the name is new, and remembers it. */
  add(name: string, value = ""): boolean {
    if (this.#values.has(name)) return false;
    this.#values.set(name, value);
    if (this.#values.size > this.#limit) this.delete(this.#values.keys().next().value!);
    return true;
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }
}

/** The policy and the settings of verification, and the memory that the entrances of a door share. */
export interface DoorOptions extends VerificationOptions {
  /** The policy that `parsePolicy` returns, or the signed one of `openSignedPolicy`. */
  readonly policy: Policy | SignedPolicy;
  /** The time of verification. Default: the clock. */
  readonly now?: () => Date;
}

export const DOOR_OPTIONS: MembersOf<DoorOptions> = {
  policy: required(ANY_POLICY),
  now: optional(callable),
  ...VERIFICATION_OPTIONS,
};

/** A door for several entrances. Only `createDoor` of `bootproof/adapters` makes one. */
export interface SharedDoor {
  /** The policy, or the version of a signed policy that is in force now. */
  readonly policy: Policy;
}

/** Exactly one of `policy` and `door`: what a door has is no option of its entrances. */
export interface AtDoor extends Partial<DoorOptions> {
  /** The door of `createDoor`, whose policy, settings, used proofs and answered requests count here, too. */
  readonly door?: SharedDoor;
}

export const AT_DOOR: MembersOf<AtDoor> = {
  ...DOOR_OPTIONS,
  policy: optional(unchecked),
  door: demand(instanceOf<SharedDoor>(Door, "a door of createDoor")),
};

/** Reads options. A policy is required unless there is a door. Throws TypeError as {@link typedOptions} does. */
export function optionsAtDoor<T extends AtDoor>(given: T, shapes: MembersOf<T>): T {
  const hasDoor = Object.hasOwn(Object(given) as object, "door");
  return typedOptions("options", given, hasDoor ? shapes : { ...shapes, policy: required(ANY_POLICY) });
}

/** Returns the door of the options, or a new one. Throws TypeError for settings beside a door. */
export function doorOf(given: AtDoor, parts: DoorParts): Door {
  const options = withoutPrototype(given);
  const { door } = options;
  if (door === undefined) return new Door(options as DoorOptions, parts);
  const beside = Object.keys(DOOR_OPTIONS).find((name) => options[name as "policy"] !== undefined);
  if (beside !== undefined) throw new TypeError(`options.${beside}: the door has its own: leave it out`);
  return door as Door;
}
type ActivityFacts = Pick<RejectedActivityError, "operation" | "activityId" | "activityStatus">;

function factsOf(activity: JsonValue, operation: string | null): ActivityFacts {
  const member = (name: string): string | null => {
    const value = isJsonObject(activity) ? activity[name] : undefined;
    return typeof value === "string" ? value.slice(0, 100) : null;
  };
  return { operation, activityId: member("id"), activityStatus: member("status") };
}
