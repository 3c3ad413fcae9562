/**
 * Manages the folder of a lab. A marker file holds the digests of the files that labs wrote; other files stay
 * unchanged.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, readFile, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { createWhole, replaceWhole } from "../disk/whole.js";

/** Another program wrote the folder or a file in it. Nothing was changed. */
export class LabFolderError extends Error {
  override readonly name = "LabFolderError";
}

const MARKER = "lab-folder.json";
const FORMAT = "bootproof-lab-folder/1";
const PUBLIC = 0o644;

export interface FolderFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

type Written = Readonly<Record<string, readonly string[]>>;

/** Opens the folder for a lab. Rejects with {@link LabFolderError} unless it is empty, new, or a lab's. */
export async function claimFolder(path: string): Promise<LabFolder> {
  await makeFolder(path);
  const entries = await readdir(path);
  if (!entries.includes(MARKER)) {
    if (entries.length > 0) throw new LabFolderError(NOT_OWN);
    await createOwn(join(path, MARKER), markerText({}), PUBLIC);
  }
  return new LabFolder(path, await readMarker(path));
}

/** Makes a folder, and those above it. It holds private keys. Node's own recursion does not end in some places. */
async function makeFolder(path: string): Promise<void> {
  const make = (): Promise<void> => mkdir(path, { mode: 0o700 });
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (error.code !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make();
  });
}

const NOT_OWN =
  `not empty, and not the folder of a lab (it has no ${MARKER}); nothing was written. Give a folder that is empty, ` +
  "or does not exist yet";

async function readMarker(path: string): Promise<Written> {
  const text = (await contentOf(join(path, MARKER)))?.toString("utf8") ?? "";
  const written = writtenIn(text);
  if (written === null)
    throw new LabFolderError(`its ${MARKER} is not one that a lab wrote; nothing was written. Give an empty folder`);
  return written;
}

function writtenIn(text: string): Written | null {
  try {
    const { format, files } = JSON.parse(text) as Record<string, JsonValue | undefined>;
    if (format !== FORMAT || !isJsonObject(files)) return null;
    const isDigests = (value: unknown): boolean =>
      Array.isArray(value) && value.every((one) => typeof one === "string");
    return Object.values(files).every(isDigests) ? (files as unknown as Written) : null;
  } catch {
    return null;
  }
}

function markerText(files: Written): string {
  return `${JSON.stringify({ format: FORMAT, files }, null, 2)}\n`;
}

class LabFolder {
  readonly #path: string;
  #written: Written;

  constructor(path: string, written: Written) {
    this.#path = path;
    this.#written = written;
  }

  /**
   * Writes the files, the last one when all others are there, each completely or not at all. Rejects with
   * {@link LabFolderError}, and writes none, if an existing file was not written by a lab.
   */
  async write(files: readonly FolderFile[]): Promise<void> {
    const before = await Promise.all(files.map(async ({ name }) => this.#own(name)));
    // The marker is written first, so that it lists every file even if the process is killed later.
    const known = files.map(({ name, text }, index): [string, string[]] => {
      return [name, [...new Set([...(before[index] === null ? [] : [before[index]!]), digestOf(text)])]];
    });
    this.#written = { ...this.#written, ...Object.fromEntries(known) };
    await replaceWhole(join(this.#path, MARKER), markerText(this.#written), { mode: PUBLIC });
    const writeOne = async ({ name, text, mode }: FolderFile, index: number): Promise<void> => {
      const path = join(this.#path, name);
      await mkdir(dirname(path), { recursive: true });
      await (before[index] === null ? createOwn(path, text, mode) : replaceWhole(path, text, { mode }));
    };
    await Promise.all(files.slice(0, -1).map(writeOne));
    await writeOne(files.at(-1)!, files.length - 1);
  }

  /** Removes a file. Rejects with {@link LabFolderError} if it was not written by a lab. */
  async remove(name: string): Promise<void> {
    if ((await this.#own(name)) !== null) await rm(join(this.#path, name), { force: true });
  }

  /**
   * Returns the digest of a lab's file; null if there is no file. Rejects with {@link LabFolderError} if no lab wrote
   * it.
   */
  async #own(name: string): Promise<string | null> {
    const content = await contentOf(join(this.#path, name));
    if (content === null) return null;
    const digest = digestOf(content);
    if (Object.hasOwn(this.#written, name) && this.#written[name]!.includes(digest)) return digest;
    throw new LabFolderError(
      `${name} is not as a lab wrote it, and was not changed. Move it elsewhere, or give an empty folder`,
    );
  }
}

function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Returns the content of a regular file, or an empty one for anything else. Null if the path does not exist. */
async function contentOf(path: string): Promise<Buffer | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return null;
  return found.isFile() ? readFile(path) : Buffer.alloc(0);
}

/** Creates a file. Rejects if another program created it meanwhile. */
async function createOwn(path: string, text: string, mode: number): Promise<void> {
  await createWhole(path, text, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new LabFolderError(`${path} was created meanwhile by another program, and is unchanged`);
  });
}
