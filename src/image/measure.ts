/** The measurements of an enclave image file and of what is measured beside it: what its enclave has in its PCRs. */
import type { Certificate } from "../decode/certificate.js";
import type { JsonObject } from "../decode/json.js";

/** The bytes of a file in order, in pieces of any size. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** A hash that takes its input in pieces. */
export interface Hasher {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

export interface MeasureOptions {
  /** Incremental SHA-384, such as Node's; default: that of @noble/hashes. */
  readonly sha384?: () => Hasher;
  /** Incremental SHA-256, for a binary. */
  readonly sha256?: () => Hasher;
  /** Told how many bytes were read so far, after each piece. */
  readonly onProgress?: (bytes: number) => void;
}

export type ImageSectionType = "kernel" | "cmdline" | "ramdisk" | "signature" | "metadata";

export interface ImageSection {
  readonly type: ImageSectionType;
  /** Of the section's header. */
  readonly offset: number;
  /** Of the data. */
  readonly size: number;
}

export interface ImageMeasurement {
  /** By index: 0, 1, 2; and 8 where the image is signed. 48 bytes each. */
  readonly pcrs: Readonly<Record<number, Uint8Array>>;
  readonly architecture: "x86_64" | "aarch64";
  readonly version: 2 | 3 | 4;
  /** Bytes of the file. */
  readonly size: number;
  readonly sections: readonly ImageSection[];
  /** Null: not UTF-8. */
  readonly commandLine: string | null;
  /** Nobody measures or signs it. Null: none. */
  readonly metadata: JsonObject | null;
  /** Null: not signed. Where it is there, it was verified over PCR0 with the certificate's key. */
  readonly signature: {
    readonly certificate: Certificate;
    readonly algorithm: "ES256" | "ES384" | "ES512";
  } | null;
}

/**
 * Measures an enclave image file. Reads the stream once, to its end, and keeps no kernel and no ramdisk of it. Throws
 * {@link MalformedError} (`image`) with every fault that can be told.
 */
export function measureImage(_stream: ByteStream, _options: MeasureOptions = {}): Promise<ImageMeasurement> {
  throw new Error("not yet");
}

/** PCR3: the enclave's parent instance has this IAM role. */
export function measureRole(_roleArn: string): Promise<Uint8Array> {
  throw new Error("not yet");
}

/** PCR4: the enclave runs on this instance. */
export function measureInstance(_instanceId: string): Promise<Uint8Array> {
  throw new Error("not yet");
}

/** SHA-256 of a binary, which a manifest has as its pivot's hash. */
export function measureBinary(_stream: ByteStream, _options: MeasureOptions = {}): Promise<Uint8Array> {
  throw new Error("not yet");
}
