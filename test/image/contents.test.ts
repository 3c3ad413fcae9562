/** The files in ramdisks, where two builds differ, and what is unusual in a file and no fault. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as path } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type ImageDifference, compareImages } from "../../src/image/compare.js";
import { type ImageFile, readImageContents } from "../../src/image/contents.js";
import { measureImage } from "../../src/image/index.js";
import {
  type ArchivedFile,
  CMDLINE,
  KERNEL,
  METADATA,
  type SectionParts,
  TYPE,
  cpioArchive,
  cpioEntry,
  imageOf,
  newSigner,
  ramdiskOf,
  signed,
  streamOf,
  utf8,
} from "../support/images.js";
import { join } from "../support/cbor.js";

const image = (...ramdisks: readonly Uint8Array[]): Buffer =>
  imageOf({ sections: [KERNEL, CMDLINE, METADATA, ...ramdisks.map(ramdiskOf)] });
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const INIT: ArchivedFile = { name: "init", data: "#!init", mode: 0o100755 };
const APP: ArchivedFile = { name: "app", data: "application", modified: 1_700_000_000 };
const LINK: ArchivedFile = { name: "bin", data: "usr/bin", mode: 0o120777 };

const listed = async (
  bytes: Uint8Array,
  ...sizes: readonly number[]
): Promise<[readonly ImageFile[], string | null]> => {
  const { ramdisks } = await readImageContents(streamOf(image(bytes), ...sizes));
  return [ramdisks[0]!.files, ramdisks[0]!.unlisted];
};

describe("the files of a ramdisk", () => {
  const files = [
    { name: "init", mode: 0o100755, size: 6, modified: 0, sha256: sha256("#!init") },
    { name: "app", mode: 0o100644, size: 11, modified: 1_700_000_000, sha256: sha256("application") },
    { name: "bin", mode: 0o120777, size: 7, modified: 0, sha256: sha256("usr/bin") },
  ];
  it.each<[string, Uint8Array]>([
    ["of an archive", cpioArchive(INIT, APP, LINK)],
    ["of an archive by gzip, as the vendor's tools write it", gzipSync(cpioArchive(INIT, APP, LINK))],
    ["of several archives", Buffer.concat([cpioArchive(INIT), cpioArchive(APP), cpioArchive(LINK)])],
    ["of an archive without zeros behind it", cpioArchive(INIT, APP, LINK).subarray(0, -512)],
  ])("%s", async (_name, bytes) => {
    expect(await listed(bytes)).toEqual([files, null]);
    expect(await listed(bytes, 1)).toEqual([files, null]);
    expect(await listed(bytes, 111, 3)).toEqual([files, null]);
  });

  it("agree with an archive by cpio, where it is installed", async (context) => {
    const folder = mkdtempSync(path(tmpdir(), "cpio-"));
    try {
      writeFileSync(path(folder, "init"), "#!init", { mode: 0o755 });
      const options = { cwd: folder, input: "init\n", stdio: ["pipe", "pipe", "ignore"] as never };
      const made = execFileSync("cpio", ["-o", "-H", "newc"], options);
      const [[file], unlisted] = await listed(made);
      expect([file!.name, file!.size, file!.sha256, unlisted]).toEqual(["init", 6, sha256("#!init"), null]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      context.skip("cpio is not on this machine");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each<[string, Uint8Array, RegExp]>([
    ["that is no archive", utf8("bootstrap ".repeat(30)), /^no cpio archive$/],
    ["that is empty", new Uint8Array(), /^no cpio archive$/],
    ["of three bytes", utf8("abc"), /^the archive ends inside a file$/],
    ["that ends inside a file", cpioArchive(INIT, APP).subarray(0, 130), /^the archive ends inside a file$/],
    [
      "with something else behind a file",
      Buffer.concat([cpioEntry(INIT), Buffer.from("x".repeat(200))]),
      /^what follows a file/,
    ],
    ["with a name of no bytes", Buffer.from(`070701${"0".repeat(104)}`), /^a name of 0 bytes$/],
    ["by zstd", Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4), /^compressed with zstd/],
    ["by xz", Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), /^compressed with xz/],
    ["by gzip that is cut off", gzipSync(cpioArchive(INIT)).subarray(0, 40), /^not unpacked: /],
    [
      "by gzip that is damaged",
      Buffer.concat([gzipSync(cpioArchive(INIT)).subarray(0, 20), Buffer.alloc(60, 7)]),
      /^not unpacked: /,
    ],
  ])("of one %s: it says why not", async (_name, bytes, why) => {
    const [, unlisted] = await listed(bytes);
    expect(unlisted).toMatch(why);
    expect((await measureImage(streamOf(image(bytes)))).sections).toHaveLength(4);
  });

  it("have names that are no text by their bytes", async () => {
    const bytes = cpioEntry({ name: "a\xff", data: "x" });
    expect((await listed(Buffer.concat([bytes, cpioArchive()])))[0].map(({ name }) => name)).toEqual(["hex:61ff"]);
  });
});

async function compared(before: Uint8Array, after: Uint8Array): Promise<ImageDifference> {
  return compareImages(await readImageContents(streamOf(before)), await readImageContents(streamOf(after)));
}

const differing = ({ sections }: ImageDifference): string[] =>
  sections.filter(({ same }) => !same).map(({ section }) => section);
const changedPcrs = ({ pcrs }: ImageDifference): string[] => Object.keys(pcrs).filter((index) => !pcrs[index]!.same);

describe("two builds", () => {
  it.each<[string, Partial<Record<"kernel" | "cmdline" | "metadata", string>>, string[], string[]]>([
    ["in the kernel", { kernel: "another kernel" }, ["kernel"], ["0", "1"]],
    ["in the command line", { cmdline: "panic=1" }, ["command line"], ["0", "1"]],
    ["in metadata alone, which changes no PCR", { metadata: '{"BuildTime":"later"}' }, ["metadata"], []],
  ])("that differ %s", async (_name, { kernel, cmdline, metadata }, sections, pcrs) => {
    const own = (part: SectionParts, data: string | undefined): SectionParts =>
      data === undefined ? part : { ...part, data: utf8(data) };
    const disks = [cpioArchive(INIT), cpioArchive(APP)].map(ramdiskOf);
    const parts = [own(KERNEL, kernel), own(CMDLINE, cmdline), own(METADATA, metadata), ...disks];
    const found = await compared(image(cpioArchive(INIT), cpioArchive(APP)), imageOf({ sections: parts }));
    expect([differing(found), changedPcrs(found)]).toEqual([sections, pcrs]);
  });

  it("that differ in files of the application: by content, mode and time, and by files of one alone", async () => {
    const other: ArchivedFile = { ...APP, data: "application 2", mode: 0o100755, modified: 1 };
    const before = image(cpioArchive(INIT), gzipSync(cpioArchive(APP, LINK)));
    const found = await compared(before, image(cpioArchive(INIT), gzipSync(cpioArchive(other, { name: "new" }))));
    expect([differing(found), changedPcrs(found)]).toEqual([["ramdisk 2"], ["0", "2"]]);
    const { files } = found.sections.find(({ section }) => section === "ramdisk 2")!;
    expect(files!.changed).toMatchObject([{ name: "app", differs: ["content", "size", "mode", "time"] }]);
    expect([files!.added, files!.removed].map((list) => list.map(({ name }) => name))).toEqual([["new"], ["bin"]]);
    expect(files!.onlyPacked).toBe(false);
  });

  it("that differ in the order of their files alone say so", async () => {
    const found = await compared(
      image(cpioArchive(INIT), cpioArchive(APP, LINK)),
      image(cpioArchive(INIT), cpioArchive(LINK, APP)),
    );
    expect(found.sections.find(({ section }) => section === "ramdisk 2")!.files!.onlyPacked).toBe(true);
  });

  it("of which one has no second ramdisk", async () => {
    const found = await compared(image(cpioArchive(INIT), cpioArchive(APP)), image(cpioArchive(INIT)));
    const [gone] = found.sections.filter(({ same }) => !same);
    expect([gone!.section, gone!.after]).toEqual(["ramdisk 2", null]);
    expect(gone!.files!.removed.map(({ name }) => name)).toEqual(["app"]);
  });
});

describe("an image that is unusual, and no fault", () => {
  const signer = newSigner("P-384");

  it("was signed again by the vendor's tool, which keeps the old size in the table", async () => {
    const sections = signed(signer).map((section) =>
      section.type === TYPE.signature ? { ...section, tableSize: BigInt(section.data.length - 4) } : section,
    );
    const { notes, pcrs } = await measureImage(streamOf(imageOf({ sections })));
    expect(notes).toEqual([expect.stringContaining("signed again")]);
    expect(Object.keys(pcrs)).toEqual(["0", "1", "2", "8"]);
  });

  it.each([0x240, 0x241])("has flags 0x%s, which its builder counts into PCR0: that is not computed", async (flags) => {
    const { notes, pcrs } = await measureImage(streamOf(imageOf({ sections: signed(signer), flags })));
    expect(notes).toEqual([expect.stringContaining(`flags 0x${flags.toString(16)} (PCIe)`)]);
    expect(Object.keys(pcrs)).toEqual(["1", "2", "8"]);
  });

  it.each([0x40, 0x200, 0x340])("but not with flags 0x%s", async (flags) => {
    await expect(measureImage(streamOf(imageOf({ sections: [KERNEL, CMDLINE, METADATA], flags })))).rejects.toThrow(
      /bits without a meaning/,
    );
  });

  it("differs in PCR0 from any other, since it is not known to be equal", async () => {
    const plain = imageOf({ sections: [KERNEL, CMDLINE, METADATA] });
    const found = await compared(plain, imageOf({ sections: [KERNEL, CMDLINE, METADATA], flags: 0x240 }));
    expect([found.same, changedPcrs(found)]).toEqual([false, ["0"]]);
  });
});

it("reads an image of many files with bounded memory", async () => {
  const many = Array.from({ length: 2000 }, (_, index): ArchivedFile => ({
    name: `file-${index}`,
    data: "x".repeat(999),
  }));
  const [files, unlisted] = await listed(gzipSync(cpioArchive(...many)), 65_536);
  expect([files.length, unlisted]).toEqual([2000, null]);
  expect(join(utf8(files[1999]!.name))).toEqual(utf8("file-1999"));
});
