/**
 * Stores of the lab's state: in memory, or in a folder.
 *
 * The folder uses LevelDB (`classic-level`) without a server. Batches are atomic, durable with `sync`, and partial
 * writes of a killed process are dropped. The package has compiled code and an install script, so it is an optional
 * peer. Node 20 has no SQLite, and SQLite's packages download compiled code.
 */
import { mkdir } from "node:fs/promises";
import type { ClassicLevel } from "classic-level";
import { fromBase64, toBase64 } from "../bytes.js";
import type { JsonValue } from "../decode/json.js";

/** A change. Without a value, it removes the key. */
export interface Change {
  readonly key: string;
  readonly value?: JsonValue;
}

export interface Store {
  read(): Promise<readonly Required<Change>[]>;
  /** Writes the changes atomically. Once it resolves, the changes survive a crash. */
  write(changes: readonly Change[]): Promise<void>;
  close(): Promise<void>;
}

export function memoryStore(): Store {
  return { read: async () => [], write: async () => {}, close: async () => {} };
}

/** Another process uses the folder. */
export class StoreInUseError extends Error {
  override readonly name = "StoreInUseError";
}

/** The package classic-level is not installed, or does not support this platform. */
export class StoreMissingError extends Error {
  override readonly name = "StoreMissingError";
}

/**
 * Opens or creates the store of a folder. Rejects with {@link StoreInUseError} if it is in use, and with Error if it
 * cannot be opened.
 */
type OpenStore = (folder: string) => Promise<Store>;

/** Loads the package on demand, since a lab in memory runs without it. Rejects with {@link StoreMissingError}. */
export async function loadLevelStore(): Promise<OpenStore> {
  try {
    const { ClassicLevel } = await import("classic-level");
    return (folder) => openStore(ClassicLevel, folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ERR_MODULE_NOT_FOUND" ? "is not installed" : `cannot be loaded (${message})`;
    throw new StoreMissingError(
      `keeping a lab's state in a folder takes the package classic-level, which ${reason}: npm install classic-level@3`,
      { cause: error },
    );
  }
}

async function openStore(Level: typeof ClassicLevel, folder: string): Promise<Store> {
  // The folder holds private keys.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const level = new Level<string, string>(folder, { valueEncoding: "utf8" });
  try {
    await level.open();
  } catch (error) {
    const { code, message } = (error as { cause?: { code?: unknown; message?: string } }).cause ?? {};
    if (code === "LEVEL_LOCKED") throw new StoreInUseError("in use by another lab");
    throw new Error(`${folder} cannot be opened: ${message ?? String(error)}`, { cause: error });
  }
  return storeOf(level);
}

function storeOf(level: ClassicLevel<string, string>): Store {
  return {
    async read() {
      const entries = await level.iterator().all();
      return entries.map(([key, value]) => ({ key, value: withBytes(JSON.parse(value) as JsonValue) as JsonValue }));
    },
    async write(changes) {
      await level.batch(changes.map(operation), { sync: true });
    },
    close: () => level.close(),
  };
}

const BYTES = "$bytes";

function bytesAsText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { [BYTES]: toBase64(value) } : value;
}

function withBytes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withBytes);
  const [[name, text] = [], ...more] = Object.entries(value);
  if (name === BYTES && more.length === 0) return fromBase64(text as string);
  return Object.fromEntries(Object.entries(value).map(([member, one]) => [member, withBytes(one)]));
}

function operation({ key, value }: Change): { type: "put"; key: string; value: string } | { type: "del"; key: string } {
  return value === undefined ? { type: "del", key } : { type: "put", key, value: JSON.stringify(value, bytesAsText) };
}
