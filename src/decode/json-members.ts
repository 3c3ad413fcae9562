/**
 * Members of evidence, which shapes read (decode/README.md, "Shapes"). A member that is null is read as one that is
 * absent, because Protobuf's JSON and serde write one for the other.
 */
import { FaultList } from "../errors.js";
import { type JsonObject, type JsonValue } from "./json.js";
import { type Place, type Shape, anyObject, anything, list, placeOf, refined, text } from "./shapes.js";
import { otherSpelling, strictBytes } from "./text-encoding.js";

/** Reads the members of one object, for evidence whose members depend on each other. */
export class MemberReader {
  readonly object: JsonObject;
  readonly place: Place;

  constructor(object: JsonObject, place: Place = placeOf(new FaultList())) {
    this.object = object;
    this.place = place;
  }

  /** Returns a reader, or adds a fault and returns undefined if the value is not an object. */
  static of(value: unknown, place: Place): MemberReader | undefined {
    const object = anyObject.read(value, place) as JsonObject | undefined;
    return object && new MemberReader(object, place);
  }

  fault(name: string, message: string): undefined {
    return this.place.at(name).fault(message);
  }

  /** Returns an own member, or undefined if it is absent or null. */
  get(name: string): JsonValue | undefined {
    return Object.hasOwn(this.object, name) ? (this.object[name] ?? undefined) : undefined;
  }

  /** Returns what the shape reads. At a fault that is undefined, or the blank value of a shape that has one. */
  read<T>(name: string, shape: Shape<T>): T | undefined {
    return shape.read(this.get(name), this.place.at(name));
  }

  nested(name: string): MemberReader | undefined {
    return MemberReader.of(this.get(name), this.place.at(name));
  }

  refuseUnknown(names: readonly string[]): void {
    for (const name of Object.keys(this.object)) if (!names.includes(name)) this.fault(name, "unknown member");
  }
}

/** Shape of an object whose members `read` reads. */
/* @__NO_SIDE_EFFECTS__ */
export function readBy<T>(read: (reader: MemberReader) => T | undefined): Shape<T> {
  return {
    read: (value, place) => {
      const reader = MemberReader.of(value, place);
      return (reader && read(reader)) as T;
    },
  };
}

/** Shape of an array whose items are read later. */
export const jsonList = list(anything) as Shape<JsonValue[]>;

/** Shape of a non-negative integer as decimal text. */
export const decimal: Shape<string> = refined(text, (digits, place) =>
  /^(?:0|[1-9][0-9]*)$/.test(digits) ? digits : place.fault("expected a decimal number"),
);

/** Shape of bytes in hex of either case. */
export const hexText = bytesAs("hex", "not hex");

/** Shape of bytes in strict base64. */
export const base64Text = bytesAs("base64", "not strict base64 (standard alphabet, padded, no white space)");

/* @__NO_SIDE_EFFECTS__ */
function bytesAs(spelling: "hex" | "base64", fault: string): Shape<Uint8Array> {
  return refined(text, (spelt, place) => {
    const bytes = strictBytes(spelt, spelling);
    const other = otherSpelling(spelt, spelling, bytes);
    if (other !== null) return place.fault(other.message, other.cause);
    return bytes ?? place.fault(fault);
  });
}
