#!/bin/sh
# sshpk-ecdsa-sha2-undefined: half of all signatures by a P-521 key, and one in 200 by a P-256 key, sshpk writes in
# the form of SSH under the name "ecdsa-sha2-undefined", which no reader knows, its own neither.
#
# Packages: sshpk 1.18.0; signatures that are the same in each run by @noble/curves 2.4.0.
# Expected: the name of the curve (RFC 5656, section 3.1.2) for any r and s: numbers, which DER and SSH write without
# leading zero bytes; and a signature that sshpk made was made by a key that has a curve.
# Cause: toBuffer takes the length of r for the curve's, also where the curve is known. A length between has none.
# Who meets it: who hands a signature of node:crypto, an HSM or a key service, or of sshpk's own keys, to an agent, a
# certificate or a server of SSH. With P-256 it looks like chance; RFC 6979 makes it fail each time for one message.
# Here: a thousand signatures a curve in DER, read and written as SSH, and read again; and 200 of sshpk's own.
# Seen:
#   P-256: ecdsa-sha2-nistp256, read again: 995 of 1000
#   P-256: ecdsa-sha2-undefined, Unsupported ECDSA curve: 5 of 1000
#   P-384: ecdsa-sha2-nistp384, read again: 999 of 1000
#   P-384: ecdsa-sha2-undefined, Unsupported ECDSA curve: 1 of 1000
#   P-521: ecdsa-sha2-nistp521, read again: 480 of 1000
#   P-521: ecdsa-sha2-undefined, Unsupported ECDSA curve: 520 of 1000
#   P-521, signed by sshpk: ecdsa-sha2-nistp521 and ecdsa-sha2-undefined
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact sshpk@1.18.0 @noble/curves@2.4.0 ||
  exit 77
cat > run.mjs <<'END'
import { p256, p384, p521 } from "@noble/curves/nist.js";
import sshpk from "sshpk";

const CURVES = { "P-256": p256, "P-384": p384, "P-521": p521 };
const COUNT = 1000;
const messageOf = (at) => Buffer.from(`message ${at}`);
function typeOf(signature) {
  const ssh = signature.toBuffer("ssh");
  return ssh.subarray(4, 4 + ssh.readUInt32BE(0)).toString();
}
function readAgain(signature) {
  try {
    sshpk.parseSignature(signature.toBuffer("ssh"), "ecdsa", "ssh");
    return "read again";
  } catch (error) {
    return /Unsupported ECDSA curve/.exec(error.message)[0];
  }
}
for (const [name, curve] of Object.entries(CURVES)) {
  const secret = curve.utils.randomSecretKey(new Uint8Array(curve.lengths.seed).fill(7));
  const counts = {};
  for (let at = 0; at < COUNT; at++) {
    const der = curve.sign(messageOf(at), secret, { format: "der", lowS: false });
    const signature = sshpk.parseSignature(Buffer.from(der), "ecdsa", "asn1");
    const what = `${typeOf(signature)}, ${readAgain(signature)}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  for (const [what, count] of Object.entries(counts).sort()) console.log(`${name}: ${what}: ${count} of ${COUNT}`);
}
const key = sshpk.generatePrivateKey("ecdsa", { curve: "nistp521" });
const types = new Set();
for (let at = 0; at < 200; at++) {
  const signer = key.createSign("sha512");
  signer.update(messageOf(at));
  types.add(typeOf(signer.sign()));
}
console.log(`P-521, signed by sshpk: ${[...types].sort().join(" and ")}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
P-256: ecdsa-sha2-nistp256, read again: 995 of 1000
P-256: ecdsa-sha2-undefined, Unsupported ECDSA curve: 5 of 1000
P-384: ecdsa-sha2-nistp384, read again: 999 of 1000
P-384: ecdsa-sha2-undefined, Unsupported ECDSA curve: 1 of 1000
P-521: ecdsa-sha2-nistp521, read again: 480 of 1000
P-521: ecdsa-sha2-undefined, Unsupported ECDSA curve: 520 of 1000
P-521, signed by sshpk: ecdsa-sha2-nistp521 and ecdsa-sha2-undefined
END
cmp seen expected
