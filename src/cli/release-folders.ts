/** Reads folders of published releases, for the commands that take them. */
import { statSync } from "node:fs";
import type { ReleaseFolder } from "../release/node.js";
import type { Release } from "../release/release.js";
import { type InputFiles, STDIN } from "./files.js";
import { UsageError } from "./io.js";

/** Returns for each path whether it is a folder. False for a missing path. */
export function areFolders(paths: readonly string[]): readonly boolean[] {
  return paths.map((path) => path !== STDIN && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
}

/** Reads all folders together. A folder that is refused becomes a fault. */
export async function readFolders(folders: readonly string[], files: InputFiles): Promise<ReleaseFolder> {
  const { readReleaseFolder } = await import("../release/node.js");
  const [releases, unread]: [Release[], string[]] = [[], []];
  for (const folder of folders) {
    if (folder === STDIN) throw new UsageError(["expected a folder, got stdin"]);
    const read = await orFault(files, () => readReleaseFolder(folder));
    releases.push(...(read?.releases ?? []));
    unread.push(...(read?.unread ?? []));
  }
  return { releases, unread };
}

/** Returns the files of all releases in a folder, by their paths. A folder that is refused becomes a fault. */
export async function filesInFolder(
  folder: string,
  files: InputFiles,
): Promise<[path: string, bytes: Uint8Array][] | undefined> {
  const { releaseFilesIn } = await import("../release/node.js");
  return orFault(files, async () => releaseFilesIn(folder));
}

async function orFault<T>(files: InputFiles, read: () => Promise<T>): Promise<T | undefined> {
  const { ReleaseFolderError } = await import("../release/node.js");
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ReleaseFolderError)) throw error;
    return files.fault(error.file, error.reason);
  }
}
