/** The parts that versions share. Each part is read and written in Borsh, and read from JSON. */
import type { BorshReader, BorshWriter } from "../borsh.js";
import { canonicalIpAddress } from "../ip-address.js";
import { MemberReader, hexField, integerField } from "../json-members.js";
import { SHA256_LENGTH } from "../lengths.js";
import type { Approval, BridgeConfig, EnclaveMeasurements, MemberSet, Namespace, Pivot } from "./model.js";

interface Borsh<T> {
  /** `what` is the path for faults. */
  readonly read: (reader: BorshReader, what: string) => T;
  readonly write: (writer: BorshWriter, value: T) => void;
}

interface Field<T> extends Borsh<T> {
  /** Reads a member of JSON. Returns a blank value at a fault, because any fault of a manifest throws in the end. */
  readonly member: (reader: MemberReader, name: string) => T;
}

/** An item of a list of objects. */
export interface Item<T> extends Borsh<T> {
  /** Reads the members of a JSON object. Returns undefined if the object is not an item. */
  readonly members: (reader: MemberReader) => T | undefined;
}

type Fields<T> = { readonly [K in keyof T]: Field<T[K]> };

export interface Struct<T> extends Field<T>, Item<T> {
  readonly fields: Fields<T>;
  /** `what` is the path of the value, null for the outermost struct: the paths of its members are their names. */
  readonly read: (reader: BorshReader, what: string | null) => T;
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
  const members = (reader: MemberReader): T => each((name) => fields[name].member(reader, name));
  return {
    fields,
    read: (reader, what) => each((name) => fields[name].read(reader, what === null ? name : `${what}.${name}`)),
    write: (writer, value) => {
      for (const name of names) fields[name].write(writer, value[name]);
    },
    members,
    member: (reader, name) => members(reader.nested(name) ?? blank()),
  };
}

/** Returns a reader that replaces a missing object, whose fault is already reported. */
export function blank(): MemberReader {
  return new MemberReader({});
}

/* @__NO_SIDE_EFFECTS__ */
export function vectorOf<T>(item: Item<T>): Field<readonly T[]> {
  return {
    read: (reader, what) => reader.vector(what, (path) => item.read(reader, path)),
    write: (writer, values) => writer.vector(values, (value) => item.write(writer, value)),
    member: (reader, name) => reader.objects(name, item.members) ?? [],
  };
}

/** A value that is null if it is absent. */
/* @__NO_SIDE_EFFECTS__ */
export function optionOf<T>(field: Field<T>): Field<T | null> {
  return {
    read: (reader, what) => reader.option(what, () => field.read(reader, what)),
    write: (writer, value) => writer.option(value, (present) => field.write(writer, present)),
    member: (reader, name) => (reader.get(name) === undefined ? null : field.member(reader, name)),
  };
}

export const u8: Field<number> = {
  read: (reader, what) => reader.u8(what),
  write: (writer, value) => writer.u8(value),
  member: (reader, name) => integerField(reader, name, 0xff),
};

export const u16: Field<number> = {
  read: (reader, what) => reader.u16(what),
  write: (writer, value) => writer.u16(value),
  member: (reader, name) => integerField(reader, name, 0xffff),
};

export const u32: Field<number> = {
  read: (reader, what) => reader.u32(what),
  write: (writer, value) => writer.u32(value),
  member: (reader, name) => integerField(reader, name, 0xffffffff),
};

export const bool: Field<boolean> = {
  read: (reader, what) => reader.bool(what),
  write: (writer, value) => writer.bool(value),
  member: (reader, name) => reader.boolean(name) ?? false,
};

const text: Field<string> = {
  read: (reader, what) => reader.string(what),
  write: (writer, value) => writer.string(value),
  member: (reader, name) => reader.string(name) ?? "",
};

export const texts: Field<readonly string[]> = {
  read: (reader, what) => reader.vector(what, (path) => reader.string(path)),
  write: (writer, values) => writer.vector(values, (value) => writer.string(value)),
  member: (reader, name) => reader.strings(name) ?? [],
};

export const bytes: Field<Uint8Array> = {
  read: (reader, what) => reader.bytes(what),
  write: (writer, value) => writer.bytes(value),
  member: (reader, name) => hexField(reader, name),
};

/* @__NO_SIDE_EFFECTS__ */
export function fixedBytes(length: number): Field<Uint8Array> {
  return {
    read: (reader, what) => reader.fixed(length, what),
    write: (writer, value) => writer.fixed(value),
    member: (reader, name) => hexField(reader, name, length),
  };
}

export const binaryHash = fixedBytes(SHA256_LENGTH);

const RESTARTS = ["Never", "Always"] as const;

export const restart: Field<Pivot["restart"]> = {
  read: (reader, what) => RESTARTS[reader.variant(RESTARTS.length, what)]!,
  write: (writer, value) => writer.u8(RESTARTS.indexOf(value)),
  member: (reader, name) => {
    const value = RESTARTS.find((one) => one === reader.get(name));
    if (value === undefined) reader.fault(name, `expected "Never" or "Always"`);
    return value ?? "Never";
  },
};

const BRIDGES = {
  server: struct({ port: u16, host: text }),
  client: struct({ port: u16, host: optionOf(text) }),
} as const;
const BRIDGE_TYPES = ["server", "client"] as const;

export const bridge: Item<BridgeConfig> = {
  read: (reader, what) => {
    const type = BRIDGE_TYPES[reader.variant(BRIDGE_TYPES.length, what)]!;
    return { type, ...BRIDGES[type].read(reader, what) } as BridgeConfig;
  },
  write: (writer, value) => {
    writer.u8(BRIDGE_TYPES.indexOf(value.type));
    if (value.type === "server") BRIDGES.server.write(writer, value);
    else BRIDGES.client.write(writer, value);
  },
  members: (reader) => {
    const type = BRIDGE_TYPES.find((one) => one === reader.get("type"));
    if (type !== undefined) return { type, ...BRIDGES[type].members(reader) } as BridgeConfig;
    u16.member(reader, "port");
    return reader.fault("type", `expected "server" or "client"`);
  },
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

export const approval: Item<Approval> = {
  ...struct<Approval>({ signature: bytes, member: quorumMember }),
  members: (reader) => {
    const member = reader.nested("member");
    const by = member && quorumMember.members(member);
    return by && { signature: bytes.member(reader, "signature"), member: by };
  },
};

export const approvals = vectorOf(approval);

/** Reads a member that v2 added. Returns undefined if it is absent. */
export function dnsField(reader: MemberReader): { resolvers: string[] } | undefined {
  if (reader.get("dns") === undefined) return undefined;
  const dns = reader.nested("dns") ?? blank();
  dns.refuseUnknown(["resolvers"]);
  const resolvers = dns.array("resolvers", (value, path) => {
    const address = typeof value === "string" ? canonicalIpAddress(value) : null;
    if (address === null) dns.faults.push({ path, message: "not an IP address" });
    return address ?? undefined;
  });
  return { resolvers: resolvers ?? [] };
}
