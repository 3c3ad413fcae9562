#!/bin/sh
# asn1-js-times-off-by-a-century: asn1.js reads the years 50 to 69 of a UTCTime as 2050 to 2069, and of a
# GeneralizedTime leaves out the fraction of the second. Other libraries read 1950 to 1969, and the fraction; none says
# a word.
#
# Packages: asn1.js 5.4.1; beside it @fidm/asn1 1.0.4, asn1js 4.0.0, node-forge 1.4.3, jsrsasign 11.1.5.
# Expected: years from 50 on are of the last century (RFC 5280, section 4.1.2.5.1); a time of a timestamp authority has
# a fraction (RFC 3161, section 2.4.2).
# Cause: the century changes at 70, as it does in C; and digits behind the seconds are not read.
# Who meets it: who orders timestamps, or compares one with a signed time, by a definition in asn1.js: two within a
# second are equal. A validity that begins before 1970, as one without a beginning may be written, has not begun.
# Here: times as DER, read by each; the others agree on each.
# Seen:
#   491231235959Z: asn1.js 2049-12-31T23:59:59.000Z, others 2049-12-31T23:59:59.000Z
#   500101000000Z: asn1.js 2050-01-01T00:00:00.000Z, others 1950-01-01T00:00:00.000Z
#   680101000000Z: asn1.js 2068-01-01T00:00:00.000Z, others 1968-01-01T00:00:00.000Z
#   700101000000Z: asn1.js 1970-01-01T00:00:00.000Z, others 1970-01-01T00:00:00.000Z
#   20261128100000Z: asn1.js 2026-11-28T10:00:00.000Z, others 2026-11-28T10:00:00.000Z
#   20261128100000.5Z: asn1.js 2026-11-28T10:00:00.000Z, others 2026-11-28T10:00:00.500Z
#   20261128100000.123Z: asn1.js 2026-11-28T10:00:00.000Z, others 2026-11-28T10:00:00.123Z
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact asn1.js@5.4.1 @fidm/asn1@1.0.4 \
  asn1js@4.0.0 node-forge@1.4.3 jsrsasign@11.1.5 || exit 77
cat > run.mjs <<'END'
import fidm from "@fidm/asn1";
import indutny from "asn1.js";
import { fromBER } from "asn1js";
import jsrsasign from "jsrsasign";
import forge from "node-forge";

const UTC = 0x17;
const GENERALIZED = 0x18;
const schemaOf = (kind) =>
  indutny.define("Time", function define() {
    this[kind]();
  });
const SCHEMAS = { [UTC]: schemaOf("utctime"), [GENERALIZED]: schemaOf("gentime") };
const iso = (time) => new Date(time).toISOString();
const TIMES = [
  [UTC, "491231235959Z"],
  [UTC, "500101000000Z"],
  [UTC, "680101000000Z"],
  [UTC, "700101000000Z"],
  [GENERALIZED, "20261128100000Z"],
  [GENERALIZED, "20261128100000.5Z"],
  [GENERALIZED, "20261128100000.123Z"],
];
for (const [tag, text] of TIMES) {
  const der = Buffer.concat([Buffer.from([tag, text.length]), Buffer.from(text)]);
  const others = new Set([
    iso(fidm.ASN1.fromDER(der).value),
    iso(fromBER(new Uint8Array(der).buffer).result.toDate()),
    iso(tag === UTC ? forge.asn1.utcTimeToDate(text) : forge.asn1.generalizedTimeToDate(text)),
    iso(jsrsasign.zulutodate(text)),
  ]);
  const own = iso(SCHEMAS[tag].decode(der, "der"));
  console.log(`${text}: asn1.js ${own}, others ${[...others].join(" or ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
491231235959Z: asn1.js 2049-12-31T23:59:59.000Z, others 2049-12-31T23:59:59.000Z
500101000000Z: asn1.js 2050-01-01T00:00:00.000Z, others 1950-01-01T00:00:00.000Z
680101000000Z: asn1.js 2068-01-01T00:00:00.000Z, others 1968-01-01T00:00:00.000Z
700101000000Z: asn1.js 1970-01-01T00:00:00.000Z, others 1970-01-01T00:00:00.000Z
20261128100000Z: asn1.js 2026-11-28T10:00:00.000Z, others 2026-11-28T10:00:00.000Z
20261128100000.5Z: asn1.js 2026-11-28T10:00:00.000Z, others 2026-11-28T10:00:00.500Z
20261128100000.123Z: asn1.js 2026-11-28T10:00:00.000Z, others 2026-11-28T10:00:00.123Z
END
cmp seen expected
