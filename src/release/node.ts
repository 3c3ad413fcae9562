/** Reads folders of releases, on Node (release/README.md, "Folders"). */
import type { Dirent } from "node:fs";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { diskReason } from "../disk/reason.js";
import { isVersion } from "./one.js";
import { RELEASE_FILE, type Release, readRelease } from "./release.js";

/** Thrown for a folder that cannot be read. The message names the file. */
export class ReleaseFolderError extends Error {
  override readonly name = "ReleaseFolderError";
  /** The path of the file or folder. */
  readonly file: string;
  /** A phrase for people. */
  readonly reason: string;

  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`);
    this.file = file;
    this.reason = reason;
  }
}

/** The releases in a folder. */
export interface ReleaseFolder {
  readonly releases: readonly Release[];
  /** Paths of files and folders that belong to no release. Their content was not read. */
  readonly unread: readonly string[];
}

/** Maximum number of files in one folder and its subfolders. */
const MAX_FILES = 10_000;
/** Maximum size of a file. A genuine manifest has 14 KB. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a folder: one release of an application (`2026.9.0/signer`), a release with its applications (`2026.9.0`), or a
 * folder of releases. Throws {@link ReleaseFolderError} for symbolic links, for other irregular files, for more than
 * 10,000 files or files above 1 MiB, and for a folder without a release. The content of the files is not judged:
 * `faults` of each release says what is wrong with it.
 *
 * @example
 * const { releases } = await readReleaseFolder("core-enclaves/releases");
 * const check = await checkReleases(releases, { policy });
 */
export async function readReleaseFolder(path: string): Promise<ReleaseFolder> {
  const { walk, places } = walked(path);
  const releases: Release[] = [];
  for (const place of places) {
    const { version, application } = place;
    releases.push(await readRelease(walk.filesOf(place), { version, application }));
  }
  return { releases, unread: walk.unread };
}

/** Returns the files of all releases in a folder, with their paths. Throws as {@link readReleaseFolder} does. */
export function releaseFilesIn(path: string): [path: string, bytes: Uint8Array][] {
  const { walk, places } = walked(path);
  return places.flatMap((place) =>
    walk.filesOf(place).map(([name, bytes]): [string, Uint8Array] => [join(place.shown, name), bytes]),
  );
}

function walked(path: string): { readonly walk: FolderWalk; readonly places: readonly Place[] } {
  const walk = new FolderWalk();
  const root = resolve(path);
  walk.requireFolder(root, path);
  const places = walk.placesIn(root, path);
  if (places.length === 0)
    throw new ReleaseFolderError(
      path,
      "no release in it: expected a folder with `manifest` and approvals, or a folder of such folders",
    );
  return { walk, places };
}

/** A folder that is one release of one application. */
interface Place {
  readonly folder: string;
  /** The name of the folder in messages. */
  readonly shown: string;
  readonly version: string | null;
  readonly application: string;
  readonly entries: readonly Dirent[];
}

class FolderWalk {
  readonly unread: string[] = [];
  #files = 0;

  requireFolder(root: string, shown: string): void {
    const stats = onDisk(shown, () => lstatSync(root));
    if (stats.isSymbolicLink()) throw new ReleaseFolderError(shown, LINK);
    if (!stats.isDirectory()) throw new ReleaseFolderError(shown, "is not a folder of releases");
  }

  /**
   * Finds the releases in a folder. A folder whose name is a version is always a release, and each folder in it an
   * application's or another version's, even an empty one. For other folders, the content decides.
   */
  placesIn(folder: string, shown: string, isIn: "none" | "folder" | "version" = "none"): Place[] {
    const entries = this.#entries(folder, shown);
    const isRelease = isVersion(basename(folder));
    if (!isRelease && (isIn === "version" || isApplication(entries))) return [placeOf(folder, shown, entries)];
    if (!isRelease && isIn === "folder") {
      this.unread.push(shown);
      return [];
    }
    const places = entries.flatMap((entry) => {
      const [inside, name] = [join(folder, entry.name), join(shown, entry.name)];
      if (entry.isDirectory()) return this.placesIn(inside, name, isRelease ? "version" : "folder");
      this.unread.push(name);
      return [];
    });
    if (places.length === 0 && isRelease)
      throw new ReleaseFolderError(shown, "the version has no folder of an application");
    return places;
  }

  /** Reads the release files. Other files and folders are listed by name, and not read. */
  filesOf({ folder, shown, entries }: Place): [string, Uint8Array][] {
    const files: [string, Uint8Array][] = [];
    for (const { name } of entries) {
      if (RELEASE_FILE.test(name)) files.push([name, readBounded(join(folder, name), join(shown, name))]);
      else this.unread.push(join(shown, name));
    }
    return files;
  }

  #entries(folder: string, shown: string): Dirent[] {
    const entries = onDisk(shown, () => readdirSync(folder, { withFileTypes: true }));
    this.#files += entries.length;
    if (this.#files > MAX_FILES) throw new ReleaseFolderError(shown, `more than ${MAX_FILES} files in all`);
    for (const entry of entries) {
      const name = join(shown, entry.name);
      if (entry.isSymbolicLink()) throw new ReleaseFolderError(name, LINK);
      if (!entry.isFile() && !entry.isDirectory()) throw new ReleaseFolderError(name, "is not a regular file");
    }
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

const LINK = "is a symbolic link, which is not followed";

function isApplication(entries: readonly Dirent[]): boolean {
  return entries.some((entry) => entry.isFile() && RELEASE_FILE.test(entry.name));
}

function placeOf(folder: string, shown: string, entries: readonly Dirent[]): Place {
  const parent = basename(dirname(folder));
  return { folder, shown, version: isVersion(parent) ? parent : null, application: basename(folder), entries };
}

function readBounded(path: string, shown: string): Uint8Array {
  // The flags refuse a link or a pipe that replaced the file after it was listed.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  return onDisk(shown, () => {
    const file = openSync(path, flags);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw new ReleaseFolderError(shown, "is not a regular file");
      const bytes = new Uint8Array(Math.min(stats.size, MAX_BYTES) + 1);
      let length = 0;
      for (let got = 1; got > 0 && length < bytes.length; length += got)
        got = readSync(file, bytes, length, bytes.length - length, length);
      if (length > MAX_BYTES) throw new ReleaseFolderError(shown, "larger than 1 MiB, the most that is read");
      return bytes.slice(0, length);
    } finally {
      closeSync(file);
    }
  });
}

function onDisk<T>(shown: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ReleaseFolderError) throw error;
    throw new ReleaseFolderError(shown, diskReason(error) ?? "cannot be read");
  }
}
