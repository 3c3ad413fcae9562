/** Builds inspections. */
import { type ValueBudget, isJsonObject } from "../decode/json.js";
import { type Fault, faultsIn } from "../errors.js";
import { placeIn } from "./place.js";

/** A JSON value. Undefined members are omitted. */
export type Described = null | boolean | number | string | readonly Described[] | DescribedObject;
export interface DescribedObject {
  readonly [name: string]: Described | undefined;
}

/** The content of a file or a part of it, and its violations of the format. */
export interface Inspected {
  readonly faults: readonly Fault[];
  readonly says: Described;
}

/** Name for members that no reader knows. Names in parentheses are not from the file. */
export const UNKNOWN = "(unknown members)";
/** Name for known members with invalid values. The values are shown as they are. */
export const UNREADABLE = "(could not be read)";
export const BESIDE = "(beside it)";
export const NOT_BELIEVED = "(not believed)";
const LEFT_OUT = "(left out)";

const MAX_FAULTS = 1000;
/** Maximum number of entries in `leftOut`. */
const MAX_CUTS = 100;

/** Prefixes the faults of a part with its place. */
export function within(place: string, part: Pick<Inspected, "faults"> | undefined): Fault[] {
  return faultsIn(place, part?.faults ?? [], ": ");
}

/** A fault of the whole, without a place. */
export function flaw(message: string): Fault {
  return { path: "", message };
}

export function fewFaults(faults: readonly Fault[]): Fault[] {
  const rest = faults.length - MAX_FAULTS;
  return rest > 0 ? [...faults.slice(0, MAX_FAULTS), flaw(`and ${rest} more`)] : [...faults];
}

export async function inspectEach<T>(
  items: readonly T[],
  most: number,
  inspect: (item: T) => Inspected | Promise<Inspected>,
): Promise<Inspected> {
  const inspected: Inspected[] = [];
  for (const item of items.slice(0, most)) inspected.push(await inspect(item));
  const faults = fewFaults(inspected.flatMap((one, index) => within(`[${index}]`, one)));
  if (items.length > most) faults.push(flaw(`${items.length} entries, of which the first ${most} are shown`));
  return { faults, says: inspected.map(({ says }) => says) };
}

export function membersOf(value: unknown): DescribedObject {
  return isJsonObject(value) ? (value as DescribedObject) : {};
}

/**
 * Returns the members of a file. Those with a name that this package uses itself (`ours`) are moved to the unknown
 * members.
 */
export function besideOurs(ours: DescribedObject, members: DescribedObject): DescribedObject {
  const isTaken = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(ours, name);
  const entries = Object.entries(members);
  const taken = entries.filter(isTaken);
  const rest = Object.fromEntries(entries.filter((entry) => !isTaken(entry)));
  return taken.length === 0 ? rest : { ...rest, [UNKNOWN]: Object.fromEntries(taken) };
}

/**
 * Returns the parts of a file that were not read, because `read` lacks their names or indices. Null in `read` is a
 * value.
 */
export function restOf(file: unknown, read: unknown): Described | undefined {
  const isWhole = read instanceof Map || read instanceof Uint8Array;
  if (typeof file !== "object" || file === null || typeof read !== "object" || read === null || isWhole)
    return undefined;
  const isList = Array.isArray(file);
  return definedMembers(
    Object.entries(file).map(([name, member]: [string, unknown]) => {
      const has = Object.hasOwn(read, name) && (read as Record<string, unknown>)[name] !== undefined;
      const rest = has ? restOf(member, (read as Record<string, unknown>)[name]) : member;
      return [isList ? `[${name}]` : name, rest as Described | undefined];
    }),
  );
}

/**
 * A decoded object, and the names of the members that decode knows. If decode renames members, `members` maps each name
 * to its name in `value`.
 */
interface ReadObject {
  readonly value: object;
  readonly faults: readonly Fault[];
  readonly members: readonly string[] | Readonly<Record<string, string>>;
}

/** Returns the members of a file that are not shown as decoded: unreadable ones, and those that no reader uses. */
export function unshown(file: unknown, { value, faults, members }: ReadObject): DescribedObject {
  const isFaulty = (name: string): boolean =>
    faults.some(({ path }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  const isList = Array.isArray(members);
  const known = new Map(Object.entries(members).map(([name, becomes]) => [isList ? becomes : name, becomes]));
  const unreadable: [string, Described | undefined][] = [];
  const unknown: [string, Described | undefined][] = [];
  for (const [name, member] of Object.entries(membersOf(file))) {
    const becomes = known.get(name);
    const read = becomes === undefined ? {} : (value as Record<string, unknown>)[becomes];
    if (read === undefined || (becomes !== undefined && isFaulty(name))) unreadable.push([name, member]);
    else unknown.push([name, becomes === undefined ? member : restOf(member, read)]);
  }
  return { [UNREADABLE]: definedMembers(unreadable), [UNKNOWN]: definedMembers(unknown) };
}

/** Returns the members of a wrapper other than its content. */
export function besideIn(file: unknown, wrapper: string): DescribedObject {
  const others = Object.entries(membersOf(file)).filter(([name]) => name !== wrapper);
  return { [BESIDE]: Object.hasOwn(membersOf(file), wrapper) ? definedMembers(others) : undefined };
}

/** Returns the defined members, or undefined if there are none. */
export function definedMembers(
  entries: readonly (readonly [string, Described | undefined])[],
): DescribedObject | undefined {
  const defined = entries.filter(([, value]) => value !== undefined);
  return defined.length === 0 ? undefined : Object.fromEntries(defined);
}

/** Returns the defined members of an object, or the items of a list by index. */
export function entriesOf(value: readonly Described[] | DescribedObject): [name: string, value: Described][] {
  return Object.entries(value).filter((entry): entry is [string, Described] => entry[1] !== undefined);
}

/** Shortens lists and objects until the budget suffices. */
export function bounded(
  value: Described,
  budget: ValueBudget,
): { readonly value: Described; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  const boundedAt = (part: Described, path: string): Described => {
    budget.left--;
    if (part === null || typeof part !== "object") return part;
    const isList = Array.isArray(part);
    const entries = entriesOf(part);
    const shown: [string, Described][] = [];
    for (const [name, item] of entries) {
      if (budget.left <= 0) break;
      shown.push([name, boundedAt(item, placeIn(path, isList ? Number(name) : name, shown.length))]);
    }
    const rest = entries.length - shown.length;
    if (rest > 0 && leftOut.length < MAX_CUTS)
      leftOut.push([path, `${rest} of ${entries.length} ${isList ? "entries" : "members"}`].filter(Boolean).join(": "));
    if (isList) return [...shown.map(([, item]) => item), ...(rest > 0 ? [`and ${rest} more`] : [])];
    return Object.fromEntries(rest > 0 ? [...shown, [LEFT_OUT, `${rest} more`]] : shown);
  };
  return { value: boundedAt(value, ""), leftOut };
}
