/**
 * What each app proof stood for. A proof names no activity, so that one and the same would pass for any other of the
 * organization: the time of the request bounds how old it may be, and this, that it stands for one activity only.
 */
import { toHex } from "../bytes.js";
import type { VerifiedAppProof } from "./app-proof.js";

/** An activity: by its id, and by the request that was submitted, where one was. */
export interface UsedFor {
  readonly activityId: string;
  /** Null where the activity was not submitted here, but asked for by its id. */
  readonly submitted: string | null;
}

const DEFAULT_LIMIT = 4096;

/** Remembers, within a bound, what verified app proofs stood for; those that came first are forgotten first. */
export class AppProofUses {
  readonly #limit: number;
  readonly #uses = new Map<string, UsedFor>();

  /** `limit`: how many app proofs are remembered. Throws TypeError below 1. */
  constructor(limit: number = DEFAULT_LIMIT) {
    if (!Number.isInteger(limit) || limit < 1) throw new TypeError("limit: a whole number of 1 or more wanted");
    this.#limit = limit;
  }

  /** Whether none of the proofs stood for another activity. Asking again for the same one is no other use. */
  areFree(proofs: readonly VerifiedAppProof[], use: UsedFor): boolean {
    return proofs.every((proof) => {
      const known = this.#uses.get(nameOf(proof));
      return known === undefined || isSame(known, use);
    });
  }

  /** Remembers what the proofs stood for, where it is not known. */
  record(proofs: readonly VerifiedAppProof[], { activityId, submitted }: UsedFor): void {
    const use = { activityId, submitted };
    for (const name of proofs.map(nameOf)) {
      const known = this.#uses.get(name);
      // Asked for by its id first, and found to be the answer to a request later: from then on it is that request's.
      this.#uses.set(name, known === undefined ? use : { ...known, submitted: known.submitted ?? use.submitted });
      if (this.#uses.size > this.#limit) this.#uses.delete(this.#uses.keys().next().value!);
    }
  }
}

/** The same request, or the same id; two requests are two activities, whatever id the service gives them. */
function isSame(known: UsedFor, use: UsedFor): boolean {
  if (known.submitted !== null && use.submitted !== null) return known.submitted === use.submitted;
  return known.activityId === use.activityId;
}

/** Key and `r` of the signature: whoever turns `s` over has another signature, and no other proof. */
function nameOf({ bootProof, signature }: VerifiedAppProof): string {
  return `${toHex(bootProof.ephemeralKey)}:${toHex(signature.subarray(0, signature.length / 2))}`;
}
