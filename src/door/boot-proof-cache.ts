/** Verified boot proofs by ephemeral key, with limits of number, total size and age. */
import { fromHex } from "../bytes.js";
import type { VerifyOptions } from "../bootproof.js";
import type { Policy } from "../appraise/policy.js";
import type { JsonValue } from "../decode/json.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import { isAcceptedReport } from "../verification.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { Builds } from "./builds.js";
import type { AskService, Query } from "./evidence-source.js";
import { FetchedOnce } from "./fetched-once.js";
import type * as verifying from "./verifying.js";

export interface FetchedBootProof {
  /** The key by which the boot proof was fetched: 130 bytes in hex. */
  readonly key: string;
  /** The verified boot proof, or the fetched JSON value if verification rejected it. */
  readonly evidence: VerifiedBootProof | JsonValue;
  /** The JSON text as fetched. */
  readonly text: string;
}

/** What a verification uses from beginning to end, even if a signed policy changes meanwhile. */
export interface HeldPolicy {
  readonly policy: Policy;
  readonly builds: Builds;
}

interface Entry {
  /** When its fetch began. */
  readonly since: number;
  /** The policy under which it was verified. Another one may have other trust anchors. */
  readonly policy: Policy;
  readonly fetched: FetchedBootProof | null;
}

export interface CacheLimits {
  /** Limit of boot proofs. Over the limit, the least recently used one is dropped. */
  readonly limit: number;
  /**
   * Limit of their age here, in milliseconds. Policy, age of the document and certificates are checked on every use:
   * this limits how long an answer is used in place of the service's present one.
   */
  readonly maxAgeMs: number;
}

/** Resolves to what fetches and verifies. */
export type Verifying = () => Promise<typeof verifying>;

interface CacheSetting extends CacheLimits {
  readonly verifying: Verifying;
  readonly now: () => Date;
  /** The options of a verification now. A boot proof that they do not accept is not kept, and is fetched again. */
  readonly options: (held: HeldPolicy) => VerifyOptions;
}

export class BootProofCache {
  readonly #setting: CacheSetting;
  readonly #known: FetchedOnce<Entry>;

  constructor(setting: CacheSetting) {
    this.#setting = setting;
    this.#known = new FetchedOnce(setting.limit);
  }

  /**
   * Finds a boot proof by the key of an app proof, in lower-case hex. For a signing half it resolves to a cached boot
   * proof only, or to null, because the service finds boot proofs by whole keys.
   */
  async find(named: string, held: HeldPolicy, query: Query): Promise<FetchedBootProof | null> {
    const key = named.length === 2 * P256_POINT_LENGTH ? this.rememberedKey(named) : named;
    return key === null ? null : this.get(key, held, query);
  }

  /**
   * Returns a boot proof by its whole key in lower-case hex. Resolves to null if the service has none. Concurrent
   * callers under one policy share one query.
   */
  async get(key: string, held: HeldPolicy, query: Query): Promise<FetchedBootProof | null> {
    const { maxAgeMs } = this.#setting;
    const now = this.#setting.now().getTime();
    const isUsable = ({ policy, since }: Entry): boolean =>
      policy === held.policy && now >= since && now - since <= maxAgeMs;
    const under = held.policy;
    const { fetched } = await this.#known.of(key, () => this.#fetch(key, held, query), { under, isUsable });
    return fetched;
  }

  /**
   * Returns the key with this signing half, both in lower-case hex, without a query. Null unless exactly one boot proof
   * in the cache has it: with several, their order would decide. All of them were verified, under this policy or the
   * one before, because an app proof can put any encryption half before a genuine signing half.
   */
  rememberedKey(signingHalf: string): string | null {
    const [key, ...others] = this.#known.names().filter((each) => each.endsWith(signingHalf));
    return others.length > 0 ? null : (key ?? null);
  }

  /**
   * Fetches and verifies a boot proof. No caller's signal aborts the fetch, because another caller may wait for the
   * same key.
   */
  async #fetch(
    key: string,
    held: HeldPolicy,
    query: Query,
  ): Promise<{ readonly value: Entry; readonly size: number | null }> {
    const { now, options, verifying } = this.#setting;
    const [policy, since] = [held.policy, now().getTime()];
    const queryService: AskService = (name, parameters) => query(name, parameters, {});
    const { fetchBootProof, verifyEvidence } = await verifying();
    const answer = await fetchBootProof(queryService, key);
    if (answer === null) return { value: { since, policy, fetched: null }, size: null };
    const { report, bootProofs } = await verifyEvidence(
      { bootProofs: [answer], ...held.builds.evidence },
      { ...options(held), ephemeralKey: fromHex(key)!, bootProofsOnly: true },
    );
    const text = JSON.stringify(answer);
    const fetched = { key, evidence: bootProofs[0] ?? answer, text };
    return { value: { since, policy, fetched }, size: isAcceptedReport(report) ? text.length : null };
  }
}
