/**
 * Where the lab's state is kept: in memory, or in a folder.
 *
 * The folder's store is LevelDB, by the package `classic-level`: embedded, no server, one folder; a batch is atomic,
 * and with `sync` it is on the disk before it is acknowledged; what a killed process left half written is dropped when
 * the store is opened again. It has compiled code, which comes inside it for every platform that Node runs on, and an
 * install script, which looks whether that code fits and otherwise compiles it. So it is an optional peer: who verifies
 * installs neither. SQLite was the other candidate: Node 20 has none built in, and its packages download their compiled
 * part. A file of our own would have had to earn the same trust.
 */
import { mkdir } from "node:fs/promises";
import type { ClassicLevel } from "classic-level";
import type { JsonValue } from "../decode/json.js";

/** A value set under its key, or the key removed (no value). */
export interface Change {
  readonly key: string;
  readonly value?: JsonValue;
}

export interface Store {
  /** Everything that is kept. */
  read(): Promise<readonly Required<Change>[]>;
  /** All of the changes or none of them; once it resolves, they outlive the process and the machine's power. */
  write(changes: readonly Change[]): Promise<void>;
  close(): Promise<void>;
}

/** Keeps nothing beyond the process. */
export function memoryStore(): Store {
  return { read: async () => [], write: async () => {}, close: async () => {} };
}

/** Another process has the folder open. */
export class StoreInUseError extends Error {
  override readonly name = "StoreInUseError";
}

/** The package that keeps state in folders is not installed, or has no compiled part for this platform. */
export class StoreMissingError extends Error {
  override readonly name = "StoreMissingError";
}

/**
 * Opens the store in a folder, which is made where it is not there. Throws {@link StoreInUseError} and
 * {@link StoreMissingError}.
 */
export async function levelStore(folder: string): Promise<Store> {
  const Level = await loadLevel();
  // It holds private keys.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const level = new Level<string, string>(folder, { valueEncoding: "utf8" });
  try {
    await level.open();
  } catch (error) {
    const { code, message } = (error as { cause?: { code?: unknown; message?: string } }).cause ?? {};
    if (code === "LEVEL_LOCKED") throw new StoreInUseError(`${folder} is in use by another process`);
    throw new Error(`${folder} cannot be opened: ${message ?? String(error)}`, { cause: error });
  }
  return storeOf(level);
}

/** Throws {@link StoreMissingError}. */
export async function requireLevel(): Promise<void> {
  await loadLevel();
}

/** Loaded when it is needed: a lab in memory runs where it is not installed. */
async function loadLevel(): Promise<typeof ClassicLevel> {
  try {
    return (await import("classic-level")).ClassicLevel;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ERR_MODULE_NOT_FOUND" ? "is not installed" : `cannot be loaded (${message})`;
    throw new StoreMissingError(
      `keeping a lab's state in a folder takes the package classic-level, which ${reason}: npm install classic-level@3`,
      { cause: error },
    );
  }
}

function storeOf(level: ClassicLevel<string, string>): Store {
  return {
    async read() {
      const entries = await level.iterator().all();
      return entries.map(([key, value]) => ({ key, value: JSON.parse(value) as JsonValue }));
    },
    async write(changes) {
      await level.batch(changes.map(operation), { sync: true });
    },
    close: () => level.close(),
  };
}

function operation({ key, value }: Change): { type: "put"; key: string; value: string } | { type: "del"; key: string } {
  return value === undefined ? { type: "del", key } : { type: "put", key, value: JSON.stringify(value) };
}
