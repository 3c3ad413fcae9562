/**
 * Checkpoints: the number of entries of a log and its last hash, as a signed note that others keep (run/README.md,
 * "What a chain shows").
 */
import { typedOptions } from "../decode/options.js";
import { type MembersOf, count, demand, hex, matching, text } from "../decode/shapes.js";
import { concatBytes, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, toUtf8 } from "../bytes.js";
import { MalformedError } from "../errors.js";
import { derIn } from "../signed-policy/keys.js";
import { ed25519, ed25519Signer } from "../verify/cryptography.js";
import { sha256 } from "../verify/digest.js";

const ORIGIN_PREFIX = "bootproof-log/";
const ORIGIN_WORDS = `${ORIGIN_PREFIX} and a name without spaces, plus signs and control characters`;
const HASH_LENGTH = 32;

/** What a checkpoint states: the log `origin` had `entries` entries, and the hash of its last line was `head`. */
export interface Checkpoint {
  /** Name of the log, and of its key in the note: `bootproof-log/` and a name without spaces and plus signs. */
  readonly origin: string;
  readonly entries: number;
  /** SHA-256, in hex, of line number `entries`; zeros for an empty log. */
  readonly head: string;
}

export interface SignedCheckpoint extends Checkpoint {
  /** Whether the signature was verified with `key`. */
  readonly isVerified: boolean;
}

interface ReadCheckpointOptions {
  /**
   * Ed25519 public key of the log, as PEM (SubjectPublicKeyInfo), or as a {@link vkeyOf vkey}, whose name the origin
   * then has to be. Default: signatures are not checked.
   */
  readonly key?: string;
  /** The expected origin. Default: any. The signature covers the origin. */
  readonly origin?: string;
}

/** A well-formed checkpoint with a missing or wrong signature, or with another origin. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
}

const CHECKPOINT: MembersOf<Checkpoint> = {
  origin: matching(isOrigin, ORIGIN_WORDS),
  entries: count,
  head: hex(HASH_LENGTH),
};

/**
 * Returns the checkpoint as a C2SP signed note (https://c2sp.org/signed-note). `privateKey` is an Ed25519 key as PEM
 * (PKCS#8). Rejects with TypeError for another key or an invalid checkpoint.
 * @example
 * ```ts
 * const note = await signCheckpoint({ origin: "bootproof-log/signer", entries, head }, privateKey);
 * ```
 */
export async function signCheckpoint(checkpoint: Checkpoint, privateKey: string): Promise<string> {
  const { origin, entries, head } = typedOptions("checkpoint", checkpoint, CHECKPOINT);
  const signer = await ed25519Signer(keyOf(privateKey, PRIVATE));
  const note = `${origin}\n${entries}\n${toBase64(fromHex(head)!)}\n`;
  const signature = concatBytes(await keyIdOf(origin, signer.publicKey), signer.sign(toUtf8(note)));
  return `${note}\n\u2014 ${origin} ${toBase64(signature)}\n`;
}

/**
 * Reads a signed note. Rejects with {@link MalformedError} if it is not a checkpoint, with {@link CheckpointError} if
 * its signature or its origin is not the expected one, and with TypeError for an invalid `key`.
 * @example
 * ```ts
 * const { entries, head } = await readCheckpoint(note, { key: publicKey });
 * ```
 */
export async function readCheckpoint(
  note: string | Uint8Array,
  options: ReadCheckpointOptions = {},
): Promise<SignedCheckpoint> {
  const { key, origin: demanded } = typedOptions("options", options, { key: demand(text), origin: demand(text) });
  const { text: signed, checkpoint, signatures } = openNote(note);
  const named = key === undefined ? null : await namedKeyOf(key);
  const origin = demanded ?? named?.name ?? checkpoint.origin;
  if (checkpoint.origin !== origin)
    throw new CheckpointError(
      `the checkpoint is of another log: its origin is ${checkpoint.origin}, expected ${origin}`,
    );
  if (named !== null) await verifyNote(signed, signatures, named.name ?? origin, named.publicKey);
  return { ...checkpoint, isVerified: named !== null };
}

/** Returns the default origin of the log whose first file has this name. */
export function originOf(fileName: string): string {
  return ORIGIN_PREFIX + encodeURIComponent(fileName);
}

/** A name of a log or of a key. */
const NAME = "[^\\p{White_Space}\\p{C}+]+";
const ORIGIN = `${ORIGIN_PREFIX}${NAME}`;
const BASE64 = "[A-Za-z0-9+/]+={0,2}";
const NOTE = new RegExp(
  `^((${ORIGIN})\\n(0|[1-9][0-9]*)\\n(${BASE64})\\n)\\n((?:\\u2014 ${NAME} ${BASE64}\\n)+)$`,
  "u",
);

function isOrigin(text: string): boolean {
  return new RegExp(`^${ORIGIN}$`, "u").test(text);
}

interface OpenedNote {
  /** What is signed, its last line feed included. */
  readonly text: string;
  readonly checkpoint: Checkpoint;
  /** By the name of a key: its id, and the signature behind that. */
  readonly signatures: readonly (readonly [name: string, signature: Uint8Array])[];
}

/** Size limit of a note in bytes. Verifiers must accept sixteen signatures of 5 kB each, so the limit is higher. */
const MAX_NOTE_BYTES = 256 * 1024;
const KEY_ID_LENGTH = 4;

/** Splits a note into text and signatures, and verifies none. Throws {@link MalformedError}. */
function openNote(note: string | Uint8Array): OpenedNote {
  const bytes = typeof note === "string" ? toUtf8(note) : note;
  const [, text, origin, count, hash, lines] =
    (bytes.length <= MAX_NOTE_BYTES && NOTE.exec(fromUtf8(bytes) ?? "")) || [];
  const [entries, head] = [Number(count), fromBase64(`${hash}`)];
  const signatures = [...`${lines}`.matchAll(/^\u2014 (\S+) (.+)$/gmu)].map(
    ([, name, base64]) => [name!, fromBase64(base64!) ?? new Uint8Array()] as const,
  );
  const isWhole = signatures.every(([, { length }]) => length > KEY_ID_LENGTH);
  if (head?.length !== HASH_LENGTH || !Number.isSafeInteger(entries) || !isWhole)
    throw new MalformedError("checkpoint", [{ path: "", message: EXPECTED_NOTE }]);
  return { text: text!, checkpoint: { origin: origin!, entries, head: toHex(head) }, signatures };
}

const EXPECTED_NOTE =
  `expected a signed note: the origin (${ORIGIN_WORDS}), the number of entries, the base64 of a SHA-256, an empty ` +
  "line, and lines of signatures, each with a line feed";

const ED25519_TYPE = 0x01;

async function keyIdOf(name: string, publicKey: Uint8Array): Promise<Uint8Array> {
  const hashed = await sha256(concatBytes(toUtf8(name), Uint8Array.of(0x0a, ED25519_TYPE), publicKey));
  return hashed.subarray(0, KEY_ID_LENGTH);
}

/**
 * Verifies the signatures of this key; lines of other keys are ignored. Rejects unless there is at least one and all
 * are valid.
 */
async function verifyNote(
  text: string,
  signatures: OpenedNote["signatures"],
  name: string,
  publicKey: Uint8Array,
): Promise<void> {
  const keyId = await keyIdOf(name, publicKey);
  const own = signatures.filter(([by, bytes]) => by === name && equalBytes(bytes.subarray(0, KEY_ID_LENGTH), keyId));
  if (own.length === 0) throw new CheckpointError("the checkpoint is not signed by this key");
  const verify = await ed25519();
  for (const [, bytes] of own)
    if (bytes.length !== KEY_ID_LENGTH + 64 || !(await verify(publicKey, toUtf8(text), bytes.subarray(KEY_ID_LENGTH))))
      throw new CheckpointError("the signature of the checkpoint is wrong: it was changed, or made with another key");
}

/**
 * Throws TypeError unless `pem` is an Ed25519 key of this kind. The message says what was found, and never quotes the
 * key.
 * @example
 * ```ts
 * requireLogKey(pem, "private");
 * ```
 */
export function requireLogKey(pem: string, kind: "private" | "public"): void {
  if (kind === "private") keyOf(pem, PRIVATE);
  else publicKeyOf(pem);
}

/** A public key, with the name that a vkey gives it. */
interface NamedKey {
  readonly publicKey: Uint8Array;
  readonly name: string | null;
}

/** A vkey of signed notes: the key's name, its id, and the key behind its type. */
const VKEY = /^\s*([^\p{White_Space}\p{C}+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)\s*$/u;

function publicKeyOf(text: string): NamedKey & { readonly id: string | null } {
  const [, name, id = null, base64 = ""] = VKEY.exec(text) ?? [];
  if (name === undefined) return { publicKey: keyOf(text, PUBLIC), name: null, id };
  const key = fromBase64(base64);
  if (key?.length !== 33 || key[0] !== ED25519_TYPE)
    throw new TypeError(`a vkey of another kind of key, or a damaged one: ${PUBLIC.words}`);
  return { publicKey: key.slice(1), name, id };
}

async function namedKeyOf(text: string): Promise<NamedKey> {
  const { publicKey, name, id } = publicKeyOf(text);
  if (name !== null && toHex(await keyIdOf(name, publicKey)) !== id)
    throw new CheckpointError("the vkey was changed: its id is not that of its name and key");
  return { publicKey, name };
}

/**
 * Returns the vkey (https://c2sp.org/signed-note) of a log's public key, `NAME+ID+KEY`, by which other tools verify its
 * notes. `name` is the log's origin. Rejects with TypeError for another key or name.
 * @example
 * ```ts
 * const vkey = await vkeyOf("bootproof-log/signer", publicKey);
 * ```
 */
export async function vkeyOf(name: string, publicKey: string): Promise<string> {
  if (!isOrigin(name)) throw new TypeError(`the name of a log's key is its origin: expected ${ORIGIN_WORDS}`);
  const key = keyOf(publicKey, PUBLIC);
  return `${name}+${toHex(await keyIdOf(name, key))}+${toBase64(concatBytes(Uint8Array.of(ED25519_TYPE), key))}`;
}

/** `prefix` is the DER encoding of RFC 8410 before the 32 bytes of the key. */
const PRIVATE = {
  label: "PRIVATE KEY",
  prefix: /* @__PURE__ */ fromHex("302e020100300506032b657004220420")!,
  words: "expected an Ed25519 private key, as PEM (PKCS#8): openssl genpkey -algorithm ed25519 makes one",
} as const;
const PUBLIC = {
  label: "PUBLIC KEY",
  prefix: /* @__PURE__ */ fromHex("302a300506032b6570032100")!,
  words: "expected an Ed25519 public key, as PEM (SubjectPublicKeyInfo): openssl pkey -in FILE -pubout writes it",
} as const;

/** Returns the 32 bytes of the key. Throws TypeError if `pem` is not such a key. */
function keyOf(pem: string, { label, prefix, words }: typeof PRIVATE | typeof PUBLIC): Uint8Array {
  const der = typeof pem === "string" ? derIn(label, pem) : null;
  const start = der?.subarray(0, prefix.length);
  if (start && equalBytes(start, prefix) && der!.length === prefix.length + 32) return der!.slice(prefix.length);
  const [found = "no PEM"] = /(?<=-----BEGIN )[A-Z0-9 ]+/.exec(pem) ?? [];
  throw new TypeError(`got ${found === label ? "another one" : found}, ${words}`);
}
