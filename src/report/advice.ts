/** What a person does about a failed check. */
import { CHECK_ADVICE, type Check } from "../checks.js";

/** Its own advice, else the usual one of its id; undefined of what did not fail, and of ids of other versions. */
export function adviceOn(check: Check | null): string | undefined {
  if (check?.status !== "fail") return undefined;
  return check.advice ?? (Object.hasOwn(CHECK_ADVICE, check.id) ? CHECK_ADVICE[check.id] : undefined);
}
