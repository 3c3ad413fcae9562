#!/bin/sh
# ed25519-keys-with-their-public-half: sshpk writes each Ed25519 key as PKCS#8 with the public half in it, which OpenSSL
# 3.0 refuses, and with it Node, its WebCrypto and jose: "wrong tag", or "Invalid keyData". Without the public half they
# read the same key.
#
# Packages: sshpk 1.18.0; read by crypto and WebCrypto of Node 20 (OpenSSL 3.0), jose 6.2.17, node-forge 1.4.3,
# @fidm/x509 1.2.1.
# Expected: that what one library writes by a standard, another reads: RFC 8410, section 7, has the key with and without
# its public half, and version 1 of RFC 5958 for the former.
# Cause: OpenSSL 3.0 has PKCS#8 of RFC 5208, which ends before the public half.
# Who meets it: who makes keys by sshpk, or by ring of Rust, which writes this form, too, and signs by Node or openssl:
# a service reads its key in a test with keys of openssl, and not the one that it was given.
# Here: a fixed key in both forms, as DER, and which reader takes it.
# Seen:
#   without the public half: 48 bytes, version 0
#     crypto of Node: read
#     WebCrypto: read
#     jose: read
#     node-forge: read
#     @fidm/x509: read
#     sshpk: read
#   as sshpk writes it: 83 bytes, version 1
#     crypto of Node: error:068000A8:asn1 encoding routines::wrong tag
#     WebCrypto: Invalid keyData
#     jose: Invalid keyData
#     node-forge: read
#     @fidm/x509: read
#     sshpk: read
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact sshpk@1.18.0 jose@6.2.17 \
  node-forge@1.4.3 @fidm/x509@1.2.1 || exit 77
cat > run.mjs <<'END'
import { createPrivateKey } from "node:crypto";
import fidm from "@fidm/x509";
import { importPKCS8 } from "jose";
import forge from "node-forge";
import sshpk from "sshpk";

const alone = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 7)]);
const derOf = (pem) => Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ""), "base64");
const pemOf = (der) => {
  const lines = der.toString("base64").match(/.{1,64}/g);
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
};
const READERS = {
  "crypto of Node": (der) => createPrivateKey({ key: der, format: "der", type: "pkcs8" }),
  WebCrypto: (der) => crypto.subtle.importKey("pkcs8", der, "Ed25519", true, ["sign"]),
  jose: (der) => importPKCS8(pemOf(der), "EdDSA"),
  "node-forge": (der) => forge.pki.ed25519.privateKeyFromAsn1(forge.asn1.fromDer(der.toString("latin1"))),
  "@fidm/x509": (der) => fidm.PrivateKey.fromPEM(Buffer.from(pemOf(der))),
  sshpk: (der) => sshpk.parsePrivateKey(pemOf(der), "pem"),
};
const FORMS = {
  "without the public half": alone,
  "as sshpk writes it": derOf(sshpk.parsePrivateKey(pemOf(alone), "pem").toString("pkcs8")),
};
for (const [form, der] of Object.entries(FORMS)) {
  console.log(`${form}: ${der.length} bytes, version ${der[4]}`);
  for (const [of, read] of Object.entries(READERS)) {
    try {
      await read(der);
      console.log(`  ${of}: read`);
    } catch (error) {
      console.log(`  ${of}: ${error.message}`);
    }
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
without the public half: 48 bytes, version 0
  crypto of Node: read
  WebCrypto: read
  jose: read
  node-forge: read
  @fidm/x509: read
  sshpk: read
as sshpk writes it: 83 bytes, version 1
  crypto of Node: error:068000A8:asn1 encoding routines::wrong tag
  WebCrypto: Invalid keyData
  jose: Invalid keyData
  node-forge: read
  @fidm/x509: read
  sshpk: read
END
cmp seen expected
