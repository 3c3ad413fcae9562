/** Makes signatures for Ethereum: transactions (RLP), typed data (EIP-712), authorizations (EIP-7702). */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { invalid } from "./refusal.js";

type Rlp = Uint8Array | readonly Rlp[];
export interface EcdsaSignature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  /** Whether the point's y is odd. */
  readonly yParity: 0 | 1;
}
type Sign = (digest: Uint8Array) => EcdsaSignature;

/** The number of members of each unsigned transaction, by its type's byte: EIP-2930, 1559, 4844, 7702. */
const TYPED: Readonly<Record<number, number>> = { 1: 8, 2: 9, 3: 11, 4: 10 };

/** Signs an unsigned transaction, legacy or typed. */
export function signedEthereum(unsigned: Uint8Array, sign: Sign): Uint8Array {
  const type = unsigned[0]!;
  const members = decodeRlp(type < 0xc0 ? unsigned.subarray(1) : unsigned);
  if (type < 0xc0) return signedTyped(type, members, sign(keccak_256(unsigned)));
  if (members.length !== 6 && members.length !== 9) throw unreadable();
  const chainId = members.length === 9 ? numberOf(members[6] as Uint8Array) : undefined;
  const { r, s, yParity } = sign(keccak_256(unsigned));
  // `v` also encodes the chain id, if there is one (EIP-155).
  const v = BigInt(yParity) + (chainId === undefined ? 27n : chainId * 2n + 35n);
  return encodeRlp([...members.slice(0, 6), minimal(v), trimmed(r), trimmed(s)]);
}

function signedTyped(type: number, members: readonly Rlp[], { r, s, yParity }: EcdsaSignature): Uint8Array {
  if (members.length !== TYPED[type]) throw unreadable();
  const signed = [...members, minimal(BigInt(yParity)), trimmed(r), trimmed(s)];
  return concatBytes(Uint8Array.of(type), encodeRlp(signed));
}

function unreadable(): Error {
  return invalid("parameters.unsignedTransaction: expected an unsigned Ethereum transaction");
}

export function encodeRlp(item: Rlp): Uint8Array {
  if (!(item instanceof Uint8Array)) return withLength(0xc0, concatBytes(...item.map(encodeRlp)));
  return item.length === 1 && item[0]! < 0x80 ? item : withLength(0x80, item);
}

function withLength(base: number, content: Uint8Array): Uint8Array {
  if (content.length < 56) return concatBytes(Uint8Array.of(base + content.length), content);
  const length = minimal(BigInt(content.length));
  return concatBytes(Uint8Array.of(base + 55 + length.length), length, content);
}

/** Returns the items of a list. The list must fill all bytes. */
export function decodeRlp(bytes: Uint8Array): Rlp[] {
  const [item] = bytes.length === 0 || bytes[0]! < 0xc0 ? [] : readItems(bytes);
  if (item === undefined || item instanceof Uint8Array || toHex(encodeRlp(item)) !== toHex(bytes)) throw unreadable();
  return [...item];
}

function readItems(bytes: Uint8Array): Rlp[] {
  const items: Rlp[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at]!;
    const base = first < 0xc0 ? 0x80 : 0xc0;
    const lengthBytes = first < 0x80 ? 0 : Math.max(0, first - base - 55);
    const length = lengthBytes === 0 ? first - base : Number(numberOf(bytes.subarray(at + 1, at + 1 + lengthBytes)));
    const start = first < 0x80 ? at : at + 1 + lengthBytes;
    const end = first < 0x80 ? at + 1 : start + length;
    if (end > bytes.length) throw unreadable();
    const content = bytes.subarray(start, end);
    items.push(base === 0xc0 ? readItems(content) : content);
    at = end;
  }
  return items;
}

/** Encodes a number in big endian, without leading zeros. The result is empty for 0. */
function minimal(value: bigint): Uint8Array {
  const digits = value.toString(16);
  return value === 0n ? new Uint8Array() : fromHex(digits.length % 2 ? `0${digits}` : digits)!;
}

function trimmed(bytes: Uint8Array): Uint8Array {
  return minimal(numberOf(bytes));
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes) || "0"}`);
}

/** Returns the digest of `{address, chainId, nonce}` (EIP-7702). */
export function authorizationDigest({ address, chainId, nonce }: JsonObject): Uint8Array {
  const list = [
    minimal(BigInt(chainId as number)),
    fromHex(String(address).slice(2))!,
    minimal(BigInt(nonce as number)),
  ];
  return keccak_256(concatBytes(Uint8Array.of(5), encodeRlp(list)));
}

type Types = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;

/** Returns the digest of `{types, primaryType, domain, message}` (EIP-712). */
export function typedDataDigest({ types, primaryType, domain, message }: JsonObject): Uint8Array {
  const all = types as unknown as Types;
  if (all["EIP712Domain"] === undefined || all[String(primaryType)] === undefined)
    throw invalid("parameters.payload: expected typed data with types of the domain and of the message");
  const hashes = [structHash("EIP712Domain", domain!, all), structHash(String(primaryType), message!, all)];
  return keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), ...hashes));
}

function structHash(name: string, value: JsonValue, types: Types): Uint8Array {
  if (!isJsonObject(value)) throw invalid(`parameters.payload: expected ${name}`);
  const members = types[name]!.map((member) => encodeValue(member.type, value[member.name]!, types));
  return keccak_256(concatBytes(keccak_256(toUtf8(encodeType(name, types))), ...members));
}

function encodeType(name: string, types: Types): string {
  const used = new Set<string>();
  const visit = (one: string): void => {
    if (types[one] === undefined || used.has(one)) return;
    used.add(one);
    for (const { type } of types[one]) visit(type.replace(/\[.*$/, ""));
  };
  visit(name);
  used.delete(name);
  const text = (one: string): string => `${one}(${types[one]!.map((each) => `${each.type} ${each.name}`).join()})`;
  return [name, ...[...used].sort()].map(text).join("");
}

function encodeValue(type: string, value: JsonValue, types: Types): Uint8Array {
  const array = /^(.*)\[[0-9]*\]$/.exec(type);
  if (array !== null)
    return keccak_256(concatBytes(...(value as JsonValue[]).map((one) => encodeValue(array[1]!, one, types))));
  if (types[type] !== undefined) return structHash(type, value, types);
  if (type === "string") return keccak_256(toUtf8(String(value)));
  if (type === "bytes") return keccak_256(fromHex(String(value).slice(2))!);
  const word = new Uint8Array(32);
  if (type.startsWith("bytes")) word.set(fromHex(String(value).slice(2))!);
  else word.set(wordOf(value));
  return word;
}

/** Encodes a number, an address or a boolean in 32 bytes. */
function wordOf(value: JsonValue): Uint8Array {
  const number = BigInt.asUintN(256, BigInt(value as string | number | boolean));
  return fromHex(number.toString(16).padStart(64, "0"))!;
}
