#!/bin/sh
# surrealdb-cbor-zero-bytes-after-strings: a byte string or a text that was written without its length comes back with
# zero bytes behind it, to 256 bytes or a multiple of that, wherever it is in a document. Lists and maps are right.
#
# Packages: @surrealdb/cbor 2.0.0-alpha.4, the release that npm installs; beside it cbor 10.0.12, cbor2 2.3.0.
# Expected: the chunks joined, and nothing else (RFC 8949, section 3.2.3, and the examples of its appendix A).
# Cause: the chunks are joined in a buffer that grows by 256 bytes, and the whole buffer is the answer.
# Who meets it: who reads what streams: writers that do not know a length yet send chunks, and some write all strings
# so. The text prints as it should, and is equal to nothing; a hash, a key or a signature has another length.
# Here: strings of appendix A and some like them, read by each: the length in bytes.
# Seen:
#   (_ h'0102', h'030405'): surrealdb 256, cbor 5, cbor2 5
#   (_ "strea", "ming"): surrealdb 256, cbor 9, cbor2 9
#   (_ ): surrealdb 256, cbor 0, cbor2 0
#   5 chunks of 64 bytes: surrealdb 512, cbor 320, cbor2 320
#   h'0102030405': surrealdb 5, cbor 5, cbor2 5
#   {"a": (_ "b")}: "b\u0000\u0000..., equal to "b": false
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact \
  @surrealdb/cbor@2.0.0-alpha.4 cbor@10.0.12 cbor2@2.3.0 || exit 77
cat > run.mjs <<'END'
import { decode as surreal } from "@surrealdb/cbor";
import cborPackage from "cbor";
import { decode as cbor2 } from "cbor2";

const STRINGS = {
  "(_ h'0102', h'030405')": "5f42010243030405ff",
  '(_ "strea", "ming")': "7f657374726561646d696e67ff",
  "(_ )": "5fff",
  "5 chunks of 64 bytes": `5f${`5840${"61".repeat(64)}`.repeat(5)}ff`,
  "h'0102030405'": "450102030405",
};
for (const [name, hex] of Object.entries(STRINGS)) {
  const answers = Object.entries({ surrealdb: surreal, cbor: cborPackage.decode, cbor2 }).map(([of, read]) => {
    const value = read(new Uint8Array(Buffer.from(hex, "hex")));
    return `${of} ${Buffer.from(value).length}`;
  });
  console.log(`${name}: ${answers.join(", ")}`);
}
const { a } = surreal(new Uint8Array(Buffer.from("a161617f6162ff", "hex")));
console.log(`{"a": (_ "b")}: ${JSON.stringify(a).slice(0, 14)}..., equal to "b": ${a === "b"}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
(_ h'0102', h'030405'): surrealdb 256, cbor 5, cbor2 5
(_ "strea", "ming"): surrealdb 256, cbor 9, cbor2 9
(_ ): surrealdb 256, cbor 0, cbor2 0
5 chunks of 64 bytes: surrealdb 512, cbor 320, cbor2 320
h'0102030405': surrealdb 5, cbor 5, cbor2 5
{"a": (_ "b")}: "b\u0000\u0000..., equal to "b": false
END
cmp seen expected
