/** The step summary of `--format github`. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { APP_1, type Answer, BOOT_1, bootproof, fileOf } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-summary-"));
const PIECES = ["--boot-proof", BOOT_1, "--app-proof", APP_1];
const verify = (path: string, ...rest: string[]): Promise<Answer> =>
  bootproof(["verify", ...PIECES, ...rest], { env: { GITHUB_STEP_SUMMARY: path } });
const github = (path: string, ...rest: string[]): Promise<Answer> =>
  verify(path, "--no-policy", "--format", "github", ...rest);

it("is the Markdown, behind what is there, of a rejection too, and of no other format", async () => {
  const path = fileOf("# Another command's\n", "summary.txt");
  const stale = fileOf({
    ...(JSON.parse((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout) as object),
    maxAge: "1h",
  });
  const args = ["--policy", stale, "--format"];
  const { code, stdout } = await verify(path, ...args, "github");
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^::error title=bootproof::REJECTED, STALE/)]);
  const markdown = await verify(path, ...args, "markdown");
  expect(readFileSync(path, "utf8")).toBe(`# Another command's\n\n${markdown.stdout}`);
});

it("that cannot be written is a warning: the verdict stands", async () => {
  const { code, stdout, stderr } = await github(folder);
  expect([code, stdout.slice(0, 8)]).toEqual([0, "::notice"]);
  expect(stderr).toMatch(/^warning: no step summary was written to .*: EISDIR/);
});

it("that would be longer than GitHub shows is left as it was", async () => {
  const path = join(folder, "full");
  writeFileSync(path, "x".repeat(1024 * 1024 - 100));
  const { code, stderr } = await github(path);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^warning: no step summary was written to .*full: it would be longer than 1 MiB\nAUTHENTIC: /);
  expect(readFileSync(path, "utf8")).toHaveLength(1024 * 1024 - 100);
});

it("is written with --quiet, too, and begins a file that is not there", async () => {
  const path = join(folder, "new");
  expect(await github(path, "--quiet")).toMatchObject({ stdout: expect.stringMatching(/^::notice/), stderr: "" });
  expect(readFileSync(path, "utf8")).toMatch(/^## AUTHENTIC\n/);
});
