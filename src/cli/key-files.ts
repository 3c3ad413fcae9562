/** Reads files with keys. */
import { statSync } from "node:fs";
import { printable } from "../report/printable.js";
import { InputFiles, STDIN } from "./files.js";
import type { Io } from "./io.js";
import type { CommandName } from "./option-table.js";

export function warnOfReaders(path: string, io: Io): void {
  io.stderr.write(
    printable(`warning: ${path} has a private key that others may read: run chmod 600 on it, or make a new key`) + "\n",
  );
}

/** Returns whether other users may read the file. False on Windows, which has no such permission bits. */
function isReadableByOthers(path: string): boolean {
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

const MAX_KEY_BYTES = 64 * 1024;

/** How a command reads a key, and how it reports errors. */
interface KeyReader<T> {
  readonly command: CommandName;
  /** `refused` also refuses a private key that others may read. */
  readonly isPrivate: boolean | "refused";
  readonly read: (text: string) => Promise<T>;
  /** Returns the message, which must not quote the key. Null means that the error is not about the key. */
  readonly faultOf: (error: unknown) => string | null;
}

/** Reads a key. Warns if others may read a private one. Throws UsageError, which never quotes the key. */
export async function readKey<T>(
  path: string,
  { command, isPrivate, read, faultOf }: KeyReader<T>,
  io: Io,
): Promise<T> {
  const files = new InputFiles(io, command);
  const bytes = await files.raw(path, MAX_KEY_BYTES);
  const text = bytes && files.textOf(path, bytes);
  files.throwFaults();
  const key = await read(text!).catch((error: unknown) => {
    const fault = faultOf(error);
    if (fault === null) throw error;
    return files.fault(path, fault);
  });
  files.throwFaults();
  if (isPrivate === false || path === STDIN || !isReadableByOthers(path)) return key!;
  if (isPrivate === true) warnOfReaders(path, io);
  else files.fault(path, "others may read this private key: run chmod 600 on it, or make a new key");
  files.throwFaults();
  return key!;
}

/** Returns the key of a log's checkpoints as PEM. */
export function readLogKey(path: string, kind: "private" | "public", io: Io): Promise<string> {
  return readKey(
    path,
    {
      command: "watch",
      isPrivate: kind === "private",
      read: async (pem) => {
        const { requireLogKey } = await import("../run/index.js");
        await requireLogKey(pem, kind);
        return pem;
      },
      faultOf: (error) => (error instanceof TypeError ? error.message : null),
    },
    io,
  );
}
