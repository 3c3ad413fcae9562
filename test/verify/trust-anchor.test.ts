/** Trust anchors: the verifier's own copies of roots. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, toBase64, toHex } from "../../src/bytes.js";
import { AWS_NITRO_ROOT_G1, type TrustAnchor, parseTrustAnchor, verifyBootProof } from "../../src/index.js";
import { decodeCertificate } from "../../src/decode/index.js";
import { nameText } from "../../src/decode/certificate.js";
import { CHAIN, type NitroPki } from "../../src/lab/pki.js";
import { certificatePem, isAwsNitroRoot } from "../../src/verify/trust-anchor.js";
import { AT, forge, idsOf, lab, optionsOf, otherLab } from "../attacks/support.js";
import { refusalOf } from "../support/faults.js";
import { readVectorText } from "../support/vectors.js";

const AWS_SHA256 = "641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b";
const labRoot = lab.pki.rootCertificate;
const labPem = certificatePem(labRoot);
const awsPem = certificatePem(AWS_NITRO_ROOT_G1.certificate.der);
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("the anchor that is built in", () => {
  const { name, certificate } = AWS_NITRO_ROOT_G1;

  it("is the AWS Nitro Enclaves root, by its fingerprint", () => {
    expect(sha256(certificate.der)).toBe(AWS_SHA256);
    expect(name).toBe("aws-nitro-root-g1");
  });

  it("is the one that QOS pins too", () => {
    expect(toHex(parseTrustAnchor("qos", readVectorText("trust-anchors/aws_root_cert.pem")).certificate.der)).toBe(
      toHex(certificate.der),
    );
  });

  it("says what is known of it", () => {
    expect(nameText(certificate.subject)).toBe("C=US, O=Amazon, OU=AWS, CN=aws.nitro-enclaves");
    expect(toHex(certificate.issuer)).toBe(toHex(certificate.subject));
    expect(certificate.notBefore.toISOString()).toBe("2019-10-28T13:28:05.000Z");
    expect(certificate.notAfter.toISOString()).toBe("2049-10-28T14:28:05.000Z");
  });

  it("is recognised by its bytes, whatever it is called", () => {
    expect(isAwsNitroRoot(AWS_NITRO_ROOT_G1)).toBe(true);
    expect(isAwsNitroRoot(parseTrustAnchor("mine", awsPem))).toBe(true);
    expect(isAwsNitroRoot(parseTrustAnchor("lab", labPem))).toBe(false);
    expect(isAwsNitroRoot({ ...AWS_NITRO_ROOT_G1, certificate: decodeCertificate(labRoot) })).toBe(false);
  });
});

describe("parseTrustAnchor", () => {
  const body = toBase64(labRoot);
  const pem = (content: string): string => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;

  it.each<[name: string, text: string]>([
    ["lines of 64", labPem],
    ["one line", pem(body)],
    ["lines of 76", pem(body.match(/.{1,76}/g)!.join("\n"))],
    ["CR LF", labPem.replaceAll("\n", "\r\n")],
    ["spaces and tabs between the lines", pem(body.match(/.{1,64}/g)!.join(" \n\t "))],
    ["no line feed at the end", labPem.trimEnd()],
    ["text before it", `subject=CN = lab\nissuer=CN = lab\n${labPem}`],
    ["text after it", `${labPem}\nThat was the root.\n`],
    ["another PEM block beside it", `-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n${labPem}`],
  ])("reads %s", (_, text) => {
    const anchor = parseTrustAnchor("lab", text);
    expect(anchor.name).toBe("lab");
    expect(toHex(anchor.certificate.der)).toBe(toHex(labRoot));
  });

  it.each<[name: string, text: string, says: string]>([
    ["nothing", "", "0 PEM certificates"],
    ["a text that is not a PEM", "lab", "0 PEM certificates"],
    ["base64 alone", body, "0 PEM certificates"],
    ["a beginning alone", `-----BEGIN CERTIFICATE-----\n${body}`, "0 PEM certificates"],
    ["a public key", labPem.replaceAll("CERTIFICATE", "PUBLIC KEY"), "0 PEM certificates"],
    ["a request", labPem.replaceAll("CERTIFICATE", "CERTIFICATE REQUEST"), "0 PEM certificates"],
    ["lower case", labPem.replaceAll("CERTIFICATE", "certificate"), "0 PEM certificates"],
    ["two certificates", labPem + awsPem, "2 PEM certificates"],
    ["no base64", pem("@@@@"), "not base64"],
    ["base64url", pem(body.replaceAll("+", "-").replaceAll("/", "_")), "PEM"],
    [
      "base64 without padding",
      pem(toBase64(concatBytes(labRoot, new Uint8Array(2 - (labRoot.length % 3)))).replace(/=+$/, "")),
      "base64",
    ],
    ["base64 with a header inside", pem(`Proc-Type: 4,ENCRYPTED\n${body}`), "PEM certificates"],
    ["an empty block", pem(""), ""],
    ["a byte after the certificate", pem(toBase64(concatBytes(labRoot, Uint8Array.of(0)))), "after the certificate"],
  ])("refuses %s", (_, text, says) => {
    const refusal = refusalOf(() => parseTrustAnchor("lab", text));
    expect(refusal.code).toBe("trust-anchor");
    expect(refusal.faults).toContain(says);
  });

  it("lets only the AWS root have the AWS root's name", () => {
    expect(refusalOf(() => parseTrustAnchor("aws-nitro-root-g1", labPem)).faults).toContain("aws-nitro-root-g1");
    expect(isAwsNitroRoot(parseTrustAnchor("aws-nitro-root-g1", awsPem))).toBe(true);
  });
});

describe("the anchors of a verification", () => {
  const evidence = forge();
  const anchorOf = (name: string, pki: NitroPki): TrustAnchor =>
    parseTrustAnchor(name, certificatePem(pki.rootCertificate));
  const withAnchors = (...trustAnchors: TrustAnchor[]) => ({
    ...optionsOf(evidence, { noPolicy: true }),
    trustAnchors,
  });
  const [own, other] = [anchorOf("own", lab.pki), anchorOf("other", otherLab.pki)];

  it("are all tried, and the one met is named", async () => {
    const { report } = await verifyBootProof(evidence.bootProof, withAnchors(AWS_NITRO_ROOT_G1, other, own));
    expect(report.verdict).toBe("authentic");
    expect(report.claims!.bootProofs[0]!.hardware.trustAnchor).toBe("own");
  });

  it("may not be a certificate further down the path", async () => {
    const chain = lab.pki.issueChain(lab.pki.chainSpecs(AT));
    for (const place of [CHAIN.region, CHAIN.zone, CHAIN.instance, CHAIN.leaf]) {
      const anchor = parseTrustAnchor("lower", certificatePem(chain[place]!));
      const { report } = await verifyBootProof(evidence.bootProof, withAnchors(anchor));
      expect(idsOf(report, "fail")).toEqual(["chain.anchor"]);
    }
  });
});
