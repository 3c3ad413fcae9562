/** One process per file: a lock file beside it names the holder. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import { createWhole, replaceWhole } from "./whole.js";

export class InUseError extends Error {
  override readonly name = "InUseError";
}

/** Systems reuse process ids. */
interface Holder {
  readonly pid: number;
  /** Null if the system does not provide it. */
  readonly started: string | null;
  readonly host: string;
  /** Unique to this lock. */
  readonly id: string;
}

export interface Lock {
  release(): Promise<void>;
}

/**
 * Creates the lock, or replaces that of an ended process. `what` names the file in messages: "log". Rejects with {@link
 * InUseError}.
 */
export async function takeLock(path: string, what: string): Promise<Lock> {
  const id = randomUUID();
  const holder: Holder = { pid: process.pid, started: startOf(process.pid), host: hostname(), id };
  const own = JSON.stringify(holder);
  const lock = { release: () => release(path, own) };
  for (let attempts = 0; attempts < 5; attempts++) {
    if (await created(path, own)) return lock;
    const found = await readFile(path, "utf8").catch(() => null);
    // Null if the holder has released it since.
    if (found !== null && (await replacedEnded(path, { found, own, what }))) return lock;
  }
  throw new InUseError(inUse(path, what, null));
}

/**
 * A second lock, on this lock, admits one process at a time: otherwise one could replace the lock that another has just
 * created.
 */
async function replacedEnded(
  path: string,
  { found, own, what }: { readonly found: string; readonly own: string; readonly what: string },
): Promise<boolean> {
  const holder = holderOf(found);
  if (holder === null || isThere(holder)) throw new InUseError(inUse(path, what, holder));
  const turn = await takeLock(`${path}.${holder.id}`, what);
  try {
    if ((await readFile(path, "utf8").catch(() => null)) !== found) return false;
    await replaceWhole(path, own, { mode: 0o600 });
    return true;
  } finally {
    await turn.release();
  }
}

/** Links a complete file, so that no reader sees a partial lock. False if the name exists. */
async function created(path: string, text: string): Promise<boolean> {
  try {
    await createWhole(path, text, { mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function release(path: string, own: string): Promise<void> {
  const found = await readFile(path, "utf8").catch(() => null);
  if (found === own) await unlink(path).catch(() => {});
}

function holderOf(text: string): Holder | null {
  const json = attempt(() => parseJson(text)).value;
  if (!isJsonObject(json)) return null;
  const { pid, started, host, id } = json;
  if (!Number.isSafeInteger(pid) || (pid as number) <= 0 || typeof host !== "string") return null;
  // The id becomes part of a file name.
  if (typeof id !== "string" || !/^[0-9a-f-]{36}$/.test(id)) return null;
  return typeof started === "string" || started === null ? { pid: pid as number, started, host, id } : null;
}

/** A process on another machine cannot be checked, so it counts as running. */
function isThere({ pid, started, host }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const now = startOf(pid);
  return now === null || started === null || now === started;
}

/** Boot id and ticks since boot, on Linux; null elsewhere. */
function startOf(pid: number): string | null {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets can contain spaces and brackets; the start time is the 20th field after it.
    return `${boot} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!}`;
  } catch {
    return null;
  }
}

function inUse(path: string, what: string, holder: Holder | null): string {
  const who =
    holder === null
      ? "another process"
      : `process ${holder.pid}${holder.host === hostname() ? "" : ` of ${holder.host}`}`;
  return `in use by ${who}: one process a ${what}. If it does not run any more, remove ${path}`;
}
