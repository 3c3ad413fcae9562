/** Folders of published releases, for the commands that take them. */
import { statSync } from "node:fs";
import type { ReleaseFolder } from "../release/node.js";
import type { Release } from "../release/release.js";
import { type InputFiles, STDIN } from "./files.js";
import { UsageError } from "./io.js";

/** Whether each path is a folder; a path that is not there is none. */
export function areFolders(paths: readonly string[]): readonly boolean[] {
  return paths.map((path) => path !== STDIN && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
}

/** All folders together; one that is refused is a fault. */
export async function readFolders(folders: readonly string[], files: InputFiles): Promise<ReleaseFolder> {
  const { ReleaseFolderError, readReleaseFolder } = await import("../release/node.js");
  const [releases, unread]: [Release[], string[]] = [[], []];
  for (const folder of folders) {
    if (folder === STDIN) throw new UsageError(["expected a folder, got stdin"]);
    try {
      const read = await readReleaseFolder(folder);
      releases.push(...read.releases);
      unread.push(...read.unread);
    } catch (error) {
      if (!(error instanceof ReleaseFolderError)) throw error;
      files.fault(error.file, error.reason);
    }
  }
  return { releases, unread };
}

/** The files of all releases in a folder, by their paths; undefined, and a fault, if the folder is refused. */
export async function filesInFolder(
  folder: string,
  files: InputFiles,
): Promise<[path: string, bytes: Uint8Array][] | undefined> {
  const { ReleaseFolderError, releaseFilesIn } = await import("../release/node.js");
  try {
    return releaseFilesIn(folder);
  } catch (error) {
    if (!(error instanceof ReleaseFolderError)) throw error;
    return files.fault(error.file, error.reason);
  }
}
