/**
 * The folder of a lab: one that was empty when a lab claimed it. A marker says so, with the digests of what labs wrote
 * there: a file with another content is somebody else's, and is left as it is.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { createWhole, replaceWhole } from "../disk/whole.js";

/** A folder, or a file in it, that no lab wrote. Nothing in it was changed. */
export class LabFolderError extends Error {
  override readonly name = "LabFolderError";
}

/** That it is there says that the folder is a lab's. */
const MARKER = "lab-folder.json";
const FORMAT = "bootproof-lab-folder/1";
const PUBLIC = 0o644;
/** LevelDB's file that names the current state, in the folder where labs have always kept it. */
const OLD_STORE = join("store", "CURRENT");

export interface FolderFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

/** The SHA-256 of what labs wrote, by the name of the file. */
type Written = Readonly<Record<string, readonly string[]>>;

/**
 * The folder, which is made where it is not there. Rejects with {@link LabFolderError} for one that is neither empty
 * nor a lab's.
 */
export async function claimFolder(path: string): Promise<LabFolder> {
  // It holds private keys.
  await mkdir(path, { recursive: true, mode: 0o700 });
  const entries = await readdir(path);
  if (!entries.includes(MARKER)) {
    if (entries.length > 0) throw await notOwn(path);
    await createOwn(join(path, MARKER), markerText({}), PUBLIC);
  }
  return new LabFolder(path, await readMarker(path));
}

async function notOwn(path: string): Promise<LabFolderError> {
  const isOld = await lstat(join(path, OLD_STORE)).catch(() => null);
  const advice =
    isOld === null
      ? "Give a folder that is empty, or not there yet"
      : "If an earlier version's lab kept its state in the folder store there, move that into an empty folder, " +
        `beside a file ${MARKER} with {"format":"${FORMAT}","files":{}}, and give that folder`;
  return new LabFolderError(
    `not empty, and not the folder of a lab (it has no ${MARKER}); nothing was written. ${advice}`,
  );
}

async function readMarker(path: string): Promise<Written> {
  const text = (await contentOf(join(path, MARKER)))?.toString("utf8") ?? "";
  const written = writtenIn(text);
  if (written === null)
    throw new LabFolderError(`its ${MARKER} is not one that a lab wrote; nothing was written. Give an empty folder`);
  return written;
}

/** Null for anything but a marker. */
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

  /** Only {@link claimFolder} makes one. */
  constructor(path: string, written: Written) {
    this.#path = path;
    this.#written = written;
  }

  /**
   * Writes the files in their order, each whole or not at all. Rejects with {@link LabFolderError} where one of them is
   * there and no lab wrote it; then none is written.
   */
  async write(files: readonly FolderFile[]): Promise<void> {
    const before = await Promise.all(files.map(async ({ name }) => this.#own(name)));
    // First, so that a kill in between leaves no file that the marker does not know.
    const known = files.map(({ name, text }, index): [string, string[]] => {
      return [name, [...new Set([...(before[index] === null ? [] : [before[index]!]), digestOf(text)])]];
    });
    this.#written = { ...this.#written, ...Object.fromEntries(known) };
    await replaceWhole(join(this.#path, MARKER), markerText(this.#written), { mode: PUBLIC });
    for (const [index, { name, text, mode }] of files.entries()) {
      const path = join(this.#path, name);
      await (before[index] === null ? createOwn(path, text, mode) : replaceWhole(path, text, { mode }));
    }
  }

  /** Removes a file, where a lab wrote it. Rejects with {@link LabFolderError} where none did. */
  async remove(name: string): Promise<void> {
    if ((await this.#own(name)) !== null) await rm(join(this.#path, name), { force: true });
  }

  /** The digest of a file that a lab wrote; null where none is there. */
  async #own(name: string): Promise<string | null> {
    const content = await contentOf(join(this.#path, name));
    if (content === null) return null;
    const digest = digestOf(content);
    if (Object.hasOwn(this.#written, name) && this.#written[name]!.includes(digest)) return digest;
    throw new LabFolderError(
      `${name} is there, and is not as a lab wrote it; it stays as it is. Move it elsewhere, or give an empty folder`,
    );
  }
}

function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Of a file itself; an empty content for what is none, such as a link, and null where nothing is there. */
async function contentOf(path: string): Promise<Buffer | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return null;
  return found.isFile() ? readFile(path) : Buffer.alloc(0);
}

/** A new file: where one has come there meanwhile, it stays. */
async function createOwn(path: string, text: string, mode: number): Promise<void> {
  await createWhole(path, text, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new LabFolderError(`${path} was made meanwhile by somebody else, and was left as it is`);
  });
}
