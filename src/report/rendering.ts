/** Rendering of untrusted values: reports and inspections may come from files that others made or altered. */
import { isJsonObject } from "../decode/json.js";

/**
 * The result of `render`. Throws TypeError (`wanted`) where the value has not the right shape: a renderer reads every
 * member, so it fails on a missing or wrong one, and no second list of members is needed.
 */
export function renderWhole(value: unknown, wanted: string, render: () => string): string {
  if (!isJsonObject(value)) throw new TypeError(wanted);
  try {
    return render();
  } catch (cause) {
    throw new TypeError(wanted, { cause });
  }
}
