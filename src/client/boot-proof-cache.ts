/** Boot proofs by ephemeral key. Concurrent callers share one fetch; size and age are limited. */
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
  /** The key by which it was fetched: 130 bytes in hex. */
  readonly key: string;
  /** Raw if verification rejected it. */
  readonly evidence: VerifiedBootProof | JsonValue;
  readonly verified: VerifiedBootProof | null;
}

/** Verification compares the attested key with the one by which it was fetched. */
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
  /** Limit of entries; the least recently used goes first. */
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
   * By a key as app proofs name it, in lower-case hex. Of a signing half only the remembered one, else null: the
   * service looks up whole keys.
   */
  async find(named: string, query = this.#setting.source.query): Promise<FetchedBootProof | null> {
    const key = named.length === 2 * P256_POINT_LENGTH ? this.rememberedKey(named) : named;
    return key === null ? null : this.get(key, query);
  }

  /** The key is lower-case hex; null if the service has none. Concurrent callers share the query of the first. */
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
   * The key of a verified boot proof with this signing half, both in lower-case hex; null without one. Sends nothing.
   * Unverified keys do not count: an app proof can name any encryption half before a genuine signing half. Null, too,
   * if boot proofs of several keys have it: their order must not decide.
   */
  rememberedKey(signingHalf: string): string | null {
    const known = [...this.#entries].filter(([, { isVerified }]) => isVerified).map(([key]) => key);
    const [key, ...others] = known.filter((each) => each.endsWith(signingHalf));
    return others.length > 0 ? null : (key ?? null);
  }

  /** The next call fetches anything else again. */
  #forgetUnlessVerified(key: string, entry: Entry): void {
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.fetched.then((fetched) => {
      if (fetched?.verified) entry.isVerified = true;
      else forget();
    }, forget);
  }

  /** Ignores the caller's signal: another caller may wait for the same key. */
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
