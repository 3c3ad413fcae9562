#!/bin/sh
# address-of-the-other-key-spelling: given the same public key in its other spelling, ripple-keypairs and tronweb answer
# with another address, which is well-formed and which no key can spend from. Other chains' libraries refuse, or answer
# with the same address.
#
# Packages: ripple-keypairs 3.1.0, tronweb 6.5.1, @cosmjs/amino 0.39.0, @scure/btc-signer 2.4.1, @mysten/sui 1.45.2; the
# keys by @noble/curves 2.4.0.
# Expected: a chain that hashes one spelling of a key has one address for a key; a library makes that one of both
# spellings, or refuses the one that the chain does not hash.
# Who meets it: who has keys from a service that writes secp256k1 keys in 65 bytes for one chain and in 33 for another,
# or Ed25519 keys in 32 bytes, without the ED that the XRP Ledger puts before them.
# Here: one private key. What each library says of its own private key is "right"; another well-formed address is
# "another address". The XRP Ledger takes no key of 65 bytes, and Tron hashes 64 bytes of the uncompressed one.
# Seen:
#   XRP, secp256k1: compressed right, uncompressed another address
#   XRP, Ed25519: with ED right, without ED another address
#   Tron: compressed another address, uncompressed right
#   Cosmos: compressed right, uncompressed refused
#   Bitcoin, P2WPKH: compressed right, uncompressed refused
#   Sui: compressed right, uncompressed refused
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact ripple-keypairs@3.1.0 tronweb@6.5.1 \
  @cosmjs/amino@0.39.0 @scure/btc-signer@2.4.1 @mysten/sui@1.45.2 @noble/curves@2.4.0 || exit 77
cat > run.mjs <<'END'
import { encodeSecp256k1Pubkey, pubkeyToAddress } from "@cosmjs/amino";
import { Secp256k1Keypair, Secp256k1PublicKey } from "@mysten/sui/keypairs/secp256k1";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { getAddress, p2wpkh } from "@scure/btc-signer";
import { deriveAddress, deriveKeypair, generateSeed } from "ripple-keypairs";
import { TronWeb, utils } from "tronweb";

const hex = (bytes) => Buffer.from(bytes).toString("hex").toUpperCase();
const secret = new Uint8Array(32).fill(0x11);
const compressed = secp256k1.getPublicKey(secret, true);
const uncompressed = secp256k1.getPublicKey(secret, false);
const both = { compressed, uncompressed };

function ask(chain, right, spellings, addressOf) {
  const answers = Object.entries(spellings).map(([name, key]) => {
    try {
      return `${name} ${addressOf(key) === right ? "right" : "another address"}`;
    } catch {
      return `${name} refused`;
    }
  });
  console.log(`${chain}: ${answers.join(", ")}`);
}

const cosmosAddress = (key) => pubkeyToAddress(encodeSecp256k1Pubkey(key), "cosmos");
const pair = deriveKeypair(generateSeed({ algorithm: "ed25519" }));
const ofEd25519 = { "with ED": pair.publicKey, "without ED": pair.publicKey.slice(2) };
const tronAddress = (key) => TronWeb.address.fromHex(hex(utils.crypto.computeAddress(key)));
const suiAddress = Secp256k1Keypair.fromSecretKey(secret).toSuiAddress();
ask("XRP, secp256k1", deriveAddress(hex(compressed)), both, (key) => deriveAddress(hex(key)));
ask("XRP, Ed25519", deriveAddress(pair.publicKey), ofEd25519, deriveAddress);
ask("Tron", TronWeb.address.fromPrivateKey(hex(secret)), both, tronAddress);
ask("Cosmos", cosmosAddress(compressed), both, cosmosAddress);
ask("Bitcoin, P2WPKH", getAddress("wpkh", secret), both, (key) => p2wpkh(key).address);
ask("Sui", suiAddress, both, (key) => new Secp256k1PublicKey(key).toSuiAddress());
END
node run.mjs > seen
cat seen
cat > expected <<'END'
XRP, secp256k1: compressed right, uncompressed another address
XRP, Ed25519: with ED right, without ED another address
Tron: compressed another address, uncompressed right
Cosmos: compressed right, uncompressed refused
Bitcoin, P2WPKH: compressed right, uncompressed refused
Sui: compressed right, uncompressed refused
END
cmp seen expected
