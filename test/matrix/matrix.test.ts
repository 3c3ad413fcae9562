/** Each fact at each entrance that needs no build (README.md): refused by its check, and its honest twin accepted. */
import { afterAll, it } from "vitest";
import { cellsOf, expectJudged } from "./cells.js";
import { FAST, service } from "./doors-fast.js";

afterAll(() => service.close());

it.each(cellsOf(FAST).map((cell) => [cell.entrance, cell.name, cell] as const))("%s: %s", (_, __, cell) =>
  expectJudged(cell),
);
