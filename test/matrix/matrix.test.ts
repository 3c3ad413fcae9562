/** Each fact at each door that needs no build (README.md): refused by its check, and its honest twin accepted. */
import { afterAll, expect, it } from "vitest";
import { cellsOf, expectRefused, judgedTwin, worldOf } from "./cells.js";
import { FAST_DOORS, service } from "./doors-fast.js";

afterAll(() => service.close());

it.each(cellsOf("fast").map((cell) => [cell.door, cell.name, cell] as const))("%s: %s", async (_, __, cell) => {
  const world = worldOf(cell.name);
  const door = FAST_DOORS[cell.door as keyof typeof FAST_DOORS];
  expectRefused(await door(world, "other"), cell);
  expect(await judgedTwin(cell.door, door, world)).toEqual({ accepted: true, why: [] });
});
