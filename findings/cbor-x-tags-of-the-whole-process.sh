#!/bin/sh
# cbor-x-tags-of-the-whole-process: of two packages of COSE in one process, the one that was imported first refuses each
# message with a tag, its own too; and the import of either changes what decode of cbor-x answers to everybody.
#
# Packages: @auth0/cose 1.0.2, cose-kit 1.7.1, and cbor-x 1.6.9, which both read with.
# Expected: two packages that read the same format do not know of each other; an Encoder with options of its own, which
# both have, keeps what it knows of tags to itself.
# Cause: addExtension of cbor-x has one table for the process, by the number of the tag, and the last entry is the one
# that counts. For tag 18 that is the other package's class, so the object that was read is no Sign1 of one's own.
# Who meets it: whose application has two packages on cbor-x that know one tag, directly or by a dependency, such as
# COSE beside mobile documents or CWT. The order of imports decides, and a bundler or a test may change it.
# Here: one COSE_Sign1 with tag 18, signed by ES256 over bytes that are written out, read in one process an order.
# Seen:
#   imported none: cbor-x reads a Tag
#   imported @auth0/cose: cbor-x reads a Sign1, @auth0/cose verifies
#   imported cose-kit: cbor-x reads a Sign1, cose-kit verifies
#   imported @auth0/cose, cose-kit: cbor-x reads a Sign1, @auth0/cose refuses, cose-kit verifies
#   imported cose-kit, @auth0/cose: cbor-x reads a Sign1, cose-kit refuses, @auth0/cose verifies
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @auth0/cose@1.0.2 cose-kit@1.7.1 cbor-x@1.6.9 ||
  exit 77
cat > run.mjs <<'END'
import { generateKeyPairSync, sign, webcrypto } from "node:crypto";
import { decode } from "cbor-x";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const algorithm = { name: "ECDSA", namedCurve: "P-256" };
const key = await webcrypto.subtle.importKey("jwk", publicKey.export({ format: "jwk" }), algorithm, true, ["verify"]);
const bytes = (hex) => Buffer.from(hex, "hex");

/** {1: -7} protected, nothing unprotected, and the payload h'6869' (RFC 9052, sections 4.2 and 4.4). */
const signed = Buffer.concat([bytes("846a"), Buffer.from("Signature1"), bytes("43a1012640426869")]);
const signature = sign("sha256", signed, { key: privateKey, dsaEncoding: "ieee-p1363" });
const message = Buffer.concat([bytes("d28443a10126a04268695840"), signature]);

const VERIFY = {
  "@auth0/cose": async ({ Sign1 }) => Sign1.decode(message).verify(key),
  "cose-kit": async ({ coseVerify }) => coseVerify(message, key),
};
const names = process.argv.slice(2);
const packages = [];
for (const name of names) packages.push([name, await import(name)]);
const answers = [`cbor-x reads a ${decode(message).constructor.name}`];
for (const [name, imported] of packages) {
  const verified = await VERIFY[name](imported).then(
    () => true,
    () => false,
  );
  answers.push(`${name} ${verified ? "verifies" : "refuses"}`);
}
console.log(`imported ${names.join(", ") || "none"}: ${answers.join(", ")}`);
END
{
  node run.mjs
  node run.mjs @auth0/cose
  node run.mjs cose-kit
  node run.mjs @auth0/cose cose-kit
  node run.mjs cose-kit @auth0/cose
} > seen
cat seen
cat > expected <<'END'
imported none: cbor-x reads a Tag
imported @auth0/cose: cbor-x reads a Sign1, @auth0/cose verifies
imported cose-kit: cbor-x reads a Sign1, cose-kit verifies
imported @auth0/cose, cose-kit: cbor-x reads a Sign1, @auth0/cose refuses, cose-kit verifies
imported cose-kit, @auth0/cose: cbor-x reads a Sign1, cose-kit refuses, @auth0/cose verifies
END
cmp seen expected
