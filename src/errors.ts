/** Errors that this package throws. Each has a stable `code` and carries its facts as fields. */

/** One fault of an input, with its place, and what was found and expected. */
export interface Fault {
  /** Place inside the input, such as `pivot.hash` or `pcrs.0`; empty for the input as a whole. */
  readonly path: string;
  /** A phrase for people, such as `95 hex digits, expected 96`. */
  readonly message: string;
  /** Why, where that decides what to do. */
  readonly cause?: FaultCause;
}

/** The text was wrapped when it was copied, only a part of it was, or its format is of another version. */
export type FaultCause =
  | { readonly code: "line-breaks" }
  | { readonly code: "cut-off" }
  | { readonly code: "version"; readonly found: string; readonly reads: string };

const MAX_FAULTS = 100;
/** Maximum characters of texts that quote the input, whose names and values can have any length. */
const MAX_PATH = 256;
const MAX_MESSAGE = 1000;
const MAX_TEXT = 8192;
const MAX_NAME = 64;

/** Truncates a text to `most` characters and appends its full length. Never splits a surrogate pair. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${startOf(text, most)}… (${text.length} characters)` : text;
}

/** Truncates an untrusted name for use in a path or sentence. */
export function shownName(name: string, most = MAX_NAME): string {
  return name.length > most ? `${startOf(name, most)}…` : name;
}

/** Truncates text, and drops a high surrogate at its end, which strict JSON would refuse. */
export function startOf(text: string, length: number): string {
  return text.length > length ? text.slice(0, length).replace(/[\ud800-\udbff]$/, "") : text;
}

function cutFault({ path, message, cause }: Fault): Fault {
  return { path: shownName(path, MAX_PATH), message: cut(message, MAX_MESSAGE), ...(cause && { cause }) };
}

/**
 * The first 100 faults of one input, followed by one entry that counts the rest. Without a bound, a hostile input would
 * make the list many times its own size.
 */
export class FaultList extends Array<Fault> {
  #total = 0;

  /** `map` and similar methods return a plain array. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** Number of faults, including those not kept. */
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

  /** Appends the faults of `other`, and adds the number of faults that `other` did not keep. */
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
  const texts = first.map(({ path, message }) => {
    if (path === "") return message;
    return message.startsWith(IS_REQUIRED) ? `${path} ${message}` : `${path}: ${message}`;
  });
  return cut(listed(texts, "; ", faults instanceof FaultList ? faults.total : faults.length), MAX_TEXT);
}

/** Beginning of the fault of a member that is missing. It continues the member's path. */
export const IS_REQUIRED = "is required";

const MAX_LISTED = 32;

/** Joins the first 32 texts and counts the rest, since untrusted evidence decides how many there are. */
export function listed(texts: readonly string[], separator = ", ", total = texts.length): string {
  const rest = total - MAX_LISTED;
  return rest > 0 ? `${texts.slice(0, MAX_LISTED).join(separator)}${separator}and ${rest} more` : texts.join(separator);
}

export type MalformedCode =
  | "address-list"
  | "checkpoint"
  | "json"
  | "cbor"
  | "cose-sign1"
  | "attestation-document"
  | "certificate"
  | "genesis-output"
  | "genesis-request"
  | "manifest"
  | "manifest-envelope"
  | "approval"
  | "boot-proof"
  | "app-proof"
  | "app-proof-payload"
  | "activity"
  | "expected"
  | "policy"
  | "bundle"
  | "trust-anchor"
  | "page"
  | "release"
  | "run"
  | "diff"
  | "image"
  | "provenance"
  | "revocation-list";

/**
 * Thrown if an input does not have the required form. `faults` lists every fault, not only the first.
 *
 * @example
 * try {
 *   decodeBootProof(text);
 * } catch (error) {
 *   if (error instanceof MalformedError) for (const { path, message } of error.faults) console.error(path, message);
 * }
 */
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

/** The valid fields of an input, and the faults of the invalid ones. */
export interface Reading<T> {
  readonly value: { readonly [K in keyof T]?: T[K] | undefined };
  readonly faults: readonly Fault[];
}

/** Throws {@link MalformedError} with every fault if there is one. */
export function requireWhole<T>(code: MalformedCode, reading: Reading<T>): T {
  if (reading.faults.length > 0) throw new MalformedError(code, reading.faults);
  return reading.value as T;
}

/** Returns the value, or null if there is a fault. Without a fault, every field of the value is set. */
export function wholeOf<T>(reading: Reading<T>): T | null {
  return reading.faults.length > 0 ? null : (reading.value as T);
}

/** Returns the faults of a part. The place of the part is prefixed to the path of each fault. */
export function faultsIn(place: string, faults: readonly Fault[], separator = "."): Fault[] {
  return faults.map(({ path, ...rest }) => ({ path: [place, path].filter(Boolean).join(separator), ...rest }));
}

export type Attempt<T> = { value: T; faults: [] } | { value: undefined; faults: readonly Fault[] };

/** Runs a decoder. Returns its value, or the faults of the {@link MalformedError} it threw. */
export function attempt<T>(decode: () => T): Attempt<T> {
  try {
    return { value: decode(), faults: [] };
  } catch (error) {
    return faultsOf(error);
  }
}

/** Does what {@link attempt} does, for a decoder that is asynchronous or not. */
export async function attemptLater<T>(decode: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await decode(), faults: [] };
  } catch (error) {
    return faultsOf(error);
  }
}

function faultsOf(error: unknown): { value: undefined; faults: readonly Fault[] } {
  if (error instanceof MalformedError) return { value: undefined, faults: error.faults };
  throw error;
}
