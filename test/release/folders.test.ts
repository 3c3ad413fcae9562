/** Folders of releases on a disk. */
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ReleaseFolderError, readReleaseFolder, releaseFilesIn } from "../../src/release/node.js";

const ROOT = mkdtempSync(join(tmpdir(), "bootproof-folders-"));
afterAll(() => rmSync(ROOT, { recursive: true, force: true }));

/** Files by path; a path that ends with `/` is a folder, a value that begins with `->` a link. */
function folderOf(files: Readonly<Record<string, string | Uint8Array>>, name = ""): string {
  const root = join(mkdtempSync(join(ROOT, "f")), name);
  mkdirSync(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    const whole = join(root, path);
    mkdirSync(path.endsWith("/") ? whole : join(whole, ".."), { recursive: true });
    if (typeof content === "string" && content.startsWith("->")) symlinkSync(content.slice(2), whole);
    else if (!path.endsWith("/")) writeFileSync(whole, content);
  }
  return root;
}

/** The names of the releases, and what was not read. */
async function read(root: string) {
  const { releases, unread } = await readReleaseFolder(root);
  return [releases.map(({ name }) => name), unread.map((path) => path.slice(root.length + 1))];
}

async function refusal(root: string): Promise<[file: string, reason: string]> {
  try {
    await readReleaseFolder(root);
  } catch (error) {
    if (!(error instanceof ReleaseFolderError)) throw error;
    expect([error.name, error.message]).toEqual(["ReleaseFolderError", `${error.file}: ${error.reason}`]);
    return [error.file.slice(root.length), error.reason];
  }
  throw new Error("not refused");
}

describe("the releases in a folder", () => {
  it("are those of its versions and applications, by name; the rest is named as unread", async () => {
    const root = folderOf({
      "2026.1.0/b/manifest": "",
      "2026.1.0/a/x.approval": "",
      "2026.1.0/a/notes.txt": "",
      "2026.1.0/notes.txt": "",
      "2026.1.0/empty/": "",
      "other/x/manifest": "",
      "app/manifest.json": "",
      "notes/manifest.bak": "",
      "notes/amanifest": "",
      "notes/x.approvals": "",
      "notes/manifest.json5": "",
      "notes/manifestxjson": "",
      "notes/1.manifest.json": "",
      "README.md": "",
    });
    const names = ["2026.1.0/a", "2026.1.0/b", "2026.1.0/empty", "app"];
    expect(await read(root)).toEqual([
      names,
      ["2026.1.0/notes.txt", "README.md", "notes", "other", "2026.1.0/a/notes.txt"],
    ]);
  });

  it("are in order of their names, whatever order the disk has", async () => {
    const names = [..."qazwsxedcrfv"];
    const root = folderOf(Object.fromEntries(names.map((name) => [`2026.1.0/${name}/manifest`, ""])));
    expect(await read(root)).toEqual([names.sort().map((name) => `2026.1.0/${name}`), []]);
    const files = folderOf({ "9/": "", ...Object.fromEntries(names.map((name) => [`app/${name}.approval`, ""])) });
    expect(releaseFilesIn(files).map(([path]) => basename(path))).toEqual(names.map((name) => `${name}.approval`));
  });

  it("is one application's with a file of a release, unless its name is a version", async () => {
    for (const file of ["manifest", "manifest.json", "x.approval"]) {
      expect(await read(folderOf({ [file]: "", "sub/": "" }, "signer"))).toEqual([["signer"], ["sub"]]);
      expect(await read(folderOf({ [file]: "", "sub/": "" }, "2026.1.0/signer"))).toEqual([
        ["2026.1.0/signer"],
        ["sub"],
      ]);
      for (const version of ["2026.1.0", "r2026.1.0", "v1.2.3"])
        expect(await read(folderOf({ [file]: "", "sub/": "" }, version))).toEqual([[`${version}/sub`], [file]]);
      for (const name of ["x2026.1.0", "2026.1.0.0", "2026.1", "2026.1.0-rc"])
        expect(await read(folderOf({ [file]: "" }, name))).toEqual([[name], []]);
    }
  });

  it("are of the inner version where a version is in a version", async () => {
    const root = folderOf({ "2026.1.0/2026.2.0/signer/manifest": "", "2026.1.0/2026.2.0/x": "" });
    expect(await read(root)).toEqual([["2026.2.0/signer"], ["2026.1.0/2026.2.0/x"]]);
    expect(await refusal(folderOf({ "2026.1.0/2026.2.0/": "" }))).toEqual([
      "/2026.1.0/2026.2.0",
      "the version has no folder of an application",
    ]);
  });

  it("have a folder with the name of a file of a release as a folder", async () => {
    expect(await read(folderOf({ "2026.1.0/manifest/x.approval": "" }))).toEqual([["2026.1.0/manifest"], []]);
    expect(await refusal(folderOf({ "app/x/": "", "app/manifest/": "" }))).toEqual(["", NO_RELEASE]);
  });

  it("are files with their paths and bytes for whoever shows them", () => {
    const root = folderOf({ "a/manifest": "12", "a/notes": "", "a/x.approval": new Uint8Array([0, 255]) });
    expect(releaseFilesIn(root).map(([path, bytes]) => [path.slice(root.length + 1), [...bytes]])).toEqual([
      ["a/manifest", [0x31, 0x32]],
      ["a/x.approval", [0, 255]],
    ]);
  });
});

const NO_RELEASE = "no release in it: expected a folder with `manifest` and approvals, or a folder of such folders";
const LINK = "is a symbolic link, which is not followed";
const MIB = 1024 * 1024;

describe("a folder is refused", () => {
  it.each<[string, () => string, string, string]>([
    ["with no release", () => folderOf({ "x/y": "" }), "", NO_RELEASE],
    ["that is not there", () => join(ROOT, "nowhere"), "", "there is no such file or folder"],
    ["that is a link", () => join(folderOf({ link: "->." }), "link"), "", LINK],
    ["that is a file", () => join(folderOf({ file: "" }), "file"), "", "is not a folder of releases"],
    ["with a link to a folder", () => folderOf({ "a/manifest": "", b: `->${ROOT}` }), "/b", LINK],
    ["with a link in a release", () => folderOf({ "a/manifest": "->/dev/null" }), "/a/manifest", LINK],
    ["with a link among unread files", () => folderOf({ "a/manifest": "", "a/x": "->." }), "/a/x", LINK],
    [
      "with a folder in the place of a file",
      () => folderOf({ "a/manifest": "", "a/x.approval/": "" }),
      "/a/x.approval",
      "is not a regular file",
    ],
    [
      "with an empty version",
      () => folderOf({ "2026.1.0/": "" }),
      "/2026.1.0",
      "the version has no folder of an application",
    ],
    [
      "with a file above 1 MiB",
      () => folderOf({ "a/manifest": new Uint8Array(MIB + 1) }),
      "/a/manifest",
      "larger than 1 MiB, the most that is read",
    ],
  ])("%s", async (_, make, file, reason) => {
    expect(await refusal(make())).toEqual([file, reason]);
  });

  it("with a socket or a pipe, before it is opened", async () => {
    const root = folderOf({ "a/manifest": "" });
    const { createServer } = await import("node:net");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "a", "s"), resolve));
    expect(await refusal(root)).toEqual(["/a/s", "is not a regular file"]);
    await new Promise((resolve) => server.close(resolve));
  });

  it("with more than 10,000 files in all, and not with 10,000", async () => {
    const root = folderOf({ "a/manifest": "" });
    for (let index = 0; index < 9_998; index++) linkSync(join(root, "a", "manifest"), join(root, "a", `${index}`));
    expect((await read(root))[0]).toEqual(["a"]);
    writeFileSync(join(root, "b"), "");
    expect(await refusal(root)).toEqual(["/a", "more than 10000 files in all"]);
  });
});

describe.skipIf(process.platform === "win32")("a file that is replaced after it was listed", () => {
  /** The first release is read before the files of the second one are. */
  const replaced = async (replace: (path: string) => void): Promise<string> => {
    const root = folderOf({ "a/manifest": "", "b/manifest": "" });
    const reading = refusal(root);
    rmSync(join(root, "b/manifest"));
    replace(join(root, "b/manifest"));
    const [file, reason] = await reading;
    expect(file).toBe("/b/manifest");
    return reason;
  };

  it("by a link is refused", async () => {
    expect(await replaced((path) => symlinkSync("/dev/null", path))).toBe("a loop of links");
  });

  it("by a folder or a pipe is refused, and no writer is waited for", async () => {
    expect(await replaced((path) => mkdirSync(path))).toBe("is not a regular file");
    expect(await replaced((path) => execFileSync("mkfifo", [path]))).toBe("is not a regular file");
  });

  it.skipIf(!existsSync("/proc/self/fd"))("leaves no file open", () => {
    const root = folderOf({ "a/manifest": "" });
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    for (let index = 0; index < 50; index++) releaseFilesIn(root);
    expect(open() - before).toBeLessThan(25);
  });
});

it("a file of 1 MiB is read whole, and an empty one", () => {
  const bytes = new Uint8Array(MIB).fill(7);
  const root = folderOf({ "a/manifest": bytes, "a/x.approval": "" });
  const [[, whole], [, empty]] = releaseFilesIn(root) as [[string, Uint8Array], [string, Uint8Array]];
  expect([Buffer.from(whole).equals(bytes), empty.length]).toEqual([true, 0]);
});
