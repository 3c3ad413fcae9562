/**
 * Verification of the signatures in an activity's result, which no app proof covers. Each is verified under the
 * request's `signWith`, over what the caller submitted (verify/README.md, "Signatures"). This file is loaded only for
 * requests that sign.
 */
import { concatBytes, equalBytes, fromHex, toHex } from "../bytes.js";
import { type Activity, COMPLETED, soleMember } from "../decode/activity.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { cut } from "../errors.js";
import { inTurns } from "./in-turns.js";
import { ed25519Curve, keccak_256, p256, secp256k1 } from "./noble-signatures.js";
import {
  type TypedDataBudget,
  UncheckedError,
  type Ecdsa,
  hexBytes,
  payloadBytes,
  payloadDigest,
  typedDataBudget,
  unsignedEthereum,
} from "./signed-content.js";

export interface VerifiedSignature {
  /** Index of the payload among the submitted ones, or 0 for a transaction. */
  readonly index: number;
  /** Signer as submitted. It is truncated if it is longer than any key or address. */
  readonly signWith: string;
  /** The key, in hex, that verifies the signature, or null if none was found. */
  readonly publicKey: string | null;
  /** Statement of what is not proven, or null if the signature verifies under `signWith`. */
  readonly open: string | null;
}

export interface VerifiedSignatures {
  readonly contradictions: readonly string[];
  readonly signatures: readonly VerifiedSignature[];
  /** Members of the result that the signatures prove. */
  readonly provenMembers: readonly string[];
}

export interface SignedRequest {
  readonly kind: "payload" | "payloads" | "transaction";
  readonly parameters: JsonObject;
}

/** Kind of `signWith`. An id names no key, so any key that verifies is accepted and reported. */
type Signer =
  | { readonly kind: "ethereum"; readonly address: Uint8Array }
  | { readonly kind: "ecdsa"; readonly publicKey: Uint8Array }
  | { readonly kind: "ed25519"; readonly publicKey: Uint8Array }
  | { readonly kind: "id" }
  | { readonly kind: "unknown" };

class WrongSignatureError extends Error {}

/** Maximum number of signatures. Each takes milliseconds, and somebody else may choose how many there are. */
const MAX_SIGNATURES = 256;

/** Verifies all signatures. Returns null for an activity that is not completed, which fails `activity.request`. */
export async function verifySignatures(
  { kind, parameters }: SignedRequest,
  { status, result: results }: Activity,
): Promise<VerifiedSignatures | null> {
  if (status !== COMPLETED) return null;
  const signWith = signWithOf(parameters);
  const signer = signerOf(signWith);
  const result = soleMember(results);
  const outcome = isJsonObject(result) ? result : {};
  const verified = (index: number, verify: () => Uint8Array): Outcome => outcomeOf(index, { signWith, signer }, verify);
  if (kind === "transaction") {
    const one = verified(0, () => verifyTransaction(parameters, outcome["signedTransaction"], signer));
    return concluded([one], ["signedTransaction"]);
  }
  const isList = kind === "payloads";
  const payloads = isList ? listOf(parameters["payloads"]) : [parameters["payload"]];
  const signatures = isList ? listOf(outcome["signatures"]) : [outcome];
  const budget = typedDataBudget();
  const all = await inTurns(payloads.slice(0, MAX_SIGNATURES), 1, (payload, index) =>
    verified(index, () => verifyPayload({ ...parameters, payload: payload! }, signatures[index], { signer, budget })),
  );
  if (payloads.length > MAX_SIGNATURES) all.push(verified(MAX_SIGNATURES, notChecked));
  const count =
    payloads.length === signatures.length
      ? []
      : [`the result has ${signatures.length} signatures, ${payloads.length} payloads were submitted`];
  const { contradictions, ...rest } = concluded(all, isList ? ["signatures"] : ["r", "s", "v"]);
  return { contradictions: [...count, ...contradictions], ...rest };
}

function notChecked(): never {
  throw new UncheckedError(`this version checks ${MAX_SIGNATURES} signatures of a request, and not this one`);
}

interface Outcome {
  readonly signature: VerifiedSignature;
  readonly contradiction: string | null;
}

function concluded(outcomes: readonly Outcome[], members: readonly string[]): VerifiedSignatures {
  const isProven = outcomes.every(({ signature }) => signature.open === null);
  return {
    contradictions: outcomes.flatMap(({ contradiction }) => contradiction ?? []),
    signatures: outcomes.map(({ signature }) => signature),
    provenMembers: isProven ? members : [],
  };
}

const ID_OPEN =
  "signWith is an id, so the key is only the service's word: compare it with the key that you know under that id";

/** Length of the longest known form, an uncompressed point in hex with 0x. */
const MAX_SIGN_WITH = 132;

/** Runs `verify`, which returns the key that signed or throws. Returns the outcome. */
function outcomeOf(
  index: number,
  { signWith, signer }: { readonly signWith: string; readonly signer: Signer },
  verify: () => Uint8Array,
): Outcome {
  const made = (key: Uint8Array | null, open: string | null, contradiction: string | null = null): Outcome => ({
    signature: { index, signWith: cut(signWith, MAX_SIGN_WITH), publicKey: key && toHex(key), open },
    contradiction: contradiction && `signature ${index}: ${contradiction}`,
  });
  try {
    const key = verify();
    return made(key, signer.kind === "id" ? ID_OPEN : null);
  } catch (error) {
    if (error instanceof UncheckedError) return made(null, error.message);
    if (error instanceof WrongSignatureError) return made(null, error.message, error.message);
    throw error;
  }
}

/** Returns the signer's text. Earlier versions of the activities have `privateKeyId`. */
function signWithOf({ signWith, privateKeyId }: JsonObject): string {
  const named = signWith ?? privateKeyId;
  return typeof named === "string" ? named : "";
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function signerOf(signWith: string): Signer {
  if (/^0x[0-9a-f]{40}$/i.test(signWith)) return { kind: "ethereum", address: hexBytes(signWith)! };
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(signWith)) return { kind: "id" };
  // 32 bytes in hex with 0x are an address of another chain, and not a key.
  if (/^(?:0x)?(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(signWith))
    return { kind: "ecdsa", publicKey: hexBytes(signWith)! };
  const key = /^[0-9a-f]{64}$/i.test(signWith) ? hexBytes(signWith) : base58Key(signWith);
  return key?.length === 32 ? { kind: "ed25519", publicKey: key } : { kind: "unknown" };
}

/** Whether the address is of the public key, in hex. Null if this version computes no address of that form. */
export function isAddressOf(address: string, publicKey: string): boolean | null {
  const signer = signerOf(address);
  const key = hexBytes(publicKey) ?? new Uint8Array();
  if (signer.kind === "ed25519") return equalBytes(key, signer.publicKey);
  if (signer.kind === "ethereum") return attempt(() => equalBytes(ethereumAddress(key), signer.address)) === true;
  if (signer.kind !== "ecdsa") return null;
  return [secp256k1, p256].some((curve) => {
    const [own, named] = [compressed(curve, key), compressed(curve, signer.publicKey)];
    return own !== null && named !== null && equalBytes(own, named);
  });
}

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Decodes base58 of 32 bytes, where a leading 1 is a zero byte. Returns null for anything else. */
function base58Key(text: string): Uint8Array | null {
  if (text.length < 32 || text.length > 44) return null;
  const digits = [...text].map((character) => BASE58.indexOf(character));
  if (digits.includes(-1)) return null;
  const hex = digits.reduce((number, digit) => number * 58n + BigInt(digit), 0n).toString(16);
  const bytes = fromHex(hex.padStart(64, "0"));
  const zeros = bytes?.findIndex((byte) => byte !== 0);
  return bytes?.length === 32 && zeros === /^1*/.exec(text)![0].length ? bytes : null;
}

const UNKNOWN_SIGNER = "the address format of signWith is unknown to this version";
const WRONG = "it does not verify under signWith over what was submitted";

function verifyPayload(
  parameters: JsonObject,
  given: JsonValue | undefined,
  { signer, budget }: { readonly signer: Signer; readonly budget: TypedDataBudget },
): Uint8Array {
  const { payload, encoding, hashFunction } = parameters;
  const { r: first, s: second, v } = isJsonObject(given) ? given : {};
  const [r, s] = [wordOf(first), wordOf(second)];
  if (r === null || s === null) throw new WrongSignatureError("expected r and s of 1 to 32 bytes in hex, not zero");
  if (signer.kind === "unknown") throw new UncheckedError(UNKNOWN_SIGNER);
  const bytes = payloadBytes(payload, encoding, budget);
  const isEd25519 = hashFunction === "HASH_FUNCTION_NOT_APPLICABLE";
  if (signer.kind === "ed25519" || isEd25519)
    return verifyEd25519Payload(bytes, concatBytes(r, s), { signer, isEd25519 });
  const digest = payloadDigest(bytes, hashFunction, isDigestOf(encoding));
  if (typeof v !== "string" || !V.test(v)) throw new WrongSignatureError("expected v of 00, 01, 1b or 1c in hex");
  return verifyEcdsa({ r, s, yParity: Number(/[1c8]$/i.test(v)) }, digest, signer);
}

/** The parity, or 27 plus the parity. 27 and 28 are decimal, because neither 0x27 nor 0x28 is a valid v. */
const V = /^(?:(?:0x)?(?:0?[01]|1[bc])|2[78])$/i;

/** Reads an integer in hex, left-padded to 32 bytes. Clients trim or keep its leading zeros. Zero is never valid. */
function wordOf(part: JsonValue | undefined): Uint8Array | null {
  const digits = /^(?:0x)?(?=0*[1-9a-f])([0-9a-f]{1,64})$/i.exec(typeof part === "string" ? part : "")?.[1];
  return digits === undefined ? null : fromHex(digits.padStart(64, "0"));
}

function isDigestOf(encoding: JsonValue | undefined): boolean {
  return encoding === "PAYLOAD_ENCODING_EIP712" || encoding === "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION";
}

/** Verifies a payload under Ed25519, which signs payloads only unhashed (RFC 8032). */
function verifyEd25519Payload(
  message: Uint8Array,
  signature: Uint8Array,
  { signer, isEd25519 }: { readonly signer: Signer; readonly isEd25519: boolean },
): Uint8Array {
  if (signer.kind === "id") throw new UncheckedError("signWith is an id, which names no public key");
  if (signer.kind !== "ed25519" || !isEd25519)
    throw new UncheckedError("the hash function does not fit the key of signWith");
  if (!isEd25519Signature(signature, message, signer.publicKey)) throw new WrongSignatureError(WRONG);
  return signer.publicKey;
}

/** Verifies by RFC 8032 with canonical encodings, and refuses keys of small order, under which anything verifies. */
function isEd25519Signature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return attempt(() => ed25519Curve.verify(signature, message, publicKey, { zip215: false })) === true;
}

/** Returns the compressed key under which the signature, with its `v`, verifies. A high `s` is valid. */
function verifyEcdsa({ r, s, yParity }: Ecdsa, digest: Uint8Array, signer: Signer): Uint8Array {
  const key = recovered({ r, s, yParity }, digest);
  if (signer.kind === "id") return key ?? wrong();
  if (signer.kind === "ethereum") return key && equalBytes(ethereumAddress(key), signer.address) ? key : wrong();
  if (signer.kind !== "ecdsa") throw new UncheckedError(UNKNOWN_SIGNER);
  const wanted = compressed(secp256k1, signer.publicKey);
  if (wanted !== null && key !== null && equalBytes(key, wanted)) return wanted;
  return verifyP256(concatBytes(r, s), digest, signer.publicKey) ?? wrong();
}

function wrong(): never {
  throw new WrongSignatureError(WRONG);
}

/** Verifies under P-256. Its keys have the same form as keys of secp256k1, so both curves are tried. */
function verifyP256(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): Uint8Array | null {
  const key = compressed(p256, publicKey);
  const isValid = (): boolean => p256.verify(signature, digest, key!, { prehash: false, lowS: false });
  return key !== null && attempt(isValid) === true ? key : null;
}

function compressed(curve: typeof secp256k1, publicKey: Uint8Array): Uint8Array | null {
  return attempt(() => curve.Point.fromBytes(publicKey).toBytes(true));
}

function recovered({ r, s, yParity }: Ecdsa, digest: Uint8Array): Uint8Array | null {
  return attempt(() => {
    const signature = secp256k1.Signature.fromBytes(concatBytes(r, s)).addRecoveryBit(yParity);
    return signature.recoverPublicKey(digest).toBytes(true);
  });
}

/** Returns null instead of throwing, since @noble throws for values that are out of range. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function ethereumAddress(publicKey: Uint8Array): Uint8Array {
  return keccak_256(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1)).subarray(-20);
}

const OTHER_TRANSACTION = "it is not the submitted transaction with a signature";

function verifyTransaction(
  { unsignedTransaction, type }: JsonObject,
  given: JsonValue | undefined,
  signer: Signer,
): Uint8Array {
  const unsigned = hexBytes(unsignedTransaction);
  if (unsigned === null) throw new UncheckedError("the submitted transaction is not hex");
  const signed = hexBytes(given);
  if (signed === null) throw new WrongSignatureError("the signed transaction is not hex");
  if (type === "TRANSACTION_TYPE_ETHEREUM") return verifyEthereum(unsigned, signed, signer);
  if (type === "TRANSACTION_TYPE_SOLANA") return verifySolana(unsigned, signed, signer);
  throw new UncheckedError("the type of transaction is unknown to this version");
}

/** Verifies an Ethereum transaction, which is invalid with a high s (EIP-2). */
function verifyEthereum(unsigned: Uint8Array, signed: Uint8Array, signer: Signer): Uint8Array {
  const { digest, signatureOf } = unsignedEthereum(unsigned);
  const signature = signatureOf(signed);
  if (signature === null) throw new WrongSignatureError(OTHER_TRANSACTION);
  if (BigInt(`0x${toHex(signature.s)}`) > secp256k1.Point.Fn.ORDER >> 1n)
    throw new WrongSignatureError("a transaction with a high s is invalid (EIP-2)");
  return verifyEcdsa(signature, digest, signer);
}

const SIGNATURE_LENGTH = 64;
const KEY_LENGTH = 32;

/** A message that names its signers, with one signature for each. */
interface SolanaTransaction {
  readonly signatures: readonly Uint8Array[];
  readonly signers: readonly Uint8Array[];
  readonly message: Uint8Array;
}

function readSolana(bytes: Uint8Array): SolanaTransaction | null {
  const count = bytes[0] ?? 0;
  const message = bytes.subarray(1 + count * SIGNATURE_LENGTH);
  // Only a message with a version begins with a byte of 0x80 or more. A compact length below 0x80 takes one byte.
  const header = message[0]! >= 0x80 ? 1 : 0;
  const [required, keys] = [message[header], message[header + 3] ?? 0];
  const start = header + 4;
  const fits = count > 0 && count < 0x80 && required === count && keys >= count && keys < 0x80;
  if (!fits || message.length < start + keys * KEY_LENGTH) return null;
  const part = (from: Uint8Array, at: number, length: number): Uint8Array => from.subarray(at, at + length);
  const places = Array.from({ length: count }, (_, index) => index);
  return {
    signatures: places.map((index) => part(bytes, 1 + index * SIGNATURE_LENGTH, SIGNATURE_LENGTH)),
    signers: places.map((index) => part(message, start + index * KEY_LENGTH, KEY_LENGTH)),
    message,
  };
}

/** Verifies a transaction that is as submitted, except for the signature of one signer. */
function verifySolana(unsigned: Uint8Array, signed: Uint8Array, signer: Signer): Uint8Array {
  const submitted = readSolana(unsigned);
  if (submitted === null) throw new UncheckedError("it is not a Solana transaction that this version knows");
  const { signers, message, signatures } = submitted;
  const answer = readSolana(signed);
  if (answer === null || !equalBytes(answer.message, message)) throw new WrongSignatureError(OTHER_TRANSACTION);
  const changed = signatures.flatMap((one, index) => (equalBytes(one, answer.signatures[index]!) ? [] : [index]));
  const place = placeOf(signer, signers, changed);
  if (changed.some((index) => index !== place)) throw new WrongSignatureError(OTHER_TRANSACTION);
  const key = signers[place]!;
  return isEd25519Signature(answer.signatures[place]!, message, key) ? key : wrong();
}

/** Returns the index of the signer's key in the message or, for an id, the index where a signature was added. */
function placeOf(signer: Signer, signers: readonly Uint8Array[], changed: readonly number[]): number {
  if (signer.kind === "ed25519") {
    const place = signers.findIndex((one) => equalBytes(one, signer.publicKey));
    return place < 0 ? wrong() : place;
  }
  if (signer.kind !== "id") throw new UncheckedError(UNKNOWN_SIGNER);
  if (changed[0] === undefined) throw new WrongSignatureError("no signature was added");
  return changed[0];
}
