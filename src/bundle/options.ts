/** Writes and reads what the maker of a bundle demanded and allowed beside its policy. */
import { fromHex, toHex } from "../bytes.js";
import { type JsonObject, type JsonValue, copyJson } from "../decode/json.js";
import { MemberReader, hexMember, instantMember } from "../decode/json-members.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { isPcrIndex } from "../inputs.js";
import type { PlainOptions } from "../plain-settings.js";
import { type Expected, expectationOf } from "../verify/expectation.js";
import { certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";

/** All options but the policy and the time, which are other members of the bundle. */
export interface BundleOptions extends Omit<PlainOptions, "policy" | "now"> {
  /** Key by which each boot proof was requested, or null. */
  readonly requestedKeys?: readonly (Uint8Array | null)[] | undefined;
  /** `bundle` means that the policy came with an earlier bundle, so the verdict was `authentic` at best. */
  readonly policyFrom?: "bundle" | undefined;
}

export function optionsData(options: BundleOptions): JsonObject {
  const { at, trustAnchors, measurements, ephemeralKey, nonce, expected, requestedKeys } = options;
  return copyJson({
    at: at instanceof Date ? at.toISOString() : at,
    // Other content of the files, such as keys, is left out.
    trustAnchors: trustAnchors?.map(({ name, pem }) => ({
      name,
      pem: certificatePem(parseTrustAnchor(name, pem).certificate.der),
    })),
    measurements: measurements && inHex(measurements),
    ephemeralKey: ephemeralKey && toHex(ephemeralKey),
    nonce: nonce && toHex(nonce),
    expected: expected && expectedData(expected),
    allowDebug: options.allowDebug,
    acceptance: options.acceptance,
    bootProofsOnly: options.bootProofsOnly,
    requestedKeys: requestedKeys?.map((key) => (key === null ? "" : toHex(key))),
    policyFrom: options.policyFrom,
  }) as JsonObject;
}

function inHex(measurements: NonNullable<PlainOptions["measurements"]>): object {
  return Object.fromEntries(Object.entries(measurements).map(([index, value]) => [index, toHex(value)]));
}

function expectedData({ requestedAt, ...rest }: Expected): object {
  return { ...rest, requestedAt: requestedAt instanceof Date ? requestedAt.getTime() : requestedAt };
}

const OPTION_READERS: {
  readonly [Name in keyof BundleOptions]-?: (reader: MemberReader, name: Name) => BundleOptions[Name];
} = {
  at: (reader, name) => {
    const at = reader.get(name);
    return at === "document" || at === "now" ? at : instantMember(reader, name);
  },
  trustAnchors: (reader, name) => reader.array(name, (value, path) => anchorOf(value, path, reader)),
  measurements: measurementsOf,
  ephemeralKey: bytesMember,
  nonce: bytesMember,
  expected: expectedMember,
  allowDebug: (reader, name) => reader.boolean(name),
  acceptance: (reader, name) => {
    const acceptance = reader.get(name);
    if (acceptance === "standard" || acceptance === "strict") return acceptance;
    return reader.fault(name, 'expected "standard" or "strict"');
  },
  bootProofsOnly: (reader, name) => reader.boolean(name),
  requestedKeys: requestedKeysOf,
  policyFrom: (reader, name) => (reader.get(name) === "bundle" ? "bundle" : reader.fault(name, 'expected "bundle"')),
};

/** Reads the member as the library reads a caller's. */
function expectedMember(reader: MemberReader, name: string): Expected | undefined {
  const expected = reader.nested(name)?.object as Expected | undefined;
  if (expected === undefined) return undefined;
  try {
    expectationOf(expected);
    return expected;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return reader.fault(name, error.message.replace(/^expected\./, ""));
  }
}

function measurementsOf(options: MemberReader, name: string): PlainOptions["measurements"] {
  const reader = options.nested(name);
  const indexes = Object.keys(reader?.object ?? {});
  if (reader !== undefined && indexes.length === 0) return options.fault(name, "empty");
  for (const index of indexes) if (!isPcrIndex(index)) reader!.fault(index, "not a PCR: expected an index of 0 to 31");
  return Object.fromEntries(indexes.map((index) => [index, hexMember(reader!, index, PCR_LENGTH)!] as const));
}

function requestedKeysOf(reader: MemberReader, name: string): BundleOptions["requestedKeys"] {
  const keys = reader.strings(name)?.map(fromHex);
  return keys?.includes(null) ? reader.fault(name, "expected hex") : keys?.map((key) => (key!.length > 0 ? key : null));
}

export function readBundleOptions(reader: MemberReader): BundleOptions {
  const names = Object.keys(OPTION_READERS) as (keyof BundleOptions)[];
  reader.refuseUnknown(names);
  const given = names.filter((name) => reader.get(name) !== undefined);
  return Object.fromEntries(given.map((name) => [name, OPTION_READERS[name](reader, name as never)]));
}

function anchorOf(json: JsonValue, path: string, { faults }: MemberReader): { name: string; pem: string } | undefined {
  const reader = MemberReader.of(json, path, faults);
  reader?.refuseUnknown(["name", "pem"]);
  const [name, pem] = [reader?.string("name"), reader?.string("pem")];
  return name === undefined || pem === undefined ? undefined : { name, pem };
}

/** Reads hex of at least one byte. */
function bytesMember(reader: MemberReader, name: string): Uint8Array | undefined {
  const bytes = hexMember(reader, name);
  return bytes?.length === 0 ? reader.fault(name, "empty") : bytes;
}
