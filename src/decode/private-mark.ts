/** Plain objects that only this package makes, and how it knows them. */

interface PrivateMark<T extends object> {
  /** A plain object with these members and the mark. */
  readonly on: (members: T) => T;
  /** False for copies, proxies and derived objects. */
  readonly isOn: (value: unknown) => value is T;
}

/** A new mark, unlike every other one. */
export function privateMark<T extends object>(): PrivateMark<T> {
  class Marked {
    readonly #mark = true;

    constructor(members: T) {
      Object.setPrototypeOf(Object.assign(this, members), Object.prototype);
    }

    static isOn(value: unknown): value is T {
      return typeof value === "object" && value !== null && #mark in value;
    }
  }
  return { on: (members) => new Marked(members) as object as T, isOn: (value): value is T => Marked.isOn(value) };
}
