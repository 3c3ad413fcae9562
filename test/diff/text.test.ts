import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Difference, diffUnverified } from "../../src/diff/diff.js";
import { renderDiff } from "../../src/diff/text.js";
import { renderJson } from "../../src/report/json.js";
import { labDeployment } from "../../src/lab/forge.js";
import { bootProof, file, lab, policy, policyOf } from "./support.js";
import { decodeServiceForm } from "../support/provisioning.js";

const before = bootProof();
const parts = { namespace: { name: "lab/signer", nonce: 6, quorumKey: new Uint8Array(65).fill(4) } };
const after = bootProof({ alterManifest: { parts: () => parts } });
const difference = await diffUnverified(before, after);

describe("a difference as text", () => {
  it("writes `same` and omits empty parts", async () => {
    expect(renderDiff(await diffUnverified(before, before))).toMatch(
      /^same\nNOT VERIFIED: [^]*\nEach is a boot proof\.\n$/,
    );
    expect(renderDiff(await diffUnverified(policy(), policy({ name: "b" })))).toMatch(/^different: 1 minor\n/);
  });

  it("marks different bytes and absent values", async () => {
    const pcr = (last: string): Uint8Array =>
      file({ version: "1", a: { appBinaryDigest: "00", PCR3: "01".repeat(47) + last } });
    const text = renderDiff(await diffUnverified(pcr("02"), pcr("03")));
    expect(text).toContain("before  …010101[02]\n");
    expect(text).toContain("after   …010101[03]\n");
    expect(text).toContain("1 of 48 bytes differs: byte 48\n");
    const added = await diffUnverified(policy(), policy({ comment: "" }));
    expect(renderDiff(added)).toContain("before  (not there)\n  after   (empty)\n");
  });

  it("lists six places of a change, and counts the others", () => {
    const [change] = difference.changes;
    const text = (count: number): string => {
      const also = Array.from({ length: count - 1 }, (_, index) => `p${index}`);
      return renderDiff({ ...difference, changes: [{ ...change!, place: "first", also }] }, { width: 120 });
    };
    expect(text(6)).toContain("at      first, p0, p1, p2, p3, p4\n");
    expect(text(8)).toContain("at      first, p0, p1, p2, p3, p4 and 2 more\n");
  });

  it("names the compared parts of two kinds", async () => {
    const { manifest } = decodeServiceForm(after);
    const text = renderDiff(await diffUnverified(before, manifest));
    expect(text).toContain("\nboot proof and manifest: only the parts that both have were compared (manifest).\n");
  });

  it("lists the pins of a policy that do not hold, those that hold, and what is not pinned", async () => {
    const near = { ...labDeployment(lab), name: "near", pivotHash: "11".repeat(32), namespace: "x" };
    const both = policyOf([{ ...near, name: "\u001b[2Jfar", minNonce: 9 }, near]);
    const text = renderDiff(await diffUnverified(both, before), { width: 120 });
    expect(text).toMatch(/^different: 2 of 9 pins do not hold\nNOT VERIFIED: Neither input was checked\./);
    expect(text).toContain("policy and boot proof: only pins were compared, neither signatures nor certificates, ");
    expect(text).toContain(
      [
        'Nearest deployment: "near"',
        "  DIFFERS     pivotHash: is not the pinned one",
        `    expected  ${"11".repeat(32)}`,
        "    found     ce4c954364ee430e38211ed450a1237935c8ad3e8cdf267c6a1a1640f2dd4038",
        "  DIFFERS     namespace: is not the pinned one",
        '    expected  "x"',
        '    found     "lab/signer"',
        "  holds       pcrs, minNonce, quorumKey, manifestSet, shareSet, commitment, labels",
        "  not pinned  manifestHash, pivotArgs, pivotEnv, provenance",
        "",
        "Other deployments",
        '  "\\u{1b}[2Jfar"  differs in pivotHash, namespace, minNonce',
        "",
      ].join("\n"),
    );
    expect(renderDiff(await diffUnverified(policy(), before))).toMatch(/^same: every pin holds\n[^]*\n +holds /);
    const bare = policyOf([{ name: "bare", kind: "nitro", pcrs: labDeployment(lab)["pcrs"]! }]);
    expect(renderDiff(await diffUnverified(bare, before))).toMatch(
      /^different: the policy has no deployment for evidence of this kind\n/,
    );
  });

  it("has colours on request", () => {
    expect(renderDiff(difference, { color: true })).toContain("\u001b[1;31mCRITICAL\u001b[0m  ");
    expect(renderDiff(difference)).not.toContain("\u001b");
  });

  it("prints no terminal controls and no imitated lines", async () => {
    const evil = "\u001b[2J\u202e\nsame\r";
    const hostile = await diffUnverified(file({ ...JSON.parse(textOf(before)), [evil]: evil, owner: evil }), before);
    const named = await diffUnverified(policy(), policy({}, { name: evil }));
    for (const one of [hostile, named]) {
      expect(renderDiff(one)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]|^same/m);
      expect(renderJson(one)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });

  it("counts omitted changes", async () => {
    const many = (offset: number): Uint8Array =>
      file({ ...JSON.parse(textOf(before)), x: Array.from({ length: 1500 }, (_, index) => index + offset) });
    expect(renderDiff(await diffUnverified(many(0), many(1)))).toMatch(
      /^different: 1500 minor\n[^]*\n\nand 500 more\n$/,
    );
  });

  it("is the one that docs/cli.md shows", async () => {
    const [edited, reviewed] = [7, 6].map((minNonce) => policy({}, { name: "r2026.3.1", minNonce }));
    const whole = { ...(JSON.parse(textOf(reviewed!)) as object), maxAge: "30d", comment: "as agreed" };
    const document = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
    const [, shown] = /```text\n\$ git show [^\n]*\n([^]*?)```/.exec(document)!;
    expect(renderDiff(await diffUnverified(edited!, file(whole)))).toBe(shown);
  });

  it("throws TypeError for any other object", () => {
    expect(() => renderDiff(diffUnverified(before, after) as unknown as Difference)).toThrow(TypeError);
    expect(() => renderDiff({ ...difference, changes: [7] } as unknown as Difference)).toThrow(TypeError);
  });
});

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
