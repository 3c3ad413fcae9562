/** Measures images and binaries that were built. */
import type { BuildMeasurements } from "../appraise/pin.js";
import type { ImageMeasurement } from "../image/measure.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { ofKind } from "./kinds.js";

/** Returns undefined where there is a fault. */
export async function measuredImage(files: InputFiles, path: string, io: Io): Promise<ImageMeasurement | undefined> {
  const [{ measureImage }, { fileStream, streaming }] = await Promise.all([
    import("../image/measure.js"),
    import("./streams.js"),
  ]);
  return streamed(files, path, () => measureImage(fileStream(path, io), streaming(path, io)));
}

/** Returns undefined where there is a fault. */
export async function measuredBinary(files: InputFiles, path: string, io: Io): Promise<Uint8Array | undefined> {
  const [{ measureBinary }, { fileStream, streaming }] = await Promise.all([
    import("../image/measure.js"),
    import("./streams.js"),
  ]);
  return streamed(files, path, () => measureBinary(fileStream(path, io), streaming(path, io)));
}

/** An unreadable file is reported with the other faults. */
async function streamed<T>(files: InputFiles, path: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await files.decodedAsync(path, read);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    files.faults.push(...error.problems);
    return undefined;
  }
}

/** Returns the PCRs in a file that an image's maker published, or undefined without a file or if it has a fault. */
async function publishedImage(
  files: InputFiles,
  path: string | undefined,
): Promise<Pick<ImageMeasurement, "pcrs"> | undefined> {
  if (path === undefined) return undefined;
  const { decodePublishedPcrs } = await import("../decode/published-pcrs.js");
  const bytes = await ofKind(files, path, await files.bytes(path), { command: "pin", option: "--pcrs" });
  const pcrs = bytes && files.decoded(path, () => decodePublishedPcrs(bytes));
  return pcrs && { pcrs: pcrs as ImageMeasurement["pcrs"] };
}

async function measuredRole(roleArn: string): Promise<Uint8Array> {
  const { measureRole } = await import("../image/measure.js");
  try {
    return await measureRole(roleArn);
  } catch (error) {
    throw new UsageError([`--role-arn: ${printable((error as Error).message)}`]);
  }
}

interface BuildFlags {
  readonly image?: string;
  readonly pcrs?: string;
  readonly binary?: string;
  readonly roleArn?: string;
}

export async function measuredBuild(flags: BuildFlags, files: InputFiles, io: Io): Promise<BuildMeasurements> {
  const { image, pcrs, binary, roleArn } = flags;
  const role = roleArn === undefined ? undefined : await measuredRole(roleArn);
  const measured = image === undefined ? await publishedImage(files, pcrs) : await measuredImage(files, image, io);
  const pivotHash = binary === undefined ? undefined : await measuredBinary(files, binary, io);
  return {
    ...(measured && { pcrs: { ...measured.pcrs, ...(role && { 3: role }) } }),
    ...(pivotHash && { pivotHash }),
  };
}
