/** How much of a report is shown, and how it ends. */
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import type { Check, CheckSubject } from "../../src/checks.js";
import { CHECK_ADVICE } from "../../src/report/explanations.js";
import type { Notice } from "../../src/report/facts.js";
import type { EvidencePiece, Report } from "../../src/report/report.js";
import { renderSummary } from "../../src/show/text.js";
import { renderFailures, renderReport, renderText } from "../../src/show/text.js";
import { ACTIVITY, BOOT, HARDWARE, PASSED, UNTIMED, bootOf, report } from "../report/reports.js";

const HASH = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const WIDE = { width: 100 };

function bootSubjects(count: number): CheckSubject[] {
  return Array.from({ length: count }, (_, index): CheckSubject => `boot[${index}]`);
}

/** So many boot proofs, of each the checks. */
function fleet(count: number, checksOf: (subject: CheckSubject, index: number) => Check[], rest: Partial<Report> = {}) {
  const subjects = bootSubjects(count);
  const evidence = subjects.map((subject, index): EvidencePiece => ({
    subject,
    name: `bp-${index}.json`,
    sha256: HASH,
  }));
  return report({ evidence, checks: subjects.flatMap(checksOf), ...rest });
}

const passed = (subject: CheckSubject): Check => ({
  id: "cose.signature",
  subject,
  status: "pass",
  detail: "signed",
});
const warned = (subject: CheckSubject, detail = "legacy"): Check => ({
  id: "bind.commitment",
  subject,
  status: "warn",
  detail,
});
const pinned = (about: CheckSubject, actual: string): Check => ({
  id: "policy.pivot",
  subject: "policy",
  about,
  status: "fail",
  detail: "is not the pinned one",
  expected: HASH,
  actual,
  advice: CHECK_ADVICE["policy.pivot"],
});

describe("several pieces", () => {
  it("are a line each, with what the policy says of them, failures beneath in full, once", () => {
    const other = HASH.replace("0011", "ff11");
    const rejected = fleet(
      4,
      (subject, index) => [
        passed(subject),
        ...(index === 3 ? [] : [pinned(subject, index === 2 ? HASH.replace("ff", "fe") : other)]),
      ],
      { verdict: "rejected", claims: null },
    );
    expect(renderText(rejected, WIDE)).toContain(`
Boot proofs: 4, of which 3 failed
  FAIL  boot[0] = bp-0.json  1 passed, 1 failed
    FAIL  policy.pivot  is not the pinned one
      expected  [00]112233…
      actual    [ff]112233…
                1 of 32 bytes differs: byte 1
      to do     Another application binary runs: compare it with the release that you expect.
  FAIL  boot[1] = bp-1.json  1 passed, 1 failed
    FAIL  policy.pivot  same as under boot[0]
  FAIL  boot[2] = bp-2.json  1 passed, 1 failed
    FAIL  policy.pivot  is not the pinned one
      expected  …ccddee[ff]001122…
      actual    …ccddee[fe]001122…
                1 of 32 bytes differs: byte 16
  ok    boot[3] = bp-3.json  1 passed

Not proven
`);
  });

  it("have the warnings that are alike in one paragraph, with their count", () => {
    const text = renderText(
      fleet(6, (subject, index) => [passed(subject), warned(subject, index === 4 ? "another" : "legacy")]),
      WIDE,
    );
    expect(text).toContain("\n  ok  boot[5] = bp-5.json  1 passed, 1 note\n");
    expect(text).toContain(`
Notes of boot proofs
  note  bind.commitment  5 boot proofs, boot[0] … boot[3], boot[5]: legacy
  note  bind.commitment  boot[4] = bp-4.json: another
`);
  });

  it("of which nothing could be checked are not told as good ones, nor is what is not known", () => {
    const skipped: Check = { ...passed("boot[0]"), status: "skip" };
    const odd: Check = { ...passed("boot[1]"), status: "fine" as "pass" };
    const text = renderText(
      fleet(2, (_, index) => [index === 0 ? skipped : odd]),
      WIDE,
    );
    expect(text).toContain("\nBoot proofs: 2, of which 1 failed\n  skip  boot[0] = bp-0.json  1 skipped\n");
    expect(text).toMatch(/\n {2}\?\?\?\? {2}boot\[1\] = bp-1\.json +\n {4}\?\?\?\? {2}cose\.signature/);
  });

  it("prove what they have in common once, with ranges", () => {
    const subjects = bootSubjects(6);
    const checks = subjects.map((subject) => ({ ...PASSED[0]!, subject }));
    const bootProofs = subjects.map((_, index) => {
      const documentTime = `2026-03-04T05:0${index}:07.000Z`;
      return bootOf({
        hardware: { documentTime, moduleId: `m${index}`, publicKey: `04${`a${index}`.repeat(129)}` },
        image: index === 2 ? { debug: true } : {},
      });
    });
    const claims = { bootProofs, appProofs: [], activity: null };
    const text = renderText(report({ checks, claims }), { width: 200 });
    expect(text).toContain(
      "- boot[0] … boot[5]: A genuine AWS Nitro enclave made the attestation document; its certificates",
    );
    expect(text).toContain(
      "- boot[0] … boot[5]: The document carries a public key of its own and the user data cdcdcdcd",
    );
    expect(text).toMatch(/- boot\[0\] … boot\[1\], boot\[3\] … boot\[5\]: It booted with the manifest/);
    expect(text).toContain("the document is of 2026-03-04T05:00:07.000Z to 2026-03-04T05:05:07.000Z,");
    expect(text).toContain("WARNING boot[2]: Debug mode was found and allowed");
    expect(text).toContain("- boot[2]: What code runs in the enclave: it is in debug mode");
    expect(text).toContain(
      "Not proven: its image, whose code debug mode leaves open, says that\n  - boot[2]: It booted",
    );
    expect(text).not.toContain("m4");
    const whole = renderText(report({ checks, claims }), { width: 200, detail: "verbose" });
    for (const index of [0, 1, 2, 3, 4, 5])
      expect(whole).toContain(`boot[${index}]: A genuine AWS Nitro enclave, module m`);
  });
});

describe("verbose", () => {
  it("tells every check of every piece, and every hash in full", () => {
    const { id, subject, about } = pinned("boot[0]", HASH);
    const pass: Check = { id, subject, about: about!, status: "pass", detail: "as pinned", actual: HASH };
    const checks: Check[] = [passed("boot[0]"), passed("boot[1]"), pass, pinned("boot[1]", HASH.replace("ff", "fe"))];
    const text = renderText(
      fleet(2, () => [], { checks }),
      { ...WIDE, detail: "verbose" },
    );
    expect(text).toContain("Document and certificate chain: boot[1] = bp-1.json\n  ok  cose.signature");
    expect(text).toContain(`Policy: boot[0] = bp-0.json\n  ok  policy.pivot  as pinned\n    value  ${HASH}\n`);
    expect(text).toContain(`Policy: boot[1] = bp-1.json\n  FAIL  policy.pivot`);
    expect(text).toContain(`    expected  ${HASH}\n    actual    ${HASH.replace("ff", "fe")}\n`);
    const flat = text.replace(/\s+/g, "");
    for (const hex of [HASH, HARDWARE.pcrs["0"]!, HARDWARE.publicKey!, BOOT.image.manifest!.quorumKey, "9d".repeat(32)])
      expect(flat).toContain(hex);
    expect(flat).not.toMatch(/[0-9a-f]{8}…[0-9a-f]{8}/);
  });
});

const MORE = "More: --verbose, or a pipe or file without --summary.";

describe("a summary", () => {
  const long = "a name ".repeat(40);
  const failing = (subject: CheckSubject, index: number): Check[] => [
    { ...pinned(subject, `${index}`.padStart(2, "0").repeat(32)), detail: `${index} ${"detail ".repeat(200)}` },
    { ...pinned(subject, "x"), id: "policy.args", expected: "many words ".repeat(300), actual: "y\n".repeat(50) },
    { ...passed(subject), id: "chain.anchor", status: "fail", detail: long.repeat(5) },
  ];
  const everything = fleet(60, failing, { verdict: "rejected", claims: null, policy: long.repeat(9) });
  const named: Report = {
    ...everything,
    evidence: everything.evidence.map((piece) => ({ ...piece, name: `${long}${piece.subject}.json` })),
  };
  const buts = Array.from({ length: 12 }, (_, index): Notice => ({ kind: "warning", text: `${index} ${long}` }));

  it.each([
    ["60 boot proofs, all failing", everything],
    ["long names", named],
    ["a good report", report({})],
    ["a report with many unproven statements", fleet(60, (subject) => [{ ...PASSED[0]!, subject }])],
  ])("has at most 40 lines beside warnings, which are never cut: %s", (_, each) => {
    for (const width of [80, 120, 200])
      for (const notices of [[], buts.slice(0, 1), buts]) {
        const text = renderSummary(each, { width }, notices);
        const lines = text.trimEnd().split("\n");
        const [but, after] = [/^WARNING /, /^(?:This enclave|The oldest|\d+ (?:passed|failed))/].map((start) => {
          return lines.findIndex((line) => start.test(line));
        });
        const butLines = but! < 0 ? 0 : after! - but!;
        expect(lines.length).toBeLessThanOrEqual(40 + butLines);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        expect(text).toMatch(/^(?:VERIFIED|REJECTED)(?: with \d+ warnings?)?: /);
        expect(lines.at(-1)).toBe(MORE);
        expect(lines).toContain("Not proven");
        const whole = text.replace(/\s/g, "");
        for (const notice of notices) expect(whole).toContain(notice.text.replace(/\s/g, ""));
      }
  });

  it("has the verdict, what weighs against it, the first failures with what was compared, and counts", () => {
    const checks = bootSubjects(60).flatMap((subject) => [passed(subject), pinned(subject, "22".repeat(32))]);
    const rejected = fleet(60, () => [], { checks, verdict: "rejected", claims: null });
    expect(renderSummary(rejected, { width: 80 }, [{ kind: "warning", text: "beware" }])).toBe(
      `REJECTED with 1 warning: nothing is proven. 60 checks failed.
WARNING beware
60 passed, 60 failed, 1 warning; evidence: 60 items
policy "signer, production" (SHA-256 9d9d9d9d…9d9d9d9d)
verified at 2026-03-05T06:07:08.000Z by bootproof 1.2.3

FAIL  policy.pivot  is not the pinned one (60 boot proofs, boot[0] … boot[59])
  expected  00112233…ccddeeff
  actual    22222222…22222222
  to do     Another application binary runs: compare it with the release that
            you expect.

Not proven
  Anything: the evidence was rejected. Believe none of it, not even the parts
  that passed.

${MORE}
`,
    );
  });

  it("counts the failures that have no room, and names what is not proven by its subject", () => {
    expect(renderSummary(everything)).toMatch(/\nand 59 more failed\n/);
    expect(renderSummary(report({}))).toContain(
      "Not proven\n  Any result of the application; The labels (enclaveApp, owner, " +
        "deploymentLabel)\n  and createdAt; What",
    );
  });

  it("has a cause once, and the whole text at most twice, at any height", () => {
    const checks = [{ ...pinned("boot[0]", "22".repeat(32)), detail: "is another binary" }];
    const rejected = report({ verdict: "rejected", claims: null, checks });
    expect(renderSummary(rejected).split("is another binary")).toHaveLength(2);
    for (const height of [5, 500]) {
      const text = renderText(rejected, { height });
      expect(text.replace(/\s+/g, " ").split("is another binary")).toHaveLength(3);
      expect(text).toMatch(
        height === 5 ? /\n\nREJECTED: nothing is proven\. One check failed\.\n$/ : /yours\.\n$|passed\.\n$/,
      );
    }
  });

  it("has what is proven in ten rows, whatever else there is: the activity and its addresses first", () => {
    const addresses = Array.from({ length: 14 }, (_, index) => `0x${String(index).padStart(40, "b")}`);
    const appProofs = addresses.map((address) => {
      return {
        ...UNTIMED,
        type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
        payload: { addressDerivationProof: { address } },
      };
    });
    const claims = { bootProofs: [bootOf({})], appProofs, activity: { ...ACTIVITY, coveredAddresses: addresses } };
    const [rows = ""] = renderSummary(report({ claims }), {}, buts).split("\nProven\n")[1]!.split("\n\n");
    const lines = rows.split("\n");
    expect(lines).toHaveLength(11);
    expect(lines[0]).toContain('- Activity "a1" matches your request');
    expect(lines.slice(1, 10)).toEqual(
      addresses.slice(0, 9).map((address) => `  - Address ${address}: backed by an app proof.`),
    );
    expect(lines[10]).toBe("  and 27 more");
    expect(renderSummary(report({}))).toContain("\n\nProven\n  - A genuine AWS Nitro enclave, module i-");
    expect(renderSummary(report({}))).not.toMatch(/\n {2}and \d+ more\n/);
  });

  it("names the file of the policy, which the whole text does not", () => {
    const policyFile = "policies/\u001b[1mpolicy.json";
    expect(renderSummary(report({}), { policyFile })).toContain(
      '\npolicy policies/\\u{1b}[1mpolicy.json (SHA-256 9d9d9d9d…9d9d9d9d), "signer,',
    );
    const long = renderSummary(report({}), { policyFile: `${"folder/".repeat(9)}policy.json` });
    expect(long).toContain("9d9d9d9d…9d9d9d9d");
    expect(renderText(report({}), { policyFile } as object)).not.toContain("policies/");
  });
});

describe("the verdict", () => {
  it("stands at the end once more where the text is longer than the screen, the warnings counted", () => {
    const text = renderText(report({}), WIDE);
    const lines = text.split("\n").length - 1;
    expect(renderText(report({}), { ...WIDE, height: lines + 1 })).toBe(text);
    const sentence = text.slice(0, text.indexOf("\nThis enclave started"));
    expect(renderText(report({}), { ...WIDE, height: lines })).toBe(`${text}\n${sentence}\n`);
    const checks: Check[] = [{ ...PASSED[0]!, status: "warn" }];
    const withBut = renderReport(report({ checks }), { ...WIDE, height: 5 }, [{ kind: "warning", text: "beware" }]);
    expect(withBut).toMatch(/\n\nVERIFIED with 2 warnings: every check passed, and [^]{0,90}\n$/);
    expect(renderReport(report({ checks }), { ...WIDE, height: 5 }, [])).toMatch(/\n\nVERIFIED with 1 warning: /);
  });

  it("on what is only too old says so", () => {
    const failed: Check = { ...pinned("boot[0]", HASH), id: "policy.age", stale: true };
    const stale = report({ verdict: "rejected", stale: true, claims: null, checks: [failed] });
    expect(renderText(stale).replace(/\s+/g, " ")).toMatch(
      /^REJECTED, STALE: the evidence is genuine, but older than the policy allows\. Nothing is proven\. One/,
    );
    expect(renderText(stale, { color: true })).toMatch(/^\u001b\[1;31mREJECTED, STALE\u001b\[0m: /);
    expect(renderFailures(stale, {})).toMatch(/^REJECTED, STALE: /);
    expect(renderText(stale)).toContain("Not proven\n  - Anything: the evidence was rejected");
    expect(renderText({ ...stale, stale: false })).toMatch(/^REJECTED: nothing is proven/);
  });
});

describe("every text", () => {
  const checks: Check[] = [
    { ...pinned("boot[0]", "启动".repeat(300)), expected: `${HASH.repeat(5)} 🔐🔐` },
    { ...passed("boot[0]"), detail: "e\u0301".repeat(400) },
  ];
  const wide = report({
    verdict: "rejected",
    claims: null,
    checks,
    policy: "政策".repeat(60),
    evidence: [{ subject: "boot[0]", name: "启动/".repeat(40), sha256: HASH }],
  });

  it.each([60, 79, 200])("keeps to %i columns, whatever the script", (width) => {
    const levels = (["normal", "verbose"] as const).map((detail) => renderText(wide, { width, detail, height: 10 }));
    for (const text of [...levels, renderSummary(wide, { width }), renderFailures(wide, { width })])
      for (const line of text.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(width);
  });

  it("has no column of ids where it would leave too little room", () => {
    const narrow = renderText(report({}), { width: 60 });
    expect(narrow).toContain("\n  ok  chain.anchor: starts at aws-nitro-root-g1\n");
    expect(renderText(report({}), { width: 80 })).toContain("\n  ok  chain.anchor  starts at aws-nitro-root-g1\n");
  });

  it("has colours that can be read on light and dark: no letters in white, black or yellow without a ground", () => {
    const warn = [...checks, warned("boot[0]"), { ...warned("boot[0]"), status: "skip" as const }];
    const colored = renderReport(report({ checks: warn, verdict: "authentic" }), { color: true }, [
      { kind: "warning", text: "x" },
    ]);
    const codes = new Set([...colored.matchAll(/\u001b\[([0-9;]*)m/g)].map((match) => match[1]));
    expect(codes).toEqual(new Set(["0", "1", "2", "30;43", "1;31", "32"]));
    expect(renderText(report({}), { color: true })).toMatch(/^\u001b\[30;42mVERIFIED\u001b\[0m: /);
  });
});
