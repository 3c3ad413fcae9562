#!/bin/sh
# jose-key-set-of-webcrypto-ed25519: a token that jose signed by EdDSA is not verified under a key set that has the very
# key, if that key was exported by WebCrypto. The key alone, outside of a set, verifies it.
#
# Packages: jose 6.2.17, and the WebCrypto of Node 20 and later, which exports Ed25519 keys with "alg": "Ed25519".
# Expected: EdDSA with an Ed25519 key (RFC 8037) and Ed25519 (RFC 9864) are one signature under one key; a set that has
# the key by its id finds it for both names.
# Who meets it: who publishes a key set of what crypto.subtle.exportKey("jwk") returns, as Node, Bun and browsers write
# it, beside tokens under the older name, which other libraries need: attestation results, session tokens.
# Here: one key, one token of each name, and three sets: as WebCrypto exports the key, as jose does, and with "EdDSA".
# Seen:
#   alg of the exported key: WebCrypto Ed25519, jose none
#   token EdDSA, key of WebCrypto: ERR_JWKS_NO_MATCHING_KEY
#   token EdDSA, key of jose: verified
#   token EdDSA, key with alg EdDSA: verified
#   token Ed25519, key of WebCrypto: verified
#   token Ed25519, key of jose: verified
#   token Ed25519, key with alg EdDSA: ERR_JWKS_NO_MATCHING_KEY
#   token EdDSA, the same key of WebCrypto without a set: verified
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact jose@6.2.17 || exit 77
cat > run.mjs <<'END'
import { webcrypto } from "node:crypto";
import { SignJWT, createLocalJWKSet, exportJWK, generateKeyPair, importJWK, jwtVerify } from "jose";

const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
const ofJose = { ...(await exportJWK(publicKey)), kid: "k" };
const { key_ops: _, ...ofWebCrypto } = { ...(await webcrypto.subtle.exportKey("jwk", publicKey)), kid: "k" };
const older = { ...ofJose, alg: "EdDSA" };
const keys = { "key of WebCrypto": ofWebCrypto, "key of jose": ofJose, "key with alg EdDSA": older };
const tokenBy = (alg) => new SignJWT({}).setProtectedHeader({ alg, kid: "k" }).sign(privateKey);
const said = (work) => work.then(() => "verified", ({ code }) => code);
console.log(`alg of the exported key: WebCrypto ${ofWebCrypto.alg}, jose ${ofJose.alg ?? "none"}`);
for (const alg of ["EdDSA", "Ed25519"])
  for (const [name, key] of Object.entries(keys)) {
    const set = createLocalJWKSet({ keys: [key] });
    console.log(`token ${alg}, ${name}: ${await said(jwtVerify(await tokenBy(alg), set))}`);
  }
const alone = await importJWK(ofWebCrypto, "EdDSA");
const without = await said(jwtVerify(await tokenBy("EdDSA"), alone));
console.log(`token EdDSA, the same key of WebCrypto without a set: ${without}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
alg of the exported key: WebCrypto Ed25519, jose none
token EdDSA, key of WebCrypto: ERR_JWKS_NO_MATCHING_KEY
token EdDSA, key of jose: verified
token EdDSA, key with alg EdDSA: verified
token Ed25519, key of WebCrypto: verified
token Ed25519, key of jose: verified
token Ed25519, key with alg EdDSA: ERR_JWKS_NO_MATCHING_KEY
token EdDSA, the same key of WebCrypto without a set: verified
END
cmp seen expected
