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
  /** Key by which it was fetched: 130 bytes in hex. */
  readonly key: string;
  /** The verified boot proof, or the fetched JSON value if verification rejected it. */
  readonly evidence: VerifiedBootProof | JsonValue;
  readonly verified: VerifiedBootProof | null;
}

/** Names boot proofs by their keys, because verification compares each attested key with the one that was asked for. */
export function namedBootProofs(fetched: readonly FetchedBootProof[]): NamedEvidence[] {
  return fetched.map(({ key, evidence }) => new NamedEvidence(null, evidence, { ephemeralKey: fromHex(key)! }));
}

interface Entry {
  readonly since: number;
  readonly fetched: Promise<FetchedBootProof | null>;
  isVerified: boolean;
}

interface CacheSetting {
  readonly source: EvidenceSource;
  readonly policy: Policy;
  readonly signatures: SignatureCache;
  readonly builds: Builds;
  /** Most entries. The least recently used is dropped first. */
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
   * Finds a boot proof by a key that an app proof names, in lower-case hex. For a signing half it resolves only to a
   * remembered boot proof, or to null, because the service looks up whole keys.
   */
  async find(named: string, query = this.#setting.source.query): Promise<FetchedBootProof | null> {
    const key = named.length === 2 * P256_POINT_LENGTH ? this.rememberedKey(named) : named;
    return key === null ? null : this.get(key, query);
  }

  /** `key` is lower-case hex. Resolves to null if the service has none. Concurrent callers share the first query. */
  get(key: string, query = this.#setting.source.query): Promise<FetchedBootProof | null> {
    const { source, limit, maxAgeMs } = this.#setting;
    const now = source.now().getTime();
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const isFresh = known !== undefined && now >= known.since && now - known.since <= maxAgeMs;
    const entry = isFresh ? known : { since: now, fetched: this.#fetch(key, query), isVerified: false };
    this.#entries.set(key, entry);
    if (this.#entries.size > limit) this.#entries.delete(this.#entries.keys().next().value!);
    if (entry !== known) this.#forgetUnlessVerified(key, entry);
    return entry.fetched;
  }

  /**
   * Returns the key of the verified boot proof with this signing half, both in lower-case hex, and sends nothing. It is
   * null without such a boot proof, and if several keys have this half: their order must not decide. Unverified keys do
   * not count, because an app proof can name any encryption half before a genuine signing half.
   */
  rememberedKey(signingHalf: string): string | null {
    const known = [...this.#entries].filter(([, { isVerified }]) => isVerified).map(([key]) => key);
    const [key, ...others] = known.filter((each) => each.endsWith(signingHalf));
    return others.length > 0 ? null : (key ?? null);
  }

  /** Removes an entry that is not verified, so that the next call fetches it again. */
  #forgetUnlessVerified(key: string, entry: Entry): void {
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.fetched.then((fetched) => {
      if (fetched?.verified) entry.isVerified = true;
      else forget();
    }, forget);
  }

  /** The caller's signal has no effect, because another caller may wait for the same key. */
  async #fetch(key: string, query: EvidenceSource["query"]): Promise<FetchedBootProof | null> {
    const queryService: AskService = (name, parameters) => query(name, parameters, {});
    const answer = await fetchBootProof(queryService, key);
    if (answer === null) return null;
    const { source, policy, signatures: cache, builds } = this.#setting;
    const options = { policy, now: source.now(), cache, ephemeralKey: fromHex(key)!, ...builds.options };
    const { bootProof } = await verifyBootProof(answer, options);
    return { key, evidence: bootProof ?? answer, verified: bootProof };
  }
}
