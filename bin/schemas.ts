/**
 * The JSON Schemas that the package ships. The build makes them from the tables that read policies and make reports.
 */
import { policySchema } from "../src/appraise/policy.js";
import type { JsonObject } from "../src/decode/json.js";
import { reportSchema } from "../src/formats/schema.js";

/** The schemas by the file's name in `dist/schemas/`. */
export const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  "policy.schema.json": policySchema(),
  "report.schema.json": reportSchema(),
};
