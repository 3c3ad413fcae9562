/** App proofs name no activity, so each may be used for one activity only. */
import { toHex } from "../bytes.js";
import type { VerifiedAppProof } from "./app-proof.js";

export interface UsedFor {
  readonly activityId: string;
  /** Key of the submitted request; null if the activity was read by its id. */
  readonly submitted: string | null;
}

const DEFAULT_LIMIT = 4096;

/** Remembers what verified app proofs were used for. Forgets the oldest first. */
export class AppProofUses {
  readonly #limit: number;
  readonly #uses = new Map<string, UsedFor>();

  /** `limit`: number of app proofs. Throws TypeError below 1. */
  constructor(limit: number = DEFAULT_LIMIT) {
    if (!Number.isInteger(limit) || limit < 1) throw new TypeError("limit: a whole number of 1 or more wanted");
    this.#limit = limit;
  }

  /** Whether no proof was used for another activity. */
  areFree(proofs: readonly VerifiedAppProof[], use: UsedFor): boolean {
    return proofs.every((proof) => {
      const known = this.#uses.get(nameOf(proof));
      return known === undefined || isSame(known, use);
    });
  }

  record(proofs: readonly VerifiedAppProof[], { activityId, submitted }: UsedFor): void {
    const use = { activityId, submitted };
    for (const name of proofs.map(nameOf)) {
      const known = this.#uses.get(name);
      // An activity that was first read by its id may turn out to be the response to a request.
      this.#uses.set(name, known === undefined ? use : { ...known, submitted: known.submitted ?? use.submitted });
      if (this.#uses.size > this.#limit) this.#uses.delete(this.#uses.keys().next().value!);
    }
  }
}

/** Compares requests first: the service chooses ids. */
function isSame(known: UsedFor, use: UsedFor): boolean {
  if (known.submitted !== null && use.submitted !== null) return known.submitted === use.submitted;
  return known.activityId === use.activityId;
}

/** Without `s`: both values of `s` are valid for one signature. */
function nameOf({ bootProof, signature }: VerifiedAppProof): string {
  return `${toHex(bootProof.ephemeralKey)}:${toHex(signature.subarray(0, signature.length / 2))}`;
}
