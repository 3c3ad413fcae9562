/** What loads modules anew leaves them to the files after it, and so has a process of its own (vitest.config.ts). */
import { readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("./", import.meta.url));
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const textOf = (file: string): string => readFileSync(ROOT + file, "utf8");
const tests = files.filter((file) => file.endsWith(".test.ts"));
const alone = (JSON.parse(textOf("alone.json")) as readonly string[]).map((file) => file.replace(/^test\//, ""));

it("no other test loads modules anew", () => {
  const loading = files.filter((file) => textOf(file).includes(`vi.${"resetModules"}(`));
  const helpers = loading.filter((file) => !tests.includes(file)).map((file) => basename(file).replace(/\.ts$/, ".js"));
  const found = tests.filter((file) => loading.includes(file) || helpers.some((name) => textOf(file).includes(name)));
  expect(found).not.toEqual([]);
  expect(found.filter((file) => !alone.includes(file))).toEqual([]);
});

it("each of those that are listed is there", () => {
  expect(alone.filter((file) => !tests.includes(file))).toEqual([]);
});
