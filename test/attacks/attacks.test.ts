/** Every known way to break evidence, each rejected for its own reason and for no other. */
import { describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { APP_PROOF_ATTACKS } from "./app-proof.table.js";
import { BOOT_PROOF_ATTACKS } from "./boot-proof.table.js";
import { CHAIN_SIGNATURE_ATTACKS } from "./chain-signature.table.js";
import { CHAIN_ATTACKS } from "./chain.table.js";
import { knownDetails } from "./details.js";
import { DOCUMENT_ATTACKS } from "./document.table.js";
import { RELEASE_ATTACKS } from "./github-release.table.js";
import { POLICY_ATTACKS } from "./policy.table.js";
import { PROVENANCE_ATTACKS } from "./provenance.table.js";
import { type Attack, checksOfLie, handedBack, idsOf, judgedRow } from "./support.js";
import { expectAgreement } from "./warnings.js";

const TABLES: Record<string, readonly Attack[]> = {
  document: DOCUMENT_ATTACKS,
  path: CHAIN_ATTACKS,
  "boot proof": BOOT_PROOF_ATTACKS,
  "app proof": APP_PROOF_ATTACKS,
  "signature of a chain": CHAIN_SIGNATURE_ATTACKS,
  policy: POLICY_ATTACKS,
  provenance: PROVENANCE_ATTACKS,
  "release of GitHub": RELEASE_ATTACKS,
};
const ALL = Object.values(TABLES).flat();
const expectKnownDetails = knownDetails("attacks", ALL.length);

describe.each(Object.entries(TABLES))("attacks: %s", (_, attacks) => {
  it.each(attacks)("$name", async (attack) => {
    const answer = await judgedRow(attack);
    const { report } = answer;
    const failing = idsOf(report, "fail");
    if (attack.more === true) expect(failing).toEqual(expect.arrayContaining([...attack.fails]));
    else expect(failing).toEqual([...attack.fails].sort());
    expect(report.verdict).toBe("rejected");
    expect(report.claims).toBeNull();
    expectKnownDetails(report);
    await expectAgreement(report);
    expect(handedBack(answer)).toEqual([]);
    expect(report.checks.filter(({ detail }) => detail === "")).toEqual([]);
  });
});

describe("the tables", () => {
  it("cover every check", () => {
    expect(
      CHECK_IDS.filter((id) => !id.startsWith("token.") && !ALL.some((attack) => attack.fails.includes(id))),
    ).toEqual([]);
  });

  it("have the checks of the lab's lies, where a row is one of these", () => {
    const rows = ALL.flatMap((row) => {
      const checks = checksOfLie(row);
      return checks === undefined ? [] : [[row.name, [...row.fails].sort().join(), [...checks].sort().join()]];
    });
    expect(rows.length).toBeGreaterThanOrEqual(29);
    expect(rows.filter(([, fails, checks]) => fails !== checks)).toEqual([]);
  });

  it("name each attack once", () => {
    const names = ALL.map((attack) => attack.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("are large", () => {
    expect(ALL.length).toBeGreaterThanOrEqual(130);
  });
});
