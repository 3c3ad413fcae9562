/** Milliseconds of F0, of one native P-256 verification, and of @turnkey/crypto's verify of a genuine pair, as JSON. */
import crypto from "node:crypto";
import { readFileSync } from "node:fs";
import { verify } from "@turnkey/crypto";
import { readAttestationDocument } from "../../dist/src/decode/attestation-document.js";
import { decodeBootProof } from "../../dist/src/decode/boot-proof.js";
import { decodeCoseSign1, signatureInput } from "../../dist/src/decode/cose-sign1.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../test-vectors/boot-proofs/${name}`, import.meta.url), "utf8"));
const bootProof = read("bootproof-1.json");
const appProof = read("appproof-1.json");

function native(hash, key, message, signature, dsaEncoding) {
  return () => {
    if (!crypto.verify(hash, message, { key, dsaEncoding }, signature))
      throw new Error("a genuine signature is invalid");
  };
}
const message = decodeCoseSign1(decodeBootProof(bootProof).attestationDocument);
const { certificate, cabundle } = readAttestationDocument(message.payload).value;
const chain = [...cabundle, certificate];
const keys = chain.map(({ subjectPublicKeyInfo }) =>
  crypto.createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: "der", type: "spki" }),
);
const links = chain
  .slice(1)
  .map((entry, index) => native("sha384", keys[index], entry.tbsCertificate, entry.signature, "der"));
const cose = native("sha384", keys.at(-1), signatureInput(message), message.signature, "ieee-p1363");
const point = Buffer.from(appProof.publicKey, "hex").subarray(65);
const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
const appKey = crypto.createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
const p256 = native(
  "sha256",
  appKey,
  Buffer.from(appProof.proofPayload),
  Buffer.from(appProof.signature, "hex"),
  "ieee-p1363",
);

/** The median of rounds of some 20 ms. */
async function milliseconds(run, repeats) {
  const rounds = [];
  for (let round = -3; round < 21; round++) {
    const start = performance.now();
    for (let index = 0; index < repeats; index++) await run();
    if (round >= 0) rounds.push((performance.now() - start) / repeats);
  }
  return rounds.toSorted((a, b) => a - b)[rounds.length >> 1];
}
const floor = () => [...links, cose, p256].forEach((check) => check());
const figures = {
  f0: await milliseconds(floor, 6),
  p256: await milliseconds(p256, 300),
  turnkey: await milliseconds(() => verify(appProof, bootProof), 3),
};
console.log(JSON.stringify(figures));
