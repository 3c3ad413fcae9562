/** The options in a page's data, written and read (page/README.md, "The data"). */
import { toBase64, toHex } from "../bytes.js";
import { type JsonObject, type JsonValue, copyJson } from "../decode/json.js";
import { MemberReader, base64Member, hexMember, instantMember } from "../decode/json-members.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { isPcrIndex } from "../inputs.js";
import type { PlainOptions } from "../plain-settings.js";
import { type Expected, expectationOf } from "../verify/expectation.js";
import { certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";

export function optionsData(options: PlainOptions): JsonObject {
  const { policy, now, at, trustAnchors, measurements, ephemeralKey, nonce, expected } = options;
  return copyJson({
    policy: policyData(policy),
    now: now.toISOString(),
    at: at instanceof Date ? at.toISOString() : at,
    trustAnchors: trustAnchors?.map(({ name, pem }) => ({ name, pem: plainPem(name, pem) })),
    measurements: measurements && inHex(measurements),
    ephemeralKey: ephemeralKey && toHex(ephemeralKey),
    nonce: nonce && toHex(nonce),
    expected: expected && expectedData(expected),
    allowDebug: options.allowDebug,
    acceptance: options.acceptance,
    bootProofsOnly: options.bootProofsOnly,
  }) as JsonObject;
}

function inHex(measurements: NonNullable<PlainOptions["measurements"]>): object {
  return Object.fromEntries(Object.entries(measurements).map(([index, value]) => [index, toHex(value)]));
}

/** Without other content of the anchor files. */
function policyData(policy: PlainOptions["policy"]): unknown {
  if (policy === null || policy === "bundle") return policy;
  const anchors = Object.entries(policy.anchors ?? {}).map(([name, pem]) => [name, plainPem(name, pem)]);
  return {
    bytes: toBase64(policy.bytes),
    ...(anchors.length > 0 && { anchors: Object.fromEntries(anchors) as object }),
  };
}

function plainPem(name: string, pem: string): string {
  return certificatePem(parseTrustAnchor(name, pem).certificate.der);
}

function expectedData({ requestedAt, ...rest }: Expected): object {
  return { ...rest, requestedAt: requestedAt instanceof Date ? requestedAt.getTime() : requestedAt };
}

const OPTION_READERS: {
  readonly [Name in Exclude<keyof PlainOptions, "policy" | "now">]-?: (
    reader: MemberReader,
    name: Name,
  ) => PlainOptions[Name];
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
};

/** Read as the library reads a caller's. */
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
  for (const index of indexes) if (!isPcrIndex(index)) reader!.fault(index, "no PCR: expected an index of 0 to 31");
  return Object.fromEntries(indexes.map((index) => [index, hexMember(reader!, index, PCR_LENGTH)!] as const));
}

export function optionsOf(reader: MemberReader | undefined): PlainOptions | undefined {
  if (reader === undefined) return undefined;
  const names = Object.keys(OPTION_READERS) as (keyof typeof OPTION_READERS)[];
  reader.refuseUnknown(["policy", "now", ...names]);
  const policy = policyOf(reader);
  const now = instantMember(reader, "now");
  const others = names
    .filter((name) => reader.get(name) !== undefined)
    .map((name) => [name, OPTION_READERS[name](reader, name as never)]);
  return now && policy !== undefined ? { policy, now, ...(Object.fromEntries(others) as object) } : undefined;
}

function anchorOf(json: JsonValue, path: string, { faults }: MemberReader): { name: string; pem: string } | undefined {
  const reader = MemberReader.of(json, path, faults);
  reader?.refuseUnknown(["name", "pem"]);
  const [name, pem] = [reader?.string("name"), reader?.string("pem")];
  return name === undefined || pem === undefined ? undefined : { name, pem };
}

function policyOf(reader: MemberReader): PlainOptions["policy"] | undefined {
  const json = reader.get("policy");
  if (json === undefined) return Object.hasOwn(reader.object, "policy") ? null : reader.fault("policy", "missing");
  if (json === "bundle") return json;
  const policy = reader.nested("policy");
  policy?.refuseUnknown(["bytes", "anchors"]);
  const bytes = policy && base64Member(policy, "bytes");
  const anchors = policy && anchorTexts(policy);
  return bytes && { bytes, ...(anchors && { anchors }) };
}

function anchorTexts(policy: MemberReader): Record<string, string> | undefined {
  if (policy.get("anchors") === undefined) return undefined;
  const anchors = policy.nested("anchors");
  const texts = Object.keys(anchors?.object ?? {}).map((name) => [name, anchors!.string(name) ?? ""]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** Hex of at least one byte. */
export function bytesMember(reader: MemberReader, name: string): Uint8Array | undefined {
  const bytes = hexMember(reader, name);
  return bytes?.length === 0 ? reader.fault(name, "empty") : bytes;
}
