/** Classes of the accounts and private keys in answers to queries (door/README.md, "Accounts"). */
import { type Acceptable, UNPLACED, type UnplacedKey, isAcceptedClass } from "../addresses/classes.js";
import type { AddressRow } from "../addresses/join.js";
import type { ParsedPolicy } from "../appraise/parsed-policy.js";
import { policyOfCreation } from "../appraise/policy.js";
import type { VerifyOptions } from "../bootproof.js";
import { otherMembers } from "../decode/input.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { attemptLater } from "../errors.js";
import { comparableAddress } from "../verify/contradictions.js";
import { type AccountAnswer, type AddressPlace, readAccountAnswer } from "./account-answers.js";
import type { AccountOptions } from "./account-options.js";
import { type AddressPiece, collectAddresses, joinPieces, verificationOf } from "./addresses.js";
import { BootProofCache, type HeldPolicy } from "./boot-proof-cache.js";
import type { Door } from "./door.js";
import type { JudgedAnswer } from "./handed.js";
import { RejectedAddressesError, answerError } from "./errors.js";
import type { AskService, Query } from "./evidence-source.js";
import type { Signal } from "./platform.js";
import type { UnverifiedQuestion } from "./question.js";
import { type FindSignUp, signUpPieces } from "./sign-up-evidence.js";
import { untilAborted } from "./waiting.js";

interface AccountCall {
  readonly query: Query;
  readonly signal?: Signal | undefined;
}

export class AccountVerifier {
  readonly #door: Door;
  readonly #accept: readonly Acceptable[];
  readonly #allActivities: boolean;
  readonly #findSignUp: FindSignUp;
  readonly #bootProofs: BootProofCache;

  constructor(door: Door, { accept = [], allActivities = false, signUpEvidence = () => null }: AccountOptions) {
    this.#door = door;
    this.#accept = accept;
    this.#allActivities = allActivities;
    this.#findSignUp = signUpEvidence;
    // The age of boot proofs is not limited, since proofs of creation are as old as their wallet.
    const options = (held: HeldPolicy): VerifyOptions => otherMembers(door.options(held), "maxAgeMs");
    this.#bootProofs = new BootProofCache({ now: door.now, verifying: door.verifying, ...door.limits, options });
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
    for (const { places, isKeyOwn, publicKey } of read.items)
      if (isKeyOwn === true) for (const { address } of places) this.#door.signers.add(address, publicKey!);
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
    const source = { now: this.#door.now, query };
    const { policy, builds } = await this.#door.begin();
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
    const verification = { ...(await verificationOf(this.#door)), bootProofs: this.#bootProofs };
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
