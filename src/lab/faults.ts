/** The lists of lies that callers see, from the one table. */
import type { Behaviour, FaultFacts } from "./behaviour.js";
import { LIES } from "./lies.js";

export type FaultName = keyof typeof LIES;

/** Any string, so that a program can pass names from elsewhere. Editors complete the known names. */
export type GivenFaultName = FaultName | (string & Record<never, never>);

export interface LabFault extends FaultFacts {
  readonly name: FaultName;
}

/** `fails` has the checks of app proofs and tokens that fail: none if only the answer and the request differ. */
export interface AuthFault extends Pick<LabFault, "name" | "what" | "fails"> {
  /** The operations of the auth proxy that show the fault. */
  readonly operations: readonly string[];
}

export type FeedFault = Pick<LabFault, "name" | "what"> & Pick<Required<Behaviour>, "code">;

const ROWS = Object.entries<Behaviour>(LIES).map(([name, row]) => ({ ...row, name: name as FaultName }));

export const FAULTS: readonly LabFault[] = ROWS.filter(
  ({ feed, auth }) => feed === undefined && auth === undefined,
).map(({ name, what, fails, needs, shows }) => ({
  ...{ name, what, fails },
  ...(needs && { needs }),
  ...(shows && { shows }),
}));

/** Faults of the auth proxy. */
export const AUTH_FAULTS: readonly AuthFault[] = ROWS.flatMap(({ name, what, fails, needs = [], auth }) =>
  auth === undefined ? [] : { name, what, fails, operations: needs },
);

/** Faults of the feed of the signed policy, each with the code of the consumer's refusal, or null. */
export const FEED_FAULTS: readonly FeedFault[] = ROWS.flatMap(({ name, what, feed, code = null }) =>
  feed === undefined ? [] : { name, what, code },
);
