/** What lies in an image: its measurement, and the files in its ramdisks (image/README.md, "Contents"). */
import type { Hasher } from "../verify/cryptography.js";
import { incrementalHash } from "../verify/cryptography.js";
import { CpioLister, type ImageFile } from "./cpio.js";
import { type ByteStream, type ImageMeasurement, type MeasureOptions, measureImageWith } from "./measure.js";

export type { ImageFile };

/** The files of a ramdisk. */
export interface RamdiskContents {
  /** Index in `sections`. */
  readonly section: number;
  readonly files: readonly ImageFile[];
  /** Why files are not listed, or not all of them. Null means that all are. */
  readonly unlisted: string | null;
}

export interface ImageContents {
  readonly measured: ImageMeasurement;
  readonly ramdisks: readonly RamdiskContents[];
}

/** Compressions by the bytes with which they begin. Linux unpacks all of them, and only gzip is unpacked here. */
const COMPRESSIONS: readonly (readonly [name: string, magic: readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58]],
  ["lz4", [0x02, 0x21, 0x4c, 0x18]],
  ["bzip2", [0x42, 0x5a, 0x68]],
  ["lzo", [0x89, 0x4c, 0x5a, 0x4f]],
  ["lzma", [0x5d, 0x00, 0x00]],
];
const LONGEST_MAGIC = 4;
/** Most unpacked bytes of a ramdisk: images of some hundred megabytes unpack to a few gigabytes at most. */
const MAX_UNPACKED = 16 * 1024 ** 3;

/**
 * Measures an image as `measureImage` does, and lists the files in its ramdisks. Holds no file in memory. Throws
 * `MalformedError` (`image`) with every fault of the image; a ramdisk that cannot be listed is none.
 * @example
 * ```ts
 * const { ramdisks } = await readImageContents(createReadStream("enclave.eif"));
 * ```
 */
export async function readImageContents(stream: ByteStream, options: MeasureOptions = {}): Promise<ImageContents> {
  const sha256 = options.sha256 ?? (await incrementalHash("SHA-256"));
  const listings = new Map<number, Listing>();
  const measured = await measureImageWith(stream, options, async (index, type, piece) => {
    if (type !== "ramdisk") return;
    const listing = listings.get(index) ?? new Listing(sha256);
    listings.set(index, listing);
    await listing.add(piece);
  });
  const ramdisks: RamdiskContents[] = [];
  for (const [section, listing] of listings) ramdisks.push({ section, ...(await listing.end()) });
  return { measured, ramdisks };
}

interface Unpacking {
  readonly writer: WritableStreamDefaultWriter<BufferSource>;
  /** Fulfilled when everything was unpacked and listed. */
  readonly read: Promise<void>;
}

/** Lists one ramdisk, which comes in chunks. */
class Listing {
  readonly #cpio: CpioLister;
  #start: Uint8Array | null = new Uint8Array();
  #unpacked = 0;
  #unlisted: string | null = null;
  #gzip: Unpacking | null = null;

  constructor(sha256: () => Hasher) {
    this.#cpio = new CpioLister(sha256);
  }

  async add(piece: Uint8Array): Promise<void> {
    if (this.#start === null) return this.#pass(piece);
    const start = new Uint8Array([...this.#start, ...piece.subarray(0, LONGEST_MAGIC - this.#start.length)]);
    const rest = piece.subarray(start.length - this.#start.length);
    this.#start = start;
    if (start.length < LONGEST_MAGIC) return;
    await this.#begin(start);
    await this.#pass(rest);
  }

  async end(): Promise<Omit<RamdiskContents, "section">> {
    if (this.#start !== null) await this.#begin(this.#start);
    if (this.#gzip !== null) {
      await this.#gzip.writer.close().catch(() => {});
      await this.#gzip.read;
    }
    this.#cpio.end();
    return { files: this.#cpio.files, unlisted: this.#unlisted ?? this.#cpio.fault };
  }

  async #begin(start: Uint8Array): Promise<void> {
    this.#start = null;
    const [compression] = COMPRESSIONS.find(([, magic]) => magic.every((byte, index) => start[index] === byte)) ?? [];
    if (compression === "gzip") this.#gzip = this.#unpack();
    else if (compression !== undefined) this.#unlisted = `compressed with ${compression}, which is not unpacked here`;
    await this.#pass(start);
  }

  async #pass(piece: Uint8Array): Promise<void> {
    if (this.#unlisted !== null || piece.length === 0) return;
    if (this.#gzip === null) this.#cpio.add(piece);
    else await this.#gzip.writer.write(new Uint8Array(piece)).catch(() => {});
  }

  #unpack(): Unpacking {
    const stream = new DecompressionStream("gzip");
    const read = this.#read(stream.readable).catch((error: unknown) => {
      this.#unlisted ??= `not unpacked: ${error instanceof Error ? error.message : String(error)}`;
    });
    return { writer: stream.writable.getWriter(), read };
  }

  async #read(unpacked: ReadableStream<Uint8Array>): Promise<void> {
    const reader = unpacked.getReader();
    for (let next = await reader.read(); next.done !== true; next = await reader.read()) {
      this.#unpacked += next.value.length;
      if (this.#unpacked > MAX_UNPACKED) this.#unlisted ??= `unpacks to more than ${MAX_UNPACKED} bytes`;
      // What is refused is still read to its end, or the writer would wait forever.
      if (this.#unlisted === null) this.#cpio.add(next.value);
    }
  }
}
