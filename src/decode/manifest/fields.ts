/** The parts that versions share. Each part is read and written in Borsh, and read from JSON. */
import { fromHex } from "../../bytes.js";
import type { BorshReader, BorshWriter } from "../borsh.js";
import { canonicalIpAddress } from "../ip-address.js";
import { JsonNumber, jsonKind } from "../json.js";
import { MemberReader, jsonList, readBy } from "../json-members.js";
import { SHA256_LENGTH } from "../lengths.js";
import { type Shape, flag, text as string } from "../shapes.js";
import type { Approval, BridgeConfig, EnclaveMeasurements, MemberSet, Namespace, Pivot } from "./model.js";

interface Borsh<T> {
  /** `what` is the path for faults. */
  readonly read: (reader: BorshReader, what: string) => T;
  readonly write: (writer: BorshWriter, value: T) => void;
}

/** A part of a manifest. At a fault its shape reads a blank value, because any fault of one throws in the end. */
interface Field<T> extends Borsh<T> {
  readonly json: Shape<T>;
}

type Fields<T> = { readonly [K in keyof T]: Field<T[K]> };

export interface Struct<T> extends Field<T> {
  readonly fields: Fields<T>;
  /** `what` is the path of the value, null for the outermost struct: the paths of its members are their names. */
  readonly read: (reader: BorshReader, what: string | null) => T;
  /** Reads the members of a JSON object. */
  readonly members: (reader: MemberReader) => T;
}

/** Makes a struct, whose fields are in the order of Borsh. */
/* @__NO_SIDE_EFFECTS__ */
export function struct<T extends object>(fields: Fields<T>): Struct<T> {
  const names = Object.keys(fields) as (keyof T & string)[];
  const each = (read: (name: keyof T & string) => T[keyof T & string]): T => {
    const value: Partial<T> = {};
    for (const name of names) value[name] = read(name);
    return value as T;
  };
  const members = (reader: MemberReader): T => each((name) => member(reader, name, fields[name]));
  return {
    fields,
    read: (reader, what) => each((name) => fields[name].read(reader, what === null ? name : `${what}.${name}`)),
    write: (writer, value) => {
      for (const name of names) fields[name].write(writer, value[name]);
    },
    members,
    json: { read: (value, place) => members(MemberReader.of(value, place) ?? blank()) },
  };
}

/** Reads a member of JSON, which is blank at a fault. */
export function member<T>(reader: MemberReader, name: string, { json }: Field<T>): T {
  return reader.read(name, json) as T;
}

/** Returns a reader that replaces a missing object, whose fault is already reported. */
export function blank(): MemberReader {
  return new MemberReader({});
}

/** A list of objects. An item of JSON that reads as undefined is left out. */
/* @__NO_SIDE_EFFECTS__ */
export function vectorOf<T>(item: Borsh<T> & { readonly json: Shape<T | undefined> }): Field<readonly T[]> {
  return {
    read: (reader, what) => reader.vector(what, (path) => item.read(reader, path)),
    write: (writer, values) => writer.vector(values, (value) => item.write(writer, value)),
    json: itemsOf(item.json),
  };
}

/** A value that is null if it is absent. */
/* @__NO_SIDE_EFFECTS__ */
export function optionOf<T>(field: Field<T>): Field<T | null> {
  return {
    read: (reader, what) => reader.option(what, () => field.read(reader, what)),
    write: (writer, value) => writer.option(value, (present) => field.write(writer, present)),
    json: { read: (value, place) => (value === undefined ? null : field.json.read(value, place)) },
  };
}

export const u8: Field<number> = {
  read: (reader, what) => reader.u8(what),
  write: (writer, value) => writer.u8(value),
  json: integerTo(0xff),
};

export const u16: Field<number> = {
  read: (reader, what) => reader.u16(what),
  write: (writer, value) => writer.u16(value),
  json: integerTo(0xffff),
};

export const u32: Field<number> = {
  read: (reader, what) => reader.u32(what),
  write: (writer, value) => writer.u32(value),
  json: integerTo(0xffffffff),
};

export const bool: Field<boolean> = {
  read: (reader, what) => reader.bool(what),
  write: (writer, value) => writer.bool(value),
  json: orBlank(flag, false),
};

const text: Field<string> = {
  read: (reader, what) => reader.string(what),
  write: (writer, value) => writer.string(value),
  json: orBlank(string, ""),
};

export const texts: Field<readonly string[]> = {
  read: (reader, what) => reader.vector(what, (path) => reader.string(path)),
  write: (writer, values) => writer.vector(values, (value) => writer.string(value)),
  json: itemsOf(string),
};

export const bytes: Field<Uint8Array> = {
  read: (reader, what) => reader.bytes(what),
  write: (writer, value) => writer.bytes(value),
  json: hexOf(null),
};

/* @__NO_SIDE_EFFECTS__ */
export function fixedBytes(length: number): Field<Uint8Array> {
  return {
    read: (reader, what) => reader.fixed(length, what),
    write: (writer, value) => writer.fixed(value),
    json: hexOf(length),
  };
}

export const binaryHash = fixedBytes(SHA256_LENGTH);

/* @__NO_SIDE_EFFECTS__ */
function orBlank<T>(shape: Shape<T>, blank: T): Shape<T> {
  return { read: (value, place) => shape.read(value, place) ?? blank };
}

/** Shape of an array, of which the items that can be read are kept. */
/* @__NO_SIDE_EFFECTS__ */
export function itemsOf<T>(item: Shape<T | undefined>): Shape<T[]> {
  return {
    read: (value, place) =>
      (jsonList.read(value, place) ?? [])
        .map((one, index) => item.read(one, place.at(index)))
        .filter((read) => read !== undefined),
  };
}

/** Shape of an integer from 0 to `max`, a number or a decimal string. */
/* @__NO_SIDE_EFFECTS__ */
function integerTo(max: number): Shape<number> {
  return {
    read: (value, place) => {
      const literal = value instanceof JsonNumber ? value.text : value;
      const isText = typeof literal === "string";
      if (isText && /^(?:0|[1-9][0-9]{0,9})$/.test(literal) && Number(literal) <= max) return Number(literal);
      place.fault(`expected an integer of 0 to ${max}, got ${isText ? JSON.stringify(literal) : jsonKind(value)}`);
      return 0;
    },
  };
}

/** Shape of hex in any case, with an optional `0x`, of `length` bytes if set. */
/* @__NO_SIDE_EFFECTS__ */
function hexOf(length: number | null): Shape<Uint8Array> {
  return {
    read: (value, place) => {
      const read = typeof value === "string" ? fromHex(value.startsWith("0x") ? value.slice(2) : value) : null;
      if (read === null) place.fault(typeof value === "string" ? "not hex" : `expected hex, got ${jsonKind(value)}`);
      else if (length !== null && read.length !== length) place.fault(`${read.length} bytes, expected ${length}`);
      return read ?? new Uint8Array();
    },
  };
}

const RESTARTS = ["Never", "Always"] as const;

export const restart: Field<Pivot["restart"]> = {
  read: (reader, what) => RESTARTS[reader.variant(RESTARTS.length, what)]!,
  write: (writer, value) => writer.u8(RESTARTS.indexOf(value)),
  json: {
    read: (value, place) =>
      RESTARTS.find((one) => one === value) ?? place.fault(`expected "Never" or "Always"`) ?? "Never",
  },
};

const BRIDGES = {
  server: struct({ port: u16, host: text }),
  client: struct({ port: u16, host: optionOf(text) }),
} as const;
const BRIDGE_TYPES = ["server", "client"] as const;

export const bridge = {
  read: (reader: BorshReader, what: string): BridgeConfig => {
    const type = BRIDGE_TYPES[reader.variant(BRIDGE_TYPES.length, what)]!;
    return { type, ...BRIDGES[type].read(reader, what) } as BridgeConfig;
  },
  write: (writer: BorshWriter, value: BridgeConfig): void => {
    writer.u8(BRIDGE_TYPES.indexOf(value.type));
    if (value.type === "server") BRIDGES.server.write(writer, value);
    else BRIDGES.client.write(writer, value);
  },
  json: readBy((reader): BridgeConfig | undefined => {
    const type = BRIDGE_TYPES.find((one) => one === reader.get("type"));
    if (type !== undefined) return { type, ...BRIDGES[type].members(reader) } as BridgeConfig;
    member(reader, "port", u16);
    return reader.fault("type", `expected "server" or "client"`);
  }),
};

export const quorumMember = struct<Approval["member"]>({ alias: text, pubKey: bytes });
const memberSet = struct<MemberSet>({ threshold: u32, members: vectorOf(quorumMember) });

export const namespace = struct<Namespace>({ name: text, nonce: u32, quorumKey: bytes });

/** The sets and measurements, which follow the application in every version. */
export const setsAndEnclave = struct({
  manifestSet: memberSet,
  shareSet: memberSet,
  enclave: struct<EnclaveMeasurements>({
    pcr0: bytes,
    pcr1: bytes,
    pcr2: bytes,
    pcr3: bytes,
    awsRootCertificate: bytes,
    qosCommit: text,
  }),
});

export const patchSet = struct({ threshold: u32, members: vectorOf(struct({ pubKey: bytes })) });

export const approval = struct<Approval>({ signature: bytes, member: quorumMember });

export const approvals = vectorOf(approval);

const address: Shape<string | undefined> = {
  read: (value, place) =>
    (typeof value === "string" ? canonicalIpAddress(value) : null) ?? place.fault("not an IP address"),
};
const addresses = itemsOf(address);

/** Reads a member that v2 added. Returns undefined if it is absent. */
export function dnsField(reader: MemberReader): { resolvers: string[] } | undefined {
  if (reader.get("dns") === undefined) return undefined;
  const dns = reader.nested("dns") ?? blank();
  dns.refuseUnknown(["resolvers"]);
  return { resolvers: dns.read("resolvers", addresses) ?? [] };
}
