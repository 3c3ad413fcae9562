/**
 * Compares the texts of checks with details.json, so that a review shows how they change. `BOOTPROOF_DETAILS=write npx
 * vitest run test/attacks --maxWorkers=1` writes it again.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";
import type { Report } from "../../src/report/report.js";

const FILE = fileURLToPath(new URL("details.json", import.meta.url));
type Details = Readonly<Record<string, readonly string[]>>;

/** Keys, hashes and serial numbers differ in each run, and so do positions in texts whose signatures are in DER. */
function withoutChance(text: string): string {
  return text
    .replace(/\b(?:0x)?[0-9a-f]{16,}/gi, "<hex>")
    .replace(/(column|at byte) \d+/g, "$1 <n>")
    .replace(/\b\d{3,} (bytes|hex digits), /g, "<n> $1, ")
    .replace(/\b\d+ bytes: neither/g, "<n> bytes: neither")
    .replace(/\b\d{4} bytes after/g, "<n> bytes after");
}

/**
 * For a test file that makes so many reports: compares the texts of each, and finds known texts that no longer occur.
 */
export function knownDetails(name: string, reports: number): (report: Report) => void {
  const known = (JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, Details>>)[name] ?? {};
  const seen = new Map<string, Set<string>>();
  let count = 0;
  afterAll(() => {
    // An incomplete or repeated run proves nothing about missing texts.
    if (count !== reports) return;
    const all = [...seen].map(([check, details]) => [check, [...details].sort()] as const);
    const made = Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
    if (process.env["BOOTPROOF_DETAILS"] === "write") write(name, made);
    else expect(made).toEqual(known);
  });
  return (report) => {
    count++;
    for (const { id, status, detail, expected, actual } of report.checks) {
      const compared = expected === undefined ? "" : ` (expected ${expected}; actual ${actual})`;
      const [check, words] = [`${id} ${status}`, withoutChance(detail + compared)];
      seen.set(check, (seen.get(check) ?? new Set()).add(words));
      // An assertion for each of a hundred thousand would take longer than the verification.
      if (process.env["BOOTPROOF_DETAILS"] === "write" || known[check]?.includes(words) === true) continue;
      expect(known[check], check).toContain(words);
    }
  };
}

function write(name: string, details: Details): void {
  const all = JSON.parse(readFileSync(FILE, "utf8")) as Record<string, Details>;
  writeFileSync(FILE, `${JSON.stringify({ ...all, [name]: details }, null, 2)}\n`);
}
