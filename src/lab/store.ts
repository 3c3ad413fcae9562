/**
 * Keeps the state of a lab in one JSON file, which each write replaces as a whole: once a write ends, its changes
 * survive a crash. The file holds private keys.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fromBase64, toBase64 } from "../bytes.js";
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { takeLock } from "../disk/lock.js";
import { replaceWhole } from "../disk/whole.js";
import { attempt } from "../errors.js";
import { LabFolderError } from "./folder.js";
import type { Table } from "./records.js";

/** The records of each table by their ids. */
export type StoredTables = ReadonlyMap<Table, ReadonlyMap<string, unknown>>;

export interface Store {
  /** The tables when the store was opened. */
  readonly tables: StoredTables;
  write(tables: StoredTables): Promise<void>;
  close(): Promise<void>;
}

const FILE = "lab-state.json";
const FORMAT = "bootproof-lab-state/1";
/** The folder of the database that earlier versions kept the state in. */
const DATABASE = "store";

/**
 * Opens or creates the store in a lab's folder. Rejects with InUseError if another process uses it, and with
 * {@link LabFolderError} if its file cannot be read as one.
 */
export async function openStore(folder: string): Promise<Store> {
  const path = join(folder, FILE);
  const lock = await takeLock(`${path}.lock`, "lab's folder");
  const close = (): Promise<void> => lock.release();
  try {
    const tables = await tablesIn(path, join(folder, DATABASE));
    const texts = new WeakMap<object, string>();
    const write = async (changed: StoredTables): Promise<void> => {
      const text = fileText(changed, texts);
      await lock.requireHeld();
      await replaceWhole(path, text, { mode: 0o600, beside: `${path}.new` });
    };
    return { tables, write, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function tablesIn(path: string, database: string): Promise<StoredTables> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null && (await stat(database).catch(() => null)) === null) return new Map();
  if (text === null)
    throw new LabFolderError(
      `its state is in the database of an older version (its folder ${DATABASE}), which this version does not read; ` +
        "nothing was written. Give an empty folder",
    );
  const json = attempt(() => parseJson(text)).value;
  if (isJsonObject(json) && json["format"] === FORMAT && isJsonObject(json["tables"]))
    return new Map(
      Object.entries(json["tables"]).map(([table, records]) => [
        table as Table,
        recordsOf(table, records as JsonObject),
      ]),
    );
  throw new LabFolderError(`its ${FILE} is not one that a lab wrote; nothing was written. Give an empty folder`);
}

function recordsOf(table: string, records: JsonObject): ReadonlyMap<string, unknown> {
  const hasKeys = WITH_KEYS.some((one) => one === table);
  return new Map(Object.entries(records).map(([id, record]) => [id, hasKeys ? withBytes(record) : record]));
}

/** Returns the file. Records never change, so the text of each is made once. */
function fileText(tables: StoredTables, texts: WeakMap<object, string>): string {
  const textOf = (record: unknown): string => {
    if (typeof record !== "object" || record === null) return JSON.stringify(record);
    const text = texts.get(record) ?? JSON.stringify(record, bytesAsText);
    texts.set(record, text);
    return text;
  };
  const all = [...tables].map(([table, records]) => {
    const rows = [...records].map(([id, record]) => `${JSON.stringify(id)}: ${textOf(record)}`);
    return `${JSON.stringify(table)}: {\n${rows.join(",\n")}\n}`;
  });
  return `{"format": "${FORMAT}", "tables": {\n${all.join(",\n")}\n}}\n`;
}

/** The tables with keys. Others hold JSON of clients, in which nothing is taken for bytes. */
const WITH_KEYS: readonly Table[] = ["installation", "applications", "enclaves"];
const BYTES = "$bytes";

function bytesAsText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { [BYTES]: toBase64(value) } : value;
}

function withBytes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withBytes);
  const members = Object.entries(value);
  if (members.length === 1 && members[0]![0] === BYTES) return fromBase64(members[0]![1] as string);
  return Object.fromEntries(members.map(([name, member]) => [name, withBytes(member)]));
}
