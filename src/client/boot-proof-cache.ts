/** Boot proofs by ephemeral key. Concurrent callers share one fetch, and size and age are limited. */
import { fromHex } from "../bytes.js";
import { NamedEvidence, verifyBootProof } from "../bootproof.js";
import type { Policy } from "../appraise/policy.js";
import type { JsonValue } from "../decode/json.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { SignatureCache } from "../verify/signature-cache.js";
import type { Builds } from "./builds.js";
import { type AskService, type EvidenceSource, fetchBootProof } from "./evidence.js";

export interface FetchedBootProof {
  /** The key by which the boot proof was fetched: 130 bytes in hex. */
  readonly key: string;
  /** The verified boot proof, or the fetched JSON value if verification rejected it. */
  readonly evidence: VerifiedBootProof | JsonValue;
  readonly verified: VerifiedBootProof | null;
}

/** Names boot proofs by their keys, because verification compares each attested key with the one that was asked for. */
export function namedBootProofs(fetched: readonly FetchedBootProof[]): NamedEvidence[] {
  return fetched.map(({ key, evidence }) => new NamedEvidence(null, evidence, { ephemeralKey: fromHex(key)! }));
}

/** What a verification uses from beginning to end, even if a signed policy changes meanwhile. */
export interface HeldPolicy {
  readonly policy: Policy;
  readonly builds: Builds;
}

interface Entry {
  readonly since: number;
  /** The policy under which it was verified. Another one may have other trust anchors. */
  readonly policy: Policy;
  readonly fetched: Promise<FetchedBootProof | null>;
  /** Whether a boot proof of this key was verified, under this policy or the one before. */
  isVerified: boolean;
}

interface CacheSetting {
  readonly source: EvidenceSource;
  readonly signatures: SignatureCache;
  /** Limit of entries. Over the limit, the least recently used one is dropped. */
  readonly limit: number;
  readonly maxAgeMs: number;
}

export class BootProofCache {
  readonly #setting: CacheSetting;
  readonly #entries = new Map<string, Entry>();

  constructor(setting: CacheSetting) {
    this.#setting = setting;
  }

  /**
   * Finds a boot proof by the key of an app proof, in lower-case hex. For a signing half it resolves to a cached boot
   * proof only, or to null, because the service finds boot proofs by whole keys.
   */
  async find(named: string, held: HeldPolicy, query: EvidenceSource["query"]): Promise<FetchedBootProof | null> {
    const key = named.length === 2 * P256_POINT_LENGTH ? this.rememberedKey(named) : named;
    return key === null ? null : this.get(key, held, query);
  }

  /**
   * Returns a boot proof by its whole key in lower-case hex. Resolves to null if the service has none. Concurrent
   * callers under one policy share one query.
   */
  get(key: string, held: HeldPolicy, query = this.#setting.source.query): Promise<FetchedBootProof | null> {
    const { source, limit, maxAgeMs } = this.#setting;
    const now = source.now().getTime();
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const isFresh = known?.policy === held.policy && now >= known.since && now - known.since <= maxAgeMs;
    const isVerified = known?.isVerified === true;
    const entry = isFresh
      ? known
      : { since: now, policy: held.policy, fetched: this.#fetch(key, held, query), isVerified };
    this.#entries.set(key, entry);
    if (this.#entries.size > limit) this.#entries.delete(this.#entries.keys().next().value!);
    if (entry !== known) this.#forgetUnlessVerified(key, entry);
    return entry.fetched;
  }

  /**
   * Returns the key with this signing half, both in lower-case hex, without a query. Null unless exactly one verified
   * boot proof in the cache has it: with several, their order would decide. Unverified boot proofs are ignored, because
   * an app proof can put any encryption half before a genuine signing half.
   */
  rememberedKey(signingHalf: string): string | null {
    const known = [...this.#entries].filter(([, { isVerified }]) => isVerified).map(([key]) => key);
    const [key, ...others] = known.filter((each) => each.endsWith(signingHalf));
    return others.length > 0 ? null : (key ?? null);
  }

  /** Removes the entry unless its boot proof is verified. The next call then fetches it again. */
  #forgetUnlessVerified(key: string, entry: Entry): void {
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.fetched.then((fetched) => {
      if (fetched?.verified) entry.isVerified = true;
      else forget();
    }, forget);
  }

  /**
   * Fetches and verifies a boot proof. No caller's signal aborts the fetch, because another caller may wait for the
   * same key.
   */
  async #fetch(
    key: string,
    { policy, builds }: HeldPolicy,
    query: EvidenceSource["query"],
  ): Promise<FetchedBootProof | null> {
    const queryService: AskService = (name, parameters) => query(name, parameters, {});
    const answer = await fetchBootProof(queryService, key);
    if (answer === null) return null;
    const { source, signatures: cache } = this.#setting;
    const options = { policy, now: source.now(), cache, ephemeralKey: fromHex(key)!, ...builds.options };
    const { bootProof } = await verifyBootProof(answer, options);
    return { key, evidence: bootProof ?? answer, verified: bootProof };
  }
}
