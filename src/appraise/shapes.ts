/**
 * What a member of the policy file may be: its JSON Schema, its words for a fault, and how it is read. Reading costs
 * time in proportion to the input, and what it answers cannot be changed.
 */
import { fromHex, toHex } from "../bytes.js";
import { type JsonObject, type JsonValue, isJsonObject, jsonKind } from "../decode/json.js";
import { type Fault, shownName } from "../errors.js";

export interface PolicyShape<T> {
  /** JSON Schema (draft 2020-12). */
  readonly schema: JsonObject;
  /** What is wanted, such as `hex of 96 digits`. */
  readonly words: string;
  /** Undefined where there is a fault, which the place keeps. */
  readonly read: (value: JsonValue, place: PolicyPlace) => T | undefined;
}

/** The most faults that are kept: the input decides how many there are. */
const MAX_FAULTS = 100;
/** Of a name that a known one is looked for. */
const MAX_COMPARED_NAME = 64;

/** Where a value stands in its input. The path is made only for a fault that is kept. */
export class PolicyPlace {
  readonly faults: Fault[];
  readonly #within: { readonly place: PolicyPlace; readonly step: string | number } | null;

  constructor(
    faults: Fault[] = [],
    within: { readonly place: PolicyPlace; readonly step: string | number } | null = null,
  ) {
    this.faults = faults;
    this.#within = within;
  }

  at(step: string | number): PolicyPlace {
    return new PolicyPlace(this.faults, { place: this, step });
  }

  fault(message: string | (() => string)): undefined {
    if (this.faults.length >= MAX_FAULTS) return undefined;
    this.faults.push({ path: this.path, message: typeof message === "string" ? message : message() });
    return undefined;
  }

  get path(): string {
    if (this.#within === null) return "";
    const { place, step } = this.#within;
    const before = place.path;
    if (typeof step === "number") return `${before}[${step}]`;
    return before === "" ? shownName(step) : `${before}.${shownName(step)}`;
  }
}

/** The value of a shape by a test of what it is. */
function simple<T>(schema: JsonObject, words: string, read: (value: JsonValue) => T | undefined): PolicyShape<T> {
  return {
    schema,
    words,
    read: (value, place) => read(value) ?? place.fault(() => `${jsonKind(value)}, ${words} wanted`),
  };
}

export const anyText = simple({ type: "string" }, "a string", (value) =>
  typeof value === "string" ? value : undefined,
);

/** Of what reports repeat. */
const MAX_NAME = 256;

/** A text of so many characters, that reports repeat. */
export function short(least: number): PolicyShape<string> {
  return {
    schema: { type: "string", minLength: least, maxLength: MAX_NAME },
    words: "a string",
    read: (value, place) => {
      const read = anyText.read(value, place);
      if (read === undefined) return undefined;
      // As JSON Schema counts: an emoji is one character.
      if ([...read].length > MAX_NAME) return place.fault(`longer than ${MAX_NAME} characters`);
      return read.length < least ? place.fault("empty") : read;
    },
  };
}

export const nonEmptyText: PolicyShape<string> = {
  schema: { type: "string", minLength: 1 },
  words: "a string",
  read: (value, place) => (value === "" ? place.fault("empty") : anyText.read(value, place)),
};

export const trueOrFalse = simple({ type: "boolean" }, "true or false", (value) =>
  typeof value === "boolean" ? value : undefined,
);

/** One of a list of texts. */
export function choice<T extends string>(choices: readonly T[]): PolicyShape<T> {
  const words = choices
    .map((one) => JSON.stringify(one))
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");
  return {
    schema: { enum: [...choices] },
    words,
    read: (value, place) =>
      choices.find((one) => one === value) ??
      place.fault(() => `${typeof value === "string" ? "" : `${jsonKind(value)}, `}${words} wanted`),
  };
}

/** A whole number of 32 bits. */
export function wholeNumber(least: number): PolicyShape<number> {
  const most = 0xffffffff;
  const words = `a whole number of ${least} or more`;
  return {
    schema: { type: "integer", minimum: least, maximum: most },
    words,
    read: (value, place) => {
      const number = value as number;
      if (Number.isInteger(number) && number >= least && number <= most) return number;
      return place.fault(() => `${typeof value === "number" ? value : jsonKind(value)}, ${words} wanted`);
    },
  };
}

const DURATION = /^([1-9][0-9]{0,8})([smhd])$/;
const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In milliseconds, once read. */
export const duration = simple(
  { type: "string", pattern: DURATION.source },
  'a duration such as "10m", "12h" or "30d"',
  (value) => {
    const parts = typeof value === "string" ? DURATION.exec(value) : null;
    return parts === null ? undefined : Number(parts[1]) * DURATION_UNITS[parts[2]!]!;
  },
);

/**
 * A byte string of that many bytes, in hex of either case. Once read it is hex in lower case: a Uint8Array cannot be
 * frozen, and of this spelling each value has one, so that equal texts are equal bytes.
 */
export function hex(least: number, most = least): PolicyShape<string> {
  const digits = least === most ? `${2 * least}` : `${2 * least} to ${2 * most}`;
  const words = `hex of ${digits} digits`;
  return {
    schema: { type: "string", pattern: `^[0-9a-fA-F]{${2 * least},${2 * most}}$` },
    words,
    read: (value, place) => {
      if (typeof value !== "string") return place.fault(() => `${jsonKind(value)}, ${words} wanted`);
      const length = value.length / 2;
      const bytes = length >= least && length <= most ? fromHex(value) : null;
      if (bytes !== null) return toHex(bytes);
      if (!/^[0-9a-fA-F]*$/.test(value)) return place.fault(`not hex, ${digits} digits wanted`);
      return place.fault(`${value.length} hex digits, ${digits} wanted`);
    },
  };
}

interface ListLimits {
  readonly least?: number;
  readonly most?: number;
}

export function arrayOf<T>(
  item: PolicyShape<T>,
  { least = 1, most = Number.POSITIVE_INFINITY }: ListLimits = {},
): PolicyShape<readonly T[]> {
  return {
    schema: { type: "array", items: item.schema, minItems: least, ...(Number.isFinite(most) && { maxItems: most }) },
    words: "an array",
    read: (value, place) => {
      if (!Array.isArray(value)) return place.fault(() => `${jsonKind(value)}, an array wanted`);
      if (value.length < least) return place.fault("empty: at least one wanted");
      if (value.length > most) return place.fault(`${value.length} entries, at most ${most} allowed`);
      const read = value.map((one, index) => item.read(one, place.at(index))).filter((one) => one !== undefined);
      return read.length === value.length ? Object.freeze(read) : undefined;
    },
  };
}

/** One value, or an array of accepted ones; an array once read. */
export function oneOrMore<T>(one: PolicyShape<T>): PolicyShape<readonly T[]> {
  const many = arrayOf(one);
  return {
    schema: { anyOf: [one.schema, many.schema] },
    words: one.words,
    read: (value, place) => {
      if (Array.isArray(value)) return many.read(value, place);
      const read = one.read(value, place);
      return read === undefined ? undefined : Object.freeze([read]);
    },
  };
}

/** For people, on any object; changes nothing. */
export const COMMENT = "comment";

/** An object whose members' names are data, by which they are read. */
export function record<T>(
  words: string,
  entry: {
    readonly name: (name: string) => string | null;
    readonly nameSchema: JsonObject;
    readonly value: PolicyShape<T>;
  },
  least = 0,
): PolicyShape<Readonly<Record<string, T>>> {
  return {
    schema: {
      type: "object",
      properties: { [COMMENT]: anyText.schema },
      propertyNames: entry.nameSchema,
      additionalProperties: entry.value.schema,
      ...(least > 0 && { minProperties: least }),
    },
    words,
    read: (value, place) => {
      if (!isJsonObject(value)) return place.fault(() => `${jsonKind(value)}, an object wanted`);
      const result = Object.create(null) as Record<string, T>;
      let whole = true;
      let count = 0;
      for (const [name, member] of Object.entries(value)) {
        if (name === COMMENT) {
          whole = anyText.read(member, place.at(name)) !== undefined && whole;
          continue;
        }
        count++;
        const fault = entry.name(name);
        if (fault !== null) place.at(name).fault(fault);
        const read = entry.value.read(member, place.at(name));
        if (read === undefined || fault !== null) whole = false;
        else result[name] = read;
      }
      if (count < least) return place.fault("empty: what is not pinned is left out");
      return whole ? Object.freeze(result) : undefined;
    },
  };
}

/** The shapes of an object's members, by name. */
export type PolicyShapes<T> = { readonly [K in keyof T]-?: PolicyShape<T[K]> };

/**
 * Reads the members of an object, and refuses every other. A member that is named and has a fault is there as
 * undefined. Not frozen: who asked for it does that.
 */
export function readMembers<T>(
  value: JsonValue,
  members: PolicyShapes<T>,
  required: readonly (keyof T & string)[],
  place: PolicyPlace,
): Partial<T> | undefined {
  if (!isJsonObject(value)) return place.fault(() => `${jsonKind(value)}, an object wanted`);
  const result: Partial<T> = Object.create(null) as Partial<T>;
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(members, name))
      result[name as keyof T] = members[name as keyof T].read(member, place.at(name)) as T[keyof T];
    else if (name === COMMENT) anyText.read(member, place.at(name));
    else place.at(name).fault(() => `unknown member${nearest(name, Object.keys(members))}`);
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) place.at(name).fault(`missing, ${members[name].words} wanted`);
  }
  return result;
}

export function membersSchema<T>(members: PolicyShapes<T>, required: readonly (keyof T & string)[]): JsonObject {
  const shapes = Object.entries(members) as [string, PolicyShape<unknown>][];
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(shapes.map(([name, shape]) => [name, shape.schema])),
      [COMMENT]: anyText.schema,
    },
    required: [...required],
    additionalProperties: false,
  };
}

/** An object of these members. */
export function object<T extends object, R extends keyof T & string = never>(
  members: PolicyShapes<T>,
  required: readonly R[] = [],
): PolicyShape<Readonly<Partial<T> & Pick<T, R>>> {
  return {
    schema: membersSchema(members, required),
    words: "an object",
    read: (value, place) => {
      const read = readMembers(value, members, required, place);
      const whole = read !== undefined && required.every((name) => read[name] !== undefined);
      return whole ? Object.freeze(read as Partial<T> & Pick<T, R>) : undefined;
    },
  };
}

/** Words for the known name that is nearest, where one is near. */
export function nearest(name: string, known: readonly string[]): string {
  if (name.length > MAX_COMPARED_NAME) return "";
  const best = known
    .map((one) => ({ one, distance: editDistance(name.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0]!;
  return best.distance <= Math.ceil(best.one.length / 2) ? `, did you mean ${best.one}?` : "";
}

/** How many letters have to be put in, taken out or exchanged (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
