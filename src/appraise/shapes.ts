/** The shapes of the policy file: those of `decode/shapes.ts`, frozen once read, and a comment on any object. */
import {
  type MembersOf,
  type Shape,
  list,
  matching,
  objectOf,
  optional,
  record,
  refined,
  sizedText,
  text,
} from "../decode/shapes.js";

/** For people, on any object; changes nothing. */
export const COMMENT = "comment";
const BESIDE = { [COMMENT]: optional(text) } as const;

/** Reports repeat names. */
const MAX_NAME = 256;

/** A text that reports repeat. */
export function short(least: number): Shape<string> {
  return sizedText(least, MAX_NAME);
}

const DURATION = /^([1-9][0-9]{0,8})([smhd])$/;
const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In milliseconds, once read. */
export const duration = refined(matching(DURATION, 'a duration such as "10m", "12h" or "30d"'), (value) => {
  const [, count, unit] = DURATION.exec(value)!;
  return Number(count) * DURATION_UNITS[unit!]!;
});

function frozen<T>(shape: Shape<T>): Shape<Readonly<T>> {
  return { ...shape, read: (value, place) => Object.freeze(shape.read(value, place)) };
}

interface ListLimits {
  readonly least?: number;
  readonly most?: number;
}

export function arrayOf<T>(item: Shape<T>, { least = 1, most }: ListLimits = {}): Shape<readonly T[]> {
  return frozen(list(item, least, most));
}

/** One value, or an array of accepted ones; an array once read. */
export function oneOrMore<T>(one: Shape<T>): Shape<readonly T[]> {
  const many = arrayOf(one);
  return {
    form: { either: [one, many] },
    read: (value, place) => {
      if (Array.isArray(value)) return many.read(value, place);
      const read = one.read(value, place);
      return Object.freeze(read === undefined ? (undefined as never) : [read]);
    },
  };
}

/** An object whose members' names are data. */
export function fileRecord<T>(
  each: Shape<T>,
  settings: Parameters<typeof record>[1] = {},
): Shape<Readonly<Record<string, T>>> {
  return frozen(record(each, { ...settings, beside: BESIDE }));
}

/** An object of these members. */
export function fileObject<T extends object>(members: MembersOf<T>): Shape<Readonly<T>> {
  return frozen(objectOf(members, { beside: BESIDE }));
}
