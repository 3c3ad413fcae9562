/** JSON Schemas of proto3 messages in their JSON form, from published definitions: names and types, nothing beyond. */
import type { JsonObject } from "../../src/decode/json.js";

const SCALARS: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  bytes: { type: "string" },
  uint64: { type: ["integer", "string"] },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.Timestamp": {
    type: "string",
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})$",
  },
};

/** A schema whose `$defs` are the messages of all the texts; the one that is named is its root. */
export function protoSchema(root: string, ...texts: readonly string[]): JsonObject {
  const definitions: Record<string, JsonObject> = {};
  for (const text of texts) addMessages(text.replace(/\/\/.*$/gm, ""), definitions);
  if (!(root in definitions)) throw new Error(`no message ${root}`);
  return { $ref: `#/$defs/${root}`, $defs: definitions };
}

/** Innermost messages first, each taken out of the text that it stands in. */
function addMessages(text: string, definitions: Record<string, JsonObject>): void {
  const innermost = /message\s+(\w+)\s*\{([^{}]*)\}/;
  for (let rest = text, found = innermost.exec(rest); found !== null; found = innermost.exec(rest)) {
    const [whole, name, body] = found as unknown as [string, string, string];
    definitions[name] = messageSchema(body);
    rest = rest.replace(whole, "");
  }
}

const TYPE = String.raw`(map<\s*string\s*,\s*([\w.]+)\s*>|[\w.]+)`;
const JSON_NAME = String.raw`(?:\[\s*json_name\s*=\s*"([^"]+)"\s*\])?`;
const FIELD = new RegExp(String.raw`(repeated\s+)?${TYPE}\s+(\w+)\s*=\s*\d+\s*${JSON_NAME};`, "g");

function messageSchema(body: string): JsonObject {
  const properties = [...body.matchAll(FIELD)].map(([, repeated, type, value, name, jsonName]) => {
    const own: JsonObject =
      value === undefined ? typeSchema(type!) : { type: "object", additionalProperties: typeSchema(value) };
    return [jsonName ?? camelCase(name!), repeated === undefined ? own : { type: "array", items: own }] as const;
  });
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

function typeSchema(type: string): JsonObject {
  return SCALARS[type] ?? { $ref: `#/$defs/${type.split(".").at(-1)!}` };
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
