/** Classes of the accounts in answers of `list_wallet_accounts` and others (client/README.md, "Addresses"). */
import { ACCEPTABLE_CLASSES, type AcceptableClass, isAcceptedClass } from "../addresses/classes.js";
import type { AddressRow } from "../addresses/join.js";
import { type ListedAccount, readAccounts } from "../addresses/lists.js";
import { requireDerivationPolicy } from "../addresses/verify.js";
import { type NamesRead, collectFoldedNames } from "../decode/folded-names.js";
import { type JsonObject, type JsonValue, folded, isJsonObject } from "../decode/json.js";
import { type MembersOf, flag, list, oneOf, optional } from "../decode/shapes.js";
import { FaultList, attempt, shownName } from "../errors.js";
import type { UnverifiedQuestion } from "../exchange/question.js";
import { comparableAddress } from "../verify/contradictions.js";
import type { ActivityVerifier } from "./activity-verifier.js";
import { type AddressPiece, type BootProofs, collectAddresses, joinPieces, verificationOf } from "./addresses.js";
import { RejectedAddressesError, answerError } from "./errors.js";
import type { EvidenceSource } from "./evidence.js";
import type { Signal } from "./platform.js";

export interface AccountOptions {
  /**
   * Whether accounts in answers to `list_wallet_accounts` and `get_wallet_account` are verified: each must be of the
   * class `derived`, or of one in `accept`. Each such query lists wallets and activities, too. Default: false.
   */
  readonly verifyAddresses?: boolean;
  /** Classes of addresses that are accepted besides `derived`. Default: none. */
  readonly accept?: readonly AcceptableClass[];
}

export const ACCOUNT_OPTIONS: MembersOf<AccountOptions> = {
  verifyAddresses: optional(flag),
  accept: optional(list(oneOf(...ACCEPTABLE_CLASSES))),
};

/** Returns the verifier of accounts, or null if the options do not ask for it. Throws TypeError for useless options. */
export function accountVerifierOf(
  activities: ActivityVerifier,
  { verifyAddresses = false, accept }: AccountOptions,
): AccountVerifier | null {
  if (verifyAddresses) return new AccountVerifier(activities, accept ?? []);
  if (accept !== undefined) throw new TypeError("options.accept: expected verifyAddresses: true beside it");
  return null;
}

interface AccountCall {
  readonly query: EvidenceSource["query"];
  readonly signal?: Signal | undefined;
}

export class AccountVerifier {
  readonly #activities: ActivityVerifier;
  readonly #accept: readonly AcceptableClass[];
  readonly #bootProofs: BootProofs = new Map();

  /** Throws `DerivationPolicyError`. */
  constructor(activities: ActivityVerifier, accept: readonly AcceptableClass[]) {
    requireDerivationPolicy(activities.policy);
    this.#activities = activities;
    this.#accept = accept;
  }

  /**
   * Verifies the accounts in an answer. Does nothing for another query. Rejects with {@link RejectedAddressesError} for
   * accounts that were not requested or are not accepted, and with {@link ClientError} if the answer cannot be read or
   * a list or evidence could not be fetched.
   */
  async verify(question: UnverifiedQuestion, answer: JsonValue, call: AccountCall): Promise<void> {
    const { operation, organizationId, account: wanted } = question;
    if (wanted === undefined) return;
    if (organizationId === null) throw answerError(operation, [{ path: "organizationId", message: "missing" }], "none");
    const accounts = listOf(answer, operation);
    const { value, faults } = attempt(() => readAccounts(accounts, organizationId));
    if (value === undefined) throw answerError(operation, faults, "none");
    const rows = await this.#rowsOf(accounts, value, organizationId, call);
    const judged = value.map((account) => judge(account, rows, wanted));
    const refused = judged.filter((row) => !isAcceptedClass(row.class, this.#accept));
    if (refused.length > 0) throw new RejectedAddressesError(operation, refused);
  }

  /** Returns the rows. If one is contradicted, joins again with all accounts, as another one may explain the proof. */
  async #rowsOf(
    accounts: JsonObject,
    listed: readonly ListedAccount[],
    organizationId: string,
    { query, signal }: AccountCall,
  ): Promise<readonly AddressRow[]> {
    if (listed.length === 0) return [];
    const source = { now: this.#activities.source.now, query };
    const filter = { addresses: listed.map(({ address }) => address), privateKeys: false };
    const options = { ...filter, organizationIds: [organizationId], bootProofs: this.#bootProofs, signal };
    const verification = await verificationOf(this.#activities);
    const join = async (pieces: AsyncIterable<AddressPiece>): Promise<readonly AddressRow[]> => {
      for await (const { rows } of joinPieces(pieces, { ...filter, ...verification })) return rows;
      return [];
    };
    const rows = await join(collectAddresses(source, { ...options, accounts }));
    if (!rows.some((row) => row.class === "contradicted")) return rows;
    return join(withAccounts(accounts, organizationId, collectAddresses(source, options)));
  }
}

async function* withAccounts(
  answer: JsonObject,
  organizationId: string,
  pieces: AsyncIterable<AddressPiece>,
): AsyncGenerator<AddressPiece> {
  yield { kind: "list", organizationId, operation: "list_wallet_accounts", answer, at: Infinity };
  yield* pieces;
}

const ACCOUNT_NAMES: NamesRead = Object.fromEntries(
  ["walletAccountId", "organizationId", "walletId", "path", "address", "addressFormat", "curve"].map((name) => [
    name,
    {},
  ]),
);

/**
 * Returns the accounts of an answer, in the form of `list_wallet_accounts`. Rejects an answer with another member that
 * a decoder may take for one that was judged: {@link ClientError} (`answer`).
 */
function listOf(answer: JsonValue, operation: string): JsonObject {
  const members = isJsonObject(answer) ? answer : {};
  const isOne = operation === "get_wallet_account";
  const [wanted, other] = isOne ? ["account", "accounts"] : ["accounts", "account"];
  const faults = new FaultList();
  collectFoldedNames(members, { [wanted!]: ACCOUNT_NAMES }, { path: "", faults });
  for (const name of Object.keys(members))
    if (folded(name) === other) faults.push({ path: shownName(name), message: `an account beside ${wanted}` });
  if (faults.length > 0) throw answerError(operation, faults, "none");
  return { accounts: isOne ? [members["account"] ?? null] : (members["accounts"] ?? null) };
}

/** Returns the row of an account, and one that is contradicted for an account that was not requested. */
function judge(account: ListedAccount, rows: readonly AddressRow[], wanted: JsonObject): AddressRow {
  const isOf = (row: AddressRow): boolean => SAME.every((name) => row[name] === account[name]);
  const row = rows.find(isOf)!;
  const names = (["walletId", "address", "path"] as const).filter((name) => !isSame(wanted[name], account[name]));
  if (names.length === 0) return row;
  return { ...row, class: "contradicted", reason: `the request names another ${names.join(", ")}` };
}

const SAME = ["walletId", "path", "address", "addressFormat"] as const;

function isSame(wanted: JsonValue | undefined, found: string): boolean {
  return typeof wanted !== "string" || comparableAddress(wanted) === comparableAddress(found);
}
