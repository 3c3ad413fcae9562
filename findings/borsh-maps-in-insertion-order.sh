#!/bin/sh
# borsh-maps-in-insertion-order: borsh and @subsquid/borsh write maps and sets in the order in which they were filled,
# so two equal values have two encodings and two hashes; and borsh writes a length before an array of fixed length 0.
#
# Packages: borsh 2.0.0, @subsquid/borsh 0.3.0.
# Expected: entries sorted by key, as Borsh's specification has it for maps and sets, so that what it is made for holds:
# one value, one encoding, to be hashed or signed. A fixed array has no length before it.
# Cause: entries are written as they are iterated; a length of 0 is taken for none.
# Who meets it: who hashes, signs or compares what one of these wrote beside what borsh of Rust wrote, which sorts, or
# sends it to a program that reads in strict order. A test of its round trip passes.
# Here: equal values, filled in two orders.
# Seen:
#   map, 1 first: borsh 0200000001090307, subsquid 0200000001090307
#   map, 3 first: borsh 0200000003070109, subsquid 0200000003070109
#   set, a first: borsh 0200000001000000610100000062, subsquid 0200000001000000610100000062
#   set, b first: borsh 0200000001000000620100000061, subsquid 0200000001000000620100000061
#   array of 0: borsh 00000000, read as []
#   array of 1: borsh 07, read as [7]
#   array of 2: borsh 0707, read as [7,7]
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact borsh@2.0.0 @subsquid/borsh@0.3.0 ||
  exit 77
cat > run.mjs <<'END'
import subsquid from "@subsquid/borsh";
import { deserialize, serialize } from "borsh";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
function written(codec, value) {
  const sink = new subsquid.Sink();
  codec.encode(sink, value);
  return hex(sink.result());
}
const map = { map: { key: "u8", value: "u8" } };
const mapCodec = subsquid.hashMap(subsquid.u8, subsquid.u8);
const set = { set: "string" };
const setCodec = subsquid.hashSet(subsquid.string);
for (const entries of [[[1, 9], [3, 7]], [[3, 7], [1, 9]]]) {
  const value = new Map(entries);
  console.log(`map, ${entries[0][0]} first: borsh ${hex(serialize(map, value))}, subsquid ${written(mapCodec, value)}`);
}
for (const entries of [["a", "b"], ["b", "a"]]) {
  const value = new Set(entries);
  console.log(`set, ${entries[0]} first: borsh ${hex(serialize(set, value))}, subsquid ${written(setCodec, value)}`);
}
for (const len of [0, 1, 2]) {
  const schema = { array: { type: "u8", len } };
  const bytes = serialize(schema, Array(len).fill(7));
  console.log(`array of ${len}: borsh ${hex(bytes)}, read as ${JSON.stringify(deserialize(schema, bytes))}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
map, 1 first: borsh 0200000001090307, subsquid 0200000001090307
map, 3 first: borsh 0200000003070109, subsquid 0200000003070109
set, a first: borsh 0200000001000000610100000062, subsquid 0200000001000000610100000062
set, b first: borsh 0200000001000000620100000061, subsquid 0200000001000000620100000061
array of 0: borsh 00000000, read as []
array of 1: borsh 07, read as [7]
array of 2: borsh 0707, read as [7,7]
END
cmp seen expected
