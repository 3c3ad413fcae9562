/** Boot proofs by ephemeral key: each fetched once, however many callers ask, and remembered within a bound and an age. */
import type { JsonValue } from "../decode/json.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import { type AskService, fetchBootProof } from "./evidence.js";
import { query } from "./requests.js";
import type { Transport } from "./transport.js";

/** What the service answered for a key, for its callers to verify; or what one of them verified before. */
export interface FetchedBootProof {
  readonly evidence: VerifiedBootProof | JsonValue;
}

interface Entry {
  readonly since: number;
  /** What one of the callers verified. */
  verified: FetchedBootProof | null;
  /** While it is under way. */
  fetched: Promise<FetchedBootProof | null> | null;
  /** Afterwards, as long as a caller has it: an answer that nobody verifies any more is not kept, for it may be large. */
  answer: WeakRef<FetchedBootProof> | null;
}

export class BootProofMemory {
  readonly #transport: Transport;
  readonly #limit: number;
  readonly #maxAgeMs: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor(transport: Transport, bounds: { readonly limit: number; readonly maxAgeMs: number }) {
    this.#transport = transport;
    this.#limit = bounds.limit;
    this.#maxAgeMs = bounds.maxAgeMs;
  }

  /**
   * The boot proof of a key in lower-case hex; null where the service says that it has none. Its caller verifies it, and
   * tells {@link settle} what came of it.
   */
  async get(key: string): Promise<FetchedBootProof | null> {
    const now = this.#transport.now().getTime();
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const isFresh = known !== undefined && now >= known.since && now - known.since <= this.#maxAgeMs;
    const held = isFresh ? (known.verified ?? known.fetched ?? known.answer?.deref()) : undefined;
    const entry = isFresh && held !== undefined ? known : { since: now, verified: null, fetched: null, answer: null };
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value!);
    return held ?? this.#fetch(key, entry);
  }

  /**
   * Tells what a caller made of what it got: null where it was rejected. Only what was verified is remembered: the next
   * call asks again for everything else.
   */
  settle(key: string, fetched: FetchedBootProof, verified: VerifiedBootProof | null): void {
    const entry = this.#entries.get(key);
    if (entry?.answer?.deref() !== fetched) return;
    if (verified === null) this.#entries.delete(key);
    else Object.assign(entry, { verified: { evidence: verified }, answer: null });
  }

  /** Without the signal of the caller: another caller may be waiting for the same key. */
  #fetch(key: string, entry: Entry): Promise<FetchedBootProof | null> {
    const ask: AskService = (name, parameters) => query(this.#transport, { name }, parameters);
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.fetched = fetchBootProof(ask, key).then((answer) => {
      entry.fetched = null;
      if (answer === null) return null;
      const fetched = { evidence: answer };
      entry.answer = new WeakRef(fetched);
      return fetched;
    });
    entry.fetched.then((fetched) => fetched === null && forget(), forget);
    return entry.fetched;
  }
}
