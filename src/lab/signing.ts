/** Operations that sign: payloads of three curves, and transactions of Ethereum, Solana, Tron and Bitcoin. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, equalBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { type ReadOf, list, nonEmptyText, object, oneOf, text } from "../decode/shapes.js";
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { formatOf } from "./addresses-of.js";
import { signedPsbt, taprootKey } from "./bitcoin.js";
import { ed25519Sign, noble } from "./curves.js";
import { sha256 } from "./qos.js";
import { type EcdsaSignature, authorizationDigest, signedEthereum, typedDataDigest } from "./ethereum.js";
import { Refusal, invalid, notFound } from "./refusal.js";
import type { Call, Outcome } from "./call.js";
import type { Reader } from "./state.js";
import { type WalletKey, keyAt, keyOfSecret } from "./wallet.js";

const howToSign = {
  signWith: nonEmptyText,
  encoding: oneOf(
    "PAYLOAD_ENCODING_HEXADECIMAL",
    "PAYLOAD_ENCODING_TEXT_UTF8",
    "PAYLOAD_ENCODING_EIP712",
    "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
  ),
  hashFunction: oneOf(
    "HASH_FUNCTION_NO_OP",
    "HASH_FUNCTION_SHA256",
    "HASH_FUNCTION_KECCAK256",
    "HASH_FUNCTION_NOT_APPLICABLE",
  ),
};
const rawPayload = object({ ...howToSign, payload: text });
const rawPayloads = object({ ...howToSign, payloads: list(text, 1, 100) });
const transaction = object({
  signWith: nonEmptyText,
  unsignedTransaction: nonEmptyText,
  type: oneOf(
    "TRANSACTION_TYPE_ETHEREUM",
    "TRANSACTION_TYPE_SOLANA",
    "TRANSACTION_TYPE_TRON",
    "TRANSACTION_TYPE_BITCOIN",
  ),
});
export const signingShapes = { rawPayload, rawPayloads, transaction };
type Transaction = Omit<ReadOf<typeof transaction>, "signWith">;

export function signRawPayload({ tx, organization, parameters }: Call<ReadOf<typeof rawPayload>>): Outcome {
  return { result: signedPayload(keyOf(tx, organization.organizationId, parameters.signWith), parameters) };
}

export function signRawPayloads({ tx, organization, parameters }: Call<ReadOf<typeof rawPayloads>>): Outcome {
  const { payloads, ...how } = parameters;
  const key = keyOf(tx, organization.organizationId, how.signWith);
  return { result: { signatures: payloads.map((payload) => signedPayload(key, { ...how, payload })) } };
}

export function signTransaction({ tx, organization, parameters }: Call<ReadOf<typeof transaction>>): Outcome {
  const key = keyOf(tx, organization.organizationId, parameters.signWith);
  return { result: { signedTransaction: signedTransaction(key, parameters) } };
}

/** Returns the key. `signWith` is an address, or the id of an account or a private key. */
export function keyOf(reader: Reader, organizationId: string, signWith: string): WalletKey {
  const key = accountKey(reader, organizationId, signWith) ?? privateKey(reader, organizationId, signWith);
  if (key === undefined) throw notFound(`organization ${organizationId} has no key ${signWith} that can sign`);
  return key;
}

function accountKey(reader: Reader, organizationId: string, signWith: string): WalletKey | undefined {
  for (const { accounts, seed, ...wallet } of reader.all("wallets")) {
    if (seed === undefined || wallet.organizationId !== organizationId) continue;
    const account = accounts.find((one) => isAddress(one.address, signWith) || one.walletAccountId === signWith);
    if (account !== undefined) return keyAt(fromHex(seed)!, account);
  }
  return undefined;
}

function privateKey(reader: Reader, organizationId: string, signWith: string): WalletKey | undefined {
  for (const { privateKeyId, addresses, curve, secret, ...owner } of reader.all("privateKeys")) {
    if (owner.organizationId !== organizationId) continue;
    const addressFormat = addresses.find(({ address }) => isAddress(address, signWith))?.format;
    if (privateKeyId === signWith || addressFormat !== undefined)
      return { ...keyOfSecret(fromHex(secret)!, curve), addressFormat };
  }
  return undefined;
}

/** Returns whether two addresses are equal. For Ethereum addresses, capitals are a checksum and are ignored. */
function isAddress(address: string, signWith: string): boolean {
  return address.startsWith("0x") ? address.toLowerCase() === signWith.toLowerCase() : address === signWith;
}

type Payload = ReadOf<typeof rawPayload>;
type SignatureScheme = "taproot" | "schnorr" | undefined;

function schemeOf({ addressFormat }: WalletKey): SignatureScheme {
  return addressFormat && formatOf(addressFormat)?.signs;
}

/** Returns `{r, s, v}` in hex, as the service writes them. */
export function signedPayload(
  key: WalletKey,
  { payload, encoding, hashFunction }: Omit<Payload, "signWith">,
): JsonObject {
  const bytes = payloadBytes(payload, encoding);
  if (key.curve === "CURVE_ED25519") {
    if (hashFunction !== "HASH_FUNCTION_NOT_APPLICABLE")
      throw invalid("parameters.hashFunction: expected HASH_FUNCTION_NOT_APPLICABLE for Ed25519");
    const signature = ed25519Sign(bytes, key.privateKey);
    return { r: toHex(signature.subarray(0, 32)), s: toHex(signature.subarray(32)), v: "00" };
  }
  const [digest, scheme] = [hashed(bytes, hashFunction), schemeOf(key)];
  if (scheme !== undefined) {
    const signature = noble.schnorr.sign(digest, scheme === "taproot" ? taprootKey(key.privateKey) : key.privateKey);
    return { r: toHex(signature.subarray(0, 32)), s: toHex(signature.subarray(32)), v: "00" };
  }
  const { r, s, yParity } = ecdsa(key, digest);
  return { r: toHex(r), s: toHex(s), v: `0${yParity}` };
}

function payloadBytes(payload: string, encoding: Payload["encoding"]): Uint8Array {
  if (encoding === "PAYLOAD_ENCODING_TEXT_UTF8") return toUtf8(payload);
  if (encoding === "PAYLOAD_ENCODING_HEXADECIMAL") return hexBytes("payload", payload);
  try {
    const json = parseJson(toUtf8(payload));
    if (!isJsonObject(json)) throw invalid("parameters.payload: expected a JSON object");
    return encoding === "PAYLOAD_ENCODING_EIP712" ? typedDataDigest(json) : authorizationDigest(json);
  } catch (error) {
    throw error instanceof Refusal ? error : invalid(`parameters.payload: it does not fit ${encoding}`);
  }
}

function hexBytes(name: string, value: string): Uint8Array {
  const bytes = fromHex(value.replace(/^0x/, "").toLowerCase());
  if (bytes === null || bytes.length === 0) throw invalid(`parameters.${name}: expected hex`);
  return bytes;
}

function hashed(bytes: Uint8Array, hashFunction: Payload["hashFunction"]): Uint8Array {
  if (hashFunction === "HASH_FUNCTION_SHA256") return sha256(bytes);
  if (hashFunction === "HASH_FUNCTION_KECCAK256") return keccak_256(bytes);
  if (hashFunction !== "HASH_FUNCTION_NO_OP" || bytes.length !== 32)
    throw invalid(
      "parameters.hashFunction: expected a hash function, or a payload of 32 bytes and HASH_FUNCTION_NO_OP",
    );
  return bytes;
}

/** Signs with ECDSA, and makes s the lower of its two values. */
function ecdsa({ privateKey, curve }: WalletKey, digest: Uint8Array): EcdsaSignature {
  const signature = (curve === "CURVE_P256" ? noble.p256 : noble.secp256k1).sign(digest, privateKey, {
    prehash: false,
    lowS: true,
    format: "recovered",
  });
  return { yParity: signature[0] as 0 | 1, r: signature.subarray(1, 33), s: signature.subarray(33) };
}

/** By type: the curve, and the signed transaction. */
const TRANSACTIONS: Readonly<
  Record<Transaction["type"], readonly [WalletKey["curve"], (bytes: Uint8Array, key: WalletKey) => Uint8Array]>
> = {
  TRANSACTION_TYPE_ETHEREUM: ["CURVE_SECP256K1", (bytes, key) => signedEthereum(bytes, (digest) => ecdsa(key, digest))],
  TRANSACTION_TYPE_SOLANA: ["CURVE_ED25519", signedSolana],
  TRANSACTION_TYPE_TRON: ["CURVE_SECP256K1", signedTron],
  TRANSACTION_TYPE_BITCOIN: ["CURVE_SECP256K1", signedPsbt],
};

/** Returns the signed transaction in hex, without 0x. */
export function signedTransaction(key: WalletKey, { unsignedTransaction, type }: Transaction): string {
  const [curve, signed] = TRANSACTIONS[type];
  if (curve !== key.curve) throw invalid(`parameters.signWith: a key of ${key.curve}; ${type} needs ${curve}`);
  return toHex(signed(hexBytes("unsignedTransaction", unsignedTransaction), key));
}

/** Signs the raw data of a Tron transaction: a message of protobuf with the data and its signature, `r ‖ s ‖ v`. */
function signedTron(rawData: Uint8Array, key: WalletKey): Uint8Array {
  const { r, s, yParity } = ecdsa(key, sha256(rawData));
  const lengths: number[] = [];
  for (let rest = rawData.length; rest > 0; rest >>>= 7) lengths.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  return concatBytes(Uint8Array.of(0x0a, ...lengths), rawData, Uint8Array.of(0x12, 65), r, s, Uint8Array.of(yParity));
}

const SIGNATURE_LENGTH = 64;

/** Signs a Solana transaction. Places for signatures precede the message; the key's place is filled. */
function signedSolana(bytes: Uint8Array, { privateKey, publicKey }: WalletKey): Uint8Array {
  const count = bytes[0]!;
  const message = bytes.subarray(1 + count * SIGNATURE_LENGTH);
  const header = message[0]! >= 0x80 ? 1 : 0;
  const [signers, keys] = [message[header], message.subarray(header + 4)];
  const index = Array.from({ length: count }, (_, at) => keys.subarray(at * 32, at * 32 + 32)).findIndex((key) =>
    equalBytes(key, publicKey),
  );
  if (count >= 0x80 || signers !== count || index < 0)
    throw invalid("parameters.unsignedTransaction: expected a Solana transaction that the key signs");
  const start = 1 + index * SIGNATURE_LENGTH;
  const signature = ed25519Sign(message, privateKey);
  return concatBytes(bytes.subarray(0, start), signature, bytes.subarray(start + SIGNATURE_LENGTH));
}
