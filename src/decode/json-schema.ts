/** JSON Schema (draft 2020-12) of shapes. It has its own file so that bundlers can drop it. */
import type { JsonObject } from "./json.js";
import type { Form, Members, Shape } from "./shapes.js";

/** Returns the schema of a shape, without the rules of `refined` and of test functions. */
export function schemaOf({ form }: Shape<unknown>): JsonObject {
  if (form === undefined) return {};
  if ("values" in form) return { enum: [...form.values] };
  if ("either" in form) return { anyOf: form.either.map(schemaOf) };
  if ("nullable" in form) return { anyOf: [schemaOf(form.nullable), { type: "null" }] };
  if ("items" in form) return { type: "array", items: schemaOf(form.items), ...limits(form, "minItems", "maxItems") };
  if ("members" in form) return objectSchema(form);
  if ("each" in form) return recordSchema(form);
  return scalarSchema(form);
}

function scalarSchema(form: Extract<Form, { readonly type: string }>): JsonObject {
  if (form.type === "integer") return { type: form.type, ...limits(form, "minimum", "maximum") };
  if (form.type !== "string") return { type: form.type };
  return {
    type: form.type,
    ...(form.pattern && { pattern: form.pattern.source }),
    ...limits(form, "minLength", "maxLength"),
  };
}

/** Returns the limits, except those that no value exceeds. */
function limits({ least = 0, most = Number.POSITIVE_INFINITY }, minimum: string, maximum: string): JsonObject {
  return {
    ...((least > 0 || minimum === "minimum") && { [minimum]: least }),
    ...(most < Number.MAX_SAFE_INTEGER && { [maximum]: most }),
  };
}

function objectSchema({ members, unknown, beside }: Extract<Form, { readonly members: Members }>): JsonObject {
  const shapes = Object.entries(members);
  return {
    type: "object",
    properties: schemasOf({ ...members, ...beside }),
    required: shapes.filter(([, shape]) => !("optional" in shape)).map(([name]) => name),
    ...(unknown === "refuse" && { additionalProperties: false }),
  };
}

function recordSchema({ each, name, least, beside }: Extract<Form, { readonly each: Shape<unknown> }>): JsonObject {
  const value = schemaOf(each);
  const pattern = name && { pattern: name.source };
  const names = Object.keys(beside);
  const size = limits({ least }, "minProperties", "maxProperties");
  if (names.length === 0)
    return { type: "object", ...(pattern && { propertyNames: pattern }), additionalProperties: value, ...size };
  const others = Object.entries(schemasOf(beside));
  return {
    type: "object",
    ...(pattern && { propertyNames: { anyOf: [pattern, { enum: names }] } }),
    patternProperties: {
      ...Object.fromEntries(others.map(([other, schema]) => [`^${other}$`, schema])),
      [`^(?!(?:${names.join("|")})$)`]: value,
    },
    // Every name has a pattern. This is for generators of types, which read no patterns, and whose types do not compile
    // where a member of `properties` has another type than the others.
    additionalProperties: { anyOf: [value, ...others.map(([, schema]) => schema)] },
    ...size,
  };
}

function schemasOf(members: Members): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, schemaOf(shape)]));
}
