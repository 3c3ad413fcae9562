/** Private marks, by which this package recognises the objects that it made. */

interface PrivateMark<T extends object> {
  /** Puts the mark on an object. */
  readonly on: (members: T) => T;
  /** Whether the object has the mark, which copies, proxies and derived objects do not have. */
  readonly isOn: (value: unknown) => value is T;
}

/** A base class that makes a derived class put its private members on the given object. */
class Itself {
  constructor(object: object) {
    return object;
  }
}

/** Makes a new mark, different from all others. */
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
