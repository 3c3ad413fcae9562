/** Files with private keys. */
import { printable } from "../report/printable.js";
import type { Io } from "./io.js";

export const DEFAULT_KEY_FILE = "bootproof-api-key.json";

export function warnOfReaders(path: string, io: Io): void {
  io.stderr.write(
    printable(`warning: ${path} has a private key that others may read: chmod 600 it, or make a new key`) + "\n",
  );
}
