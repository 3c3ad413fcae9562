#!/bin/sh
# cbor-sync-times-in-milliseconds: cbor-sync, and its copy @ellipticoin/cbor, read a time of tag 1 as milliseconds: the
# 21st of March 2013 is the 16th of January 1970, and half a second is lost. A time of tag 0 is read right.
#
# Packages: cbor-sync 1.0.4, @ellipticoin/cbor 1.0.4; beside them cbor 10.0.12, cbor-x 1.6.9, cbor2 2.3.0, borc 3.0.0,
# @stablelib/cbor 2.0.4.
# Expected: seconds since 1970, with a fraction if it is a float (RFC 8949, section 3.4.2, and the examples of its
# appendix A), or the tag and its number, as of readers that know no times.
# Cause: the number goes to `new Date` as it is. They write a date as tag 0, so what they write they read right.
# Who meets it: who reads dates that others wrote, since cbor, borc, cbor-x and most other languages write tag 1: each
# is a Date of January 1970, well-formed, and older than any limit that it is compared with.
# Here: three times of appendix A and one before 1970, read by each.
# Seen:
#   tag 0: 2013-03-21T20:04:00.000Z
#   tag 1: 2013-03-21T20:04:00.000Z, cbor-sync and @ellipticoin/cbor 1970-01-16T18:51:36.240Z
#   tag 1, float: 2013-03-21T20:04:00.500Z, cbor-sync and @ellipticoin/cbor 1970-01-16T18:51:36.240Z
#   tag 1, negative: 1969-12-31T23:59:44.000Z, cbor-sync and @ellipticoin/cbor 1969-12-31T23:59:59.984Z
#   a Date that cbor wrote: 2013-03-21T20:04:00.000Z, cbor-sync and @ellipticoin/cbor 1970-01-16T18:51:36.240Z
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact cbor-sync@1.0.4 @ellipticoin/cbor@1.0.4 \
  cbor@10.0.12 cbor-x@1.6.9 cbor2@2.3.0 borc@3.0.0 @stablelib/cbor@2.0.4 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import * as stablelib from "@stablelib/cbor";
import cbor from "cbor";
import * as cborX from "cbor-x";
import * as cbor2 from "cbor2";

const require = createRequire(import.meta.url);
const [borc, sync, ellipticoin] = ["borc", "cbor-sync", "@ellipticoin/cbor"].map((name) => require(name));
const ITEMS = {
  "tag 0": "c074323031332d30332d32315432303a30343a30305a",
  "tag 1": "c11a514b67b0",
  "tag 1, float": "c1fb41d452d9ec200000",
  "tag 1, negative": "c12f",
  "a Date that cbor wrote": cbor.encode(new Date("2013-03-21T20:04:00Z")).toString("hex"),
};
/** The time of which all answers agree. */
function time(...answers) {
  const times = new Set(answers.map((date) => date.toISOString()));
  return times.size === 1 ? [...times][0] : `they differ: ${[...times]}`;
}
for (const [what, item] of Object.entries(ITEMS)) {
  const bytes = Buffer.from(item, "hex");
  const others = [cbor.decode(bytes), cborX.decode(bytes), cbor2.decode(bytes), borc.decodeFirst(bytes)];
  const [right, own] = [time(...others, stablelib.decode(bytes)), time(sync.decode(bytes), ellipticoin.decode(bytes))];
  console.log(`${what}: ${right}${own === right ? "" : `, cbor-sync and @ellipticoin/cbor ${own}`}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
tag 0: 2013-03-21T20:04:00.000Z
tag 1: 2013-03-21T20:04:00.000Z, cbor-sync and @ellipticoin/cbor 1970-01-16T18:51:36.240Z
tag 1, float: 2013-03-21T20:04:00.500Z, cbor-sync and @ellipticoin/cbor 1970-01-16T18:51:36.240Z
tag 1, negative: 1969-12-31T23:59:44.000Z, cbor-sync and @ellipticoin/cbor 1969-12-31T23:59:59.984Z
a Date that cbor wrote: 2013-03-21T20:04:00.000Z, cbor-sync and @ellipticoin/cbor 1970-01-16T18:51:36.240Z
END
cmp seen expected
