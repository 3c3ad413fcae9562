/** How the command is named in examples to paste, by how it was started. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { programName, withoutPrompts } from "../../src/cli/program-name.js";

const base = realpathSync(mkdtempSync(join(tmpdir(), "bootproof-started-")));

function fileAt(path: string, mode = 0o644): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "");
  chmodSync(path, mode);
  return path;
}

const npmBin = join(base, "project/node_modules/.bin");
const linked = fileAt(join(npmBin, "bootproof"), 0o755);
const shims = join(base, "shims");
fileAt(join(shims, "bootproof"), 0o755);
const plain = fileAt(join(base, "clone/dist/bin/bootproof.cjs"));
const cached = fileAt(join(base, "_npx/node_modules/.bin/bootproof"), 0o755);
const spaced = fileAt(join(base, "it's here/bootproof"), 0o755);

describe("an example begins with", () => {
  it.each([
    ["the name where the PATH has it", plain, `${base}${delimiter}${shims}`, "bootproof"],
    ["the file where only npm's folder has it, which other terminals lack", linked, npmBin, linked],
    ["the file that npx keeps, and never npx", cached, "", cached],
    ["node and the file where it cannot be executed", plain, "", `node ${plain}`],
    ["the file as a shell takes it", spaced, "", `'${base}/it'\\''s here/bootproof'`],
  ])("%s", (_, script, PATH, expected) => {
    expect(programName({ env: { PATH, npm_command: "exec" }, started: { script } })).toBe(expected);
  });

  it("the name where no file was started", () => {
    expect(programName({ env: { npm_command: "exec" } })).toBe("bootproof");
  });
});

it("prompts are removed at the beginning of commands only", () => {
  expect(withoutPrompts("a $ b:\n  $ cd x\n    --y $ z\n$ w")).toBe("a $ b:\n  cd x\n    --y $ z\nw");
});
