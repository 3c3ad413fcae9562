/**
 * Verified calls. The caller gets nothing of an activity until an enclave pinned by the policy has vouched for it. The
 * response is compared with the request that was sent (verify/README.md, "The question"). If no app proof covers the
 * result, only the service claims that it executed the request with that result.
 */
import { UNPLACED } from "../addresses/classes.js";
import type { AddressRow } from "../addresses/join.js";
import { requireDerivationPolicy } from "../appraise/derivation.js";
import type { Policy } from "../appraise/policy.js";
import { outcomeOf, soleMember } from "../decode/activity.js";
import { unwrapAlone } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, readShape } from "../decode/shapes.js";
import type { Report } from "../report/report.js";
import type { VerifiedActivity } from "../verify/activity.js";
import type { SignedPolicy } from "../signed-policy/open.js";
import { type Expected, ownExpected } from "../verify/expectation.js";
import { type ActivityJson, activitySchema } from "./activity-shapes.js";
import { type ReadAnswer, answerOfInput, answerOfLiterals, besideFaults } from "../door/answer.js";
import { type ExpectedOfOwner, type Polling, askedOfPast } from "../door/exchange.js";
import { operationOf } from "../door/question.js";
import {
  Door,
  type DoorParts,
  POLLING_OPTIONS,
  type PollingOptions,
  type SharedDoor,
  VERIFICATION_OPTIONS,
  type VerificationOptions,
  doorOf,
} from "../door/door.js";
import { Entrance } from "../door/entrance.js";
import * as verifying from "../door/verifying.js";
import {
  ADDRESSES_OPTIONS,
  type AddressPiece,
  type AddressesOptions,
  collectAddresses,
  joinPieces,
  verificationOf,
} from "../door/addresses.js";
import type { CallOptions, Query } from "../door/evidence-source.js";
import {
  ClientError,
  RejectedAddressesError,
  activityEvidenceError,
  answerError,
  requestError,
} from "../door/errors.js";
import {
  SUBMIT_OPERATIONS,
  type SubmitName,
  type SubmitOperation,
  type SubmitParameters,
  type SubmitResult,
  pathOf,
} from "./operations.js";
import type { Signal } from "../door/platform.js";
import {
  CALL_OPTIONS,
  type UndocumentedSubmit,
  activityRequest,
  functionsOf,
  ownOperation,
  query,
} from "./requests.js";
import { type Transport, send } from "./transport.js";
import type { PayloadSchemas } from "./payload-schemas.js";
import {
  type ReceivedAppProof,
  type VerifiedAppProofs,
  type VerifyAppProofsOptions,
  verifyReceivedAppProofs,
} from "./verified-app-proofs.js";

export interface VerifiedCall<Result> {
  readonly result: Result;
  readonly activity: ActivityJson;
  /** The report, whose verdict is `verified`. */
  readonly report: Report;
  /** The activity, its app proofs, and the boot proof of each. */
  readonly verified: VerifiedActivity;
}

/** The options of {@link Client.withVerification}. */
export interface VerifiedClientOptions extends VerificationOptions, PollingOptions {}

const VERIFIED_CLIENT_OPTIONS: MembersOf<VerifiedClientOptions> = { ...VERIFICATION_OPTIONS, ...POLLING_OPTIONS };

type VerifiedSubmitFunctions = {
  readonly [N in SubmitName]: (
    parameters: SubmitParameters<N>,
    options?: CallOptions,
  ) => Promise<VerifiedCall<SubmitResult<N>>>;
};

export interface VerifyActivityOptions extends CallOptions {
  /** What the caller knows of the request, such as id, type, parameters, time and addresses. */
  readonly expected?: Partial<Expected>;
}

/**
 * The submits of a client under one policy. Each requests app proofs, fetches the boot proof of each key that they
 * name, and verifies all evidence. It rejects with {@link RejectedActivityError}, which lists every failed check, or
 * with {@link ClientError}. An activity without app proofs is rejected, even if the policy does not set
 * `appProofs.required`.
 */
export interface VerifiedClient extends VerifiedSubmitFunctions {
  /** The policy, or the version of a signed policy that is in force now. */
  readonly policy: Policy;
  submit(operation: UndocumentedSubmit, parameters: object, options?: CallOptions): Promise<VerifiedCall<JsonValue>>;
  /**
   * Verifies a past activity, passed as JSON value or text, bare or in its wrapper. The wrapper may also have members
   * of the activity's result, as other SDKs return it, but no other members. Missing app proofs are fetched with
   * `list_app_proofs`. The activity must be completed, belong to `organizationId` (default: the client's) and match
   * `expected`. Rejects with MalformedError (`json`) for text that is not JSON, with TypeError for an invalid
   * `expected`, and with the errors of a submit.
   */
  verifyActivity(activity: unknown, options?: VerifyActivityOptions): Promise<VerifiedCall<JsonValue>>;
  /**
   * Verifies app proofs that an application sent you, with the boot proofs of their keys, and compares them with what
   * you requested. One call may have at most 16 keys. Each boot proof is fetched once. The same app proof may be
   * verified again.
   *
   * Rejects with RejectedError, which lists every failed check. Rejects with {@link ClientError}: `ephemeral-key`
   * before anything is sent, `evidence` if a boot proof could not be fetched, `schema` if a verified payload does not
   * fit its schema. Errors of a schema are passed on. Rejects with TypeError for an empty list, a missing `expected` or
   * invalid options, and with RangeError for too many app proofs or keys.
   *
   * @example
   * const { payloads } = await client.withVerification(policy).verifyAppProofs([{ appProof }], {
   *   expected: { payload: [{ type: "QUOTE", values: { "/challenge": challenge }, challenge: "/challenge" }] },
   * });
   */
  verifyAppProofs<Schemas extends PayloadSchemas = Record<never, never>>(
    appProofs: readonly ReceivedAppProof[],
    options: VerifyAppProofsOptions<Schemas>,
  ): Promise<VerifiedAppProofs<Schemas>>;
  /**
   * Lists the addresses of an organization, and says of each by its class whether an enclave pinned by the policy
   * derived it. Rows come once everything was fetched and verified, the worst class first. Rejects with {@link
   * ClientError} if a list or evidence could not be fetched: that is never a class. Rejects with
   * `RejectedAddressesError` if a key was exported or imported and nothing says in which wallet it is, unless `accept`
   * has `unplaced`. Throws TypeError for invalid options, and `DerivationPolicyError` for a policy under which other
   * applications could sign such proofs.
   *
   * @example
   * for await (const { class: name, address, reason } of client.withVerification(policy).addresses())
   *   if (name !== "derived") console.log(name, address, reason);
   */
  addresses(options?: AddressesOptions): AsyncIterable<AddressRow>;
}

/** Makes a verified client. Throws TypeError for an invalid policy, before anything is submitted. */
export function verifiedClient(
  transport: Transport,
  given: Policy | SignedPolicy | SharedDoor,
  options: VerifiedClientOptions = {},
): VerifiedClient {
  const verifier = new ClientVerifier(transport, given, options);
  return {
    ...functionsOf<VerifiedSubmitFunctions, CallOptions>(SUBMIT_OPERATIONS, (operation, parameters, call) =>
      verifier.submit(operation, operation, parameters, call),
    ),
    get policy() {
      return verifier.door.policy;
    },
    submit: async (operation, parameters, call) => verifier.submit(ownOperation(operation), null, parameters, call),
    verifyActivity: (activity, call) => verifier.verifyPast(activity, call),
    verifyAppProofs: (appProofs, call) => verifyReceivedAppProofs(verifier.door, verifier.query, appProofs, call),
    addresses: (call) => verifier.addresses(call),
  };
}

/** At once: a client is made to verify, and whoever imports a stamper alone gets nothing of it. */
const PARTS: DoorParts = { verifying: async () => verifying };

class ClientVerifier {
  readonly door: Door;
  readonly query: Query;
  readonly #transport: Transport;
  readonly #entrance: Entrance;
  readonly #options: VerifiedClientOptions;

  constructor(transport: Transport, given: Policy | SignedPolicy | SharedDoor, more: VerifiedClientOptions) {
    this.#options = typedOptions("options", more, VERIFIED_CLIENT_OPTIONS);
    const at = given instanceof Door ? { door: given } : { policy: given as Policy, now: () => transport.now() };
    this.door = doorOf({ ...this.#options, ...at }, PARTS);
    this.query = (name, parameters, call) => query(transport, { name }, parameters, call);
    this.#transport = transport;
    this.#entrance = new Entrance(this.door, {}, null);
  }

  async submit<Result>(
    sent: UndocumentedSubmit,
    operation: SubmitOperation | null,
    parameters: unknown,
    given: CallOptions = {},
  ): Promise<VerifiedCall<Result>> {
    const { organizationId, signal } = typedOptions("options", given, CALL_OPTIONS);
    const target = { group: "submit", name: sent.name, numbers: "literal" } as const;
    const submitted = { ...(organizationId !== undefined && { organizationId }), generateAppProofs: true };
    const request = activityRequest(this.#transport, operation ?? sent, parameters, submitted);
    const exchange = this.#entrance.ask(operationOf(pathOf(target))!, { value: request, faults: [] });
    if (typeof exchange === "string") throw requestError(sent.name, [{ path: "", message: exchange }]);
    const answer = answerOfLiterals(await send(this.#transport, target, request, signal));
    const call = { query: this.query, signal };
    const polling = this.#pollingOf(sent.name, request.organizationId, signal);
    const { settled } = await this.#entrance.settle(exchange, answer, { ...call, polling });
    if (settled.kind === "unfinished") await this.door.verify(settled.asked, { ...call, unfinished: settled.activity });
    if (settled.kind !== "verified") throw new Error(`${sent.name}: an unverified activity was accepted`);
    const { report, verified } = settled.verified;
    return { ...readVerified<Result>(settled.activity, operation, sent.name), report, verified };
  }

  #pollingOf(operation: string, organizationId: string, signal: Signal | undefined): Polling {
    const { pollIntervalMs = 500, pollAttempts = 40 } = this.#options;
    const options = { organizationId, ...(signal && { signal }) };
    const ask = async (activityId: string): Promise<ReadAnswer> => {
      try {
        await this.#transport.sleep(pollIntervalMs, signal ?? new AbortController().signal);
        const operation = { name: "get_activity", numbers: "literal" } as const;
        return answerOfLiterals(await query(this.#transport, operation, { activityId }, options));
      } catch (error) {
        throw error instanceof ClientError ? activityEvidenceError(error, { operation, activityId }) : error;
      }
    };
    return { attempts: pollAttempts, ask };
  }

  async verifyPast(input: unknown, given: VerifyActivityOptions = {}): Promise<VerifiedCall<JsonValue>> {
    const options = typedOptions("options", given, { ...CALL_OPTIONS, expected: demand(plain) });
    const expected = expectedOf(options, this.#transport.organizationId);
    const { value, faults } = answerOfInput(input);
    const past = { value: unwrapAlone(value, "activity") as JsonValue, faults: [...faults, ...besideFaults(value)] };
    const asked = askedOfPast(this.door.bindings, past, expected);
    const { activity, report, verified } = await this.door.verify(asked, { query: this.query, signal: options.signal });
    return { ...readVerified<JsonValue>(activity, operationOfType(activity), null), report, verified };
  }

  addresses(given: AddressesOptions = {}): AsyncIterable<AddressRow> {
    const options = typedOptions("options", given, ADDRESSES_OPTIONS);
    requireDerivationPolicy(this.door.policy);
    const source = { now: this.door.now, query: this.query, sleep: this.#transport.sleep };
    const organizationIds = [options.organizationId ?? this.#transport.organizationId];
    const pieces = collectAddresses(source, { ...options, organizationIds });
    return this.#rows(options, pieces);
  }

  async *#rows(options: AddressesOptions, pieces: AsyncIterable<AddressPiece>): AsyncGenerator<AddressRow> {
    const tables = joinPieces(pieces, { ...options, ...(await verificationOf(this.door)) });
    for await (const { rows, unplaced } of tables) {
      if (unplaced.length > 0 && options.accept?.includes(UNPLACED) !== true)
        throw new RejectedAddressesError("addresses", [], unplaced);
      yield* rows;
    }
  }
}

/** Returns what an activity must match. Throws TypeError if the options name two different organizations. */
function expectedOf({ organizationId, expected: given = {} }: VerifyActivityOptions, own: string): ExpectedOfOwner {
  const expected = ownExpected(given);
  const named = expected.organizationId ?? organizationId ?? own;
  if ((organizationId ?? named) !== named) throw new TypeError("organizationId and expected.organizationId differ");
  return { ...expected, organizationId: named };
}

function operationOfType(activity: JsonValue): SubmitOperation | null {
  const type = isJsonObject(activity) ? activity["type"] : undefined;
  return Object.values(SUBMIT_OPERATIONS).find((operation) => operation.type === type) ?? null;
}

/** Reads a verified result. Throws {@link ClientError} (`answer`) if it does not match the documented shape. */
function readVerified<Result>(
  activity: JsonValue,
  operation: SubmitOperation | null,
  sent: string | null,
): { activity: ActivityJson; result: Result } {
  const name = sent ?? operation?.name ?? "activity";
  const effect = sent === null ? "none" : "unknown";
  const whole = readShape(activitySchema, activity, "activity");
  if (whole.value === undefined) throw answerError(name, whole.faults, effect);
  const outcome = soleMember(outcomeOf(activity as JsonObject).result) ?? null;
  if (operation === null) return { activity: whole.value, result: outcome as Result };
  const result = readShape(operation.result, outcome, "activity.result");
  if (result.value === undefined) throw answerError(name, result.faults, effect);
  return { activity: whole.value, result: result.value as Result };
}
