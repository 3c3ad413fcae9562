/**
 * Checkpoints: the number of entries of a log and its last hash, as a signed note that others keep (run/README.md,
 * "What a chain shows").
 */
import { typedOptions } from "../decode/options.js";
import { type MembersOf, count, demand, hex, matching, text } from "../decode/shapes.js";
import { concatBytes, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, toUtf8 } from "../bytes.js";
import { MalformedError } from "../errors.js";
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
  const own = typedOptions("checkpoint", checkpoint, CHECKPOINT);
  return signCheckpointBy(own, await noteSigner(privateKey));
}

export async function signCheckpointBy({ origin, entries, head }: Checkpoint, signer: NoteSigner): Promise<string> {
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
  const opened = openNote(note);
  const named = key === undefined ? null : await namedKeyOf(key);
  const checkpoint = checkpointOf(opened.text);
  const origin = demanded ?? named?.name ?? undefined;
  if (origin !== undefined && checkpoint.origin !== origin)
    throw new CheckpointError(
      `the checkpoint is of another log: its origin is ${checkpoint.origin}, expected ${origin}`,
    );
  if (named !== null) await verifyNote(opened, named.name ?? checkpoint.origin, named.publicKey);
  return { ...checkpoint, isVerified: named !== null };
}

/** Returns the default origin of the log whose first file has this name. */
export function originOf(fileName: string): string {
  return ORIGIN_PREFIX + encodeURIComponent(fileName);
}

function isOrigin(text: string): boolean {
  return text.startsWith(ORIGIN_PREFIX) && text.length > ORIGIN_PREFIX.length && isKeyName(text);
}

function isKeyName(name: string): boolean {
  return /^[^\p{White_Space}\p{C}+]+$/u.test(name);
}

function malformed(message: string): MalformedError {
  return new MalformedError("checkpoint", [{ path: "", message }]);
}

function checkpointOf(text: string): Checkpoint {
  const [origin = "", count = "", hash = "", end, ...more] = text.split("\n");
  if (!isOrigin(origin)) throw malformed(`its first line is not an origin: expected ${ORIGIN_WORDS}`);
  if (end !== "" || more.length > 0)
    throw malformed("expected a text of three lines: the origin, the number of entries, and the head in base64");
  const entries = Number(count);
  if (!/^(?:0|[1-9][0-9]*)$/.test(count) || !Number.isSafeInteger(entries))
    throw malformed("its second line is not a number of entries");
  const head = fromBase64(hash);
  if (head?.length !== HASH_LENGTH) throw malformed("its third line is not the base64 of a SHA-256");
  return { origin, entries, head: toHex(head) };
}

interface NoteSignature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

interface OpenedNote {
  /** The signed text, its last line feed included. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Size limit of a note in bytes. Verifiers must accept sixteen signatures of 5 kB each, so the limit is higher. */
const MAX_NOTE_BYTES = 256 * 1024;
const KEY_ID_LENGTH = 4;

/** Splits a note into text and signatures, and verifies none. Throws {@link MalformedError}. */
export function openNote(note: string | Uint8Array): OpenedNote {
  const bytes = typeof note === "string" ? toUtf8(note) : note;
  if (bytes.length > MAX_NOTE_BYTES)
    throw malformed(`longer than any checkpoint: expected at most ${MAX_NOTE_BYTES} bytes`);
  const whole = fromUtf8(bytes);
  if (whole === null) throw malformed("not UTF-8");
  const isControl = (char: string): boolean => char < " " && char !== "\n";
  if ([...whole].some(isControl)) throw malformed("not a signed note: control characters, or lines that end in CR LF");
  const at = whole.lastIndexOf("\n\n");
  if (at < 0 || !whole.endsWith("\n"))
    throw malformed("not a signed note: expected a text, an empty line and signatures");
  const lines = whole
    .slice(at + 2)
    .split("\n")
    .slice(0, -1);
  if (lines.length === 0) throw malformed("not a signed note: no signature follows the empty line");
  return { text: whole.slice(0, at + 1), signatures: lines.map(signatureOf) };
}

function signatureOf(line: string): NoteSignature {
  const [dash, name = "", base64 = "", ...more] = line.split(" ");
  const bytes = fromBase64(base64);
  if (dash !== "\u2014" || !isKeyName(name) || more.length > 0 || bytes === null || bytes.length <= KEY_ID_LENGTH)
    throw malformed("a malformed signature line: expected \u2014, the key's name and base64, separated by spaces");
  return { name, keyId: bytes.subarray(0, KEY_ID_LENGTH), signature: bytes.subarray(KEY_ID_LENGTH) };
}

const ED25519_TYPE = 0x01;

async function keyIdOf(name: string, publicKey: Uint8Array): Promise<Uint8Array> {
  const hashed = await sha256(concatBytes(toUtf8(name), Uint8Array.of(0x0a, ED25519_TYPE), publicKey));
  return hashed.subarray(0, KEY_ID_LENGTH);
}

/**
 * Verifies the signatures of this key; lines of other keys are ignored. Rejects unless there is at least one and all
 * are valid.
 */
export async function verifyNote({ text, signatures }: OpenedNote, name: string, publicKey: Uint8Array): Promise<void> {
  const keyId = await keyIdOf(name, publicKey);
  const own = signatures.filter((each) => each.name === name && equalBytes(each.keyId, keyId));
  if (own.length === 0) throw new CheckpointError("the checkpoint is not signed by this key");
  const verify = await ed25519();
  for (const { signature } of own)
    if (signature.length !== 64 || !(await verify(publicKey, toUtf8(text), signature)))
      throw new CheckpointError("the signature of the checkpoint is wrong: it was changed, or made with another key");
}

export interface NoteSigner {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** Returns a signer for an Ed25519 key as PEM. Rejects with TypeError for any other text, and never quotes it. */
export async function noteSigner(privateKey: string): Promise<NoteSigner> {
  return ed25519Signer(derOf(privateKey, PRIVATE));
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
  if (kind === "private") derOf(pem, PRIVATE);
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
  if (name === undefined) return { publicKey: derOf(text, PUBLIC), name: null, id };
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
  const key = derOf(publicKey, PUBLIC);
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
function derOf(pem: string, { label, prefix, words }: typeof PRIVATE | typeof PUBLIC): Uint8Array {
  const refused = (why: string): TypeError => new TypeError(`${why}: ${words}`);
  if (typeof pem !== "string") throw refused("not a text");
  const [, found = "", base64 = ""] =
    /^\s*-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----\s*$/.exec(pem) ?? [];
  if (found === "") throw refused("a text that is not exactly one PEM block");
  if (found === "ENCRYPTED PRIVATE KEY") throw refused("an encrypted key, which has to be decrypted first");
  if (found !== label) throw refused(`a PEM block with ${found}`);
  const der = fromBase64(base64.replaceAll(/\s/g, ""));
  if (der === null) throw refused("damaged base64 in a PEM block");
  if (der.length !== prefix.length + 32 || !equalBytes(der.subarray(0, prefix.length), prefix))
    throw refused("a key of another kind");
  return der.slice(prefix.length);
}
