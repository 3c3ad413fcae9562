/** Folders of published releases, for the commands that take them. */
import { statSync } from "node:fs";
import type { Release } from "../release/release.js";
import { type InputFiles, STDIN } from "./files.js";
import { UsageError } from "./io.js";

/** Whether each path is a folder; a path that is not there is none. */
export function areFolders(paths: readonly string[]): readonly boolean[] {
  return paths.map((path) => path !== STDIN && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
}

/** The releases of all folders; a folder that is not read is a fault. */
export async function readFolders(folders: readonly string[], files: InputFiles): Promise<Release[]> {
  const { readReleaseFolder } = await import("../release/node.js");
  const releases: Release[] = [];
  for (const folder of folders) {
    if (folder === STDIN) throw new UsageError(["a folder is wanted, and stdin is none"]);
    const read = await readReleaseFolder(folder).catch((error: unknown) => refused(files, error));
    releases.push(...(read?.releases ?? []));
  }
  return releases;
}

/** What `read` returns; undefined, and a fault, where the folder is refused. */
export function ofFolder<T>(files: InputFiles, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return refused(files, error);
  }
}

/** A room that is loaded later has a class of its own by this name. */
function refused(files: InputFiles, error: unknown): undefined {
  if (!(error instanceof Error) || error.name !== "ReleaseFolderError") throw error;
  const { file } = error as Error & { readonly file: string };
  return files.fault(file, error.message.slice(file.length + 2));
}
