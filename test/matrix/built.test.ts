/** Each fact at each entrance that needs a build, a server or a browser (README.md). Needs `npm run build`. */
import { afterAll, it } from "vitest";
import { NO_CHROMIUM } from "../support/chromium.js";
import { NO_REDIS } from "../support/redis.js";
import { cellsOf, expectJudged } from "./cells.js";
import { BUILT, close } from "./doors-built.js";
import type { EntranceName } from "./doors.js";

afterAll(close);

/** Why an entrance is closed here: its cells are named so, and are skipped, never passed. */
const MISSING: Readonly<Partial<Record<EntranceName, string | false>>> = {
  "verify, page in Chromium": NO_CHROMIUM && "Chromium",
  "audit, queue": NO_REDIS && "Redis",
};

for (const cell of cellsOf(BUILT)) {
  const missing = MISSING[cell.entrance] || null;
  const name = `${cell.entrance}: ${cell.name}`;
  it.skipIf(missing !== null)(missing === null ? name : `${name}: not run here, ${missing} is missing`, () =>
    expectJudged(cell),
  );
}
