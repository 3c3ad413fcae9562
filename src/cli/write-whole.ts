/**
 * Writes files and folders completely or not at all. Links are followed. A target that cannot be replaced is refused
 * before any work.
 */
import { randomUUID } from "node:crypto";
import {
  type Stats,
  accessSync,
  constants,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { equalBytes } from "../bytes.js";
import { diskReason } from "../disk/reason.js";
import { createWhole, replaceWhole, syncFolder } from "../disk/whole.js";
import { UsageError } from "./io.js";

interface Target {
  /** Path of the file itself. If the given path is a link, this is where the link leads. */
  readonly path: string;
  /** The existing file that is replaced; null if the file is new. */
  readonly replaced: Stats | null;
}

/** Returns whether the file exists. Throws {@link UsageError} if it cannot be written. */
export function requireWritable(path: string): boolean {
  return targetOf(path).replaced !== null;
}

const PERMISSIONS = 0o7777;

/**
 * Replaces a file completely. `was` has the bytes from which the new text was made. If the file no longer has these
 * bytes, it is not replaced, since another change would be lost. Rejects with {@link UsageError}, and then leaves the
 * file unchanged.
 */
export async function writeWhole(path: string, text: string, was?: Uint8Array): Promise<void> {
  const target = targetOf(path);
  const beforeRename = (): void => {
    if (was !== undefined && !equalBytes(readFileSync(target.path), was)) throw new Refusal("was changed meanwhile");
  };
  const mode = target.replaced === null ? {} : { mode: target.replaced.mode & PERMISSIONS };
  await replaceWhole(target.path, text, { ...mode, beforeRename }).catch((error: unknown) => {
    throw fault(path, `not written, and left as it was: ${reasonOf(error)}`);
  });
}

/**
 * Replaces the report of an earlier run by the text, or removes it, since a reader would take it for the result of this
 * run. Returns what became of the earlier file, if there is something to say. Never throws.
 */
export async function replaceReport(path: string, text: string | null): Promise<string | null> {
  try {
    if (text !== null) return await writeWhole(path, text).then(() => null);
    if (statOf(path)?.isFile() !== true) return null;
    accessSync(path, constants.W_OK);
    rmSync(linked(path, 0));
    return `${path}: removed the report of an earlier run`;
  } catch (error) {
    if (text !== null) return replaceReport(path, null);
    return `${path}: the report of an earlier run is still there: ${reasonOf(error)}`;
  }
}

/** Returns the folder itself, which must be new or empty. Throws {@link UsageError} for any other. */
export function requireEmptyFolder(path: string): string {
  try {
    const folder = linked(path, 0);
    const found = statOf(folder);
    if (found?.isDirectory() === false) throw new Refusal("a file, not a folder");
    if (found !== null && readdirSync(folder).length > 0) throw new Refusal("the folder is not empty: name a new one");
    if (folder === realpathSync(".")) throw new Refusal("the current folder would be replaced: name another one");
    if (statOf(dirname(folder))?.isDirectory() !== true) throw new Refusal("there is no folder to make it in");
    return folder;
  } catch (error) {
    throw fault(path, `not written: ${reasonOf(error)}`);
  }
}

/** Makes a folder with these files, by name. Rejects with {@link UsageError}, and then leaves nothing behind. */
export async function writeFolder(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  const folder = requireEmptyFolder(path);
  const beside = `${folder}.${randomUUID()}.tmp`;
  try {
    await mkdir(beside);
    for (const [name, text] of Object.entries(files)) await createWhole(join(beside, name), text);
    // Windows renames a folder to a new name only.
    if (statOf(folder) !== null) await rmdir(folder);
    await rename(beside, folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    throw fault(path, `not written: ${reasonOf(error)}`);
  } finally {
    await rm(beside, { recursive: true, force: true }).catch(() => {});
  }
}

/** Returns whether both words name one file. False for words that cannot be file names. */
export function isSameFile(one: string, other: string): boolean {
  try {
    const [a, b] = [statOf(resolve(one)), statOf(resolve(other))];
    return a !== null && b !== null && a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}

class Refusal extends Error {}

function fault(path: string, message: string): UsageError {
  return new UsageError([`${path === "" ? '"" (an empty name)' : path}: ${message}`]);
}

function targetOf(path: string): Target {
  try {
    if (path === "" || path.endsWith("/")) throw new Refusal("expected the name of a file");
    const target = linked(path, 0);
    const replaced = statOf(target);
    if (replaced?.isDirectory()) throw new Refusal("a directory, not a file");
    if (replaced !== null && !replaced.isFile()) throw new Refusal("a device or pipe, not a file; - writes to stdout");
    // Renaming needs no write permission on the file, but a missing permission is meant to protect the file.
    if (replaced !== null) accessSync(target, constants.W_OK);
    if (statOf(dirname(target))?.isDirectory() !== true) throw new Refusal("there is no such folder");
    return { path: target, replaced };
  } catch (error) {
    throw fault(path, `not written: ${reasonOf(error)}`);
  }
}

const MAX_LINKS = 40;

/** Resolves links. The path need not exist. */
function linked(path: string, links: number): string {
  if (links > MAX_LINKS) throw new Refusal("a loop of links");
  const file = join(realFolder(path), basename(resolve(path)));
  const next = linkAt(file);
  return next === null ? file : linked(resolve(dirname(file), next), links + 1);
}

function realFolder(path: string): string {
  const folder = dirname(resolve(path));
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Reasons by error code, for a file that existed when the command started. */
const REASONS: Readonly<Record<string, string>> = { ENOENT: "it no longer exists" };

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  return diskReason(error, REASONS) ?? String(error);
}
