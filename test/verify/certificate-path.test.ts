/** What is said of a path that does not start at an anchor of the caller. */
import { expect, it } from "vitest";
import { NO_POLICY_ANY_ENCLAVE, parseTrustAnchor, verifyAttestation, verifyBootProof } from "../../src/index.js";
import { nameText } from "../../src/decode/certificate.js";
import { Forge } from "../../src/lab/forge.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { NOW, forge, lab, optionsOf, otherLab } from "../attacks/support.js";

it("the claimed root and every anchor are named, the first time and again", async () => {
  const evidence = forge();
  const others = [otherLab, new Forge()].map(({ pki }, index) =>
    parseTrustAnchor(`other ${index}`, certificatePem(pki.rootCertificate)),
  );
  const root = nameText(parseTrustAnchor("lab", certificatePem(lab.pki.rootCertificate)).certificate.subject);
  const { bootProof } = await verifyBootProof(evidence.bootProof, optionsOf(evidence));
  for (const input of [evidence.bootProof, bootProof!]) {
    const { report, bootProof: verified } = await verifyBootProof(input, {
      policy: NO_POLICY_ANY_ENCLAVE,
      trustAnchors: others,
      now: NOW,
    });
    const { status, detail } = report.checks.find(({ id }) => id === "chain.anchor")!;
    expect([status, detail, verified]).toEqual([
      "fail",
      `the document claims the root ${root}, which is not, byte for byte, one of: other 0, other 1`,
      null,
    ]);
  }
});

it("a verified document says when it was judged", async () => {
  const evidence = forge();
  const { attestation } = await verifyAttestation(evidence.document, optionsOf(evidence, { noPolicy: true }));
  expect(attestation!.validationTime).toEqual(new Date(attestation!.document.timestamp));
});
