/** Each fact at each door that needs a build, a server or a browser (README.md). Needs `npm run build`. */
import { afterAll, expect, it } from "vitest";
import { NO_CHROMIUM } from "../support/chromium.js";
import { NO_REDIS } from "../support/redis.js";
import { cellsOf, expectRefused, judgedTwin, worldOf } from "./cells.js";
import { BUILT_DOORS, close } from "./doors-built.js";
import type { DoorName } from "./doors.js";

afterAll(close);

/** Why a door is closed here: its cells are named so, and are skipped, never passed. */
const MISSING: Readonly<Partial<Record<DoorName, string | false>>> = {
  "page in Chromium": NO_CHROMIUM && "Chromium",
  "audit with a queue": NO_REDIS && "Redis",
};

for (const cell of cellsOf("built")) {
  const missing = MISSING[cell.door] || null;
  const name = `${cell.door}: ${cell.name}`;
  it.skipIf(missing !== null)(missing === null ? name : `${name}: not run here, ${missing} is missing`, async () => {
    const world = worldOf(cell.name);
    const door = BUILT_DOORS[cell.door as keyof typeof BUILT_DOORS];
    expectRefused(await door(world, "other"), cell);
    expect(await judgedTwin(cell.door, door, world)).toEqual({ accepted: true, why: [] });
  });
}
