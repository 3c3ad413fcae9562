/** A policy compared with evidence: which of its pins hold, and which do not. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { type Difference, diffUnverified } from "../../src/diff/diff.js";
import { renderDiff } from "../../src/diff/text.js";
import { PINS, PIN_NAMES } from "../../src/appraise/pins.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { forgeEvidence, labDeployment } from "../../src/lab/forge.js";
import { verifyBootProof } from "../../src/index.js";
import { DEMAND, ROOT } from "../support/provenance.js";
import { AT, bootProof, file, lab, policy, policyOf } from "./support.js";

const boot = bootProof();
const own = labDeployment(lab);
const OTHER = "11".repeat(32);

function pinsOf({ pins }: Difference): NonNullable<Difference["pins"]> {
  expect(pins).not.toBeNull();
  return pins!;
}

const differing = async (pins: JsonObject): Promise<string[]> => {
  const { nearest } = pinsOf(await diffUnverified(policy({}, pins), boot));
  return nearest!.pins.filter(({ holds }) => !holds).map(({ pin }) => pin);
};

describe("a policy and a boot proof", () => {
  it("are the same if every pin holds", async () => {
    const difference = await diffUnverified(policy(), boot);
    expect(difference).toMatchObject({
      kind: "policy and boot proof",
      same: true,
      compared: ["pins"],
      counts: { critical: 0, notable: 0, minor: 0 },
      changes: [],
      leftOut: 0,
    });
    expect(difference["NOT VERIFIED"]).toMatch(/^Neither input was checked/);
    const { nearest, others } = pinsOf(difference);
    expect(nearest).toMatchObject({ name: "lab.1", holds: true, scope: [], notCompared: [] });
    expect(new Set(nearest!.pins.map(({ pin }) => pin))).toEqual(
      new Set(PIN_NAMES.filter((name) => Object.hasOwn(own, name) || PINS[name].unnamed !== undefined)),
    );
    expect(others).toEqual([]);
  });

  it.each<[pins: JsonObject, wanted: string]>([
    [{ namespace: "another" }, "namespace"],
    [{ minNonce: 8 }, "minNonce"],
    [{ commitment: "setup" }, "commitment"],
    [{ pivotArgs: ["--other"] }, "pivotArgs"],
    [{ labels: { owner: "somebody" } }, "labels"],
    [{ manifestHash: OTHER }, "manifestHash"],
  ])("differ in %o", async (pins, wanted) => {
    expect(await differing(pins)).toEqual([wanted]);
  });

  it("name what is not pinned, and what cannot be compared", async () => {
    const { nearest } = pinsOf(await diffUnverified(policy(), boot));
    // A manifest of one application has no workloads that could be pinned.
    expect(nearest!.notPinned).toEqual(["manifestHash", "pivotArgs", "pivotEnv", "provenance"]);
    const { 0: zero, 1: one, 2: two } = own["pcrs"] as Record<string, string>;
    const demanding = policy({}, { provenance: [{ ...DEMAND, trustedRoot: { json: ROOT } }] });
    expect(pinsOf(await diffUnverified(demanding, boot)).nearest!.notCompared).toEqual(["provenance"]);
    const fewer = policy({}, { pcrs: { 0: zero!, 1: one!, 2: two! } });
    expect(pinsOf(await diffUnverified(fewer, boot)).nearest!.notPinned).toContain("pcrs.3");
  });

  it("are shown as docs/cli.md shows them", async () => {
    const newer = { ...own, minNonce: 8 };
    const both = policyOf([
      { ...newer, name: "signer" },
      { ...newer, name: "old", pivotHash: OTHER },
    ]);
    const document = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
    const [, shown] = /```text\n\$ bootproof diff policy\.json boot\.json\n([^]*?)```/.exec(document)!;
    expect(renderDiff(await diffUnverified(both, boot))).toBe(shown);
  });

  it("differ where no deployment is for evidence of this kind", async () => {
    const nitro = policyOf([{ name: "bare", kind: "nitro", pcrs: own["pcrs"]! }]);
    const difference = await diffUnverified(nitro, boot);
    expect([difference.same, difference.pins]).toEqual([false, { nearest: null, others: [] }]);
    const { document } = forgeEvidence({ lab, at: AT });
    expect(await diffUnverified(nitro, document)).toMatchObject({
      same: true,
      kind: "policy and attestation document",
    });
  });

  it("find a commitment of evidence that has none different", async () => {
    const one = bootProof({
      alterDocument: {
        fields: (fields) => new Map(fields as never).set("pcrs", new Map([[17, new Uint8Array(48).fill(1)]])) as never,
      },
    });
    const { nearest } = pinsOf(await diffUnverified(policy(), one));
    expect(nearest!.pins).toContainEqual(expect.objectContaining({ pin: "commitment", holds: false, found: "none" }));
  });

  it("answer as the appraisal does", async () => {
    for (const [pins, isMet] of [
      [{}, true],
      [{ pivotHash: OTHER }, false],
      [{ minNonce: 8 }, false],
    ] as const) {
      const { report } = await verifyBootProof(boot, { policy: parsePolicy(policy({}, pins)), now: AT });
      const check = report.checks.find(({ id }) => id === "policy.deployment")!;
      expect(check.status === "pass").toBe(isMet);
      expect((await diffUnverified(policy({}, pins), boot)).same).toBe(isMet);
    }
  });
});

it("two policies and two boot proofs have no comparison of pins", async () => {
  expect((await diffUnverified(policy(), policy())).pins).toBeNull();
  expect((await diffUnverified(boot, file(JSON.parse(Buffer.from(boot).toString())))).pins).toBeNull();
});
