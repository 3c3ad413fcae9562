import { expect, it } from "vitest";
import { EXIT, exitCodeOf } from "../../src/cli/exit-codes.js";

it("are the published ones", () => {
  expect(EXIT).toEqual({ good: 0, rejected: 1, different: 1, usage: 2, unreachable: 3 });
  expect(exitCodeOf("verified")).toBe(0);
  expect(exitCodeOf("authentic")).toBe(0);
  expect(exitCodeOf("rejected")).toBe(1);
});
