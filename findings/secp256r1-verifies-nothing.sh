#!/bin/sh
# secp256r1-verifies-nothing: verify() of secp256r1 is false for every signature, its own too; every uncompressed key of
# 65 bytes, its own too, "could not be parsed or is invalid"; and the uncompressed form that it makes of a compressed
# key is another point. What it signs, others verify.
#
# Packages: secp256r1 0.0.3; beside it @noble/curves 2.4.0, and crypto of Node.
# Expected: true, as the example in its README says of its own key, message and signature.
# Cause: points are read by y² = x³ + b, as in the package for secp256k1 of which this is a copy; the term in x, which
# this curve has, is missing.
# Who meets it: who has keys and signatures of passkeys, enclaves or key services, which are of this curve, and knows
# the interface from Ethereum. A test that a forged signature is refused passes.
# Here: a hundred keys, each with one signature by this package and one by Node.
# Seen:
#   its signature, by Node: true (100 of 100)
#   its signature, by itself: false (100 of 100)
#   Node's with the lower s, by itself: false (100 of 100)
#   its signature and a key of 65 bytes: the public key could not be parsed or is invalid (100 of 100)
#   the key that it makes of a secret is right: true (100 of 100)
#   that key converted to 65 bytes is right: false (100 of 100)
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact secp256r1@0.0.3 @noble/curves@2.4.0 ||
  exit 77
cat > run.mjs <<'END'
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import secp256r1 from "secp256r1";

const COUNT = 100;
const P1363 = "ieee-p1363";
const counts = {};
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
const base64url = (bytes) => Buffer.from(bytes).toString("base64url");
function attempt(run) {
  try {
    return run();
  } catch (error) {
    return error.message;
  }
}
for (let at = 0; at < COUNT; at++) {
  const message = Buffer.from(`message ${at}`);
  const secret = createHash("sha256").update(`key ${at}`).digest();
  const hash = createHash("sha256").update(message).digest();
  const compressed = Buffer.from(p256.getPublicKey(secret));
  const uncompressed = Buffer.from(p256.getPublicKey(secret, false));
  const [x, y] = [base64url(uncompressed.subarray(1, 33)), base64url(uncompressed.subarray(33))];
  const key = createPrivateKey({ key: { kty: "EC", crv: "P-256", d: base64url(secret), x, y }, format: "jwk" });
  const byNode = secp256r1.signatureNormalize(sign("sha256", message, { key, dsaEncoding: P1363 }));
  const { signature } = secp256r1.sign(hash, secret);
  const asNode = verify("sha256", message, { key: createPublicKey(key), dsaEncoding: P1363 }, signature);
  count(`its signature, by Node: ${asNode}`);
  count(`its signature, by itself: ${attempt(() => secp256r1.verify(hash, signature, compressed))}`);
  count(`Node's with the lower s, by itself: ${attempt(() => secp256r1.verify(hash, byNode, compressed))}`);
  count(`its signature and a key of 65 bytes: ${attempt(() => secp256r1.verify(hash, signature, uncompressed))}`);
  count(`the key that it makes of a secret is right: ${secp256r1.publicKeyCreate(secret).equals(compressed)}`);
  const converted = attempt(() => secp256r1.publicKeyConvert(compressed, false).equals(uncompressed));
  count(`that key converted to 65 bytes is right: ${converted}`);
}
for (const [what, times] of Object.entries(counts)) console.log(`${what} (${times} of ${COUNT})`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
its signature, by Node: true (100 of 100)
its signature, by itself: false (100 of 100)
Node's with the lower s, by itself: false (100 of 100)
its signature and a key of 65 bytes: the public key could not be parsed or is invalid (100 of 100)
the key that it makes of a secret is right: true (100 of 100)
that key converted to 65 bytes is right: false (100 of 100)
END
cmp seen expected
