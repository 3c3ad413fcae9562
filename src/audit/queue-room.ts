/** How many jobs may be at a server at once: fewer where it loses some, more with each answer. */
export class QueueRoom {
  readonly #most: number;
  #size: number;
  #used = 0;
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#size = most;
  }

  /** Resolves when there is room. */
  async enter(): Promise<void> {
    while (this.#used >= Math.floor(this.#size)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#used++;
  }

  leave(): void {
    this.#used--;
    this.#wake();
  }

  /** One job at least is always there. */
  shrink(): void {
    this.#size = Math.max(1, this.#size / 2);
  }

  grow(): void {
    this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
