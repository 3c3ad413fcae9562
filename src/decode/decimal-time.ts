/** Decimal milliseconds with one spelling per time. With at most 15 digits, a Date holds every value. */
export const DECIMAL_TIME = /^(?:0|[1-9][0-9]{0,14})$/;

/** The last millisecond that a Date holds (ECMA-262, "Time Values and Time Range"). */
export const MAX_TIME_MS = 8.64e15;

export function decimalMilliseconds(value: unknown): number | null {
  return typeof value === "string" && DECIMAL_TIME.test(value) ? Number(value) : null;
}

/** Parses RFC 3339 (section 5.6) without leap seconds. Returns null for other text and days that do not exist. */
export function parseTime(text: string): Date | null {
  const parts = /^(\d{4}-\d{2}-)(\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(
    text,
  );
  if (parts === null) return null;
  const [, month, day, clock] = parts;
  // Date turns 30 February into March, so the text without its offset is parsed and the day is compared.
  const local = new Date(`${month}${day}T${clock}Z`);
  if (Number.isNaN(local.getTime()) || local.getUTCDate() !== Number(day)) return null;
  const time = new Date(text.toUpperCase());
  return Number.isNaN(time.getTime()) ? null : time;
}
