/** Callers' options, read by shapes before anything is sent. */
import { IS_REQUIRED, faultText } from "../errors.js";
import { copyPlain, isInherited } from "./input.js";
import { jsonKind } from "./json.js";
import { type MembersOf, type Place, type Shape, readMember, readShape, refined, simple } from "./shapes.js";

/** Shape of a function. Only the compiler checks its parameters. */
export const callable: Shape<never> = /* @__PURE__ */ simple(
  "a function",
  (value): value is never => typeof value === "function",
);

/** Shape of any value except undefined, which `words` describe. The code that uses the value checks it. */
/* @__NO_SIDE_EFFECTS__ */
export function required(words: string): Shape<never> {
  return {
    read: (value, place) =>
      value === undefined ? place.fault(`${IS_REQUIRED}${words && `: ${words}`}`) : (value as never),
  };
}

export const unchecked = /* @__PURE__ */ required("");

/** Shape that makes a deep copy of plain data. The code that uses the copy checks it. */
export const plain = /* @__PURE__ */ copied(unchecked);

/** Shape that makes a deep copy of the plain data that `shape` has read. */
/* @__NO_SIDE_EFFECTS__ */
export function copied<T>(shape: Shape<T>): Shape<T> {
  return refined(shape, (value) => copyPlain(value));
}

/** Shape of an object that has functions with these names. */
/* @__NO_SIDE_EFFECTS__ */
export function having(...names: readonly string[]): Shape<never> {
  const words = names.length === 0 ? "an object" : `an object with a function ${names.join(" and ")}`;
  return simple(words, (value): value is never => {
    const object = value as Readonly<Record<string, unknown>>;
    return typeof value === "object" && value !== null && names.every((name) => typeof object[name] === "function");
  });
}

/* @__NO_SIDE_EFFECTS__ */
export function instanceOf<T>(type: abstract new (...args: never[]) => T, words: string): Shape<T> {
  return simple(words, (value): value is T => value instanceof type);
}

/** Shape that copies the bytes of a file, which may be empty. */
export const fileBytes: Shape<Uint8Array> = /* @__PURE__ */ refined(
  /* @__PURE__ */ simple("bytes, as a Uint8Array", (value) => value instanceof Uint8Array),
  (value) => new Uint8Array(value),
);

/** Shape that copies bytes, at least one. */
export const byteCopy: Shape<Uint8Array> = /* @__PURE__ */ refined(
  /* @__PURE__ */ simple(
    "bytes, as a Uint8Array that is not empty",
    (value): value is Uint8Array => value instanceof Uint8Array && value.length > 0,
  ),
  (value) => new Uint8Array(value),
);

/** Shape that copies a Date. An invalid Date is a fault: with it, no evidence would ever be too old. */
export const date: Shape<Date> = {
  read: (value, place) =>
    value instanceof Date && !Number.isNaN(value.getTime())
      ? new Date(value)
      : place.fault(`expected a valid Date, got ${value instanceof Date ? "an invalid one" : jsonKind(value)}`),
};

/**
 * Copies a caller's options: own members only, each read once, on an object without a prototype. Later changes and
 * `Object.prototype` have no effect. A member that is undefined is left out. Throws TypeError with all faults: an
 * unknown name, a value of a wrong shape, an inherited option, which would be silently ignored, and a demand that is
 * undefined.
 */
export function typedOptions<T extends object>(what: string, value: T, shapes: MembersOf<T>): T {
  return requireShape(what, value, options(shapes));
}

/** Returns the value as the shape reads it. Throws TypeError with all faults. */
export function requireShape<T>(what: string, value: unknown, shape: Shape<T>): T {
  const { value: read, faults } = readShape(shape, value, what);
  if (faults.length > 0) throw new TypeError(faultText(faults));
  return read as T;
}

/** Shape of options inside other options, read as {@link typedOptions} reads them. */
/* @__NO_SIDE_EFFECTS__ */
export function options<T extends object>(shapes: MembersOf<T>): Shape<T> {
  return { read: (value, place) => readOwn(value, shapes as Readonly<Record<string, Shape<unknown>>>, place) as T };
}

function readOwn(value: unknown, shapes: Readonly<Record<string, Shape<unknown>>>, place: Place): object {
  const known = (): string => Object.keys(shapes).join(", ");
  const faults = place.faults;
  if (value === undefined) readOwn({}, shapes, place);
  // The faults of the required members say what is missing.
  if (place.faults > faults) return undefined as never;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return place.fault(() => `expected an object, with ${known()}`);
  for (const name of Object.getOwnPropertyNames(value))
    if (!Object.hasOwn(shapes, name)) place.at(name).fault(() => `unknown; known are ${known()}`);
  const own = Object.create(null) as Record<string, unknown>;
  for (const [name, shape] of Object.entries(shapes)) {
    if (!Object.hasOwn(value, name) && isInherited(value, name)) {
      place.at(name).fault("inherited from a prototype; make it a member of the object itself");
      continue;
    }
    const { isThere, read } = readMember(value, name, shape, place);
    if (isThere) own[name] = read;
  }
  return own;
}
