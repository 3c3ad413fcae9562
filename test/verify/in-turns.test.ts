/** So many at once: answers in order, and no more under way than was said. */
import { expect, it } from "vitest";
import { inTurns } from "../../src/verify/in-turns.js";

it.each([
  [1, 3],
  [2, 5],
  [4, 2],
  [4, 0],
])("%i at once of %i", async (atOnce, count) => {
  let [underWay, most] = [0, 0];
  const items = Array.from({ length: count }, (_, index) => `i${index}`);
  const answers = await inTurns(items, atOnce, async (item, index) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setTimeout(resolve, count - index));
    underWay--;
    return `${item} ${index}`;
  });
  expect(answers).toEqual(items.map((item, index) => `${item} ${index}`));
  expect(most).toBe(Math.min(atOnce, count));
});
