/** The cryptographic floor of a genuine pair, native, keys imported: see cost.mjs. */
import crypto from "node:crypto";
import { readAttestationDocument } from "../../dist/src/decode/attestation-document.js";
import { decodeBootProof } from "../../dist/src/decode/boot-proof.js";
import { decodeCoseSign1, signatureInput } from "../../dist/src/decode/cose-sign1.js";

function native(hash, key, message, signature, dsaEncoding) {
  return () => {
    if (!crypto.verify(hash, message, { key, dsaEncoding }, signature))
      throw new Error("a genuine signature is invalid");
  };
}

/** F0: five P-384 verifications (four certificate links and the COSE signature) and one P-256; and the last alone. */
export function floorOf(bootProof, appProof) {
  const message = decodeCoseSign1(decodeBootProof(bootProof).attestationDocument);
  const { certificate, cabundle } = readAttestationDocument(message.payload).value;
  const path = [...cabundle, certificate];
  const keys = path.map(({ subjectPublicKeyInfo }) =>
    crypto.createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: "der", type: "spki" }),
  );
  const links = path
    .slice(1)
    .map((entry, index) => native("sha384", keys[index], entry.tbsCertificate, entry.signature, "der"));
  const cose = native("sha384", keys.at(-1), signatureInput(message), message.signature, "ieee-p1363");
  const point = Buffer.from(appProof.publicKey, "hex").subarray(65);
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
  const key = crypto.createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const signature = Buffer.from(appProof.signature, "hex");
  const p256 = native("sha256", key, Buffer.from(appProof.proofPayload), signature, "ieee-p1363");
  return { f0: () => [...links, cose, p256].forEach((check) => check()), p256 };
}
