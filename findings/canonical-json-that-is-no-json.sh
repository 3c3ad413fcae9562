#!/bin/sh
# canonical-json-that-is-no-json: three writers of canonical JSON write text that JSON.parse refuses, each for another
# harmless value: a control character, or a member that is undefined.
#
# Packages: another-json 0.2.0, @tufjs/canonical-json 2.0.0, json-canon 1.0.1; beside them canonicalize 4.0.0 and
# json-canonicalize 3.0.1.
# Expected: canonical JSON is JSON, so what was signed can be read again; the writers differ in order and numbers only.
# Cause: another-json puts a whole escape in upper case, with its u. The form that TUF signs escapes the quote and the
# backslash alone, as its specification says. json-canon leaves out an undefined member and keeps the comma behind it.
# Who meets it: who signs a document whose text came from a terminal or a file, or that has an optional member, and
# sends the signed bytes themselves. Who signs one form and sends another does not.
# Here: each value by each writer, and whether JSON.parse gives back what JSON.stringify would keep of it.
# Seen:
#   line break: another-json "a\nb" read, @tufjs/canonical-json "a<0a>b" refused, json-canon "a\nb" read
#   0x0f: another-json "\U000F" refused, @tufjs/canonical-json "<0f>" refused, json-canon "\u000f" read
#   undefined first: another-json throws, @tufjs/canonical-json throws, json-canon {,"b":1} refused
#   canonicalize and json-canonicalize: all read
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact another-json@0.2.0 \
  @tufjs/canonical-json@2.0.0 json-canon@1.0.1 canonicalize@4.0.0 json-canonicalize@3.0.1 || exit 77
cat > run.mjs <<'END'
import { isDeepStrictEqual } from "node:util";
import { canonicalize as tuf } from "@tufjs/canonical-json";
import another from "another-json";
import * as canonicalize from "canonicalize";
import canon from "json-canon";
import { canonicalize as other } from "json-canonicalize";

const writers = { "another-json": another.stringify, "@tufjs/canonical-json": tuf, "json-canon": canon };
const values = { "line break": "a\nb", "0x0f": "\u000f", "undefined first": { a: undefined, b: 1 } };
const hex = (char) => `<${char.charCodeAt(0).toString(16).padStart(2, "0")}>`;

function result(write, value) {
  let text;
  try {
    text = write(value);
  } catch {
    return "throws";
  }
  const shown = text.replace(/[\0-\x1f]/g, hex);
  try {
    const kept = JSON.parse(JSON.stringify(value));
    return `${shown} ${isDeepStrictEqual(JSON.parse(text), kept) ? "read" : "read otherwise"}`;
  } catch {
    return `${shown} refused`;
  }
}

for (const [name, value] of Object.entries(values)) {
  const results = Object.entries(writers).map(([writer, write]) => `${writer} ${result(write, value)}`);
  console.log(`${name}: ${results.join(", ")}`);
}
const sound = [canonicalize.default ?? canonicalize.canonicalize, other];
const all = sound.every((write) => Object.values(values).every((value) => result(write, value).endsWith(" read")));
console.log(`canonicalize and json-canonicalize: ${all ? "all" : "not all"} read`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
line break: another-json "a\nb" read, @tufjs/canonical-json "a<0a>b" refused, json-canon "a\nb" read
0x0f: another-json "\U000F" refused, @tufjs/canonical-json "<0f>" refused, json-canon "\u000f" read
undefined first: another-json throws, @tufjs/canonical-json throws, json-canon {,"b":1} refused
canonicalize and json-canonicalize: all read
END
cmp seen expected
