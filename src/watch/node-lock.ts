/** One process a log: a file beside it, made by whoever comes first, that says who that is. For Node. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { isJsonObject, parseJson } from "../decode/json.js";
import { attempt } from "../errors.js";

/** Another process has the log, or may have it. */
export class LogInUseError extends Error {
  override readonly name = "LogInUseError";
}

/** Who holds a lock. A process id is given again: with the time of its start it is one process. */
interface Holder {
  readonly pid: number;
  /** As the system counts; null where it does not say. */
  readonly started: string | null;
  readonly host: string;
}

export interface Lock {
  release(): Promise<void>;
}

/** Makes the file, in the place of one whose process is gone. Rejects with {@link LogInUseError}. */
export async function takeLock(path: string): Promise<Lock> {
  const own = JSON.stringify({ pid: process.pid, started: startOf(process.pid), host: hostname() } satisfies Holder);
  for (let attempts = 0; attempts < 5; attempts++) {
    if (await created(path, own)) return { release: () => release(path, own) };
    const found = await readFile(path, "utf8").catch(() => null);
    // Released between the two.
    if (found === null) continue;
    const holder = holderOf(found);
    if (holder === null || isThere(holder)) throw new LogInUseError(inUse(path, holder));
    await takeAway(path, found);
  }
  throw new LogInUseError(inUse(path, null));
}

/** Linked to its name when it is written: nobody finds it half done. False: there is one already. */
async function created(path: string, text: string): Promise<boolean> {
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, text, { flag: "wx", mode: 0o600, flush: true });
    await link(beside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(beside).catch(() => {});
  }
}

/** Renamed first: of two processes that find it stale, only one moves that very file away. */
async function takeAway(path: string, stale: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // What was moved may be another one's, made in between: it is put back, where nobody has come since.
  if ((await readFile(aside, "utf8")) !== stale) await link(aside, path).catch(() => {});
  await unlink(aside);
}

async function release(path: string, own: string): Promise<void> {
  const found = await readFile(path, "utf8").catch(() => null);
  if (found === own) await unlink(path).catch(() => {});
}

function holderOf(text: string): Holder | null {
  const json = attempt(() => parseJson(text)).value;
  if (!isJsonObject(json)) return null;
  const { pid, started, host } = json;
  const isHolder =
    Number.isSafeInteger(pid) && (pid as number) > 0 && (typeof started === "string" || started === null);
  return isHolder && typeof host === "string" ? { pid: pid as number, started, host } : null;
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

function inUse(path: string, holder: Holder | null): string {
  const who =
    holder === null
      ? "another process"
      : `process ${holder.pid}${holder.host === hostname() ? "" : ` of ${holder.host}`}`;
  return `in use by ${who}: one process a log. If it does not run any more, remove ${path}`;
}
