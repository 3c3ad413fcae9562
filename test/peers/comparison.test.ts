/** docs/comparison.md is what was measured, of the versions in the lock file; and its adapter in Python answers. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readBlocks } from "../support/documents.js";
import { fileOf } from "../cli/support.js";
import { ROOT } from "../tracked.mjs";
import { documentWith } from "./tables.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const jsonOf = (path: string): never => JSON.parse(readFileSync(join(HERE, path), "utf8")) as never;
const document = readFileSync(join(ROOT, "docs/comparison.md"), "utf8");
const results: {
  readonly peers: readonly {
    readonly name: string;
    readonly package: string | null;
    readonly version: string | null;
    readonly corpus: { readonly agreed: number; readonly falseAccepts: number; readonly falseRejects: number } | null;
  }[];
} = jsonOf("results.json");

it("the tables are those of the results", () => {
  expect(documentWith(document, results)).toBe(document);
});

it("the versions are those of the lock file", () => {
  const { packages }: { packages: Record<string, { version: string }> } = jsonOf("package-lock.json");
  for (const { package: name, version } of results.peers)
    if (name !== null) expect([name, version]).toEqual([name, packages[`node_modules/${name}`]!.version]);
});

it("this package agreed with every case when it was measured", () => {
  expect(results.peers[0]!.corpus).toMatchObject({ falseAccepts: 0, falseRejects: 0 });
});

const HAS_PYTHON = spawnSync("python3", ["--version"]).status === 0;

it.skipIf(!HAS_PYTHON)("the adapter in Python answers the runner (skipped without python3)", () => {
  const [block] = readBlocks("docs/comparison.md").filter(({ language }) => language === "python");
  const adapter = fileOf(block!.text, "adapter.py");
  // Two categories: one that it answers, and one that it does not support.
  const corpus = mkdtempSync(join(tmpdir(), "bootproof-corpus-"));
  for (const name of ["document.json", "activity.json"])
    cpSync(join(ROOT, "test-vectors/conformance", name), join(corpus, name));
  const run = ["test/conformance/run.mjs", "--corpus", corpus, "--", "python3", adapter];
  const { status, stdout, stderr } = spawnSync(process.execPath, run, { cwd: ROOT, encoding: "utf8" });
  expect(stderr).toBe("");
  // It refuses every document, and so also good ones.
  expect(status).toBe(1);
  expect(stdout).toMatch(/^document +\d+ +\d+ +0 +[1-9]\d* +0$/m);
});
