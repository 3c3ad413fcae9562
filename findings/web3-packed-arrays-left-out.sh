#!/bin/sh
# web3-packed-arrays-left-out: encodePacked of web3, and soliditySha3 with it, encode an array of addresses or booleans
# as nothing, and one of smaller integers or bytes without its padding: the hash is another than the contract's, and
# nothing is said.
#
# Packages: web3-utils 4.3.3 and 1.10.4, ethers 6.17.0, viem 2.57.20.
# Expected: abi.encodePacked of Solidity pads each element of an array to 32 bytes, whatever its type; what an encoder
# cannot write it refuses.
# Who meets it: who hashes a list of receivers, token ids or flags for a signature, an airdrop or an entry of a Merkle
# tree that a contract checks. The signature or the proof is refused, and only there.
# Here: arrays of each kind, "as the others" where ethers and viem have the same bytes. Version 1 is what many projects
# still have.
# Seen:
#   uint256[], 64 bytes: web3-utils 4 as the others, web3-utils 1 as the others
#   bytes32[], 32 bytes: web3-utils 4 as the others, web3-utils 1 as the others
#   uint8[], 64 bytes: web3-utils 4 2 bytes, web3-utils 1 2 bytes
#   int16[], 64 bytes: web3-utils 4 4 bytes, web3-utils 1 4 bytes
#   bytes4[], 32 bytes: web3-utils 4 4 bytes, web3-utils 1 as the others
#   bool[], 64 bytes: web3-utils 4 nothing, web3-utils 1 refused
#   address[], 64 bytes: web3-utils 4 nothing, web3-utils 1 as the others
#   address[2], 64 bytes: web3-utils 4 nothing, web3-utils 1 as the others
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact web3-utils@4.3.3 \
  web3-utils-1@npm:web3-utils@1.10.4 ethers@6.17.0 viem@2.57.20 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { solidityPacked } from "ethers";
import { encodePacked as viemPacked } from "viem";
import { encodePacked } from "web3-utils";

const one = createRequire(import.meta.url)("web3-utils-1");
const [first, second] = [`0x${"11".repeat(20)}`, `0x${"22".repeat(20)}`];
const ARRAYS = [
  ["uint256[]", [1, 2]],
  ["bytes32[]", [`0x${"33".repeat(32)}`]],
  ["uint8[]", [1, 2]],
  ["int16[]", [-1, 1]],
  ["bytes4[]", ["0x01020304"]],
  ["bool[]", [true, false]],
  ["address[]", [first, second]],
  ["address[2]", [first, second]],
];
function said(work, expected) {
  let bytes;
  try {
    bytes = work();
  } catch {
    return "refused";
  }
  if (bytes === expected) return "as the others";
  return bytes === "0x" || bytes === "" || bytes === null ? "nothing" : `${bytes.length / 2 - 1} bytes`;
}
for (const [type, value] of ARRAYS) {
  const expected = solidityPacked([type], [value]);
  if (viemPacked([type], [value]) !== expected) throw new Error(`${type}: ethers and viem differ`);
  const four = said(() => encodePacked({ type, value }), expected);
  const old = said(() => one.encodePacked({ type, value }), expected);
  console.log(`${type}, ${expected.length / 2 - 1} bytes: web3-utils 4 ${four}, web3-utils 1 ${old}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
uint256[], 64 bytes: web3-utils 4 as the others, web3-utils 1 as the others
bytes32[], 32 bytes: web3-utils 4 as the others, web3-utils 1 as the others
uint8[], 64 bytes: web3-utils 4 2 bytes, web3-utils 1 2 bytes
int16[], 64 bytes: web3-utils 4 4 bytes, web3-utils 1 4 bytes
bytes4[], 32 bytes: web3-utils 4 4 bytes, web3-utils 1 as the others
bool[], 64 bytes: web3-utils 4 nothing, web3-utils 1 refused
address[], 64 bytes: web3-utils 4 nothing, web3-utils 1 as the others
address[2], 64 bytes: web3-utils 4 nothing, web3-utils 1 as the others
END
cmp seen expected
