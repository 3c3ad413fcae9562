import type { Signal } from "../door/platform.js";

/** Places for requests, in the order of those that wait. */
export class Places {
  readonly #ready: () => Promise<void>;
  readonly #limit: (signal: Signal) => Promise<void>;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /**
   * A request begins when `ready` resolves. It gives its place up when `limit` resolves, so that one that hangs does
   * not delay the others.
   */
  constructor(count: number, ready: () => Promise<void>, limit: (signal: Signal) => Promise<void>) {
    [this.#free, this.#ready, this.#limit] = [count, ready, limit];
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === Infinity) return this.#ready().then(work);
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    await this.#ready();
    const limit = new AbortController();
    const done = work().finally(() => limit.abort());
    Promise.race([done, this.#limit(limit.signal)])
      .catch(() => {})
      .then(() => this.#release());
    return done;
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
