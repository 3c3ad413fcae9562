/** Enclave image files, without the data of kernel and ramdisks. */
import type { ImageHeader } from "../image/header.js";
import { readImage } from "../image/reader.js";
import { type SignatureReading, readSignature } from "../image/signature.js";
import type { ByteStream } from "../image/stream.js";
import type { Described, Inspected } from "./described.js";
import { shownObject } from "./shown.js";

/** Inspects an image. Reads the whole stream to find every fault, but computes no PCRs and verifies no signature. */
export async function inspectImageStream(stream: ByteStream): Promise<Inspected> {
  const { header, size, sections, commandLine, metadata, signature: section, faults } = await readImage(stream);
  const signature = section && readSignature(section);
  if (signature !== null) faults.pushAll(signature.faults);
  const says = {
    ...(await shownObject({ header: header && headerOf(header), sections })),
    "(read)": `${size} bytes`,
    commandLine,
    metadata: metadata as Described,
    ...(await shownObject({ signature: signature && signatureOf(signature) })),
  };
  return { faults, says };
}

function headerOf({ sectionCount, crc, ...others }: ImageHeader): object {
  return { ...others, table: undefined, sections: sectionCount, crc32: crc.toString(16).padStart(8, "0") };
}

function signatureOf({ certificate, algorithm, register, message, others }: SignatureReading): object {
  return {
    algorithm,
    PCR0: register,
    certificate,
    signature: message && message.signature,
    "(entries that do not count)": others === 0 ? undefined : others,
  };
}

export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
