/** Computes PCRs from an image file and its parent instance (image/README.md, "The PCRs"). */
import { callable, typedOptions } from "../decode/options.js";
import { type MembersOf, optional } from "../decode/shapes.js";
import { concatBytes, toUtf8 } from "../bytes.js";
import type { Certificate } from "../decode/certificate.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { type JsonObject } from "../decode/json.js";
import { MalformedError } from "../errors.js";
import { type Hasher, incrementalHash } from "../verify/cryptography.js";
import { sha384 } from "../verify/digest.js";
import { type ImageSectionType, type ImageVersion, hasMeasuredFlags } from "./header.js";
import { type ImageSection, readImage } from "./reader.js";
import { type SignatureAlgorithm, readSignature, verifySignature } from "./signature.js";
import { type ByteStream, StreamCursor } from "./stream.js";

export type { ByteStream, Hasher, ImageSectionType };

export interface MeasureOptions {
  /** Makes an incremental SHA-384, such as Node's. Default: the slower one of @noble/hashes. */
  readonly sha384?: () => Hasher;
  /** Makes an incremental SHA-256 for {@link measureBinary}. Default: the one of @noble/hashes. */
  readonly sha256?: () => Hasher;
  /** Called after each chunk with the number of bytes so far. */
  readonly onProgress?: (bytes: number) => void;
}

const MEASURE_OPTIONS: MembersOf<MeasureOptions> = {
  sha384: optional(callable),
  sha256: optional(callable),
  onProgress: optional(callable),
};

export interface ImageMeasurement {
  /**
   * PCRs of 48 bytes each: 0, 1 and 2, and also 8 if the image is signed. PCR0 is absent if `notes` says that the
   * builder counts more into it than the sections.
   */
  readonly pcrs: Readonly<Record<number, Uint8Array>>;
  readonly architecture: "x86_64" | "aarch64";
  readonly version: ImageVersion;
  /** The size in bytes. */
  readonly size: number;
  readonly sections: readonly MeasuredSection[];
  /** Sentences on what is unusual in the file, and no fault. */
  readonly notes: readonly string[];
  /** The command line. Null if it is not UTF-8 or longer than 64 KiB. */
  readonly commandLine: string | null;
  /** The metadata, which is neither measured nor signed. Null if absent. */
  readonly metadata: JsonObject | null;
  /** The signature, verified over PCR0. Null if the image is unsigned. */
  readonly signature: ImageSignature | null;
}

/** A section and the digest of its data. */
export interface MeasuredSection extends ImageSection {
  /** SHA-384 of the data (48 bytes). */
  readonly sha384: Uint8Array;
}

export interface ImageSignature {
  /** The certificate. Its issuer and validity are NOT checked, so pin PCR8. */
  readonly certificate: Certificate;
  readonly algorithm: SignatureAlgorithm;
}

const EMPTY_REGISTER = new Uint8Array(PCR_LENGTH);

/**
 * Measures an image in one pass, without holding kernel or ramdisks in memory. Throws {@link MalformedError} (`image`)
 * with every fault.
 *
 * @example
 * const { pcrs } = await measureImage(createReadStream("enclave.eif"));
 */
export async function measureImage(stream: ByteStream, options: MeasureOptions = {}): Promise<ImageMeasurement> {
  return measureImageWith(stream, options, () => undefined);
}

/** Called with the index and type of a section, and a chunk of its data that is valid until the result is there. */
type OnSection = (index: number, type: ImageSectionType, piece: Uint8Array) => void | Promise<void>;

/** Measures an image, and passes the data of its sections on. */
export async function measureImageWith(
  stream: ByteStream,
  options: MeasureOptions,
  onSection: OnSection,
): Promise<ImageMeasurement> {
  const { sha384: given, onProgress } = typedOptions("options", options, MEASURE_OPTIONS);
  const newHash = given ?? (await incrementalHash("SHA-384"));
  const registers = new Registers(newHash);
  const reading = await readImage(stream, {
    onData: async (section, piece) => onSection(registers.add(section, piece), section.type, piece),
    onProgress,
  });
  const { header, faults, size, commandLine, metadata, notes } = reading;
  const isWhole = faults.length === 0;
  const sections = registers.sections();
  const isPcr0Known = header === null || !hasMeasuredFlags(header);
  const { 0: pcr0, ...others } = await registers.values();
  const pcrs: Record<number, Uint8Array> = isPcr0Known ? { 0: pcr0!, ...others } : others;
  const signature = reading.signature && readSignature(reading.signature);
  if (signature !== null) {
    await verifySignature(signature, isWhole && isPcr0Known ? pcr0! : null);
    faults.pushAll(signature.faults);
  }
  if (header === null || faults.length > 0) throw new MalformedError("image", faults);
  const { architecture } = header;
  const version = header.version as ImageVersion;
  const measured = { architecture, version, size, sections, notes, commandLine, metadata };
  if (signature === null) return { pcrs, ...measured, signature: null };
  const { certificate, algorithm } = signature as ImageSignature;
  const signer = await extended(await sha384(certificate.der));
  return { pcrs: { ...pcrs, 8: signer }, ...measured, signature: { certificate, algorithm } };
}

class Registers {
  readonly #newHash: () => Hasher;
  readonly #hashes: readonly [image: Hasher, bootstrap: Hasher, application: Hasher];
  readonly #own = new Map<ImageSection, Hasher>();
  #firstRamdisk: ImageSection | null = null;

  constructor(sha384: () => Hasher) {
    this.#newHash = sha384;
    this.#hashes = [sha384(), sha384(), sha384()];
  }

  /** Hashes data of a section, and returns its index. Section headers, signature and metadata are not measured. */
  add(section: ImageSection, piece: Uint8Array): number {
    const { type } = section;
    const own = this.#own.get(section) ?? this.#newHash();
    this.#own.set(section, own);
    own.update(piece);
    if (type !== "signature" && type !== "metadata") this.#measure(section, piece);
    return this.#own.size - 1;
  }

  #measure(section: ImageSection, piece: Uint8Array): void {
    const { type } = section;
    const [image, bootstrap, application] = this.#hashes;
    if (type === "ramdisk") this.#firstRamdisk ??= section;
    image.update(piece);
    (type !== "ramdisk" || section === this.#firstRamdisk ? bootstrap : application).update(piece);
  }

  /** Returns the sections with the digests of their data. */
  sections(): MeasuredSection[] {
    return [...this.#own].map(([section, hash]) => ({ ...section, sha384: new Uint8Array(hash.digest()) }));
  }

  async values(): Promise<Record<number, Uint8Array>> {
    const digests = this.#hashes.map((hash) => new Uint8Array(hash.digest()));
    const values = await Promise.all(digests.map(extended));
    return Object.fromEntries(values.entries());
  }
}

function extended(digest: Uint8Array): Promise<Uint8Array> {
  return sha384(concatBytes(EMPTY_REGISTER, digest));
}

/** The pattern `arn:aws:iam::123456789012:role/path/Name`, in any partition. */
const ROLE_ARN = /^arn:aws(?:-[a-z]+)*:iam::[0-9]{12}:role\/(?:[\x21-\x2e\x30-\x7e]+\/){0,256}[\w+=,.@-]{1,64}$/;
const MAX_ROLE_ARN = 640;

/**
 * Returns PCR3 for this IAM role of the parent instance. Throws TypeError for any other text, because its hash would
 * match no enclave.
 */
export async function measureRole(roleArn: string): Promise<Uint8Array> {
  if (typeof roleArn !== "string" || roleArn.length > MAX_ROLE_ARN || !ROLE_ARN.test(roleArn))
    throw new TypeError("expected the ARN of an IAM role, such as arn:aws:iam::123456789012:role/Name");
  return sha384(concatBytes(EMPTY_REGISTER, toUtf8(roleArn)));
}

const INSTANCE_ID = /^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

/** Returns PCR4 for this instance. Throws TypeError for any other text. */
export async function measureInstance(instanceId: string): Promise<Uint8Array> {
  if (typeof instanceId !== "string" || !INSTANCE_ID.test(instanceId))
    throw new TypeError("expected the id of an instance, such as i-0123456789abcdef0");
  return sha384(concatBytes(EMPTY_REGISTER, toUtf8(instanceId)));
}

/**
 * Returns the SHA-256 of a binary, as in `pivot.hash` of a manifest.
 * @example
 * ```ts
 * const pivotHash = await measureBinary(createReadStream("app"));
 * ```
 */
export async function measureBinary(stream: ByteStream, options: MeasureOptions = {}): Promise<Uint8Array> {
  const { sha256: given, onProgress } = typedOptions("options", options, MEASURE_OPTIONS);
  const hash = (given ?? (await incrementalHash("SHA-256")))();
  const cursor = new StreamCursor(stream, onProgress);
  await cursor.pass(Infinity, (piece) => void hash.update(piece));
  return new Uint8Array(hash.digest());
}
