/**
 * Writes files as a whole. Readers see the old content or the new one, even if the process is killed or the system
 * crashes.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, constants, copyFile, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

interface WholeOptions {
  /** Mode of the file, regardless of the umask. Default: 0666 reduced by the umask. */
  readonly mode?: number;
  /**
   * Name of the unfinished file, in the same folder. If the process is killed, the file stays and the next write reuses
   * it, so only one process at a time may write. Default: a new name for each write.
   */
  readonly beside?: string;
  /** Called when the new content is on the disk. If it throws, the old file stays. */
  readonly beforeRename?: () => void;
}

/** Replaces a file. If an error prevents that, the old file stays unchanged. */
export async function replaceWhole(path: string, text: string, options: WholeOptions = {}): Promise<void> {
  await writeBeside(path, text, options, async (beside) => {
    options.beforeRename?.();
    await rename(beside, path);
  });
}

/** Writes a new file. Rejects with EEXIST if there is one. */
export async function createWhole(path: string, text: string, options: WholeOptions = {}): Promise<void> {
  await writeBeside(path, text, options, async (beside) => {
    await link(beside, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw error;
      // On a file system without links, the file is copied: it is not whole at once, but no other file is overwritten.
      await copyFile(beside, path, constants.COPYFILE_EXCL);
    });
  });
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
    // The umask reduces the mode given to open. A file system without modes needs no change, and would refuse it.
    if (((await file.stat()).mode & mode) !== mode) await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a new file name survive a power failure, on systems that can open folders. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch {
    // The error is ignored, because the file itself is already on the disk.
  }
}

/** Returns whether the path still names the open file. Data written to a removed file is lost. */
export async function isInPlace(
  handle: { stat(): Promise<{ readonly dev: number; readonly ino: number }> },
  path: string,
): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  const own = await handle.stat();
  return found !== null && found.dev === own.dev && found.ino === own.ino;
}

const ANSWER_MS = 5000;

/** Rejects with ETIMEDOUT if the work takes longer than 5 seconds, as on a network volume whose server is gone. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error("the disk does not answer"), { code: "ETIMEDOUT" });
    timer = setTimeout(reject, ANSWER_MS, error);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
