/** The lists of lies that callers see, from the one table. */
import type { Behaviour, FaultFacts } from "./behaviour.js";
import { type APPLICATION_LIES, LIES } from "./lies.js";

export type FaultName = keyof typeof LIES;

/** Any string, so that a program can pass names from elsewhere. Editors complete the known names. */
export type GivenFaultName = FaultName | (string & Record<never, never>);

export interface LabFault extends FaultFacts {
  readonly name: FaultName;
}

/** `fails` has the checks that fail for a caller who compares the answer with the request: none if no proof came. */
export interface AuthFault extends Pick<LabFault, "name" | "what" | "fails"> {
  /** The operations of the auth proxy that show the fault. */
  readonly operations: readonly string[];
}

export type ApplicationFaultName = keyof typeof APPLICATION_LIES;

/**
 * `fails` has the checks that fail for the app proof and the boot proof of the application's `ephemeralKey`, under its
 * policy, if the caller expects the values of its request and a challenge that it has not sent before.
 */
interface ApplicationFault extends Pick<LabFault, "what" | "fails"> {
  readonly name: ApplicationFaultName;
}

export type FeedFault = Pick<LabFault, "name" | "what"> & Pick<Required<Behaviour>, "code">;

const ROWS = Object.entries<Behaviour>(LIES).map(([name, row]) => ({ ...row, name: name as FaultName }));

export const FAULTS: readonly LabFault[] = ROWS.filter(
  ({ feed, auth, application }) => (feed ?? auth ?? application) === undefined,
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

/** Faults of {@link LabApplication.sign}. */
export const APPLICATION_FAULTS: readonly ApplicationFault[] = ROWS.flatMap(({ name, what, fails, application }) =>
  application === undefined ? [] : { name: name as ApplicationFaultName, what, fails },
);
