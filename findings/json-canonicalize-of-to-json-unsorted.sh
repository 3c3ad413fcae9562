#!/bin/sh
# json-canonicalize-of-to-json-unsorted: json-canonicalize sorts no member of what a toJSON method returns, nor of
# anything in it, so a Buffer, or an object of a library with that method, is written in the order of its insertion.
# canonical-json does so, too.
#
# Packages: json-canonicalize 3.0.1, canonical-json 0.4.0; beside them canonicalize 4.0.0.
# Expected: the canonical form (RFC 8785) of what JSON.stringify writes, whatever object it was made of: the same value,
# read from its text, has another form.
# Cause: an object with toJSON is handed to JSON.stringify as it is.
# Who meets it: who signs or hashes a document with bytes, a record of a database or a number of a library in it, which
# is a class with toJSON. Who verifies has plain values, and finds other bytes.
# Here: values, and the same ones after JSON.parse of JSON.stringify.
# Seen:
#   a Buffer, canonicalize: {"bytes":{"data":[97],"type":"Buffer"}}, as read again
#   a Buffer, json-canonicalize: {"bytes":{"type":"Buffer","data":[97]}}, not as read again
#   a Buffer, canonical-json: {"bytes":{"type":"Buffer","data":[97]}}, not as read again
#   a record, canonicalize: {"amount":1,"to":{"id":1,"name":"n"}}, as read again
#   a record, json-canonicalize: {"to":{"name":"n","id":1},"amount":1}, not as read again
#   a record, canonical-json: {"to":{"name":"n","id":1},"amount":1}, not as read again
#   a Date, canonicalize: {"at":"1970-01-01T00:00:00.000Z","by":1}, as read again
#   a Date, json-canonicalize: {"at":"1970-01-01T00:00:00.000Z","by":1}, as read again
#   a Date, canonical-json: {"at":"1970-01-01T00:00:00.000Z","by":1}, as read again
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact json-canonicalize@3.0.1 \
  canonical-json@0.4.0 canonicalize@4.0.0 || exit 77
cat > run.mjs <<'END'
import canonicalJson from "canonical-json";
import canonicalize from "canonicalize";
import { canonicalize as jsonCanonicalize } from "json-canonicalize";

const record = { toJSON: () => ({ to: { name: "n", id: 1 }, amount: 1 }) };
const VALUES = { "a Buffer": { bytes: Buffer.from("a") }, "a record": record, "a Date": { at: new Date(0), by: 1 } };
const WRITERS = { canonicalize, "json-canonicalize": jsonCanonicalize, "canonical-json": canonicalJson };
for (const [name, value] of Object.entries(VALUES)) {
  for (const [of, write] of Object.entries(WRITERS)) {
    const plain = write(JSON.parse(JSON.stringify(value)));
    console.log(`${name}, ${of}: ${write(value)}, ${write(value) === plain ? "as read again" : "not as read again"}`);
  }
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
a Buffer, canonicalize: {"bytes":{"data":[97],"type":"Buffer"}}, as read again
a Buffer, json-canonicalize: {"bytes":{"type":"Buffer","data":[97]}}, not as read again
a Buffer, canonical-json: {"bytes":{"type":"Buffer","data":[97]}}, not as read again
a record, canonicalize: {"amount":1,"to":{"id":1,"name":"n"}}, as read again
a record, json-canonicalize: {"to":{"name":"n","id":1},"amount":1}, not as read again
a record, canonical-json: {"to":{"name":"n","id":1},"amount":1}, not as read again
a Date, canonicalize: {"at":"1970-01-01T00:00:00.000Z","by":1}, as read again
a Date, json-canonicalize: {"at":"1970-01-01T00:00:00.000Z","by":1}, as read again
a Date, canonical-json: {"at":"1970-01-01T00:00:00.000Z","by":1}, as read again
END
cmp seen expected
