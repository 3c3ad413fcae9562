/** The errors this package throws. Each has a stable `code` and carries its facts as fields. */

/** One thing that is wrong with an input: where, and what was found against what was wanted. */
export interface Fault {
  /** Place inside the input, such as `pivot.hash` or `pcrs.0`; empty for the input as a whole. */
  readonly path: string;
  /** A sentence fragment for a person, such as `95 hex digits, 96 wanted`. */
  readonly message: string;
}

const MAX_FAULTS = 100;
/** Characters. Names and values of the input stand in paths and messages, and each may be as long as the input. */
const MAX_PATH = 256;
const MAX_MESSAGE = 1000;
const MAX_TEXT = 8192;
const MAX_NAME = 64;

/** The beginning of a text that is longer than so many characters, and how long it is; never half of a character. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${startOf(text, most)}… (${text.length} characters)` : text;
}

/** A name that somebody else chose, as it stands in paths and sentences. */
export function shownName(name: string, most = MAX_NAME): string {
  return name.length > most ? `${startOf(name, most)}…` : name;
}

/** Without the first half of a pair of surrogates: alone it is no text, and strict JSON refuses it. */
export function startOf(text: string, length: number): string {
  return text.length > length ? text.slice(0, length).replace(/[\ud800-\udbff]$/, "") : text;
}

function cutFault({ path, message }: Fault): Fault {
  return { path: shownName(path, MAX_PATH), message: cut(message, MAX_MESSAGE) };
}

/**
 * The faults of one input, while it is read: the first hundred, and of the others their number, which the last entry
 * says. The input decides how many faults it has, and a list of all of them is many times its size.
 */
export class FaultList extends Array<Fault> {
  #total = 0;

  /** What `map` and its like make of the list is an array like any other. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** How many there were. */
  get total(): number {
    return this.#total;
  }

  override push(...faults: Fault[]): number {
    for (const fault of faults) {
      this.#total++;
      if (this.length < MAX_FAULTS) super.push(cutFault(fault));
    }
    this.#countRest();
    return this.length;
  }

  /** Takes over those of another list, and the number of those that it did not keep. */
  pushAll(other: FaultList): void {
    if (other.total === 0) return;
    this.push(...other.slice(0, MAX_FAULTS));
    this.#total += Math.max(0, other.total - MAX_FAULTS);
    this.#countRest();
  }

  #countRest(): void {
    if (this.#total > MAX_FAULTS) this[MAX_FAULTS] = { path: "", message: `and ${this.#total - MAX_FAULTS} more` };
  }
}

export function faultText(faults: readonly Fault[]): string {
  const first = faults.slice(0, MAX_LISTED + 1).map(cutFault);
  const texts = first.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return cut(listed(texts, "; ", faults instanceof FaultList ? faults.total : faults.length), MAX_TEXT);
}

const MAX_LISTED = 32;

/** The first of many, and how many more there are: evidence decides how many faults it has. */
export function listed(texts: readonly string[], separator: string, total = texts.length): string {
  const rest = total - MAX_LISTED;
  return rest > 0 ? `${texts.slice(0, MAX_LISTED).join(separator)}${separator}and ${rest} more` : texts.join(separator);
}

export type MalformedCode =
  | "json"
  | "cbor"
  | "cose-sign1"
  | "attestation-document"
  | "certificate"
  | "manifest"
  | "manifest-envelope"
  | "boot-proof"
  | "app-proof"
  | "app-proof-payload"
  | "activity"
  | "policy"
  | "bundle"
  | "trust-anchor"
  | "page"
  | "release"
  | "log"
  | "diff"
  | "image";

/** An input that is not what it has to be. `faults` names everything that is wrong, not the first thing only. */
export class MalformedError extends Error {
  override readonly name = "MalformedError";
  readonly code: MalformedCode;
  readonly faults: readonly Fault[];

  constructor(code: MalformedCode, faults: readonly Fault[]) {
    super(`malformed ${code}: ${faultText(faults)}`);
    this.code = code;
    this.faults = faults instanceof FaultList ? faults : faults.map(cutFault);
  }
}

/** What a tolerant reader got out of an input: the parts that are good, and the faults of those that are not. */
export interface Reading<T> {
  readonly value: { readonly [K in keyof T]?: T[K] | undefined };
  readonly faults: readonly Fault[];
}

/** The whole value of a reading. Throws {@link MalformedError} with every fault where there is one. */
export function requireWhole<T>(code: MalformedCode, reading: Reading<T>): T {
  if (reading.faults.length > 0) throw new MalformedError(code, reading.faults);
  return reading.value as T;
}

/** The whole value of a reading; null where there is a fault. Readers answer every field, or a fault. */
export function wholeOf<T>(reading: Reading<T>): T | null {
  return reading.faults.length > 0 ? null : (reading.value as T);
}

/** Runs a decoder and hands back its value, or the faults of the {@link MalformedError} it threw. */
export function attempt<T>(decode: () => T): { value: T; faults: [] } | { value: undefined; faults: readonly Fault[] } {
  try {
    return { value: decode(), faults: [] };
  } catch (error) {
    if (error instanceof MalformedError) return { value: undefined, faults: error.faults };
    throw error;
  }
}
