/** Small files that a kill leaves whole: the old one or the new one, and no part of either. */
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Written beside, for its owner alone, synced, and renamed. */
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

/** So that a new name survives a power cut; where folders cannot be opened, the system does it in its own time. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch {
    // The file itself is written.
  }
}

/** Whether the path still leads to the file that is open: what is written to one that was removed is lost. */
export async function isInPlace(handle: FileHandle, path: string): Promise<boolean> {
  const [own, found] = await Promise.all([handle.stat(), stat(path).catch(() => null)]);
  return found !== null && found.dev === own.dev && found.ino === own.ino;
}
