/** Comparers of values, and of objects by their members. */
import { toHex } from "../bytes.js";
import { withoutPrototype } from "../decode/input.js";
import { byKey } from "./content.js";
import { type ChangeId, type Found, type Turn, found } from "./changes.js";
import { placeIn } from "./place.js";

/** Compares two values. Undefined means absent. */
export type Comparer<T> = (before: T | undefined, after: T | undefined, place: string) => readonly Found[];

/** Comparers of all members. A new member without a comparer is a compile error. */
type Comparers<T> = { readonly [K in keyof T]-?: Comparer<NonNullable<T[K]>> };

/** Compares objects member by member. `wire` has the names in the input that differ from the decoded names. */
export function members<T extends object>(
  comparers: Comparers<T>,
  wire: { readonly [K in keyof T]?: string } = {},
): Comparer<T> {
  const names = Object.keys(comparers) as (keyof T & string)[];
  const wireNames = withoutPrototype(wire);
  return (before, after, place) =>
    names.flatMap((name) =>
      comparers[name](some(before?.[name]), some(after?.[name]), placeIn(place, wireNames[name] ?? name)),
    );
}

function some<T>(value: T): NonNullable<T> | undefined {
  return value ?? undefined;
}

/** Compares values by their texts. `turn` classifies the change. */
export function value<T>(
  what: ChangeId,
  show: (value: T) => string = String,
  turn: (before: T | undefined, after: T | undefined) => Turn = addedOrRemoved,
): Comparer<T> {
  return (before, after, place) => {
    const [one, other] = [before, after].map((side) => (side === undefined ? null : show(side)));
    return one === other ? [] : [found(what, { place, before: one!, after: other!, turn: turn(before, after) })];
  };
}

function addedOrRemoved(before: unknown, after: unknown): Turn {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

export function ordered(what: ChangeId, show: (value: number) => string = String): Comparer<number> {
  return value(what, show, (before = 0, after = 0) => (after < before ? "lower" : "changed"));
}

/** Compares flags. An absent flag is off. */
export function toggle(what: ChangeId): Comparer<boolean> {
  const compare = value<boolean>(what, String, (before) => (before === true ? "lower" : "changed"));
  return (before = false, after = false, place) => compare(before, after, place);
}

/** Compares bytes. They are shown in hex. */
export function bytes(what: ChangeId): Comparer<Uint8Array> {
  return value<Uint8Array>(what, toHex);
}

/** Compares nothing, because other changes cover the value. */
export const ignored: Comparer<unknown> = () => [];

/**
 * Compares entries with keys. `show` returns the text of an entry that only one side has, and `both` compares entries
 * that both sides have. `inside` compares members that `show` leaves out.
 */
export function entries<T>(
  what: ChangeId,
  keyOf: (entry: T) => string,
  rule: { readonly show?: (entry: T) => string; readonly both?: Comparer<T>; readonly inside?: Comparer<T> },
): Comparer<readonly T[]> {
  const { show = keyOf, both = ignored, inside = ignored } = rule;
  return (before = [], after = [], place) => {
    const [one, other] = [byKey(before, keyOf), byKey(after, keyOf)];
    return [...new Set([...one.keys(), ...other.keys()])].flatMap((key, index) => {
      const at = placeIn(place, key, index);
      const [entryBefore, entryAfter] = [one.get(key), other.get(key)];
      const isOnBoth = entryBefore !== undefined && entryAfter !== undefined;
      const changes = isOnBoth ? both(entryBefore, entryAfter, at) : value(what, show)(entryBefore, entryAfter, at);
      return [...changes, ...inside(entryBefore, entryAfter, at)].map((change) => ({
        ...change,
        entry: change.entry || key,
      }));
    });
  };
}
