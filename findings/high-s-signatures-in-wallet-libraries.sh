#!/bin/sh
# high-s-signatures-in-wallet-libraries: of an ECDSA signature whose s is in the upper half, as hardware modules write
# every other one, @cosmjs/crypto says that it is valid, though chains of Cosmos refuse it; @bitcoinerlab/secp256k1
# refuses it also where it is not asked to be strict, unlike tiny-secp256k1, whose interface it has.
#
# Packages: @cosmjs/crypto 0.39.0, @bitcoinerlab/secp256k1 2.0.0, tiny-secp256k1 2.2.4, ripple-keypairs 3.1.0,
# ethers 6.17.0, viem 2.57.20; the signatures by @noble/curves 2.4.0.
# Expected: a library answers as its chain does: Cosmos, the XRP Ledger and Ethereum refuse a high s in a transaction;
# and two libraries of one interface answer alike.
# Cause: @bitcoinerlab/secp256k1 hands on `strict`, which is undefined, to a library whose own default is to be strict.
# Who meets it: who signs by a key service that does not write the lower s, and checks a signature before it sends it.
# Here: one key, one signature, and the same with n - s for s, both of which are valid ECDSA (SEC 1).
# Seen:
#   @cosmjs/crypto: low s valid, high s valid
#   tiny-secp256k1: low s valid, high s valid
#   tiny-secp256k1, strict: low s valid, high s not valid
#   @bitcoinerlab/secp256k1: low s valid, high s not valid
#   @bitcoinerlab/secp256k1, strict false: low s valid, high s valid
#   ripple-keypairs: low s valid, high s not valid
#   ethers: low s valid, high s refused
#   viem: low s valid, high s valid
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @cosmjs/crypto@0.39.0 \
  @bitcoinerlab/secp256k1@2.0.0 tiny-secp256k1@2.2.4 ripple-keypairs@3.1.0 ethers@6.17.0 viem@2.57.20 \
  @noble/curves@2.4.0 @noble/hashes@2.4.0 || exit 77
cat > run.mjs <<'END'
import * as bitcoinerlab from "@bitcoinerlab/secp256k1";
import { Secp256k1, Secp256k1Signature } from "@cosmjs/crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { SigningKey, computeAddress, recoverAddress as ethersAddress } from "ethers";
import { verify as verifyXrp } from "ripple-keypairs";
import * as tiny from "tiny-secp256k1";
import { recoverAddress as viemAddress } from "viem";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const secret = new Uint8Array(32).fill(0x11);
const key = secp256k1.getPublicKey(secret);
const message = Buffer.from("a message");
const digest = sha256(message);
const address = computeAddress(new SigningKey(secret).publicKey);

/** The signature with the lower s, or with the other one, whose recovery bit is the other one too. */
function signatureOver(hash, isHigh) {
  const bytes = secp256k1.sign(hash, secret, { prehash: false, format: "recovered" });
  const low = secp256k1.Signature.fromBytes(bytes, "recovered");
  if (!isHigh) return low;
  return new secp256k1.Signature(low.r, secp256k1.Point.Fn.ORDER - low.s, 1 - low.recovery);
}
const compact = (signature) => signature.toBytes("compact");
const ofEthereum = (signature) => `0x${hex(compact(signature))}${signature.recovery === 0 ? "1b" : "1c"}`;
const ASKED = {
  "@cosmjs/crypto": (isHigh) =>
    Secp256k1.verifySignature(Secp256k1Signature.fromFixedLength(compact(signatureOver(digest, isHigh))), digest, key),
  "tiny-secp256k1": (isHigh) => tiny.verify(digest, key, compact(signatureOver(digest, isHigh))),
  "tiny-secp256k1, strict": (isHigh) => tiny.verify(digest, key, compact(signatureOver(digest, isHigh)), true),
  "@bitcoinerlab/secp256k1": (isHigh) => bitcoinerlab.verify(digest, key, compact(signatureOver(digest, isHigh))),
  "@bitcoinerlab/secp256k1, strict false": (isHigh) =>
    bitcoinerlab.verify(digest, key, compact(signatureOver(digest, isHigh)), false),
  "ripple-keypairs": (isHigh) => {
    const signature = signatureOver(sha512(message).slice(0, 32), isHigh);
    return verifyXrp(hex(message), hex(signature.toBytes("der")), hex(key));
  },
  ethers: (isHigh) => ethersAddress(digest, ofEthereum(signatureOver(digest, isHigh))) === address,
  viem: async (isHigh) => {
    const signature = ofEthereum(signatureOver(digest, isHigh));
    return (await viemAddress({ hash: digest, signature })) === address;
  },
};
async function said(work) {
  try {
    return (await work()) ? "valid" : "not valid";
  } catch {
    return "refused";
  }
}
for (const [name, ask] of Object.entries(ASKED))
  console.log(`${name}: low s ${await said(() => ask(false))}, high s ${await said(() => ask(true))}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
@cosmjs/crypto: low s valid, high s valid
tiny-secp256k1: low s valid, high s valid
tiny-secp256k1, strict: low s valid, high s not valid
@bitcoinerlab/secp256k1: low s valid, high s not valid
@bitcoinerlab/secp256k1, strict false: low s valid, high s valid
ripple-keypairs: low s valid, high s not valid
ethers: low s valid, high s refused
viem: low s valid, high s valid
END
cmp seen expected
