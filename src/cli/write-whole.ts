/** Where a command writes a file: links are followed, and what cannot be replaced is refused before any work. */
import { type Stats, accessSync, constants, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { equalBytes } from "../bytes.js";
import { diskReason } from "../disk/reason.js";
import { replaceWhole } from "../disk/whole.js";
import { UsageError } from "./io.js";

interface Target {
  /** The file itself, where the path is a link to it. */
  readonly path: string;
  /** Null: there is none yet. */
  readonly replaced: Stats | null;
}

/**
 * Throws {@link UsageError} where nothing can be written there: before any work is done that could be lost. Answers
 * whether there is a file.
 */
export function requireWritable(path: string): boolean {
  return targetOf(path).replaced !== null;
}

const PERMISSIONS = 0o7777;

/**
 * Writes a file in the place of the one that is there, links followed. `was`: what was read of it, where the new text
 * was made from that; if it is another by now, somebody else's change would be lost. Rejects with {@link UsageError},
 * with the file as it was.
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

/** Whether two paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statOf(one), statOf(other)];
  return a !== null && b !== null && a.dev === b.dev && a.ino === b.ino;
}

class Refusal extends Error {}

function fault(path: string, message: string): UsageError {
  return new UsageError([`${path === "" ? '"" (an empty name)' : path}: ${message}`]);
}

function targetOf(path: string): Target {
  try {
    if (path === "" || path.endsWith("/")) throw new Refusal("the name of a file wanted");
    const target = linked(path, 0);
    const replaced = statOf(target);
    if (replaced?.isDirectory()) throw new Refusal("a directory, where a file is to be written");
    if (replaced !== null && !replaced.isFile())
      throw new Refusal("a device, a pipe or the like, where a file is to be written; - writes to stdout");
    // Renaming takes no right to write the file: who took that away meant to keep it.
    if (replaced !== null) accessSync(target, constants.W_OK);
    if (statOf(dirname(target))?.isDirectory() !== true) throw new Refusal("there is no such folder");
    return { path: target, replaced };
  } catch (error) {
    throw fault(path, `not written: ${reasonOf(error)}`);
  }
}

const MAX_LINKS = 40;

/** Where a path leads, also where nothing is there yet. */
function linked(path: string, links: number): string {
  if (links > MAX_LINKS) throw new Refusal("a circle of links");
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

/** Of a file that was there when the command started. */
const REASONS: Readonly<Record<string, string>> = { ENOENT: "it is there no more" };

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  return diskReason(error, REASONS) ?? String(error);
}
