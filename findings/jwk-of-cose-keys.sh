#!/bin/sh
# jwk-of-cose-keys: a JWK that cose-to-jwk makes of a COSE key is read by Node alone, and has another thumbprint than
# the key; of an RSA key, @auth0/cose makes the modulus "k" without kty, and cose-kit leaves it out. None says a word.
#
# Packages: cose-to-jwk 1.1.0, @auth0/cose 1.0.2, cose-kit 1.7.1; read by jose 6.2.17, and WebCrypto and crypto of Node.
# Expected: the JWK of that key, with names of algorithms and base64url as in RFC 7518 (sections 3.1 and 6), which has
# one thumbprint (RFC 7638), or an error: RSA keys are RFC 8230's, and each of the three has a name for RS256.
# Cause: cose-to-jwk writes base64 with + / = and names of its own, such as "ECDSA_w_SHA256". The other two read the
# parameters -1 and -2 as they are of other key types, and drop what they do not know: of the JWK of an RSA key,
# @auth0/cose makes {1: undefined, 3: -257}.
# Who meets it: services that store the public keys of authenticators (RS256 is that of Windows), or publish a key set.
# With crypto of Node all seems well, as it reads + and / and ignores alg; WebCrypto and jose refuse the same JWK.
# Here: the public keys that Node generates, written as COSE keys by cbor2 2.3.0, and made a JWK.
# Seen:
#   cose-to-jwk, ES256: alg ECDSA_w_SHA256, read by node, another thumbprint
#   cose-to-jwk, RS256: alg RSASSA-PKCS1-v1_5_w_SHA256, read by node, another thumbprint
#   @auth0/cose, ES256: alg ES256, read by node jose WebCrypto, its thumbprint
#   @auth0/cose, RS256: alg RS256, read by none, no thumbprint; members alg k x
#   cose-kit, ES256: alg ES256, read by node jose WebCrypto, its thumbprint
#   cose-kit, RS256: alg RS256, read by none, no thumbprint; members alg
#   @auth0/cose, RS256 of a JWK: COSE key a201f703390100
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact cose-to-jwk@1.1.0 @auth0/cose@1.0.2 \
  cose-kit@1.7.1 jose@6.2.17 cbor2@2.3.0 || exit 77
cat > run.mjs <<'END'
import { createPublicKey, generateKeyPairSync, webcrypto } from "node:crypto";
import { createRequire } from "node:module";
import { COSEKey } from "@auth0/cose";
import { encode } from "cbor2";
import { COSEKeyToJWK } from "cose-kit";
import { calculateJwkThumbprint, importJWK } from "jose";

const coseToJwk = createRequire(import.meta.url)("cose-to-jwk");
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64url"));
const publicJwk = (type, options) => generateKeyPairSync(type, options).publicKey.export({ format: "jwk" });

/** The parameters of RFC 9053, section 7.1.1, and of RFC 8230, section 4. */
const ec = publicJwk("ec", { namedCurve: "P-256" });
const rsa = publicJwk("rsa", { modulusLength: 2048 });
const KEYS = {
  ES256: {
    jwk: ec,
    cose: [[1, 2], [3, -7], [-1, 1], [-2, bytes(ec.x)], [-3, bytes(ec.y)]],
    algorithm: { name: "ECDSA", namedCurve: "P-256" },
  },
  RS256: {
    jwk: rsa,
    cose: [[1, 3], [3, -257], [-1, bytes(rsa.n)], [-2, bytes(rsa.e)]],
    algorithm: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  },
};
const MAKERS = {
  "cose-to-jwk": (cose) => coseToJwk(Buffer.from(encode(cose))),
  "@auth0/cose": (cose) => COSEKey.import(encode(cose)).toJWK(),
  "cose-kit": (cose) => COSEKeyToJWK(cose),
};
const READERS = {
  node: async (key) => createPublicKey({ key, format: "jwk" }),
  jose: (key) => importJWK(key),
  WebCrypto: (key, algorithm) => webcrypto.subtle.importKey("jwk", key, algorithm, true, ["verify"]),
};
async function thumbprint(made, jwk) {
  const own = await calculateJwkThumbprint(made).catch(() => undefined);
  if (own === undefined) return "no thumbprint";
  return own === (await calculateJwkThumbprint(jwk)) ? "its thumbprint" : "another thumbprint";
}
for (const [name, make] of Object.entries(MAKERS))
  for (const [alg, { jwk, cose, algorithm }] of Object.entries(KEYS)) {
    const made = JSON.parse(JSON.stringify(make(new Map(cose))));
    const readers = [];
    for (const [reader, read] of Object.entries(READERS))
      await read(made, algorithm).then(
        () => readers.push(reader),
        () => {},
      );
    const members = made.kty ? "" : `; members ${Object.keys(made).join(" ")}`;
    const readBy = readers.join(" ") || "none";
    console.log(`${name}, ${alg}: alg ${made.alg}, read by ${readBy}, ${await thumbprint(made, jwk)}${members}`);
  }
const fromRsa = Buffer.from(COSEKey.fromJWK({ ...rsa, alg: "RS256" }).encode()).toString("hex");
console.log(`@auth0/cose, RS256 of a JWK: COSE key ${fromRsa}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
cose-to-jwk, ES256: alg ECDSA_w_SHA256, read by node, another thumbprint
cose-to-jwk, RS256: alg RSASSA-PKCS1-v1_5_w_SHA256, read by node, another thumbprint
@auth0/cose, ES256: alg ES256, read by node jose WebCrypto, its thumbprint
@auth0/cose, RS256: alg RS256, read by none, no thumbprint; members alg k x
cose-kit, ES256: alg ES256, read by node jose WebCrypto, its thumbprint
cose-kit, RS256: alg RS256, read by none, no thumbprint; members alg
@auth0/cose, RS256 of a JWK: COSE key a201f703390100
END
cmp seen expected
