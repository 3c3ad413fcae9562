/** The difference of two enclave images: the library, the text, and the command with files. */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { diffImages, renderDiff } from "../../src/diff/index.js";
import { readImageContents } from "../../src/image/index.js";
import { bootproof, fileOf, refused } from "../cli/support.js";
import {
  CMDLINE,
  KERNEL,
  METADATA,
  type SectionParts,
  cpioArchive,
  imageOf,
  ramdiskOf,
  streamOf,
} from "../support/images.js";

const [FIRST, SECOND] = ["first", "second"].map((name) =>
  fileURLToPath(new URL(`../../test-vectors/images/${name}.eif`, import.meta.url)),
) as [string, string];

const ramdisk = (...files: readonly (readonly [string, string])[]): SectionParts =>
  ramdiskOf(gzipSync(cpioArchive(...files.map(([name, data]) => ({ name, data })))));
const INIT = ramdisk(["init", "#!init"]);
const image = (...parts: readonly SectionParts[]): Buffer =>
  imageOf({ sections: [KERNEL, CMDLINE, METADATA, ...parts] });
const read = (bytes: Uint8Array): ReturnType<typeof readImageContents> => readImageContents(streamOf(bytes));

describe("diffImages", () => {
  it("lists what differs, with the files of the application, and the PCRs that follow", async () => {
    const before = await read(image(INIT, ramdisk(["app", "1"], ["old", ""])));
    const found = diffImages(before, await read(image(INIT, ramdisk(["app", "2"], ["new", ""]))));
    expect(found.same).toBe(false);
    expect(found.changes.map(({ what, entry: name, place }) => [what, name, place])).toEqual([
      ["image.pcr0", "", "PCR0"],
      ["image.pcr2", "", "PCR2"],
      ["image.ramdisk", "", "ramdisk 2"],
      ["image.file", "app", "ramdisk 2"],
      ["image.file", "old", "ramdisk 2"],
      ["image.file", "new", "ramdisk 2"],
    ]);
    const text = renderDiff(found);
    expect(text).toMatch(/DIFFERS +ramdisk 2 \(.*\): the application and its files/);
    expect(text).toMatch(/PCRs that change +PCR0, PCR2\n/);
    expect(text).toMatch(/PCRs that do not +PCR1\n/);
    expect(Object.isFrozen(found.image!.sections)).toBe(true);
  });
});

describe("bootproof diff", () => {
  it("says which ramdisk of two builds differs", async () => {
    const { code, stdout, stderr } = await bootproof(["diff", FIRST, SECOND]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/DIFFERS +first ramdisk \(240 bytes and 241 bytes\): init and drivers/);
    expect(stdout).toMatch(/same +kernel .*\n/);
    expect(stdout).toMatch(/PCRs that change +PCR0, PCR1\n/);
    expect(stdout).toMatch(/PCRs that do not +PCR2\n/);
  });

  it("gives the same as JSON, and 0 for the same image", async () => {
    const json = JSON.parse((await bootproof(["diff", FIRST, SECOND, "--format", "json"])).stdout) as {
      readonly image: { readonly pcrs: Readonly<Record<string, { readonly same: boolean }>> };
    };
    expect(Object.entries(json.image.pcrs).map(([index, { same }]) => [index, same])).toEqual([
      ["0", false],
      ["1", false],
      ["2", true],
    ]);
    expect((await bootproof(["diff", FIRST, FIRST])).code).toBe(0);
  });

  it("refuses an image beside another file, and one that is damaged", async () => {
    const damaged = fileOf(image(INIT).subarray(0, 700), "damaged.eif");
    await refused(2, bootproof(["diff", FIRST, damaged]), "damaged.eif");
    await refused(2, bootproof(["diff", FIRST, fileOf({ policy: "bootproof/1" })]), "enclave image");
  });
});

it("bootproof measure has the digest of each section as JSON", async () => {
  const { stdout } = await bootproof(["measure", FIRST, "--format", "json"]);
  expect(stdout.match(/"sha384": "[0-9a-f]{96}"/g)).toHaveLength(5);
});
