/** One spelling per time; at most 15 digits, so that a Date holds every value. */
export const DECIMAL_TIME = /^(?:0|[1-9][0-9]{0,14})$/;

/** The last millisecond that a Date holds (ECMA-262, "Time Values and Time Range"). */
export const MAX_TIME_MS = 8.64e15;

export function decimalMilliseconds(value: unknown): number | null {
  return typeof value === "string" && DECIMAL_TIME.test(value) ? Number(value) : null;
}
