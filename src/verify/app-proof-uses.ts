/** Memory of used app proofs. App proofs name no activity, so each may be used for one activity only. */
import { toHex } from "../bytes.js";
import { isJsonObject } from "../decode/json.js";
import type { VerifiedAppProof } from "./app-proof.js";
import type { Expectation } from "./expectation.js";

export interface UsedFor {
  readonly activityId: string;
  /** Text that identifies the submitted request, or null if the activity was read by its id. */
  readonly submitted: string | null;
  /** The submitted request, and when its call began ({@link nextEvent}). Null for what no call of this process is. */
  readonly call?: { readonly began: number; readonly request: Expectation } | null;
}

interface Use extends Pick<UsedFor, "activityId" | "submitted"> {
  /** When a call that asks for the account of the proof had ended. Null for every other use. */
  readonly ended: number | null;
}

let events = 0;

/** Returns the order of an event in this process. A clock could not order calls within a millisecond. */
export function nextEvent(): number {
  return ++events;
}

const DEFAULT_LIMIT = 4096;

/** Remembers the activities that verified app proofs were used for. Forgets the oldest first. */
export class AppProofUses {
  readonly #limit: number;
  readonly #uses = new Map<string, Use>();

  /** `limit` is the number of remembered app proofs. Throws TypeError if it is below 1. */
  constructor(limit: number = DEFAULT_LIMIT) {
    if (!Number.isInteger(limit) || limit < 1) throw new TypeError("limit: expected a whole number of 1 or more");
    this.#limit = limit;
  }

  /** Whether no proof was used for another activity. */
  areFree(proofs: readonly VerifiedAppProof[], use: UsedFor): boolean {
    const asks = askingFor(use);
    return proofs.filter(isCounted).every((proof) => {
      const known = this.#uses.get(nameOf(proof));
      return known === undefined || isSame(known, use) || (asks(proof) && isAtOnce(known, use));
    });
  }

  record(proofs: readonly VerifiedAppProof[], given: UsedFor): void {
    const own = { ...given };
    const { activityId, submitted } = own;
    const [now, asks] = [nextEvent(), askingFor(own)];
    for (const proof of proofs.filter(isCounted)) {
      const name = nameOf(proof);
      const use = { activityId, submitted, ended: asks(proof) ? now : null };
      const known = this.#uses.get(name);
      this.#uses.set(name, known === undefined ? use : whole(known, use));
      if (this.#uses.size > this.#limit) this.#uses.delete(this.#uses.keys().next().value!);
    }
  }
}

/** Adds the request of an activity that was first read by its id, and the id of one that a sign-up did not name. */
function whole(known: Use, { activityId, submitted }: Use): Use {
  return { ...known, activityId: known.activityId || activityId, submitted: known.submitted ?? submitted };
}

/** Whether both uses are by the same activity. Requests are compared first, because the service chooses ids. */
function isSame(known: Use, use: UsedFor): boolean {
  if (known.submitted !== null && use.submitted !== null) return known.submitted === use.submitted;
  // A sign-up has no id, and its activity may be read later.
  if (known.activityId === "" && use.submitted === null) return true;
  return known.activityId === use.activityId;
}

/**
 * Whether calls at once ask for the account of the proof: an enclave signs equal proofs for both within a millisecond.
 * For what makes a wallet, a key or an organization, two customers would share one address.
 */
function isAtOnce({ ended }: Use, { call }: UsedFor): boolean {
  return ended !== null && call!.began < ended;
}

const ACCOUNTS = /^ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS(?:_V[0-9]+)?$/;

/** Returns whether the request, as it was submitted, names organization, wallet and path of a proof. */
function askingFor({ call, submitted }: UsedFor): (proof: VerifiedAppProof) => boolean {
  if (!call || submitted === null || !ACCOUNTS.test(call.request.type ?? "")) return () => false;
  const { organizationId, parameters } = call.request;
  const { walletId = null, accounts } = parameters ?? {};
  const paths = new Set(Array.isArray(accounts) ? accounts.map((each) => isJsonObject(each) && each["path"]) : []);
  return ({ payload: { addressDerivationProof: proof } }) =>
    proof?.derivationPath !== undefined &&
    proof.organizationId === organizationId &&
    proof.walletId === walletId &&
    paths.has(proof.derivationPath);
}

/** Identifies a proof by key and payload, not by its signature, because a payload can have many valid signatures. */
function nameOf({ bootProof, payloadDigest }: VerifiedAppProof): string {
  return `${toHex(bootProof.ephemeralKey)}:${toHex(payloadDigest)}`;
}

/** Whether uses of the proof are recorded: not without a time, since two honest activities may have equal payloads. */
function isCounted({ payload }: VerifiedAppProof): boolean {
  return payload.timestampMs !== null;
}
