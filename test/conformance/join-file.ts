/** The file of the join's cases, as it lies in `test-vectors/conformance/`. */
import { JOIN_CASES } from "./join-cases.js";

export const JOIN_FILE = "addresses/join.json";

/** A case a line, so that a difference shows which. */
export function joinText(): string {
  const cases = JOIN_CASES.map((one) => `  ${JSON.stringify(one)}`).join(",\n");
  return `{\n "format": "bootproof-conformance-join/1",\n "cases": [\n${cases}\n ]\n}\n`;
}
