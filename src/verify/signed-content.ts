/** Signed bytes and digests of payloads and Ethereum transactions (verify/README.md, "Signatures"). */
import { concatBytes, equalBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import { keccak_256, sha256 } from "./noble-signatures.js";

/** Thrown if a signature cannot be checked because this version does not support what the caller submitted. */
export class UncheckedError extends Error {}

/** Returns the bytes of hex in either case, with or without 0x, or null for any other value. */
export function hexBytes(value: JsonValue | undefined): Uint8Array | null {
  return typeof value === "string" ? fromHex(value.startsWith("0x") ? value.slice(2) : value) : null;
}

/** Returns the bytes of a payload in its encoding. Throws {@link UncheckedError}. */
export function payloadBytes(
  payload: JsonValue | undefined,
  encoding: JsonValue | undefined,
  budget: TypedDataBudget,
): Uint8Array {
  if (typeof payload !== "string") throw new UncheckedError("the payload is not text");
  if (encoding === "PAYLOAD_ENCODING_TEXT_UTF8") return toUtf8(payload);
  if (encoding === "PAYLOAD_ENCODING_HEXADECIMAL") return hexBytes(payload) ?? unchecked("the payload is not hex");
  if (encoding === "PAYLOAD_ENCODING_EIP712") return typedDataDigest(jsonOf(payload), budget);
  if (encoding === "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION") return authorizationDigest(jsonOf(payload));
  throw new UncheckedError("the encoding is unknown to this version");
}

/** Returns the digest that ECDSA signs. Throws {@link UncheckedError}. */
export function payloadDigest(bytes: Uint8Array, hashFunction: JsonValue | undefined, isDigest: boolean): Uint8Array {
  if (hashFunction === "HASH_FUNCTION_NO_OP" && bytes.length === 32) return bytes;
  // It is not documented how a service hashes the digest of typed data again, so that is not supported.
  if (!isDigest && hashFunction === "HASH_FUNCTION_SHA256") return sha256(bytes);
  if (!isDigest && hashFunction === "HASH_FUNCTION_KECCAK256") return keccak_256(bytes);
  throw new UncheckedError("the hash function is unknown to this version, or does not fit the payload");
}

/** Reads an integer in hex, left-padded to 32 bytes. Clients trim or keep its leading zeros. Zero is never valid. */
export function wordOf(part: JsonValue | undefined): Uint8Array | null {
  const digits = /^(?:0x)?(?=0*[1-9a-f])([0-9a-f]{1,64})$/i.exec(typeof part === "string" ? part : "")?.[1];
  return digits === undefined ? null : fromHex(digits.padStart(64, "0"));
}

function unchecked(reason: string): never {
  throw new UncheckedError(reason);
}

/** Maximum number of JSON values. Typed data within all of {@link LIMITS} has fewer. */
const MAX_JSON_VALUES = 16_384;

function jsonOf(payload: string): JsonObject {
  const { value } = attempt(() => parseJson(payload, { maxValues: MAX_JSON_VALUES }));
  if (isJsonObject(value)) return value;
  throw new UncheckedError(`the payload is not a strict JSON object of at most ${MAX_JSON_VALUES} values`);
}

// Ethereum transactions.

/** Number of members of each type of unsigned transaction (EIP-2930, 1559, 4844 and 7702). */
const TYPED: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [2, 9],
  [3, 11],
  [4, 10],
]);
const LEGACY_MEMBERS = 6;

/** An ECDSA signature, with the parity of its point. */
export interface Ecdsa {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly yParity: number;
}

interface UnsignedEthereum {
  readonly digest: Uint8Array;
  /**
   * Returns the signature of a signed transaction that is exactly this one, or null for any other bytes. Integers must
   * have no leading zero, and v must be that of the chain (EIP-155).
   */
  readonly signatureOf: (signed: Uint8Array) => Ecdsa | null;
}

/** Reads an unsigned transaction, legacy or of a type in `TYPED`. Throws {@link UncheckedError} for any other type. */
export function unsignedEthereum(unsigned: Uint8Array): UnsignedEthereum {
  const type = unsigned[0] ?? 0;
  const isTyped = type < 0xc0;
  const members = listItems(isTyped ? unsigned.subarray(1) : unsigned);
  const chain = isTyped ? null : chainOf(members);
  if (members === null || (isTyped ? members.length !== TYPED.get(type) : chain === undefined))
    throw new UncheckedError("it is not an unsigned Ethereum transaction that this version knows");
  const body = isTyped ? members : members.slice(0, LEGACY_MEMBERS);
  const parity = (v: bigint): number => Number(v - (chain === null ? 0n : firstV(chain!)));
  return {
    digest: keccak_256(unsigned),
    signatureOf(signed) {
      if (isTyped && signed[0] !== type) return null;
      const items = listItems(isTyped ? signed.subarray(1) : signed);
      if (items?.length !== body.length + 3) return null;
      const isSame = body.every((item, index) => equalBytes(item, items[index]!));
      const [v, r, s] = items.slice(-3).map(integerOf);
      if (!isSame || [v, r, s].includes(null)) return null;
      const yParity = parity(v!);
      return yParity === 0 || yParity === 1 ? { r: word(r!), s: word(s!), yParity } : null;
    },
  };
}

/** Returns the chain of a legacy transaction, 0n if it has none, and undefined for any other list. */
function chainOf(members: readonly Uint8Array[] | null): bigint | undefined {
  if (members?.length === LEGACY_MEMBERS) return 0n;
  if (members?.length !== LEGACY_MEMBERS + 3) return undefined;
  const [chain, r, s] = members.slice(LEGACY_MEMBERS).map(integerOf);
  return r === 0n && s === 0n ? chain || undefined : undefined;
}

/** Returns the lower of the two values of v for a chain (EIP-155). */
function firstV(chain: bigint): bigint {
  return chain === 0n ? 27n : 35n + 2n * chain;
}

/** Returns the items, with prefixes, of a canonical RLP list that fills the bytes. Returns null for other bytes. */
function listItems(bytes: Uint8Array): Uint8Array[] | null {
  const whole = itemAt(bytes, 0);
  if (whole === null || (bytes[0] ?? 0) < 0xc0 || whole.end !== bytes.length) return null;
  return itemsIn(bytes.subarray(whole.start, whole.end));
}

/** Maximum number of items: EIP-4844 has 11 members, and a signature adds 3. */
const MAX_ITEMS = 14;

function itemsIn(content: Uint8Array): Uint8Array[] | null {
  const items: Uint8Array[] = [];
  for (let at = 0; at < content.length;) {
    const item = items.length < MAX_ITEMS ? itemAt(content, at) : null;
    if (item === null) return null;
    items.push(content.subarray(at, item.end));
    at = item.end;
  }
  return items;
}

/** Returns where an item's content begins and ends, or null if its length is not canonical or exceeds the bytes. */
function itemAt(bytes: Uint8Array, at: number): { start: number; end: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < 0x80) return { start: at, end: at + 1 };
  const length = first - (first < 0xc0 ? 0x80 : 0xc0);
  if (length > MAX_SHORT) return longItem(bytes, at, length - MAX_SHORT);
  const [start, end] = [at + 1, at + 1 + length];
  const needsNoPrefix = first === 0x81 && (bytes[start] ?? 0) < 0x80;
  return end > bytes.length || needsNoPrefix ? null : { start, end };
}

const MAX_SHORT = 55;

function longItem(bytes: Uint8Array, at: number, lengthBytes: number): { start: number; end: number } | null {
  const start = at + 1 + lengthBytes;
  const length = numberOf(bytes.subarray(at + 1, start));
  const isCanonical = bytes[at + 1] !== 0 && length > BigInt(MAX_SHORT);
  if (!isCanonical || length > BigInt(bytes.length)) return null;
  const end = start + Number(length);
  return end > bytes.length ? null : { start, end };
}

/** Reads an RLP item with its prefix as an integer of at most 32 bytes without leading zeros. */
function integerOf(item: Uint8Array): bigint | null {
  if (item[0]! >= 0xa1) return null;
  const content = item[0]! < 0x80 ? item : item.subarray(1);
  return content[0] === 0 ? null : numberOf(content);
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes) || "0"}`);
}

const WORD = (1n << 256n) - 1n;

/** Encodes an integer in 32 bytes. By a mask, since `BigInt.asUintN` of QuickJS answers with negative numbers. */
function word(value: bigint): Uint8Array {
  return fromHex((value & WORD).toString(16).padStart(64, "0"))!;
}

// Digests of JSON.

/** Returns the EIP-7702 digest of `{address, chainId, nonce}`. */
function authorizationDigest({ address, chainId, nonce }: JsonObject): Uint8Array {
  const addressBytes = fixedBytes(address, 20);
  const list = [rlpInteger(integer(chainId, 0n, 256n)), concatBytes(Uint8Array.of(0x94), addressBytes)];
  const content = concatBytes(...list, rlpInteger(integer(nonce, 0n, 64n)));
  // The content has at most 64 bytes. Below 56 bytes, the prefix of an RLP list is a single byte.
  const prefix = content.length < 56 ? [0xc0 + content.length] : [0xf8, content.length];
  return keccak_256(concatBytes(Uint8Array.of(5, ...prefix), content));
}

function rlpInteger(value: bigint): Uint8Array {
  const digits = value === 0n ? "" : value.toString(16);
  const bytes = fromHex(digits.length % 2 === 0 ? digits : `0${digits}`)!;
  return bytes.length === 1 && bytes[0]! < 0x80 ? bytes : concatBytes(Uint8Array.of(0x80 + bytes.length), bytes);
}

/**
 * Bounds on typed data, which are checked before anything is hashed. Real typed data stays far below them: a bulk order
 * of Seaport has 24 array levels, five types and under 300 values.
 */
const LIMITS = {
  types: 100,
  "members in one type": 200,
  "members in all types": 1000,
  "characters in a name or type": 512,
  "array levels in one type": 32,
  "levels of values": 48,
} as const;

/** Bounds on all typed data of one request. A type's text includes the texts of all types that it refers to. */
const BUDGET = { values: 10_000, "characters in the texts of its types": 256 * 1024 } as const;

/** What is left of {@link BUDGET}. */
export type TypedDataBudget = Record<keyof typeof BUDGET, number>;

export function typedDataBudget(): TypedDataBudget {
  return { ...BUDGET };
}

function limit(what: keyof typeof LIMITS, actual: number): void {
  if (actual > LIMITS[what]) tooMany(what, LIMITS[what]);
}

function spend(budget: TypedDataBudget, what: keyof typeof BUDGET, spent: number): void {
  budget[what] -= spent;
  if (budget[what] < 0) tooMany(what, BUDGET[what]);
}

function tooMany(what: string, most: number): never {
  throw new UncheckedError(`the typed data is too large for this version: more than ${most} ${what}`);
}

/** A member of a type. `T[2][]` has the base T and the counts 2 and null, the innermost array first. */
interface Member {
  readonly name: string;
  readonly type: string;
  readonly base: string;
  readonly counts: readonly (number | null)[];
}
type Types = ReadonlyMap<string, readonly Member[]>;

type Hash = (bytes: Uint8Array) => Uint8Array;

interface Hashing {
  readonly types: Types;
  /** Hash of each type's text, which is computed once. */
  readonly hashes: ReadonlyMap<string, Uint8Array>;
  readonly hash: Hash;
}

const DOMAIN = "EIP712Domain";

/** Returns the EIP-712 digest of `{types, primaryType, domain, message}`. `types` must have the domain's type. */
function typedDataDigest(
  { types: given, primaryType, domain, message }: JsonObject,
  budget: TypedDataBudget,
): Uint8Array {
  const types = typesOf(given);
  if (!types.has(DOMAIN) || typeof primaryType !== "string" || !types.has(primaryType))
    throw new UncheckedError("the typed data lacks the type of its domain or message");
  const structs: [string, JsonValue | undefined][] = [[DOMAIN, domain]];
  if (primaryType !== DOMAIN) structs.push([primaryType, message]);
  const texts = typeTexts(
    structs.map(([name]) => name),
    types,
    budget,
  );
  for (const [, value] of structs) spendValues(value, budget);
  const digest = (hash: Hash): Uint8Array => {
    const hashes = new Map(texts.map(([name, text]) => [name, hash(toUtf8(text.join("")))]));
    const hashed = structs.map(([name, value]) => structHash(name, value, { types, hashes, hash }));
    return hash(concatBytes(Uint8Array.of(0x19, 0x01), ...hashed));
  };
  // The first run finds values that do not fit their types, before anything is hashed.
  digest(() => new Uint8Array(32));
  return digest(keccak_256);
}

function typesOf(given: JsonValue | undefined): Types {
  const badTypes = "the types of the typed data are malformed";
  if (!isJsonObject(given)) throw new UncheckedError(badTypes);
  const entries = Object.entries(given);
  limit("types", entries.length);
  let all = 0;
  return new Map(
    entries.map(([name, members]) => {
      if (!Array.isArray(members)) throw new UncheckedError(badTypes);
      limit("members in one type", members.length);
      limit("members in all types", (all += members.length));
      limit("characters in a name or type", name.length);
      return [name, differentlyNamed(members.map(memberOf))];
    }),
  );
}

/**
 * Refuses a type with two members of one name, because the value would be hashed again for each. Solidity and ethers
 * also refuse such types.
 */
function differentlyNamed(members: readonly Member[]): readonly Member[] {
  if (new Set(members.map(({ name }) => name)).size === members.length) return members;
  throw new UncheckedError("a type of the typed data has two members of one name");
}

function memberOf(value: JsonValue): Member {
  const { name, type } = isJsonObject(value) ? value : {};
  if (typeof name !== "string" || typeof type !== "string")
    throw new UncheckedError("the types of the typed data are malformed");
  limit("characters in a name or type", Math.max(name.length, type.length));
  return { name, type, ...baseAndCounts(type) };
}

/** Reads the array suffixes of a type from the end, each character once. */
function baseAndCounts(type: string): Pick<Member, "base" | "counts"> {
  const counts: (number | null)[] = [];
  let end = type.length;
  while (type[end - 1] === "]") {
    const start = type.lastIndexOf("[", end - 1);
    const digits = type.slice(start + 1, end - 1);
    if (start < 1 || !/^[0-9]*$/.test(digits)) break;
    counts.unshift(digits === "" ? null : Number(digits));
    end = start;
  }
  limit("array levels in one type", counts.length);
  return { base: type.slice(0, end), counts };
}

/** Returns, for each type that a value can have, the texts to hash: its own and those of types that it refers to. */
function typeTexts(roots: readonly string[], types: Types, budget: TypedDataBudget): [string, string[]][] {
  const own = new Map([...types].map(([name, members]) => [name, ownText(name, members)]));
  const sorted = [...types.keys()].sort();
  const used = new Set(roots.flatMap((root) => [...referredTo(root, types)]));
  return [...used].map((name) => {
    const referred = referredTo(name, types);
    const others = sorted.filter((other) => other !== name && referred.has(other));
    const texts = [name, ...others].map((one) => own.get(one)!);
    const characters = texts.reduce((total, text) => total + text.length, 0);
    spend(budget, "characters in the texts of its types", characters);
    return [name, texts];
  });
}

function ownText(name: string, members: readonly Member[]): string {
  return `${name}(${members.map((member) => `${member.type} ${member.name}`).join()})`;
}

/** Returns the names of a type and of all types that it refers to. The loop also visits names added meanwhile, once. */
function referredTo(name: string, types: Types): ReadonlySet<string> {
  const found = new Set([name]);
  for (const one of found) for (const { base } of types.get(one)!) if (types.has(base)) found.add(base);
  return found;
}

function spendValues(value: JsonValue | undefined, budget: TypedDataBudget, level = 1): void {
  limit("levels of values", level);
  spend(budget, "values", 1);
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value) as JsonValue[]) spendValues(inner, budget, level + 1);
}

function structHash(name: string, value: JsonValue | undefined, hashing: Hashing): Uint8Array {
  if (!isJsonObject(value)) throw new UncheckedError("the typed data does not fit its types");
  const members = hashing.types.get(name)!.map((member) => encoded(member, value[member.name], hashing));
  return hashing.hash(concatBytes(hashing.hashes.get(name)!, ...members));
}

/** Encodes a value. `level` is the number of array levels that remain around the base type. */
function encoded(
  member: Member,
  value: JsonValue | undefined,
  hashing: Hashing,
  level = member.counts.length,
): Uint8Array {
  const { base: type, counts } = member;
  if (level > 0) {
    const count = counts[level - 1] ?? null;
    if (!Array.isArray(value) || (count !== null && value.length !== count)) return misfit();
    return hashing.hash(concatBytes(...value.map((one) => encoded(member, one, hashing, level - 1))));
  }
  if (hashing.types.has(type)) return structHash(type, value, hashing);
  if (type === "string") return typeof value === "string" ? hashing.hash(toUtf8(value)) : misfit();
  if (type === "bytes") return hashing.hash(prefixedHex(value) ?? misfit());
  return atom(type, value);
}

/** Encodes an atomic value in 32 bytes. */
function atom(type: string, value: JsonValue | undefined): Uint8Array {
  if (type === "address") return concatBytes(new Uint8Array(12), fixedBytes(value, 20));
  if (type === "bool") return typeof value === "boolean" ? word(value ? 1n : 0n) : misfit();
  const [, kind, size] = /^(bytes|uint|int)([1-9][0-9]{0,2})$/.exec(type) ?? [];
  if (kind === undefined) return misfit();
  const width = Number(size);
  return kind === "bytes" ? shortBytes(value, width) : word(sizedInteger(value, width, kind === "int"));
}

function shortBytes(value: JsonValue | undefined, length: number): Uint8Array {
  return length <= 32 ? concatBytes(fixedBytes(value, length), new Uint8Array(32 - length)) : misfit();
}

function sizedInteger(value: JsonValue | undefined, width: number, isSigned: boolean): bigint {
  if (width % 8 !== 0 || width > 256) return misfit();
  const bits = BigInt(width);
  return isSigned ? integer(value, -(1n << (bits - 1n)), bits - 1n) : integer(value, 0n, bits);
}

function misfit(): never {
  throw new UncheckedError("the typed data does not fit its types, or has a type that this version does not know");
}

function prefixedHex(value: JsonValue | undefined): Uint8Array | null {
  return typeof value === "string" && value.startsWith("0x") ? hexBytes(value) : null;
}

function fixedBytes(value: JsonValue | undefined, length: number): Uint8Array {
  const bytes = prefixedHex(value);
  return bytes?.length === length ? bytes : misfit();
}

/** Maximum length of an integer as text. uint256 needs 78 characters, or 66 in hex. */
const MAX_DIGITS = 100;

/** Reads an integer of at least `least` and below 2^bits. */
function integer(value: JsonValue | undefined, least: bigint, bits: bigint): bigint {
  if (typeof value === "string" && value.length > MAX_DIGITS)
    throw new UncheckedError(`an integer has more than ${MAX_DIGITS} digits`);
  const isNumber = Number.isSafeInteger(value) || (typeof value === "string" && /^(?:-?\d+|0x[0-9a-f]+)$/i.test(value));
  const number = isNumber ? BigInt(value as string | number) : null;
  return number !== null && number >= least && number < 1n << bits ? number : misfit();
}
