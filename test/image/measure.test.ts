/** PCRs by definition and by published values, for pieces of any size. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { Crc32 } from "../../src/image/crc32.js";
import {
  type ImageMeasurement,
  measureBinary,
  measureImage,
  measureInstance,
  measureRole,
} from "../../src/image/index.js";
import { nameText } from "../../src/decode/certificate.js";
import {
  APPLICATION,
  CMDLINE,
  KERNEL,
  METADATA,
  RAMDISK,
  SECTIONS,
  type SignerCurve,
  imageOf,
  newSigner,
  numbers,
  pcrsOf,
  signatureSection,
  signed,
  streamOf,
  utf8,
} from "../support/images.js";
import { fc, runs } from "../support/property.js";

interface Published {
  readonly qos_aws_x86_64_pcrs: Readonly<Record<"PCR0" | "PCR1" | "PCR2", string>>;
  readonly pcr3_role_arn: { readonly role_arn: string; readonly PCR3: string };
}
const PUBLISHED = JSON.parse(
  readFileSync(new URL("../../test-vectors/images/pcr_examples.json", import.meta.url), "utf8"),
) as Published;

const measure = (image: Uint8Array, ...sizes: readonly number[]): Promise<ImageMeasurement> =>
  measureImage(streamOf(image, ...sizes));
const hexOf = (pcrs: ImageMeasurement["pcrs"]): Record<string, string> =>
  Object.fromEntries(Object.entries(pcrs).map(([index, value]) => [index, toHex(value)]));

describe("measureImage", () => {
  it("tells all of an image of the vendor's order", async () => {
    const image = imageOf({ sections: SECTIONS });
    const { pcrs, sections, metadata, ...others } = await measure(image);
    expect(hexOf(pcrs)).toEqual(pcrsOf(SECTIONS));
    expect(sections.map(({ type }) => type)).toEqual(["kernel", "cmdline", "metadata", "ramdisk", "ramdisk"]);
    const sha384 = new Uint8Array(createHash("sha384").update(KERNEL.data).digest());
    expect(sections[0]).toEqual({ type: "kernel", offset: 548, size: KERNEL.data.length, sha384 });
    expect(sections[1]!.offset).toBe(548 + 12 + KERNEL.data.length);
    expect(metadata).toMatchObject({ ImageName: "app" });
    expect(others).toEqual({
      architecture: "x86_64",
      version: 4,
      size: image.length,
      commandLine: "reboot=k panic=30 pci=off console=ttyS0",
      signature: null,
      notes: [],
    });
  });

  const empty = { ...RAMDISK, data: new Uint8Array() };
  it.each([
    ["no ramdisk", [KERNEL, CMDLINE, METADATA]],
    ["one ramdisk", [KERNEL, CMDLINE, METADATA, RAMDISK]],
    ["three ramdisks", [KERNEL, CMDLINE, METADATA, RAMDISK, APPLICATION, { ...RAMDISK }]],
    ["a cmdline behind a ramdisk, in the order of the file", [KERNEL, RAMDISK, METADATA, CMDLINE, APPLICATION]],
    ["a cmdline before the kernel", [CMDLINE, KERNEL, RAMDISK, METADATA]],
    ["an empty first ramdisk, which is the first all the same", [KERNEL, CMDLINE, METADATA, empty, APPLICATION]],
    ["32 sections", [KERNEL, CMDLINE, METADATA, ...Array.from({ length: 29 }, () => ({ ...RAMDISK }))]],
  ])("measures %s", async (_, sections) => {
    const { pcrs } = await measure(imageOf({ sections }));
    expect(hexOf(pcrs)).toEqual(pcrsOf(sections));
  });

  it.each([2, 3] as const)("measures version %d, which has no metadata", async (version) => {
    const sections = [KERNEL, CMDLINE, RAMDISK];
    const measured = await measure(imageOf({ sections, version, flags: 1 }));
    expect(measured).toMatchObject({ version, architecture: "aarch64", metadata: null });
    expect(hexOf(measured.pcrs)).toEqual(pcrsOf(sections));
  });

  it("returns the published constant as PCR2 without a second ramdisk; PCR0 equals PCR1 then", async () => {
    const { pcrs } = await measure(imageOf({ sections: [KERNEL, CMDLINE, METADATA, RAMDISK] }));
    const { PCR0, PCR1, PCR2 } = PUBLISHED.qos_aws_x86_64_pcrs;
    expect(toHex(pcrs[2]!)).toBe(PCR2);
    expect(PCR0).toBe(PCR1);
    expect(toHex(pcrs[0]!)).toBe(toHex(pcrs[1]!));
  });

  it("has no command line if that is not text", async () => {
    const sections = [KERNEL, { ...CMDLINE, data: Uint8Array.of(0xff) }, METADATA];
    expect((await measure(imageOf({ sections }))).commandLine).toBeNull();
  });

  it("has the same PCRs if only metadata differs, although the files differ", async () => {
    const later = { ...METADATA, data: utf8('{"BuildMetadata":{"BuildTime":"later"}}') };
    const [one, other] = [SECTIONS, [KERNEL, CMDLINE, later, RAMDISK, APPLICATION]].map((sections) =>
      imageOf({ sections }),
    );
    expect(one!.equals(other!)).toBe(false);
    expect((await measure(one!)).pcrs).toEqual((await measure(other!)).pcrs);
  });

  it.each(["P-256", "P-384", "P-521"] satisfies SignerCurve[])("verifies a signature of %s", async (curve) => {
    const signer = newSigner(curve);
    const measured = await measure(imageOf({ sections: signed(signer) }));
    expect(hexOf(measured.pcrs)).toEqual(pcrsOf(SECTIONS, signer.certificate));
    expect(measured.signature!.algorithm).toBe({ "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" }[curve]);
    expect(nameText(measured.signature!.certificate.subject)).toBe("CN=builder");
  });

  const signer = newSigner("P-384");
  const other = newSigner("P-384");
  const pcr0 = pcrsOf(SECTIONS)[0]!;
  it.each([
    ["text around the certificate", utf8(`Bag Attributes\n${signer.pem}`)],
    ["more certificates behind it", utf8(signer.pem + other.pem)],
    ["lines that end as on Windows", utf8(signer.pem.replaceAll("\n", "\r\n"))],
    ["text that is not UTF-8", Buffer.concat([Buffer.of(0xe9, 0x0a), Buffer.from(signer.pem)])],
  ])("takes the first certificate of the builder's file: %s", async (_, certificate) => {
    const section = signatureSection({ signer, pcr0, certificate });
    const { pcrs } = await measure(imageOf({ sections: [...SECTIONS, section] }));
    expect(toHex(pcrs[8]!)).toBe(pcrsOf(SECTIONS, signer.certificate)[8]);
  });

  it("uses only the first signature", async () => {
    const section = signatureSection({ signer, pcr0, section: (entry) => [entry, "whatever", numbers(utf8("x"))] });
    const { pcrs } = await measure(imageOf({ sections: [...SECTIONS, section] }));
    expect(toHex(pcrs[8]!)).toBe(pcrsOf(SECTIONS, signer.certificate)[8]);
  });

  it("returns the same for pieces of any size", async () => {
    const image = imageOf({ sections: signed(signer) });
    const whole = await measure(image);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 700 }), { minLength: 1, maxLength: 8 }), async (sizes) => {
        fc.pre(sizes.some((size) => size > 0));
        expect(await measure(image, ...sizes)).toEqual(whole);
      }),
      { numRuns: runs(60) },
    );
    expect(await measure(image, 1)).toEqual(whole);
  });

  it("uses the caller's hashes, and reports progress", async () => {
    let made = 0;
    const seen: number[] = [];
    const image = imageOf({ sections: SECTIONS });
    const { pcrs } = await measureImage(streamOf(image, 500), {
      sha384: () => (made++, createHash("sha384")),
      onProgress: (bytes) => seen.push(bytes),
    });
    expect(hexOf(pcrs)).toEqual(pcrsOf(SECTIONS));
    // One for each of PCR0 to PCR2, and one for each section.
    expect(made).toBe(3 + SECTIONS.length);
    expect(seen.at(-1)).toBe(image.length);
    expect(seen.slice(0, 2)).toEqual([500, 1000]);
  });

  it("throws TypeError for pieces that are not bytes", async () => {
    const texts = streamOf(new Uint8Array()) as unknown as AsyncGenerator<string>;
    expect((await measureImage(texts as never).catch((error: Error) => error.name)) as unknown).toBe("MalformedError");
    async function* words(): AsyncGenerator<string> {
      yield await Promise.resolve(".eif");
    }
    await expect(measureImage(words() as never)).rejects.toThrow(TypeError);
  });
});

describe("measureRole and measureInstance", () => {
  const extended = (text: string): string => createHash("sha384").update(Buffer.alloc(48)).update(text).digest("hex");

  it("return the published value of a role", async () => {
    const { role_arn: arn, PCR3 } = PUBLISHED.pcr3_role_arn;
    expect(toHex(await measureRole(arn))).toBe(PCR3);
  });

  it.each([
    "arn:aws:iam::123456789012:role/path/to/Role_1+=,.@-",
    "arn:aws:iam::123456789012:role/aws-service-role/access-analyzer.amazonaws.com/AWSServiceRoleForAccessAnalyzer",
    "arn:aws-cn:iam::123456789012:role/R",
    "arn:aws-us-gov:iam::123456789012:role/R",
    "arn:aws-iso-b:iam::123456789012:role/R",
    `arn:aws:iam::123456789012:role/${"p".repeat(544)}/${"R".repeat(64)}`,
  ])("take %s", async (arn) => {
    expect(toHex(await measureRole(arn))).toBe(extended(arn));
  });

  it.each([
    "",
    "Webserver",
    "arn:aws:iam::123456789012:instance-profile/Webserver",
    "arn:aws:sts::123456789012:assumed-role/Webserver/session",
    "arn:aws:iam::12345678901:role/Webserver",
    "arn:aws:iam::123456789012:role/",
    "arn:aws:iam::123456789012:role/two words",
    "arn:aws:iam::123456789012:role/path//R",
    "arn:aws:iam::123456789012:role/R\n",
    " arn:aws:iam::123456789012:role/R",
    "arn:aws:iam::123456789012:user/R",
    "arn:azure:iam::123456789012:role/R",
    `arn:aws:iam::123456789012:role/${"x".repeat(65)}`,
    `arn:aws:iam::123456789012:role/${"p".repeat(545)}/${"R".repeat(64)}`,
    `arn:aws:iam::123456789012:role/${"p/".repeat(400)}R`,
    7,
  ])("refuse the role %j", async (arn) => {
    await expect(measureRole(arn as string)).rejects.toThrow(TypeError);
  });

  it.each(["i-0123456789abcdef0", "i-01234567"])("take the instance %s", async (id) => {
    expect(toHex(await measureInstance(id))).toBe(extended(id));
  });

  it.each(["", "i-", "i-0123456", "i-0123456789abcdef", "i-0123456789ABCDEF0", "0123456789abcdef0", "i-01234567\n", 7])(
    "refuse the instance %j",
    async (id) => {
      await expect(measureInstance(id as string)).rejects.toThrow(TypeError);
    },
  );
});

it("measureBinary is SHA-256, for pieces of any size and any hash function", async () => {
  const bytes = utf8("binary".repeat(1000));
  const expected = createHash("sha256").update(bytes).digest("hex");
  expect(toHex(await measureBinary(streamOf(bytes, 7, 0, 900)))).toBe(expected);
  expect(toHex(await measureBinary(streamOf(bytes), { sha256: () => createHash("sha256") }))).toBe(expected);
});

it("Crc32 agrees with zlib, for pieces of any size", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (pieces) => {
      const crc = new Crc32();
      for (const piece of pieces) crc.update(piece);
      expect(crc.value).toBe(crc32(Buffer.concat(pieces)));
    }),
  );
});
