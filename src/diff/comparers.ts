/** Comparers of the values of policies, and of objects by their members. */
import { type ChangeId, type Found, type Turn, found } from "./changes.js";
import { addedOrRemoved } from "./compare.js";
import { byKey } from "./content.js";
import { placeIn } from "./place.js";

/** Compares two values. Undefined means absent. */
export type Comparer<T> = (before: T | undefined, after: T | undefined, place: string) => readonly Found[];

/** Comparers of all members. A new member without a comparer is a compile error. */
type Comparers<T> = { readonly [K in keyof T]-?: Comparer<NonNullable<T[K]>> };

/** Compares objects member by member. */
export function members<T extends object>(comparers: Comparers<T>): Comparer<T> {
  const names = Object.keys(comparers) as (keyof T & string)[];
  return (before, after, place) =>
    names.flatMap((name) =>
      comparers[name](before?.[name] ?? undefined, after?.[name] ?? undefined, placeIn(place, name)),
    );
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

/** Compares flags. An absent flag is off. */
export function toggle(what: ChangeId): Comparer<boolean> {
  const compare = value<boolean>(what, String, (before) => (before === true ? "lower" : "changed"));
  return (before = false, after = false, place) => compare(before, after, place);
}

/** Compares nothing, because other changes cover the value. */
export const ignored: Comparer<unknown> = () => [];

/** Reports the texts that only one side has. */
export function entries(what: ChangeId): Comparer<readonly string[]> {
  return (before = [], after = [], place) => {
    const [one, other] = [byKey(before, String), byKey(after, String)];
    return [...new Set([...one.keys(), ...other.keys()])].flatMap((key, index) => {
      const changes = value<string>(what)(one.get(key), other.get(key), placeIn(place, key, index));
      return changes.map((change) => ({ ...change, entry: key }));
    });
  };
}
