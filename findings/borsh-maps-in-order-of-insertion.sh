#!/bin/sh
# borsh-maps-in-order-of-insertion: of one map, four libraries with which Borsh is written make as many encodings as
# there are orders in which it was filled. So the hash, the signature and the account's data of equal values differ.
#
# Packages: borsh 2.0.0, borsher 4.0.0, @metaplex-foundation/umi-serializers 1.6.0, @solana/kit 8.4.0; beside them
# @zorsh/zorsh 0.5.0 and @mysten/bcs 2.1.2.
# Expected: Borsh is "for Hashing", and its specification writes maps and sets sorted by their keys, as @zorsh/zorsh
# does, and as libraries of BCS do by the bytes of the keys.
# Who meets it: who hashes or signs what a client encoded, and compares it with what a program on chain encoded: that
# one sorts, and refuses another order where it is built to be strict (de_strict_order of borsh-rs).
# Here: one map from u32 to u8 and one set of u32, each filled in two orders. 256 before 1 is how bytes sort.
# Seen:
#   map, borsh: two orders, 256, 2, 1; 1, 2, 256
#   map, borsher: two orders, 256, 2, 1; 1, 2, 256
#   map, umi-serializers: two orders, 256, 2, 1; 1, 2, 256
#   map, kit: two orders, 256, 2, 1; 1, 2, 256
#   map, zorsh: one order, 1, 2, 256
#   map, bcs (not Borsh): one order, 256, 1, 2
#   set, borsh: two orders, 256, 2, 1; 1, 2, 256
#   set, borsher: two orders, 256, 2, 1; 1, 2, 256
#   set, umi-serializers: two orders, 256, 2, 1; 1, 2, 256
#   set, kit: two orders, 256, 2, 1; 1, 2, 256
#   set, zorsh: one order, 1, 2, 256
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact borsh@2.0.0 borsher@4.0.0 \
  @metaplex-foundation/umi-serializers@1.6.0 @solana/kit@8.4.0 @zorsh/zorsh@0.5.0 @mysten/bcs@2.1.2 || exit 77
cat > run.mjs <<'END'
import * as umi from "@metaplex-foundation/umi-serializers";
import { bcs } from "@mysten/bcs";
import * as kit from "@solana/kit";
import { b } from "@zorsh/zorsh";
import * as borsh from "borsh";
import { BorshSchema, borshSerialize } from "borsher";

const MAPS = {
  borsh: (map) => borsh.serialize({ map: { key: "u32", value: "u8" } }, map),
  borsher: (map) => borshSerialize(BorshSchema.HashMap(BorshSchema.u32, BorshSchema.u8), map),
  "umi-serializers": (map) => umi.map(umi.u32(), umi.u8()).serialize(map),
  kit: (map) => kit.getMapEncoder(kit.getU32Encoder(), kit.getU8Encoder()).encode(map),
  zorsh: (map) => b.hashMap(b.u32(), b.u8()).serialize(map),
  "bcs (not Borsh)": (map) => bcs.map(bcs.u32(), bcs.u8()).serialize(map).toBytes(),
};
const SETS = {
  borsh: (set) => borsh.serialize({ set: "u32" }, set),
  borsher: (set) => borshSerialize(BorshSchema.HashSet(BorshSchema.u32), set),
  "umi-serializers": (set) => umi.set(umi.u32()).serialize(set),
  kit: (set) => kit.getSetEncoder(kit.getU32Encoder()).encode(set),
  zorsh: (set) => b.hashSet(b.u32()).serialize(set),
};
const keys = [256, 2, 1];
const hex = (bytes) => Buffer.from(bytes).toString("hex");
/** Keys of the encoding, without its length of four bytes or one. */
function order(text, size) {
  const entries = Buffer.from(text, "hex").subarray(-keys.length * size);
  return keys.map((_, index) => entries.readUInt32LE(index * size)).join(", ");
}
for (const [kind, libraries, make, size] of [
  ["map", MAPS, (all) => new Map(all.map((key) => [key, 7])), 5],
  ["set", SETS, (all) => new Set(all), 4],
]) {
  for (const [name, encode] of Object.entries(libraries)) {
    const [one, other] = [keys, keys.toReversed()].map((all) => hex(encode(make(all))));
    const orders = [...new Set([one, other])].map((text) => order(text, size));
    console.log(`${kind}, ${name}: ${orders.length === 1 ? "one order" : "two orders"}, ${orders.join("; ")}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
map, borsh: two orders, 256, 2, 1; 1, 2, 256
map, borsher: two orders, 256, 2, 1; 1, 2, 256
map, umi-serializers: two orders, 256, 2, 1; 1, 2, 256
map, kit: two orders, 256, 2, 1; 1, 2, 256
map, zorsh: one order, 1, 2, 256
map, bcs (not Borsh): one order, 256, 1, 2
set, borsh: two orders, 256, 2, 1; 1, 2, 256
set, borsher: two orders, 256, 2, 1; 1, 2, 256
set, umi-serializers: two orders, 256, 2, 1; 1, 2, 256
set, kit: two orders, 256, 2, 1; 1, 2, 256
set, zorsh: one order, 1, 2, 256
END
cmp seen expected
