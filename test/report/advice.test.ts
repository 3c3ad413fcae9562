/** A rejection whose advice cannot be loaded, as in a browser that lost its network. */
import { expect, it, vi } from "vitest";
import { forge, optionsOf } from "../attacks/support.js";

const forged = forge({ alterDocument: { signature: () => new Uint8Array(96) } });

/** The failed checks of a package that was loaded anew. */
async function failuresOf(): Promise<readonly { readonly id: string; readonly advice?: string }[]> {
  vi.resetModules();
  const library = await import("../../src/bootproof.js");
  const { parseTrustAnchor } = await import("../../src/verify/trust-anchor.js");
  const { now } = optionsOf(forged);
  const { report } = await library.verifyEvidence(
    { bootProofs: [forged.bootProof] },
    {
      policy: library.NO_POLICY_ANY_ENCLAVE,
      now,
      trustAnchors: [parseTrustAnchor("lab", forged.anchorPem)],
      nonce: new Uint8Array(8),
    },
  );
  expect(report.verdict).toBe("rejected");
  return report.checks.filter(({ status }) => status === "fail");
}

it("is a rejection with the same failures, without advice", async () => {
  const whole = await failuresOf();
  vi.doMock("../../src/report/advice.js", () => {
    throw new Error("no network");
  });
  const bare = await failuresOf();
  expect(whole.map(({ id }) => id)).toEqual(["cose.signature", "bind.nonce"]);
  expect(whole[0]!.advice).toMatch(/^The document was changed/);
  expect(bare.map((check) => ({ ...whole.find(({ id }) => id === check.id), ...check }))).toEqual(whole);
  expect(whole[1]!.advice).toMatch(/nonce/);
  for (const check of bare) expect(Object.keys(check)).not.toEqual(expect.arrayContaining(["advice"]));
  for (const check of [...whole, ...bare]) expect(check).not.toHaveProperty("causes");
});
