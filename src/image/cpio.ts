/**
 * Lists the files in a cpio archive (SVR4 "new ASCII", with or without checksum), as Linux unpacks a ramdisk: one
 * archive or several behind each other, with zeros between them. The data of files is hashed and not kept.
 */
import { concatBytes, fromUtf8, toHex } from "../bytes.js";
import type { Hasher } from "../verify/cryptography.js";

export interface ImageFile {
  readonly name: string;
  /** Type and permissions, as in `st_mode`. */
  readonly mode: number;
  readonly size: number;
  /** Seconds since the epoch. */
  readonly modified: number;
  /** SHA-256 of the data in hex: of a link, of its target. */
  readonly sha256: string;
}

const HEADER_LENGTH = 110;
const MAGICS = ["070701", "070702"];
/** Offsets of the fields of eight hex digits. */
const FIELD = { mode: 14, modified: 46, size: 54, nameLength: 94 } as const;
const TRAILER = "TRAILER!!!";
const MAX_NAME = 4096;
/** Most files that are listed. A ramdisk of an application has some thousands. */
const MAX_FILES = 200_000;

/** What the next bytes are. */
type State = "header" | "name" | "name padding" | "data" | "data padding";

interface Entry {
  readonly mode: number;
  readonly modified: number;
  readonly size: number;
  readonly nameLength: number;
}

/** Takes an archive in chunks. After a fault it ignores the rest. */
export class CpioLister {
  readonly files: ImageFile[] = [];
  /** Why the rest is not listed, or null. */
  fault: string | null = null;
  readonly #newHash: () => Hasher;
  #state: State = "header";
  #left = HEADER_LENGTH;
  #held: Uint8Array[] = [];
  #entry: Entry | null = null;
  #name = "";
  #hash: Hasher | null = null;

  constructor(sha256: () => Hasher) {
    this.#newHash = sha256;
  }

  add(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && this.fault === null) {
      // Zeros fill the space between archives and behind the last one.
      if (this.#state === "header" && this.#left === HEADER_LENGTH && chunk[at] === 0) {
        at++;
        continue;
      }
      const piece = chunk.subarray(at, at + this.#left);
      at += piece.length;
      this.#left -= piece.length;
      this.#take(piece);
      while (this.#left === 0 && this.fault === null) this.#next();
    }
  }

  /** Ends the archive. One that ends inside a file has a fault. */
  end(): void {
    if (this.#state !== "header" || this.#left !== HEADER_LENGTH) this.fault ??= "the archive ends inside a file";
    else if (this.files.length === 0) this.fault ??= "no cpio archive";
  }

  #take(piece: Uint8Array): void {
    if (this.#state === "data") this.#hash!.update(piece);
    else if (this.#state === "header" || this.#state === "name") this.#held.push(new Uint8Array(piece));
  }

  #next(): void {
    const { size = 0, nameLength = 0 } = this.#entry ?? {};
    if (this.#state === "header") this.#readHeader();
    else if (this.#state === "name") this.#readName(nameLength);
    else if (this.#state === "name padding") this.#begin("data", this.#name === TRAILER ? 0 : size);
    else if (this.#state === "data") this.#begin("data padding", paddingOf(size));
    else this.#endFile();
  }

  #begin(state: State, length: number): void {
    this.#state = state;
    this.#left = length;
    this.#held = [];
  }

  #readHeader(): void {
    const bytes = concatBytes(...this.#held);
    const text = String.fromCharCode(...bytes);
    if (!MAGICS.includes(text.slice(0, 6)) || !/^[0-9A-Fa-f]{104}$/.test(text.slice(6))) {
      this.fault = this.files.length === 0 ? "no cpio archive" : "what follows a file is no cpio entry";
      return;
    }
    const field = (offset: number): number => Number.parseInt(text.slice(offset, offset + 8), 16);
    const { mode, modified, size, nameLength } = FIELD;
    const entry = { mode: field(mode), modified: field(modified), size: field(size), nameLength: field(nameLength) };
    if (entry.nameLength < 1 || entry.nameLength > MAX_NAME) {
      this.fault = `a name of ${entry.nameLength} bytes`;
      return;
    }
    this.#entry = entry;
    this.#begin("name", entry.nameLength);
  }

  #readName(nameLength: number): void {
    const bytes = concatBytes(...this.#held);
    const end = bytes.indexOf(0);
    const name = bytes.subarray(0, end < 0 ? bytes.length : end);
    // A name that is no text is shown by its bytes, so that two names never look alike.
    this.#name = fromUtf8(name) ?? `hex:${toHex(name)}`;
    this.#hash = this.#newHash();
    this.#begin("name padding", paddingOf(HEADER_LENGTH + nameLength));
  }

  #endFile(): void {
    const { mode, modified, size } = this.#entry!;
    if (this.#name !== TRAILER) {
      const sha256 = toHex(new Uint8Array(this.#hash!.digest()));
      this.files.push({ name: this.#name, mode, size, modified, sha256 });
      if (this.files.length > MAX_FILES) this.fault = `more than ${MAX_FILES} files`;
    }
    this.#entry = null;
    this.#begin("header", HEADER_LENGTH);
  }
}

function paddingOf(length: number): number {
  return (4 - (length % 4)) % 4;
}
