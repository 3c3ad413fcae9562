/** Ticks with losses, and without an answer, after which a server is not waited for. */
const HOPELESS = 8;

/** How many jobs may be at a server at once: fewer where it loses some, more with each answer. */
export class QueueRoom {
  readonly #most: number;
  #size: number;
  #used = 0;
  #losses = 0;
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#size = most;
  }

  /** Resolves with true when there is room. With false: the server loses everything, and one job there is enough. */
  async enter(): Promise<boolean> {
    while (this.#used >= Math.floor(this.#size)) {
      if (this.#losses >= HOPELESS) return false;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#used++;
    return true;
  }

  leave(): void {
    this.#used--;
    this.#wake();
  }

  /** Jobs that are there, and should not be. */
  get excess(): number {
    return Math.max(0, this.#used - Math.floor(this.#size));
  }

  /** One job at least is always there. `isLoss`: data was lost, and not only refused. */
  shrink(isLoss: boolean): void {
    this.#size = Math.max(1, this.#size / 2);
    if (isLoss && ++this.#losses >= HOPELESS) this.#wake();
  }

  grow(): void {
    this.#losses = 0;
    this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
