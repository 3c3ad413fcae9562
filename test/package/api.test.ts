/**
 * The public types against the report that is kept of them, a section for each entry point: a change that breaks users
 * is seen in review. Written anew by `npm run api`, after a build.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { apiReports } from "./api-report.js";
import { MODULES, ROOT } from "./support.js";

const FILE = join(ROOT, "test/package/api.md");
const entries = await Promise.all(
  MODULES.map(async ({ name, types, default: code }) => ({
    specifier: name.replace(".", "bootproof"),
    types: join(ROOT, types),
    values: Object.keys((await import(pathToFileURL(join(ROOT, code)).href)) as object),
  })),
);
const texts = [...apiReports(entries)].map(([specifier, report]) => ({
  specifier,
  text: `## \`${specifier}\`\n\n\`\`\`ts\n${report}\n\`\`\`\n`,
}));
const START = "# The public types\n\nWritten by `npm run api`.\n\n";
if (process.env["BOOTPROOF_API"] === "write") writeFileSync(FILE, START + texts.map(({ text }) => text).join("\n"));
const kept = readFileSync(FILE, "utf8").split(/\n(?=## `)/);

describe("the public types", () => {
  it.each(texts)("of $specifier are those of the report: npm run api writes it anew", ({ text }) => {
    expect(kept).toContain(text);
  });

  it("have a report of each entry point, and of nothing else", () => {
    const names = kept.slice(1).map((section) => /^## `(.*)`/.exec(section)![1]);
    expect(names).toEqual(texts.map(({ specifier }) => specifier));
  });

  it("name no file of the package, and nothing private", () => {
    for (const { text } of texts) expect(text).not.toMatch(/dist\/|#[a-z]|@internal/);
  });
});
