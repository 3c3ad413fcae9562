import { describe, expect, it } from "vitest";
import type { Claims } from "../../src/report/report.js";
import { provenStatements, unprovenStatements } from "../../src/report/statements.js";
import { BOOT, PASSED, report, reportOf } from "./reports.js";

const proven = (...args: Parameters<typeof reportOf>): string => provenStatements(reportOf(...args)).join("\n");
const open = (...args: Parameters<typeof reportOf>): string => unprovenStatements(reportOf(...args)).join("\n");

describe("proven", () => {
  it("names hardware, image, application, approvers, key and deployment", () => {
    const text = proven({});
    expect(text).toContain("A genuine AWS Nitro enclave, module i-0123456789abcdef0-enc0123456789abcdef");
    expect(text).toContain("PCR0 f67076a8…a134b207");
    expect(text).toContain('of namespace "prod/signer", nonce 7, quorum key 04efefef…efefefef');
    expect(text).toContain('application binary with SHA-256 12121212…12121212, with the arguments "--port" "3000"');
    expect(text).toContain('2 of the 3 members of its manifest set approved it (2 needed): "alice" 04aaaaaa…aaaaaaaa, "bob"');
    expect(text).toContain("committed to this key and manifest when it went live");
    expect(text).toContain('It is the deployment "r2026.3.1" of the policy.');
  });

  it("says nothing of rejected evidence", () => {
    expect(provenStatements(report({ verdict: "rejected", claims: null }))).toEqual([]);
  });

  it("tells what a derivation and a policy outcome say", () => {
    const appProofs: Claims["appProofs"] = [
      {
        bootProof: 0, type: "APP_PROOF_TYPE_ADDRESS_DERIVATION", time: "2026-03-04T05:07:07.000Z",
        payload: { addressDerivationProof: { organizationId: "org", walletId: "wal", derivationPath: "m/0", address: "0xabc" } },
      },
      {
        bootProof: 0, type: "APP_PROOF_TYPE_POLICY_OUTCOME", time: "2026-03-04T05:07:08.000Z",
        payload: { policyOutcomeProof: { organizationId: "org", outcome: "OUTCOME_ALLOW", decisionContextDigest: "d1", organizationDataDigest: "d2" } },
      },
      { bootProof: 0, type: "APP_PROOF_TYPE_OTHER", time: "2026-03-04T05:07:09.000Z", payload: { type: "APP_PROOF_TYPE_OTHER", x: 1 } },
    ];
    const statements = provenStatements(report({ claims: { bootProofs: [BOOT], appProofs, activity: null } })).slice(-3);
    expect(statements).toEqual([
      "app[0]: the application stated at 2026-03-04T05:07:07.000Z: the address 0xabc was derived for organization org, wallet wal, path m/0.",
      "app[1]: the application stated at 2026-03-04T05:07:08.000Z: the policy decision is OUTCOME_ALLOW for organization org, decision context d1, organization data d2.",
      'app[2]: the application stated at 2026-03-04T05:07:09.000Z: {"type":"APP_PROOF_TYPE_OTHER","x":1} (of a type that this tool does not know).',
    ]);
  });

  it("claims no image and no AWS for debug mode and other anchors", () => {
    expect(proven({ debug: true })).not.toContain("The enclave booted the image");
    // Whatever the anchor calls itself: the check is what knows.
    const checks = PASSED.map((check) => (check.id === "chain.anchor" ? { ...check, status: "warn" as const } : check));
    expect(proven({}, { checks })).not.toContain("genuine AWS");
  });

  it("quotes what evidence chose", () => {
    const manifest = { ...BOOT.manifest!, namespace: 'x" and \u001b[32mVERIFIED', pivotArgs: ["a\nb", "\u202e"], approvedBy: [{ alias: 'a", "b', pubKey: "04" }] };
    const text = proven({ manifest, moduleId: "i\u0007" });
    expect(text).toContain('namespace "x\\" and \\u{1b}[32mVERIFIED"');
    expect(text).toContain('"a\\u{a}b" "\\u{202e}"');
    expect(text).toContain('"a\\", \\"b" 04');
    expect(text).toContain("i\\u{7}");
  });
});

describe("not proven", () => {
  it("is what no report can prove, where everything passed", () => {
    expect(unprovenStatements(report({}))).toEqual([
      "Any result of the application: no app proof was given.",
      "The labels (enclaveApp, owner, deploymentLabel) and createdAt: the service's word, signed by nobody.",
      "What source code the measured image and binary were built from, and whether that code is good: reproduce the build, review it.",
    ]);
  });

  it("is everything, of rejected evidence", () => {
    expect(unprovenStatements(report({ verdict: "rejected", claims: null }))).toEqual([expect.stringMatching(/^Anything: the evidence was rejected/)]);
  });

  it("includes whose enclave it is, without a policy", () => {
    const text = open({ deployment: null }, { verdict: "authentic", policy: null, checks: PASSED.slice(0, 1) });
    expect(text).toMatch(/^Whose enclave this is/);
    expect(text).toContain("the manifest names them itself");
    expect(text).toContain("That the enclave still runs: the document is of 2026-03-04T05:06:07.000Z");
  });

  it("includes what is missing in legacy, setup and bare documents, debug mode and other anchors", () => {
    expect(open({ commitment: "legacy" })).toContain("the document is a legacy one without commitment");
    expect(open({ commitment: "setup" })).toContain("it is a setup key");
    expect(open({ manifest: null, commitment: null })).toContain("a bare attestation document comes without a manifest");
    expect(open({ debug: true })).toContain("it is in debug mode");
    const checks = [{ ...PASSED[0]!, status: "warn" as const }];
    expect(open({ trustAnchor: "lab.pem" }, { checks })).toContain('its certificates lead to "lab.pem"');
    expect(open({}, { checks: PASSED.slice(0, 1) })).toContain("the policy does not pin a manifest set");
  });

  it("includes the parts of an activity that no proof speaks of", () => {
    const activity = { id: "a1", organizationId: "org", type: "T", coveredAddresses: ["0x1"], uncoveredAddresses: ["0x2", "0x3"] };
    const claims: Claims = { bootProofs: [BOOT], appProofs: [], activity };
    expect(provenStatements(report({ claims })).at(-1)).toBe('In activity "a1", the address 0x1 is backed by an app proof.');
    const text = unprovenStatements(report({ claims })).join("\n");
    expect(text).toContain('The addresses 0x2, 0x3 in activity "a1": no app proof speaks of them.');
    expect(text).toContain("The rest of the activity");
  });

  it("names the boot proof where there are several", () => {
    const claims: Claims = { bootProofs: [BOOT, { ...BOOT, commitment: "legacy" }], appProofs: [], activity: null };
    const checks = [...PASSED, { ...PASSED[0]!, subject: "boot[1]" as const }];
    expect(unprovenStatements(report({ claims, checks }))[0]).toMatch(/^That boot\[1\] itself chose/);
    expect(provenStatements(report({ claims, checks })).filter((text) => text.startsWith("boot[1]: "))).toHaveLength(7);
  });
});
