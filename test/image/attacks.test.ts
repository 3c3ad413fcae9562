/** An image for each rule of src/image/README.md that breaks it: refused, with place and reason. */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { MalformedError } from "../../src/errors.js";
import { type ByteStream, measureImage } from "../../src/image/index.js";
import { encodeCbor, head, hex, join } from "../support/cbor.js";
import {
  APPLICATION,
  CMDLINE,
  type ImageParts,
  KERNEL,
  METADATA,
  RAMDISK,
  SECTIONS,
  type SectionParts,
  type SignatureParts,
  TYPE,
  certificateOf,
  imageOf,
  newSigner,
  numbers,
  pcrsOf,
  signatureSection,
  signed,
  streamOf,
  utf8,
  withRightCrc,
} from "../support/images.js";
import { IS_LONG } from "../support/long.js";

async function faultsOf(stream: ByteStream): Promise<string[]> {
  try {
    await measureImage(stream);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    expect(error.code).toBe("image");
    return error.faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  }
  return [];
}

const at = (index: number, change: Partial<SectionParts>): readonly SectionParts[] =>
  SECTIONS.map((section, place) => (place === index ? { ...section, ...change } : section));
const without = (index: number): readonly SectionParts[] => SECTIONS.filter((_, place) => place !== index);
const ENDS = SECTIONS.map((_, index) =>
  SECTIONS.slice(0, index + 1).reduce((sum, { data }) => sum + 12 + data.length, 548),
);
const HUGE = 0xffff_ffff_ffff_ffffn;

const signer = newSigner("P-384");
const PCR0 = pcrsOf(SECTIONS)[0]!;
const signature = signed(signer).at(-1)!;

/** The broken rule, the image, and its exact faults. */
const FILES: readonly (readonly [what: string, parts: ImageParts, faults: readonly string[]])[] = [
  [
    "another magic",
    { sections: SECTIONS, magic: ".elf" },
    ["not an enclave image file: one begins with .eif (nitro-cli build-enclave makes one)"],
  ],
  ["version 1", { sections: without(2), version: 1 }, ["header.version: 1: expected 2, 3 or 4"]],
  ["version 5", { sections: SECTIONS, version: 5 }, ["header.version: 5: expected 2, 3 or 4"]],
  ["a flag", { sections: SECTIONS, flags: 3 }, ["header.flags: 0x3: bits without a meaning are set"]],
  ["a reserved field", { sections: SECTIONS, reserved: 1 }, ["header.reserved: not zero"]],
  ["a reserved field, in its first byte", { sections: SECTIONS, reserved: 0x100 }, ["header.reserved: not zero"]],
  ["the unused field", { sections: SECTIONS, unused: 1 }, ["header.unused: not zero"]],
  ["one section", { sections: [KERNEL] }, ["header.sections: 1: expected 2 to 32"]],
  ["no section", { sections: [] }, ["header.sections: 0: expected 2 to 32"]],
  ["33 sections", { sections: SECTIONS, count: 33 }, ["header.sections: 33: expected 2 to 32"]],
  ["a CRC", { sections: SECTIONS, crc: 1 }, [expect.stringMatching(/^header.crc: 0x00000001, but/) as string]],
  [
    "an unused row's offset and size",
    {
      sections: SECTIONS,
      header: (bytes) => {
        bytes[0x1c + 8 * 5] = 1;
        bytes[0x11c + 8 * 31] = 1;
      },
    },
    ["header.offsets[5]: not zero, in a header of 5 sections", "header.sizes[31]: not zero, in a header of 5 sections"],
  ],
  [
    "bytes behind",
    { sections: SECTIONS, trailing: Uint8Array.of(0) },
    [`the last of 5 sections ends at byte ${ENDS[4]}, but the file goes on`],
  ],
  [
    "a section more than the header counts",
    { sections: [...SECTIONS, RAMDISK], count: 5 },
    [
      "header.offsets[5]: not zero, in a header of 5 sections",
      "header.sizes[5]: not zero, in a header of 5 sections",
      expect.stringMatching(/^header.crc/) as string,
      `the last of 5 sections ends at byte ${ENDS[4]}, but the file goes on`,
    ],
  ],
  [
    "a gap that the table knows, under a CRC that does not",
    { sections: at(3, { before: new Uint8Array(20) }) },
    [
      `header.offsets[3]: ${ENDS[2]! + 20}, but the section before it ends at ${ENDS[2]}: ` +
        "there is no gap between sections",
    ],
  ],
  [
    "a gap behind the header",
    { sections: at(0, { before: new Uint8Array(1) }) },
    ["header.offsets[0]: 549, but the header ends at 548: there is no gap between sections"],
  ],
  [
    "a table that leads elsewhere",
    { sections: at(4, { tableOffset: BigInt(ENDS[2]!) }) },
    [`header.offsets[4]: ${ENDS[2]}, but the section before it ends at ${ENDS[3]}: there is no gap between sections`],
  ],
  [
    "a table that leads elsewhere, and what follows",
    { sections: at(4, { tableOffset: BigInt(ENDS[2]!) }), crc: 1 },
    [
      `header.offsets[4]: ${ENDS[2]}, but the section before it ends at ${ENDS[3]}: there is no gap between sections`,
      expect.stringMatching(/^header.crc/) as string,
    ],
  ],
  [
    "an offset beyond the file",
    { sections: at(4, { tableOffset: 1_000_000n }) },
    [
      `header.offsets[4]: 1000000, but the section before it ends at ${ENDS[3]}: there is no gap between sections`,
      `sections[4]: the file ends at byte ${ENDS[4]}, before it`,
    ],
  ],
  [
    "an offset that no number holds",
    { sections: at(4, { tableOffset: HUGE }) },
    [`header.offsets[4]: ${HUGE}, but the section before it ends at ${ENDS[3]}: there is no gap between sections`],
  ],
  [
    "a size that the table has otherwise",
    { sections: at(3, { tableSize: 7n }) },
    [`sections[3].size: ${RAMDISK.data.length}, but the header's table has 7`],
  ],
  [
    "a size that the section has otherwise",
    { sections: at(1, { size: 7n }) },
    [`sections[1].size: 7, but the header's table has ${CMDLINE.data.length}`],
  ],
  [
    "the size of the last section, in the table",
    { sections: at(4, { tableSize: 7n }) },
    [`sections[4].size: ${APPLICATION.data.length}, but the header's table has 7`],
  ],
  [
    "a size beyond the file, in both places",
    { sections: at(4, { size: 1_000_000n, tableSize: 1_000_000n }) },
    [
      `sections[4]: the file ends at byte ${ENDS[4]}, ${1_000_000 - APPLICATION.data.length} bytes before the end of ` +
        "this ramdisk",
    ],
  ],
  [
    "a size beyond any file, in both places",
    { sections: at(4, { size: HUGE, tableSize: HUGE }) },
    [`sections[4].size: ${HUGE} bytes, more than any file has`],
  ],
  [
    "a size just beyond what numbers hold, of a signature",
    { sections: [...SECTIONS, { ...signature, size: 2n ** 53n, tableSize: 2n ** 53n }] },
    ["sections[5].size: 9007199254740992 bytes, more than any file has"],
  ],
  ["a section's flags", { sections: at(1, { flags: 1 }) }, ["sections[1].flags: not zero"]],
  ["type 0", { sections: at(4, { type: 0 }) }, ["sections[4].type: 0, expected 1 to 5: no section has another type"]],
  ["type 6", { sections: at(3, { type: 6 }) }, ["sections[3].type: 6, expected 1 to 5: no section has another type"]],
  [
    "an unknown type of two sizes, behind which nothing is known",
    { sections: at(3, { type: 6, tableSize: 7n }), crc: 1 },
    [
      "sections[3].type: 6, expected 1 to 5: no section has another type",
      `sections[3].size: ${RAMDISK.data.length}, but the header's table has 7`,
    ],
  ],
  ["no kernel", { sections: without(0) }, ["sections: no kernel, but an image of version 4 needs one"]],
  ["no cmdline", { sections: without(1) }, ["sections: no cmdline, but an image of version 4 needs one"]],
  ["no metadata", { sections: without(2) }, ["sections: no metadata, but an image of version 4 needs one"]],
  ["two kernels", { sections: [KERNEL, ...SECTIONS] }, ["sections[1]: a second kernel: sections[0] is one already"]],
  ["two cmdlines", { sections: [...SECTIONS, CMDLINE] }, ["sections[5]: a second cmdline: sections[1] is one already"]],
  [
    "metadata twice",
    { sections: [...SECTIONS, METADATA] },
    ["sections[5]: a second metadata: sections[2] is one already"],
  ],
  [
    "a signature twice",
    { sections: [...signed(signer), signature] },
    ["sections[6]: a second signature: sections[5] is one already"],
  ],
  [
    "a ramdisk before the kernel",
    { sections: [RAMDISK, KERNEL, CMDLINE, METADATA] },
    ["sections[0]: a ramdisk before the kernel"],
  ],
  [
    "a signature in version 2",
    { sections: signed(signer, [KERNEL, CMDLINE]), version: 2 },
    ["sections[2]: a signature in version 2: only version 3 and later have one"],
  ],
  [
    "a signature of 32,769 bytes",
    { sections: [...SECTIONS, { ...signature, data: new Uint8Array(32_769) }] },
    ["sections[5].size: 32769 bytes, but a signature section has at most 32768"],
  ],
  [
    "metadata of more than 1 MiB",
    { sections: at(2, { data: utf8(`{}${" ".repeat(1_048_575)}`) }) },
    ["sections[2].size: 1048577 bytes, but a metadata section has at most 1048576"],
  ],
  [
    "metadata that says a thing twice",
    { sections: at(2, { data: utf8('{"a":1,"a":2}') }) },
    [expect.stringMatching(/^metadata: not strict JSON: member "a" appears twice/) as string],
  ],
  [
    "metadata that is a list",
    { sections: at(2, { data: utf8("[]") }) },
    ["metadata: expected an object, got an array"],
  ],
  [
    "much at once",
    {
      sections: [{ ...RAMDISK, flags: 1 }, ...at(2, { data: utf8("{") }), { ...signature, data: Uint8Array.of(0x80) }],
      flags: 0x8000,
      crc: 7,
    },
    [
      "header.flags: 0x8000: bits without a meaning are set",
      "sections[0].flags: not zero",
      "sections[0]: a ramdisk before the kernel",
      expect.stringMatching(/^header.crc/) as string,
      expect.stringMatching(/^metadata: not strict JSON/) as string,
      "signature: expected an array of at least one signature",
    ],
  ],
];

describe("an image is refused for", () => {
  it.each(FILES)("%s", async (_, parts, faults) => {
    expect(await faultsOf(streamOf(imageOf(parts), 97))).toEqual(faults);
  });
});

it("is accepted unaltered, so that the tables above have a meaning", async () => {
  for (const sections of [SECTIONS, signed(signer)])
    expect(await faultsOf(streamOf(imageOf({ sections })))).toEqual([]);
  const largest = at(2, { data: utf8(`{}${" ".repeat(1_048_574)}`) });
  expect(await faultsOf(streamOf(imageOf({ sections: largest })))).toEqual([]);
});

/** `BOOTPROOF_TESTS=long` takes every byte. */
const STRIDE = IS_LONG ? 1 : 29;

it("is refused if cut off anywhere, with the missing part", async () => {
  const image = imageOf({ sections: signed(signer) });
  for (let length = 0; length < image.length; length += length < 4 ? 1 : STRIDE) {
    const [fault, ...others] = await faultsOf(streamOf(image.subarray(0, length)));
    if (length >= 4)
      expect(fault).toMatch(new RegExp(`the file ends at byte ${length}, (?:inside|before|[0-9]+ bytes)`));
    else expect(fault).toMatch(/^not an enclave image file/);
    expect(others).toEqual([]);
  }
});

it("is refused for trailing bytes without reading them", async () => {
  let left = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      yield imageOf({ sections: SECTIONS });
      for (;;) yield await Promise.resolve(new Uint8Array(100));
    } finally {
      left = true;
    }
  }
  expect(await faultsOf(endless())).toEqual([`the last of 5 sections ends at byte ${ENDS[4]}, but the file goes on`]);
  expect(left).toBe(true);
});

const of = (parts: Partial<SignatureParts>): ImageParts => ({
  sections: [...SECTIONS, signatureSection({ signer, pcr0: PCR0, ...parts })],
});
const section = (data: Uint8Array): ImageParts => ({ sections: [...SECTIONS, { type: TYPE.signature, data }] });
const info = (index: number, value: unknown, more: readonly (readonly [string, number])[] = []) =>
  new Map<string, never>([["register_index", index], ["register_value", value], ...more] as never);
const zeros = Array.from({ length: 48 }, () => 0);
const entryOf = (certificate: unknown, message: unknown) =>
  encodeCbor([
    new Map([
      ["signing_certificate", certificate],
      ["signature", message],
    ]),
  ] as never);

const p256 = newSigner("P-256");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsaCertificate = certificateOf(
  new Uint8Array(rsa.publicKey.export({ type: "spki", format: "der" })),
  signer.key,
  new Date("2030-01-01"),
);
const pem = (der: Uint8Array): Uint8Array =>
  utf8(`-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString("base64")}\n-----END CERTIFICATE-----\n`);

const CERTIFICATE = "signature[0].signing_certificate: ";
const MESSAGE = "signature[0].signature: ";
const PAYLOAD = "signature[0].signature.payload: expected register_index 0 and register_value of 48 numbers";
const NOT_ITS_KEY = `${MESSAGE}not made with the key of its certificate`;
const ALGORITHM = `${MESSAGE}its protected header must have only an algorithm: -7, -35 or -36`;

/** What is broken in a signature section that is right otherwise, signed anew, and how each fault begins. */
const SIGNATURES: readonly (readonly [what: string, parts: ImageParts, faults: readonly string[]])[] = [
  ["is empty", section(new Uint8Array()), ["signature: empty"]],
  ["has bytes behind", section(join(signature.data, Uint8Array.of(0))), ["signature: 1 bytes after the end"]],
  ["has an array without end", section(hex("9fff")), ["signature: an indefinite length"]],
  ["has a head that is longer than needed", section(join(head(4, 1, 1), signature.data.subarray(1))), ["signature: a"]],
  ["is a map", of({ section: (entry) => entry }), ["signature: expected an array of at least one signature"]],
  ["is an empty array", section(hex("80")), ["signature: expected an array of at least one signature"]],
  [
    "has null for an entry",
    section(hex("81f6")),
    ["signature[0]: expected a map of signing_certificate and signature"],
  ],
  [
    "has an entry of another kind",
    section(encodeCbor([7])),
    ["signature[0]: expected a map of signing_certificate and signature"],
  ],
  [
    "has another member",
    of({ section: (entry) => [new Map([...(entry as Map<string, number>), ["more", 1]])] }),
    ["signature[0]: expected a map of signing_certificate and signature"],
  ],
  [
    "has byte strings",
    section(entryOf(utf8(signer.pem), hex("84"))),
    [`${CERTIFICATE}expected an array of bytes (numbers)`, `${MESSAGE}expected an array of bytes (numbers)`],
  ],
  [
    "has numbers that are no bytes",
    section(entryOf([256], [-1])),
    [`${CERTIFICATE}expected an array of bytes (numbers)`, `${MESSAGE}expected an array of bytes (numbers)`],
  ],
  ["has DER in place of PEM", of({ certificate: signer.certificate }), [`${CERTIFICATE}no certificate in PEM`]],
  [
    "has PEM without base64",
    of({ certificate: utf8(signer.pem.replace("MII", "***")) }),
    [`${CERTIFICATE}not base64 between the PEM lines`],
  ],
  [
    "has a certificate that is none",
    of({ certificate: pem(Uint8Array.of(0x30, 0)) }),
    [`${CERTIFICATE}tbsCertificate: missing`],
  ],
  [
    "has bytes after the certificate",
    of({ certificate: pem(join(signer.certificate, Uint8Array.of(0))) }),
    [`${CERTIFICATE}1 bytes after the certificate`],
  ],
  ["has a tag", of({ message: (bytes) => join(hex("d2"), bytes) }), [`${MESSAGE}a tag around it: expected no tag`]],
  ["is not a COSE_Sign1", of({ message: () => hex("80") }), [`${MESSAGE}not an array of four items`]],
  [
    "has an unprotected header",
    of({ unprotected: new Map([[4, new Uint8Array(1)]]) }),
    [`${MESSAGE}its unprotected header is not empty`],
  ],
  ["names no algorithm", of({ protectedHeader: new Uint8Array() }), [ALGORITHM]],
  ["names another algorithm", of({ alg: -8 }), [ALGORITHM]],
  [
    "names more than an algorithm",
    of({
      protectedHeader: encodeCbor(
        new Map([
          [1, -35],
          [3, 0],
        ]),
      ),
    }),
    [ALGORITHM],
  ],
  ["names its algorithm otherwise", of({ protectedHeader: encodeCbor(new Map([[2, -35]])) }), [ALGORITHM]],
  [
    "names the algorithm of another curve",
    of({ alg: -7, signature: (raw) => raw.subarray(0, 64) }),
    [`${CERTIFICATE}its key is not a point of P-256, with which ES256 is verified`],
  ],
  ["is too short", of({ signature: (raw) => raw.subarray(1) }), [`${MESSAGE}95 bytes, but ES384 has 96`, NOT_ITS_KEY]],
  ["is of zeros", of({ signature: (raw) => new Uint8Array(raw.length) }), [NOT_ITS_KEY]],
  ["is of another key", of({ certificate: utf8(newSigner("P-384").pem) }), [NOT_ITS_KEY]],
  [
    "has a certificate of another curve",
    of({ certificate: utf8(p256.pem) }),
    [`${CERTIFICATE}its key is not a point of P-384, with which ES384 is verified`],
  ],
  [
    "has a certificate of an RSA key",
    of({ certificate: pem(rsaCertificate) }),
    [`${CERTIFICATE}its key is not a point of P-384`],
  ],
  ["signs another PCR0", of({ pcr0: "00".repeat(48) }), ["signature[0].signature.payload: signs PCR0 0000"]],
  ["signs another register", of({ payload: info(8, numbers(Buffer.from(PCR0, "hex"))) }), [PAYLOAD]],
  ["signs a shorter value", of({ payload: info(0, zeros.slice(1)) }), [PAYLOAD]],
  ["signs a byte string", of({ payload: info(0, new Uint8Array(48)) }), [PAYLOAD]],
  ["signs more than a register", of({ payload: info(0, zeros, [["more", 1]]) }), [PAYLOAD]],
  ["signs no map", of({ payload: [0, numbers(Buffer.from(PCR0, "hex"))] }), [PAYLOAD]],
  ["signs no CBOR", of({ payload: Object.assign([], { length: 0 }) }), [PAYLOAD]],
];

describe("a signature is refused that", () => {
  it.each(SIGNATURES)("%s", async (_, parts, faults) => {
    const found = await faultsOf(streamOf(imageOf(parts)));
    expect(found.map((fault, index) => fault.slice(0, faults[index]?.length))).toEqual(faults);
  });

  it("is not held against the PCR0 of an image that has faults", async () => {
    const parts = { ...of({ pcr0: "00".repeat(48) }), flags: 2 };
    expect(await faultsOf(streamOf(imageOf(parts)))).toEqual(["header.flags: 0x2: bits without a meaning are set"]);
  });

  it.each(["P-256", "P-384", "P-521"] as const)("was made over another message, with %s", async (curve) => {
    const other = newSigner(curve);
    const flipped = (raw: Uint8Array): Uint8Array => raw.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
    expect(await faultsOf(streamOf(imageOf(of({ signer: other, signature: flipped }))))).toEqual([NOT_ITS_KEY]);
  });

  it("has a point beside the curve, of P-521 too", async () => {
    for (const curve of ["P-256", "P-384", "P-521"] as const) {
      const other = newSigner(curve);
      const der = other.certificate.slice();
      // The point, behind the head of its bit string.
      const head = { "P-256": "03420004", "P-384": "03620004", "P-521": "0381860004" }[curve];
      const start = Buffer.from(der).indexOf(hex(head));
      expect(start).toBeGreaterThan(0);
      der[start + 30]! ^= 1;
      const found = await faultsOf(streamOf(imageOf(of({ signer: other, certificate: pem(der) }))));
      expect(found).toEqual([expect.stringMatching(new RegExp(`its key is not a point of ${curve}`))]);
    }
  });
});

describe("a changed byte", () => {
  const image = imageOf({ sections: signed(newSigner("P-256")) });
  const metadata = { from: ENDS[1]! + 12, to: ENDS[2]! };
  const flip = (index: number): Uint8Array => image.map((byte, place) => (place === index ? byte ^ 0x01 : byte));

  it("is detected at least by the CRC, at any place", async () => {
    for (let index = 0; index < image.length; index += STRIDE)
      expect((await faultsOf(streamOf(flip(index)))).length, `byte ${index}`).toBeGreaterThan(0);
  });

  it("under a corrected CRC is detected, or changes only the PCR of the certificate", async () => {
    const before = await measureImage(streamOf(image));
    const unseen: number[] = [];
    // The last of the builder's file: its numbers above 23 have a head.
    const lineFeed = image.lastIndexOf(hex(`${"182d".repeat(5)}0a`)) + 10;
    const places = Array.from({ length: Math.ceil(image.length / STRIDE) }, (_, count) => count * STRIDE);
    for (const index of new Set([...places, lineFeed])) {
      const measured = await measureImage(streamOf(withRightCrc(flip(index)))).catch((error: unknown) => {
        if (error instanceof MalformedError) return null;
        throw error;
      });
      if (measured === null) continue;
      for (const pcr of [0, 1, 2]) expect(toHex(measured.pcrs[pcr]!)).toBe(toHex(before.pcrs[pcr]!));
      if (toHex(measured.pcrs[8]!) === toHex(before.pcrs[8]!)) unseen.push(index);
      else expect(index, "who signed").toBeGreaterThan(ENDS[4]!);
    }
    // Of the header: architecture, memory, CPUs, and the CRC's own bytes. Metadata that is still JSON. And the line
    // feed behind the certificate, which is the builder's.
    const isInHeader = (index: number): boolean => (index >= 7 && index < 0x18) || (index >= 0x220 && index < 0x224);
    const isMetadata = (index: number): boolean => index >= metadata.from && index < metadata.to;
    const rest = unseen.filter((index) => !isInHeader(index) && !isMetadata(index));
    expect(unseen.filter(isMetadata).length).toBeGreaterThan(100 / STRIDE);
    expect(rest.map((index) => image[index])).toEqual([0x0a]);
  });
});
