/** Trees of decoded files, as `inspect` makes them, and their texts. */
import { JsonNumber } from "../decode/json.js";

/** A tree with JSON numbers as written. */
export type Content = null | boolean | number | string | JsonNumber | readonly Content[] | ContentObject;
export interface ContentObject {
  readonly [name: string]: Content | undefined;
}

export type Parts = ReadonlyMap<string | number, Content>;

export function sortOf(content: Content): "list" | "object" | "scalar" {
  if (Array.isArray(content)) return "list";
  return typeof content === "object" && content !== null && !(content instanceof JsonNumber) ? "object" : "scalar";
}

/** Returns the defined members of an object by name, and the items of a list by index. */
export function partsOf(content: Content): Parts {
  if (Array.isArray(content)) return new Map((content as Content[]).entries());
  return new Map(sortOf(content) === "object" ? definedIn(content as ContentObject) : []);
}

function definedIn(object: ContentObject): [string, Content][] {
  return Object.entries(object).filter((entry): entry is [string, Content] => entry[1] !== undefined);
}

/** Returns a text unchanged, and other content as JSON with numbers as written and sorted members. */
export function contentText(content: Content): string {
  return typeof content === "string" ? content : contentJson(content);
}

/** Returns JSON with numbers as written and sorted members. */
export function contentJson(content: Content): string {
  if (content instanceof JsonNumber) return content.text;
  if (Array.isArray(content)) return `[${(content as Content[]).map(contentJson).join(",")}]`;
  if (sortOf(content) === "scalar") return JSON.stringify(content);
  const named = definedIn(content as ContentObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${named.map(([name, value]) => `${JSON.stringify(name)}:${contentJson(value)}`).join(",")}}`;
}

/** Returns a Map of a list. A repeated key gets a suffix such as ` (2)`, so no key may itself end in such a suffix. */
export function byKey<T>(list: readonly T[], keyOf: (entry: T) => string): Map<string, T> {
  const map = new Map<string, T>();
  const times = new Map<string, number>();
  for (const entry of list) {
    const key = keyOf(entry);
    const time = (times.get(key) ?? 0) + 1;
    times.set(key, time);
    map.set(time === 1 ? key : `${key} (${time})`, entry);
  }
  return map;
}

/** Returns a member, or undefined if the content is no object or lacks it. */
export function memberOf(content: Content | undefined, name: string): Content | undefined {
  return content !== undefined && sortOf(content) === "object" && Object.hasOwn(content as object, name)
    ? (content as ContentObject)[name]
    : undefined;
}
