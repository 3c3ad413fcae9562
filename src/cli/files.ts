/** Reads input files, and stdin as `-`, whole and up to a limit. Faults are collected and thrown together. */
import { closeSync, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { MAX_BUNDLE_BYTES, MAX_PAGE_BYTES, evidenceInPage, isHtml, isPage } from "../bundle/page.js";
import { concatBytes, fromUtf8 } from "../bytes.js";
import { editDistance } from "../decode/nearest.js";
import { diskReason } from "../disk/reason.js";
import { type MalformedError, faultText } from "../errors.js";
import { isImageStart } from "../image/header.js";
import { IMAGE_ADVICE, foreignFormat } from "../inspect/foreign.js";
import { adviceOnFaults } from "../report/causes.js";
import { printable } from "../report/printable.js";
import { brokenJson } from "./file-formats.js";
import { type Io, type Problem, UsageError } from "./io.js";
import type { CommandName } from "./option-table.js";
import { shellWord } from "./program-name.js";

const MAX_FILE_BYTES = 1024 * 1024;
export const STDIN = "-";

/** Returns the name by which messages and reports call the file. */
export function nameOf(path: string): string {
  return path === STDIN ? "stdin" : path;
}

const CHUNK = 65536;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "is a directory: name the files in it",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "no such file",
};

export interface ReadEvidence {
  readonly bytes: Uint8Array;
  /** The bytes of the page that contained the evidence; null if it was not in a page. */
  readonly page: Uint8Array | null;
}

/** Reads files. The readers return undefined on a fault, and {@link throwFaults} throws all faults. */
export class InputFiles {
  readonly faults: Problem[] = [];
  /** The command that reads the files. */
  readonly command: CommandName;
  /** The bytes of each file that was read. */
  readonly contents = new Map<string, Uint8Array>();
  readonly #io: Pick<Io, "stdin">;

  constructor(io: Io, command: CommandName) {
    // The getter `io.stdin` is read later, since it opens stdin, which takes a millisecond.
    this.#io = io;
    this.command = command;
  }

  /** Reads a file. Empty files, and formats that no command reads, are faults. */
  async bytes(path: string, maxBytes = MAX_FILE_BYTES): Promise<Uint8Array | undefined> {
    const bytes = await this.raw(path, maxBytes);
    return bytes && this.ofSomeCommand(path, bytes);
  }

  /** Returns the bytes of a file that was read, unless they are a page or of a format that no command reads. */
  ofSomeCommand(path: string, bytes: Uint8Array): Uint8Array | undefined {
    if (isPage(bytes)) return this.fault(path, `this is a page with evidence: ${givenAlone(path)}`);
    const format = foreignFormat(bytes);
    return format === null ? bytes : this.fault(path, format);
  }

  /** Reads a file. Only an empty file is a fault. */
  async raw(path: string, maxBytes = MAX_FILE_BYTES): Promise<Uint8Array | undefined> {
    try {
      const known = path === STDIN ? this.contents.get(path) : undefined;
      if (known !== undefined) return known;
      const bytes = path === STDIN ? await readStdin(this.#io.stdin, maxBytes) : readFile(path, maxBytes);
      if (bytes.length === 0) throw new Unreadable("empty: the program that wrote it may have failed");
      this.contents.set(path, bytes);
      return bytes;
    } catch (error) {
      return this.fault(path, reasonOf(error), absentAdvice(path, error));
    }
  }

  /** Returns the evidence in a file, or in the page that the file contains. */
  async evidence(path: string): Promise<ReadEvidence | undefined> {
    const file = await this.raw(path, MAX_PAGE_BYTES);
    if (file === undefined) return undefined;
    if (isPage(file)) {
      const bytes = this.decoded(path, () => evidenceInPage(file));
      return bytes && { bytes, page: file };
    }
    const fault = file.length > MAX_BUNDLE_BYTES ? tooLarge(MAX_BUNDLE_BYTES, file).message : foreignFormat(file);
    return fault === null ? { bytes: file, page: null } : this.fault(path, fault);
  }

  textOf(path: string, bytes: Uint8Array): string | undefined {
    return fromUtf8(bytes) ?? this.fault(path, "not UTF-8 text");
  }

  /** Returns the decoded value. Faults of the decoder become faults of the file. */
  decoded<T>(path: string, decode: () => T, advice?: string): T | undefined {
    try {
      return decode();
    } catch (error) {
      return this.#malformed(path, error, advice);
    }
  }

  async decodedAsync<T>(path: string, decode: () => Promise<T>): Promise<T | undefined> {
    try {
      return await decode();
    } catch (error) {
      return this.#malformed(path, error);
    }
  }

  #malformed(path: string, error: unknown, advice?: string): undefined {
    if (!isMalformed(error)) throw error;
    const bytes = error.code === "json" ? this.contents.get(path) : undefined;
    for (const fault of error.faults) {
      const text = faultText([fault]);
      const says = error.code === "json" ? `not strict JSON: ${bytes ? brokenJson(bytes, text) : text}` : text;
      this.fault(path, says, adviceOnFaults([fault]) ?? advice);
    }
  }

  fault(path: string, message: string, advice?: string): undefined {
    const more = advice === undefined ? {} : { advice: printable(advice) };
    if (path === "") this.faults.push({ message: "an empty file name: a shell variable may be unset" });
    else this.faults.push({ file: printable(nameOf(path)), message: printable(message), ...more });
    return undefined;
  }

  throwFaults(): void {
    if (this.faults.length > 0) throw new UsageError(this.faults);
  }
}

/** Returns a reader of text files, such as trust anchors. Their paths are relative to the folder of `path`. */
export function readerBeside(path: string): (relative: string) => string {
  const bytesOf = bytesBeside(path);
  return (relative) => fromUtf8(bytesOf(relative)) ?? "";
}

/** Returns a reader of files. Their paths are relative to the folder of `path`. */
export function bytesBeside(path: string): (relative: string) => Uint8Array {
  const folder = path === STDIN ? "." : dirname(path);
  return (relative) => {
    try {
      return readFile(resolve(folder, relative), MAX_FILE_BYTES);
    } catch (error) {
      throw new Error(reasonOf(error), { cause: error });
    }
  };
}

/**
 * Whether the error is a MalformedError. It is recognised by its name, since modules that are loaded later have their
 * own copy of the class (`bin/build.mjs`).
 */
export function isMalformed(error: unknown): error is MalformedError {
  return error instanceof Error && error.name === "MalformedError";
}

class Unreadable extends Error {}

function tooLarge(maxBytes: number, start: Uint8Array): Unreadable {
  // Only a page may be larger than a bundle, so the message for any other file names the limit of bundles.
  if (maxBytes === MAX_PAGE_BYTES && !isHtml(start)) return tooLarge(MAX_BUNDLE_BYTES, start);
  if (isImageStart(start)) return new Unreadable(`this is an enclave image: ${IMAGE_ADVICE}`);
  const size = maxBytes < MAX_FILE_BYTES ? `${maxBytes / 1024} KiB` : `${maxBytes / MAX_FILE_BYTES} MiB`;
  return new Unreadable(`larger than ${size}, the limit`);
}

/** Returns what to do with a file that is verified as a whole. */
export function givenAlone(path: string): string {
  return `give it alone: bootproof verify ${nameOf(path)} --policy FILE`;
}

/** Maximum number of names that are compared with the name of a missing file, of their letters, and of those shown. */
const [MOST_NAMES, MOST_LETTERS, MOST_NEAR] = [1000, 64, 3];

/** Returns what to do about a missing file: where it was looked for, and which names are near. */
export function absentAdvice(path: string, error: unknown): string | undefined {
  if (!/^(?:ENOENT|ENOTDIR)$/.test(String((error as { readonly code?: unknown }).code))) return undefined;
  const remedy = /^https?:/i.test(path)
    ? `download it (curl -fsSO ${shellWord(path)}), or use --app NAME`
    : "give a path";
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(path)) return `${path} is a URL, and a file is expected: ${remedy}`;
  const [folder, name] = [dirname(resolve(path)), basename(path)];
  const where = `${folder === resolve(".") ? "the current folder" : "the folder"} ${oneWord(folder)}`;
  try {
    const names = name.length > MOST_LETTERS ? [] : readdirSync(folder).sort().slice(0, MOST_NAMES);
    const isNear = (one: string): boolean =>
      editDistance(name.toLowerCase(), one.toLowerCase()) <= Math.max(1, Math.floor(name.length / 5));
    const near = names.filter(isNear).slice(0, MOST_NEAR).join(", ");
    const guess = near === "" ? ", nor a name near it" : `: did you mean ${near}?`;
    return `Correct the path: no ${name} in ${where}${guess}`;
  } catch {
    const here = oneWord(resolve("."));
    return `Correct the path: there is no folder ${oneWord(folder)}, and the current folder is ${here}`;
  }
}

/** Quotes a path with spaces, which documents then keep as one word. */
function oneWord(path: string): string {
  return /\s/.test(path) ? JSON.stringify(path) : path;
}

export function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.message;
  return diskReason(error, REASONS) ?? "cannot be read";
}

/** Reads a file in chunks, so the limit also applies to endless devices and pipes. */
function readFile(path: string, maxBytes: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    const isTooLarge = fstatSync(file).size > maxBytes;
    const chunks: Uint8Array[] = [];
    for (let total = 0; total <= maxBytes; total += chunks.at(-1)!.length) {
      const chunk = new Uint8Array(CHUNK);
      const length = readSync(file, chunk);
      if (length === 0) return concatBytes(...chunks);
      chunks.push(chunk.subarray(0, length));
      if (isTooLarge) break;
    }
    throw tooLarge(maxBytes, chunks[0]!);
  } finally {
    closeSync(file);
  }
}

async function readStdin(stdin: Io["stdin"], maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of stdin) {
    total += chunk.length;
    chunks.push(chunk);
    if (total > maxBytes) throw tooLarge(maxBytes, concatBytes(...chunks));
  }
  return concatBytes(...chunks);
}
