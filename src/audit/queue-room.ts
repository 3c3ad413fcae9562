/**
 * Limits how many bytes of jobs may be at a server at once. The limit falls where the server refuses some, and rises
 * with each answer.
 */
export class QueueRoom {
  readonly #most: number;
  #limit: number;
  #used = 0;
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** Resolves when there is room. One job always has some. */
  async enter(bytes: number): Promise<void> {
    while (this.#used > 0 && this.#used + bytes > this.#limit)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#used += bytes;
  }

  leave(bytes: number): void {
    this.#used -= bytes;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Returns whether more than `bytes` of jobs are at the server, and more than should be. */
  isOver(bytes: number): boolean {
    return this.#used > this.#limit && this.#used > bytes;
  }

  /** Lowers the limit after the server refused a job. */
  shrink(): void {
    this.#limit = this.#used / 2;
  }

  grow(bytes: number): void {
    this.#limit = Math.min(this.#most, this.#limit + bytes);
  }
}
