#!/bin/sh
# jsrsasign-last-certificate-of-a-file: of a PEM file with a chain, readCertPEM() of jsrsasign reads the last
# certificate, an issuer's. All others read the first, which is the one that the chain is about.
#
# Packages: jsrsasign 11.1.5; beside it @peculiar/x509 2.0.0, node-forge 1.4.3, @fidm/x509 1.2.1, and X509Certificate of
# Node.
# Expected: the first, as in a file of a full chain (RFC 8446, section 4.4.2, has the same order), or an error.
# Cause: all up to the last line that begins a block is cut off.
# Who meets it: who reads a server's, a signer's or an enclave's chain as it is kept in one file, or as `openssl
# s_client -showcerts` writes it: name, key and validity are those of an authority. With one certificate in the file it
# is right.
# Here: certificates of one, two and three in a file, by the name of their subjects.
# Seen:
#   leaf: jsrsasign leaf, crypto of Node leaf, @peculiar/x509 leaf, node-forge leaf, @fidm/x509 leaf
#   leaf, issuer: jsrsasign issuer, crypto of Node leaf, @peculiar/x509 leaf, node-forge leaf, @fidm/x509 leaf
#   leaf, issuer, root: jsrsasign root, crypto of Node leaf, @peculiar/x509 leaf, node-forge leaf, @fidm/x509 leaf
# Exits with 1 if it sees anything else. Needs Node 20.19, openssl, and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact jsrsasign@11.1.5 @peculiar/x509@2.0.0 \
  reflect-metadata@0.2.2 node-forge@1.4.3 @fidm/x509@1.2.1 || exit 77
for name in leaf issuer root; do
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -subj "/CN=$name" -days 30 -out "$name.pem" 2> /dev/null
done
cat > run.mjs <<'END'
import "reflect-metadata";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import fidm from "@fidm/x509";
import * as peculiar from "@peculiar/x509";
import jsrsasign from "jsrsasign";
import forge from "node-forge";

const READERS = {
  jsrsasign: (pem) => {
    const certificate = new jsrsasign.X509();
    certificate.readCertPEM(pem);
    return certificate.getSubjectString();
  },
  "crypto of Node": (pem) => new X509Certificate(pem).subject,
  "@peculiar/x509": (pem) => new peculiar.X509Certificate(pem).subject,
  "node-forge": (pem) => forge.pki.certificateFromPem(pem).subject.getField("CN").value,
  "@fidm/x509": (pem) => fidm.Certificate.fromPEM(Buffer.from(pem)).subject.commonName,
};
for (const names of [["leaf"], ["leaf", "issuer"], ["leaf", "issuer", "root"]]) {
  const pem = names.map((name) => readFileSync(`${name}.pem`, "utf8")).join("");
  const answers = Object.entries(READERS).map(([of, read]) => `${of} ${read(pem).replace(/^.*=/, "")}`);
  console.log(`${names.join(", ")}: ${answers.join(", ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
leaf: jsrsasign leaf, crypto of Node leaf, @peculiar/x509 leaf, node-forge leaf, @fidm/x509 leaf
leaf, issuer: jsrsasign issuer, crypto of Node leaf, @peculiar/x509 leaf, node-forge leaf, @fidm/x509 leaf
leaf, issuer, root: jsrsasign root, crypto of Node leaf, @peculiar/x509 leaf, node-forge leaf, @fidm/x509 leaf
END
cmp seen expected
