/** Checks callers' options against their types before anything is sent. */
import { copyPlain, ownOptions } from "../decode/input.js";

const KINDS = {
  text: { wanted: "a text that is not empty", holds: (value: unknown) => typeof value === "string" && value !== "" },
  texts: {
    wanted: "a list of texts that are not empty",
    holds: (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string" && item !== ""),
  },
  flag: { wanted: "true or false", holds: (value: unknown) => typeof value === "boolean" },
  count: {
    wanted: "a whole number of 0 or more",
    holds: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0,
  },
  function: { wanted: "a function", holds: (value: unknown) => typeof value === "function" },
  object: { wanted: "an object", holds: (value: unknown) => typeof value === "object" && value !== null },
  any: { wanted: "anything", holds: () => true },
} as const;

export type Kind = keyof typeof KINDS;

/**
 * {@link ownOptions} with values of these kinds; undefined counts as absent. Copies lists. Throws TypeError as that
 * does, and for a value of another kind.
 */
export function ownTypedOptions<T extends object>(what: string, value: T, kinds: Readonly<Record<keyof T, Kind>>): T {
  const own = ownOptions(what, value, kinds);
  for (const [name, given] of Object.entries(own)) {
    const { wanted, holds } = KINDS[kinds[name as keyof T]];
    if (given !== undefined && !holds(given)) throw new TypeError(`${what}.${name}: ${wanted} wanted`);
  }
  const lists = Object.entries(own).filter(([, given]) => Array.isArray(given));
  return Object.assign(own, Object.fromEntries(copyPlain(lists)));
}
