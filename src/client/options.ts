/**
 * What callers hand in, checked against its types before anything is sent.
 */
import { requireOptions } from "../decode/input.js";

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
 * Throws TypeError for a name that is not among the kinds, and for a value of another kind; what is undefined is not
 * given.
 */
export function requireTypes(what: string, value: object, kinds: Readonly<Record<string, Kind>>): void {
  requireOptions(what, value, kinds);
  for (const [name, given] of Object.entries(value)) {
    const { wanted, holds } = KINDS[kinds[name]!];
    if (given !== undefined && !holds(given)) throw new TypeError(`${what}.${name}: ${wanted} wanted`);
  }
}
