#!/bin/sh
# zod-schemas-refuse-integers-beyond-2-53: what makes Zod schemas of JSON Schemas turns "type": "integer" into a safe
# integer, so that an amount of 10^18 units is refused, under the same schema that validators of JSON Schema accept.
#
# Packages: zod 4.6.7 (its own fromJSONSchema), json-schema-to-zod 2.8.1, zod-from-json-schema 0.5.6; and ajv 8.20.0 and
# @cfworker/json-schema 4.1.6, which validate by the schema itself.
# Expected: an integer is any number with a zero fractional part (JSON Schema 2020-12 validation, 6.1.1), of any size.
# Who meets it: services whose amounts are numbers of the smallest unit, such as wei or lamports, and timestamps in
# nanoseconds: a request is refused from some size on, with a message about a safe integer that no schema asked for.
# Here: 2^53 - 1, 2^53, and 10^18, which a double holds exactly.
# Seen:
#   ajv: true true true
#   @cfworker/json-schema: true true true
#   zod: true false false
#   json-schema-to-zod: true false false
#   zod-from-json-schema: true false false
#   zod says: Too big: expected int to be <=9007199254740991
# Exits with 1 if it sees anything else. Needs Node 20 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact zod@4.6.7 json-schema-to-zod@2.8.1 \
  zod-from-json-schema@0.5.6 ajv@8.20.0 @cfworker/json-schema@4.1.6 || exit 77
cat > run.mjs <<'END'
import { Validator } from "@cfworker/json-schema";
import Ajv from "ajv/dist/2020.js";
import { jsonSchemaToZod } from "json-schema-to-zod";
import { z } from "zod";
import { convertJsonSchemaToZod } from "zod-from-json-schema";

const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "integer" };
const VALUES = [2 ** 53 - 1, 2 ** 53, 1e18];
const made = new Function("z", `return ${jsonSchemaToZod(schema)}`)(z);
const own = z.fromJSONSchema(schema);
const other = convertJsonSchemaToZod(schema);
const validator = new Validator(schema);
const READERS = {
  ajv: new Ajv.default().compile(schema),
  "@cfworker/json-schema": (value) => validator.validate(value).valid,
  zod: (value) => own.safeParse(value).success,
  "json-schema-to-zod": (value) => made.safeParse(value).success,
  "zod-from-json-schema": (value) => other.safeParse(value).success,
};
for (const [name, accepts] of Object.entries(READERS)) console.log(`${name}: ${VALUES.map(accepts).join(" ")}`);
console.log(`zod says: ${own.safeParse(1e18).error.issues[0].message}`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
ajv: true true true
@cfworker/json-schema: true true true
zod: true false false
json-schema-to-zod: true false false
zod-from-json-schema: true false false
zod says: Too big: expected int to be <=9007199254740991
END
cmp seen expected
