/** Verification of signed transactions by type (verify/README.md, "Signatures"). */
import { concatBytes, equalBytes } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { inTurns } from "./in-turns.js";
import { secp256k1, sha256 } from "./noble-signatures.js";
import { UncheckedError, hexBytes, unsignedEthereum } from "./signed-content.js";
import {
  type Signer,
  WrongSignatureError,
  compressedKey,
  isEd25519Signature,
  isHighS,
  isEcdsaSignature,
  isSchnorrSignature,
  taprootKey,
  uncheckedBy,
  verifyEcdsa,
  wrong,
} from "./signers.js";

const OTHER_TRANSACTION = "it is not the submitted transaction with a signature";

/** Returns the key that signed, or throws {@link UncheckedError} or {@link WrongSignatureError}. */
type Verify = (unsigned: Uint8Array, signed: Uint8Array, signer: Signer) => Uint8Array | Promise<Uint8Array>;

/** The types of the interface (`v1TransactionType` of `@turnkey/http` 6.6). Null means that none is verified. */
const TRANSACTIONS: Readonly<
  Record<`TRANSACTION_TYPE_${"ETHEREUM" | "SOLANA" | "TRON" | "BITCOIN" | "TEMPO"}`, Verify | null>
> = {
  TRANSACTION_TYPE_ETHEREUM: verifyEthereum,
  TRANSACTION_TYPE_SOLANA: verifySolana,
  TRANSACTION_TYPE_TRON: verifyTron,
  TRANSACTION_TYPE_BITCOIN: verifyBitcoin,
  TRANSACTION_TYPE_TEMPO: null,
};

/** Verifies a transaction of any type. Returns the key that signed. */
export function verifyTransaction(
  { unsignedTransaction, type }: JsonObject,
  given: JsonValue | undefined,
  signer: Signer,
): Uint8Array | Promise<Uint8Array> {
  const unsigned = hexBytes(unsignedTransaction);
  if (unsigned === null) throw new UncheckedError("the submitted transaction is not hex");
  const signed = hexBytes(given);
  if (signed === null) throw new WrongSignatureError("the signed transaction is not hex");
  const verify = new Map<JsonValue | undefined, Verify | null>(Object.entries(TRANSACTIONS)).get(type) ?? null;
  if (verify === null) throw new UncheckedError("the type of transaction is unknown to this version");
  return verify(unsigned, signed, signer);
}

/** Verifies an Ethereum transaction, which is invalid with a high s (EIP-2). */
function verifyEthereum(unsigned: Uint8Array, signed: Uint8Array, signer: Signer): Uint8Array {
  const { digest, signatureOf } = unsignedEthereum(unsigned);
  const signature = signatureOf(signed);
  if (signature === null) throw new WrongSignatureError(OTHER_TRANSACTION);
  if (isHighS(signature.s)) throw new WrongSignatureError("a transaction with a high s is invalid (EIP-2)");
  return verifyEcdsa(signature, digest, signer);
}

/** Length of a Tron signature: r, s, and the recovery id, to which 27 may be added. */
const TRON_SIGNATURE = 65;

/**
 * Verifies a Tron transaction: a protobuf message whose first member is the submitted raw data, and whose second is one
 * signature over the SHA-256 of it.
 */
function verifyTron(raw: Uint8Array, signed: Uint8Array, signer: Signer): Uint8Array {
  const signature = signed.subarray(-TRON_SIGNATURE);
  const whole = concatBytes(bytesMember(1, raw), bytesMember(2, signature));
  const v = signature[64]!;
  if (!equalBytes(signed, whole)) throw new WrongSignatureError(OTHER_TRANSACTION);
  const yParity = v < 27 ? v : v - 27;
  if (yParity > 1) wrong();
  return verifyEcdsa({ r: signature.subarray(0, 32), s: signature.subarray(32, 64), yParity }, sha256(raw), signer);
}

/** Encodes a member of a protobuf message, with the shortest length. */
function bytesMember(number: number, bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let left = bytes.length; left > 0 || length.length === 0; left >>>= 7)
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  return concatBytes(Uint8Array.of((number << 3) | 2, ...length), bytes);
}

/** Maximum number of inputs. Each takes milliseconds, and hashes the transaction. */
const MAX_INPUTS = 256;

/** Verifies a PSBT that is as submitted, except for a signature in each input of the signer. */
async function verifyBitcoin(unsigned: Uint8Array, signed: Uint8Array, signer: Signer): Promise<Uint8Array> {
  const { signedPsbt } = await import("./bitcoin.js");
  const isOwn = await ownScripts(signer);
  const psbt = signedPsbt(unsigned, signed, isOwn);
  if (psbt.kind === "wrong") throw new WrongSignatureError(psbt.reason);
  if (psbt.kind === "unchecked") throw new UncheckedError(psbt.reason);
  const checked = psbt.signatures.slice(0, MAX_INPUTS);
  await inTurns(checked, 1, ({ input, scheme, publicKey, signature, digest }) => {
    const isEcdsa = scheme === "ecdsa";
    const isValid = isEcdsa ? isEcdsaSignature : isSchnorrSignature;
    if (!isValid(signature, digest(), publicKey))
      throw new WrongSignatureError(`the signature of input ${input} is not by its key over what was submitted`);
    if (isEcdsa && isHighS(signature.subarray(32)))
      throw new WrongSignatureError(`the signature of input ${input} has a high s, which no node relays (BIP-146)`);
  });
  if (checked.length < psbt.signatures.length)
    throw new UncheckedError(`this version checks ${MAX_INPUTS} inputs of a transaction, and there are more`);
  if (psbt.open !== null) throw new UncheckedError(psbt.open);
  if (isOwn === null && signer.kind !== "id") throw uncheckedBy(signer);
  return checked[0]!.publicKey;
}

/** Returns whether an output is the signer's. Null means that the signer names no output. */
async function ownScripts(signer: Signer): Promise<((script: Uint8Array) => boolean) | null> {
  const named = "script" in signer ? [signer.script!] : [];
  const own = signer.kind === "ecdsa" ? await scriptsOf(signer.publicKey) : named;
  return own.length === 0 ? null : (script) => own.some((one) => equalBytes(one, script));
}

/** Returns the scripts of the outputs that the key can spend. A key of P-256 has none. */
async function scriptsOf(publicKey: Uint8Array): Promise<Uint8Array[]> {
  const { hash160, hashScript, taprootScript, witnessHashScript } = await import("./output-scripts.js");
  const key = compressedKey(secp256k1, publicKey);
  if (key === null) return [];
  const hash = hash160(key);
  return [hashScript(hash), witnessHashScript(hash), taprootScript(taprootKey(key.subarray(1))!)];
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
  if (signer.kind !== "id") throw uncheckedBy(signer);
  if (changed[0] === undefined) throw new WrongSignatureError("no signature was added");
  return changed[0];
}
