/** Bytes that an application signed with its ephemeral key, and that are no app proof (verify/README.md). */
import { equalBytes, fromHex, fromUtf8 } from "../bytes.js";
import type { Cause, Checklist } from "../checks.js";
import { noSignature, rawAppSignature } from "../decode/app-proof.js";
import { APP_PROOF_SCHEME } from "../decode/app-proof-limits.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { P256_POINT_LENGTH, QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { attempt } from "../errors.js";
import {
  type AppProofTools,
  type BootProofCandidate,
  keyCandidates,
  checkSigner,
  checkSignature,
} from "./app-proof-checks.js";
import type { VerifiedBootProof } from "./boot-proof.js";

/** Maximum length of signed bytes: 1 MiB, as of a file of evidence. */
const MAX_SIGNED_BYTES = 1024 * 1024;

/** The names by which applications call ECDSA on P-256 with the ephemeral key over SHA-256 of the bytes. */
const SIGNED_BYTES_SCHEMES: readonly string[] = [APP_PROOF_SCHEME, "SIGNATURE_SCHEME_TURNKEY_P256_EPHEMERAL_KEY"];

/** Copied members of signed bytes: bytes, or text in hex. An absent key is the one that the boot proof attests. */
export interface SignedBytesInput {
  readonly message: Uint8Array | string;
  readonly publicKey: Uint8Array | string | null;
  readonly signature: Uint8Array | string;
  readonly scheme: string;
  /** The bytes that the caller expects. Null means that the caller expects none. */
  readonly expected: Uint8Array | null;
}

interface BytesFacts {
  readonly message: Uint8Array;
  readonly messageDigest: Uint8Array;
  readonly signature: Uint8Array;
  readonly bootProof: VerifiedBootProof;
  readonly isExpected: boolean;
}

/** Bytes that passed every check with a verified boot proof. Only verification makes one. */
export class VerifiedSignedBytes {
  readonly #verified = true;
  readonly message: Uint8Array;
  /** SHA-256 of the bytes (32 bytes). */
  readonly messageDigest: Uint8Array;
  /** `r ‖ s` of 64 bytes. */
  readonly signature: Uint8Array;
  readonly bootProof: VerifiedBootProof;
  /** Whether they are the bytes that the caller expected. False means that the caller expected none. */
  readonly isExpected: boolean;

  /** @internal */
  constructor(facts: BytesFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedSignedBytes is made by verification only");
    this.message = facts.message;
    this.messageDigest = facts.messageDigest;
    this.signature = facts.signature;
    this.bootProof = facts.bootProof;
    this.isExpected = facts.isExpected;
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedSignedBytes {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** What the checks of signed bytes found, with null for bytes that a check rejected. */
export type SignedBytesResult = VerifiedSignedBytes | null;

/** A token that stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

interface SignedBytesTools extends AppProofTools {
  /** SHA-256, with the cryptography that the process chose. */
  readonly digest: (bytes: Uint8Array) => Promise<Uint8Array>;
}

export interface CheckedBytes {
  readonly checklist: Checklist;
  readonly verified: SignedBytesResult;
}

interface DecodedBytes {
  readonly message: Uint8Array | undefined;
  readonly publicKey: Uint8Array | undefined;
  readonly signature: Uint8Array | undefined;
  readonly isWhole: boolean;
}

/** Checks signed bytes with the boot proof. They have the checks of an app proof. */
export async function checkSignedBytes(
  input: SignedBytesInput,
  boot: BootProofCandidate,
  { verifies, checklistOf, digest }: SignedBytesTools,
): Promise<CheckedBytes> {
  const checklist = checklistOf("app[0]");
  const { message, publicKey, signature, isWhole } = decodeBytes(input, boot, checklist);
  const { bootProof, signer } = checkSigner({ publicKey }, keyCandidates([boot]), checklist);
  const isSigned = await checkSignature({ publicKey, message, signature }, bootProof, { verifies }, checklist);
  const isNoAppProof = checkContent(message, checklist);
  checklist.warn("app.time", "bytes have no time that is signed: they may be an old answer");
  const isAnswer = checkExpected(message, input.expected, checklist);
  if (!isWhole || signer === null || !isSigned || !isNoAppProof || !isAnswer) return { checklist, verified: null };
  const facts = {
    message: message!,
    messageDigest: await digest(message!),
    signature: signature!,
    bootProof: signer,
    isExpected: input.expected !== null,
  };
  return { checklist, verified: new VerifiedSignedBytes(facts, TOKEN) };
}

function decodeBytes(input: SignedBytesInput, { statedKey }: BootProofCandidate, checklist: Checklist): DecodedBytes {
  const faults: string[] = [];
  const read = (name: "message" | "publicKey" | "signature"): Uint8Array | undefined => {
    const value = input[name];
    if (value instanceof Uint8Array) return value;
    const bytes = value === null ? null : fromHex(value);
    if (bytes === null) faults.push(`${name}: expected hex digits, or bytes`);
    return bytes ?? undefined;
  };
  const message = read("message");
  if (message?.length === 0) faults.push("message: empty, so the signature is about nothing");
  if (message !== undefined && message.length > MAX_SIGNED_BYTES)
    faults.push(`message: larger than ${MAX_SIGNED_BYTES} bytes`);
  const publicKey = input.publicKey === null ? (statedKey ?? undefined) : keyOf(read("publicKey"), faults);
  const signature = signatureOf(read("signature"), faults);
  if (!SIGNED_BYTES_SCHEMES.includes(input.scheme))
    faults.push(`scheme: expected ${SIGNED_BYTES_SCHEMES.join(" or ")}`);
  checklist.conclude("app.decode", faults, "key, signature and scheme have their form");
  return { message, publicKey, signature, isWhole: faults.length === 0 };
}

function keyOf(key: Uint8Array | undefined, faults: string[]): Uint8Array | undefined {
  if (key === undefined || [QOS_PUBLIC_KEY_LENGTH, P256_POINT_LENGTH].includes(key.length)) return key;
  faults.push(
    `publicKey: ${key.length} bytes, expected ${QOS_PUBLIC_KEY_LENGTH} (the whole key) or ${P256_POINT_LENGTH} (its ` +
      "signing half)",
  );
  return undefined;
}

function signatureOf(bytes: Uint8Array | undefined, faults: string[]): Uint8Array | undefined {
  const signature = bytes && rawAppSignature(bytes);
  if (signature !== null) return signature;
  faults.push(`signature: ${noSignature(bytes!)}`);
  return undefined;
}

/** Runs `app.payload`. The payload of an app proof is about a time and an owner, which only its own checks compare. */
function checkContent(message: Uint8Array | undefined, checklist: Checklist): boolean {
  if (message === undefined) return checklist.skip("app.payload", "the bytes could not be read");
  if (!isAppProofPayload(message)) return checklist.pass("app.payload", `${message.length} bytes, no app proof`);
  return checklist.fail("app.payload", "the bytes are JSON with a type, which is the payload of an app proof", {
    causes: ["is-app-proof"],
  });
}

function isAppProofPayload(message: Uint8Array): boolean {
  const text = fromUtf8(message);
  const json =
    text === null ? null : attempt(() => parseJson(text, { numbers: "literal", maxValues: text.length + 1 }));
  return isJsonObject(json?.value) && Object.hasOwn(json.value, "type");
}

/** Runs `app.request`. Nothing in the bytes names a caller, so only the caller can say which ones are its own. */
function checkExpected(message: Uint8Array | undefined, expected: Uint8Array | null, checklist: Checklist): boolean {
  if (message === undefined) return checklist.skip("app.request", "the bytes could not be read");
  if (expected === null) return checklist.warn("app.request", "nobody said which bytes are expected");
  if (equalBytes(message, expected)) return checklist.pass("app.request", "they are the expected bytes");
  const at = message.findIndex((byte, index) => byte !== expected[index]);
  const where = at < 0 ? message.length : at;
  const causes: readonly Cause[] = ["other-bytes"];
  return checklist.fail("app.request", `the bytes differ from the expected ones, first at byte ${where}`, {
    expected: `${expected.length} bytes`,
    actual: `${message.length} bytes`,
    causes,
  });
}
