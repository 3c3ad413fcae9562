import { expect, it } from "vitest";
import { EXIT, exitCodeOf } from "../../src/cli/exit-codes.js";

it("are the published ones", () => {
  expect(EXIT).toEqual({ good: 0, rejected: 1, different: 1, usage: 2, unreachable: 3 });
  for (const verdict of ["verified", "authentic"]) {
    expect(exitCodeOf({ verdict })).toBe(0);
    expect(exitCodeOf({ verdict, refusedFor: ["a warning"] })).toBe(1);
  }
  for (const verdict of ["rejected", "malformed", "splendid"]) expect(exitCodeOf({ verdict })).toBe(1);
});
