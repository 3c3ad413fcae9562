/** What a policy is worth, before any evidence. */
import { describe, expect, it } from "vitest";
import { checkPolicy, describePolicy } from "../../src/author/index.js";
import { parsePolicy } from "../../src/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { drop, lab } from "../attacks/support.js";

const PCR = "ab".repeat(48);
const HASH = "cd".repeat(32);
const image = { "0": PCR, "1": PCR, "2": PCR };
const code = { pcrs: image, pivotHash: HASH };
const KEY = "04".repeat(130);

describe("a deployment", () => {
  it.each([
    [
      { ...code, open: ["operator"] },
      { image: ["pcrs"], application: ["pivotHash"], operator: [] },
      /leaves the operator open: anyone/,
    ],
    [
      { pcrs: { ...image, "3": PCR }, pivotHash: HASH },
      { image: ["pcrs"], application: ["pivotHash"], operator: ["pcrs"] },
      /only pcrs 3/,
    ],
    [
      { manifestSet: { threshold: 1, members: [KEY] }, namespace: "a" },
      { image: ["manifestSet"], application: ["manifestSet"], operator: ["manifestSet"] },
      /minNonce excludes old ones/,
    ],
    [{ ...code, quorumKey: KEY }, { image: ["pcrs"], application: ["pivotHash"], operator: ["quorumKey"] }, /^$/],
    [{ kind: "nitro", pcrs: image }, { image: ["pcrs"], application: ["pcrs"], operator: [] }, /pins no operator/],
    [{ kind: "nitro", pcrs: { "8": PCR } }, { image: ["pcrs"], application: [], operator: ["pcrs"] }, /^$/],
    [
      { kind: "nitro", pcrs: image, publicKey: KEY },
      { image: ["pcrs"], application: ["pcrs"], operator: ["publicKey"] },
      /^$/,
    ],
  ])("says what answers, and what an attacker makes of the rest: %j", (deployment, answers, reason) => {
    const described = describePolicy(parsePolicy({ policy: "bootproof/1", deployments: [deployment] })).deployments[0]!;
    expect(described.answers).toEqual(answers);
    expect(described.reasons.join()).toMatch(reason);
  });

  it("lists the pins that count, and the PCRs that every image is pinned by", () => {
    const policy = parsePolicy({
      policy: "bootproof/1",
      deployments: [
        {
          ...code,
          pcrs: [
            { ...image, "3": PCR },
            { ...image, "8": PCR },
          ],
          open: ["operator"],
          appProofs: { types: ["A"] },
        },
      ],
    });
    expect(describePolicy(policy).deployments[0]).toMatchObject({
      name: "deployments[0]",
      kind: "qos",
      open: ["operator"],
      pinned: ["pcrs", "pivotHash", "commitment"],
      pcrs: [0, 1, 2],
      appProofTypes: ["A"],
    });
  });
});

describe("a policy", () => {
  it("tells its anchors, loudly where one is not of AWS, and debug mode", () => {
    const policy = labPolicy(certificatePem(lab.pki.rootCertificate), [labDeployment(lab)], { allowDebug: true });
    const { trustAnchors, warnings } = describePolicy(parsePolicy(policy));
    expect(trustAnchors).toMatchObject([{ awsNitroRoot: false, notAfter: expect.stringMatching(/^20.*Z$/) as string }]);
    expect(warnings[0]).toMatch(/^trusts .*CN=lab\.nitro.* which is not the AWS Nitro root: anyone who holds its key/);
    expect(warnings[1]).toMatch(/^allows debug mode/);
    const plain = describePolicy(
      parsePolicy({ policy: "bootproof/1", deployments: [{ ...code, open: ["operator"] }] }),
    );
    expect([plain.warnings, plain.trustAnchors[0]!.awsNitroRoot]).toEqual([[], true]);
  });
});

describe("checking a file", () => {
  it("answers every fault, or the description", () => {
    const good = { policy: "bootproof/1", deployments: [{ ...code, open: ["operator"] }] };
    expect(checkPolicy(JSON.stringify(good))).toEqual({
      format: "bootproof-policy-check/1",
      faults: [],
      ...describePolicy(parsePolicy(good)),
    });
    expect(checkPolicy({ ...drop("policy")(good), naem: 1 })).toEqual({
      format: "bootproof-policy-check/1",
      faults: [
        { path: "policy", message: 'expected "bootproof/1", got nothing' },
        { path: "naem", message: "unknown member, did you mean name?" },
      ],
      deployments: [],
    });
    expect(checkPolicy("{").faults).toEqual([
      { path: "", message: expect.stringMatching(/^not strict JSON: expected a member/) as string },
    ]);
  });
});
