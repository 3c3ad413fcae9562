#!/bin/sh
# hd-path-with-h-is-not-hardened: of "m/44h/60h/0h/0/0" three libraries make the path m/44/60/0/0/0, without a word:
# other keys, another address, and another key that a hardware wallet is asked for. Others read h as ', or refuse.
#
# Packages: hdkey 2.1.0, @ledgerhq/hw-app-eth 7.9.0, @keystonehq/bc-ur-registry-eth 0.22.1; beside them bip32-path
# 0.4.2, @scure/bip32 2.4.0, bip32 5.0.1 with tiny-secp256k1 2.2.4, ethers 6.17.0, @cosmjs/crypto 0.39.0.
# Expected: m/44'/60'/0'/0/0, or a refusal. BIP 32 writes H for a hardened index in its vectors, and BIP 380, by which
# wallets write out the paths of their keys, has h and ' as two spellings of one index.
# Cause: a component ends with ', or is what parseInt makes of it: 44 of "44h", as of any text that begins with 44.
# Who meets it: who takes a path from a descriptor, a multisig's file or another wallet's export, where ' is avoided
# since shells take it for a quote. The address is well-formed and has no funds.
# Here: each derives the key of a path, or says by its index which key a device is asked for; no device is needed.
# Seen:
#   hdkey: h as without, H as without
#   @ledgerhq/hw-app-eth: h as without, H as without
#   @keystonehq/bc-ur-registry-eth: h as without, H as without
#   bip32-path: h as ', H as '
#   @scure/bip32: h refused, H refused
#   bip32: h refused, H refused
#   ethers: h refused, H refused
#   @cosmjs/crypto: h refused, H refused
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact hdkey@2.1.0 @ledgerhq/hw-app-eth@7.9.0 \
  @keystonehq/bc-ur-registry-eth@0.22.1 bip32-path@0.4.2 @scure/bip32@2.4.0 bip32@5.0.1 tiny-secp256k1@2.2.4 \
  ethers@6.17.0 @cosmjs/crypto@0.39.0 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { HDKey as Scure } from "@scure/bip32";
import { BIP32Factory } from "bip32";
import { HDNodeWallet } from "ethers";
import * as curve from "tiny-secp256k1";

const require = createRequire(import.meta.url);
const { default: Ledger } = require("@ledgerhq/hw-app-eth");
const { EthSignRequest } = require("@keystonehq/bc-ur-registry-eth");
const { Slip10, Slip10Curve, stringToPath } = require("@cosmjs/crypto");
const seed = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
const id = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d";

/** The bytes of the request to the device; in place of one, its answer is that it is locked. */
async function askedOfDevice(path) {
  let asked;
  const send = (...command) => ((asked = command.at(-1)), Promise.reject(new Error("locked")));
  await new Ledger({ send, decorateAppAPIMethods() {} }).getAddress(path).catch(() => {});
  if (!asked) throw new Error("nothing was asked");
  return asked.toString("hex");
}

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const LIBRARIES = {
  hdkey: (path) => hex(require("hdkey").fromMasterSeed(seed).derive(path).privateKey),
  "@ledgerhq/hw-app-eth": askedOfDevice,
  "@keystonehq/bc-ur-registry-eth": (path) =>
    EthSignRequest.constructETHRequest(Buffer.of(0), 1, path, "12345678", id, 1).getDerivationPath(),
  "bip32-path": (path) => require("bip32-path").fromString(path).toString(),
  "@scure/bip32": (path) => hex(Scure.fromMasterSeed(seed).derive(path).privateKey),
  bip32: (path) => hex(BIP32Factory(curve).fromSeed(seed).derivePath(path).privateKey),
  ethers: (path) => HDNodeWallet.fromSeed(seed).derivePath(path).privateKey,
  "@cosmjs/crypto": (path) => hex(Slip10.derivePath(Slip10Curve.Secp256k1, seed, stringToPath(path)).privkey),
};

async function reading(derive, sign) {
  const path = (mark) => `m/44${mark}/60${mark}/0${mark}/0/0`;
  const [hardened, plain] = [await derive(path("'")), await derive(path(""))];
  if (hardened === plain) return "cannot be told";
  let own;
  try {
    own = await derive(path(sign));
  } catch {
    return "refused";
  }
  return own === hardened ? "as '" : own === plain ? "as without" : "as another";
}

for (const [name, derive] of Object.entries(LIBRARIES))
  console.log(`${name}: h ${await reading(derive, "h")}, H ${await reading(derive, "H")}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
hdkey: h as without, H as without
@ledgerhq/hw-app-eth: h as without, H as without
@keystonehq/bc-ur-registry-eth: h as without, H as without
bip32-path: h as ', H as '
@scure/bip32: h refused, H refused
bip32: h refused, H refused
ethers: h refused, H refused
@cosmjs/crypto: h refused, H refused
END
cmp seen expected
