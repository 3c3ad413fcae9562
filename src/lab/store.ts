/**
 * Where the lab's state is kept: in memory, or in a folder.
 *
 * The folder's store is LevelDB, by the package `classic-level`: embedded, no server, one folder; its compiled part
 * comes inside the package for every platform that Node runs on, so that installing needs no compiler, no download and
 * no install script; a batch is atomic, and with `sync` it is on the disk before it is acknowledged; what a killed
 * process left half written is dropped when the store is opened again. SQLite was the other candidate: Node 20 has none
 * built in, and its packages download their compiled part. A file of our own would have had to earn the same trust.
 */
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

/** Opens the store in a folder, which is made where it is not there. Throws {@link StoreInUseError}. */
export async function levelStore(folder: string): Promise<Store> {
  // Loaded here, so that a lab in memory runs where there is no compiled part for the platform.
  const { ClassicLevel } = await import("classic-level");
  const level = new ClassicLevel<string, string>(folder, { valueEncoding: "utf8" });
  try {
    await level.open();
  } catch (error) {
    const { code, message } = (error as { cause?: { code?: unknown; message?: string } }).cause ?? {};
    if (code === "LEVEL_LOCKED") throw new StoreInUseError(`${folder} is in use by another process`);
    throw new Error(`${folder} cannot be opened: ${message ?? String(error)}`, { cause: error });
  }
  return storeOf(level);
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
