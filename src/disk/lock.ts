/**
 * Gives a file to one process at a time. A lock file in the same folder names the process that holds the lock, and that
 * process renews it (disk/README.md, "Locks").
 */
import { randomUUID } from "node:crypto";
import { constants, readFileSync, readlinkSync } from "node:fs";
import { open, readdir, stat, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseJson } from "../decode/json.js";
import { text as anyText, matching, nullable, nullish, objectOf, readShape, wholeNumber } from "../decode/shapes.js";
import { attempt } from "../errors.js";
import { createWhole, inTime, replaceWhole } from "./whole.js";

/** Thrown if another process has the lock. */
export class InUseError extends Error {
  override readonly name = "InUseError";
}

/** Thrown if the lock was removed, or taken by another process. */
export class LostLockError extends Error {
  override readonly name = "LostLockError";
}

/** How a lock identifies its process. */
interface Place {
  readonly pid: number;
  /**
   * The boot id, and the start of the process in ticks since boot, because systems reuse process ids. Null if the
   * system does not provide them.
   */
  readonly started: string | null;
  readonly host: string;
  /** The namespace of process ids: each container has its own. Null if the system does not provide it. */
  readonly space: string | null;
}

interface Holder extends Place {
  /** The unique id of this lock. */
  readonly id: string;
}

export interface Lock {
  /**
   * Checks that this process has the lock. Call it before each write. Rejects with {@link LostLockError}, or with the
   * error of a disk that cannot be read.
   */
  requireHeld(): Promise<void>;
  release(): Promise<void>;
}

interface LockOptions {
  /** Called with a sentence before the lock of another process is watched, by default for up to 15 seconds. */
  readonly onWait?: (text: string) => void;
  /** Identity of this process. Default: as the system describes it. */
  readonly self?: Place;
  /**
   * Milliseconds between two beats, the writes that renew a lock. Default: 5,000. A lock is stale if it gets no beat
   * for three times as long.
   */
  readonly beatMs?: number;
}

const BEAT_MS = 5000;
const STALE_BEATS = 3;
/** Number of looks at a lock between two beats. Looks are counted instead of time, since the observer may be paused. */
const LOOKS_PER_BEAT = 10;

/**
 * Creates the lock, or replaces a stale one. A lock is stale if its process has ended on this system, or if it gets no
 * beat while it is observed for 15 seconds. `what` names the file in messages, such as "log". Rejects with {@link
 * InUseError}. Files that killed processes left beside the lock are removed by the same rule, in the background.
 */
export async function takeLock(path: string, what: string, options: LockOptions = {}): Promise<Lock> {
  const { self = thisProcess(), beatMs = BEAT_MS } = options;
  const lock = new HeldLock(path, { ...self, id: randomUUID() }, beatMs);
  const taking = { self, beatMs, what, own: lock.text, onWait: options.onWait ?? ((): void => {}) };
  for (let attempts = 0; attempts < 5; attempts++) {
    if (await created(path, lock.text)) return lock.begin();
    const found = await textAt(path).catch(() => "");
    // `found` is null if the holder has released the lock meanwhile.
    if (found !== null && (await replacedStale(path, found, taking))) return lock.begin();
  }
  throw new InUseError(inUse(path, taking, null));
}

interface Taking {
  readonly self: Place;
  readonly beatMs: number;
  readonly what: string;
  /** The text of the new lock. */
  readonly own: string;
  readonly onWait: (text: string) => void;
}

/**
 * Replaces a stale lock under a second lock. Without the second lock, a process could replace the lock that another
 * process has just created.
 */
async function replacedStale(path: string, found: string, taking: Taking): Promise<boolean> {
  const holder = holderOf(found);
  if (holder === null) throw new InUseError(inUse(path, taking, null));
  if (!(await isStale(path, found, { ...taking, holder }))) return false;
  const turn = await takeLock(`${path}.${holder.id}`, taking.what, taking);
  try {
    if ((await textAt(path).catch(() => null)) !== found) return false;
    await replaceWhole(path, taking.own, { mode: 0o600 });
    return true;
  } finally {
    await turn.release();
  }
}

/**
 * Whether the lock is stale. False if the lock was meanwhile removed or replaced. Rejects with {@link InUseError} if
 * its holder renews it.
 */
async function isStale(path: string, found: string, taking: Taking & { readonly holder: Holder }): Promise<boolean> {
  const { self, beatMs, holder } = taking;
  const state = processState(holder, self);
  if (state === "ended") return true;
  const staleMs = STALE_BEATS * beatMs;
  if (state === "running" && (await isYoung(path, staleMs))) throw new InUseError(inUse(path, taking, holder));
  taking.onWait(`its lock belongs to ${nameOf(holder, self)}: watching it for up to ${staleMs / 1000} s`);
  for (let look = 0; look < STALE_BEATS * LOOKS_PER_BEAT; look++) {
    await new Promise((resolve) => setTimeout(resolve, beatMs / LOOKS_PER_BEAT));
    // If the read fails, its error is thrown, because it shows neither a beat nor the absence of one.
    const now = await textAt(path);
    if (now === null || holderOf(now)?.id !== holder.id) return false;
    if (now !== found) throw new InUseError(inUse(path, taking, holder));
  }
  return true;
}

/**
 * Whether the file was changed less than `milliseconds` ago. The clock may be wrong, so a young file only leads to a
 * refusal, and the age of a file never makes its lock stale.
 */
async function isYoung(path: string, milliseconds: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  const age = found === null ? -1 : Date.now() - found.mtimeMs;
  return age >= 0 && age < milliseconds;
}

const COUNT_DIGITS = 12;
/** What follows the name of a lock in the names of its replacements' locks and of unfinished locks. */
const LEFTOVER = /^(?:\.[0-9a-f-]{36})+(?:\.tmp)?$/;

class HeldLock implements Lock {
  /** The line of the lock with its first count of beats. */
  readonly text: string;
  readonly #path: string;
  /** The text before the count, with the id. */
  readonly #start: string;
  readonly #self: Place;
  readonly #beatMs: number;
  #beats = 0;
  #beatAt = 0;
  #beating: Promise<void> | null = null;
  /** Text of each file beside the lock, and at how many beats it was found. */
  #leftovers: ReadonlyMap<string, readonly [text: string, beats: number]> = new Map();
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string, holder: Holder, beatMs: number) {
    this.#path = path;
    this.#start = `${JSON.stringify(holder).slice(0, -1)},"beats":"`;
    this.text = `${this.#start}${this.#count()}"}`;
    [this.#self, this.#beatMs] = [holder, beatMs];
  }

  async begin(): Promise<this> {
    this.#beatAt = performance.now();
    const sweep = (): Promise<void> | null => (this.#leftovers.size > 0 ? this.#sweep() : null);
    this.#timer = setInterval(() => void this.#beat().then(sweep), this.#beatMs);
    this.#timer.unref();
    await this.#sweep();
    return this;
  }

  async requireHeld(): Promise<void> {
    // After a pause, another process may be observing this lock, so a beat is written first.
    if (performance.now() - this.#beatAt > 2 * this.#beatMs) await inTime(this.#beat()).catch(() => {});
    const found = await inTime(textAt(this.#path));
    if (found?.startsWith(this.#start)) return;
    clearInterval(this.#timer);
    throw new LostLockError(lost(this.#path, found, STALE_BEATS * this.#beatMs));
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    const found = await inTime(Promise.resolve(this.#beating).then(() => textAt(this.#path))).catch(() => null);
    if (found?.startsWith(this.#start)) await unlink(this.#path).catch(() => {});
  }

  /** Removes leftovers whose process has ended, and those that did not change while this lock got three beats. */
  async #sweep(): Promise<void> {
    const [folder, name, found] = [dirname(this.#path), basename(this.#path), new Map<string, [string, number]>()];
    for (const each of await readdir(folder).catch(() => [])) {
      if (!each.startsWith(name) || !LEFTOVER.test(each.slice(name.length))) continue;
      const text = await textAt(join(folder, each)).catch(() => null);
      const [last, beats] = this.#leftovers.get(each) ?? ["", 0];
      const holder = holderOf(text ?? "");
      const hasEnded = holder !== null && processState(holder, this.#self) === "ended";
      if (hasEnded || (last === text && beats === STALE_BEATS)) await unlink(join(folder, each)).catch(() => {});
      else if (text !== null) found.set(each, [text, last === text ? beats + 1 : 1]);
    }
    this.#leftovers = found;
  }

  /** Writes a beat. A failure does not end the process, because the lock is checked before the next write anyway. */
  #beat(): Promise<void> {
    this.#beating ??= this.#write()
      .catch(() => {})
      .finally(() => (this.#beating = null));
    return this.#beating;
  }

  /**
   * Overwrites the count in the open file, which was just found to have the id of this lock. A rename would replace
   * another process's lock if this process were paused before it.
   */
  async #write(): Promise<void> {
    const file = await open(this.#path, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      const start = Buffer.from(this.#start);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(start.length), 0, start.length, 0);
      if (bytesRead < start.length || !buffer.equals(start)) return;
      this.#beats++;
      await file.write(this.#count(), start.length);
      // The sync shows the beat to the other machines of a shared volume.
      await file.datasync();
      this.#beatAt = performance.now();
    } finally {
      await file.close();
    }
  }

  #count(): string {
    return String(this.#beats).padStart(COUNT_DIGITS, "0");
  }
}

/** Returns the content of the lock file. Null if there is no such file. A pipe is refused: its read may never end. */
async function textAt(path: string): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if ((await file.stat()).isFile()) return await file.readFile("utf8");
      throw Object.assign(new Error("not a regular file"), { code: "EFTYPE" });
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Creates the lock by linking a complete file, so that no reader sees a partial lock. Returns false if one exists. */
async function created(path: string, text: string): Promise<boolean> {
  try {
    await createWhole(path, text, { mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function holderOf(text: string): Holder | null {
  const found = readShape(HOLDER, attempt(() => parseJson(text)).value).value;
  return found === undefined ? null : { ...found, space: found.space ?? null };
}

const HOLDER = objectOf<Omit<Holder, "space"> & { readonly space?: string | null }>(
  {
    pid: wholeNumber(1),
    started: nullable(anyText),
    host: anyText,
    // Optional, because older versions of this package wrote no `space`.
    space: nullish(anyText),
    // The id becomes part of a file name, so only these characters are accepted.
    id: matching(/^[0-9a-f-]{36}$/, "an id"),
  },
  { unknown: "ignore" },
);

/**
 * Returns the state of the holder's process. It is known only in the same boot and the same namespace of process ids:
 * containers can have the same host name, and each has a process 1.
 */
function processState(holder: Holder, self: Place): "running" | "ended" | "unknown" {
  const { pid, started, host, space } = holder;
  if (started === null || self.started === null || space === null) return "unknown";
  if (host !== self.host || space !== self.space || bootOf(started) !== bootOf(self.started)) return "unknown";
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return "ended";
  }
  const now = startOf(pid);
  if (now === null) return "unknown";
  return now === started ? "running" : "ended";
}

/** Returns the identity of this process. Members are null if the system does not provide them. */
export function thisProcess(): Place {
  return { pid: process.pid, started: startOf(process.pid), host: hostname(), space: namespace() };
}

function namespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}

function bootOf(started: string): string {
  return started.split(" ", 1)[0]!;
}

/** Returns the boot id and the ticks since boot on Linux, and null elsewhere. */
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

/** Returns a name for the holder. It includes the host unless the holder's process id is valid here. */
function nameOf({ pid, host, space }: Holder, self: Place): string {
  return host === self.host && space === self.space ? `process ${pid}` : `process ${pid} of ${host}`;
}

function inUse(path: string, { what, self }: Taking, holder: Holder | null): string {
  if (holder !== null)
    return `in use by ${nameOf(holder, self)}: only one process may use a ${what}. It renews its lock, ${path}`;
  return `in use by another process: only one process may use a ${what}. If that process has ended, remove ${path}`;
}

function lost(path: string, found: string | null, staleMs: number): string {
  const holder = holderOf(found ?? "");
  const what = found === null ? "removed" : "overwritten";
  if (holder === null)
    return `its lock, ${path}, was ${what}, so this process writes no more: another process may use it now`;
  const who = `process ${holder.pid} of ${holder.host} has its lock now, ${path}`;
  return `${who}: this process was paused or could not renew it for ${staleMs / 1000} s, so it writes no more`;
}
