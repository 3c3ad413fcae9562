/** Keys of signers, in the one form that is accepted (signed-policy/README.md, "Keys"). */
import { concatBytes, equalBytes, fromBase64, fromHex, toBase64, toHex } from "../bytes.js";
import { rawSignature } from "../decode/ecdsa-signature.js";
import type { SignersFile } from "../appraise/signed-payload.js";
import { CURVES, type Curve, SPKI_PREFIX, ed25519, ed25519KeyFault } from "../verify/cryptography.js";
import { sha256 } from "../verify/digest.js";
import { importPoint, pointOfSpki } from "../verify/ecdsa.js";
import { SignedPolicyError } from "./errors.js";

export type KeyType = Curve | "Ed25519";

export interface SignerKey {
  readonly type: KeyType;
  readonly pem: string;
  /** SHA-256 of the SPKI DER in lower-case hex. */
  readonly keyid: string;
  /** Verifies a signature in its own encoding: DER for ECDSA, 64 bytes for Ed25519. */
  verify(message: Uint8Array, signature: Uint8Array): Promise<boolean>;
}

/** A set of keys, of which `threshold` must sign. */
export interface SignerSet {
  readonly threshold: number;
  readonly keys: readonly SignerKey[];
}

/** Bytes of SubjectPublicKeyInfo before an Ed25519 key (RFC 8410 section 4). */
const ED25519_PREFIX = fromHex("302a300506032b6570032100")!;
const ED25519_LENGTH = 32;
/** The order L of Ed25519's group (RFC 8032 section 5.1). */
const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const PEM = /^\s*-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----\s*$/;

type PemLabel = "PUBLIC KEY" | "PRIVATE KEY";

export function pemOf(label: PemLabel, der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g)!;
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

/** Returns the DER of a text that is one PEM block with this label, and null for any other text. */
export function derIn(label: PemLabel, pem: string): Uint8Array | null {
  const [, found, base64] = PEM.exec(pem) ?? [];
  return found === label ? fromBase64(base64!.replace(/\s/g, "")) : null;
}

/** Keys that were read, by their PEM text. The versions of a feed repeat the same few keys. */
export type KnownKeys = Map<string, Promise<SignerKey | string>>;

/** Reads a set. Throws {@link SignedPolicyError} (`malformed`) with every fault of its keys. */
export async function readSigners(
  { threshold, keys }: SignersFile,
  place: string,
  known: KnownKeys = new Map(),
): Promise<SignerSet> {
  const faults: string[] = [];
  for (const pem of keys) if (!known.has(pem)) known.set(pem, readKey(pem));
  const read = await Promise.all(keys.map((pem) => known.get(pem)!));
  const ids = read.map((key) => (typeof key === "string" ? null : key.keyid));
  for (const [index, key] of read.entries()) {
    if (typeof key === "string") faults.push(`${place}keys[${index}]: ${key}`);
    else if (ids.indexOf(key.keyid) < index) faults.push(`${place}keys[${index}]: the key is in the set twice`);
  }
  if (threshold > keys.length)
    faults.push(`${place}threshold: ${threshold} of ${keys.length} keys must sign, which is not possible`);
  if (faults.length > 0) throw new SignedPolicyError("malformed", faults.join("; "));
  return { threshold, keys: read as readonly SignerKey[] };
}

/** Reads a key in PEM. Throws {@link SignedPolicyError} (`malformed`). */
export async function readSignerKey(pem: string): Promise<SignerKey> {
  const key = await readKey(pem);
  if (typeof key === "string") throw new SignedPolicyError("malformed", `public key: ${key}`);
  return key;
}

/** Returns the key, or its fault. */
async function readKey(pem: string): Promise<SignerKey | string> {
  const spki = derIn("PUBLIC KEY", pem);
  if (spki === null) return "expected one PEM block PUBLIC KEY, with base64 of the SPKI DER";
  for (const curve of Object.keys(CURVES) as Curve[]) {
    const point = pointOfSpki(curve, spki);
    if (point !== null) return ecdsaKey(curve, pem, spki, point);
  }
  return ed25519Key(pem, spki);
}

async function ecdsaKey(curve: Curve, pem: string, spki: Uint8Array, point: Uint8Array): Promise<SignerKey | string> {
  const key = await importPoint(curve, point);
  if (key === null) return `its point is not on the curve ${curve}`;
  const verify = async (message: Uint8Array, signature: Uint8Array): Promise<boolean> => {
    const raw = rawSignature(signature, CURVES[curve].scalarLength);
    return raw !== null && key.verify(message, raw);
  };
  return { type: curve, pem, keyid: await keyidOf(spki), verify };
}

async function ed25519Key(pem: string, spki: Uint8Array): Promise<SignerKey | string> {
  const key = spki.subarray(ED25519_PREFIX.length);
  if (key.length !== ED25519_LENGTH || !equalBytes(spki.subarray(0, ED25519_PREFIX.length), ED25519_PREFIX))
    return "expected a key of P-256, P-384 (named curve, uncompressed point) or Ed25519";
  const fault = await ed25519KeyFault(key);
  if (fault !== null) return fault;
  const verify = async (message: Uint8Array, signature: Uint8Array): Promise<boolean> =>
    isCanonical(signature) && (await ed25519())(key, message, signature);
  return { type: "Ed25519", pem, keyid: await keyidOf(spki), verify };
}

/** Whether a signature has 64 bytes and S < L, which not every platform checks. */
function isCanonical(signature: Uint8Array): boolean {
  const s = Uint8Array.from(signature.subarray(32)).reverse();
  return signature.length === 64 && BigInt(`0x${toHex(s)}`) < ED25519_ORDER;
}

async function keyidOf(spki: Uint8Array): Promise<string> {
  return toHex(await sha256(spki));
}

/** Returns SPKI DER of an uncompressed point, or of an Ed25519 key. */
export function spkiOf(type: KeyType, key: Uint8Array): Uint8Array {
  return concatBytes(type === "Ed25519" ? ED25519_PREFIX : SPKI_PREFIX[type], key);
}

/** Whether both sets have the same threshold and keys, in any order. */
export function areSameSigners(a: SignerSet, b: SignerSet): boolean {
  return a.threshold === b.threshold && sortedIds(a).join() === sortedIds(b).join();
}

export function sortedIds({ keys }: SignerSet): string[] {
  return keys.map(({ keyid }) => keyid).sort();
}
