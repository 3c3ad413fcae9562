#!/bin/sh
# taquito-packs-seconds-as-milliseconds: packDataBytes takes a timestamp that is written as a text of seconds for one of
# milliseconds, so what is packed, hashed and signed is a time of January 1970. Before 1970 it throws.
#
# Packages: @taquito/michel-codec 25.0.0, and @taquito/michelson-encoder 25.0.0, of the same kit, which reads it right
# from the year 1970 on.
# Expected: in Michelson a timestamp is a text of RFC 3339, or seconds, which are written as a number or as a text.
# Who meets it: who packs values for a multisig, a permit or a key of a big map. Schema.Encode of
# @taquito/michelson-encoder makes such a text of what it is given.
# Here: one time, 2026-01-01T00:00:00Z, in each of its three spellings, and one before 1970.
# Seen:
#   Schema.Encode of the text 1767225600: {"string":"1767225600"}
#   {"string":"2026-01-01T00:00:00Z"}: packed 1767225600, michelson-encoder 1767225600
#   {"int":"1767225600"}: packed 1767225600, michelson-encoder 1767225600
#   {"string":"1767225600"}: packed 1767225, michelson-encoder 1767225600
#   {"string":"1000"}: packed 1, michelson-encoder 1000
#   {"int":"-86400"}: packed -86400, michelson-encoder -86400
#   {"string":"-86400"}: packed refused (can't parse date: -86400), michelson-encoder 2664353433600
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @taquito/michel-codec@25.0.0 \
  @taquito/michelson-encoder@25.0.0 || exit 77
cat > run.mjs <<'END'
import { packDataBytes, unpackDataBytes } from "@taquito/michel-codec";
import { Schema } from "@taquito/michelson-encoder";

process.env.TZ = "UTC";
const type = { prim: "timestamp" };
const schema = new Schema(type);
function said(work) {
  try {
    return work();
  } catch ({ message }) {
    return `refused (${message})`;
  }
}
/** Seconds, as the chain reads the packed bytes. */
const packed = (value) => unpackDataBytes({ bytes: packDataBytes(value, type).bytes }, { prim: "int" }).int;
const read = (value) => new Date(schema.Execute(value)).getTime() / 1000;
const ofEncode = JSON.stringify(schema.Encode("1767225600"));
console.log(`Schema.Encode of the text 1767225600: ${ofEncode}`);
for (const value of [
  { string: "2026-01-01T00:00:00Z" },
  { int: "1767225600" },
  { string: "1767225600" },
  { string: "1000" },
  { int: "-86400" },
  { string: "-86400" },
]) {
  const encoder = said(() => read(value));
  console.log(`${JSON.stringify(value)}: packed ${said(() => packed(value))}, michelson-encoder ${encoder}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
Schema.Encode of the text 1767225600: {"string":"1767225600"}
{"string":"2026-01-01T00:00:00Z"}: packed 1767225600, michelson-encoder 1767225600
{"int":"1767225600"}: packed 1767225600, michelson-encoder 1767225600
{"string":"1767225600"}: packed 1767225, michelson-encoder 1767225600
{"string":"1000"}: packed 1, michelson-encoder 1000
{"int":"-86400"}: packed -86400, michelson-encoder -86400
{"string":"-86400"}: packed refused (can't parse date: -86400), michelson-encoder 2664353433600
END
cmp seen expected
