/** A short notation for the shapes of requests and results. */
import type { JsonObject } from "../decode/json.js";
import { type Members, type Shape, anyObject, flag, list, number, object, optional, text } from "../decode/shapes.js";

/** A member in the notation: name, `?` if it is optional, `!` for a flag, `#` for a number, or a list or an object. */
const MEMBER = /\s*(?:(\w+)(\??)([!#[{]?)|([\]}]))/y;

/**
 * Reads the notation of an object's members, such as `userId apiKeys[apiKeyName curveType?] order# isActive?!`. A
 * member without a mark is a text, `[]` is a list of texts, `{}` is any object.
 */
export function shapeOf(notation: string): Shape<JsonObject> {
  MEMBER.lastIndex = 0;
  return object(membersIn(notation)) as unknown as Shape<JsonObject>;
}

function membersIn(notation: string): Members {
  const members: Record<string, Shape<unknown>> = {};
  for (let found = MEMBER.exec(notation); found !== null && found[1] !== undefined; found = MEMBER.exec(notation)) {
    const [, name, isOptional, mark] = found;
    const shape = shapeAfter(mark!, notation);
    members[name!] = isOptional === "" ? shape : optional(shape);
  }
  return members;
}

function shapeAfter(mark: string, notation: string): Shape<unknown> {
  if (mark === "!") return flag;
  if (mark === "#") return number;
  if (mark === "") return text;
  const members = membersIn(notation);
  const isEmpty = Object.keys(members).length === 0;
  if (mark === "[") return list<unknown>(isEmpty ? text : object(members));
  return isEmpty ? anyObject : object(members);
}
