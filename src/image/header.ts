/** File header and section headers (image/README.md, "The file"). */
import { equalBytes } from "../bytes.js";
import type { FaultList } from "../errors.js";

export const HEADER_LENGTH = 548;
export const SECTION_HEADER_LENGTH = 12;
/** Offset of the header's last field, the CRC, which covers all other bytes of the file. */
export const CRC_OFFSET = 0x220;
const MAX_SECTIONS = 32;
const MIN_SECTIONS = 2;
const MAGIC = Uint8Array.of(0x2e, 0x65, 0x69, 0x66);
const VERSIONS = [2, 3, 4] as const;
export type ImageVersion = (typeof VERSIONS)[number];
const AARCH64 = 1;
/** PCIe and PCIe for virtio, which images of one builder of Bottlerocket have (image/README.md, "The file"). */
const PCIE = 0x240;

/** Whether the flags are those that their builder counts into PCR0. */
export function hasMeasuredFlags({ flags }: Pick<ImageHeader, "flags">): boolean {
  return (flags & ~AARCH64) === PCIE;
}

const SECTION_TYPES = ["kernel", "cmdline", "ramdisk", "signature", "metadata"] as const;
export type ImageSectionType = (typeof SECTION_TYPES)[number];

export function isImageStart(bytes: Uint8Array): boolean {
  return equalBytes(bytes.subarray(0, MAGIC.length), MAGIC);
}

interface TableEntry {
  /** Offset of the section's header in the file. */
  readonly offset: bigint;
  readonly size: bigint;
}

export interface ImageHeader {
  readonly version: number;
  readonly flags: number;
  readonly architecture: "x86_64" | "aarch64";
  readonly defaultMemory: bigint;
  readonly defaultCpus: bigint;
  readonly sectionCount: number;
  readonly table: readonly TableEntry[];
  readonly crc: number;
}

export function readHeader(bytes: Uint8Array, faults: FaultList): ImageHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const header: ImageHeader = {
    version: view.getUint16(0x004),
    flags: view.getUint16(0x006),
    architecture: (view.getUint16(0x006) & AARCH64) === 0 ? "x86_64" : "aarch64",
    defaultMemory: view.getBigUint64(0x008),
    defaultCpus: view.getBigUint64(0x010),
    sectionCount: view.getUint16(0x01a),
    table: Array.from({ length: MAX_SECTIONS }, (_, index) => ({
      offset: view.getBigUint64(0x01c + 8 * index),
      size: view.getBigUint64(0x11c + 8 * index),
    })),
    crc: view.getUint32(CRC_OFFSET),
  };
  const check = (isGood: boolean, path: string, message: string): unknown =>
    isGood || faults.push({ path: `header.${path}`, message });
  const { version, flags, sectionCount } = header;
  check(isVersion(version), "version", `${version}: expected 2, 3 or 4`);
  check(
    (flags & ~AARCH64) === 0 || hasMeasuredFlags(header),
    "flags",
    `0x${flags.toString(16)}: bits without a meaning are set`,
  );
  check(view.getUint16(0x018) === 0, "reserved", "not zero");
  check(view.getUint32(0x21c) === 0, "unused", "not zero");
  check(hasGoodCount(header), "sections", `${sectionCount}: expected ${MIN_SECTIONS} to ${MAX_SECTIONS}`);
  if (hasGoodCount(header)) checkUnused(header, faults);
  return header;
}

function checkUnused({ table, sectionCount }: ImageHeader, faults: FaultList): void {
  for (const [index, { offset, size }] of table.entries()) {
    if (index < sectionCount) continue;
    const message = `not zero, in a header of ${sectionCount} sections`;
    if (offset !== 0n) faults.push({ path: `header.offsets[${index}]`, message });
    if (size !== 0n) faults.push({ path: `header.sizes[${index}]`, message });
  }
}

function isVersion(version: number): version is ImageVersion {
  return VERSIONS.some((known) => known === version);
}

/** Whether the number of sections is valid. Otherwise the end of the last section is unknown. */
export function hasGoodCount({ sectionCount }: ImageHeader): boolean {
  return sectionCount >= MIN_SECTIONS && sectionCount <= MAX_SECTIONS;
}

export interface SectionHeader {
  readonly type: number;
  readonly flags: number;
  readonly size: bigint;
}

export function readSectionHeader(bytes: Uint8Array): SectionHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { type: view.getUint16(0), flags: view.getUint16(2), size: view.getBigUint64(4) };
}

/** Returns the type of a section, or undefined for 0 and unknown types. */
export function sectionType(type: number): ImageSectionType | undefined {
  return SECTION_TYPES[type - 1];
}
