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

/** The result of a call, or the text of its error. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : error };
  }
}

/** Calls while every object without such members of its own inherits them. Those without a value are noted if read. */
export async function polluted<T>(
  members: ReadonlyMap<string, unknown>,
  call: () => Promise<T>,
): Promise<{ readonly answer: T; readonly inherited: readonly string[] }> {
  const inherited: string[] = [];
  for (const [name, value] of members) {
    // An accessor whose setter makes an own member, as assignment to an object without it does.
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      get: () => (value === undefined ? void inherited.push(name) : value),
      set(this: object, own: unknown) {
        Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
      },
    });
  }
  try {
    return { answer: await call(), inherited };
  } finally {
    for (const name of members.keys()) Reflect.deleteProperty(Object.prototype, name);
  }
}
