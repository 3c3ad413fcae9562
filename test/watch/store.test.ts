/** The store in memory: what it keeps, and how much of it. */
import { expect, it } from "vitest";
import { type LogLine, lineAfter } from "../../src/watch/entry.js";
import { memoryStore } from "../../src/watch/store.js";
import { START, finding } from "./support.js";

it("keeps a hundred refusals, and drops the oldest", async () => {
  const store = memoryStore();
  const add = async (boot: number): Promise<LogLine> => {
    const line = await lineAfter(store.tail(), await finding("signer", { boot }, { verdict: "rejected" }));
    await store.append(line);
    return line;
  };
  for (let boot = 1; boot <= 100; boot++) await add(boot);
  const at = START.toISOString();
  expect([store.undelivered("refusal").length, store.undelivered("refusal")[0]]).toEqual([100, { n: 1, at }]);
  const newest = await add(101);
  expect([store.undelivered("refusal").length, store.undelivered("refusal")[0]]).toEqual([100, { n: 2, at }]);
  // The marks are a set: one that is not delivered does not hide the others.
  for (let n = 3; n <= 100; n++) await store.markDelivered("refusal", n);
  expect(store.undelivered("refusal").map(({ n }) => n)).toEqual([2, 101]);
  expect(await store.lineOf("refusal", 101)).toEqual(newest);
  await expect(store.lineOf("refusal", 3)).rejects.toThrow("entry 3 is not an undelivered refusal");
  expect([await store.countAsDelivered("refusal"), store.undelivered("refusal")]).toEqual([2, []]);
  await add(102);
  expect([store.undelivered("refusal"), store.tail().entries]).toEqual([[], 102]);
});
