/** Memory of used app proofs. App proofs name no activity, so each may be used for one activity only. */
import { toHex } from "../bytes.js";
import type { VerifiedAppProof } from "./app-proof.js";

export interface UsedFor {
  readonly activityId: string;
  /** Text that identifies the submitted request, or null if the activity was read by its id. */
  readonly submitted: string | null;
}

const DEFAULT_LIMIT = 4096;

/** Remembers the activities that verified app proofs were used for. Forgets the oldest first. */
export class AppProofUses {
  readonly #limit: number;
  readonly #uses = new Map<string, UsedFor>();

  /** `limit` is the number of remembered app proofs. Throws TypeError if it is below 1. */
  constructor(limit: number = DEFAULT_LIMIT) {
    if (!Number.isInteger(limit) || limit < 1) throw new TypeError("limit: expected a whole number of 1 or more");
    this.#limit = limit;
  }

  /** Whether no proof was used for another activity. */
  areFree(proofs: readonly VerifiedAppProof[], use: UsedFor): boolean {
    return proofs.filter(isCounted).every((proof) => {
      const known = this.#uses.get(nameOf(proof));
      return known === undefined || isSame(known, use);
    });
  }

  record(proofs: readonly VerifiedAppProof[], { activityId, submitted }: UsedFor): void {
    const use = { activityId, submitted };
    for (const name of proofs.filter(isCounted).map(nameOf)) {
      const known = this.#uses.get(name);
      // An activity first read by its id may later be read as the response to its request. The request is then added.
      this.#uses.set(name, known === undefined ? use : { ...known, submitted: known.submitted ?? use.submitted });
      if (this.#uses.size > this.#limit) this.#uses.delete(this.#uses.keys().next().value!);
    }
  }
}

/** Whether both uses are by the same activity. Requests are compared first, because the service chooses ids. */
function isSame(known: UsedFor, use: UsedFor): boolean {
  if (known.submitted !== null && use.submitted !== null) return known.submitted === use.submitted;
  return known.activityId === use.activityId;
}

/** Identifies a proof by key and payload, not by its signature, because a payload can have many valid signatures. */
function nameOf({ bootProof, payloadDigest }: VerifiedAppProof): string {
  return `${toHex(bootProof.ephemeralKey)}:${toHex(payloadDigest)}`;
}

/** Whether uses of the proof are recorded: not without a time, since two honest activities may have equal payloads. */
function isCounted({ payload }: VerifiedAppProof): boolean {
  return payload.timestampMs !== null;
}
