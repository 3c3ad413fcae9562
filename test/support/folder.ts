/** A temporary folder for the tests of one file, removed after them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
