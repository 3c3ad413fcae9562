/** Each case of the corpus (test/conformance/signed-policies.ts), before it becomes files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import * as library from "../../src/index.js";
import { judgeCase } from "../conformance/adapter.mjs";
import { signedCases } from "../conformance/signed-policies.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-signed-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a consumer", () => {
  it.each(signedCases())("$name", async ({ make, expected }) => {
    const { input, pieces } = make();
    for (const [name, content] of pieces) writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, "input.json"), JSON.stringify(input));
    expect(await judgeCase(library, folder)).toEqual(expected());
  });
});
