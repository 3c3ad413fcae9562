/** The folder of a lab: which folders it accepts, and that it replaces only its own files. */
import { existsSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { LabFolderError, startLab, writeLabFiles } from "../../src/lab/index.js";
import { bootproof } from "../cli/support.js";
import { testFolders } from "../support/folder.js";
import { LabProcess } from "./child.js";

const lab = await startLab();
afterAll(() => lab.close());

const empty = testFolders();
function folder(files: Readonly<Record<string, string>> = {}): string {
  const made = empty();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  return made;
}

/** Every file, whole. */
function contents(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), "latin1")]),
  );
}

const WRITTEN = [
  "app.json",
  "lab-api-key.json",
  "lab-child-api-key.json",
  "lab-folder.json",
  "lab-operator-api-key.json",
  "lab-policy-signers.json",
  "lab-policy.json",
  "lab-trust-anchor.pem",
  "lab.json",
  "operators.json",
  "releases",
];

describe("a lab's files", () => {
  it("are written into an empty or new folder, and replaced later", async () => {
    for (const path of [folder(), join(folder(), "not", "there")]) {
      await writeLabFiles(lab, path);
      expect(readdirSync(path).sort()).toEqual(WRITTEN);
      expect(statSync(join(path, "lab-api-key.json")).mode & 0o777).toBe(0o600);
      const before = contents(path);
      await writeLabFiles(lab, path);
      expect(contents(path)).toEqual(before);
    }
  });

  const PRODUCTION = { "policy.json": '{"mine": 1}', "trust-anchor.pem": "mine", "api-key.json": "mine" };
  const OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "a production's": PRODUCTION,
    "one of names that a lab uses": { "lab.json": "{}", "lab-policy.json": "{}" },
    "one hidden file": { ".env": "SECRET=1" },
    "a marker of somebody else": { "lab-folder.json": "{}" },
    "a marker that is not JSON": { "lab-folder.json": "" },
    "a marker of other digests": { "lab-folder.json": '{"format":"bootproof-lab-folder/1","files":{"lab.json":"x"}}' },
  };

  it.each(Object.entries(OTHERS))("are not written into a folder that is not a lab's: %s", async (_, files) => {
    const path = folder(files);
    const before = contents(path);
    await expect(writeLabFiles(lab, path)).rejects.toThrow(LabFolderError);
    await expect(startLab({ dataFolder: path })).rejects.toThrow(LabFolderError);
    const { code, stdout, stderr } = await bootproof(["lab", "--data", path]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^bootproof: --data .*nothing was written\. .*Give a.*\n$/);
    expect(contents(path)).toEqual(before);
    expect(readdirSync(path).sort()).toEqual(Object.keys(files).sort());
  });

  it.each(["lab-policy.json", "lab-trust-anchor.pem", "lab-api-key.json", "lab.json"])(
    "replace no %s of another program, and then nothing at all",
    async (name) => {
      for (const change of [
        (path: string): void => writeFileSync(path, "mine"),
        (path: string): void => {
          const elsewhere = join(folder({ mine: readFileSync(path, "utf8") }), "mine");
          rmSync(path);
          symlinkSync(elsewhere, path);
        },
      ]) {
        const path = folder();
        await writeLabFiles(lab, path);
        rmSync(join(path, "lab-operator-api-key.json"));
        change(join(path, name));
        const before = contents(path);
        await expect(writeLabFiles(lab, path)).rejects.toThrow(`${name} is not as a lab wrote it, and was not changed`);
        expect(contents(path)).toEqual(before);
        expect(existsSync(join(path, "lab-operator-api-key.json"))).toBe(false);
      }
    },
  );

  it("leave other files in the folder", async () => {
    const path = folder();
    await writeLabFiles(lab, path);
    for (const name of ["policy.json", "lab-boot.json"]) writeFileSync(join(path, name), "mine");
    await writeLabFiles(lab, path);
    for (const name of ["policy.json", "lab-boot.json"]) expect(readFileSync(join(path, name), "utf8")).toBe("mine");
  });
});

describe("a lab with a folder", () => {
  it("starts there again, also after it was killed, or after a kill between two files", async () => {
    const path = folder();
    const first = new LabProcess("--data", path);
    await first.listening();
    await first.end("SIGKILL");
    const second = new LabProcess("--data", path);
    await second.listening();
    expect(await second.end("SIGTERM")).toMatchObject({ code: 0, stderr: "" });
    for (const name of ["lab.json", "lab-policy.json"]) rmSync(join(path, name));
    await (await startLab({ dataFolder: path })).close();
  });

  it("ends without an error if one of its files was changed", async () => {
    const path = folder();
    await (await startLab({ dataFolder: path })).close();
    writeFileSync(join(path, "lab-policy.json"), "mine");
    const { code, stdout, stderr } = await bootproof(["lab", "--data", path]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("lab-policy.json is not as a lab wrote it, and was not changed");
    expect(readFileSync(join(path, "lab-policy.json"), "utf8")).toBe("mine");
    // Its store is closed again.
    rmSync(join(path, "lab-policy.json"));
    await (await startLab({ dataFolder: path })).close();
  });
});
