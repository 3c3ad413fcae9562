/** API key files, for Node: `{"publicKey": "<33-byte compressed point, hex>", "privateKey": "<32 bytes, hex>"}`. */
import { type FileHandle, open } from "node:fs/promises";
import { fromHex } from "../bytes.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { P256_COMPRESSED_LENGTH, P256_SCALAR_LENGTH } from "../decode/lengths.js";
import { attempt } from "../errors.js";
import { ClientError } from "../door/errors.js";
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
    throw new ClientError("key", `${path}: cannot be read`);
  });
  try {
    const { mode } = await file.stat();
    const key = keyOf(path, await readAll(file, path));
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
      throw new ClientError("key", `${path}: cannot be read`);
    });
    if (bytesRead === 0) return buffer.subarray(0, total);
    total += bytesRead;
  }
  throw new ClientError("key", `${path}: too large for a key file`);
}

function keyOf(path: string, bytes: Uint8Array): ApiKey {
  const json = attempt(() => parseJson(bytes)).value;
  const { publicKey, privateKey } = isJsonObject(json) ? json : {};
  const isHex = (value: unknown, length: number): value is string =>
    typeof value === "string" && fromHex(value)?.length === length;
  if (!isHex(publicKey, P256_COMPRESSED_LENGTH) || !isHex(privateKey, P256_SCALAR_LENGTH)) {
    throw new ClientError(
      "key",
      `${path}: not a key file: expected {"publicKey": "<66 hex digits>", "privateKey": "<64 hex digits>"}`,
    );
  }
  return { publicKey, privateKey };
}

/** Writes a new file that only its owner can read. Rejects with {@link ClientError} (`key`) if it exists. */
export async function writeApiKeyFile(path: string, { publicKey, privateKey }: ApiKey): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    const isThere = error.code === "EEXIST";
    const why = isThere
      ? "exists already, and a key is never overwritten: choose another file name"
      : "cannot be written";
    throw new ClientError("key", `${path}: ${why}`);
  });
  try {
    await file.writeFile(`${JSON.stringify({ publicKey, privateKey }, null, 2)}\n`);
  } finally {
    await file.close();
  }
}
