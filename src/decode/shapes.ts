/**
 * One language for the members of JSON values (decode/README.md, "Shapes"). A shape reads a value, and reports every
 * fault with its path. It copies only the members that it knows. Faults never quote a text. Functions that make shapes
 * are marked as free of side effects, so that bundlers drop unused shapes.
 */
import { fromHex, toHex } from "../bytes.js";
import { type Fault, type FaultCause, FaultList, shownName } from "../errors.js";
import { type JsonObject, isJsonObject, jsonKind } from "./json.js";
import { nearest } from "./nearest.js";

/** The returned value is valid only if no fault was added. */
export interface Shape<T> {
  read(value: unknown, place: Place): T;
  /** Form that `schemaOf` writes. Undefined means any value. */
  readonly form?: Form | undefined;
  /** Whether a member of this shape that is there, but undefined, is a fault. */
  readonly demands?: true;
}

/** The shape of an optional member. */
export interface OptionalShape<T> extends Shape<T | undefined> {
  readonly optional: true;
}

/** Form of a shape, which `schemaOf` (json-schema.ts) writes as JSON Schema. */
export type Form =
  | { readonly type: "boolean" | "number" | "object" }
  | { readonly type: "string"; readonly pattern?: RegExp | undefined; readonly least?: number; readonly most?: number }
  | { readonly type: "integer"; readonly least: number; readonly most: number }
  | { readonly values: readonly (string | number | boolean | null)[] }
  | { readonly either: readonly Shape<unknown>[] }
  | { readonly nullable: Shape<unknown> }
  | { readonly items: Shape<unknown>; readonly least: number; readonly most: number }
  | {
      readonly members: Members;
      readonly unknown: "refuse" | "keep" | "ignore";
      readonly beside: Members;
      /** Kind of the file that the member `file` names. A digest of the value covers the content, not the name. */
      readonly namesFile?: string;
    }
  | {
      readonly each: Shape<unknown>;
      readonly name: RegExp | undefined;
      readonly least: number;
      readonly beside: Members;
    };

/** The path of a value, and the list for its faults. */
export interface Place {
  readonly path: string;
  /** The number of all faults so far. */
  readonly faults: number;
  at(step: string | number): Place;
  /** Adds a fault, so that the shape's result is discarded. A message function is called only if the fault is kept. */
  fault<T = undefined>(message: string | (() => string), cause?: FaultCause): T;
}

/** A place that builds its path for faults only, since most values have none. */
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

  fault<T = undefined>(message: string | (() => string), cause?: FaultCause): T {
    // A full list only counts faults.
    const isKept = this.#faults.total <= this.#faults.length;
    const text = (): string => (typeof message === "string" ? message : message());
    this.#faults.push(
      isKept ? { path: this.path, message: text(), ...(cause && { cause }) } : { path: "", message: "" },
    );
    return undefined as T;
  }

  get faults(): number {
    return this.#faults.total;
  }

  get path(): string {
    const before = typeof this.#parent === "string" ? this.#parent : this.#parent.path;
    if (this.#step === null) return before;
    if (typeof this.#step === "number") return `${before}[${this.#step}]`;
    const name = shownName(this.#step);
    return before === "" ? name : `${before}.${name}`;
  }
}

/** Returns the place of a value whose faults go to the list. */
export function placeOf(faults: FaultList, path = ""): Place {
  return new PlaceInValue(faults, path);
}

/** Returns the value, or its faults. `path` is the place of the value itself. */
export function readShape<T>(
  shape: Shape<T>,
  value: unknown,
  path = "",
): { value: T; faults: [] } | { value: undefined; faults: readonly Fault[] } {
  const faults = new FaultList();
  const read = shape.read(value, placeOf(faults, path));
  return faults.length === 0 ? { value: read, faults: [] } : { value: undefined, faults };
}

/** The type that a shape reads. */
export type ReadOf<S> = S extends Shape<infer T> ? T : never;

export const anything: Shape<unknown> = { read: (value) => value };

function refused<T>(value: unknown, words: string, place: Place): T {
  return place.fault(() => `expected ${words}, got ${jsonKind(value)}`);
}

/** Shape of a value that passes the test. */
/* @__NO_SIDE_EFFECTS__ */
export function simple<T>(words: string, holds: (value: unknown) => value is T, form?: Form): Shape<T> {
  return {
    form,
    read: (value, place) => (holds(value) ? value : refused(value, words, place)),
  };
}

export const text = simple("a string", (value) => typeof value === "string", { type: "string" });
export const flag = simple("true or false", (value) => typeof value === "boolean", { type: "boolean" });
export const number = simple("a number", (value) => typeof value === "number", { type: "number" });
export const anyObject = simple("an object", isJsonObject, { type: "object" });

/** Shape of a whole number. Its fault shows the number that was found. */
/* @__NO_SIDE_EFFECTS__ */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Shape<number> {
  const words = `a whole number of ${least} ${most === Number.MAX_SAFE_INTEGER ? "or more" : `to ${most}`}`;
  return {
    form: { type: "integer", least, most },
    read: (value, place) => {
      if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
      return place.fault(() => `expected ${words}, got ${typeof value === "number" ? value : jsonKind(value)}`);
    },
  };
}

export const count = wholeNumber(0);

/** Shape of a text that passes the test. `words` describe it. The JSON Schema has only a pattern. */
/* @__NO_SIDE_EFFECTS__ */
export function matching(
  test: RegExp | ((text: string) => boolean),
  words: string,
  pattern = test instanceof RegExp ? test : undefined,
): Shape<string> {
  return {
    form: { type: "string", pattern },
    read: (value, place) => {
      if (typeof value !== "string") return refused(value, words, place);
      const holds = test instanceof RegExp ? test.test(value) : test(value);
      return holds ? value : place.fault(`expected ${words}`);
    },
  };
}

/** Shape of a text of this many characters, as JSON Schema counts them: an emoji is one. */
/* @__NO_SIDE_EFFECTS__ */
export function sizedText(least: number, most = Number.POSITIVE_INFINITY): Shape<string> {
  return {
    form: { type: "string", least, most },
    read: (value, place) => {
      if (typeof value !== "string") return text.read(value, place);
      if (value.length > most && [...value].length > most) return place.fault(`longer than ${most} characters`);
      return value.length < least ? place.fault("empty") : value;
    },
  };
}

export const nonEmptyText = sizedText(1);

const LINE_BREAKS: FaultCause = { code: "line-breaks" };

/** Shape of hex of `least` to `most` bytes in either case. It is read as lower case: equal bytes are equal texts. */
/* @__NO_SIDE_EFFECTS__ */
export function hex(least: number, most = least): Shape<string> & { readonly words: string } {
  const digits = least === most ? `${2 * least}` : `${2 * least} to ${2 * most}`;
  const words = `hex of ${digits} digits`;
  const read = (value: unknown, place: Place): string => {
    if (typeof value !== "string") return refused(value, words, place);
    const length = value.length / 2;
    const bytes = length >= least && length <= most ? fromHex(value) : null;
    if (bytes !== null) return toHex(bytes);
    if (/[\r\n]/.test(value)) return place.fault(`hex with line breaks, expected ${digits} digits`, LINE_BREAKS);
    if (!/^[0-9a-fA-F]*$/.test(value)) return place.fault(`not hex, expected ${digits} digits`);
    return place.fault(`${value.length} hex digits, expected ${digits}`);
  };
  return { words, read, form: { type: "string", pattern: new RegExp(`^[0-9a-fA-F]{${2 * least},${2 * most}}$`) } };
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const V extends readonly (string | number | boolean | null)[]>(...values: V): Shape<V[number]> {
  const found = (): string => values.map((one) => JSON.stringify(one)).join(", ");
  const words = (): string => found().replace(/, ([^,]*)$/, " or $1");
  return {
    form: { values },
    read: (value, place) => {
      if (values.includes(value as V[number])) return value as V[number];
      return place.fault(() => `expected ${words()}${typeof value === "string" ? "" : `, got ${jsonKind(value)}`}`);
    },
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function keyOf<T extends string>(table: Readonly<Record<T, unknown>>): Shape<T> {
  return oneOf(...(Object.keys(table) as T[]));
}

/** Shape of a time as `Date.toISOString` writes it: RFC 3339 in UTC with milliseconds, in no other spelling. */
export const instant = matching(
  isInstant,
  "a time such as 2026-03-04T05:06:07.000Z",
  /^[+-]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/,
);

function isInstant(value: string): boolean {
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString() === value;
}

/** Shape of a value that fits one of two shapes. The first that fits reads it. */
/* @__NO_SIDE_EFFECTS__ */
export function either<A, B>(first: Shape<A>, second: Shape<B>, words: string): Shape<A | B> {
  return {
    form: { either: [first, second] },
    read: (value, place) => {
      for (const shape of [first, second]) {
        const read = readShape<A | B>(shape, value);
        if (read.value !== undefined) return read.value;
      }
      return refused(value, words, place);
    },
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    form: { nullable: shape },
    read: (value, place) => (value === null ? null : shape.read(value, place)),
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return {
    optional: true,
    form: shape.form,
    read: (value, place) => (value === undefined ? undefined : shape.read(value, place)),
  };
}

/** Shape of an optional member that demands something. If it is undefined, the caller lost what they demand. */
/* @__NO_SIDE_EFFECTS__ */
export function demand<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...optional(shape), demands: true };
}

/** Shape of an optional member that may also be null. */
/* @__NO_SIDE_EFFECTS__ */
export function nullish<T>(shape: Shape<T>): OptionalShape<T | null> {
  return optional(nullable(shape));
}

/** Shape of an array. The result is undefined if an item is. */
/* @__NO_SIDE_EFFECTS__ */
export function list<T>(item: Shape<T>, least = 0, most = Number.POSITIVE_INFINITY): Shape<T[]> {
  return {
    form: { items: item, least, most },
    read: (value, place) => {
      if (!Array.isArray(value)) return refused(value, "an array", place);
      if (value.length < least) return place.fault("empty: expected at least one");
      if (value.length > most) return place.fault(`${value.length} entries, at most ${most} allowed`);
      const items = Array.from(value, (one: unknown, index) => item.read(one, place.at(index)));
      return items.includes(undefined as T) ? (undefined as never) : items;
    },
  };
}

export type Members = Readonly<Record<string, Shape<unknown>>>;

/** Shapes of all members of a type. A missing one is a compile error. */
export type MembersOf<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalShape<Exclude<T[K], undefined>>
    : Shape<T[K]>;
};

type OptionalNames<M> = { [K in keyof M]: M[K] extends { readonly optional: true } ? K : never }[keyof M];
type Flat<T> = { [K in keyof T]: T[K] };
type ObjectOf<M> = Flat<
  { [K in Exclude<keyof M, OptionalNames<M>>]: ReadOf<M[K]> } & { [K in OptionalNames<M>]?: ReadOf<M[K]> }
>;
type OpenObjectOf<M> = Flat<ObjectOf<M> & { [name: string]: unknown }>;

/** Shape of an object. Its members can be used for a shape with more members. */
export interface ObjectShape<T> extends Shape<T> {
  readonly members: Members;
}

interface ObjectSettings {
  /** Whether unknown members are refused. Default: `refuse`. */
  readonly unknown?: "refuse" | "ignore";
  /** Members that are read, but are not part of the result. */
  readonly beside?: Members;
}

/** Shape of an object. The result has no prototype, like parsed JSON, and members with faults are undefined. */
/* @__NO_SIDE_EFFECTS__ */
export function object<M extends Members>(
  members: M,
  { unknown = "refuse", beside = {} }: ObjectSettings = {},
): ObjectShape<ObjectOf<M>> {
  return {
    members,
    form: { members, unknown, beside },
    read: (value, place) => {
      if (!isJsonObject(value)) return refused(value, "an object", place);
      const read = readMembers(value, members, place);
      readMembers(value, beside, place);
      if (unknown === "refuse") refuseUnknown(value, members, beside, place);
      return Object.assign(Object.create(null), read) as ObjectOf<M>;
    },
  };
}

/** Shape of an {@link object} of a declared type. A missing member is a compile error. */
/* @__NO_SIDE_EFFECTS__ */
export function objectOf<T extends object>(members: MembersOf<T>, settings?: ObjectSettings): ObjectShape<T> {
  return object(members as Members, settings) as ObjectShape<unknown> as ObjectShape<T>;
}

/** Shape of an object that keeps all other members unread. The result is an ordinary object for callers. */
/* @__NO_SIDE_EFFECTS__ */
export function openObject<M extends Members>(members: M): ObjectShape<OpenObjectOf<M>> {
  return {
    members,
    form: { members, unknown: "keep", beside: {} },
    read: (value, place) => {
      if (!isJsonObject(value)) return refused(value, "an object", place);
      return { ...value, ...readMembers(value, members, place) } as OpenObjectOf<M>;
    },
  };
}

/** Reads own members in the order of the shapes. */
function readMembers(value: JsonObject, members: Members, place: Place): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const { isThere, read } = readMember(value, name, members[name]!, place);
    if (isThere) all[name] = read;
  }
  return all;
}

/** Reads an own member, once. One that is undefined is as if it were not there, unless it demands something. */
export function readMember(
  value: object,
  name: string,
  shape: Shape<unknown>,
  place: Place,
): { readonly isThere: boolean; readonly read: unknown } {
  const [isOwn, at] = [Object.hasOwn(value, name), place.at(name)];
  const own = isOwn ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  if (isOwn && own === undefined && shape.demands) at.fault("undefined: leave it out, or give a value");
  return { isThere: own !== undefined, read: shape.read(own, at) };
}

function refuseUnknown(value: JsonObject, members: Members, beside: Members, place: Place): void {
  for (const name of Object.keys(value))
    if (!Object.hasOwn(members, name) && !Object.hasOwn(beside, name))
      place.at(name).fault(() => `unknown member${nearest(name, Object.keys(members))}`);
}

interface RecordSettings {
  /** Pattern of the names. Default: any name. */
  readonly name?: RegExp;
  /** Fault message for any other name. */
  readonly fault?: string;
  readonly least?: number;
  /** Members that are read, but are not part of the result. */
  readonly beside?: Members;
}

/** Shape of an object whose names are data. The result has no prototype, and is undefined if a member is. */
/* @__NO_SIDE_EFFECTS__ */
export function record<T>(each: Shape<T>, settings: RecordSettings = {}): Shape<Record<string, T>> {
  const { name: pattern, fault = "unknown member", least = 0, beside = {} } = settings;
  return {
    form: { each, name: pattern, least, beside },
    read: (value, place) => {
      if (!isJsonObject(value)) return refused(value, "an object", place);
      const before = place.faults;
      const entries = Object.entries(value).map(([name, member]) => {
        const shape = Object.hasOwn(beside, name) ? beside[name]! : each;
        if (shape === each && pattern?.test(name) === false) place.at(name).fault(fault);
        return [name, shape.read(member, place.at(name)) as T] as const;
      });
      const named = entries.filter(([name]) => !Object.hasOwn(beside, name));
      if (named.length < least) return place.fault("empty: expected at least one");
      if (place.faults > before) return undefined as never;
      return Object.assign(Object.create(null), Object.fromEntries(named)) as Record<string, T>;
    },
  };
}

/** Shape that converts or checks the value that another shape has read. */
/* @__NO_SIDE_EFFECTS__ */
export function refined<T, U>(shape: Shape<T>, next: (read: T, place: Place) => U): Shape<U> {
  return {
    form: shape.form,
    read: (value, place) => {
      const before = place.faults;
      const read = shape.read(value, place);
      return place.faults === before ? next(read, place) : (undefined as U);
    },
  };
}
