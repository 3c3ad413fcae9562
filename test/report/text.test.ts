import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHECK_ADVICE, CHECK_IDS, type Check, type CheckStatus } from "../../src/checks.js";
import type { Claims } from "../../src/report/report.js";
import { renderFailures, renderText } from "../../src/report/text.js";
import { BOOT, PASSED, report } from "./reports.js";

const PLAIN = { color: false };
const failed: Check = { id: "bind.user-data", subject: "boot[0]", status: "fail", detail: "user_data is not the hash of the manifest", expected: "aa".repeat(32), actual: `bb${"aa".repeat(31)}` };

describe("the verdict", () => {
  it("comes first, in words", () => {
    expect(renderText(report({}), PLAIN)).toMatch(/^VERIFIED: every check passed, and the deployment is one that the policy "signer,/);
    expect(renderText(report({ policy: null }), PLAIN)).toMatch(/^VERIFIED: .* that the policy pins\.\n/);
    expect(renderText(report({ verdict: "authentic", policy: null }), PLAIN)).toMatch(/^AUTHENTIC: every check passed, but no policy was given/);
  });

  it("of rejected evidence says that nothing is proven, and what failed first", () => {
    const checks = [PASSED[0]!, failed, { ...failed, id: "bind.pcrs" as const }];
    const text = renderText(report({ verdict: "rejected", claims: null, checks }), PLAIN);
    expect(text.replace(/\s+/g, " ")).toMatch(/^REJECTED: nothing is proven\. 2 checks failed, the first is bind\.user-data \(boot\[0\]\): user_data is not/);
    expect(text).not.toMatch(/^Proven$/m);
    expect(text).toContain("Not proven\n  - Anything: the evidence was rejected");
    expect(renderText(report({ verdict: "rejected", claims: null, checks: [failed] }), PLAIN)).toContain("One check failed: bind.user-data");
  });
});

it("says beside the verdict what takes its weight away", () => {
  const claims: Claims = { bootProofs: [{ ...BOOT, trustAnchor: "lab.pem", debug: true }], appProofs: [], activity: null };
  const checks: Check[] = [{ ...PASSED[0]!, status: "warn" }];
  expect(renderText(report({ claims, checks }), PLAIN)).toMatch(
    /^VERIFIED: [^]*pins\.\nBUT the certificates lead to "lab\.pem", not to AWS: .*\nBUT debug mode was found and allowed: .*\n1 warning/);
  expect(renderText(report({}), PLAIN)).not.toContain("BUT");
});

describe("the checks", () => {
  it("are grouped, with a word for each status", () => {
    const checks: Check[] = [
      { id: "cose.signature", subject: "boot[0]", status: "pass", detail: "signed" },
      { id: "envelope.decode", subject: "boot[0]", status: "skip", detail: "its field could not be read" },
      { id: "bind.commitment", subject: "boot[0]", status: "warn", detail: "legacy" },
      failed,
    ];
    expect(renderText(report({ verdict: "rejected", claims: null, checks }), PLAIN)).toContain(`
1 passed, 1 failed, 1 warning, 1 skipped, certificates judged as of 2026-03-04T05:06:07.000Z

Document and certificate chain
  ok    cose.signature        signed

Manifest and approvals
  skip  envelope.decode       its field could not be read

What ties them together
  WARN  bind.commitment       legacy
  FAIL  bind.user-data        user_data is not the hash of the manifest
        expected  [aa]aaaaaa…
        actual    [bb]aaaaaa…
                  1 of 32 bytes differs, at 0, counted from 0
        -> The enclave booted with another manifest than the one shown: report it.

Not proven
`);
  });

  it("name their subject where there are several", () => {
    const checks: Check[] = [failed, { ...failed, subject: "boot[1]" }];
    const text = renderText(report({ verdict: "rejected", claims: null, checks }), PLAIN);
    expect(text).toContain("What ties them together: boot[0]\n");
    expect(text).toContain("What ties them together: boot[1]\n");
  });

  it("that are skipped for one reason are told once", () => {
    const skipped = (id: Check["id"]): Check => ({ id, subject: "boot[0]", status: "skip", detail: "the COSE_Sign1 could not be read" });
    const checks = [skipped("cose.algorithm"), skipped("cose.signature"), skipped("doc.structure")];
    expect(renderText(report({ checks }), PLAIN)).toContain(
      "  skip  cose.algorithm, cose.signature, doc.structure\n        the COSE_Sign1 could not be read\n");
  });

  it("of app proofs that passed are one line each, where there are several", () => {
    const passes = (subject: Check["subject"]): Check[] =>
      (["app.decode", "app.key"] as const).map((id) => ({ id, subject, status: "pass", detail: "fine" }));
    expect(renderText(report({ checks: [...passes("app[0]"), ...passes("app[1]")] }), PLAIN)).toContain(
      "App proofs: app[0]\n  ok    app.decode, app.key\n\nApp proofs: app[1]\n  ok    app.decode, app.key\n");
  });

  it("that fail carry the advice for each id", () => {
    for (const id of CHECK_IDS) {
      const text = renderText(report({ verdict: "rejected", claims: null, checks: [{ ...failed, id }] }), PLAIN);
      expect(text.replace(/\s+/g, " ")).toContain(`-> ${CHECK_ADVICE[id]}`);
    }
  });
});

it("renderFailures has the verdict and the failures alone", () => {
  const text = renderFailures(report({ verdict: "rejected", claims: null, checks: [PASSED[0]!, failed] }), PLAIN);
  expect(text).toMatch(/^REJECTED/);
  expect(text).toContain("bind.user-data");
  expect(text).not.toContain("chain.anchor");
});

describe("colour", () => {
  it("is there where it is asked for, and changes no word", () => {
    const rejected = report({ verdict: "rejected", claims: null, checks: [PASSED[0]!, failed] });
    for (const each of [report({}), rejected]) {
      const colored = renderText(each, { color: true });
      expect(colored).toContain("\u001b[");
      expect(colored.replace(/\u001b\[[0-9;]*m/g, "")).toBe(renderText(each, PLAIN));
    }
  });
});

describe("evidence cannot write to the terminal", () => {
  const hostile = fc.string({ unit: fc.oneof(fc.constantFrom("\u001b", "\n", "\r", "\u009b", "\u202e", "\u200b", "a", " ", '"', "\\", "["), fc.string({ unit: "binary", maxLength: 1 })), maxLength: 300 });
  const status = fc.constantFrom<CheckStatus>("pass", "fail", "warn", "skip");
  const check = fc.record({ id: fc.constantFrom(...CHECK_IDS), status, detail: hostile, expected: hostile, actual: hostile })
    .map((fields): Check => ({ ...fields, subject: "boot[0]" }));

  it("whatever it names itself", () => {
    fc.assert(fc.property(hostile, fc.array(check, { maxLength: 5 }), (text, checks) => {
      const manifest = { ...BOOT.manifest!, namespace: text, pivotArgs: [text], approvedBy: [{ alias: text, pubKey: text }] };
      const claims: Claims = {
        bootProofs: [{ ...BOOT, manifest, moduleId: text, trustAnchor: text, deployment: text, documentTime: text }],
        appProofs: [
          { bootProof: 0, type: text, time: text, payload: { [text]: text } },
          { bootProof: 0, type: "APP_PROOF_TYPE_ADDRESS_DERIVATION", time: text, payload: { addressDerivationProof: { address: text, walletId: text } } },
        ],
        activity: { id: text, organizationId: text, type: text, coveredAddresses: [text], uncoveredAddresses: [text] },
      };
      const rendered = renderText(report({ policy: text, checks, claims }), PLAIN);
      expect(rendered).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/);
      for (const line of rendered.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    }), { numRuns: 200 });
  });
});
