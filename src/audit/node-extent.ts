/** What an input has when a segment begins: a run reads no more of it (audit/README.md, "Segments"). */
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { count, nullable, objectOf, oneOf, text } from "../decode/shapes.js";
import { AuditInputError, type Extent, LineInputs, STDIN_INPUT, isPacked, readable } from "./node-inputs.js";

export const extentShape = objectOf<Extent>(
  { of: oneOf("lines", "gzip", "files"), size: count, names: nullable(text) },
  { unknown: "ignore" },
);

/** Returns what an input has now, at most `most` files of a folder. Null if it can be read only once. */
export async function extentOf(name: string, most = Infinity): Promise<Extent | null> {
  const found = name === STDIN_INPUT ? null : await readable(name, stat(name));
  if (found?.isDirectory() === true) return folderExtent(name, most);
  if (found?.isFile() !== true) return null;
  return { of: (await isPacked(name)) ? "gzip" : "lines", size: found.size, names: null };
}

async function folderExtent(name: string, most: number): Promise<Extent> {
  const names = createHash("sha256");
  let size = 0;
  for await (const { shown } of filesIn(Buffer.from(name), name)) {
    if (size >= most) break;
    names.update(`${insideOf(name, shown)}\0`);
    size++;
  }
  return { of: "files", size, names: names.digest("hex") };
}

/** Returns the path of a file inside its folder. */
export function insideOf(folder: string, shown: string): string {
  return shown.slice(folder.length).replace(/^\/+/, "");
}

/**
 * Whether the input still has, at its beginning, what it had. False if that cannot be determined, because the input was
 * packed, unpacked or packed again, or a member of its gzip was incomplete. Throws {@link AuditInputError} if something
 * was removed from it, or was added among its files.
 */
export async function stillHas(name: string, before: Extent | null): Promise<boolean> {
  if (before === null) return true;
  const now = await extentOf(name, before.size);
  if (now?.of !== before.of) return false;
  if (before.of === "gzip") return now.size >= before.size && isWhole(name, before);
  if (now.size < before.size || now.names !== before.names) throw changedInput(name);
  return true;
}

/** Whether the first bytes of a gzip file are whole members. */
function isWhole(name: string, extent: Extent): Promise<boolean> {
  const chunks = Readable.from(new LineInputs(undefined).chunks(name, extent));
  return finished(chunks.resume()).then(
    () => true,
    () => false,
  );
}

export function changedInput(name: string, which = "it"): AuditInputError {
  const what = name === STDIN_INPUT ? "differs from that of" : "was changed since";
  return new AuditInputError(
    name,
    `${which} ${what} the run of this state: restore it; or start anew, with another state and ` +
      `another file for the results`,
  );
}

interface FoundFile {
  readonly path: Buffer;
  readonly shown: string;
}

/** Yields the files in a folder. Only the names in one folder, and in those above it, are in memory at a time. */
export async function* filesIn(folder: Buffer, shownFolder: string): AsyncGenerator<FoundFile> {
  const found = await readable(shownFolder, readdir(folder, { encoding: "buffer", withFileTypes: true }));
  found.sort((a, b) => Buffer.compare(a.name, b.name));
  for (const entry of found) {
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    const shown = `${shownFolder.replace(/\/+$/, "")}/${entry.name.toString()}`;
    if (entry.isDirectory()) yield* filesIn(path, shown);
    else if (entry.isFile() || (await readable(shown, stat(path))).isFile()) yield { path, shown };
    // Other kinds of files are an error, because nothing may be omitted silently.
    else
      throw new AuditInputError(
        shown,
        "neither a file nor a folder. To audit some of these files, make a folder with links to them",
      );
  }
}
