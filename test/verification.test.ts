/** What is demanded of verifications: that they are good, and this package's own; and what the types know then. */
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { VerifiedCall } from "../src/client/index.js";
import { renderGithub, renderJunit, renderMarkdown, renderSarif, renderVsa } from "../src/formats/index.js";
import {
  type ActivityVerification,
  type AnyVerification,
  type Claims,
  NO_POLICY_ANY_ENCLAVE,
  type PolicyFile,
  RejectedError,
  type Report,
  type Verdict,
  type Verification,
  VerifiedActivity,
  type VerifiedAppProof,
  type VerifiedAttestation,
  type VerifiedBootProof,
  type VerifyOptions,
  parseTrustAnchor,
  renderJson,
  renderSummary,
  renderText,
  requireAuthentic,
  requireVerified,
  verifyActivity,
  verifyAppProof,
  verifyAppProofs,
  verifyAttestation,
  verifyBootProof,
  verifyEvidence,
} from "../src/index.js";
import {
  type BundleVerification,
  POLICY_OF_THE_BUNDLE,
  decodeBundle,
  packBundle,
  verifyBundle,
} from "../src/bundle/index.js";
import { verifiedCallFor } from "../src/lab/index.js";
import { labDeployment, labPolicy } from "../src/lab/forge.js";
import { NOW, forge, lab, optionsOf, put } from "./attacks/support.js";

const whole = forge();
const { bootProof, appProofs, activity, document } = whole;
const options = optionsOf(whole);
const unpinned = optionsOf(whole, { noPolicy: true });
const bare = optionsOf(whole, { deployments: (all) => [{ kind: "nitro", pcrs: all["pcrs"]! }] });
const badProof = put("signature", "00".repeat(64))(appProofs[0]!);
const policy = labPolicy(whole.anchorPem, [labDeployment(lab)]) as unknown as PolicyFile;
const packed = await packBundle({ bootProofs: [bootProof], activity }, { policy, now: NOW });
const bundle = decodeBundle(JSON.stringify(packed.bundle));

const good = await verifyEvidence({ bootProofs: [bootProof], appProofs }, options);
const authentic = await verifyEvidence({ bootProofs: [bootProof], appProofs }, unpinned);
const rejected = await verifyEvidence({ bootProofs: [bootProof], appProofs: [badProof] }, options);

type Acceptance = Pick<VerifyOptions, "acceptance">;
const verifications: [string, (how?: Acceptance) => Promise<AnyVerification>][] = [
  ["verifyEvidence", (how) => verifyEvidence({ bootProofs: [bootProof], appProofs }, { ...options, ...how })],
  ["verifyBootProof", (how) => verifyBootProof(bootProof, { ...options, ...how })],
  ["verifyAppProof", (how) => verifyAppProof(appProofs[0], bootProof, { ...options, ...how })],
  ["verifyAppProofs", (how) => verifyAppProofs(appProofs, [bootProof], { ...options, ...how })],
  ["verifyActivity", (how) => verifyActivity(activity, [bootProof], { ...options, ...how })],
  ["verifyAttestation", (how) => verifyAttestation(document, { ...bare, ...how })],
  ["verifyBundle", (how) => verifyBundle(bundle, { ...options, ...how })],
];

describe("a verification whose verdict is good", () => {
  it.each([...verifications, ["packBundle", async () => packed] as const])(
    "is answered by requireVerified and requireAuthentic, the same object: %s",
    async (_, call) => {
      const verification = await call();
      expect(requireVerified(verification)).toBe(verification);
      expect(requireAuthentic(verification)).toBe(verification);
    },
  );

  it("has no null among its pieces, in the types neither", async () => {
    const { report, bootProofs, appProofs: proofs, activity: none } = requireVerified(good);
    expectTypeOf(bootProofs).toEqualTypeOf<readonly VerifiedBootProof[]>();
    expectTypeOf(proofs).toEqualTypeOf<readonly VerifiedAppProof[]>();
    expectTypeOf(report.verdict).toEqualTypeOf<"verified">();
    expectTypeOf(report.claims).toEqualTypeOf<Claims>();
    expect([bootProofs.length, proofs.length, none]).toEqual([1, appProofs.length, null]);
    expect([...bootProofs, ...proofs]).not.toContain(null);
    // None was given, and the types say no more than that there may be none.
    expectTypeOf(none).toEqualTypeOf<VerifiedActivity | null>();
  });

  it("has its one piece, in the types too", async () => {
    const boot = requireVerified(await verifyBootProof(bootProof, options)).bootProof;
    const app = requireVerified(await verifyAppProof(appProofs[0], bootProof, options)).appProof;
    const { attestation } = requireVerified(await verifyAttestation(document, bare));
    expectTypeOf(boot).toEqualTypeOf<VerifiedBootProof>();
    expectTypeOf(app).toEqualTypeOf<VerifiedAppProof>();
    expectTypeOf(attestation).toEqualTypeOf<VerifiedAttestation>();
    expect([boot, app, attestation]).not.toContain(null);
  });

  it("has its activity, and a claim of it, where one was given", async () => {
    const answered: ActivityVerification = await verifyActivity(activity, [bootProof], options);
    const { report, activity: verified, appProofs: proofs } = requireVerified(answered);
    expectTypeOf(verified).toEqualTypeOf<VerifiedActivity>();
    expect([verified.activity.id, report.claims.activity.id]).toEqual([activity["id"], activity["id"]]);
    expect(proofs.length).toBeGreaterThan(0);
  });

  it("keeps what it has beside its pieces", async () => {
    const { bootProofs, policyFrom, packed: inside } = requireVerified(await verifyBundle(bundle, options));
    expectTypeOf(bootProofs).toEqualTypeOf<readonly VerifiedBootProof[]>();
    expectTypeOf(policyFrom).toEqualTypeOf<"caller" | "bundle">();
    expectTypeOf(inside).toEqualTypeOf<BundleVerification["packed"]>();
    expect([policyFrom, inside?.verdict]).toEqual(["caller", "verified"]);
  });

  it("may be authentic, where that is demanded", () => {
    const { report, bootProofs } = requireAuthentic(authentic);
    expectTypeOf(bootProofs).toEqualTypeOf<readonly VerifiedBootProof[]>();
    expectTypeOf(report.verdict).toEqualTypeOf<"verified" | "authentic">();
    expect(report.verdict).toBe("authentic");
  });

  it("is still what it was to the types, where nobody has demanded anything", () => {
    expectTypeOf(good.report.verdict).toEqualTypeOf<Verdict>();
    // @ts-expect-error: it may have been rejected.
    expect(() => rejected.appProofs[0].payload).toThrow(TypeError);
    // @ts-expect-error: a report is demanded, and answers nothing.
    expect(requireVerified(good.report)?.appProofs).toBeUndefined();
  });
});

describe("a verification whose verdict is not", () => {
  it.each([
    ["requireVerified", requireVerified, rejected],
    ["requireVerified", requireVerified, authentic],
    ["requireAuthentic", requireAuthentic, rejected],
  ] as const)("is an error with its report: %s", (_, demand, verification) => {
    const thrown = (given: Verification | Report): unknown => {
      try {
        demand(given as never);
      } catch (error) {
        return error;
      }
      throw new Error("not refused");
    };
    expect(thrown(verification)).toBeInstanceOf(RejectedError);
    expect(thrown(verification)).toMatchObject({ report: verification.report });
    expect(thrown(verification)).toEqual(thrown(verification.report));
  });
});

describe("strict acceptance", () => {
  const strict = { ...options, acceptance: "strict" } as const;
  const refusalOf = (demand: () => unknown): RejectedError => {
    try {
      demand();
    } catch (error) {
      if (error instanceof RejectedError) return error;
    }
    throw new Error("not refused");
  };

  // The certificates of all of them lead to another root than AWS's: a warning.
  it.each(verifications)("refuses what has a warning, with its reasons and the same verdict: %s", async (_, call) => {
    const verification = await call({ acceptance: "strict" });
    const { report } = verification;
    expect([report.verdict, report.refusedFor?.join()]).toEqual(["verified", expect.stringContaining("not to AWS")]);
    for (const demand of [requireVerified, requireAuthentic])
      for (const given of [verification, report]) {
        const error = refusalOf(() => demand(given as never));
        expect(error).toMatchObject({ code: "warning", failures: [], report });
        expect(error.message).toMatch(/^refused, though verified: the certificates lead to /);
      }
  });

  it("is shown by every format, and is part of the report's JSON", async () => {
    const { report } = await verifyEvidence({ bootProofs: [bootProof], appProofs }, strict);
    for (const shown of [renderText(report), renderSummary(report), renderMarkdown(report), renderGithub(report)])
      expect(shown).toContain("REFUSED");
    expect(renderGithub(report)).toMatch(/^::error /);
    expect(renderJunit(report)).toMatch(/<testsuites [^>]*failures="1"/);
    expect(renderSarif(report)).toContain('"level": "error"');
    expect(await renderVsa(report, { bootProofs: [bootProof], appProofs })).toContain('"verificationResult": "FAILED"');
    expect(JSON.parse(renderJson(report))).toHaveProperty("refusedFor", report.refusedFor);
    for (const shown of [renderText(good.report), renderJunit(good.report), renderSarif(good.report)])
      expect(shown).not.toMatch(/REFUSED|failures="1"/);
  });

  it("refuses a bundle under its maker's policy, which is a warning", async () => {
    const anchors = [parseTrustAnchor("lab", whole.anchorPem)];
    const own = { policy: POLICY_OF_THE_BUNDLE, now: NOW, trustAnchors: anchors } as const;
    requireAuthentic(await verifyBundle(bundle, own));
    const verification = await verifyBundle(bundle, { ...own, acceptance: "strict" });
    expect(refusalOf(() => requireAuthentic(verification)).report.refusedFor).toEqual([
      expect.stringContaining("not to AWS"),
      expect.stringContaining("the policy came with the bundle"),
    ]);
  });

  it("changes nothing where there is no warning, for a rejection, and for another word throws", async () => {
    const six = readFileSync(new URL("../test-vectors/boot-proofs/six-members.json", import.meta.url));
    const any = { policy: NO_POLICY_ANY_ENCLAVE, now: NOW, acceptance: "strict" } as const;
    const verification = await verifyBootProof(six, any);
    expect(verification.report.checks.some(({ status }) => status === "warn")).toBe(true);
    expect(requireAuthentic(verification)).toBe(verification);
    expect(Object.keys(verification.report)).not.toContain("refusedFor");
    const still = await verifyEvidence({ bootProofs: [bootProof], appProofs: [badProof] }, strict);
    expect(still.report).toEqual(rejected.report);
    expect(refusalOf(() => requireVerified(still)).code).toBe("rejected");
    for (const acceptance of ["Strict", "", null, true])
      await expect(verifyBootProof(six, { ...any, acceptance: acceptance as never })).rejects.toThrow(
        /^options\.acceptance: /,
      );
  });
});

it("a RejectedError prints in ten lines, also where everything failed", async () => {
  const { report } = await verifyEvidence({ bootProofs: [{}], appProofs: [badProof, badProof] }, options);
  const error = new RejectedError(report, "rejected: everything");
  const lines = inspect(error)
    .split("\n")
    .filter((line) => !/^\s+at /.test(line));
  expect(lines.length).toBeLessThanOrEqual(10);
  expect([error.report, error.failures.length > 2]).toEqual([report, true]);
  expect(Object.keys(error).sort()).toEqual(["code", "name"]);
});

describe("a double of a verified call", () => {
  const double = verifiedCallFor({ walletId: "w-1" }, { id: "a-1" });

  it("has the result, and the types of a verified call", () => {
    expectTypeOf(double).toEqualTypeOf<VerifiedCall<{ walletId: string }>>();
    expect(double).toMatchObject({ result: { walletId: "w-1" }, activity: { id: "a-1" } });
    expect(double.report.claims!.activity!.id).toBe("a-1");
    expect(double.verified.activity).toBe(double.activity);
  });

  it("is nothing that verification accepts", async () => {
    for (const demand of [requireVerified, requireAuthentic])
      for (const given of [double, double.report, { report: double.report }])
        expect(() => demand(given as never)).toThrow(/object that this package returned: a copy proves nothing/);
    expect(VerifiedActivity.isVerified(double.verified)).toBe(false);
    const { report } = await verifyActivity(double.verified, [bootProof], {
      ...options,
      expected: { organizationId: "o" },
    });
    expect(report.verdict).toBe("rejected");
  });
});

describe("pieces that were put together", () => {
  const made: [string, () => object][] = [
    ["a good report beside rejected pieces", () => ({ ...rejected, report: good.report })],
    ["good pieces, copied", () => ({ ...good })],
    ["a good report alone", () => ({ report: good.report })],
    ["a heir of the good one", () => Object.create(good, { appProofs: { value: rejected.appProofs } }) as object],
    ["a proxy of the good one", () => new Proxy(good, {})],
    ["JSON", () => JSON.parse(JSON.stringify({ report: good.report, bootProofs: [], appProofs: [] })) as object],
    ["the error that was thrown", () => new RejectedError(good.report, "")],
    ["a list of good ones", () => [good]],
  ];
  it.each(made)("are refused: %s", (_, put) => {
    for (const demand of [requireVerified, requireAuthentic]) {
      expect(() => demand(put() as Verification)).toThrow(TypeError);
      expect(() => demand(put() as Verification)).toThrow(/object that this package returned/);
    }
  });

  it("cannot be made by what made a good one", () => {
    for (const made of [good, good.report]) {
      expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
      expect(made.constructor).toBe(Object);
    }
  });

  it("cannot be put into a verification either", () => {
    const loose = good as { report: unknown; appProofs: unknown };
    expect(() => (loose.appProofs = rejected.appProofs)).toThrow(TypeError);
    expect(() => (loose.report = rejected.report)).toThrow(TypeError);
    for (const list of [good.bootProofs, good.appProofs] as unknown[][]) {
      expect(() => (list[0] = null)).toThrow(TypeError);
      expect(() => list.push(null)).toThrow(TypeError);
    }
    expect(requireVerified(good).appProofs).not.toContain(null);
  });

  it("cannot be put into the verification of a bundle", async () => {
    const verification = await verifyBundle(bundle, options);
    expect(() => ((verification as { policyFrom: string }).policyFrom = "bundle")).toThrow(TypeError);
    expect(() => (verification.appProofs as unknown[]).pop()).toThrow(TypeError);
  });

  it.each([undefined, null, "verified", 1])("are not %j", (value) => {
    expect(() => requireVerified(value as unknown as Verification)).toThrow(/object that this package returned/);
  });
});

it("a verification that was not awaited is told as that", () => {
  // @ts-expect-error: a promise.
  expect(() => requireVerified(verifyEvidence({ bootProofs: [bootProof] }, options))).toThrow(/promise.*await it/);
});

it("an activity that is not there is none: the boot proofs alone are not verified in its place", async () => {
  await expect(verifyActivity(undefined, [bootProof], options)).rejects.toThrow("activity: none was given");
  const { report, activity: none } = await verifyActivity(null, [bootProof], options);
  expect([report.verdict, none]).toEqual(["rejected", null]);
});
