#!/bin/sh
# dfinity-cbor-cuts-fractions-off: encode() writes 1.5 as 1 and -1.5 as -1, in a map too, without a word; from 2^32 - 1
# on it throws for the same. What other libraries write for 1.5, decode() refuses.
#
# Packages: @dfinity/cbor 0.2.3; beside it cborg 6.1.5, and cbor2 2.3.0 as the reader.
# Expected: a float (RFC 8949, section 3.3), or an error at every size. Its types take any number, and of what it has
# not implemented its README lists custom tags and strings without a length only.
# Cause: numbers go into views of whole numbers, which drop the fraction; BigInt, at eight bytes, refuses it.
# Who meets it: who sends a rate, a price or a time with milliseconds to a canister, or signs the hash of such a map:
# the signature is over other values than those that were shown.
# Here: numbers written by each, and what cbor2 reads of that.
# Seen:
#   1.5: 1, cborg 1.5
#   -1.5: -1, cborg -1.5
#   0.1: 0, cborg 0.1
#   255.9: 255, cborg 255.9
#   65536.5: 65536, cborg 65536.5
#   4294967295.5: RangeError, cborg 4294967295.5
#   4294967296.5: RangeError, cborg 4294967296.5
#   {"rate":1.9}: {"rate":1}, cborg {"rate":1.9}
#   decode of 1.5: Unrecognized simple type: 11001
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @dfinity/cbor@0.2.3 cborg@6.1.5 \
  cbor2@2.3.0 || exit 77
cat > run.mjs <<'END'
import * as dfinity from "@dfinity/cbor";
import { decode } from "cbor2";
import * as cborg from "cborg";

const VALUES = [1.5, -1.5, 0.1, 255.9, 65536.5, 4294967295.5, 4294967296.5, { rate: 1.9 }];
function written(encode, value) {
  try {
    return JSON.stringify(decode(encode(value)));
  } catch (error) {
    return error.name;
  }
}
for (const value of VALUES)
  console.log(`${JSON.stringify(value)}: ${written(dfinity.encode, value)}, cborg ${written(cborg.encode, value)}`);
try {
  console.log(dfinity.decode(cborg.encode(1.5)));
} catch (error) {
  console.log(`decode of 1.5: ${error.message}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
1.5: 1, cborg 1.5
-1.5: -1, cborg -1.5
0.1: 0, cborg 0.1
255.9: 255, cborg 255.9
65536.5: 65536, cborg 65536.5
4294967295.5: RangeError, cborg 4294967295.5
4294967296.5: RangeError, cborg 4294967296.5
{"rate":1.9}: {"rate":1}, cborg {"rate":1.9}
decode of 1.5: Unrecognized simple type: 11001
END
cmp seen expected
