/** What is demanded of verifications: that they are good, and this package's own; and what the types know then. */
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type ActivityVerification,
  type AnyVerification,
  type BundleVerification,
  type Claims,
  type PolicyFile,
  RejectedError,
  type Report,
  type Verdict,
  type Verification,
  type VerifiedActivity,
  type VerifiedAppProof,
  type VerifiedAttestation,
  type VerifiedBootProof,
  decodeBundle,
  packBundle,
  requireAuthentic,
  requireVerified,
  verifyActivity,
  verifyAppProof,
  verifyAppProofs,
  verifyAttestation,
  verifyBootProof,
  verifyBundle,
  verifyEvidence,
} from "../src/index.js";
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

const verifications: [string, () => Promise<AnyVerification>][] = [
  ["verifyEvidence", async () => good],
  ["verifyBootProof", async () => verifyBootProof(bootProof, options)],
  ["verifyAppProof", async () => verifyAppProof(appProofs[0], bootProof, options)],
  ["verifyAppProofs", async () => verifyAppProofs(appProofs, [bootProof], options)],
  ["verifyActivity", async () => verifyActivity(activity, [bootProof], options)],
  ["verifyAttestation", async () => verifyAttestation(document, bare)],
  ["verifyBundle", async () => verifyBundle(bundle, options)],
  ["packBundle", async () => packed],
];

describe("a verification whose verdict is good", () => {
  it.each(verifications)(
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
      expect(() => demand(put() as Verification)).toThrow(/the very object/);
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
    expect(() => requireVerified(value as unknown as Verification)).toThrow(/the very object/);
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
