/**
 * Detection of names that some decoders confuse with another name (decode/README.md, "Activities"), such as `Addresses`
 * and `addresses`. Such a decoder could read a value other than the verified one.
 */
import { type Fault, shownName } from "../errors.js";
import { type JsonObject, type JsonValue, folded, isJsonObject, memberPath } from "./json.js";
import { equalJson } from "./json-numbers.js";

/** Names that checks read in an object. Each maps to the names that are read in its value or list items. */
export interface NamesRead {
  readonly [name: string]: NamesRead;
}

const NONE: NamesRead = {};

interface Search {
  readonly path: string;
  readonly faults: Fault[];
  /** Names that are read at any depth. */
  readonly anywhere?: NamesRead;
}

/**
 * Adds a fault for each other spelling of a name in `names`. If `names` has several spellings of one name, their values
 * must be equal. Any other name is allowed.
 */
export function collectFoldedNames(value: JsonValue | undefined, names: NamesRead, search: Search): void {
  const { path, faults, anywhere = NONE } = search;
  const known = new Map<NamesRead, Names>();
  const namesIn = (read: NamesRead): Names => {
    const found = known.get(read) ?? new Names({ ...anywhere, ...read });
    known.set(read, found);
    return found;
  };
  const visit = (inner: JsonValue, read: NamesRead, at: string): void => {
    if (Array.isArray(inner)) for (const [index, item] of inner.entries()) visit(item, read, `${at}[${index}]`);
    if (!isJsonObject(inner) || namesIn(read).isEmpty) return;
    namesIn(read).collect(inner, at, faults);
    for (const [index, [name, member]] of Object.entries(inner).entries())
      if (typeof member === "object") visit(member, namesIn(read).inside(name), memberPath(at, name, index));
  };
  visit(value ?? null, names, path);
}

/** The names of one object. */
class Names {
  readonly #read: NamesRead;
  /** One spelling of each name, by its folded form. */
  readonly #byFolded: ReadonlyMap<string, string>;

  constructor(read: NamesRead) {
    this.#read = read;
    this.#byFolded = new Map(Object.keys(read).map((name) => [folded(name), name]));
  }

  get isEmpty(): boolean {
    return this.#byFolded.size === 0;
  }

  inside(name: string): NamesRead {
    return Object.hasOwn(this.#read, name) ? this.#read[name]! : NONE;
  }

  collect(object: JsonObject, path: string, faults: Fault[]): void {
    const seen = new Map<string, string>();
    for (const [index, name] of Object.keys(object).entries()) {
      const wanted = this.#byFolded.get(folded(name));
      if (wanted === undefined) continue;
      const first = seen.get(wanted);
      const fault = (message: string): unknown => faults.push({ path: memberPath(path, name, index), message });
      if (!Object.hasOwn(this.#read, name)) fault(`another spelling of ${shownName(wanted)}, the required spelling`);
      else if (first === undefined) seen.set(wanted, name);
      else if (!equalJson(object[first], object[name])) fault(`differs from ${shownName(first)}, its other spelling`);
    }
  }
}
