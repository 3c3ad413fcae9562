/**
 * Reads an image file in one pass and reports every fault (image/README.md, "The file"). Its memory is bounded,
 * whatever sizes the file claims.
 */
import { concatBytes, fromUtf8 } from "../bytes.js";
import { type JsonObject, isJsonObject, jsonKind, parseJson } from "../decode/json.js";
import { FaultList, attempt, faultText } from "../errors.js";
import { Crc32 } from "./crc32.js";
import {
  CRC_OFFSET,
  HEADER_LENGTH,
  type ImageHeader,
  type ImageSectionType,
  SECTION_HEADER_LENGTH,
  type SectionHeader,
  hasGoodCount,
  hasMeasuredFlags,
  isImageStart,
  readHeader,
  readSectionHeader,
  sectionType,
} from "./header.js";
import { type ByteStream, StreamCursor } from "./stream.js";

export interface ImageSection {
  readonly type: ImageSectionType;
  /** Offset of the section's header in the file. */
  readonly offset: number;
  /** The size of the data. */
  readonly size: number;
}

interface ImageReading {
  /** The header. Null if the file is too short or not an image. */
  readonly header: ImageHeader | null;
  readonly sections: readonly ImageSection[];
  /** Number of bytes read. Without faults, it is the file's size. */
  readonly size: number;
  /** The command line. Null if it is absent, not UTF-8, or too long for a kernel. */
  readonly commandLine: string | null;
  /** The metadata. Null if it is absent or invalid. */
  readonly metadata: JsonObject | null;
  /** The signature. Null if it is absent or unreadable. */
  readonly signature: Uint8Array | null;
  /** Sentences on what is unusual, and no fault. */
  readonly notes: readonly string[];
  readonly faults: FaultList;
}

interface ReadImageOptions {
  /**
   * Called for each section with an empty chunk, then with its data in chunks that are valid only during the call.
   * Reading goes on when a returned promise is fulfilled.
   */
  readonly onData?: (section: ImageSection, piece: Uint8Array) => void | Promise<void>;
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** For each type of section, the maximum number of bytes that are kept in memory. */
const KEPT: Readonly<Record<ImageSectionType, number>> = {
  kernel: 0,
  ramdisk: 0,
  cmdline: 65_536,
  signature: 32_768,
  metadata: 1_048_576,
};
/**
 * Maximum bytes of a section. A larger one is a fault. The format limits the signature, and this package limits the
 * metadata.
 */
const MOST: Partial<Record<ImageSectionType, number>> = { signature: KEPT.signature, metadata: KEPT.metadata };

const SIGNED_AGAIN = "signed again: the header's table has the size of the signature before";
const UNKNOWN_PCR0 = "the builder counts them into PCR0 by a rule that is not published, so PCR0 is not computed";

/** Reads an image to its end, or to the first byte outside all sections. Never throws for the content. */
export async function readImage(stream: ByteStream, options: ReadImageOptions = {}): Promise<ImageReading> {
  return new ImageReader(stream, options).read();
}

class ImageReader {
  readonly #cursor: StreamCursor;
  readonly #options: ReadImageOptions;
  readonly #faults = new FaultList();
  readonly #crc = new Crc32();
  readonly #sections: ImageSection[] = [];
  readonly #types: (ImageSectionType | undefined)[] = [];
  readonly #kept = new Map<ImageSectionType, Uint8Array | null>();
  readonly #notes: string[] = [];

  constructor(stream: ByteStream, options: ReadImageOptions) {
    this.#cursor = new StreamCursor(stream, options.onProgress);
    this.#options = options;
  }

  async read(): Promise<ImageReading> {
    try {
      const header = await this.#header();
      if (header !== null && hasGoodCount(header)) await this.#body(header);
      return {
        header,
        sections: this.#sections,
        size: this.#cursor.position,
        commandLine: this.#commandLine(),
        metadata: this.#metadata(),
        signature: this.#kept.get("signature") ?? null,
        notes: this.#notes,
        faults: this.#faults,
      };
    } finally {
      await this.#cursor.close();
    }
  }

  #fault(path: string, message: string): void {
    this.#faults.push({ path, message });
  }

  async #header(): Promise<ImageHeader | null> {
    const bytes = await this.#cursor.take(HEADER_LENGTH);
    if (!isImageStart(bytes)) {
      this.#fault("", "not an enclave image file: one begins with .eif (nitro-cli build-enclave makes one)");
      return null;
    }
    if (bytes.length < HEADER_LENGTH) {
      this.#fault("header", `the file ends at byte ${bytes.length}, inside the header of ${HEADER_LENGTH} bytes`);
      return null;
    }
    this.#crc.update(bytes.subarray(0, CRC_OFFSET));
    const header = readHeader(bytes, this.#faults);
    if (hasMeasuredFlags(header)) this.#notes.push(`flags 0x${header.flags.toString(16)} (PCIe): ${UNKNOWN_PCR0}`);
    return header;
  }

  async #body(header: ImageHeader): Promise<void> {
    const isWhole = await this.#walk(header);
    this.#checkTypes(header, isWhole);
    if (!isWhole) return;
    if (this.#crc.value !== header.crc)
      this.#fault("header.crc", `${hex32(header.crc)}, but the bytes of the file have ${hex32(this.#crc.value)}`);
    if (!(await this.#cursor.atEnd()))
      this.#fault(
        "",
        `the last of ${header.sectionCount} sections ends at byte ${this.#cursor.position}, but the file goes on`,
      );
  }

  /** Reads the sections. Returns false if the file ends early or the next section cannot be located. */
  async #walk(header: ImageHeader): Promise<boolean> {
    for (let index = 0; index < header.sectionCount; index++) if (!(await this.#section(header, index))) return false;
    return true;
  }

  async #section(header: ImageHeader, index: number): Promise<boolean> {
    if (!(await this.#goTo(header, index))) return false;
    const offset = this.#cursor.position;
    const bytes = await this.#cursor.take(SECTION_HEADER_LENGTH);
    if (bytes.length < SECTION_HEADER_LENGTH) {
      const missing = `${header.sectionCount - index} of ${header.sectionCount} sections missing`;
      this.#fault(`sections[${index}]`, `the file ends at byte ${this.#cursor.position}, before its data: ${missing}`);
      return false;
    }
    this.#crc.update(bytes);
    const found = readSectionHeader(bytes);
    const type = sectionType(found.type);
    if (type === undefined)
      this.#fault(`sections[${index}].type`, `${found.type}, expected 1 to 5: no section has another type`);
    if (found.flags !== 0) this.#fault(`sections[${index}].flags`, "not zero");
    const size = this.#sizeOf(header, index, { ...found, offset });
    this.#types.push(type);
    if (size === null) return false;
    if (type !== undefined) return this.#data({ type, offset, size }, index);
    return found.size === header.table[index]!.size && (await this.#pass(size, index, "section", () => {}));
  }

  /** Moves to a section. Its offset must be the end of the previous section. Returns false if the file ends first. */
  async #goTo({ table }: ImageHeader, index: number): Promise<boolean> {
    const here = BigInt(this.#cursor.position);
    const { offset } = table[index]!;
    if (offset === here) return true;
    const where = index === 0 ? "the header ends" : "the section before it ends";
    this.#fault(`header.offsets[${index}]`, `${offset}, but ${where} at ${here}: there is no gap between sections`);
    const gap = offset - here;
    if (gap < 0n || gap > BigInt(Number.MAX_SAFE_INTEGER)) return gap < 0n;
    if ((await this.#cursor.pass(Number(gap), () => {})) === Number(gap)) return true;
    this.#fault(`sections[${index}]`, `the file ends at byte ${this.#cursor.position}, before it`);
    return false;
  }

  #sizeOf({ table }: ImageHeader, index: number, found: SectionHeader & { readonly offset: number }): number | null {
    const row = table[index]!;
    if (row.size !== found.size) this.#differs(index, found, row.size);
    // If the section's header and the table differ in the size, the size that leads to the next section is used.
    const next = table[index + 1];
    const start = BigInt(found.offset + SECTION_HEADER_LENGTH);
    const size = start + found.size !== next?.offset && start + row.size === next?.offset ? row.size : found.size;
    if (size <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(size);
    this.#fault(`sections[${index}].size`, `${size} bytes, more than any file has`);
    return null;
  }

  /**
   * Reports the two sizes of a section. The vendor's tool leaves the old one in the table when it replaces a signature,
   * which is not measured; where the section ends is checked as for any other.
   */
  #differs(index: number, { type, size }: Pick<SectionHeader, "type" | "size">, inTable: bigint): void {
    if (sectionType(type) === "signature") this.#notes.push(`${SIGNED_AGAIN} (${inTable} bytes, and it has ${size})`);
    else this.#fault(`sections[${index}].size`, `${size}, but the header's table has ${inTable}`);
  }

  async #data(section: ImageSection, index: number): Promise<boolean> {
    this.#sections.push(section);
    const { type, size } = section;
    const most = MOST[type];
    if (most !== undefined && size > most)
      this.#fault(`sections[${index}].size`, `${size} bytes, but a ${type} section has at most ${most}`);
    const pieces: Uint8Array[] = [];
    await this.#options.onData?.(section, new Uint8Array());
    const isKept = size <= KEPT[type] && !this.#kept.has(type);
    const isWhole = await this.#pass(size, index, type, (piece) => {
      // The data is copied. `slice` would not copy it if the chunk is a Buffer.
      if (isKept) pieces.push(new Uint8Array(piece));
      return this.#options.onData?.(section, piece);
    });
    if (!this.#kept.has(type)) this.#kept.set(type, isKept && isWhole ? concatBytes(...pieces) : null);
    return isWhole;
  }

  /** Passes data to `use`. Returns false if the file ends first. */
  async #pass(
    size: number,
    index: number,
    what: string,
    use: (piece: Uint8Array) => void | Promise<void>,
  ): Promise<boolean> {
    const passed = await this.#cursor.pass(size, (piece) => {
      this.#crc.update(piece);
      return use(piece);
    });
    if (passed === size) return true;
    const end = `the file ends at byte ${this.#cursor.position}`;
    this.#fault(`sections[${index}]`, `${end}, ${size - passed} bytes before the end of this ${what}`);
    return false;
  }

  /** Checks the types of sections. Missing sections are reported only if all sections were read. */
  #checkTypes({ version }: ImageHeader, isWhole: boolean): void {
    for (const type of ["kernel", "cmdline", "signature", "metadata"] as const) this.#checkOnce(type);
    const [kernel = 0] = this.#placesOf("kernel");
    for (const index of this.#placesOf("ramdisk"))
      if (index < kernel) this.#fault(`sections[${index}]`, "a ramdisk before the kernel");
    if (version < 3)
      for (const index of this.#placesOf("signature"))
        this.#fault(`sections[${index}]`, `a signature in version ${version}: only version 3 and later have one`);
    const wanted = version === 4 ? (["kernel", "cmdline", "metadata"] as const) : (["kernel", "cmdline"] as const);
    for (const type of wanted)
      if (isWhole && this.#placesOf(type).length === 0)
        this.#fault("sections", `no ${type}, but an image of version ${version} needs one`);
  }

  #checkOnce(type: ImageSectionType): void {
    const [first, ...others] = this.#placesOf(type);
    for (const index of others)
      this.#fault(`sections[${index}]`, `a second ${type}: sections[${first}] is one already`);
  }

  #placesOf(type: ImageSectionType): number[] {
    return this.#types.flatMap((found, index) => (found === type ? [index] : []));
  }

  #commandLine(): string | null {
    const bytes = this.#kept.get("cmdline") ?? null;
    return bytes && fromUtf8(bytes);
  }

  #metadata(): JsonObject | null {
    const bytes = this.#kept.get("metadata") ?? null;
    if (bytes === null) return null;
    const { value, faults } = attempt(() => parseJson(bytes));
    if (faults.length > 0) this.#fault("metadata", `not strict JSON: ${faultText(faults)}`);
    else if (!isJsonObject(value)) this.#fault("metadata", `expected an object, got ${jsonKind(value)}`);
    return isJsonObject(value) ? value : null;
  }
}

function hex32(value: number): string {
  return `0x${value.toString(16).padStart(8, "0")}`;
}
