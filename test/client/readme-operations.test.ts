/** The table in docs/sdk-reference.md has exactly the documented operations. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { QUERY_OPERATIONS, SUBMIT_OPERATIONS } from "../../src/client/index.js";
import { policyOf } from "./attested.js";
import { testClient } from "./support.js";

const HEADING = "| operation | function | verified | what it does |";
const document = readFileSync(new URL("../../docs/sdk-reference.md", import.meta.url), "utf8");

/** The rows beneath the heading, each as its cells. */
function rows(): string[][] {
  const [, below] = document.split(`${HEADING}\n`);
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

it("has a row for each operation, in the order of the table in the code", async () => {
  const client = await testClient();
  const verified = client.withVerification(policyOf());
  const documented = Object.entries({ ...SUBMIT_OPERATIONS, ...QUERY_OPERATIONS }).map(([name, operation]) => {
    return [`\`${operation.name}\``, `\`${name}\``, name in verified ? "yes" : "no"];
  });
  expect(rows().map((cells) => cells.slice(0, 3))).toEqual(documented);
  expect(documented.length).toBeGreaterThan(10);
  // Of a function by that name, which the client has, and words for it.
  for (const [, name, , words] of rows()) {
    expect(client).toHaveProperty(name!.slice(1, -1), expect.any(Function));
    expect(words).toMatch(/^\p{Ll}.{8,}$/u);
  }
});
