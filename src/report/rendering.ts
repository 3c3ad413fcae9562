/** Rendering of what may be anything: reports and inspections come out of files too, made by others or altered. */
import { isJsonObject } from "../decode/json.js";

/**
 * What `render` makes of the value. Throws TypeError (`wanted`) where it is not of that shape: a renderer reads every
 * member and stumbles over one that is missing or of another type, so that no second list of the members is kept.
 */
export function renderWhole(value: unknown, wanted: string, render: () => string): string {
  if (!isJsonObject(value)) throw new TypeError(wanted);
  try {
    return render();
  } catch (cause) {
    throw new TypeError(wanted, { cause });
  }
}
