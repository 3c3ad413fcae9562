/** The tables in docs/sdk-reference.md have exactly the documented operations. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { QUERY_OPERATIONS, SUBMIT_OPERATIONS } from "../../src/client/index.js";
import { policyOf } from "./attested.js";
import { testClient } from "./support.js";

const document = readFileSync(new URL("../../docs/sdk-reference.md", import.meta.url), "utf8");

/** The rows of the table of submits or of queries, each as its cells. */
function rowsOf(kind: "submit" | "query"): string[][] {
  const [, below] = document.split(`| ${kind} | function | what it does |\n`);
  const lines = below!.split("\n");
  const table = lines.slice(
    1,
    lines.findIndex((line) => !line.startsWith("|")),
  );
  return table.map(cellsOf);
}

function cellsOf(line: string): string[] {
  const cells = line.split("|").map((cell) => cell.trim());
  return cells.slice(1, -1);
}

it.each([
  ["submit", SUBMIT_OPERATIONS, true],
  ["query", QUERY_OPERATIONS, false],
] as const)("has a row for each %s, in the order of the table in the code", async (kind, operations, isVerified) => {
  const client = await testClient();
  const verified = client.withVerification(policyOf());
  const documented = Object.entries(operations).map(([name, operation]) => [`\`${operation.name}\``, `\`${name}\``]);
  expect(rowsOf(kind).map((cells) => cells.slice(0, 2))).toEqual(documented);
  expect(documented.length).toBeGreaterThan(5);
  // Of a function by that name, which the client has, and words for it.
  for (const [, name, words] of rowsOf(kind)) {
    const own = name!.slice(1, -1);
    expect(client).toHaveProperty(own, expect.any(Function));
    expect(own in verified).toBe(isVerified);
    expect(words).toMatch(/^\p{Ll}.{8,}$/u);
  }
});
