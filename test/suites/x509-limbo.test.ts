/** x509-limbo, made for P-384: what it expects of each path, what is answered here, and why where the two differ. */
import { describe, expect, it } from "vitest";
import { askedOf, limboCases, limboDecisions } from "./limbo.js";

const cases = limboCases();
const { reasons, cases: rows } = limboDecisions();

describe("x509-limbo", () => {
  it.each(cases.map((limbo) => [limbo.id, limbo] as const))("%s", async (id, limbo) => {
    const row = rows[id]!;
    const { ours, fails } = await askedOf(limbo);
    expect({ expected: limbo.expected_result, ours, fails }).toEqual({
      expected: row.expected,
      ours: row.ours,
      fails: row.fails,
    });
    const differs = (limbo.expected_result === "SUCCESS") !== (ours === "accepted");
    expect(row.because !== undefined, differs ? "no reason why" : "a reason for nothing").toBe(differs);
  });

  it("has a row for each case, and a use for each reason", () => {
    expect(Object.keys(rows)).toEqual(cases.map(({ id }) => id));
    const used = Object.values(rows).flatMap(({ because }) => (because === undefined ? [] : [because]));
    expect([...new Set(used)].sort()).toEqual(Object.keys(reasons).sort());
    expect(cases).toHaveLength(193);
  });
});
