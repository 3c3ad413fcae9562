/** Handles signals: Ctrl-C and SIGTERM end a command, and SIGHUP makes a watch reload its setting. */

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Milliseconds within which two signals count as one: npx and others forward a Ctrl-C that the terminal has also sent.
 */
const SAME_MS = 1000;

/** Handles the first interruption. A second one ends the process at once. */
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

  /** Resolves when an interruption comes. */
  get comes(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      this.signal.addEventListener("abort", () => resolve());
    });
  }

  /**
   * Removes the handlers. After an interruption they stay a while, since a forwarded second signal may still arrive.
   */
  forget(): void {
    if (!this.signal.aborted) this.#ignore();
  }

  #ignore(): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}

/** Handles SIGHUP. Without a handler, it would end the process. */
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
   * Calls `act` for each signal, one call at a time, even for a signal that came before `each` was called. `act` must
   * not reject. Returns a function that ends the calls.
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
