/** Where only boot proofs are asked for, rules about app proofs are skipped, and that is said; and nowhere else. */
import { describe, expect, it } from "vitest";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type Row, fileOf, reportOf, scene } from "./support.js";

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const { bootProof, appProofs, activity, anchorPem, document } = forgeEvidence({ lab, at });
const pinned = labDeployment(lab);
const nitro = { name: "bare", kind: "nitro", pcrs: pinned["pcrs"]! };
const policyOf = (rules: object): string => fileOf({ ...labPolicy(anchorPem, [pinned, nitro]), appProofs: rules });
const N = {
  ...{ boot: fileOf(bootProof), apps: fileOf(appProofs), none: fileOf([]), activity: fileOf(activity) },
  ...{ bundle: fileOf(packEvidence({ bootProofs: [bootProof] })), document: fileOf(document) },
  ...{ key: bootProof["ephemeralPublicKeyHex"] as string, address: LAB_ADDRESS.address },
  ...{ demanding: policyOf({ required: true }), deciding: policyOf({ decision: true }), open: policyOf({}) },
};
const { run, table } = scene(N, { now: "2026-03-04T06:00:00Z" });

it.each([
  "--boot-proof $boot",
  "--boot-proof $boot --ephemeral-key $key",
  "--boot-proof $bundle",
  "--attestation $document",
])("only boot proofs are asked for by %s", async (evidence) => {
  const answer = await run(`verify ${evidence} --policy $demanding --format json`, 0, "VERIFIED ");
  const { verdict, notApplied, checks } = reportOf(answer);
  expect([verdict, notApplied]).toEqual(["verified", ["appProofs.required"]]);
  const detail = expect.stringContaining("requested: the policy's rules about app proofs were not applied") as string;
  expect(checks.find(({ id }) => id === "policy.app-proof")).toMatchObject({ status: "skip", detail });
  const RULES = "the policy's rules for them (appProofs.required) were not applied.";
  const says = `WARNING app proofs were not part of this verification: ${RULES}`;
  await run(`verify ${evidence} --policy $demanding`, 0, says);
});

describe("more is asked for, and the policy's rules hold", () => {
  const rejects = (line: string): Row => [line, 1, "FAIL policy.app-proof"];
  table([
    ["verify --boot-proof $boot --policy $open", 0, "!WARNING app proofs"],
    rejects("verify --boot-proof $boot --app-proof $none --policy $demanding"),
    rejects("verify $bundle --policy $demanding"),
    rejects("verify $bundle --ephemeral-key $key --policy $demanding"),
    rejects("verify --boot-proof $boot --policy $demanding --organization-id o --address $address"),
    ["verify --boot-proof $boot --app-proof $apps --policy $demanding", 0],
    ["verify --boot-proof $boot --activity $activity --policy $demanding", 0],
    rejects("verify --boot-proof $boot --app-proof $apps --policy $deciding"),
    rejects("verify --boot-proof $boot --activity $activity --policy $deciding"),
    // Somebody else verifies what is packed.
    rejects("bundle --boot-proof $boot --policy $demanding"),
  ]);
});
