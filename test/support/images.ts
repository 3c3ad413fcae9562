/**
 * Enclave image files made by hand, with any field changed. They use Node's own hashes and checksum, and nothing of the
 * code that reads images.
 */
import { type KeyObject, createHash, generateKeyPairSync, sign } from "node:crypto";
import { crc32 } from "node:zlib";
import { type CborInput, encodeCbor, join } from "./cbor.js";
import { derBitString, derExplicit, derInteger, derOid, derSequence, derSet, derTime, derUtf8String } from "./der.js";

export const TYPE = { kernel: 1, cmdline: 2, ramdisk: 3, signature: 4, metadata: 5 } as const;
const HEADER = 548;

export interface SectionParts {
  readonly type: number;
  readonly data: Uint8Array;
  readonly flags?: number;
  /** In the section's own header, where it differs from that of the data. */
  readonly size?: bigint;
  /** In the header's table. */
  readonly tableSize?: bigint;
  readonly tableOffset?: bigint;
  /** Bytes before the section's header, which the CRC does not cover. */
  readonly before?: Uint8Array;
}

export interface ImageParts {
  readonly sections: readonly SectionParts[];
  readonly magic?: string;
  readonly version?: number;
  readonly flags?: number;
  readonly reserved?: number;
  readonly unused?: number;
  readonly count?: number;
  readonly crc?: number;
  readonly trailing?: Uint8Array;
  /** Changes the header before the CRC is made. */
  readonly header?: (header: Buffer) => void;
}

/** The file, valid except for what the parts change. */
export function imageOf(parts: ImageParts): Buffer {
  const { sections, magic = ".eif", version = 4, flags = 0, reserved = 0, unused = 0 } = parts;
  const header = Buffer.alloc(HEADER);
  header.write(magic, 0, "latin1");
  header.writeUInt16BE(version, 4);
  header.writeUInt16BE(flags, 6);
  header.writeBigUInt64BE(1_073_741_824n, 8);
  header.writeBigUInt64BE(2n, 16);
  header.writeUInt16BE(reserved, 0x18);
  header.writeUInt16BE(parts.count ?? sections.length, 0x1a);
  header.writeUInt32BE(unused, 0x21c);
  const body: Uint8Array[] = [];
  const covered: Uint8Array[] = [];
  let at = HEADER;
  for (const [index, section] of sections.entries()) {
    const { type, data, before = new Uint8Array() } = section;
    at += before.length;
    header.writeBigUInt64BE(section.tableOffset ?? BigInt(at), 0x1c + 8 * index);
    header.writeBigUInt64BE(section.tableSize ?? BigInt(data.length), 0x11c + 8 * index);
    const head = Buffer.alloc(12);
    head.writeUInt16BE(type, 0);
    head.writeUInt16BE(section.flags ?? 0, 2);
    head.writeBigUInt64BE(section.size ?? BigInt(data.length), 4);
    body.push(before, head, data);
    covered.push(head, data);
    at += 12 + data.length;
  }
  parts.header?.(header);
  header.writeUInt32BE(parts.crc ?? crc32(join(header.subarray(0, 0x220), ...covered)), 0x220);
  return Buffer.from(join(header, ...body, parts.trailing ?? new Uint8Array()));
}

/** With the CRC that its bytes have, where it has no gaps. */
export function withRightCrc(image: Uint8Array): Buffer {
  const copy = Buffer.from(image);
  copy.writeUInt32BE(crc32(join(copy.subarray(0, 0x220), copy.subarray(HEADER))), 0x220);
  return copy;
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export const KERNEL: SectionParts = { type: TYPE.kernel, data: utf8("kernel ".repeat(40)) };
export const CMDLINE: SectionParts = { type: TYPE.cmdline, data: utf8("reboot=k panic=30 pci=off console=ttyS0") };
export const METADATA: SectionParts = {
  type: TYPE.metadata,
  data: utf8(
    JSON.stringify({
      ImageName: "app",
      ImageVersion: "1.0",
      BuildMetadata: {
        BuildTime: "2026-03-04T05:06:07.000000000+00:00",
        BuildTool: "nitro-cli",
        BuildToolVersion: "1.4.2",
        OperatingSystem: "Linux",
        KernelVersion: "4.14.256",
      },
      DockerInfo: null,
      CustomMetadata: null,
    }),
  ),
};
export const RAMDISK: SectionParts = { type: TYPE.ramdisk, data: utf8("bootstrap ".repeat(30)) };
export const APPLICATION: SectionParts = { type: TYPE.ramdisk, data: utf8("application ".repeat(50)) };

/** In the order that the vendor's tool writes. */
export const SECTIONS: readonly SectionParts[] = [KERNEL, CMDLINE, METADATA, RAMDISK, APPLICATION];

/** The PCRs of these sections, by their definition. */
export function pcrsOf(sections: readonly SectionParts[], certificate?: Uint8Array): Record<number, string> {
  const ramdisks = sections.filter(({ type }) => type === TYPE.ramdisk);
  const measured = (part: readonly SectionParts[]): string => pcr(join(...part.map(({ data }) => data)));
  const image = sections.filter(({ type }) => type <= TYPE.ramdisk);
  return {
    0: measured(image),
    1: measured(image.filter((section) => section.type !== TYPE.ramdisk || section === ramdisks[0])),
    2: measured(ramdisks.slice(1)),
    ...(certificate && { 8: pcr(certificate) }),
  };
}

function pcr(content: Uint8Array): string {
  const digest = createHash("sha384").update(content).digest();
  return createHash("sha384").update(Buffer.alloc(48)).update(digest).digest("hex");
}

export type SignerCurve = "P-256" | "P-384" | "P-521";
const SIGNERS = {
  "P-256": { hash: "sha256", alg: -7 },
  "P-384": { hash: "sha384", alg: -35 },
  "P-521": { hash: "sha512", alg: -36 },
} as const;

export interface Signer {
  readonly curve: SignerCurve;
  readonly key: KeyObject;
  readonly certificate: Uint8Array;
  readonly pem: string;
}

/** A key with a self-signed certificate, which by default has long expired. */
export function newSigner(curve: SignerCurve, notAfter = new Date("2020-01-01T00:00:00Z")): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: curve });
  const spki = new Uint8Array(publicKey.export({ type: "spki", format: "der" }));
  const certificate = certificateOf(spki, privateKey, notAfter);
  const lines = Buffer.from(certificate)
    .toString("base64")
    .match(/.{1,64}/g)!;
  const pem = ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
  return { curve, key: privateKey, certificate, pem };
}

/** Of any public key. */
export function certificateOf(spki: Uint8Array, key: KeyObject, notAfter: Date): Uint8Array {
  const algorithm = derSequence(derOid("1.2.840.10045.4.3.3"));
  const name = derSequence(derSet(derSequence(derOid("2.5.4.3"), derUtf8String("builder"))));
  const tbs = derSequence(
    derExplicit(0, derInteger(2)),
    derInteger(7),
    algorithm,
    name,
    derSequence(derTime(new Date("2019-01-01T00:00:00Z")), derTime(notAfter)),
    name,
    spki,
  );
  return derSequence(tbs, algorithm, derBitString(new Uint8Array(sign("sha384", tbs, key))));
}

export interface SignatureParts {
  readonly signer: Signer;
  readonly pcr0: string;
  readonly alg?: CborInput;
  readonly protectedHeader?: Uint8Array;
  readonly unprotected?: CborInput;
  readonly payload?: CborInput;
  readonly certificate?: Uint8Array;
  readonly signature?: (raw: Uint8Array) => Uint8Array;
  /** Around the COSE_Sign1. */
  readonly message?: (bytes: Uint8Array) => Uint8Array;
  /** The whole section, in place of an array of the one entry. */
  readonly section?: (entry: CborInput) => CborInput;
}

/** Bytes as an array of numbers. */
export function numbers(bytes: Uint8Array): number[] {
  return [...bytes];
}

export function signatureSection(parts: SignatureParts): SectionParts {
  const { signer, pcr0, section = (entry) => [entry], message = (bytes) => bytes } = parts;
  const { hash, alg } = SIGNERS[signer.curve];
  const header = parts.protectedHeader ?? encodeCbor(new Map<CborInput, CborInput>([[1, parts.alg ?? alg]]));
  const info = new Map<CborInput, CborInput>([
    ["register_index", 0],
    ["register_value", numbers(Buffer.from(pcr0, "hex"))],
  ]);
  const payload = encodeCbor(parts.payload ?? info);
  const input = encodeCbor(["Signature1", header, new Uint8Array(), payload]);
  const raw = new Uint8Array(sign(hash, input, { key: signer.key, dsaEncoding: "ieee-p1363" }));
  const cose = encodeCbor([header, parts.unprotected ?? new Map(), payload, parts.signature?.(raw) ?? raw]);
  const entry = new Map<CborInput, CborInput>([
    ["signing_certificate", numbers(parts.certificate ?? utf8(signer.pem))],
    ["signature", numbers(message(cose))],
  ]);
  return { type: TYPE.signature, data: encodeCbor(section(entry)) };
}

/** The sections with the signature of their PCR0 behind them. */
export function signed(signer: Signer, sections: readonly SectionParts[] = SECTIONS): readonly SectionParts[] {
  return [...sections, signatureSection({ signer, pcr0: pcrsOf(sections)[0]! })];
}

/** The bytes as a stream, in pieces of these sizes, over and over. */
export async function* streamOf(bytes: Uint8Array, ...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes.length === 0 ? bytes.length : sizes[turn % sizes.length]!;
    // Overwritten at the next read, as a reader's own buffer would be.
    const piece = Buffer.from(bytes.subarray(at, at + size));
    at += size;
    yield await Promise.resolve(piece);
    piece.fill(0xee);
  }
}

export interface ArchivedFile {
  readonly name: string;
  readonly data?: string;
  readonly mode?: number;
  readonly modified?: number;
}

/** One entry of an archive, by the format's own description (Linux, "initramfs buffer format"). */
export function cpioEntry({ name, data = "", mode = 0o100644, modified = 0 }: ArchivedFile): Buffer {
  const fields = [1, mode, 0, 0, 1, modified, data.length, 0, 0, 0, 0, name.length + 1, 0];
  const head = `070701${fields.map((value) => value.toString(16).padStart(8, "0")).join("")}${name}\0`;
  const padded = (text: string): string => text + "\0".repeat((4 - (text.length % 4)) % 4);
  return Buffer.from(padded(head) + padded(data), "latin1");
}

export const cpioArchive = (...files: readonly ArchivedFile[]): Buffer =>
  Buffer.concat([...files.map(cpioEntry), cpioEntry({ name: "TRAILER!!!", mode: 0 }), Buffer.alloc(512)]);
export const ramdiskOf = (data: Uint8Array): SectionParts => ({ type: TYPE.ramdisk, data });
