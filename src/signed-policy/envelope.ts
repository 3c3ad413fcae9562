/** The envelope: a profile of DSSE 1.0.2 (signed-policy/README.md, "Envelope"). */
import { PAYLOAD_TYPE } from "../appraise/parsed-policy.js";
import { concatBytes, fromBase64, toHex, toUtf8 } from "../bytes.js";
import { type JsonObject, parseJson } from "../decode/json.js";
import { type Shape, list, matching, object, oneOf, optional, readShape, refined, text } from "../decode/shapes.js";
import { MalformedError, faultText } from "../errors.js";
import { sha256 } from "../verify/digest.js";
import { SignedPolicyError } from "./errors.js";
import type { SignerKey, SignerSet } from "./keys.js";

export { PAYLOAD_TYPE };
const MAX_SIGNATURES = 32;

/** A decoded envelope. Nothing is verified. */
export interface Envelope {
  readonly json: JsonObject;
  readonly payload: Uint8Array;
  /** SHA-256 of the payload in lower-case hex. */
  readonly sha256: string;
  /** What each key signs: DSSE's PAE of the payload. */
  readonly signed: Uint8Array;
  readonly signatures: readonly EnvelopeSignature[];
}

interface EnvelopeSignature {
  /** The key that is said to have signed, or null. It only chooses the key to try. */
  readonly keyid: string | null;
  readonly sig: Uint8Array;
}

const base64Bytes: Shape<Uint8Array> = refined(
  matching((value) => fromBase64(value) !== null, "base64 (RFC 4648, standard alphabet, padded)"),
  (value) => fromBase64(value)!,
);

const signature = object({ keyid: optional(text), sig: base64Bytes }, { unknown: "ignore" });
const envelopeMembers = { payloadType: oneOf(PAYLOAD_TYPE), payload: base64Bytes };

/**
 * Reads an envelope. Throws {@link SignedPolicyError} (`malformed`) with every fault. `place` names it in messages.
 * Only a draft, which its signers pass around, may have no signature (`least`).
 */
export async function readEnvelope(
  input: string | Uint8Array | JsonObject,
  place = "",
  least: 0 | 1 = 1,
): Promise<Envelope> {
  const json = typeof input === "string" || input instanceof Uint8Array ? parsed(input, place) : input;
  const members = { ...envelopeMembers, signatures: list(signature, least, MAX_SIGNATURES) };
  const { payload, signatures } = shaped(object(members, { unknown: "ignore" }), json, place);
  return {
    json: json as JsonObject,
    payload,
    sha256: toHex(await sha256(payload)),
    signed: preAuthEncoding(payload),
    signatures: signatures.map(({ keyid, sig }) => ({ keyid: keyid || null, sig })),
  };
}

/** Parses strict JSON. Throws {@link SignedPolicyError} (`malformed`). */
export function parsed(input: string | Uint8Array, place: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(input);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw malformed(place, faultText(error.faults), error);
  }
}

/** Reads a value by its shape. Throws {@link SignedPolicyError} (`malformed`) with every fault. */
export function shaped<T>(shape: Shape<T>, value: unknown, place: string): T {
  const read = readShape(shape, value);
  if (read.faults.length > 0) throw malformed(place, faultText(read.faults));
  return read.value as T;
}

export function malformed(place: string, message: string, cause?: unknown): SignedPolicyError {
  return new SignedPolicyError("malformed", place === "" ? message : `${place}: ${message}`, {}, { cause });
}

/** Returns what a key signs (DSSE 1.0.2, PAE). Lengths are in bytes. */
function preAuthEncoding(payload: Uint8Array): Uint8Array {
  return concatBytes(toUtf8(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload);
}

/** Which keys of a set signed an envelope. */
export interface Signed {
  readonly keys: readonly SignerKey[];
  /** Sentences about signatures that do not count. */
  readonly notes: readonly string[];
}

/**
 * Verifies the signatures under the keys of all sets. A key that signed twice is returned once. Anybody can add
 * signatures: beside the first one that names each key, they are tried only while a set lacks keys, unless `all` are.
 */
export async function signersOf(envelope: Envelope, sets: readonly SignerSet[], all = false): Promise<Signed> {
  const known = new Map(sets.flatMap(({ keys }) => keys).map((key) => [key.keyid, key]));
  const keys = new Set<SignerKey>();
  const notes = envelope.signatures.map((): string[] => []);
  const isEnough = (): boolean => sets.every((set) => countedIn(set, [...keys]).length >= set.threshold);
  for (const { index, keyid, sig, isFirst } of firstNamed(envelope.signatures, known)) {
    const tried = keyid === null ? [...known.values()] : [known.get(keyid)].filter((key) => key !== undefined);
    if (tried.length === 0) notes[index]!.push(`signature ${index} is by a key of no set (${startOf(keyid!)})`);
    else if (!all && !isFirst && isEnough()) notes[index]!.push(`signature ${index} is not needed, and was not tried`);
    else {
      const verified = await firstWhere(tried, (key) => key.verify(envelope.signed, sig));
      if (verified !== undefined) keys.add(verified);
      else notes[index]!.push(`signature ${index} does not verify`);
    }
  }
  return { keys: [...keys], notes: notes.flat() };
}

interface Placed extends EnvelopeSignature {
  readonly index: number;
  /** Whether it is the first that names its key, which is of a set. */
  readonly isFirst: boolean;
}

/** Returns the signatures, with the first one of each known key before the others. */
function firstNamed(signatures: readonly EnvelopeSignature[], known: ReadonlyMap<string, unknown>): Placed[] {
  const ids = signatures.map(({ keyid }) => keyid);
  const placed = signatures.map((one, index) => {
    return { ...one, index, isFirst: known.has(one.keyid ?? "") && ids.indexOf(one.keyid) === index };
  });
  return [...placed.filter(({ isFirst }) => isFirst), ...placed.filter(({ isFirst }) => !isFirst)];
}

function countedIn(set: SignerSet, keys: readonly SignerKey[]): string[] {
  return keys.map(({ keyid }) => keyid).filter((keyid) => set.keys.some((key) => key.keyid === keyid));
}

function startOf(keyid: string): string {
  return /^[0-9a-f]{64}$/.test(keyid) ? `${keyid.slice(0, 16)}…` : "its keyid is not a SHA-256 in lower-case hex";
}

async function firstWhere<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of items) if (await holds(item)) return item;
  return undefined;
}

/** Requires enough keys of the set. Throws {@link SignedPolicyError} (`signatures`). */
export function requireSigned(
  { keys, notes }: Signed,
  set: SignerSet,
  { what, version }: { readonly what: string; readonly version: number },
): void {
  const ofSet = countedIn(set, keys);
  if (ofSet.length >= set.threshold) return;
  const noted = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
  throw new SignedPolicyError(
    "signatures",
    `version ${version}: ${ofSet.length} of the ${set.keys.length} keys of ${what} signed it, ` +
      `${set.threshold} must${noted}`,
    { version, counted: ofSet.length, needed: set.threshold, keyids: ofSet },
  );
}
