/**
 * API key files, for Node: `{"publicKey": "<33-byte compressed point, hex>", "privateKey": "<32 bytes, hex>"}`, or the
 * two files of the service's own command line, `NAME.private` with `<hex>:p256` and `NAME.public`.
 */
import { type FileHandle, open } from "node:fs/promises";
import { fromHex, fromUtf8, toHex } from "../bytes.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { P256_COMPRESSED_LENGTH, P256_SCALAR_LENGTH } from "../decode/lengths.js";
import { attempt } from "../errors.js";
import { ClientError } from "../door/errors.js";
import { compressed, publicPointOf } from "./p256.js";
import type { ApiKey } from "./stamp.js";

const MAX_BYTES = 4096;

export interface ApiKeyFile {
  readonly key: ApiKey;
  /**
   * Whether users other than the owner can read the file. Always false on Windows, which has no such permission bits.
   */
  readonly readableByOthers: boolean;
}

/**
 * Reads an API key file. Rejects with {@link ClientError} (`key`), which never quotes the file.
 * @example
 * ```ts
 * const { key: own } = await readApiKeyFile("api-key.json");
 * ```
 */
export async function readApiKeyFile(path: string): Promise<ApiKeyFile> {
  const file = await open(path, "r").catch(() => {
    throw keyError(`${path}: cannot be read`);
  });
  try {
    const { mode } = await file.stat();
    const key = await keyOf(path, await readAll(file, path));
    return { key, readableByOthers: process.platform !== "win32" && (mode & 0o077) !== 0 };
  } finally {
    await file.close();
  }
}

/** Reads a file or pipe. Stops at the limit, since a device may be endless. */
async function readAll(file: FileHandle, path: string): Promise<Uint8Array> {
  const buffer = new Uint8Array(MAX_BYTES + 1);
  for (let total = 0; total < buffer.length;) {
    const { bytesRead } = await file.read(buffer, total).catch(() => {
      throw keyError(`${path}: cannot be read`);
    });
    if (bytesRead === 0) return buffer.subarray(0, total);
    total += bytesRead;
  }
  throw keyError(`${path}: too large for a key file`);
}

function keyError(message: string): ClientError {
  return new ClientError("key", message);
}

const PRIVATE = ".private";
const PUBLIC = ".public";
const PUBLIC_DIGITS = 2 * P256_COMPRESSED_LENGTH;
const PRIVATE_DIGITS = 2 * P256_SCALAR_LENGTH;
/** A private key of the service's command line, which may be damaged: digits, a colon and the curve. */
const WITH_CURVE = /^([^:{}"\s]*):([A-Za-z0-9-]{1,20})$/;

/**
 * Reads an API key from two texts, of which the private one may end in `:p256`. Line breaks at the end are left out. A
 * public half that is not given is computed. Rejects with {@link ClientError} (`key`), which states lengths and no
 * value.
 * @example
 * ```ts
 * const pair = await readApiKey(`${"1f".repeat(32)}:p256\n`);
 * ```
 */
export async function readApiKey(privateText: string, publicText?: string): Promise<ApiKey> {
  const text = privateText.trimEnd();
  const [, digits = text, curve = "p256"] = WITH_CURVE.exec(text) ?? [];
  if (curve !== "p256")
    throw keyError(`a private key of ${curve}: API keys that bootproof key stamps with are of P-256`);
  const scalar = fromHex(digits);
  if (scalar?.length !== P256_SCALAR_LENGTH)
    throw keyError(
      `the private key has ${lengthText(digits)}: expected ${PRIVATE_DIGITS} hex digits, or these and :p256`,
    );
  return { publicKey: await publicHalf(scalar, publicText?.trimEnd()), privateKey: digits };
}

async function publicHalf(scalar: Uint8Array, stated: string | undefined): Promise<string> {
  if (stated === undefined) {
    const point = await publicPointOf(scalar);
    if (point === null) throw keyError("the private key is not one of P-256");
    return toHex(compressed(point));
  }
  if (fromHex(stated)?.length === P256_COMPRESSED_LENGTH) return stated;
  throw keyError(`the public key has ${lengthText(stated)}: expected ${PUBLIC_DIGITS} hex digits`);
}

/** Describes a text without quoting it. */
function lengthText(text: string): string {
  const others = text.replace(/[0-9a-fA-F]/g, "").length;
  const length = `${text.length} characters`;
  if (others === 0) return length;
  const last = /[0-9a-fA-F]$/.test(text) ? "" : `, the last is ${/\s$/.test(text) ? "a space" : "no hex digit"}`;
  return `${length}, ${others} of them no hex digits${last}`;
}

async function keyOf(path: string, bytes: Uint8Array): Promise<ApiKey> {
  const text = fromUtf8(bytes)?.trimEnd() ?? "";
  try {
    if (WITH_CURVE.test(text)) return await readApiKey(text, await publicHalfBeside(path));
    if (text.length === PUBLIC_DIGITS && fromHex(text) !== null)
      throw keyError(`a public key alone: give the file of its private half (NAME${PRIVATE})`);
    const json = attempt(() => parseJson(bytes)).value;
    const { publicKey, privateKey } = isJsonObject(json) ? json : {};
    if (typeof publicKey === "string" && typeof privateKey === "string") return await readApiKey(privateKey, publicKey);
  } catch (error) {
    throw error instanceof ClientError ? keyError(`${path}: ${error.message}`) : error;
  }
  throw keyError(
    `${path}: not a key file: expected {"publicKey": "<${PUBLIC_DIGITS} hex digits>", "privateKey": ` +
      `"<${PRIVATE_DIGITS} hex digits>"}, or <${PRIVATE_DIGITS} hex digits>:p256`,
  );
}

/** Returns the text of NAME.public beside NAME.private. Undefined if there is none. */
async function publicHalfBeside(path: string): Promise<string | undefined> {
  if (!path.endsWith(PRIVATE)) return undefined;
  const beside = path.slice(0, -PRIVATE.length) + PUBLIC;
  const file = await open(beside, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw keyError(`${beside}: cannot be read`);
  });
  if (file === null) return undefined;
  try {
    return fromUtf8(await readAll(file, beside)) ?? "";
  } finally {
    await file.close();
  }
}

/** Writes a new file that only its owner can read. Rejects with {@link ClientError} (`key`) if it exists. */
export async function writeApiKeyFile(path: string, { publicKey, privateKey }: ApiKey): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    const isThere = error.code === "EEXIST";
    const why = isThere
      ? "exists already, and a key is never overwritten: choose another file name"
      : `cannot be written (${error.code})`;
    throw keyError(`${path}: ${why}`);
  });
  try {
    await file.writeFile(`${JSON.stringify({ publicKey, privateKey }, null, 2)}\n`);
  } finally {
    await file.close();
  }
}
