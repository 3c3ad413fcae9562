/** One process a file: a lock beside it, made by whoever comes first, that says who that is. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import { createWhole, replaceWhole } from "./whole.js";

/** Another process has the file, or may have it. */
export class InUseError extends Error {
  override readonly name = "InUseError";
}

/** Who holds a lock. A process id is given again: with the time of its start it is one process. */
interface Holder {
  readonly pid: number;
  /** As the system counts; null where it does not say. */
  readonly started: string | null;
  readonly host: string;
  /** Of this lock and no other. */
  readonly id: string;
}

export interface Lock {
  release(): Promise<void>;
}

/**
 * Makes the lock, in the place of one whose process is gone. `what` it is that one process has at a time: "log".
 * Rejects with {@link InUseError}.
 */
export async function takeLock(path: string, what: string): Promise<Lock> {
  const id = randomUUID();
  const holder: Holder = { pid: process.pid, started: startOf(process.pid), host: hostname(), id };
  const own = JSON.stringify(holder);
  const lock = { release: () => release(path, own) };
  for (let attempts = 0; attempts < 5; attempts++) {
    if (await created(path, own)) return lock;
    const found = await readFile(path, "utf8").catch(() => null);
    // Released between the two.
    if (found !== null && (await takenOver(path, { found, own, what }))) return lock;
  }
  throw new InUseError(inUse(path, what, null));
}

/**
 * Puts the own lock in the place of the one that was found, where its process is gone. Of those that find it so, one at
 * a time looks again, by a lock on this very lock: else a second one would replace what the first one has just made.
 */
async function takenOver(
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

/** Linked to its name when it is written: nobody finds it half done. False: there is one already. */
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
  // It becomes a part of a name.
  if (typeof id !== "string" || !/^[0-9a-f-]{36}$/.test(id)) return null;
  return typeof started === "string" || started === null ? { pid: pid as number, started, host, id } : null;
}

/** Of a process of another machine nobody here can tell. */
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

/** When the process started, by Linux: the boot of the machine, and the ticks since then. Null anywhere else. */
function startOf(pid: number): string | null {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may have spaces and brackets in it; the start is the 20th field behind it.
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
