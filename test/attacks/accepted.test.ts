/** Valid evidence is accepted in every shape, with exactly the warnings of the table. */
import { describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { ACCEPTED } from "./accepted.table.js";
import { CHAIN_SIGNATURES_ACCEPTED } from "./chain-signature.table.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { knownDetails } from "./details.js";
import { RELEASE_ACCEPTED } from "./github-release.table.js";
import { PROVENANCE_ACCEPTED } from "./provenance.table.js";
import { AT, forge, hex, idsOf, judge, judgedRow, lab, put, withActivity } from "./support.js";
import { expectAgreement } from "./warnings.js";

const ALL = [...ACCEPTED, ...CHAIN_SIGNATURES_ACCEPTED, ...PROVENANCE_ACCEPTED, ...RELEASE_ACCEPTED];
const expectKnownDetails = knownDetails("accepted", ALL.length);

describe("accepted", () => {
  it.each(ALL)("$name", async (row) => {
    const { judge: judgement, warns = [], skips = [] } = row;
    const { report, verified } = await judgedRow(row);
    expect(report.checks.filter((check) => check.status === "fail")).toEqual([]);
    expect(report.verdict).toBe(judgement?.noPolicy === true ? "authentic" : "verified");
    expect(report.claims).not.toBeNull();
    // Every lab root is a warning, because it is not the AWS one.
    expect(idsOf(report, "warn")).toEqual(["chain.anchor", ...warns].sort());
    expect(idsOf(report, "skip")).toEqual(expect.arrayContaining([...skips]));
    const subjects = report.checks.map(({ subject }) => subject).filter((subject) => subject !== "policy");
    expect(subjects.filter((subject) => verified.get(subject) === null)).toEqual([]);
    expectKnownDetails(report);
    await expectAgreement(report);
  });
});

describe("the report of valid evidence", () => {
  const evidence = forge();

  it("claims what was verified", async () => {
    const report = await judge(evidence, { given: withActivity });
    expect(report).toMatchObject({
      format: "bootproof-report/1",
      verdict: "verified",
      policy: "lab",
      validationTime: AT.toISOString(),
      claims: {
        bootProofs: [
          {
            hardware: {
              documentTime: AT.toISOString(),
              publicKey: hex(lab.ephemeralKey.publicKey),
              userData: hex(evidence.manifestHash),
              pcrs: { "0": hex(lab.measurements.pcr0), "3": hex(lab.measurements.pcr3) },
            },
            image: {
              pinned: true,
              debug: false,
              commitment: "live",
              manifest: {
                version: "v2",
                hash: hex(evidence.manifestHash),
                namespace: "lab/signer",
                nonce: 7,
                quorumKey: hex(lab.quorumKey.publicKey),
                threshold: 2,
                members: 3,
                approvedBy: [{ alias: "alice" }, { alias: "bob" }],
              },
            },
            deployment: "lab.1",
          },
        ],
        appProofs: [{ bootProof: 0, type: "APP_PROOF_TYPE_ADDRESS_DERIVATION" }],
        activity: { coveredAddresses: ["0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC"], uncoveredAddresses: [] },
      },
    });
  });

  it("has every check, in the order of the table, once for each subject", async () => {
    const expected = { organizationId: LAB_ADDRESS.organizationId };
    const signing = forge({ activity: put("type", "ACTIVITY_TYPE_SIGN_TRANSACTION_V2") });
    const report = await judge(signing, {
      given: withActivity,
      expected,
      measurements: { 0: lab.measurements.pcr0 },
      policy: { maxAge: "1d", appProofs: { required: true } },
    });
    const ofBuilds = CHECK_IDS.filter((id) => id.startsWith("provenance."));
    const ofEvidence = CHECK_IDS.filter((id) => !id.startsWith("token."));
    expect([...new Set(report.checks.map((check) => check.id)), ...ofBuilds]).toEqual(ofEvidence);
    const places = report.checks.map((check) => `${check.id}@${check.subject}`);
    expect(new Set(places).size).toBe(places.length);
    // Not pinned by this policy, or checked for the activity instead.
    expect(idsOf(report, "skip")).toEqual([
      "activity.signature",
      "app.request",
      "chain.revocation",
      "policy.args",
      "policy.current",
      "policy.manifest-hash",
      "policy.public-key",
      "policy.user-data",
      "policy.workloads",
    ]);
  });

  it("is the same for the same evidence", async () => {
    expect(await judge(evidence)).toEqual(await judge(evidence));
  });

  it("verifies each app proof with the boot proof of its key", async () => {
    const row = ACCEPTED.find(({ name }) => name.startsWith("two boot proofs"))!;
    const report = await judge(forge(row.forge), row.judge);
    expect(report.claims?.appProofs.map((proof) => proof.bootProof)).toEqual([1, 0]);
  });
});
