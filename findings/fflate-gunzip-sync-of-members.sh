#!/bin/sh
# fflate-gunzip-sync-of-members: of a gzip file of several members, gunzipSync() and gunzip() of fflate return the first
# bytes of the first member, as many as the last one has, without an error: neither the first member nor all. Its own
# stream, Gunzip, returns all.
#
# Packages: fflate 0.8.3; beside it pako 3.0.3, browserify-zlib 0.2.0, and zlib and DecompressionStream of Node.
# Expected: all members, one after the other (RFC 1952, section 2.2), or an error. Node's zlib and gzip itself do so.
# Cause: the size of the result is taken from the end of the file, where the last member's is, and reading ends once
# that is full.
# Who meets it: who unpacks a ramdisk of an image, a log that was appended to, or what bgzip and parallel gzip write,
# which have members. The end of the data is missing, and no checksum is compared.
# Here: two members of 6 and 5 bytes, and others, joined.
# Seen:
#   ["hello world"]: "hello world": all (7 of 7)
#   ["hello ","world"]: "hello": fflate gunzipSync, fflate gunzip
#   ["hello ","world"]: "hello world": all (5 of 7)
#   ["hello"," world"]: "hello": fflate gunzipSync, fflate gunzip
#   ["hello"," world"]: "hello world": all (5 of 7)
#   ["","world"]: "": fflate gunzipSync, fflate gunzip
#   ["","world"]: "world": all (5 of 7)
#   ["a","b","cd"]: "a": fflate gunzipSync, fflate gunzip
#   ["a","b","cd"]: "abcd": all (5 of 7)
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact fflate@0.8.3 pako@3.0.3 \
  browserify-zlib@0.2.0 || exit 77
cat > run.mjs <<'END'
import { gunzipSync, gzipSync } from "node:zlib";
import { promisify } from "node:util";
import browserify from "browserify-zlib";
import * as fflate from "fflate";
import * as pako from "pako";

const joined = (texts) => Buffer.concat(texts.map((text) => gzipSync(text)));
async function byStream(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
function byGunzip(bytes) {
  const chunks = [];
  new fflate.Gunzip((chunk) => chunks.push(chunk)).push(bytes, true);
  return Buffer.concat(chunks);
}
const READERS = {
  "fflate gunzipSync": fflate.gunzipSync,
  "fflate gunzip": promisify(fflate.gunzip),
  "fflate Gunzip": byGunzip,
  pako: pako.ungzip,
  "browserify-zlib": (bytes) => browserify.gunzipSync(Buffer.from(bytes)),
  "zlib of Node": gunzipSync,
  DecompressionStream: byStream,
};
for (const texts of [["hello world"], ["hello ", "world"], ["hello", " world"], ["", "world"], ["a", "b", "cd"]]) {
  const byAnswer = {};
  for (const [name, read] of Object.entries(READERS)) {
    const answer = Buffer.from(await read(new Uint8Array(joined(texts)))).toString();
    (byAnswer[answer] ??= []).push(name);
  }
  const whole = texts.join("");
  for (const [answer, names] of Object.entries(byAnswer)) {
    const who = answer === whole ? `all (${names.length} of ${Object.keys(READERS).length})` : names.join(", ");
    console.log(`${JSON.stringify(texts)}: ${JSON.stringify(answer)}: ${who}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
["hello world"]: "hello world": all (7 of 7)
["hello ","world"]: "hello": fflate gunzipSync, fflate gunzip
["hello ","world"]: "hello world": all (5 of 7)
["hello"," world"]: "hello": fflate gunzipSync, fflate gunzip
["hello"," world"]: "hello world": all (5 of 7)
["","world"]: "": fflate gunzipSync, fflate gunzip
["","world"]: "world": all (5 of 7)
["a","b","cd"]: "a": fflate gunzipSync, fflate gunzip
["a","b","cd"]: "abcd": all (5 of 7)
END
cmp seen expected
