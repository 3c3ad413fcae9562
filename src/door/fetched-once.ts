/** Fetched values by name. Calls at once share one fetch, and what is kept has limits of number and total size. */

interface Fetched<V> {
  readonly value: V;
  /** About the bytes of the value. Null: it is not kept, and the next call fetches again. */
  readonly size: number | null;
}

/** All values of one memory together, in bytes. */
const MAX_SIZE = 16 * 1024 * 1024;

export class FetchedOnce<V> {
  readonly #limit: number;
  readonly #kept = new Map<string, Fetched<V>>();
  readonly #pending = new Map<string, { readonly under: unknown; readonly value: Promise<V> }>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Names of what is kept. */
  names(): string[] {
    return [...this.#kept.keys()];
  }

  /** Returns what is kept if it is usable, or fetches it. Calls at once share a fetch if `under` is the same. */
  async of(
    name: string,
    fetch: () => Promise<Fetched<V>>,
    { under, isUsable }: { readonly under: unknown; readonly isUsable: (kept: V) => boolean } = ALWAYS,
  ): Promise<V> {
    const kept = this.#kept.get(name);
    if (kept !== undefined && isUsable(kept.value)) return this.#keep(name, kept);
    const known = this.#pending.get(name);
    if (known?.under === under) return known!.value;
    const value = fetch().then((fetched) => (fetched.size === null ? fetched.value : this.#keep(name, fetched)));
    const pending = { under, value };
    this.#pending.set(name, pending);
    try {
      return await value;
    } finally {
      if (this.#pending.get(name) === pending) this.#pending.delete(name);
    }
  }

  /** Keeps a value as the one that was used last. */
  #keep(name: string, fetched: Fetched<V>): V {
    this.#drop(name);
    this.#kept.set(name, fetched);
    this.#size += fetched.size!;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limit && this.#size <= MAX_SIZE) break;
      this.#drop(oldest);
    }
    return fetched.value;
  }

  #drop(name: string): void {
    this.#size -= this.#kept.get(name)?.size ?? 0;
    this.#kept.delete(name);
  }
}

const ALWAYS = { under: null, isUsable: (): boolean => true };
