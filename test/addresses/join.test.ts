/** The join of lists and verified proofs. */
import { describe, expect, it } from "vitest";
import { type AddressEvidence, joinAddresses, unplacedKeys } from "../../src/addresses/index.js";
import { JOIN_ROWS, type JoinRow } from "./join.table.js";
import { A, B, C, ORG, S, listsOf, verifiedOf } from "./support.js";

const NAMES = new Map([
  [A, "A"],
  [A.toLowerCase(), "a"],
  [B, "B"],
  [C, "C"],
  [S, "S"],
  [S.toLowerCase(), "s"],
]);

async function evidenceOf({ activities = [], verify }: JoinRow): Promise<AddressEvidence[]> {
  const all: AddressEvidence[] = [];
  for (const each of activities) {
    const verified = await verifiedOf(each, verify);
    if (verified !== null) all.push(verified);
  }
  return all;
}

describe("the class of an address", () => {
  it("has cases", () => {
    expect(JOIN_ROWS.length).toBeGreaterThan(100);
    expect(new Set(JOIN_ROWS.map(({ name }) => name)).size).toBe(JOIN_ROWS.length);
  });

  it.each(JOIN_ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    const evidence = await evidenceOf(row);
    const lists = listsOf(row.lists);
    const options = { organizationId: ORG, ...row.join };
    const rows = joinAddresses(lists, evidence, options);
    expect(
      rows.map((each) => `${each.listed ? "" : "unlisted "}${each.class} ${NAMES.get(each.address) ?? each.address}`),
    ).toEqual(row.rows.map(([text]) => text));
    row.rows.forEach(([, reason], index) => {
      const found = rows[index]!.reason;
      if (reason === null) expect(found).toBeNull();
      else if (reason !== undefined) expect(found).toMatch(reason);
    });
    expect(joinAddresses(lists, evidence.toReversed(), options)).toEqual(rows);
    const unplaced = unplacedKeys(lists, evidence, options);
    expect(unplaced.map(({ type, address }) => [type.replace("ACTIVITY_TYPE_", ""), address])).toEqual(
      row.unplaced ?? [],
    );
  });
});
