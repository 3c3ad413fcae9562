/**
 * What verification costs, in units of its cryptographic floor F0: five P-384 verifications (four certificate links and
 * the COSE signature) and one P-256, native, one after the other, keys imported. Everything is measured side by side in
 * rounds of one process; medians of the rounds are printed. Run after `npm run build`: `node test/bench/cost.mjs`.
 */
import crypto from "node:crypto";
import { readFileSync } from "node:fs";
import {
  NO_POLICY_ANY_ENCLAVE,
  SignatureCache,
  verifyAppProof,
  verifyBootProof,
  verifyEvidence,
} from "../../dist/src/index.js";
import { decodeCoseSign1 } from "../../dist/src/decode/cose-sign1.js";
import { readAttestationDocument } from "../../dist/src/decode/attestation-document.js";
import { decodeManifestEnvelope, manifestHashInput } from "../../dist/src/decode/manifest/index.js";
import { pointOfSpki } from "../../dist/src/verify/ecdsa.js";
import { rawSignature } from "../../dist/src/decode/ecdsa-signature.js";
import { decodeBootProof } from "../../dist/src/decode/boot-proof.js";
import { floorOf } from "./floor.mjs";

const ROUNDS = 41;
const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../test-vectors/boot-proofs/${name}`, import.meta.url), "utf8"));
const pairs = [1, 2].map((n) => ({ bootProof: read(`bootproof-${n}.json`), appProof: read(`appproof-${n}.json`) }));
const options = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date("2026-01-01T00:00:00Z") };

/**
 * A cache that knows what a second document of the same instance shares with the first: the links above the leaf, the
 * approvals.
 */
const caches = [];
async function freshCache() {
  const cache = new SignatureCache();
  for (const verify of shared) if (!(await verify(cache))) throw new Error("a genuine signature is invalid");
  return cache;
}
function sharedSignatures(bootProof) {
  const { attestationDocument, manifestEnvelope } = decodeBootProof(bootProof);
  const { cabundle } = readAttestationDocument(decodeCoseSign1(attestationDocument).payload).value;
  const { manifest, manifestSetApprovals, shareSetApprovals } = decodeManifestEnvelope(manifestEnvelope);
  const hash = crypto.createHash("sha256").update(manifestHashInput(manifest)).digest();
  const links = cabundle
    .slice(1)
    .map(
      (entry, index) => (cache) =>
        cache.verify(
          "P-384",
          pointOfSpki("P-384", cabundle[index].subjectPublicKeyInfo),
          entry.tbsCertificate,
          rawSignature(entry.signature, 48),
        ),
    );
  const approvals = [...manifestSetApprovals, ...shareSetApprovals].map(
    ({ member, signature }) =>
      (cache) =>
        cache.verify("P-256", member.pubKey.subarray(65), hash, signature),
  );
  return [...links, ...approvals];
}
const pair = (more = {}) =>
  verifyEvidence({ bootProofs: [pairs[0].bootProof], appProofs: [pairs[0].appProof] }, { ...options, ...more });
async function demand(pending) {
  const { report } = await pending;
  if (report.verdict !== "authentic")
    throw new Error(JSON.stringify(report.checks.filter((check) => check.status === "fail")));
}
const shared = sharedSignatures(pairs[0].bootProof);
const { f0, p256 } = floorOf(pairs[0].bootProof, pairs[0].appProof);
const warm = new SignatureCache();
const verified = (await verifyBootProof(pairs[0].bootProof, { ...options, cache: warm })).bootProof;
if (verified === null) throw new Error("the genuine boot proof was rejected");

const subjects = {
  "F0: 5 × P-384, 1 × P-256, native, keys imported": f0,
  "one P-256 verification, native, key imported": p256,
  "genuine pair, whole, nothing remembered": () => demand(pair()),
  "the same, intermediates and approvals remembered": () => demand(pair({ cache: caches.pop() })),
  "the same, everything remembered": () => demand(pair({ cache: warm })),
  "app proof under a verified boot proof": () => demand(verifyAppProof(pairs[0].appProof, verified, options)),
  "the same, among other work": () => demand(verifyAppProof(pairs[0].appProof, verified, options)),
};
/** How often each runs in a round; what runs once comes right after other work. */
const repeats = { 0: 4, 1: 400, 2: 4, 3: 8, 4: 8, 5: 400, 6: 1 };
/** Runs before each that is measured among other work. */
const OTHER_WORK = subjects["genuine pair, whole, nothing remembered"];

const times = Object.keys(subjects).map(() => []);
for (let round = -5; round < ROUNDS; round++) {
  for (const [index, run] of Object.values(subjects).entries()) {
    const prepared = index === 3 ? await Promise.all(Array.from({ length: repeats[3] }, freshCache)) : [];
    caches.length = 0;
    caches.push(...prepared);
    if (repeats[index] === 1) await OTHER_WORK();
    const start = performance.now();
    for (let i = 0; i < repeats[index]; i++) await run();
    if (round >= 0) times[index].push((performance.now() - start) / repeats[index]);
  }
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const [floor, oneP256] = times.map(median);
for (const [index, name] of Object.keys(subjects).entries()) {
  const time = median(times[index]);
  const spread = `${Math.min(...times[index]).toFixed(3)} to ${Math.max(...times[index]).toFixed(3)}`;
  console.log(
    `${name.padEnd(52)} ${time.toFixed(3)} ms (${spread})  ${(time / floor).toFixed(2)} F0  ` +
      `${(time / oneP256).toFixed(2)} P-256`,
  );
}
