/** Measures images and binaries that were built. */
import type { BuildMeasurements } from "../appraise/pin.js";
import { fromHex } from "../bytes.js";
import { SHA256_LENGTH } from "../decode/lengths.js";
import { DIGEST_PREFIX, bareDigest } from "../decode/manifest/image-digest.js";
import type { ImageContents } from "../image/contents.js";
import type * as Library from "../image/measure.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { ofKind } from "./kinds.js";

type Image = Library.ImageMeasurement;

/** Measures an image. Undefined if no file is named, or if the file has a fault. */
export function measuredImage(files: InputFiles, path: string | undefined, io: Io): Promise<Image | undefined> {
  return measured(files, path, io, ({ measureImage }, ...given) => measureImage(...given));
}

/** Measures a binary, or reads its digest. Undefined if none is named, or if the file has a fault. */
export async function measuredBinary(
  files: InputFiles,
  path: string | undefined,
  io: Io,
): Promise<Uint8Array | undefined> {
  if (path?.startsWith(DIGEST_PREFIX)) {
    const digest = fromHex(bareDigest(path));
    if (digest?.length === SHA256_LENGTH) return digest;
    throw new UsageError([`--binary ${printable(path)}: expected ${DIGEST_PREFIX} and 64 hex digits, or a file`]);
  }
  return measured(files, path, io, ({ measureBinary }, ...given) => measureBinary(...given));
}

/** Measures an image and lists its files. Undefined if no file is named, or if the file has a fault. */
export async function contentsOf(
  files: InputFiles,
  path: string | undefined,
  io: Io,
): Promise<ImageContents | undefined> {
  const { readImageContents } = await import("../image/contents.js");
  return measured(files, path, io, (_library, ...given) => readImageContents(...given));
}

type Measure<T> = (
  library: typeof Library,
  stream: Library.ByteStream,
  options: Library.MeasureOptions,
) => Promise<T | undefined>;

/** Reads and measures a file in chunks. A file that cannot be read is added to the faults of `files`. */
async function measured<T>(
  files: InputFiles,
  path: string | undefined,
  io: Io,
  measure: Measure<T>,
): Promise<T | undefined> {
  if (path === undefined) return undefined;
  const [library, { fileStream, streaming }] = await Promise.all([
    import("../image/measure.js"),
    import("./streams.js"),
  ]);
  try {
    return await files.decodedAsync(path, () => measure(library, fileStream(path, io), streaming(path, io)));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    files.faults.push(...error.problems);
    return undefined;
  }
}

/** Returns the PCRs in a file that an image's maker published. Undefined if no file is named, or if it has a fault. */
async function publishedImage(files: InputFiles, path: string | undefined): Promise<Pick<Image, "pcrs"> | undefined> {
  if (path === undefined) return undefined;
  const { decodePublishedPcrs } = await import("../decode/published-pcrs.js");
  const bytes = await ofKind(files, path, "--pcrs");
  const pcrs = bytes && files.decoded(path, () => decodePublishedPcrs(bytes));
  return pcrs && { pcrs: pcrs as Image["pcrs"] };
}

/** Returns the PCRs of the names that AWS gives. Throws {@link UsageError} for one that is no such name. */
export async function measuredNames({ roleArn, instanceId }: NamedByAws): Promise<NamePcrs> {
  const { measureInstance, measureRole } = await import("../image/measure.js");
  const named = (option: string, measured: Promise<Uint8Array>): Promise<Uint8Array> =>
    measured.catch((error: unknown) => {
      throw new UsageError([`--${option}: ${printable((error as Error).message)}`]);
    });
  return {
    ...(roleArn !== undefined && { 3: await named("role-arn", measureRole(roleArn)) }),
    ...(instanceId !== undefined && { 4: await named("instance-id", measureInstance(instanceId)) }),
  };
}

interface NamedByAws {
  readonly roleArn?: string;
  readonly instanceId?: string;
}

interface NamePcrs {
  readonly 3?: Uint8Array;
  readonly 4?: Uint8Array;
}

interface BuildFlags extends NamedByAws {
  readonly image?: string;
  readonly pcrs?: string;
  readonly binary?: string;
}

export async function measuredBuild(flags: BuildFlags, files: InputFiles, io: Io): Promise<BuildMeasurements> {
  const { image, pcrs, binary } = flags;
  const names = await measuredNames(flags);
  const found = image === undefined ? await publishedImage(files, pcrs) : await measuredImage(files, image, io);
  const pivotHash = await measuredBinary(files, binary, io);
  return {
    ...(found && { pcrs: { ...found.pcrs, ...names } }),
    ...(pivotHash && { pivotHash }),
  };
}
