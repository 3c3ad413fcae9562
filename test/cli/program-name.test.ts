/** How an example is typed, by how the command was started. */
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { programName } from "../../src/cli/program-name.js";

const base = realpathSync(mkdtempSync(join(tmpdir(), "bootproof-started-")));

function fileAt(path: string, text = ""): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A package in node_modules of the folder, with its link in .bin; answers the file. */
function installedIn(folder: string): string {
  const script = fileAt(join(folder, "node_modules/bootproof/dist/bin/bootproof.cjs"));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(script, join(folder, "node_modules/.bin/bootproof"));
  return script;
}

const project = join(base, "project");
const inProject = installedIn(project);
mkdirSync(join(project, "sub"));
const clone = join(base, "clone");
const inClone = fileAt(join(clone, "dist/bin/bootproof.cjs"));
fileAt(join(clone, "package.json"), '{"name": "bootproof"}');
const shims = join(base, "shims");
fileAt(join(shims, "bootproof"));
const npmBin = join(project, "node_modules", ".bin");
const elsewhere = join(base, "elsewhere");
mkdirSync(elsewhere);

function cached(packages: unknown): string {
  const root = mkdtempSync(join(base, "npx-"));
  fileAt(join(root, "package.json"), JSON.stringify({ _npx: { packages } }));
  return installedIn(root);
}

const spaced = fileAt(join(base, "with a space/bootproof.cjs"));
const exec = "exec";

describe("an example begins with", () => {
  const ofTarball = cached([join(base, "bootproof-0.1.0.tgz")]);
  const ofTwo = cached(["bootproof", "other"]);
  it.each([
    ["the name where the PATH has it", inClone, elsewhere, `${elsewhere}${delimiter}${shims}`, "bootproof"],
    ["npx in a project that has it", inProject, project, npmBin, "npx bootproof"],
    ["npx through the link of npm", join(npmBin, "bootproof"), project, "", "npx bootproof"],
    ["npx in a folder of such a project", inProject, join(project, "sub"), "", "npx bootproof"],
    ["npx in the package's own folder", inClone, clone, "", "npx bootproof"],
    ["the file where npx would find another one", inClone, project, "", `node ${inClone}`],
    ["the file where npx would find none", inProject, elsewhere, "", `node ${inProject}`],
    ["npx and what it was told", cached(["bootproof"]), elsewhere, "", "npx bootproof"],
    ["npx and the version that it was told", cached(["bootproof@0.1.0"]), elsewhere, "", "npx bootproof@0.1.0"],
    ["the file of another source", ofTarball, elsewhere, "", `node ${ofTarball}`],
    ["the file beside other packages", ofTwo, elsewhere, "", `node ${ofTwo}`],
    ["the file as a shell takes it", spaced, elsewhere, "", `node '${spaced}'`],
  ])("%s", (_, script, folder, PATH, expected) => {
    expect(programName({ env: { PATH, npm_command: exec }, started: { script, folder } })).toBe(expected);
  });

  it("what npm says where no file was started", () => {
    expect([programName({ env: {} }), programName({ env: { npm_command: exec } })]).toEqual([
      "bootproof",
      "npx bootproof",
    ]);
  });
});
