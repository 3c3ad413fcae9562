/** Ctrl-C, or a polite end by another process. */

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Is told once, so that who is in a hurry may say it twice. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #listener = (): void => {
    this.forget();
    this.#controller.abort();
  };

  constructor() {
    for (const signal of SIGNALS) process.once(signal, this.#listener);
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

  forget(): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}
