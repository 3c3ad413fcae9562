/** The checks of app proofs, activities or signatures cannot be loaded, as in a browser that lost its network. */
import { afterEach, expect, it, vi } from "vitest";
import type { Expected } from "../../src/index.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { forge, optionsOf } from "../attacks/support.js";

const forged = forge({});
const { bootProof, appProofs, activity } = forged;

afterEach(() => {
  vi.doUnmock("../../src/verify/app-proof-checks.js");
  vi.doUnmock("../../src/verify/activity-checks.js");
  vi.doUnmock("../../src/verify/signatures.js");
  vi.doUnmock("../../src/verify/address-formats.js");
});

/** The verdict of a package that was loaded anew and cannot load one of its modules. */
async function verdictWithout(
  module: "app-proof-checks" | "activity-checks" | "signatures" | "address-formats",
  evidence: object,
  expected?: Expected,
): Promise<string> {
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
      ...(expected && { expected }),
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

const type = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
const parameters = { signWith: "x", unsignedTransaction: "00", type: "TRANSACTION_TYPE_ETHEREUM" };
const expected = { organizationId: LAB_ADDRESS.organizationId, type, parameters };
const signing = { ...activity, type, intent: { i: parameters }, result: { r: { signedTransaction: "00" } } };
const damaged = { ...appProofs[0], signature: "00" };

it("without signatures the verification of an activity that signs rejects", async () => {
  await expect(verdictWithout("signatures", { activity: signing }, expected)).rejects.toThrow();
});

it.each([
  ["one of whose app proofs is rejected", { activity: { ...signing, appProofs: [...appProofs, damaged] } }],
  ["beside which an app proof is rejected", { activity: signing, appProofs: [damaged] }],
  ["that cannot be read", { activity: { ...signing, id: 1 } }],
])("without signatures an activity %s is rejected: nothing of them is computed", async (_, evidence) => {
  await expect(verdictWithout("signatures", evidence, expected)).resolves.toBe("rejected");
});

it("without the formats of addresses only a signature under another chain's address rejects", async () => {
  const verdictOf = (signWith: string): Promise<string> =>
    verdictWithout(
      "address-formats",
      { activity: { ...signing, intent: { i: { ...parameters, signWith } } } },
      { ...expected, parameters: { ...parameters, signWith } },
    );
  // Its app proofs are of a wallet.
  await expect(verdictOf(`0x${"22".repeat(20)}`)).resolves.toBe("rejected");
  await expect(verdictOf("TGkWdpawVNfeset3P6uTBbLaPY7nZVZvXY")).rejects.toThrow();
});

it("without signatures an activity that does not sign is verified", async () => {
  const { organizationId } = LAB_ADDRESS;
  await expect(verdictWithout("signatures", { activity }, { organizationId })).resolves.toBe("authentic");
});
