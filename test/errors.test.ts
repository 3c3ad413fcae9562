import { describe, expect, it } from "vitest";
import { Checklist, rejectedText } from "../src/checks.js";
import { FaultList, MalformedError, cut, faultText, shownName } from "../src/errors.js";

const LONG = "n".repeat(1_000_000);

describe("texts that the input chose", () => {
  it("are cut, and say how long they are", () => {
    expect([cut("abc", 3), cut("abcd", 3)]).toEqual(["abc", "abc… (4 characters)"]);
    expect([shownName("n".repeat(64)), shownName("n".repeat(65))]).toEqual(["n".repeat(64), `${"n".repeat(64)}…`]);
  });

  it("are never cut within a character: half of one is refused as JSON", () => {
    expect([cut("ab😀c", 3), cut("ab😀c", 4), shownName("😀😀", 3)]).toEqual([
      "ab… (5 characters)",
      "ab😀… (5 characters)",
      "😀…",
    ]);
  });

  it("stand cut in faults, in lists of them and in the error's own message", () => {
    const list = new FaultList();
    for (let index = 0; index < 200; index++) list.push({ path: LONG, message: LONG });
    expect(JSON.stringify(list).length).toBeLessThan(200_000);
    for (const faults of [list, Array(200).fill({ path: LONG, message: LONG })]) {
      expect(faultText(faults).length).toBeLessThan(9000);
      const error = new MalformedError("json", faults);
      expect([error.message.length < 9000, JSON.stringify(error.faults).length < 300_000]).toEqual([true, true]);
    }
  });

  it("stand cut in the answers of checks, and in the sentence about those that failed", () => {
    const checklists = Array.from({ length: 100 }, (_, index) => new Checklist(`boot[${index}]`));
    for (const checklist of checklists) checklist.fail("boot.decode", LONG, { expected: LONG, actual: LONG });
    const checks = checklists.flatMap((checklist) => checklist.list());
    expect(JSON.stringify(checks[0]).length).toBeLessThan(25_000);
    expect(checks[0]!.detail).toMatch(/^n+… \(1000000 characters\)$/);
    expect(rejectedText({ checks, stale: false }).length).toBeLessThan(40_000);
    expect(rejectedText({ checks, stale: false })).toMatch(/^rejected: boot\[0\] boot\.decode: n.*; and 68 more$/);
  });
});

it("a list of faults takes over those of another, and counts what neither keeps", () => {
  const [one, other] = [new FaultList(), new FaultList()];
  one.push({ path: "a", message: "x" });
  for (let index = 0; index < 150; index++) other.push({ path: `b${index}`, message: "y" });
  one.pushAll(other);
  expect([one.total, one.length, one.at(-1)]).toEqual([151, 101, { path: "", message: "and 51 more" }]);
  expect(one.slice(0, 2).map(({ path }) => path)).toEqual(["a", "b0"]);
  const few = new FaultList();
  few.pushAll(new FaultList());
  expect([few.total, few.length]).toEqual([0, 0]);
});
