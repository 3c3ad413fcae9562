/** JSON as a tree that can hold a member twice, or text that is none: for changing. */
import { type Around, changeText } from "./mutate.js";
import type { Random } from "./random.js";

export type Tree =
  | { readonly kind: "object"; readonly members: [name: string, value: Tree][] }
  | { readonly kind: "array"; readonly items: Tree[] }
  | { readonly kind: "string"; readonly text: string }
  /** Numbers and words; or anything at all. */
  | { readonly kind: "raw"; readonly text: string };

/** Null where the text is not JSON. */
export function jsonTree(text: string): Tree | null {
  try {
    return treeOf(JSON.parse(text));
  } catch {
    return null;
  }
}

function treeOf(value: unknown): Tree {
  if (typeof value === "string") return { kind: "string", text: value };
  if (Array.isArray(value)) return { kind: "array", items: value.map(treeOf) };
  if (typeof value !== "object" || value === null) return { kind: "raw", text: String(value) };
  return { kind: "object", members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]) };
}

/** In JSON's shortest spelling; now and then one string in escapes, or with white space between the parts. */
export function jsonText(tree: Tree, random: Random): string {
  const space = random.oneIn(20) ? random.pick([" ", "\n", "\t\r\n"]) : "";
  const escapes = random.oneIn(20);
  const quoted = (text: string): string => {
    if (!escapes || !random.oneIn(8)) return JSON.stringify(text);
    const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"));
    return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
  };
  const write = (node: Tree): string => {
    if (node.kind === "raw") return node.text;
    if (node.kind === "string") return quoted(node.text);
    if (node.kind === "array") return `[${space}${node.items.map(write).join(`,${space}`)}]`;
    return `{${node.members.map(([name, value]) => `${quoted(name)}${space}:${write(value)}`).join(`,${space}`)}}`;
  };
  return write(tree);
}

/** Where a value stands: reads and replaces it. */
interface Place {
  readonly value: Tree;
  readonly set: (value: Tree) => void;
}

function placesOf(root: { value: Tree }): Place[] {
  const places: Place[] = [];
  const visit = (value: Tree, set: Place["set"]): void => {
    places.push({ value, set });
    if (value.kind === "array") value.items.forEach((item, at) => visit(item, (other) => (value.items[at] = other)));
    if (value.kind === "object") for (const member of value.members) visit(member[1], (other) => (member[1] = other));
  };
  visit(root.value, (value) => (root.value = value));
  return places;
}

const RAW = [
  "0",
  "-0",
  "1",
  "-1",
  "1.0",
  "1e2",
  "1E-7",
  "1e999",
  "0.1",
  "4294967295",
  "4294967296",
  "9007199254740993",
  "18446744073709551616",
  "123456789012345678901234567890",
  "null",
  "true",
  "false",
  '""',
  "{}",
  "[]",
  "[[]]",
  "NaN",
  "01",
  '"\\ud800"',
  '"\\u0000"',
  '"\u202e"',
  '"\\u001b[2J"',
  '"__proto__"',
  '{"__proto__":1}',
  '{"a":1,"a":2}',
  "[1,]",
  "[".repeat(70) + "]".repeat(70),
  '"0x00"',
  '"00"',
  '"1"',
  '"-1"',
  '"4294967296"',
  `"${"a".repeat(5000)}"`,
];
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "a",
  "version",
  "type",
  "activity",
  "bootProof",
  "result",
  "\u0000",
];

/** One change: of a text by what it is, of a list by its entries, of anything by something else. */
export function changeJson(tree: Tree, around: Around): Tree {
  const { random } = around;
  const root = { value: tree };
  const places = placesOf(root);
  const { value, set } = random.pick(places);
  switch (random.below(8)) {
    case 0:
      set({ kind: "raw", text: random.pick(RAW) });
      return root.value;
    case 1: {
      // Never around itself: what is put in is a copy.
      set(structuredClone(random.pick(places).value));
      return root.value;
    }
    case 2: {
      const other = jsonTree(Buffer.from(random.pick(around.others)).toString("utf8"));
      if (other === null) break;
      set(random.pick(placesOf({ value: other })).value);
      return root.value;
    }
  }
  changeValue(value, set, around);
  return root.value;
}

function changeValue(value: Tree, set: Place["set"], around: Around): void {
  const { random } = around;
  if (value.kind === "string") set({ kind: "string", text: changeText(value.text, around) });
  else if (value.kind === "raw") set(changedWord(value.text, random));
  else if (value.kind === "array") changeEntries(value.items, random);
  else changeMembers(value.members, random);
}

function changedWord(text: string, random: Random): Tree {
  if (random.oneIn(4)) return { kind: "string", text };
  const number = Number(text);
  const near = [number + 1, number - 1, -number, number * 1000, 0];
  return { kind: "raw", text: Number.isFinite(number) ? String(random.pick(near)) : random.pick(RAW) };
}

function changeMembers(members: [string, Tree][], random: Random): void {
  const member = random.pick(members) as [string, Tree] | undefined;
  if (random.oneIn(5) || member === undefined) {
    members.push([random.pick(NAMES), { kind: "raw", text: random.pick(RAW) }]);
    return;
  }
  if (random.oneIn(4)) member[0] = random.oneIn(2) ? random.pick(NAMES) : random.pick(members)[0];
  else changeEntries(members, random);
}

function changeEntries<T>(entries: T[], random: Random): void {
  const at = random.below(entries.length);
  const entry = entries[at];
  if (entry === undefined) return;
  switch (random.below(4)) {
    case 0:
      entries.splice(at, 1);
      return;
    case 1:
      for (let left = random.pick([1, 1, 3, 300]); left > 0; left--) entries.splice(at, 0, structuredClone(entry));
      return;
    default:
      entries.splice(at, 1);
      entries.splice(random.below(entries.length + 1), 0, entry);
  }
}
