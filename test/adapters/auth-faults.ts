/** What refuses each of the lab's faults of the auth proxy: all failed checks, or the message where no report is. */
import { AUTH_FAULTS, type FaultName } from "../../src/lab/index.js";

const MESSAGES: Partial<Record<FaultName, RegExp>> = {
  "signup-without-wallet": /a wallet was requested, and the answer has none; the answer has no app proofs/,
  "signup-proofs-missing": /the answer has no app proofs/,
};

export const REFUSED: Readonly<Record<string, readonly string[] | RegExp>> = Object.fromEntries(
  AUTH_FAULTS.map(({ name, fails }) => [name, MESSAGES[name] ?? fails]),
);
