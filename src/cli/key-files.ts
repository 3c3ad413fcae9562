/** Reads files with private keys. */
import { statSync } from "node:fs";
import { printable } from "../report/printable.js";
import { InputFiles, STDIN } from "./files.js";
import type { Io } from "./io.js";

export const DEFAULT_KEY_FILE = "bootproof-api-key.json";

export function warnOfReaders(path: string, io: Io): void {
  io.stderr.write(
    printable(`warning: ${path} has a private key that others may read: chmod 600 it, or make a new key`) + "\n",
  );
}

/** Returns whether others may read the file. Windows has no such bits. */
export function isReadableByOthers(path: string): boolean {
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

const MAX_PEM_BYTES = 64 * 1024;

/** Returns the key of a log's checkpoints as PEM. Throws UsageError, which never quotes the key. */
export async function readLogKey(path: string, kind: "private" | "public", io: Io): Promise<string> {
  const files = new InputFiles(io);
  const bytes = await files.raw(path, MAX_PEM_BYTES);
  const pem = bytes && files.textOf(path, bytes);
  files.throwFaults();
  const { requireLogKey } = await import("../watch/index.js");
  try {
    await requireLogKey(pem!, kind);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    files.fault(path, error.message);
  }
  files.throwFaults();
  if (kind === "private" && path !== STDIN && isReadableByOthers(path)) warnOfReaders(path, io);
  return pem!;
}
