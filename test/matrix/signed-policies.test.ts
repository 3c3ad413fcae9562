/** A signed policy at each door: accepted while its version is in force, refused by its time alone otherwise. */
import { afterAll, expect, it } from "vitest";
import type { DoorName } from "./doors.js";
import { FAST_DOORS, service } from "./doors-fast.js";
import { SAYS, SignedWorld } from "./signed.js";

afterAll(() => service.close());

/** `checks`: refused by the check `policy.current`. `words`: by its sentence, since the command has no checks. */
const CELLS = {
  verify: "checks",
  "verify of a bundle": "checks",
  "verify of a page": "checks",
  bundle: "checks",
  review: "words",
  measure: "words",
} as const satisfies Partial<Record<DoorName, "checks" | "words">>;

const doors = Object.keys(CELLS) as (keyof typeof CELLS)[];
const [current, expired, early] = [new SignedWorld("current"), new SignedWorld("expired"), new SignedWorld("early")];

it.each(doors)("%s: a signed policy", async (name) => {
  const door = FAST_DOORS[name];
  expect(await door(current, "honest")).toEqual({ accepted: true, why: [] });
  // Whoever signs does not change what is judged.
  expect((await door(current, "other")).accepted).toBe(false);
  for (const [world, words] of [
    [expired, SAYS.expired],
    [early, SAYS.early],
  ] as const) {
    const why = CELLS[name] === "checks" ? "policy.current" : (expect.stringContaining(words) as string);
    expect(await door(world, "honest")).toEqual({ accepted: false, why: [why] });
  }
});
