/** Rendering of untrusted values: reports and inspections may come from files that others made or altered. */
import { isJsonObject } from "../decode/json.js";

/**
 * Returns the result of `render`. Throws TypeError (`wanted`) if the value does not have the right shape. A renderer
 * reads every member and fails on a missing or wrong one, so no second list of members is needed.
 */
export function renderWhole<T>(value: unknown, wanted: string, render: () => T): T {
  if (!isJsonObject(value)) throw new TypeError(wanted);
  try {
    return render();
  } catch (cause) {
    throw new TypeError(wanted, { cause });
  }
}
