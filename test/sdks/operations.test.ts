/** Operations without app proofs, compared with the interface of the newest SDK. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OPERATIONS_WITHOUT_APP_PROOFS } from "../../src/door/rejection.js";

const TYPES = "node_modules/@turnkey/http/dist/__generated__/services/coordinator/public/v1/public_api.types.d.ts";

it("are those whose request has no generateAppProofs", () => {
  const types = readFileSync(new URL(TYPES, import.meta.url), "utf8");
  const operations = [...types.matchAll(/"\/public\/v1\/submit\/(\w+)": \{[^}]*operations\["(\w+)"\]/g)];
  const without = operations.filter(([, , operation]) => {
    const [, body] = new RegExp(`\\n {4}${operation}: \\{.*?body: definitions\\["(\\w+)"\\]`, "s").exec(types)!;
    const [definition] = new RegExp(`\\n {4}${body}: \\{.*?\\n {4}\\};`, "s").exec(types)!;
    return !definition.includes("generateAppProofs");
  });
  expect(operations.length).toBeGreaterThan(100);
  expect(without.map(([, name]) => name).sort()).toEqual([...OPERATIONS_WITHOUT_APP_PROOFS]);
});
