#!/bin/sh
# fast-jwt-refuses-keys-of-ecparam: createSigner() of fast-jwt refuses the file that `openssl ecparam -genkey` writes,
# as "Unsupported PEM private key", for the block of parameters that it begins with. Without that block, or with other
# text before the key, it signs.
#
# Packages: fast-jwt 6.3.6; beside it jsonwebtoken 9.0.3, node-jose 2.2.0, jsrsasign 11.1.5, and crypto of Node.
# Expected: the key, as the others read it: text outside of a block is left aside (RFC 7468, section 2), and the
# parameters are in the key itself (RFC 5915).
# Who meets it: who moves a service from jsonwebtoken to fast-jwt with the keys that it has: that command is the usual
# one for ES256.
# Here: one key in four forms; each signs or reads by it.
# Seen:
#   as ecparam writes it: fast-jwt refuses, Unsupported PEM private key.
#   its key alone: read by all
#   text before it: read by all
#   PKCS#8: read by all
# Exits with 1 if it sees anything else. Needs Node 20.19, openssl, and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact fast-jwt@6.3.6 jsonwebtoken@9.0.3 \
  node-jose@2.2.0 jsrsasign@11.1.5 || exit 77
openssl ecparam -name prime256v1 -genkey -out whole.pem 2> /dev/null
sed -n '/BEGIN EC PRIVATE/,$p' whole.pem > key.pem
(echo "A key of a test"; cat key.pem) > text.pem
openssl pkey -in whole.pem -out pkcs8.pem
cat > run.mjs <<'END'
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSigner } from "fast-jwt";
import jsonwebtoken from "jsonwebtoken";
import jsrsasign from "jsrsasign";
import nodeJose from "node-jose";

const READERS = {
  "fast-jwt": (key) => createSigner({ key, algorithm: "ES256" })({ sub: "s" }),
  jsonwebtoken: (key) => jsonwebtoken.sign({ sub: "s" }, key, { algorithm: "ES256" }),
  "node-jose": (key) => nodeJose.JWK.asKey(key, "pem"),
  jsrsasign: (key) => jsrsasign.KEYUTIL.getKey(key),
  "crypto of Node": createPrivateKey,
};
const FORMS = { "as ecparam writes it": "whole", "its key alone": "key", "text before it": "text", "PKCS#8": "pkcs8" };
for (const [form, file] of Object.entries(FORMS)) {
  const refusals = [];
  for (const [of, read] of Object.entries(READERS)) {
    try {
      await read(readFileSync(`${file}.pem`, "utf8"));
    } catch (error) {
      refusals.push(`${of} refuses, ${error.message}`);
    }
  }
  console.log(`${form}: ${refusals.length === 0 ? "read by all" : refusals.join("; ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
as ecparam writes it: fast-jwt refuses, Unsupported PEM private key.
its key alone: read by all
text before it: read by all
PKCS#8: read by all
END
cmp seen expected
