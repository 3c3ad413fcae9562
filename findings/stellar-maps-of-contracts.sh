#!/bin/sh
# stellar-maps-of-contracts: scValToNative of the Stellar SDK makes texts of the keys of a map: what the bytes were is
# lost, and two keys become one entry. Up to version 15, nativeToScVal writes keys as a dictionary orders them (a before
# B), and not by their bytes, as the ledger has them.
#
# Packages: @stellar/stellar-sdk 17.2.0 and 15.1.0, which is the newest that is for Node 20.
# Expected: one value that is read and written is the same value, as a Map of JavaScript would have it; and CAP-46 has
# the keys of a map in ascending order, without which a call with it fails.
# Cause: an object of JavaScript has texts as keys; and keys were compared by localeCompare.
# Who meets it: who reads a map by hashes (BytesN<32> to an amount), by pairs or by numbers of two types; and who calls
# a contract whose struct has fields such as tokenURI and tokenid.
# Here: maps of two entries each, by the keys of what is read, and structs of symbols, by their order.
# Seen:
#   version 15 reads symbols a and b: "a" and "b"
#   version 15 reads bytes 61 and 62: "a" and "b"
#   version 15 reads bytes fe and ff: one entry, "U+FFFD"
#   version 15 reads number 1 and symbol 1: one entry, "1"
#   version 15 reads pairs (1, 2) and (1, 3): "1,2" and "1,3"
#   version 15 writes amount to_key token: in this order
#   version 15 writes B a: a B
#   version 15 writes tokenId token_id: token_id tokenId
#   version 15 writes tokenURI tokenid: tokenid tokenURI
#   version 17 reads symbols a and b: "a" and "b"
#   version 17 reads bytes 61 and 62: "a" and "b"
#   version 17 reads bytes fe and ff: one entry, "U+FFFD"
#   version 17 reads number 1 and symbol 1: one entry, "1"
#   version 17 reads pairs (1, 2) and (1, 3): "1,2" and "1,3"
#   version 17 writes amount to_key token: in this order
#   version 17 writes B a: in this order
#   version 17 writes tokenId token_id: in this order
#   version 17 writes tokenURI tokenid: in this order
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @stellar/stellar-sdk@17.2.0 \
  stellar-sdk-15@npm:@stellar/stellar-sdk@15.1.0 || exit 77
cat > run.mjs <<'END'
import * as sdk17 from "@stellar/stellar-sdk";
import * as sdk15 from "stellar-sdk-15";

const keysOf = ({ ScVal }) => ({
  "symbols a and b": [ScVal.scvSymbol("a"), ScVal.scvSymbol("b")],
  "bytes 61 and 62": [ScVal.scvBytes(Buffer.from("a")), ScVal.scvBytes(Buffer.from("b"))],
  "bytes fe and ff": [ScVal.scvBytes(Buffer.from([0xfe])), ScVal.scvBytes(Buffer.from([0xff]))],
  "number 1 and symbol 1": [ScVal.scvU32(1), ScVal.scvSymbol("1")],
  "pairs (1, 2) and (1, 3)": [2, 3].map((last) => ScVal.scvVec([1, last].map((one) => ScVal.scvU32(one)))),
});
const STRUCTS = ["amount to_key token", "B a", "tokenId token_id", "tokenURI tokenid"];
for (const [version, { nativeToScVal, scValToNative, xdr }] of Object.entries({ 17: sdk17, 15: sdk15 })) {
  for (const [name, keys] of Object.entries(keysOf(xdr))) {
    const entries = keys.map((key, index) => new xdr.ScMapEntry({ key, val: xdr.ScVal.scvU32(index) }));
    const read = Object.keys(scValToNative(xdr.ScVal.scvMap(entries)));
    const said = read.map((key) => JSON.stringify(key).replace("\ufffd", "U+FFFD")).join(" and ");
    console.log(`version ${version} reads ${name}: ${read.length === 1 ? "one entry, " : ""}${said}`);
  }
  for (const sorted of STRUCTS) {
    const names = sorted.split(" ");
    const type = Object.fromEntries(names.map((name) => [name, ["symbol", "u32"]]));
    const struct = Object.fromEntries(names.map((name) => [name, 1]));
    const written = Object.keys(scValToNative(nativeToScVal(struct, { type }))).join(" ");
    console.log(`version ${version} writes ${sorted}: ${written === sorted ? "in this order" : written}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
version 15 reads symbols a and b: "a" and "b"
version 15 reads bytes 61 and 62: "a" and "b"
version 15 reads bytes fe and ff: one entry, "U+FFFD"
version 15 reads number 1 and symbol 1: one entry, "1"
version 15 reads pairs (1, 2) and (1, 3): "1,2" and "1,3"
version 15 writes amount to_key token: in this order
version 15 writes B a: a B
version 15 writes tokenId token_id: token_id tokenId
version 15 writes tokenURI tokenid: tokenid tokenURI
version 17 reads symbols a and b: "a" and "b"
version 17 reads bytes 61 and 62: "a" and "b"
version 17 reads bytes fe and ff: one entry, "U+FFFD"
version 17 reads number 1 and symbol 1: one entry, "1"
version 17 reads pairs (1, 2) and (1, 3): "1,2" and "1,3"
version 17 writes amount to_key token: in this order
version 17 writes B a: in this order
version 17 writes tokenId token_id: in this order
version 17 writes tokenURI tokenid: in this order
END
cmp seen expected
