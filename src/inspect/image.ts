/** Enclave image files, without the data of kernel and ramdisks. */
import { toHex } from "../bytes.js";
import type { ImageHeader } from "../image/header.js";
import { readImage } from "../image/reader.js";
import { type SignatureReading, readSignature } from "../image/signature.js";
import type { ByteStream } from "../image/stream.js";
import { describeCertificate } from "./certificates.js";
import { type Described, type DescribedObject, type Inspected, inspectedAs } from "./described.js";

/** Reads the whole stream to find every fault. Computes no PCRs and verifies no signature. */
export async function inspectImageStream(stream: ByteStream): Promise<Inspected> {
  const { header, size, sections, commandLine, metadata, signature: section, faults } = await readImage(stream);
  const signature = section && readSignature(section);
  if (signature !== null) faults.pushAll(signature.faults);
  const says: DescribedObject = {
    header: header && describeHeader(header),
    sections: sections.map((one) => ({ ...one })),
    "(read)": `${size} bytes`,
    commandLine,
    metadata: metadata as Described,
    signature: signature && (await describeSignature(signature)),
  };
  return inspectedAs("enclave image", "EIF", faults, says);
}

function describeHeader(header: ImageHeader): DescribedObject {
  const { version, flags, architecture, defaultMemory, defaultCpus, sectionCount, crc } = header;
  return {
    version,
    architecture,
    flags,
    defaultMemory: whole(defaultMemory),
    defaultCpus: whole(defaultCpus),
    sections: sectionCount,
    crc32: crc.toString(16).padStart(8, "0"),
  };
}

/** A number if it is exact, otherwise text. */
function whole(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
}

async function describeSignature(signature: SignatureReading): Promise<DescribedObject> {
  const { certificate, algorithm, register, message, others } = signature;
  return {
    algorithm,
    PCR0: register && toHex(register),
    certificate: certificate && (await describeCertificate(certificate)),
    signature: message && toHex(message.signature),
    "(entries that do not count)": others === 0 ? undefined : others,
  };
}

export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
