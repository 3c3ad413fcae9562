/**
 * Verification of the signatures in an activity's result, which no app proof covers. Each is verified under the
 * request's `signWith`, over what the caller submitted (verify/README.md, "Signatures"). This file is loaded only for
 * requests that sign.
 */
import { concatBytes, toHex } from "../bytes.js";
import { type Activity, COMPLETED, soleMember } from "../decode/activity.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { cut } from "../errors.js";
import { inTurns } from "./in-turns.js";
import {
  type TypedDataBudget,
  UncheckedError,
  hexBytes,
  payloadBytes,
  payloadDigest,
  typedDataBudget,
  wordOf,
} from "./signed-content.js";
import { verifyTransaction } from "./signed-transactions.js";
import {
  type Signer,
  WrongSignatureError,
  isEd25519Signature,
  isKeyOf,
  isSchnorrSignature,
  namedSigner,
  uncheckedBy,
  verifyEcdsa,
  wrong,
} from "./signers.js";

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
  /** Reason why no signature can be asked about, or null: `signWith` hides a script. */
  readonly hiddenBy: string | null;
}

export interface SignedRequest {
  readonly kind: "payload" | "payloads" | "transaction";
  readonly parameters: JsonObject;
  /** The caller's public key, in hex, for an address that is a hash of it. */
  readonly publicKey?: string | null;
}

/** Returns the key that signed, or throws {@link UncheckedError} or {@link WrongSignatureError}. */
type Verify = () => Uint8Array | Promise<Uint8Array>;

/** Maximum number of signatures. Each takes milliseconds, and somebody else may choose how many there are. */
const MAX_SIGNATURES = 256;

/** Verifies all signatures. Returns null for an activity that is not completed, which fails `activity.request`. */
export async function verifySignatures(
  { kind, parameters, publicKey = null }: SignedRequest,
  { status, result: results }: Activity,
): Promise<VerifiedSignatures | null> {
  if (status !== COMPLETED) return null;
  const signWith = signWithOf(parameters);
  const signer = await namedSigner(signWith, publicKey);
  const result = soleMember(results);
  const outcome = isJsonObject(result) ? result : {};
  const verified = (index: number, verify: Verify): Promise<Outcome> => outcomeOf(index, { signWith, signer }, verify);
  if (kind === "transaction") {
    const one = await verified(0, () => verifyTransaction(parameters, outcome["signedTransaction"], signer));
    return concluded([one], ["signedTransaction"], signer);
  }
  const isList = kind === "payloads";
  const payloads = isList ? listOf(parameters["payloads"]) : [parameters["payload"]];
  const signatures = isList ? listOf(outcome["signatures"]) : [outcome];
  const budget = typedDataBudget();
  const all = await inTurns(payloads.slice(0, MAX_SIGNATURES), 1, (payload, index) =>
    verified(index, () => verifyPayload({ ...parameters, payload: payload! }, signatures[index], { signer, budget })),
  );
  if (payloads.length > MAX_SIGNATURES) all.push(await verified(MAX_SIGNATURES, notChecked));
  const count =
    payloads.length === signatures.length
      ? []
      : [`the result has ${signatures.length} signatures, ${payloads.length} payloads were submitted`];
  const { contradictions, ...rest } = concluded(all, isList ? ["signatures"] : ["r", "s", "v"], signer);
  return { contradictions: [...count, ...contradictions], ...rest };
}

function notChecked(): never {
  throw new UncheckedError(`this version checks ${MAX_SIGNATURES} signatures of a request, and not this one`);
}

interface Outcome {
  readonly signature: VerifiedSignature;
  readonly contradiction: string | null;
}

function concluded(outcomes: readonly Outcome[], members: readonly string[], signer: Signer): VerifiedSignatures {
  const isProven = outcomes.every(({ signature }) => signature.open === null);
  return {
    contradictions: outcomes.flatMap(({ contradiction }) => contradiction ?? []),
    signatures: outcomes.map(({ signature }) => signature),
    provenMembers: isProven ? members : [],
    hiddenBy: signer.kind === "closed" && signer.script !== undefined ? signer.reason : null,
  };
}

const ID_OPEN =
  "signWith is an id, so the key is only the service's word: compare it with the key that you know under that id";

/** Length of the longest known form, an uncompressed point in hex with 0x. */
const MAX_SIGN_WITH = 132;

async function outcomeOf(
  index: number,
  { signWith, signer }: { readonly signWith: string; readonly signer: Signer },
  verify: Verify,
): Promise<Outcome> {
  const made = (key: Uint8Array | null, open: string | null, contradiction: string | null = null): Outcome => ({
    signature: { index, signWith: cut(signWith, MAX_SIGN_WITH), publicKey: key && toHex(key), open },
    contradiction: contradiction && `signature ${index}: ${contradiction}`,
  });
  try {
    const key = await verify();
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

/** Whether the address is of the public key, in hex. Null if no key can be held against an address of that form. */
export async function isAddressOf(address: string, publicKey: string): Promise<boolean | null> {
  return isKeyOf(await namedSigner(address, null), hexBytes(publicKey) ?? new Uint8Array());
}

function verifyPayload(
  parameters: JsonObject,
  given: JsonValue | undefined,
  { signer, budget }: { readonly signer: Signer; readonly budget: TypedDataBudget },
): Uint8Array {
  const { payload, encoding, hashFunction } = parameters;
  const { r: first, s: second, v } = isJsonObject(given) ? given : {};
  const [r, s] = [wordOf(first), wordOf(second)];
  if (r === null || s === null) throw new WrongSignatureError("expected r and s of 1 to 32 bytes in hex, not zero");
  if (signer.kind === "closed" || signer.kind === "withheld") throw uncheckedBy(signer);
  const bytes = payloadBytes(payload, encoding, budget);
  const isEd25519 = hashFunction === "HASH_FUNCTION_NOT_APPLICABLE";
  if (signer.kind === "ed25519" || isEd25519)
    return verifyEd25519Payload(bytes, concatBytes(r, s), { signer, isEd25519 });
  const digest = payloadDigest(bytes, hashFunction, isDigestOf(encoding));
  if (signer.kind === "taproot") return verifySchnorrPayload(digest, concatBytes(r, s), { v, key: signer.outputKey });
  if (signer.kind === "spark") return verifySchnorrPayload(digest, concatBytes(r, s), { v, key: signer.publicKey });
  if (typeof v !== "string" || !V.test(v)) throw new WrongSignatureError("expected v of 00, 01, 1b or 1c in hex");
  return verifyEcdsa({ r, s, yParity: Number(/[1c8]$/i.test(v)) }, digest, signer);
}

/** The parity, or 27 plus the parity. 27 and 28 are decimal, because neither 0x27 nor 0x28 is a valid v. */
const V = /^(?:(?:0x)?(?:0?[01]|1[bc])|2[78])$/i;

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
  return isEd25519Signature(signature, message, signer.publicKey) ? signer.publicKey : wrong();
}

/** Verifies a payload by BIP-340, under the x coordinate of a key. Its signatures have no recovery id. */
function verifySchnorrPayload(
  digest: Uint8Array,
  signature: Uint8Array,
  { v, key }: { readonly v: JsonValue | undefined; readonly key: Uint8Array },
): Uint8Array {
  if (typeof v !== "string" || !/^(?:0x)?00?$/i.test(v)) throw new WrongSignatureError("expected v of 00 in hex");
  return isSchnorrSignature(signature, digest, key.slice(-32)) ? key : wrong();
}
