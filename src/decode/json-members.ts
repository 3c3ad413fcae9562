/**
 * Readers of members of evidence. They return a valid member, and collect the fault of an invalid one
 * (decode/README.md, "Shapes"). At a fault they return undefined. Only {@link integerField} and {@link hexField} return
 * a blank value, because manifests use them, and any fault of a manifest throws in the end.
 */
import { fromHex } from "../bytes.js";
import { type Fault, FaultList, shownName } from "../errors.js";
import { JsonNumber, type JsonObject, type JsonValue, isJsonObject, jsonKind } from "./json.js";
import { instant, readShape } from "./shapes.js";
import { otherSpelling, strictBytes } from "./text-encoding.js";

/** Collects the faults of an object's members. For untrusted objects pass a {@link FaultList}, which is bounded. */
export class MemberReader {
  readonly object: JsonObject;
  readonly path: string;
  readonly faults: Fault[];

  constructor(object: JsonObject, path = "", faults: Fault[] = new FaultList()) {
    this.object = object;
    this.path = path;
    this.faults = faults;
  }

  /** Returns a reader that shares `faults`, or adds a fault and returns undefined if the value is not an object. */
  static of(value: unknown, path: string, faults: Fault[]): MemberReader | undefined {
    if (isJsonObject(value)) return new MemberReader(value, path, faults);
    faults.push({ path, message: `expected an object, got ${jsonKind(value)}` });
    return undefined;
  }

  at(name: string): string {
    const shown = shownName(name);
    return this.path === "" ? shown : `${this.path}.${shown}`;
  }

  fault(name: string, message: string): undefined {
    this.faults.push({ path: this.at(name), message });
    return undefined;
  }

  /** Returns an own member, or undefined if it is absent or null. */
  get(name: string): JsonValue | undefined {
    return Object.hasOwn(this.object, name) ? (this.object[name] ?? undefined) : undefined;
  }

  string(name: string): string | undefined {
    const value = this.get(name);
    return typeof value === "string" ? value : this.fault(name, `expected a string, got ${jsonKind(value)}`);
  }

  boolean(name: string): boolean | undefined {
    const value = this.get(name);
    return typeof value === "boolean" ? value : this.fault(name, `expected true or false, got ${jsonKind(value)}`);
  }

  nested(name: string): MemberReader | undefined {
    return MemberReader.of(this.get(name), this.at(name), this.faults);
  }

  /** Returns what `item` reads from each item of a list. Items for which it returns undefined are omitted. */
  array<T>(name: string, item: (value: JsonValue, path: string) => T | undefined): T[] | undefined {
    const value = this.get(name);
    if (!Array.isArray(value)) return this.fault(name, `expected an array, got ${jsonKind(value)}`);
    return value.map((entry, index) => item(entry, `${this.at(name)}[${index}]`)).filter((read) => read !== undefined);
  }

  /** Returns the objects in a list as {@link array} does. An item that is not an object is a fault. */
  objects<T>(name: string, item: (reader: MemberReader) => T | undefined): T[] | undefined {
    return this.array(name, (value, path) => {
      const reader = MemberReader.of(value, path, this.faults);
      return reader && item(reader);
    });
  }

  strings(name: string): string[] | undefined {
    return this.array(name, (value, path) => {
      if (typeof value === "string") return value;
      this.faults.push({ path, message: `expected a string, got ${jsonKind(value)}` });
      return undefined;
    });
  }

  refuseUnknown(names: readonly string[]): void {
    for (const name of Object.keys(this.object)) if (!names.includes(name)) this.fault(name, "unknown member");
  }
}

/** Reads a non-negative integer as decimal text. */
export function decimalMember(reader: MemberReader, name: string): string | undefined {
  const text = reader.string(name);
  return text === undefined || /^(?:0|[1-9][0-9]*)$/.test(text)
    ? text
    : reader.fault(name, "expected a decimal number");
}

/** Reads hex in either case, of `length` bytes if set. */
export function hexMember(reader: MemberReader, name: string, length?: number): Uint8Array | undefined {
  const bytes = bytesMember(reader, name, "hex");
  if (bytes === undefined || length === undefined || bytes.length === length) return bytes;
  return reader.fault(name, `${2 * bytes.length} hex digits, expected ${2 * length}`);
}

/** Reads bytes from strict base64. */
export function base64Member(reader: MemberReader, name: string): Uint8Array | undefined {
  return bytesMember(reader, name, "base64");
}

function bytesMember(reader: MemberReader, name: string, is: "hex" | "base64"): Uint8Array | undefined {
  const text = reader.string(name);
  if (text === undefined) return undefined;
  const bytes = strictBytes(text, is);
  const other = otherSpelling(text, is, bytes);
  if (other !== null) return void reader.faults.push({ path: reader.at(name), ...other });
  const fault = is === "hex" ? "not hex" : "not strict base64 (standard alphabet, padded, no white space)";
  return bytes ?? reader.fault(name, fault);
}

/** Reads a time in the form of the shape `instant`. */
export function instantMember(reader: MemberReader, name: string): Date | undefined {
  const { value, faults } = readShape(instant, reader.get(name), reader.at(name));
  reader.faults.push(...faults);
  return value === undefined ? undefined : new Date(value);
}

/** Reads a manifest's integer from 0 to `max`, a number or a decimal string. Returns 0 at a fault. */
export function integerField(reader: MemberReader, name: string, max: number): number {
  const value = reader.get(name);
  const literal = value instanceof JsonNumber ? value.text : value;
  if (typeof literal === "string" && /^(?:0|[1-9][0-9]{0,9})$/.test(literal) && Number(literal) <= max)
    return Number(literal);
  reader.fault(
    name,
    `expected an integer of 0 to ${max}, ` +
      `got ${typeof literal === "string" ? JSON.stringify(literal) : jsonKind(value)}`,
  );
  return 0;
}

/** Reads a manifest's hex in any case, with an optional `0x`, of `length` bytes if set. Returns no bytes at a fault. */
export function hexField(reader: MemberReader, name: string, length?: number): Uint8Array {
  const value = reader.get(name);
  const bytes = typeof value === "string" ? fromHex(value.startsWith("0x") ? value.slice(2) : value) : null;
  if (bytes === null)
    reader.fault(name, `${typeof value === "string" ? "not hex" : `expected hex, got ${jsonKind(value)}`}`);
  else if (length !== undefined && bytes.length !== length)
    reader.fault(name, `${bytes.length} bytes, expected ${length}`);
  return bytes ?? new Uint8Array();
}
