/**
 * Each test is in the tier that it belongs to: without a build, a browser, a server and other runtimes the first tier
 * passes. And what loads modules anew leaves them to the files after it, and so has a process of its own.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { needsOf } from "./needs.js";
import { ROOT, trackedFiles } from "./tracked.mjs";

const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const listOf = <T>(name: string): T => JSON.parse(textOf(`test/${name}`)) as T;
const files = trackedFiles().filter((file) => /^test\/.*\.ts$/.test(file));
const SDKS = "test/sdks/";
const tests = files.filter((file) => file.endsWith(".test.ts") && !file.startsWith(SDKS));
const alone = listOf<readonly string[]>("alone.json");
const { built, thorough, longest } = listOf<Record<"built" | "thorough" | "longest", readonly string[]>>("tiers.json");
const needy = tests.filter((file) => needsOf(file).size > 0);

it("each test that needs more than the sources is listed as built, and no other", () => {
  const why = (file: string): string => `${file}: ${[...needsOf(file)].map((need) => need.join(", by ")).join("; ")}`;
  expect(needy.filter((file) => !built.includes(file)).map(why)).toEqual([]);
  expect(built.filter((file) => !needy.includes(file))).toEqual([]);
});

it("nothing outside of test/sdks needs the SDKs, which npm ci does not install", () => {
  expect(tests.filter((file) => needsOf(file).has("the SDKs"))).toEqual([]);
  expect(needsOf(`${SDKS}adapters.test.ts`).has("the SDKs")).toBe(true);
});

it("needs are found", () => {
  const found = new Set(needy.flatMap((file) => [...needsOf(file).keys()]));
  expect([...found].sort()).toEqual(["a browser", "a build", "other runtimes", "redis-server"]);
  // By a helper, and by itself.
  expect([...needsOf("test/cli/page.test.ts").keys()]).toEqual(["a build"]);
  expect([...needsOf("test/schemas.test.ts").keys()]).toEqual(["a build"]);
  expect(needsOf("test/bytes.test.ts").size).toBe(0);
});

it("each test is in one tier, and each that is listed is there", () => {
  for (const list of [built, thorough, alone]) {
    expect([...list, ...longest].filter((file) => !tests.includes(file))).toEqual([]);
    expect(list).toEqual([...new Set(list)].sort());
  }
  expect(built.filter((file) => thorough.includes(file))).toEqual([]);
});

it("scratch files in a clone are not the project's", () => {
  const name = `scratch-${process.pid}.ts`;
  writeFileSync(join(ROOT, name), "this is not TypeScript");
  try {
    expect(trackedFiles()).not.toContain(name);
    expect(trackedFiles()).toContain("package.json");
  } finally {
    rmSync(join(ROOT, name));
  }
});

it("no other test than those alone loads modules anew", () => {
  const loading = files.filter((file) => textOf(file).includes(`vi.${"resetModules"}(`));
  const helpers = loading.filter((file) => !tests.includes(file)).map((file) => basename(file).replace(/\.ts$/, ".js"));
  const found = tests.filter((file) => loading.includes(file) || helpers.some((name) => textOf(file).includes(name)));
  expect(found).not.toEqual([]);
  expect(found.filter((file) => !alone.includes(file))).toEqual([]);
});
