/** Writes small files atomically: after a crash, a file has its old content or its new content. */
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes to a temporary file beside `path` (mode 0600), syncs and renames it. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  await syncFolder(dirname(path));
}

/** Makes a new name survive a power cut, on systems that can open folders. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch {
    // The file itself is already synced.
  }
}

/** Whether the path still names the open file. Data written to a removed file is lost. */
export async function isInPlace(handle: FileHandle, path: string): Promise<boolean> {
  const [own, found] = await Promise.all([handle.stat(), stat(path).catch(() => null)]);
  return found !== null && found.dev === own.dev && found.ino === own.ino;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such folder",
  EISDIR: "a directory, where a file is wanted",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "a file system that cannot be written",
  ENOSPC: "no space left",
  EDQUOT: "no space left",
  EFBIG: "no space left: a file may not be larger",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "a circle of links",
  EIO: "the disk does not work",
};

/** Null if it is no system error. */
export function diskReason(error: unknown): string | null {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? (REASONS[code] ?? code) : null;
}
