/** Activities: new ones, those of a new lab's wallets that nobody submitted, and those of many accounts at once. */
import { randomUUID } from "node:crypto";
import { type MembersOf, nonEmptyText, optional, wholeNumber } from "../decode/shapes.js";
import { toHex, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { addressDerivationPayload, policyOutcomePayload } from "./enclave.js";
import { fingerprintOf } from "./fingerprint.js";
import type { Fleet } from "./fleet.js";
import { provenAddresses } from "./new-keys.js";
import { LAB_OPERATIONS } from "./operations.js";
import { sha256 } from "./qos.js";
import type { LabOperation, Outcome } from "./call.js";
import type { ActivityRecord, Wallet } from "./records.js";
import type { Transaction } from "./state.js";
import { timestamp } from "./timestamp.js";

export interface PastSources {
  readonly tx: Transaction;
  readonly fleet: Fleet;
  readonly now: Date;
}

interface Submitted {
  readonly organizationId: string;
  readonly userId: string;
  readonly operation: LabOperation;
  readonly parameters: JsonObject;
}

/** Returns an activity that waits for votes. */
export function newActivity(
  organizationId: string,
  { type, intentMember }: Pick<LabOperation, "type" | "intentMember">,
  { parameters, body, timestampMs, now }: Request,
): ActivityRecord["activity"] {
  const milliseconds = String(now.getTime());
  return {
    id: randomUUID(),
    organizationId,
    status: "ACTIVITY_STATUS_CONSENSUS_NEEDED",
    type,
    timestampMs: timestampMs ?? milliseconds,
    intent: { [intentMember]: parameters },
    result: {},
    votes: [],
    fingerprint: fingerprintOf(body),
    canApprove: true,
    canReject: true,
    createdAt: milliseconds,
    updatedAt: milliseconds,
  };
}

interface Request {
  readonly parameters: JsonObject;
  readonly body: Uint8Array;
  readonly timestampMs?: string;
  readonly now: Date;
}

/** Adds a completed activity with app proofs. Returns its id. */
export function putPastActivity(
  { tx, fleet, now }: PastSources,
  { organizationId, userId, operation, parameters }: Submitted,
  { result, addresses = [] }: Outcome,
): string {
  const decision = fleet.appProof("policy-engine", (at) => policyOutcomePayload(at, organizationId), tx);
  const derived = addresses.map((facts) => fleet.appProof("signer", (at) => addressDerivationPayload(at, facts), tx));
  const body = toUtf8(randomUUID());
  const activity = {
    ...newActivity(organizationId, operation, { parameters, body, now }),
    ...{ status: "ACTIVITY_STATUS_COMPLETED", canApprove: false, canReject: false },
    result: { [operation.resultMember]: result },
    appProofs: [decision, ...derived],
  };
  const request = { userId, operation: operation.name, parameters, generateAppProofs: true };
  tx.put("activities", activity.id, { activity, ...request });
  return activity.id;
}

export interface ManyAccounts {
  readonly count: number;
  /** The number of accounts of each activity. Default: 100. */
  readonly perActivity?: number;
  /** Default: the lab's organization. */
  readonly organizationId?: string;
}

export const MANY_ACCOUNTS: MembersOf<ManyAccounts> = {
  count: wholeNumber(1),
  perActivity: optional(wholeNumber(1, 100)),
  organizationId: optional(nonEmptyText),
};

export const ETHEREUM = { curve: "CURVE_SECP256K1", addressFormat: "ADDRESS_FORMAT_ETHEREUM" } as const;

/**
 * Adds a wallet, and activities that made its accounts with proofs of the running enclaves. Its addresses are hashes
 * instead of keys, which are slow to derive, so it cannot sign. Returns the wallet's id. Throws RangeError for an
 * unknown organization.
 */
export function putManyAccounts(
  sources: PastSources,
  { count, perActivity = 100, organizationId }: ManyAccounts & { readonly organizationId: string },
): string {
  const { tx, now } = sources;
  const [userId] = tx.get("organizations", organizationId)?.rootUserIds ?? [];
  if (userId === undefined) throw new RangeError(`there is no organization ${organizationId}`);
  const walletId = randomUUID();
  const accounts = Array.from({ length: count }, (_, index): Wallet["accounts"][number] => ({
    ...ETHEREUM,
    path: `m/44'/60'/0'/0/${index}`,
    address: `0x${toHex(sha256(toUtf8(`${walletId} ${index}`))).slice(0, 40)}`,
    walletAccountId: randomUUID(),
    createdAt: timestamp(now),
  }));
  const wallet = { organizationId, walletId, walletName: `${count} accounts` };
  tx.put("wallets", walletId, { ...wallet, accounts, createdAt: timestamp(now) });
  for (let start = 0; start < count; start += perActivity) {
    const made = accounts.slice(start, start + perActivity);
    const requested = made.map(({ path }) => ({ ...ETHEREUM, pathFormat: "PATH_FORMAT_BIP32", path }));
    const { addresses, proven } = provenAddresses({ ...wallet, accounts: made });
    const [operation, parameters, result] =
      start === 0
        ? [LAB_OPERATIONS.createWallet, { walletName: wallet.walletName }, { walletId, addresses }]
        : [LAB_OPERATIONS.createWalletAccounts, { walletId }, { addresses }];
    const submitted = { organizationId, userId, operation, parameters: { ...parameters, accounts: requested } };
    putPastActivity(sources, submitted, { result, addresses: proven });
  }
  return walletId;
}
