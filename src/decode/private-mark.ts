/** Plain objects that only this package makes, and how it knows them. */

interface PrivateMark<T extends object> {
  /** A plain object with these members and the mark. */
  readonly on: (members: T) => T;
  /** False for copies, proxies and derived objects. */
  readonly isOn: (value: unknown) => value is T;
}

/** Has a derived class put its private members on the given object. */
class Itself {
  constructor(object: object) {
    return object;
  }
}

/** A new mark, unlike every other one. */
export function privateMark<T extends object>(): PrivateMark<T> {
  class Marked extends Itself {
    readonly #mark = true;

    static isOn(value: unknown): value is T {
      return typeof value === "object" && value !== null && #mark in value;
    }
  }
  return {
    on: (members) => new Marked({ ...members }) as object as T,
    isOn: (value): value is T => Marked.isOn(value),
  };
}
