/** A way into a door: its requests become exchanges, and of their answers comes what may be handed on, or a refusal. */
import { withoutPrototype } from "../decode/input.js";
import type { JsonValue } from "../decode/json.js";
import type { Attempt } from "../errors.js";
import { type AccountOptions, requireAccountOptions } from "./account-options.js";
import type * as accountVerifier from "./account-verifier.js";
import type { ReadAnswer } from "./answer.js";
import type * as authProxyVerifier from "./auth-proxy-verifier.js";
import type { Door } from "./door.js";
import { ClientError } from "./errors.js";
import type { Query } from "./evidence-source.js";
import { type AskedActivity, Exchange, type Polling, type Settled, isUnverified } from "./exchange.js";
import type { Handed } from "./handed.js";
import type { Signal } from "./platform.js";
import { type Operation, questionOf } from "./question.js";

/** Operations whose answers are handed on without a proof, such as `signup`; `true` means every operation. */
export type AllowUnproven = boolean | readonly string[];

/** An activity that is handed on, or the answer to a query. */
interface HandedActivity extends Handed {
  readonly settled: Settled;
}

export interface EntranceCall {
  /** Asks the service for evidence. */
  readonly query: Query;
  readonly signal?: Signal | undefined;
  /** How a pending activity is asked for again. Default: it is handed on as it is. */
  readonly polling?: Polling;
  /** Whether the answer came from a later `get_activity`. */
  readonly isFetched?: boolean;
}

export interface EntranceOptions extends AccountOptions {
  /** Default: none. */
  readonly allowUnproven?: AllowUnproven;
  /** The organization of questions that name none. */
  readonly organizationId?: string | undefined;
}

/** What an entrance verifies beside activities. */
export interface EntranceParts {
  readonly accounts: () => Promise<typeof accountVerifier>;
  readonly authProxy: () => Promise<typeof authProxyVerifier>;
}

export class Entrance {
  readonly door: Door;
  readonly #options: EntranceOptions;
  readonly #parts: EntranceParts | null;
  #accounts: Promise<accountVerifier.AccountVerifier> | null = null;
  #authProxy: Promise<authProxyVerifier.AuthProxyVerifier> | null = null;

  /** Throws TypeError for options that need others, and `DerivationPolicyError`. */
  constructor(door: Door, options: EntranceOptions, parts: EntranceParts | null) {
    this.door = door;
    this.#parts = parts;
    this.#options = withoutPrototype(options);
    requireAccountOptions(door.policy, this.#options);
  }

  /**
   * Returns the exchange of a request, or why it is not sent. `submitter` only counts the size of bindings for each
   * submitter.
   */
  ask(operation: Operation, body: Attempt<JsonValue>, submitter = ""): Exchange | string {
    const question = questionOf(operation, body);
    if (typeof question === "string") return question;
    const isUnproven = "isProven" in question && !question.isProven;
    if (isUnproven && !this.isAllowed(operation.name)) return UNPROVEN;
    return new Exchange(question, this.door.bindings, submitter);
  }

  isAllowed(operation: string): boolean {
    const { allowUnproven = false } = this.#options;
    return typeof allowUnproven === "boolean" ? allowUnproven : allowUnproven.includes(operation);
  }

  /**
   * Loads what the answer will need, before the request is sent: without it nobody could verify what a submit did.
   * Rejects with {@link ClientError} (`unreachable`).
   */
  async ready({ question }: Exchange): Promise<void> {
    const isOfAccounts = "account" in question && this.#options.verifyAddresses === true;
    if (isUnverified(question) && !isOfAccounts) return;
    const loading = Promise.all([this.door.verifying(), isOfAccounts && this.#parts!.accounts()]);
    await loading.catch((error: Error) => {
      const message = `not sent: what verifies the answer could not be loaded (${error.message}). Load the page again`;
      throw new ClientError("unreachable", message, { operation: question.operation });
    });
  }

  /** Resolves to what is handed on of an answer. Rejects if an activity or an account is not accepted. */
  async settle(exchange: Exchange, read: ReadAnswer, call: EntranceCall): Promise<HandedActivity> {
    const { polling, isFetched = false } = call;
    const verify = (asked: AskedActivity): ReturnType<Door["verify"]> => this.door.verify(asked, call);
    const settled =
      polling === undefined || isFetched
        ? await exchange.settle(read, verify, isFetched)
        : await exchange.settlePolled(read, verify, polling);
    if (settled.kind === "other") return { ...(await this.#judged(exchange, settled.value, call)), settled };
    const value = { activity: settled.activity };
    if (settled.kind === "verified") return { value, proven: "activity", report: settled.verified.report, settled };
    const open = { value, proven: settled.kind, report: null, settled };
    if (settled.kind === "unproven") return open;
    const { unfinishedOf } = await this.door.verifying();
    // A status that is no text is none that is known.
    return { ...open, reason: unfinishedOf(settled.activity)?.text ?? "the activity is not finished" };
  }

  async #judged({ question }: Exchange, value: JsonValue, call: EntranceCall): Promise<Handed> {
    const none: Handed = { value, proven: "none", report: null };
    if (question.kind !== "query" || this.#options.verifyAddresses !== true) return none;
    this.#accounts ??= this.#parts!.accounts().then(
      ({ AccountVerifier }) => new AccountVerifier(this.door, this.#options),
    );
    const { organizationId = null } = this.#options;
    const owned = { ...question, organizationId: question.organizationId ?? organizationId };
    const judged = await (await this.#accounts).verify(owned, value, call);
    return judged === null ? none : { ...judged, proven: "accounts" };
  }

  /** Resolves to the verifier of the auth proxy's answers. */
  authProxy(): Promise<authProxyVerifier.AuthProxyVerifier> {
    this.#authProxy ??= this.#parts!.authProxy().then(
      ({ AuthProxyVerifier }) => new AuthProxyVerifier(this.door, (operation) => this.isAllowed(operation)),
    );
    return this.#authProxy;
  }
}

const UNPROVEN =
  "generateAppProofs is not true: without app proofs the result cannot be verified. Set it beside parameters, or " +
  "allow unproven requests (allowUnproven, --allow-unproven)";
