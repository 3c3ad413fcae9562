/** The service's format of times. */

/** A time in the form of client/README.md, "Requests". */
export type Timestamp = { readonly seconds: string; readonly nanos: string };

export function timestamp(date: Date): Timestamp {
  const milliseconds = date.getTime();
  return { seconds: String(Math.floor(milliseconds / 1000)), nanos: String((milliseconds % 1000) * 1e6) };
}

export function millisecondsOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1000 + Number(nanos) / 1e6;
}
