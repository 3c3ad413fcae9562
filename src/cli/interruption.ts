/** Ctrl-C, or a polite end by another process. */

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * npx and others hand Ctrl-C on to a process that the terminal has told of it already: what comes in this time is one.
 */
const SAME_MS = 1000;

/** Is told once, so that who is in a hurry may say it twice. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #listener = (): void => {
    if (!this.signal.aborted) setTimeout(() => this.#ignore(), SAME_MS).unref();
    this.#controller.abort();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  /** Aborted when it comes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves when it comes. */
  get comes(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      this.signal.addEventListener("abort", () => resolve());
    });
  }

  /** After it came, the rest of it may still be on its way. */
  forget(): void {
    if (!this.signal.aborted) this.#ignore();
  }

  #ignore(): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}
