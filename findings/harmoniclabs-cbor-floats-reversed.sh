#!/bin/sh
# harmoniclabs-cbor-floats-reversed: @harmoniclabs/cbor reads and writes the eight bytes of a float in the order of the
# machine, so 1.1 is read as -1.5423487136706484e-180, and what it wrote, others read as such. Half floats are right.
#
# Packages: @harmoniclabs/cbor 2.0.1 with @harmoniclabs/uint8array-utils 1.0.4; beside it cbor2 2.3.0, cborg 6.1.5.
# Expected: the most significant byte first, as of all numbers in CBOR (RFC 8949, section 3); the bytes of 1.5 and 1.1
# and what they mean are in its appendix A.
# Cause: readFloat32BE, readFloat64BE and writeFloat64BE copy the bytes into an array of floats as they are.
# Who meets it: tools of Cardano that read metadata or a document with a float. What it wrote it reads again, so a test
# of its round trip passes, and so does 0; the first float that another wrote is another number, and no error.
# Seen:
#   f93e00: 1.5
#   fa3fc00000: 6.896490392174587e-41, others 1.5
#   fb3ff8000000000000: 3.13984e-319, others 1.5
#   fb3ff199999999999a: -1.5423487136706484e-180, others 1.1
#   fb0000000000000000: 0
#   it writes 1.1 as fb9a9999999999f13f, others as fb3ff199999999999a
#   what it writes, it reads as 1.1
# Exits with 1 if it sees anything else. Needs Node 20.19, a machine of little-endian order, and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @harmoniclabs/cbor@2.0.1 \
  @harmoniclabs/uint8array-utils@1.0.4 cbor2@2.3.0 cborg@6.1.5 || exit 77
cat > run.mjs <<'END'
import harmonic from "@harmoniclabs/cbor";
import * as cbor2 from "cbor2";
import * as cborg from "cborg";

const { Cbor, CborSimple } = harmonic;
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (written) => Buffer.from(written).toString("hex");
function onlyOne(answers) {
  if (new Set(answers).size !== 1) throw new Error(`the others differ: ${answers}`);
  return answers[0];
}
for (const item of ["f93e00", "fa3fc00000", "fb3ff8000000000000", "fb3ff199999999999a", "fb0000000000000000"]) {
  const own = Cbor.parse(bytes(item)).simple;
  const others = onlyOne([cbor2.decode(bytes(item)), cborg.decode(bytes(item))]);
  console.log(`${item}: ${own === others ? own : `${own}, others ${others}`}`);
}
const written = Cbor.encode(new CborSimple(1.1, "float"));
const others = onlyOne([hex(cbor2.encode(1.1)), hex(cborg.encode(1.1))]);
console.log(`it writes 1.1 as ${hex(written)}, others as ${others}`);
console.log(`what it writes, it reads as ${Cbor.parse(written).simple}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
f93e00: 1.5
fa3fc00000: 6.896490392174587e-41, others 1.5
fb3ff8000000000000: 3.13984e-319, others 1.5
fb3ff199999999999a: -1.5423487136706484e-180, others 1.1
fb0000000000000000: 0
it writes 1.1 as fb9a9999999999f13f, others as fb3ff199999999999a
what it writes, it reads as 1.1
END
cmp seen expected
