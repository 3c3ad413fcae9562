/** The rows of rooms.mjs name files that are there. */
import { expect, it } from "vitest";
import { trackedFiles } from "../tracked.mjs";
import { DECIDING, ROOMS, roomOf } from "./rooms.mjs";

const files = trackedFiles();
const rows = Object.entries(ROOMS);

it.each(rows)("%s: each beginning is that of a source or of a test", (_, { sources, without = [], tests }) => {
  const isThere = (start: string, ending: string): boolean =>
    files.some((file) => file.startsWith(start) && file.endsWith(ending));
  expect([...sources, ...without].filter((start) => !isThere(start, ".ts"))).toEqual([]);
  expect(tests.filter((start) => !isThere(start, ".test.ts"))).toEqual([]);
});

it("a source is in the row with the longest beginning that fits", () => {
  expect(roomOf("src/appraise/edit.ts")).toBe("editing");
  expect(roomOf("src/appraise/policy.ts")).toBe("appraise");
  expect(roomOf("src/audit/node-queue-wire.ts")).toBe("queue");
  expect(roomOf("src/page/browser.ts")).toBeUndefined();
  expect(DECIDING.filter((room) => !(room in ROOMS))).toEqual([]);
});
