/**
 * The public types against the report that is kept of them: a change that breaks users is seen in review. Written anew
 * by `npm run api`, after a build.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { apiReports } from "./api-report.js";
import { MODULES, ROOT } from "./support.js";

const FOLDER = join(ROOT, "test/package/api");
const entries = await Promise.all(
  MODULES.map(async ({ name, types, default: code }) => ({
    specifier: name.replace(".", "bootproof"),
    types: join(ROOT, types),
    values: Object.keys((await import(pathToFileURL(join(ROOT, code)).href)) as object),
  })),
);
const fileOf = (specifier: string): string => `${specifier.replaceAll("/", "-")}.api.md`;
const texts = [...apiReports(entries)].map(([specifier, report]) => ({
  specifier,
  text: `# API of \`${specifier}\`\n\nWritten by \`npm run api\`.\n\n\`\`\`ts\n${report}\n\`\`\`\n`,
}));
if (process.env["BOOTPROOF_API"] === "write")
  for (const { specifier, text } of texts) writeFileSync(join(FOLDER, fileOf(specifier)), text);

describe("the public types", () => {
  it.each(texts)("of $specifier are those of the report: npm run api writes it anew", ({ specifier, text }) => {
    expect(text).toBe(readFileSync(join(FOLDER, fileOf(specifier)), "utf8"));
  });

  it("have a report of each entry point, and of nothing else", () => {
    expect(readdirSync(FOLDER).sort()).toEqual(texts.map(({ specifier }) => fileOf(specifier)).sort());
  });

  it("name no file of the package, and nothing private", () => {
    for (const { text } of texts) expect(text).not.toMatch(/dist\/|#[a-z]|@internal/);
  });
});
