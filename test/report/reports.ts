/** Reports made by hand, for rendering: nothing in them was verified. */
import type { Check } from "../../src/checks.js";
import type { BootProofClaims, Report } from "../../src/report/report.js";

const HEX48 = "f67076a8f9796b90d7f0eb148ec6926f66fe04c80861151916961f7dec715b3c8a36e5908e9551c20048719da134b207";

export const BOOT: BootProofClaims = {
  trustAnchor: "aws-nitro-root-g1",
  documentTime: "2026-03-04T05:06:07.000Z",
  moduleId: "i-0123456789abcdef0-enc0123456789abcdef",
  pcrs: { "0": HEX48, "1": HEX48, "2": HEX48, "3": HEX48 },
  debug: false,
  publicKey: `04${"ab".repeat(129)}`,
  userData: "cd".repeat(32),
  manifest: {
    version: "v2",
    hash: "cd".repeat(32),
    namespace: "prod/signer",
    nonce: 7,
    quorumKey: `04${"ef".repeat(129)}`,
    pivotHash: "12".repeat(32),
    pivotArgs: ["--port", "3000"],
    threshold: 2,
    members: 3,
    approvedBy: [{ alias: "alice", pubKey: `04${"aa".repeat(129)}` }, { alias: "bob", pubKey: `04${"bb".repeat(129)}` }],
  },
  commitment: "live",
  deployment: "r2026.3.1",
};

export const PASSED: readonly Check[] = [
  { id: "chain.anchor", subject: "boot[0]", status: "pass", detail: "starts at aws-nitro-root-g1" },
  { id: "policy.manifest-set", subject: "policy", status: "pass", detail: "2 of 3 members, as pinned" },
  { id: "policy.age", subject: "policy", status: "pass", detail: "made at 2026-03-04T05:06:07.000Z" },
];

export function report(rest: Partial<Report>): Report {
  return {
    format: "bootproof-report/1",
    verdict: "verified",
    policy: "signer, production",
    validationTime: "2026-03-04T05:06:07.000Z",
    checks: PASSED,
    claims: { bootProofs: [BOOT], appProofs: [], activity: null },
    ...rest,
  };
}

/** With its one boot proof altered. */
export function reportOf(boot: Partial<BootProofClaims>, rest: Partial<Report> = {}): Report {
  return report({ claims: { bootProofs: [{ ...BOOT, ...boot }], appProofs: [], activity: null }, ...rest });
}
