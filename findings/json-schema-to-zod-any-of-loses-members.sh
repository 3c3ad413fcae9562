#!/bin/sh
# json-schema-to-zod-any-of-loses-members: a document that fits two branches of `anyOf` comes back without the members
# that only the second one names; and an object with `patternProperties` refuses all members of other names.
#
# Packages: json-schema-to-zod 2.8.1, with zod 4.6.7; zod-from-json-schema 0.5.6 and zod's own fromJSONSchema, which keep
# and accept both.
# Expected: without `additionalProperties`, an object may have any other member (JSON Schema 2020-12 core, 10.3.2.3), and
# a valid document is read as it is.
# Cause: each branch is an object that strips what it does not name, and the first branch that fits is taken.
# Who meets it: documents that grew: an older form, and a newer one with one member more, such as a signature.
# Here: a key, and the same with a signature, under a schema of both forms; then a name with a label beside it.
# Seen:
#   json-schema-to-zod, anyOf: {"key":"k"}
#   json-schema-to-zod, patternProperties: refused
#   zod-from-json-schema, anyOf: {"key":"k","signature":"s"}
#   zod-from-json-schema, patternProperties: {"name":"n","since":1}
#   zod, anyOf: {"key":"k","signature":"s"}
#   zod, patternProperties: {"name":"n","since":1}
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact zod@4.6.7 json-schema-to-zod@2.8.1 \
  zod-from-json-schema@0.5.6 || exit 77
cat > run.mjs <<'END'
import { jsonSchemaToZod } from "json-schema-to-zod";
import { z } from "zod";
import { convertJsonSchemaToZod } from "zod-from-json-schema";

const string = { type: "string" };
const older = { type: "object", properties: { key: string }, required: ["key"] };
const newer = { type: "object", properties: { key: string, signature: string }, required: ["key", "signature"] };
const labelled = { type: "object", properties: { name: string }, patternProperties: { "^x-": string } };
const CASES = {
  anyOf: [{ anyOf: [older, newer] }, { key: "k", signature: "s" }],
  patternProperties: [labelled, { name: "n", since: 1 }],
};
const MAKERS = {
  "json-schema-to-zod": (schema) => new Function("z", `return ${jsonSchemaToZod(schema)}`)(z),
  "zod-from-json-schema": convertJsonSchemaToZod,
  zod: z.fromJSONSchema,
};
for (const [name, make] of Object.entries(MAKERS))
  for (const [what, [schema, value]] of Object.entries(CASES)) {
    const { success, data } = make(schema).safeParse(value);
    console.log(`${name}, ${what}: ${success ? JSON.stringify(data) : "refused"}`);
  }
END
node run.mjs > seen
cat seen
cat > expected <<'END'
json-schema-to-zod, anyOf: {"key":"k"}
json-schema-to-zod, patternProperties: refused
zod-from-json-schema, anyOf: {"key":"k","signature":"s"}
zod-from-json-schema, patternProperties: {"name":"n","since":1}
zod, anyOf: {"key":"k","signature":"s"}
zod, patternProperties: {"name":"n","since":1}
END
cmp seen expected
