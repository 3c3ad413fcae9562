#!/bin/sh
# polkadot-types-hex-is-not-its-bytes: createType of @polkadot/types reads bytes as SCALE, and the same bytes in hex as
# a value, by rules of each type: bool of "0x00" is true, Option<u8> of "0x00" is not empty, u32 and Compact are read
# from the other end, and yet a tuple, a vector or a struct of the same is read as SCALE.
#
# Packages: @polkadot/types 16.5.6, scale-ts 1.6.1.
# Expected: hex is a spelling of bytes, as it is for tuples here, and for every type in scale-ts.
# Who meets it: who decodes what a node returned in hex (state_getStorage, state_call, a constant): the answer is
# well-formed and wrong. The bytes of the same hex are right: hexToU8a(hex).
# Here: encodings of one value each, given as bytes and as hex.
# Seen:
#   bool, 00: bytes false, hex true, scale-ts of the hex false
#   (bool, u8), 0007: bytes [false,7], hex [false,7]
#   Vec<bool>, 0400: bytes [false], hex [false]
#   Option<u8>, 00: bytes null, hex 0, scale-ts of the hex null
#   (Option<u8>, u8), 0007: bytes [null,7], hex [null,7]
#   Option<bool>, 0100: bytes false, hex true
#   u32, 01000000: bytes 1, hex 16777216, scale-ts of the hex 1
#   Compact<u32>, 04: bytes 1, hex 4
#   (u32, u32), 0100000002000000: bytes [1,2], hex [1,2]
#   Text, 086869: bytes "hi", hex "\bhi", scale-ts of the hex "hi"
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @polkadot/types@16.5.6 scale-ts@1.6.1 || exit 77
cat > run.mjs <<'END'
import { TypeRegistry } from "@polkadot/types";
import * as scale from "scale-ts";

const registry = new TypeRegistry();
const OTHERS = { bool: scale.bool, u32: scale.u32, "Option<u8>": scale.Option(scale.u8), Text: scale.str };
const ENCODINGS = [
  ["bool", "00"],
  ["(bool, u8)", "0007"],
  ["Vec<bool>", "0400"],
  ["Option<u8>", "00"],
  ["(Option<u8>, u8)", "0007"],
  ["Option<bool>", "0100"],
  ["u32", "01000000"],
  ["Compact<u32>", "04"],
  ["(u32, u32)", "0100000002000000"],
  ["Text", "086869"],
];
function said(type, value) {
  try {
    return JSON.stringify(registry.createType(type, value).toJSON());
  } catch {
    return "refused";
  }
}
for (const [type, hex] of ENCODINGS) {
  const other = OTHERS[type] ? `, scale-ts of the hex ${JSON.stringify(OTHERS[type].dec(`0x${hex}`) ?? null)}` : "";
  const [ofBytes, ofHex] = [said(type, Uint8Array.from(Buffer.from(hex, "hex"))), said(type, `0x${hex}`)];
  console.log(`${type}, ${hex}: bytes ${ofBytes}, hex ${ofHex}${other}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
bool, 00: bytes false, hex true, scale-ts of the hex false
(bool, u8), 0007: bytes [false,7], hex [false,7]
Vec<bool>, 0400: bytes [false], hex [false]
Option<u8>, 00: bytes null, hex 0, scale-ts of the hex null
(Option<u8>, u8), 0007: bytes [null,7], hex [null,7]
Option<bool>, 0100: bytes false, hex true
u32, 01000000: bytes 1, hex 16777216, scale-ts of the hex 1
Compact<u32>, 04: bytes 1, hex 4
(u32, u32), 0100000002000000: bytes [1,2], hex [1,2]
Text, 086869: bytes "hi", hex "\bhi", scale-ts of the hex "hi"
END
cmp seen expected
