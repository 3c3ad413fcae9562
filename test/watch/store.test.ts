/** The store in memory: what it keeps, and how much of it. */
import { expect, it } from "vitest";
import { type LogLine, lineAfter } from "../../src/watch/entry.js";
import { memoryStore } from "../../src/watch/store.js";
import { finding } from "./support.js";

it("keeps a hundred refusals, and drops the oldest", async () => {
  const store = memoryStore();
  const add = async (boot: number): Promise<LogLine> => {
    const line = await lineAfter(store.tail(), await finding("signer", { boot }, { verdict: "rejected" }));
    await store.append(line);
    return line;
  };
  for (let boot = 1; boot <= 100; boot++) await add(boot);
  expect((await store.nextRefusal())?.entry.n).toBe(1);
  await add(101);
  expect((await store.nextRefusal())?.entry.n).toBe(2);
  await store.markHandedOn(100);
  expect((await store.nextRefusal())?.entry.n).toBe(101);
  await store.markHandedOn(101);
  expect(await store.nextRefusal()).toBe(null);
  expect(store.tail().entries).toBe(101);
});
