/** Submitted requests by the id of the activity that answered them, within bounds. */
import { jsonKey } from "../decode/json.js";
import type { SentRequest } from "./request.js";

export interface KeptRequest extends SentRequest {
  /** Whether app proofs were requested. */
  readonly isProven: boolean;
}

export interface KeptBounds {
  readonly limit: number;
  /** Characters of all requests together. */
  readonly maxSize: number;
  readonly maxAgeMs: number;
}

const DEFAULTS: KeptBounds = { limit: 20_000, maxSize: 64 * 1024 * 1024, maxAgeMs: 24 * 3_600_000 };

interface Entry {
  readonly request: KeptRequest;
  readonly key: string;
  readonly since: number;
}

/** Forgets the oldest first. A forgotten id is one that was never seen. */
export class KeptRequests {
  readonly #now: () => Date;
  readonly #bounds: KeptBounds;
  readonly #entries = new Map<string, Entry>();
  #size = 0;

  constructor(now: () => Date, bounds: Partial<KeptBounds> = {}) {
    this.#now = now;
    this.#bounds = { ...DEFAULTS, ...bounds };
  }

  get(activityId: string): KeptRequest | null {
    const entry = this.#entries.get(activityId);
    if (entry === undefined) return null;
    if (!this.#isOld(entry)) return entry.request;
    this.#forget(activityId, entry);
    return null;
  }

  /**
   * False, and nothing changes, if another request has this id: the service chooses ids, and must not replace what an
   * activity is compared with. A request that was once proven stays so.
   */
  keep(activityId: string, request: KeptRequest): boolean {
    const key = requestKey(request);
    const known = this.get(activityId);
    if (known !== null && requestKey(known) !== key) return false;
    if (known !== null && (known.isProven || !request.isProven)) return true;
    if (known !== null) this.#forget(activityId, this.#entries.get(activityId)!);
    this.#entries.set(activityId, { request, key, since: this.#now().getTime() });
    this.#size += activityId.length + key.length;
    this.#trim();
    return true;
  }

  #trim(): void {
    for (const [id, entry] of this.#entries) {
      const isFull = this.#entries.size > this.#bounds.limit || this.#size > this.#bounds.maxSize;
      if (!isFull && !this.#isOld(entry)) return;
      this.#forget(id, entry);
    }
  }

  #isOld({ since }: Entry): boolean {
    const age = this.#now().getTime() - since;
    return age < 0 || age > this.#bounds.maxAgeMs;
  }

  #forget(activityId: string, { key }: Entry): void {
    this.#entries.delete(activityId);
    this.#size -= activityId.length + key.length;
  }
}

function requestKey({ organizationId, type, parameters, requestedAt }: SentRequest): string {
  return jsonKey([organizationId, type, parameters, requestedAt]);
}
