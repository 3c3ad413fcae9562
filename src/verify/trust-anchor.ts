/** Trust anchors (RFC 5280 section 6.1), which are the verifier's own copies. */
import { equalBytes, fromBase64, toBase64 } from "../bytes.js";
import { type Certificate, decodeCertificate } from "../decode/certificate.js";
import { MalformedError, attempt } from "../errors.js";

export interface TrustAnchor {
  /** Name in reports. */
  readonly name: string;
  readonly certificate: Certificate;
}

export const AWS_NITRO_ROOT_G1_NAME = "aws-nitro-root-g1";

/**
 * AWS Nitro Enclaves Root G1, as AWS publishes it (`AWS_NitroEnclaves_Root-G1.zip`). SHA-256 of the DER:
 * 641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b.
 */
export const AWS_NITRO_ROOT_G1: TrustAnchor = {
  name: AWS_NITRO_ROOT_G1_NAME,
  certificate: /* @__PURE__ */ decodeCertificate(
    /* @__PURE__ */ fromBase64(
      "MIICETCCAZagAwIBAgIRAPkxdWgbkK/hHUbMtOTn+FYwCgYIKoZIzj0EAwMwSTEL" +
        "MAkGA1UEBhMCVVMxDzANBgNVBAoMBkFtYXpvbjEMMAoGA1UECwwDQVdTMRswGQYD" +
        "VQQDDBJhd3Mubml0cm8tZW5jbGF2ZXMwHhcNMTkxMDI4MTMyODA1WhcNNDkxMDI4" +
        "MTQyODA1WjBJMQswCQYDVQQGEwJVUzEPMA0GA1UECgwGQW1hem9uMQwwCgYDVQQL" +
        "DANBV1MxGzAZBgNVBAMMEmF3cy5uaXRyby1lbmNsYXZlczB2MBAGByqGSM49AgEG" +
        "BSuBBAAiA2IABPwCVOumCMHzaHDimtqQvkY4MpJzbolL//Zy2YlES1BR5TSksfbb" +
        "48C8WBoyt7F2Bw7eEtaaP+ohG2bnUs990d0JX28TcPQXCEPZ3BABIeTPYwEoCWZE" +
        "h8l5YoQwTcU/9KNCMEAwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUkCW1DdkF" +
        "R+eWw5b6cp3PmanfS5YwDgYDVR0PAQH/BAQDAgGGMAoGCCqGSM49BAMDA2kAMGYC" +
        "MQCjfy+Rocm9Xue4YnwWmNJVA44fA0P5W2OpYow9OYCVRaEevL8uO1XYru5xtMPW" +
        "rfMCMQCi85sWBbJwKKXdS6BptQFuZbT73o/gBh1qUxl/nNr12UO8Yfwr6wPLb+6N" +
        "IwLz3/Y=",
    )!,
  ),
};

export function isAwsNitroRoot(anchor: TrustAnchor): boolean {
  return equalBytes(anchor.certificate.der, AWS_NITRO_ROOT_G1.certificate.der);
}

/**
 * Reads one PEM certificate (RFC 7468), and ignores text around it. Throws {@link MalformedError} (`trust-anchor`).
 * @example
 * ```ts
 * const trustAnchors = [parseTrustAnchor("lab", await readFile("lab.pem", "utf8"))];
 * ```
 */
export function parseTrustAnchor(name: string, pem: string): TrustAnchor {
  const anchor = anchorOf(name, pem);
  if (name === AWS_NITRO_ROOT_G1_NAME && !isAwsNitroRoot(anchor))
    throw malformed(`only the AWS root may be called ${name}`);
  return anchor;
}

export const PEM_START = "-----BEGIN CERTIFICATE-----";
const PEM_END = "-----END CERTIFICATE-----";
const PEM_BLOCK = new RegExp(`${PEM_START}([^-]*)${PEM_END}`, "g");

function anchorOf(name: string, pem: string): TrustAnchor {
  const blocks = [...pem.matchAll(PEM_BLOCK)];
  if (blocks.length !== 1) throw malformed(`${blocks.length} PEM certificates, expected exactly one`);
  const der = fromBase64(blocks[0]![1]!.replace(/[ \t\r\n]/g, ""));
  if (der === null) throw malformed("not base64 between the PEM lines");
  const decoded = attempt(() => decodeCertificate(der));
  if (decoded.value === undefined) throw new MalformedError("trust-anchor", decoded.faults);
  return { name, certificate: decoded.value };
}

export function certificatePem(der: Uint8Array): string {
  return [PEM_START, ...toBase64(der).match(/.{1,64}/g)!, PEM_END, ""].join("\n");
}

function malformed(message: string): MalformedError {
  return new MalformedError("trust-anchor", [{ path: "", message }]);
}
