/** A temporary folder for the tests of one file, removed after them. */
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function testFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "bootproof-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns a function that makes empty folders, removed after the tests of the file. */
export function testFolders(): () => string {
  const parent = testFolder();
  return () => mkdtempSync(join(parent, "folder-"));
}

const MEMORY = "/dev/shm";

/** A folder in memory where there is one, for tests that sync thousands of times. */
export function fastTestFolder(): string {
  try {
    accessSync(MEMORY, constants.W_OK);
    return testFolder(MEMORY);
  } catch {
    return testFolder();
  }
}
