import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { CHECK_IDS, type Check, type CheckStatus } from "../../src/checks.js";
import { CHECK_ADVICE } from "../../src/report/explanations.js";
import type { Claims, EvidencePiece, Report, Verdict } from "../../src/report/report.js";
import { renderFailures, renderText } from "../../src/show/text.js";
import { character, fc, runs } from "../support/property.js";
import { ACTIVITY, IMAGE, PASSED, UNPINNED, bootOf, report } from "../report/reports.js";

/** As wide as no sentence has to be wrapped in. */
const PLAIN = { color: false, width: 100 };
const failed: Check = {
  id: "bind.user-data",
  subject: "boot[0]",
  status: "fail",
  detail: "user_data is not the hash of the manifest",
  expected: "aa".repeat(32),
  actual: `bb${"aa".repeat(31)}`,
  advice: CHECK_ADVICE["bind.user-data"],
};

describe("the checks", () => {
  it("that are skipped for one reason are told once", () => {
    const skipped = (id: Check["id"]): Check => ({
      id,
      subject: "boot[0]",
      status: "skip",
      detail: "the COSE_Sign1 could not be read",
    });
    const checks = [skipped("cose.algorithm"), skipped("cose.signature"), skipped("doc.structure")];
    expect(renderText(report({ checks }), PLAIN)).toContain(
      "  skip  cose.algorithm, cose.signature, doc.structure\n    the COSE_Sign1 could not be read\n",
    );
  });

  it("of app proofs that passed are one line each, where there are several", () => {
    const passes = (subject: Check["subject"]): Check[] =>
      (["app.decode", "app.key"] as const).map((id) => ({ id, subject, status: "pass", detail: "fine" }));
    expect(renderText(report({ checks: [...passes("app[0]"), ...passes("app[1]")] }), PLAIN)).toContain(
      "\nApp proofs: 2\n  ok  app[0]  2 passed\n  ok  app[1]  2 passed\n\n",
    );
  });
});

describe("names of pieces", () => {
  const named = (subject: EvidencePiece["subject"], name: string): EvidencePiece => ({
    subject,
    name,
    sha256: "5a".repeat(32),
  });

  it("stand in the headings of their checks, and above all", () => {
    const evidence = [
      named("boot[0]", "boot.json"),
      named("boot[1]", "other boot.json"),
      { subject: "app[0]" as const, name: null, sha256: null },
    ];
    const checks: Check[] = [
      failed,
      { ...failed, subject: "boot[1]" },
      { ...failed, subject: "app[0]", id: "app.key" },
    ];
    const rejected = report({ verdict: "rejected", claims: null, evidence, checks });
    const text = renderText(rejected, PLAIN);
    expect(text).toContain(
      '\nevidence:  boot[0] = boot.json (SHA-256 5a5a5a5a…5a5a5a5a)\n           boot[1] = "other boot.json" (SHA-256 ' +
        "5a5a5a5a…5a5a5a5a)\n\n",
    );
    expect(text).toContain("\n  FAIL  boot[0] = boot.json          1 failed\n");
    expect(text).toContain('\n  FAIL  boot[1] = "other boot.json"  1 failed\n');
    expect(text).toContain("\nApp proofs\n");
    expect(text.replace(/\s+/g, " ")).toContain("the first is bind.user-data (boot[0] = boot.json): user_data");
    expect(renderFailures(rejected, PLAIN)).toContain("\nFAIL  bind.user-data  boot[0] = boot.json: user_data");
  });

  it("are counted where there are many", () => {
    const evidence = Array.from({ length: 10 }, (_, index) => named(`app[${index}]`, `app-${index}.json`));
    const text = renderText(report({ evidence }), PLAIN);
    expect(text).toContain("\nevidence:  10 items\n\n");
    expect(text).not.toContain("app-8.json");
    expect(renderText(report({ evidence }), { ...PLAIN, detail: "verbose" })).toContain(
      `           app[9] = app-9.json (SHA-256\n           ${"5a".repeat(32)})\n`,
    );
  });

  it("are not asked for where there are none", () => {
    expect(renderText(report({}), PLAIN)).not.toMatch(/evidence:|boot\[0\]/);
  });
});

it("says by which policy and when", () => {
  expect(renderText(report({ policy: null, policyDigest: null }), PLAIN)).toMatch(
    /\nverified at 2026-03-05T06:07:08.000Z by bootproof 1\.2\.3\n\n/,
  );
  expect(renderText(report({ policy: null }), PLAIN)).toContain(
    "policy without a name (SHA-256 9d9d9d9d…9d9d9d9d)\nverified at",
  );
  expect(renderText(report({ policyDigest: null }), PLAIN)).toContain('\npolicy "signer, production"\nverified at');
});

describe("a report of another version, or of anybody", () => {
  const odd = (fields: object): Check => ({ ...failed, ...fields });
  const render = (check: Check): string =>
    renderText(report({ verdict: "rejected", claims: null, checks: [check] }), PLAIN);

  it.each(["chain.moon", "moon.phase", "moon", "", "__proto__.x", "constructor.name"])(
    "may know the check %j",
    (id) => {
      const text = render(odd({ id }));
      expect(text).toContain(id.startsWith("chain.") ? "Document and certificate chain\n" : "\nOther\n");
      expect(text).toContain(`FAIL  ${id}`);
    },
  );

  it.each(["green", "", "constructor", "__proto__"])(
    "may know the status %j, which is not taken for a good one",
    (status) => {
      expect(render(odd({ status }))).toContain("  ????  bind.user-data");
      const alike = ["app[0]", "app[1]"].map((subject) => odd({ subject, status, id: "app.key" }));
      expect(renderText(report({ checks: alike }), PLAIN)).toContain("  ????  app.key");
    },
  );

  it.each(["moon", "", "moon[0]"])("may know the subject %j", (subject) => {
    expect(render(odd({ subject }))).toContain("FAIL  bind.user-data");
  });

  it.each(["trusted", "", "toString"])("may know the verdict %j, which proves nothing", (verdict) => {
    const text = renderText(report({ verdict: verdict as Verdict }), { color: true });
    expect(text).toContain(`is not a verdict of this tool. Nothing is proven.`);
    expect(text.startsWith("\u001b[1;31mUNKNOWN")).toBe(true);
  });
});

it("renderFailures has the verdict and the failures alone", () => {
  const text = renderFailures(report({ verdict: "rejected", claims: null, checks: [PASSED[0]!, failed] }), PLAIN);
  expect(text).toMatch(/^REJECTED/);
  expect(text).toContain("bind.user-data");
  expect(text).not.toContain("chain.anchor");
});

describe("what is not a report", () => {
  const whole = report({});
  const isRefused = (value: unknown): boolean => {
    try {
      renderText(value as Report, PLAIN);
      return false;
    } catch (error) {
      if (error instanceof TypeError && /^report: expected a whole report/.test(error.message)) return true;
      throw error;
    }
  };

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["text", JSON.stringify(whole)],
    ["a list", [whole]],
    ["an empty object", {}],
    ["a verification, in place of its report", { report: whole, bootProofs: [], appProofs: [], activity: null }],
    ["a verification that was not awaited", Promise.resolve({ report: whole })],
    ["a report with claims that are none", { ...whole, claims: { bootProofs: [{}], appProofs: [], activity: null } }],
    ["a report with a check that is none", { ...whole, checks: [null] }],
    ["a report with a check without words", { ...whole, checks: [{ ...PASSED[0]!, detail: undefined }] }],
  ])("is refused as that: %s", (_, value) => {
    expect(isRefused(value)).toBe(true);
  });

  it("is refused as that where a member is missing, whichever", () => {
    const names = Object.keys(whole).filter((name) => name !== "format");
    const without = (name: string): object => Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name));
    // Without a verdict the text says that this is none, and that nothing is proven; stale is new.
    expect(names.filter((name) => !isRefused(without(name)))).toEqual(["verdict", "stale"]);
    expect(names.length).toBeGreaterThan(8);
  });

  it("without options is rendered without colour", () => {
    expect(renderText(whole)).toBe(renderText(whole, { color: false, width: 80, detail: "normal" }));
  });
});

describe("colour", () => {
  it("is there where it is asked for, and changes no word", () => {
    const rejected = report({ verdict: "rejected", claims: null, checks: [PASSED[0]!, failed] });
    for (const each of [report({}), rejected]) {
      const colored = renderText(each, { ...PLAIN, color: true });
      expect(colored).toContain("\u001b[");
      expect(colored.replace(/\u001b\[[0-9;]*m/g, "")).toBe(renderText(each, PLAIN));
    }
  });
});

describe("evidence cannot write to the terminal", () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\u001b", "\n", "\r", "\u009b", "\u202e", "\u200b", "a", " ", '"', "\\", "["),
      character,
    ),
    maxLength: 300,
  });
  const status = fc.constantFrom<CheckStatus>("pass", "fail", "warn", "skip");
  const check = fc
    .record({ id: fc.constantFrom(...CHECK_IDS), status, detail: hostile, expected: hostile, actual: hostile })
    .map((fields): Check => ({ ...fields, subject: "boot[0]" }));

  it("whatever it names itself", () => {
    fc.assert(
      fc.property(hostile, fc.array(check, { maxLength: 5 }), (text, checks) => {
        const manifest = {
          ...IMAGE.manifest!,
          namespace: text,
          pivotArgs: [text],
          pivotEnv: { [text]: text },
          approvedBy: [{ alias: text, pubKey: text }],
        };
        const workloads = { ...manifest, pivotHash: null, workloads: { [text]: text } };
        const hardware = { moduleId: text, trustAnchor: text, documentTime: text, nonce: text, publicKey: text };
        const claims: Claims = {
          bootProofs: [
            bootOf({ hardware, image: { manifest }, deployment: text, open: [text as "operator"], scope: [text] }),
            bootOf({
              ...UNPINNED,
              hardware,
              image: { ...UNPINNED.image, manifest: workloads, commitment: text as "live" },
            }),
          ],
          appProofs: [
            {
              bootProof: 0,
              type: text,
              time: text,
              payload: { [text]: text },
              expectation: 0,
              answers: { pointer: text, value: text },
            },
            {
              bootProof: 0,
              type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
              time: text,
              expectation: null,
              answers: null,
              payload: { addressDerivationProof: { address: text, walletId: text } },
            },
          ],
          activity: {
            ...ACTIVITY,
            id: text,
            organizationId: text,
            type: text,
            asked: [text],
            coveredAddresses: [text],
            uncoveredAddresses: [text],
            resultWithoutProof: [text],
            subOrganizationId: text,
            walletId: text,
          },
        };
        const evidence: EvidencePiece[] = [
          { subject: "boot[0]", name: text, sha256: text },
          { subject: "boot[1]", name: text, sha256: null },
        ];
        const tool = { name: text, version: text };
        const rendered = renderText(
          report({ policy: text, policyDigest: text, verifiedAt: text, tool, evidence, checks, claims }),
          PLAIN,
        );
        expect(rendered).not.toMatch(
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/,
        );
        for (const line of rendered.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(100);
      }),
      { numRuns: runs(100) },
    );
  });
});
