#!/bin/sh
# zod-const-of-an-object-never-equals: a Zod schema made of a JSON Schema whose `const` or `enum` holds an object or an
# array refuses that very value. Nothing is said when the schema is made.
#
# Packages: zod 4.6.7 (its own fromJSONSchema) and json-schema-to-zod 2.8.1; ajv 8.20.0 and zod-from-json-schema 0.5.6,
# which accept it.
# Expected: a value is valid if it equals the constant as JSON (JSON Schema 2020-12 core, 4.2.2, and validation, 6.1.3).
# Cause: both compare by identity, and what was parsed is never the same object.
# Who meets it: schemas that pin a whole member, such as {"threshold": 2} of a quorum or an empty list of origins.
# Here: the constant itself, once as a text, as an object, as an empty list, and in an enum beside null.
# Seen:
#   const "a": ajv true, zod true, json-schema-to-zod true, zod-from-json-schema true
#   const {"threshold":2}: ajv true, zod false, json-schema-to-zod false, zod-from-json-schema true
#   const []: ajv true, zod false, json-schema-to-zod false, zod-from-json-schema true
#   enum [null,{"threshold":2}]: ajv true, zod false, json-schema-to-zod false, zod-from-json-schema true
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact zod@4.6.7 json-schema-to-zod@2.8.1 \
  zod-from-json-schema@0.5.6 ajv@8.20.0 || exit 77
cat > run.mjs <<'END'
import Ajv from "ajv/dist/2020.js";
import { jsonSchemaToZod } from "json-schema-to-zod";
import { z } from "zod";
import { convertJsonSchemaToZod } from "zod-from-json-schema";

function show(schema, value) {
  const copy = structuredClone(value);
  const answers = {
    ajv: new Ajv.default().compile(schema)(copy),
    zod: z.fromJSONSchema(schema).safeParse(copy).success,
    "json-schema-to-zod": new Function("z", `return ${jsonSchemaToZod(schema)}`)(z).safeParse(copy).success,
    "zod-from-json-schema": convertJsonSchemaToZod(schema).safeParse(copy).success,
  };
  const [[keyword, holds]] = Object.entries(schema);
  const texts = Object.entries(answers).map((answer) => answer.join(" "));
  console.log(`${keyword} ${JSON.stringify(holds)}: ${texts.join(", ")}`);
}
for (const value of ["a", { threshold: 2 }, []]) show({ const: value }, value);
show({ enum: [null, { threshold: 2 }] }, { threshold: 2 });
END
node run.mjs > seen
cat seen
cat > expected <<'END'
const "a": ajv true, zod true, json-schema-to-zod true, zod-from-json-schema true
const {"threshold":2}: ajv true, zod false, json-schema-to-zod false, zod-from-json-schema true
const []: ajv true, zod false, json-schema-to-zod false, zod-from-json-schema true
enum [null,{"threshold":2}]: ajv true, zod false, json-schema-to-zod false, zod-from-json-schema true
END
cmp seen expected
