/** Validates values with a JSON Schema (draft 2020-12) by Ajv: an opinion besides this package's readers. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../src/decode/json.js";

const ajv = new Ajv2020({ allErrors: true });

export function fits(schema: JsonObject, value: unknown): boolean {
  return ajv.validate(schema, value);
}
