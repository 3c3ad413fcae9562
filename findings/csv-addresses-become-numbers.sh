#!/bin/sh
# csv-addresses-become-numbers: readers of CSV that guess types take the address of an Ethereum account for a number in
# hex: four make 6.6e+47 of it, and csv-parse makes 0 of every address, so that all of them are equal.
#
# Packages: d3-dsv 3.0.1 (autoType), arquero 5.4.1 (fromCSV), vega-loader 5.1.3 (parse: "auto"), xlsx 0.18.5 (read of a
# text) and csv-parse 7.0.3 (cast: true); papaparse 5.7.1 (dynamicTyping), which leaves it as it is.
# Expected: a text of 40 hex digits after 0x is an identifier, and no number that a double holds. Types are guessed for
# dates, flags and amounts; who knows that zeros in front are lost looks at the columns of digits, not at this one.
# Cause: a text is a number if Number(text) or parseFloat(text) is one, and 0x742d… is, up to its first 53 bits.
# Who meets it: whoever joins, groups or plots a list of accounts. Two addresses that begin alike are one then.
# Here: two accounts, whose addresses differ in the last digit.
# Seen:
#   d3-dsv: 6.6325114945411165e+47, both equal
#   arquero: 6.6325114945411165e+47, both equal
#   vega-loader: 6.6325114945411165e+47, both equal
#   xlsx: 6.6325114945411165e+47, both equal
#   csv-parse: 0, both equal
#   papaparse: "0x742d35Cc6634C0532925a3b844Bc454e4438f44e"
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact d3-dsv@3.0.1 arquero@5.4.1 \
  vega-loader@5.1.3 xlsx@0.18.5 csv-parse@7.0.3 papaparse@5.7.1 || exit 77
cat > run.mjs <<'END'
import { fromCSV } from "arquero";
import { parse } from "csv-parse/sync";
import { autoType, csvParse } from "d3-dsv";
import papaparse from "papaparse";
import { read } from "vega-loader";
import xlsx from "xlsx";

const start = "0x742d35Cc6634C0532925a3b844Bc454e4438f44";
const text = `address,account\n${start}e,first\n${start}f,second\n`;
const rowsOf = {
  "d3-dsv": () => csvParse(text, autoType),
  arquero: () => fromCSV(text).objects(),
  "vega-loader": () => read(text, { type: "csv", parse: "auto" }),
  xlsx: () => xlsx.utils.sheet_to_json(xlsx.read(text, { type: "string" }).Sheets.Sheet1),
  "csv-parse": () => parse(text, { columns: true, cast: true }),
  papaparse: () => papaparse.parse(text.trimEnd(), { header: true, dynamicTyping: true }).data,
};
for (const [name, rows] of Object.entries(rowsOf)) {
  const [first, second] = rows().map(({ address }) => address);
  console.log(`${name}: ${JSON.stringify(first)}${first === second ? ", both equal" : ""}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
d3-dsv: 6.6325114945411165e+47, both equal
arquero: 6.6325114945411165e+47, both equal
vega-loader: 6.6325114945411165e+47, both equal
xlsx: 6.6325114945411165e+47, both equal
csv-parse: 0, both equal
papaparse: "0x742d35Cc6634C0532925a3b844Bc454e4438f44e"
END
cmp seen expected
