/** JSON Schema (draft 2020-12), as far as this package's schemas use it. */
import { type JsonObject, type JsonValue, isJsonObject } from "../../src/decode/json.js";

type Keyword = (wanted: JsonValue, value: JsonValue, schema: JsonObject) => boolean;

const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  object: isJsonObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
};
const list = (value: JsonValue): readonly JsonValue[] => value as readonly JsonValue[];
const ofText =
  (holds: (wanted: JsonValue, text: string) => boolean): Keyword =>
  (wanted, value) =>
    typeof value !== "string" || holds(wanted, value);
const ofNumber =
  (holds: (wanted: number, value: number) => boolean): Keyword =>
  (wanted, value) =>
    typeof value !== "number" || holds(wanted as number, value);
const ofArray =
  (holds: (wanted: JsonValue, value: readonly JsonValue[]) => boolean): Keyword =>
  (wanted, value) =>
    !Array.isArray(value) || holds(wanted, value);
const ofObject =
  (holds: (wanted: JsonValue, value: JsonObject, schema: JsonObject) => boolean): Keyword =>
  (wanted, value, schema) =>
    !isJsonObject(value) || holds(wanted, value, schema);

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (wanted, value) => TYPES[wanted as string]!(value),
  const: (wanted, value) => wanted === value,
  enum: (wanted, value) => list(wanted).includes(value),
  anyOf: (wanted, value) => list(wanted).some((one) => fits(one, value)),
  pattern: ofText((wanted, text) => new RegExp(wanted as string, "u").test(text)),
  minLength: ofText((wanted, text) => [...text].length >= (wanted as number)),
  maxLength: ofText((wanted, text) => [...text].length <= (wanted as number)),
  minimum: ofNumber((wanted, value) => value >= wanted),
  maximum: ofNumber((wanted, value) => value <= wanted),
  minItems: ofArray((wanted, { length }) => length >= (wanted as number)),
  maxItems: ofArray((wanted, { length }) => length <= (wanted as number)),
  items: ofArray((wanted, value) => value.every((one) => fits(wanted, one))),
  required: ofObject((wanted, value) => list(wanted).every((name) => Object.hasOwn(value, name as string))),
  propertyNames: ofObject((wanted, value) => Object.keys(value).every((name) => fits(wanted, name))),
  properties: ofObject((wanted, value) =>
    Object.entries(wanted as JsonObject).every(([name, one]) => !Object.hasOwn(value, name) || fits(one, value[name]!)),
  ),
  additionalProperties: ofObject((wanted, value, { properties = {} }) =>
    Object.entries(value).every(([name, one]) => Object.hasOwn(properties as JsonObject, name) || fits(wanted, one)),
  ),
};

/** Whether the value is as the schema says. Throws for a keyword that is not known here. */
export function fits(schema: JsonValue, value: JsonValue): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.entries(schema as JsonObject).every(([keyword, wanted]) =>
    KEYWORDS[keyword]!(wanted, value, schema as JsonObject),
  );
}
