/**
 * Arguments of callers, for tests that change them: copies, copies with getters, ruined ones, and members inherited
 * from `Object.prototype`.
 */

/** A function, and its arguments. */
export interface Door {
  /** New at each call, so that it can be ruined. */
  readonly given: () => readonly unknown[];
  readonly through: (...given: never[]) => unknown;
}

/** A call of plain data: dates, bytes, lists and objects are copied; instances and frozen objects are not. */
export function door<A extends readonly unknown[] | []>(given: A, through: (...given: A) => unknown): Door {
  return { given: () => clone(given) as A, through: through as Door["through"] };
}

/** An object of plain data, which its owner may change. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype;
}

export function clone(value: unknown): unknown {
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(clone);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clone(member)]));
}

/** Arguments that note how they are read. */
export interface Observed {
  readonly values: readonly unknown[];
  /** Members that were read twice. */
  readonly again: readonly string[];
  /** Changes everything that can be changed: the call has returned. */
  readonly close: () => void;
  /** Changes all bytes once more: the call has ended. */
  readonly end: () => void;
}

/** A copy whose members are getters: each returns another value the second time, and once closed. */
export function observed(given: readonly unknown[]): Observed {
  const again: string[] = [];
  const leaves: unknown[] = [];
  let isClosed = false;
  const made = (value: unknown, path: string): unknown => {
    if (isPlain(value)) {
      const members = Object.entries(value).map(([name, member]) => {
        const here = `${path}.${name}`;
        const first = made(member, here);
        let reads = 0;
        const get = (): unknown => {
          const isFirst = reads++ === 0;
          if (!isFirst) again.push(here);
          return isFirst && !isClosed ? first : RUINED.get(typeof member);
        };
        return [name, { get, enumerable: true, configurable: true }] as const;
      });
      return Object.defineProperties({}, Object.fromEntries(members));
    }
    const isList = Array.isArray(value);
    const leaf = isList ? value.map((item, index) => made(item, `${path}[${index}]`)) : clone(value);
    leaves.push(leaf);
    return leaf;
  };
  const values = given.map((value, index) => made(value, `[${index}]`));
  const close = (): void => {
    isClosed = true;
    leaves.forEach(ruin);
  };
  const end = (): void => leaves.forEach((leaf) => leaf instanceof Uint8Array && leaf.fill(0));
  return { values, again, close, end };
}

function ruin(leaf: unknown): void {
  if (leaf instanceof Date) leaf.setTime(0);
  else if (leaf instanceof Uint8Array) leaf.fill(0x20);
  else if (Array.isArray(leaf) && !Object.isFrozen(leaf)) leaf.length = 0;
}

const RUINED = new Map<string, unknown>([
  ["string", "ruined"],
  ["number", 1],
  ["boolean", true],
  ["symbol", undefined],
]);

/** The steps to a member of the arguments, such as `1`, `expected`, `id`. */
export type Steps = readonly (string | number)[];

/** A copy that tells each name that is looked up in a plain object of it, and is not there: the name of an option. */
export function watched(value: unknown, missed: (steps: Steps) => void, steps: Steps = []): unknown {
  if (Array.isArray(value)) return value.map((item, index) => watched(item, missed, [...steps, index]));
  if (!isPlain(value)) return clone(value);
  const members = Object.entries(value).map(([name, member]) => [name, watched(member, missed, [...steps, name])]);
  const told = (target: object, name: string | symbol): void => {
    if (typeof name === "string" && !Object.hasOwn(target, name)) missed([...steps, name]);
  };
  return new Proxy(Object.fromEntries(members) as object, {
    getOwnPropertyDescriptor: (target, name) => {
      told(target, name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    get: (target, name): unknown => {
      if (!(name in Object.prototype) && name !== "toJSON" && name !== "then") told(target, name);
      return Reflect.get(target, name);
    },
  });
}

/** A copy in which these members are undefined, or not there. */
export function changed(value: unknown, all: readonly Steps[], how: "undefined" | "deleted"): unknown {
  const copy = clone(value);
  for (const steps of all) {
    const holder = steps.slice(0, -1).reduce<unknown>((one, step) => (one as Record<string, unknown>)[step], copy);
    if (how === "undefined") Object.assign(holder as object, { [steps.at(-1)!]: undefined });
    else Reflect.deleteProperty(holder as object, steps.at(-1)!);
  }
  return copy;
}

/** The names of the members of the plain object at these steps. */
export function namesAt(value: unknown, steps: Steps): string[] {
  const holder = steps.reduce<unknown>((one, step) => (one as Record<string, unknown>)[step], value);
  return Object.keys(holder as object);
}

/** The result of a call, or the text of its error. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : error };
  }
}

/** Calls while every object without such members of its own inherits these. */
export async function polluted<T>(members: Readonly<Record<string, unknown>>, call: () => Promise<T>): Promise<T> {
  for (const [name, value] of Object.entries(members)) {
    // An accessor whose setter makes an own member, as assignment to an object without it does.
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      get: () => value,
      set(this: object, own: unknown) {
        Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
      },
    });
  }
  try {
    return await call();
  } finally {
    for (const name of Object.keys(members)) Reflect.deleteProperty(Object.prototype, name);
  }
}
