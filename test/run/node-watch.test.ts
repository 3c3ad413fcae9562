/** The clock, the timer and the chance of this process. */
import { expect, it } from "vitest";
import { SYSTEM } from "../../src/run/node.js";

it("are those of Node", async () => {
  const { signal } = new AbortController();
  const [before, start] = [Date.now(), performance.now()];
  await SYSTEM.sleep(30, signal);
  expect(performance.now() - start).toBeGreaterThan(25);
  expect(SYSTEM.now().getTime()).toBeGreaterThanOrEqual(before);
  const drawn = Array.from({ length: 20 }, () => SYSTEM.random());
  expect(drawn.every((one) => one >= 0 && one < 1)).toBe(true);
  expect(new Set(drawn).size).toBeGreaterThan(1);
});

it("wakes early where the signal is aborted", async () => {
  const stop = new AbortController();
  const sleeping = SYSTEM.sleep(60_000, stop.signal);
  stop.abort();
  await expect(sleeping).rejects.toThrow();
});
