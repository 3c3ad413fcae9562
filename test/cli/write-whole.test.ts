import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isSameFile, requireWritable, writeFolder, writeWhole } from "../../src/cli/write-whole.js";

const {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} = fs;

function folder(): string {
  return mkdtempSync(join(tmpdir(), "bootproof-write-"));
}

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

describe("writing a file whole", () => {
  it("makes it with the rights that the process gives, and leaves nothing beside it", async () => {
    const at = folder();
    await writeWhole(join(at, "new.json"), "new");
    expect([readFileSync(join(at, "new.json"), "utf8"), readdirSync(at)]).toEqual(["new", ["new.json"]]);
    expect(modeOf(join(at, "new.json"))).toBe(0o666 & ~process.umask());
  });

  it("keeps the rights of the file that it replaces, whatever the process gives", async () => {
    const path = join(folder(), "file");
    writeFileSync(path, "old");
    for (const mode of [0o600, 0o664, 0o666]) {
      chmodSync(path, mode);
      await writeWhole(path, "new");
      expect(modeOf(path)).toBe(mode);
    }
  });

  it("replaces the file and does not write into it: who reads the old one reads it to its end", async () => {
    const at = folder();
    writeFileSync(join(at, "file"), "old");
    linkSync(join(at, "file"), join(at, "other name"));
    await writeWhole(join(at, "file"), "new");
    expect(readFileSync(join(at, "other name"), "utf8")).toBe("old");
  });

  it("follows links, which stay: to a file, over several, relative ones, to nothing yet", async () => {
    const at = folder();
    mkdirSync(join(at, "real"));
    mkdirSync(join(at, "links"));
    writeFileSync(join(at, "real/file"), "old");
    symlinkSync("../real/file", join(at, "links/one"));
    symlinkSync("one", join(at, "links/two"));
    symlinkSync("../real/not yet", join(at, "links/dangling"));
    symlinkSync("real", join(at, "folder"));
    for (const [path, target] of [
      ["links/two", "real/file"],
      ["links/dangling", "real/not yet"],
      ["folder/file", "real/file"],
    ] as const) {
      await writeWhole(join(at, path), path);
      expect(readFileSync(join(at, target), "utf8")).toBe(path);
    }
    expect(["one", "two", "dangling"].map((name) => readlinkSync(join(at, "links", name)))).toEqual([
      "../real/file",
      "one",
      "../real/not yet",
    ]);
    expect(readdirSync(join(at, "real")).sort()).toEqual(["file", "not yet"]);
  });

  it.each([
    ["a directory", (at: string) => at, "a directory, not a file"],
    ["a device", () => "/dev/null", "a device or pipe, not a file"],
    ["a folder that is not there", (at: string) => join(at, "none/file"), "there is no such folder"],
    ["a folder that is a file", (at: string) => join(at, "file/file"), "there is no such folder"],
    ["a name that ends in /", (at: string) => join(at, "none/"), "expected the name of a file"],
    ["no name", () => "", "expected the name of a file"],
    ["a loop of links", (at: string) => join(at, "circle"), "a loop of links"],
    ["a pipe", (at: string) => join(at, "pipe"), "a device or pipe, not a file"],
  ])("refuses %s", async (_, path, says) => {
    const at = folder();
    writeFileSync(join(at, "file"), "old");
    symlinkSync("circle", join(at, "circle"));
    execFileSync("mkfifo", [join(at, "pipe")]);
    const before = readdirSync(at);
    await expect(writeWhole(path(at), "new")).rejects.toThrow(says);
    expect(() => requireWritable(path(at))).toThrow(says);
    expect([readdirSync(at), readFileSync(join(at, "file"), "utf8")]).toEqual([before, "old"]);
  });

  it("tells whether there is a file", () => {
    const at = folder();
    expect(requireWritable(join(at, "file"))).toBe(false);
    writeFileSync(join(at, "file"), "");
    expect(requireWritable(join(at, "file"))).toBe(true);
  });

  it("does not write over what somebody else wrote meanwhile", async () => {
    const at = folder();
    const path = join(at, "file");
    writeFileSync(path, "theirs");
    await expect(writeWhole(path, "new", Buffer.from("read before"))).rejects.toThrow(
      `${path}: not written, and left as it was: was changed meanwhile`,
    );
    expect([readFileSync(path, "utf8"), readdirSync(at)]).toEqual(["theirs", ["file"]]);
    await writeWhole(path, "new", Buffer.from("theirs"));
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  it("knows a file by another path", () => {
    const at = folder();
    writeFileSync(join(at, "file"), "");
    symlinkSync("file", join(at, "link"));
    expect(isSameFile(join(at, "file"), join(at, "link"))).toBe(true);
    writeFileSync(join(at, "other"), "");
    expect(isSameFile(join(at, "file"), join(at, "other"))).toBe(false);
    expect(isSameFile(join(at, "none"), join(at, "none"))).toBe(false);
  });
});

describe("writing a folder whole", () => {
  it("makes it with its files, also over an empty one and through a link", async () => {
    const at = folder();
    mkdirSync(join(at, "empty"));
    symlinkSync("empty", join(at, "link"));
    for (const name of ["new", "empty/", "link"]) {
      if (name === "link") fs.rmSync(join(at, "empty/a.json"));
      await writeFolder(join(at, name), { "a.json": name });
      expect(readFileSync(join(at, name, "a.json"), "utf8")).toBe(name);
      expect(await writeFolder(join(at, name), { "a.json": name })).toBe("Unchanged");
      await expect(writeFolder(join(at, name), { "a.json": "" })).rejects.toThrow("the folder has other files");
    }
    expect([readdirSync(at).sort(), modeOf(join(at, "new"))]).toEqual([
      ["empty", "link", "new"],
      0o777 & ~process.umask(),
    ]);
  });

  it.each([
    ["a folder with a file", (at: string) => at, "the folder has other files: name a new one"],
    ["a file", (at: string) => join(at, "file"), "a file, not a folder"],
    ["a folder that cannot be made", (at: string) => join(at, "none/folder"), "there is no such folder"],
    ["a name that is no name", (at: string) => join(at, "x".repeat(300)), "not written: "],
  ])("refuses %s", async (_, path, says) => {
    const at = folder();
    writeFileSync(join(at, "file"), "old");
    await expect(writeFolder(path(at), { a: "" })).rejects.toThrow(says);
    expect([readdirSync(at), readFileSync(join(at, "file"), "utf8")]).toEqual([["file"], "old"]);
  });

  it("refuses the current folder, which a shell would then be without", async () => {
    const [at, before] = [folder(), process.cwd()];
    process.chdir(at);
    try {
      await expect(writeFolder(".", { a: "" })).rejects.toThrow("the current folder would be replaced");
    } finally {
      process.chdir(before);
    }
  });

  it("leaves nothing where one of its files cannot be written", async () => {
    const at = folder();
    await expect(writeFolder(join(at, "new"), { a: "", "no/such": "" })).rejects.toThrow(
      `${join(at, "new")}: not written`,
    );
    expect(readdirSync(at)).toEqual([]);
  });
});
