/** `npm start` in a clone: what it builds, when, and what it shows (README.md). */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ROOT, trackedFiles } from "./tracked.mjs";

// A path of many characters, with a space in it.
const clone = join(mkdtempSync(join(tmpdir(), "bootproof-start-")), "a clone in a folder of a long name");
for (const file of trackedFiles().filter((name) => /^(?:src|bin|docs|test-vectors\/(?:boot|PROV)|\w)/.test(name)))
  if (!/^test\/|^test-vectors\/(?!boot-proofs|PROV)/.test(file)) cpSync(join(ROOT, file), join(clone, file));
afterAll(() => rmSync(join(clone, ".."), { recursive: true }));

const command = join(clone, "dist", "bin", "bootproof.cjs");
const { start } = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } })
  .scripts;
const startIn = (cwd: string) => spawnSync(process.execPath, start.split(" ").slice(1), { cwd, encoding: "utf8" });

it("says that the packages are missing", () => {
  const { status, stderr } = startIn(clone);
  expect([status, stderr]).toEqual([2, "The packages are missing: run npm ci first.\n"]);
});

it("builds the command alone, verifies genuine evidence, refuses the changed byte, and says what is next", () => {
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
  const { status, stdout } = startIn(clone);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^VERIFIED [^]*^REJECTED: [^]*app\.signature[^]*^Next:\n/m);
  const built = execFileSync("ls", [join(clone, "dist")], { encoding: "utf8" });
  expect(built).toBe("bin\n");
});

it("builds again only if a source is newer than the command", () => {
  const time = (): number => statSync(command).mtimeMs;
  const before = time();
  expect(startIn(clone).status).toBe(0);
  expect(time()).toBe(before);
  const later = new Date(before + 1000);
  utimesSync(join(clone, "src/cli/demo.ts"), later, later);
  expect(startIn(clone).status).toBe(0);
  expect(time()).toBeGreaterThan(before);
});
