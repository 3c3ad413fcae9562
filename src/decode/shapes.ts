/**
 * Shapes of requests and responses: they check a value, and report every fault with its path. Reading copies a value,
 * down to the members that its shape knows; faults never quote the value.
 *
 * Making a shape has no side effects, and is marked so: bundlers drop unused shapes.
 */
import { isJsonObject, jsonKind } from "./json.js";
import { type Fault, FaultList, shownName } from "../errors.js";

/** Reads a value. The returned value is valid only where no fault was added. */
export interface Shape<T> {
  read(value: unknown, place: Place): T;
}

/** The shape of an optional member. */
export interface OptionalShape<T> extends Shape<T | undefined> {
  readonly optional: true;
}

/** The path of a value, and the list for its faults. */
export interface Place {
  at(step: string | number): Place;
  /** Adds a fault. What the shape then returns is discarded. */
  fault<T = undefined>(message: string): T;
  /** The number of all faults so far. */
  readonly faults: number;
}

/** Builds the path for faults only, since most values have none. */
class PlaceInValue implements Place {
  readonly #faults: FaultList;
  readonly #parent: PlaceInValue | string;
  readonly #step: string | number | null;

  constructor(faults: FaultList, parent: PlaceInValue | string, step: string | number | null = null) {
    this.#faults = faults;
    this.#parent = parent;
    this.#step = step;
  }

  at(step: string | number): PlaceInValue {
    return new PlaceInValue(this.#faults, this, step);
  }

  fault<T = undefined>(message: string): T {
    this.#faults.push({ path: this.#path, message });
    return undefined as T;
  }

  get faults(): number {
    return this.#faults.total;
  }

  get #path(): string {
    const before = typeof this.#parent === "string" ? this.#parent : this.#parent.#path;
    if (this.#step === null) return before;
    if (typeof this.#step === "number") return `${before}[${this.#step}]`;
    const name = shownName(this.#step);
    return before === "" ? name : `${before}.${name}`;
  }
}

/** Reads a value by its shape: returns the value, or its faults. `path` is the path of the value itself. */
export function readShape<T>(
  shape: Shape<T>,
  value: unknown,
  path = "",
): { value: T; faults: [] } | { value: undefined; faults: readonly Fault[] } {
  const faults = new FaultList();
  const read = shape.read(value, new PlaceInValue(faults, path));
  return faults.length === 0 ? { value: read, faults: [] } : { value: undefined, faults };
}

/** The type that a shape reads. */
export type ReadOf<S> = S extends Shape<infer T> ? T : never;

/* @__NO_SIDE_EFFECTS__ */
function simple<T>(words: string, holds: (value: unknown) => value is T): Shape<T> {
  return { read: (value, place) => (holds(value) ? value : place.fault(`${jsonKind(value)}, ${words} wanted`)) };
}

export const text = simple("a string", (value) => typeof value === "string");
export const flag = simple("true or false", (value) => typeof value === "boolean");
export const number = simple("a number", (value) => typeof value === "number");

/** A text that passes the test. */
/* @__NO_SIDE_EFFECTS__ */
export function matching(holds: (text: string) => boolean, fault: string): Shape<string> {
  return {
    read: (value, place) => (typeof value === "string" && !holds(value) ? place.fault(fault) : text.read(value, place)),
  };
}

/** One of these values. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const T extends string | number>(...values: readonly T[]): Shape<T> {
  return {
    read: (value, place) => values.find((one) => one === value) ?? place.fault(`${values.join(" or ")} wanted`),
  };
}

/** A value of the first of two shapes that fits. */
/* @__NO_SIDE_EFFECTS__ */
export function either<A, B>(first: Shape<A>, second: Shape<B>, words: string): Shape<A | B> {
  return {
    read: (value, place) => {
      for (const shape of [first, second]) {
        const read = readShape<A | B>(shape, value);
        if (read.value !== undefined) return read.value;
      }
      return place.fault(`${jsonKind(value)}, ${words} wanted`);
    },
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { optional: true, read: (value, place) => (value === undefined ? undefined : shape.read(value, place)) };
}

/** An optional member that may also be null. */
/* @__NO_SIDE_EFFECTS__ */
export function nullish<T>(shape: Shape<T>): OptionalShape<T | null> {
  return optional({ read: (value, place) => (value === null ? null : shape.read(value, place)) });
}

const MAX_FAULTY_ITEMS = 10;

/**
 * An array. Only the first ten faulty items are reported: the sender decides how many there are, and the faults of an
 * item are a hundred times its size.
 */
/* @__NO_SIDE_EFFECTS__ */
export function list<T>(item: Shape<T>, least = 0, most = Number.POSITIVE_INFINITY): Shape<T[]> {
  return {
    read: (value, place) => {
      if (!Array.isArray(value)) return place.fault(`${jsonKind(value)}, an array wanted`);
      if (value.length < least) place.fault("empty");
      if (value.length > most) return place.fault(`${value.length} items, at most ${most} wanted`);
      const items: T[] = [];
      let faulty = 0;
      for (const [index, one] of value.entries()) {
        const before = place.faults;
        items.push(item.read(one, place.at(index)));
        if (place.faults > before && ++faulty === MAX_FAULTY_ITEMS) break;
      }
      return items;
    },
  };
}

export type Members = Readonly<Record<string, Shape<unknown>>>;
type OptionalNames<M> = { [K in keyof M]: M[K] extends { readonly optional: true } ? K : never }[keyof M];
type Flat<T> = { [K in keyof T]: T[K] };
type ObjectOf<M> = Flat<
  { [K in Exclude<keyof M, OptionalNames<M>>]: ReadOf<M[K]> } & { [K in OptionalNames<M>]?: ReadOf<M[K]> }
>;
type LooseObjectOf<M> = Flat<ObjectOf<M> & { [name: string]: unknown }>;

/** An object with the shapes of its members, from which a shape with more members can be made. */
export interface ObjectShape<T> extends Shape<T> {
  readonly members: Members;
}

/** An object with these members and no others. */
/* @__NO_SIDE_EFFECTS__ */
export function strict<M extends Members>(members: M): ObjectShape<ObjectOf<M>> {
  const read = (value: unknown, place: Place): ObjectOf<M> => {
    if (!isJsonObject(value)) return place.fault(`${jsonKind(value)}, an object wanted`);
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(members, name));
    if (unknown.length > 0) place.fault(`unknown: ${unknown.slice(0, MAX_FAULTY_ITEMS).map(nameText).join(", ")}`);
    return readMembers(value, members, place) as ObjectOf<M>;
  };
  return { members, read };
}

/** An object with these members; others are kept unchanged. */
/* @__NO_SIDE_EFFECTS__ */
export function loose<M extends Members>(members: M): ObjectShape<LooseObjectOf<M>> {
  const read = (value: unknown, place: Place): LooseObjectOf<M> => {
    if (!isJsonObject(value)) return place.fault(`${jsonKind(value)}, an object wanted`);
    return { ...value, ...readMembers(value, members, place) } as LooseObjectOf<M>;
  };
  return { members, read };
}

function nameText(name: string): string {
  return JSON.stringify(shownName(name));
}

function readMembers(
  value: Readonly<Record<string, unknown>>,
  members: Members,
  place: Place,
): Record<string, unknown> {
  const read = Object.entries(members).map(([name, shape]) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    return [name, shape.read(member, place.at(name))] as const;
  });
  return Object.fromEntries(read.filter(([name]) => Object.hasOwn(value, name)));
}

/** Converts or checks the value that a shape has read. */
/* @__NO_SIDE_EFFECTS__ */
export function refined<T, U>(shape: Shape<T>, next: (read: T, place: Place) => U): Shape<U> {
  return {
    read: (value, place) => {
      const before = place.faults;
      const read = shape.read(value, place);
      return place.faults === before ? next(read, place) : (undefined as U);
    },
  };
}
