/**
 * Represents inputs as trees without irrelevant spellings, and finds every difference between two trees that no
 * comparer reports.
 */
import { toHex } from "../bytes.js";
import { JsonNumber } from "../decode/json.js";
import { type Found, found } from "./changes.js";
import { type ReportedPlaces, placeIn } from "./place.js";

/** JSON with keyed lists as Maps, so that an added entry does not shift the others. */
export type Content = null | boolean | number | string | JsonNumber | Content[] | ContentObject | Map<string, Content>;
export interface ContentObject {
  [name: string]: Content;
}

/** The contents of both inputs at a place. Undefined means absent. */
type Sides = readonly [before: Content | undefined, after: Content | undefined];

/** Maximum number of listed differences that no other change covers. */
const MAX_KEPT = 1000;

/** Collects the differences that no other change covers. Only the first `most` are listed. Others are counted. */
export class UnreportedChanges {
  readonly found: Found[] = [];
  total = 0;
  readonly #reported: ReportedPlaces;
  readonly #most: number;

  constructor(reported: ReportedPlaces, most = MAX_KEPT) {
    this.#reported = reported;
    this.#most = most;
  }

  /** Adds all differences at and below the place, unless they are reported already. */
  add(sides: Sides, place: string): void {
    if (this.#reported.has(place)) return;
    const [before, after] = sides;
    if (before === undefined || after === undefined) this.#addOneSided(sides, place);
    else if (sortOf(before) !== sortOf(after)) this.#keep("other", sides, place);
    else if (sortOf(before) === "scalar") {
      if (contentJson(before) !== contentJson(after)) this.#keep("other", sides, place);
    } else this.#addInside([partsOf(before), partsOf(after)], place);
  }

  /** Adds content that only one side has: as a whole or, if other changes cover some of its parts, part by part. */
  #addOneSided(sides: Sides, place: string): void {
    const [before, after] = sides;
    if (before === after) return;
    if (this.#reported.hasBelow(place)) {
      const parts = [before, after].map((side) => (side === undefined ? new Map() : partsOf(side)));
      this.#addInside([parts[0]!, parts[1]!], place);
    } else this.#keep("other", sides, place);
  }

  #addInside([before, after]: readonly [Parts, Parts], place: string): void {
    const names = [...new Set([...before.keys(), ...after.keys()])];
    names.forEach((name, index) => this.add([before.get(name), after.get(name)], placeIn(place, name, index)));
    if (!(before instanceof Keyed && after instanceof Keyed)) return;
    const orders = [order(before, after), order(after, before)] as const;
    if (contentText(orders[0]) !== contentText(orders[1])) this.#keep("order", orders, place);
  }

  #keep(what: "other" | "order", [before, after]: Sides, place: string): void {
    this.total++;
    if (this.found.length >= this.#most) return;
    const texts = [before, after].map((side) => (side === undefined ? null : contentText(side)));
    // If the texts are equal, JSON shows the difference, such as between 3 and "3".
    const isAlike = texts[0] === texts[1];
    const [one, other] = isAlike ? [contentJson(before!), contentJson(after!)] : texts;
    this.found.push(found(what, { place, before: one!, after: other! }));
  }
}

type Parts = ReadonlyMap<string | number, Content>;

/** A keyed list whose order has a meaning. */
class Keyed extends Map<string | number, Content> {}

/** Returns the keys of `list` that `other` also has, in order. */
function order(list: Parts, other: Parts): string[] {
  return [...list.keys()].filter((key) => other.has(key)).map(String);
}

function sortOf(content: Content): "list" | "keyed" | "object" | "scalar" {
  if (Array.isArray(content)) return "list";
  if (content instanceof Map) return "keyed";
  return typeof content === "object" && content !== null && !(content instanceof JsonNumber) ? "object" : "scalar";
}

function partsOf(content: Content): Parts {
  if (content instanceof Map) return new Keyed(content);
  if (Array.isArray(content)) return new Map(content.entries());
  return new Map(sortOf(content) === "object" ? Object.entries(content as ContentObject) : []);
}

/** Returns a text unchanged, and other content as JSON with numbers as written and sorted members. */
export function contentText(content: Content): string {
  return typeof content === "string" ? content : contentJson(content);
}

/** Returns JSON with numbers as written and sorted members. */
export function contentJson(content: Content): string {
  if (content instanceof JsonNumber) return content.text;
  if (sortOf(content) === "scalar") return JSON.stringify(content);
  if (sortOf(content) !== "object") return `[${[...partsOf(content).values()].map(contentJson).join(",")}]`;
  const named = Object.entries(content as ContentObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${named.map(([name, value]) => `${JSON.stringify(name)}:${contentJson(value)}`).join(",")}}`;
}

/** The names in JSON of members that have another name when decoded. */
const WIRE_NAMES: Readonly<Record<string, string>> = { imageDigest: "image" };

/** Returns a decoded value, such as a manifest or CBOR, as a tree. */
export function contentOf(decoded: unknown): Content {
  if (decoded instanceof Uint8Array) return toHex(decoded);
  if (typeof decoded === "number" || typeof decoded === "bigint") return new JsonNumber(String(decoded));
  if (Array.isArray(decoded)) return decoded.map(contentOf);
  if (typeof decoded !== "object" || decoded === null) return decoded as Content;
  const named =
    decoded instanceof Map
      ? [...decoded].map(([key, member]): [string, unknown] => [
          key instanceof Uint8Array ? toHex(key) : String(key),
          member,
        ])
      : Object.entries(decoded).map(([name, member]): [string, unknown] => [WIRE_NAMES[name] ?? name, member]);
  const there = named.filter(([, member]) => member !== undefined);
  return Object.fromEntries(there.map(([name, member]) => [name, contentOf(member)]));
}

/** Functions that rewrite members of an object, by name, at any depth. */
export interface Rules {
  readonly [member: string]: Rules | ((content: Content) => Content);
}

/** Applies the rules. Content of an unexpected shape stays unchanged. */
export function rewritten(content: Content, rules: Rules): Content {
  if (sortOf(content) !== "object") return content;
  const copy = Object.create(null) as ContentObject;
  for (const [name, value] of Object.entries(content as ContentObject)) {
    const rule = Object.hasOwn(rules, name) ? rules[name]! : {};
    copy[name] = typeof rule === "function" ? rule(value) : rewritten(value, rule);
  }
  return copy;
}

/** Lower-cases hex, because its case has no meaning. */
export function anyCase(content: Content): Content {
  return typeof content === "string" ? content.toLowerCase() : content;
}

/** Lower-cases all texts of a value except comments. It is for values whose texts are hex. */
export function anyCaseInside(content: Content): Content {
  if (Array.isArray(content)) return content.map(anyCaseInside);
  if (sortOf(content) !== "object") return anyCase(content);
  const entries = Object.entries(content as ContentObject);
  return Object.assign(
    Object.create(null) as ContentObject,
    Object.fromEntries(entries.map(([name, value]) => [name, name === "comment" ? value : anyCaseInside(value)])),
  );
}

/** Turns a list into a Map of rewritten entries. Other content stays unchanged. */
export function keyed(content: Content, keyOf: (entry: Content) => string, rules: Rules): Content {
  if (!Array.isArray(content)) return content;
  return new Map([...byKey(content, keyOf)].map(([key, entry]) => [key, rewritten(entry, rules)]));
}

/** Returns a Map of a list. A repeated key gets a suffix such as ` (2)`, so no key may itself end in such a suffix. */
export function byKey<T>(list: readonly T[], keyOf: (entry: T, index: number) => string): Map<string, T> {
  const map = new Map<string, T>();
  const times = new Map<string, number>();
  list.forEach((entry, index) => {
    const key = keyOf(entry, index);
    const time = (times.get(key) ?? 0) + 1;
    times.set(key, time);
    map.set(time === 1 ? key : `${key} (${time})`, entry);
  });
  return map;
}

/** Returns the text of a member. The text is empty if the member is absent or not a text. */
export function memberText(entry: Content, ...path: readonly string[]): string {
  const content = contentAt(entry, path);
  return typeof content === "string" ? content : "";
}

/** Returns the content at a path, or undefined if it is absent. */
export function contentAt(content: Content | undefined, path: readonly string[]): Content | undefined {
  return path.reduce((inside, name) => (inside === undefined ? undefined : partsOf(inside).get(name)), content);
}
