/** Files written whole: a reader sees the old content or the new one, never a part, also after a kill or a crash. */
import { randomUUID } from "node:crypto";
import { type FileHandle, constants, copyFile, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

interface WholeOptions {
  /** The rights of the file, whatever the umask is. Default: those that the umask leaves of 0666. */
  readonly mode?: number;
  /**
   * A name for the unfinished file, in the same folder. A kill leaves it there, and the next write uses it again: so
   * only one process at a time may write the file. Default: a name of its own for each write.
   */
  readonly beside?: string;
  /** Called when the new content is on the disk. If it throws, the file stays as it was. */
  readonly beforeRename?: () => void;
}

/** Writes a file in the place of the one that is there. On an error the old file stays as it was. */
export async function replaceWhole(path: string, text: string, options: WholeOptions = {}): Promise<void> {
  await writeBeside(path, text, options, async (beside) => {
    options.beforeRename?.();
    await rename(beside, path);
  });
}

/** Writes a new file. Rejects with EEXIST where there is one. */
export async function createWhole(path: string, text: string, options: WholeOptions = {}): Promise<void> {
  await writeBeside(path, text, options, async (beside) => {
    await link(beside, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw error;
      // A file system without links: not whole at once, but never over another file.
      await copyFile(beside, path, constants.COPYFILE_EXCL);
    });
  });
}

/** Writes a file that one process at a time keeps, readable by its owner alone. */
export async function writeSynced(path: string, text: string): Promise<void> {
  await replaceWhole(path, text, { mode: 0o600, beside: `${path}.new` });
}

async function writeBeside(
  path: string,
  text: string,
  { mode, beside }: WholeOptions,
  place: (beside: string) => Promise<void>,
): Promise<void> {
  const own = beside ?? `${path}.${randomUUID()}.tmp`;
  const file = await open(own, beside === undefined ? "wx" : "w", mode ?? 0o666);
  try {
    await writeContent(file, text, mode ?? 0);
    await place(own);
  } finally {
    await rm(own, { force: true }).catch(() => {});
  }
  await syncFolder(dirname(path));
}

async function writeContent(file: FileHandle, text: string, mode: number): Promise<void> {
  try {
    // The umask reduces the mode given to open. A file system without rights needs no change, and refuses it.
    if (((await file.stat()).mode & mode) !== mode) await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
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
