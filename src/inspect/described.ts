/** Builds inspections. */
import { toHex } from "../bytes.js";
import type { JsonValue, ValueBudget } from "../decode/json.js";
import { isJsonObject } from "../decode/json.js";
import { type Fault, faultText } from "../errors.js";
import type { EvidenceKind } from "./kinds.js";

/** A JSON value. Undefined members are omitted. */
export type Described = null | boolean | number | string | readonly Described[] | DescribedObject;
export interface DescribedObject {
  readonly [name: string]: Described | undefined;
}

/** The result for one kind. */
export interface Inspected {
  readonly kind: EvidenceKind;
  readonly encoding: string;
  readonly faults: readonly string[];
  readonly says: Described;
}

/** Names in parentheses are added by this package. */
export const UNKNOWN = "(unknown members)";
/** Known members with invalid values, unchanged. */
export const UNREADABLE = "(could not be read)";
export const BESIDE = "(beside it)";
export const NOT_BELIEVED = "(not believed)";
const LEFT_OUT = "(left out)";

const MAX_FAULTS = 1000;
/** Limits `leftOut`. */
const MAX_CUTS = 100;

export function inspectedAs(
  kind: EvidenceKind,
  encoding: string,
  faults: readonly Fault[],
  says: Described,
): Inspected {
  return { kind, encoding, faults: faultList(faults), says };
}

export function faultList(faults: readonly Fault[]): string[] {
  return faults.map((fault) => faultText([fault]));
}

/** Prefixes the faults of a part with its place. */
export function within(place: string, inspected: Pick<Inspected, "faults"> | undefined): string[] {
  return (inspected?.faults ?? []).map((fault) => `${place}: ${fault}`);
}

export function fewFaults(faults: readonly string[]): string[] {
  const rest = faults.length - MAX_FAULTS;
  return rest > 0 ? [...faults.slice(0, MAX_FAULTS), `and ${rest} more`] : [...faults];
}

export async function inspectEach<T>(
  items: readonly T[],
  most: number,
  inspect: (item: T) => Inspected | Promise<Inspected>,
): Promise<Pick<Inspected, "faults"> & { readonly says: Described[] }> {
  const inspected: Inspected[] = [];
  for (const item of items.slice(0, most)) inspected.push(await inspect(item));
  const faults = fewFaults(inspected.flatMap((one, index) => within(`[${index}]`, one)));
  if (items.length > most) faults.push(`${items.length} entries, of which the first ${most} are shown`);
  return { faults, says: inspected.map(({ says }) => says) };
}

export function hexOf(bytes: Uint8Array | null | undefined): string | null | undefined {
  return bytes && toHex(bytes);
}

export function timeOf(time: Date): string {
  return time.toISOString();
}

export function membersOf(value: unknown): DescribedObject {
  return isJsonObject(value) ? (value as DescribedObject) : {};
}

/** A member with the name of one of ours moves to the unknown members. */
export function besideOurs(ours: DescribedObject, members: DescribedObject): DescribedObject {
  const isTaken = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(ours, name);
  const entries = Object.entries(members);
  const taken = entries.filter(isTaken);
  const rest = Object.fromEntries(entries.filter((entry) => !isTaken(entry)));
  return taken.length === 0 ? rest : { ...rest, [UNKNOWN]: Object.fromEntries(taken) };
}

/** The parts of a JSON value that a description covers: all, some members of an object, or a part of each item. */
export type DescribedParts = true | { readonly [name: string]: DescribedParts } | readonly [DescribedParts];

export function wholeMembers(...names: readonly string[]): Readonly<Record<string, true>> {
  return Object.fromEntries(names.map((name) => [name, true as const]));
}

/** The parts that a description does not cover, or undefined. Null is always covered. */
export function undescribed(value: unknown, told: DescribedParts): Described | undefined {
  if (told === true || value === null || value === undefined) return undefined;
  if (isItemTold(told)) {
    if (!Array.isArray(value)) return value as Described;
    return objectOf(value.map((item: JsonValue, index) => [`[${index}]`, undescribed(item, told[0])]));
  }
  if (!isJsonObject(value)) return value as Described;
  return objectOf(
    Object.entries(value).map(([name, member]) => [
      name,
      Object.hasOwn(told, name) ? undescribed(member, told[name]!) : (member as Described),
    ]),
  );
}

function isItemTold(told: DescribedParts): told is readonly [DescribedParts] {
  return Array.isArray(told);
}

function objectOf(entries: readonly (readonly [string, Described | undefined])[]): DescribedObject | undefined {
  const defined = entries.filter(([, value]) => value !== undefined);
  return defined.length === 0 ? undefined : Object.fromEntries(defined);
}

export function unreadMembers(
  object: DescribedObject,
  isRead: Readonly<Record<string, boolean>>,
): DescribedObject | undefined {
  return objectOf(
    Object.entries(isRead)
      .filter(([name, read]) => !read && Object.hasOwn(object, name))
      .map(([name]) => [name, object[name]]),
  );
}

/** Shortens lists and objects to the budget. */
export function bounded(
  value: Described,
  budget: ValueBudget,
): { readonly value: Described; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  return { value: boundedValue(value, "", budget, leftOut), leftOut };
}

function boundedValue(value: Described, path: string, budget: ValueBudget, leftOut: string[]): Described {
  budget.left--;
  if (value === null || typeof value !== "object") return value;
  const isList = Array.isArray(value);
  const entries = Object.entries(value as DescribedObject).filter(
    (entry): entry is [string, Described] => entry[1] !== undefined,
  );
  const shown: [string, Described][] = [];
  for (const [name, item] of entries) {
    if (budget.left <= 0) break;
    shown.push([name, boundedValue(item, pathOf(path, name, isList), budget, leftOut)]);
  }
  const rest = entries.length - shown.length;
  if (rest > 0 && leftOut.length < MAX_CUTS)
    leftOut.push(`${path === "" ? "" : `${path}: `}${rest} of ${entries.length} ${isList ? "entries" : "members"}`);
  if (isList) return [...shown.map(([, item]) => item), ...(rest > 0 ? [`and ${rest} more`] : [])];
  return Object.fromEntries(rest > 0 ? [...shown, [LEFT_OUT, `${rest} more`]] : shown);
}

const MAX_PATH = 256;

/** The parent's place beyond the maximal length. */
function pathOf(path: string, name: string, isList: boolean): string {
  if (path.length + name.length > MAX_PATH) return path;
  if (isList) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}
