/** The checks of app proofs and activities cannot be loaded, as in a browser that lost its network. */
import { afterEach, expect, it, vi } from "vitest";
import { forge, optionsOf } from "../attacks/support.js";

const forged = forge({});
const { bootProof, appProofs, activity } = forged;

afterEach(() => {
  vi.doUnmock("../../src/verify/app-proof-checks.js");
  vi.doUnmock("../../src/verify/activity-checks.js");
});

/** The verdict of a package that was loaded anew and cannot load one of its modules. */
async function verdictWithout(module: "app-proof-checks" | "activity-checks", evidence: object): Promise<string> {
  vi.resetModules();
  vi.doMock(`../../src/verify/${module}.js`, () => {
    throw new Error("no network");
  });
  const library = await import("../../src/bootproof.js");
  const { parseTrustAnchor } = await import("../../src/verify/trust-anchor.js");
  const { report } = await library.verifyEvidence(
    { bootProofs: [bootProof], ...evidence },
    {
      policy: library.NO_POLICY_ANY_ENCLAVE,
      now: optionsOf(forged).now,
      trustAnchors: [parseTrustAnchor("lab", forged.anchorPem)],
    },
  );
  return report.verdict;
}

it.each([
  ["app-proof-checks", { appProofs }],
  ["app-proof-checks", { activity }],
  ["activity-checks", { activity }],
] as const)("without %s the verification of what needs it rejects", async (module, evidence) => {
  await expect(verdictWithout(module, evidence)).rejects.toThrow();
});

it.each([
  ["app-proof-checks", {}],
  ["activity-checks", { appProofs }],
] as const)("without %s other evidence is verified", async (module, evidence) => {
  await expect(verdictWithout(module, evidence)).resolves.toBe("authentic");
});
