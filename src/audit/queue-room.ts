/**
 * Limits how many bytes of jobs are at a server at once. The limit falls when the server refuses a job, and rises with
 * each answer.
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

  /** Resolves when there is room. A single job always has room. */
  async enter(bytes: number): Promise<void> {
    while (this.#used > 0 && this.#used + bytes > this.#limit)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#used += bytes;
  }

  leave(bytes: number): void {
    this.#used -= bytes;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Whether the jobs at the server exceed the limit, and a job of this size is not the only one there. */
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
