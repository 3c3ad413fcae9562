/** Handles Ctrl-C and SIGTERM, and SIGHUP, which does not end a watch. */

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** The time in which two signals are one: npx and others forward a Ctrl-C that the terminal has also sent. */
const SAME_MS = 1000;

/** Handles only the first interruption. A second one ends the process at once. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #listener = (): void => {
    if (!this.signal.aborted) setTimeout(() => this.#ignore(), SAME_MS).unref();
    this.#controller.abort();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves on interruption. */
  get comes(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      this.signal.addEventListener("abort", () => resolve());
    });
  }

  /** Stops listening, but not after an interruption, since a forwarded second signal may still arrive. */
  forget(): void {
    if (!this.signal.aborted) this.#ignore();
  }

  #ignore(): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}

/** Handles SIGHUP, which ends a process without a listener. */
export class Hangup {
  #isDue = false;
  #isRunning = false;
  #act: (() => Promise<void>) | null = null;
  readonly #listener = (): void => {
    this.#isDue = true;
    void this.#run();
  };

  constructor() {
    process.on("SIGHUP", this.#listener);
  }

  /**
   * Calls `act`, which never rejects, for each signal in turn, also for an earlier one. Returns a function that ends
   * this.
   */
  each(act: () => Promise<void>): () => void {
    this.#act = act;
    void this.#run();
    return () => (this.#act = null);
  }

  forget(): void {
    process.off("SIGHUP", this.#listener);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isDue && this.#act !== null) {
      this.#isDue = false;
      await this.#act();
    }
    this.#isRunning = false;
  }
}
