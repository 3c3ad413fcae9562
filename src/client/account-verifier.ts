/** Classes of the accounts and private keys in answers to queries (client/README.md, "Addresses"). */
import {
  ACCEPTABLE_WORDS,
  type Acceptable,
  UNPLACED,
  type UnplacedKey,
  isAcceptedClass,
} from "../addresses/classes.js";
import type { AddressRow } from "../addresses/join.js";
import { requireDerivationPolicy } from "../addresses/verify.js";
import type { ParsedPolicy } from "../appraise/parsed-policy.js";
import { policyOfCreation } from "../appraise/policy.js";
import type { VerifyOptions } from "../bootproof.js";
import { otherMembers } from "../decode/input.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { callable } from "../decode/options.js";
import { type MembersOf, demand, flag, list, oneOf, optional } from "../decode/shapes.js";
import { attemptLater } from "../errors.js";
import type { JudgedAnswer } from "../exchange/http.js";
import type { UnverifiedQuestion } from "../exchange/question.js";
import { comparableAddress } from "../verify/contradictions.js";
import { type AccountAnswer, type AddressPlace, readAccountAnswer } from "./account-answers.js";
import type { ActivityVerifier } from "./activity-verifier.js";
import { type AddressPiece, collectAddresses, joinPieces, verificationOf } from "./addresses.js";
import { BootProofCache, type HeldPolicy } from "./boot-proof-cache.js";
import { RejectedAddressesError, answerError } from "./errors.js";
import type { AskService, EvidenceSource } from "./evidence.js";
import type { Signal } from "./platform.js";
import { type FindSignUp, signUpPieces } from "./sign-up-evidence.js";
import { untilAborted } from "./transport.js";

export interface AccountOptions {
  /**
   * Whether accounts and private keys in answers to `list_wallet_accounts`, `get_wallet_account`, `list_private_keys`
   * and `get_private_key` are verified: each address must be of the class `derived`, or of one in `accept`. What was
   * not judged is in the member `unverified` of the answer. Each such query lists wallets and activities, too.
   * Default: false.
   */
  readonly verifyAddresses?: boolean;
  /**
   * Classes of addresses that are accepted besides `derived`. `unplaced` accepts addresses although a key was exported
   * or imported that may be theirs, since nothing says in which wallet it is. Default: none.
   */
  readonly accept?: readonly Acceptable[];
  /** Whether all activities are read for it, and not only those of known types. Default: false. */
  readonly allActivities?: boolean;
  /**
   * Finds the kept evidence of an organization's sign-up, for the key of its user, who cannot list the parent's
   * activities. It is verified like all evidence. Default: none.
   */
  readonly signUpEvidence?: FindSignUp;
}

/** Boot proofs alone cannot verify accounts. */
export const NEEDS_CLIENT = "options.evidence: expected a client, since verifyAddresses lists wallets and activities";

export const ACCOUNT_OPTIONS: MembersOf<AccountOptions> = {
  verifyAddresses: demand(flag),
  accept: optional(list(oneOf(...ACCEPTABLE_WORDS))),
  allActivities: demand(flag),
  signUpEvidence: optional(callable),
};

/** Returns the verifier of accounts, or null if the options do not ask for it. Throws TypeError for useless options. */
export function accountVerifierOf(activities: ActivityVerifier, options: AccountOptions): AccountVerifier | null {
  if (options.verifyAddresses === true) return new AccountVerifier(activities, options);
  for (const name of ["accept", "allActivities", "signUpEvidence"] as const)
    if (options[name] !== undefined) throw new TypeError(`options.${name}: expected verifyAddresses: true beside it`);
  return null;
}

interface AccountCall {
  readonly query: EvidenceSource["query"];
  readonly signal?: Signal | undefined;
}

export class AccountVerifier {
  readonly #activities: ActivityVerifier;
  readonly #accept: readonly Acceptable[];
  readonly #allActivities: boolean;
  readonly #findSignUp: FindSignUp;
  readonly #bootProofs: BootProofCache;

  /** Throws `DerivationPolicyError`. */
  constructor(
    activities: ActivityVerifier,
    { accept = [], allActivities = false, signUpEvidence = () => null }: AccountOptions,
  ) {
    requireDerivationPolicy(activities.policy);
    this.#activities = activities;
    this.#accept = accept;
    this.#allActivities = allActivities;
    this.#findSignUp = signUpEvidence;
    // The age of boot proofs is not limited, since proofs of creation are as old as their wallet.
    const options = (held: HeldPolicy): VerifyOptions => otherMembers(activities.options(held), "maxAgeMs");
    this.#bootProofs = new BootProofCache({ source: activities.source, ...activities.limits, options });
  }

  /**
   * Verifies the accounts or private keys in an answer. Resolves to null for another query. Rejects with
   * {@link RejectedAddressesError} for those that were not requested or are not accepted, and with {@link ClientError}
   * if the answer cannot be read or a list or evidence could not be fetched.
   */
  async verify(question: UnverifiedQuestion, answer: JsonValue, call: AccountCall): Promise<JudgedAnswer | null> {
    const { operation, organizationId, account: wanted } = question;
    if (wanted === undefined) return null;
    if (organizationId === null) throw answerError(operation, [{ path: "organizationId", message: "missing" }], "none");
    const { value: read, faults } = await attemptLater(() => readAccountAnswer(answer, operation, organizationId));
    if (read === undefined) throw answerError(operation, faults, "none");
    const { listed, unplaced } = await this.#joined(read, organizationId, call);
    const rows = read.items.flatMap(({ places, isKeyOwn }) =>
      places.map((place) => judge(listed.get(placeKey(place))!, wanted, isKeyOwn)),
    );
    const refused = rows.filter((row) => !isAcceptedClass(row.class, this.#accept));
    const open = this.#accept.includes(UNPLACED) ? [] : unplaced;
    if (refused.length + open.length > 0) throw new RejectedAddressesError(operation, refused, open);
    return { value: read.value, report: { rows } };
  }

  /** Returns the row of each place, joined with the lists and activities of the whole organization. */
  async #joined(
    { list, items }: AccountAnswer,
    organizationId: string,
    { query, signal }: AccountCall,
  ): Promise<{ listed: ReadonlyMap<string, AddressRow>; unplaced: readonly UnplacedKey[] }> {
    const addresses = items.flatMap(({ places }) => places.map(({ address }) => address));
    if (addresses.length === 0) return NONE;
    const filter = { addresses, privateKeys: list.operation === "list_private_keys" };
    const source = { now: this.#activities.source.now, query };
    const { policy, builds } = await this.#activities.begin();
    const held = { policy: policyOfCreation(policy as ParsedPolicy), builds };
    const bootProofOf = async (key: string, ask: AskService): Promise<JsonValue> =>
      JSON.parse((await this.#bootProofs.get(key, held, ask))?.text ?? "null") as JsonValue;
    const all = { organizationIds: [organizationId], allActivities: this.#allActivities };
    const options = { ...filter, ...all, bootProofOf, signal };
    const own = { ...list, kind: "list", organizationId, at: Infinity } as const;
    const ask: AskService = (name, parameters) => query(name, parameters, { organizationId });
    const known = { organizationId, operation: list.operation, bootProofOf: (key: string) => bootProofOf(key, ask) };
    const signUp = await untilAborted(signUpPieces(this.#findSignUp, known), signal);
    const pieces = withFirst([own, ...signUp], collectAddresses(source, options));
    const verification = { ...(await verificationOf(this.#activities)), bootProofs: this.#bootProofs };
    // The worst row comes first, and counts, whatever curve, format and id the answer says.
    for await (const { rows, unplaced } of joinPieces(pieces, { ...filter, ...verification }))
      return { listed: new Map([...rows].reverse().map((row) => [placeKey(row), row])), unplaced };
    return NONE;
  }
}

const NONE = { listed: new Map<string, AddressRow>(), unplaced: [] };

async function* withFirst(
  first: readonly AddressPiece[],
  pieces: AsyncIterable<AddressPiece>,
): AsyncGenerator<AddressPiece> {
  yield* first;
  yield* pieces;
}

function placeKey({ walletId, privateKeyId, path, address }: AddressPlace): string {
  return JSON.stringify([walletId, privateKeyId, path, comparableAddress(address)]);
}

/** Returns the row, or a contradicted one if it was not requested, or if its public key is another one. */
function judge(row: AddressRow, wanted: JsonObject, isKeyOwn: boolean | null): AddressRow {
  const names = (["walletId", "privateKeyId", "address", "path"] as const).filter(
    (name) => !isSame(wanted[name], row[name]),
  );
  const reasons = [
    ...(names.length === 0 ? [] : [`the request names another ${names.join(", ")}`]),
    ...(isKeyOwn === false ? ["its publicKey is that of another address"] : []),
  ];
  return reasons.length === 0 ? row : { ...row, class: "contradicted", reason: reasons.join("; ") };
}

function isSame(wanted: JsonValue | undefined, found: string | null): boolean {
  return typeof wanted !== "string" || comparableAddress(wanted) === comparableAddress(found ?? "");
}
