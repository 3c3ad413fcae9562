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
import { equalBytes, toUtf8 } from "../bytes.js";
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
    throw fault(path, `not written${target.replaced === null ? "" : ", and left as it was"}: ${reasonOf(error)}`);
  });
}

/** What became of a file or folder. */
export type Written = "Written" | "Replaced" | "Unchanged";

export interface NewTarget {
  readonly force?: boolean | undefined;
  /** The bytes from which the text was made, if it goes to the file that had them. */
  readonly was?: Uint8Array | undefined;
}

/**
 * Writes a document as {@link writeWhole} does. Another file that is there is refused, unless the text was made from it
 * or `force` is given. One with the same bytes stays.
 */
export async function writeNew(path: string, text: string, { force, was }: NewTarget): Promise<Written> {
  const { path: file, replaced } = targetOf(path);
  const found = was ?? (replaced === null ? null : readFileSync(file));
  if (found !== null && equalBytes(found, toUtf8(text))) return "Unchanged";
  if (found !== null && was === undefined && force !== true) throw fault(`--out ${path}`, IS_THERE);
  await writeWhole(path, text, was);
  return found === null ? "Written" : "Replaced";
}

const IS_THERE = "the file is there: give --force to replace it, or choose another file";

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

/** Returns the folder itself. Throws {@link UsageError} if there can be no folder. */
export function requireFolder(path: string): string {
  return writable(path, (folder, found) => {
    if (found?.isDirectory() === false) throw new Refusal("a file, not a folder");
    if (folder === realpathSync(".")) throw new Refusal("the current folder would be replaced: name another one");
  }).path;
}

/**
 * Makes a folder with these files, by name. One that has exactly these files stays; any other has to be empty. Rejects
 * with {@link UsageError}, and then leaves nothing behind.
 */
export async function writeFolder(path: string, files: Readonly<Record<string, string>>): Promise<Written> {
  const folder = requireFolder(path);
  const beside = `${folder}.${randomUUID()}.tmp`;
  try {
    const found = orNull(() => readdirSync(folder).sort());
    if (found !== null && found.length > 0) {
      const isSame = (name: string): boolean => equalBytes(readFileSync(join(folder, name)), toUtf8(files[name]!));
      if (found.join() === Object.keys(files).sort().join() && found.every(isSame)) return "Unchanged";
      throw new Refusal("the folder has other files: name a new one");
    }
    await mkdir(beside);
    for (const [name, text] of Object.entries(files)) await createWhole(join(beside, name), text);
    // Windows renames a folder to a new name only.
    if (found !== null) await rmdir(folder);
    await rename(beside, folder);
    await syncFolder(dirname(folder));
    return "Written";
  } catch (error) {
    throw fault(path, `not written: ${reasonOf(error)}`);
  } finally {
    await rm(beside, { recursive: true, force: true }).catch(() => {});
  }
}

/** Returns whether both words name one file. False for words that cannot be file names. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => orNull(() => statOf(resolve(path))));
  return a?.ino !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

class Refusal extends Error {}

function fault(path: string, message: string): UsageError {
  return new UsageError([`${path === "" ? '"" (an empty name)' : path}: ${message}`]);
}

function targetOf(path: string): Target {
  return writable(path, (target, replaced) => {
    if (path === "" || path.endsWith("/")) throw new Refusal("expected the name of a file");
    if (replaced?.isDirectory()) throw new Refusal("a directory, not a file");
    if (replaced?.isFile() === false) throw new Refusal("a device or pipe, not a file; - writes to stdout");
    // Renaming needs no write permission on the file, but a missing permission is meant to protect the file.
    if (replaced !== null) accessSync(target, constants.W_OK);
  });
}

/** Resolves links, and calls what refuses the file or folder that is there. */
function writable(path: string, refuse: (path: string, found: Stats | null) => void): Target {
  try {
    const target = linked(path, 0);
    const replaced = statOf(target);
    refuse(target, replaced);
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
  const folder = dirname(resolve(path));
  const file = join(orNull(() => realpathSync(folder)) ?? folder, basename(resolve(path)));
  const next = orNull(() => readlinkSync(file));
  return next === null ? file : linked(resolve(dirname(file), next), links + 1);
}

/** Returns null for whatever is not there. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  // The file existed when the command started.
  return diskReason(error, { ENOENT: "it no longer exists" }) ?? String(error);
}
