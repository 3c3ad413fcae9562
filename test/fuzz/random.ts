/** Chance that can be repeated: the same seed makes the same numbers on every machine (the generator is sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number, salt: string) {
    let hash = 0x811c9dc5 ^ seed;
    for (const char of salt) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
    [this.#a, this.#b, this.#c] = [seed | 0, hash, hash ^ 0x9e3779b9];
    for (let warm = 0; warm < 16; warm++) this.next();
  }

  /** 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#count++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** From 0 up to, and not including, `end`; 0 where that is 0. */
  below(end: number): number {
    return end > 0 ? this.next() % end : 0;
  }

  /** One time of so many. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.next() >>> 24);
  }
}
