/** Writer of QOS canonical JSON (decode/README.md, "Canonical JSON"), over which v2 and v3 manifests are hashed. */
import { toHex } from "../bytes.js";
import { MalformedError } from "../errors.js";
import { JsonNumber } from "./json.js";

/** A value to write. Null and undefined members are omitted, bytes become hex, and integers become decimal strings. */
export type QosJsonInput =
  | null
  | undefined
  | boolean
  | number
  | JsonNumber
  | string
  | Uint8Array
  | readonly QosJsonInput[]
  | { readonly [member: string]: QosJsonInput };

/** Returns the canonical text. Throws {@link MalformedError} (`json`) for a number that is not an integer. */
export function canonicalQosJson(value: QosJsonInput): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return integer(String(value));
  if (value instanceof JsonNumber) return integer(value.text);
  if (value instanceof Uint8Array) return `"${toHex(value)}"`;
  if (Array.isArray(value)) return `[${value.map((item: QosJsonInput) => canonicalQosJson(item)).join(",")}]`;
  const object = value as { readonly [member: string]: QosJsonInput };
  // `sort` compares UTF-16 code units, as QOS does.
  const names = Object.keys(object)
    .filter((name) => object[name] !== null && object[name] !== undefined)
    .sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalQosJson(object[name])}`).join(",")}}`;
}

function integer(literal: string): string {
  if (/^(?:0|-?[1-9][0-9]*)$/.test(literal)) return `"${literal}"`;
  throw new MalformedError("json", [{ path: "", message: `${literal} is not an integer in canonical form` }]);
}
