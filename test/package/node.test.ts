/**
 * The files that Node loads, in which the sources are merged: the same names as the modules of each entry
 * point, each source once, and few files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { MODULES, ROOT, run } from "./support.js";

const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const AT_ONCE = /(?:\bfrom|\bimport)"(\.[^"]+)"/g;
const EVER = /(?:\bfrom|\bimport\(?)"(\.[^"]+)"/g;

/** The file and those that it loads. */
function filesOf(file: string, imports: RegExp, reached = new Set<string>()): Set<string> {
  if (reached.has(file)) return reached;
  reached.add(file);
  for (const [, name] of textOf(file).matchAll(imports)) filesOf(join(file, "..", name!), imports, reached);
  return reached;
}

/** What the program prints that imports the package by its name. */
async function printed(code: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [...args, "--input-type=module", "-e", code], ROOT);
  expect(stderr).toBe("");
  return stdout.trim();
}

describe("what Node loads", () => {
  it.each(MODULES)("has at $name the names that bundlers find", async ({ node, default: modules }) => {
    const namesOf = async (file: string): Promise<string[]> =>
      Object.keys((await import(pathToFileURL(join(ROOT, file)).href)) as object).sort();
    expect(await namesOf(node)).toEqual(await namesOf(modules));
  });

  it("is each source once, whatever entry point it comes by", () => {
    const files = new Set(MODULES.flatMap(({ node }) => [...filesOf(node, EVER)]));
    const maps = [...files].filter((file) => file.includes("/merged/")).map((file) => `${file}.map`);
    const sources = maps.flatMap((map) => (JSON.parse(textOf(map)) as { sources: string[] }).sources);
    expect(sources.filter((source, at) => sources.indexOf(source) !== at)).toEqual([]);
    expect(sources.length).toBeGreaterThan(250);
  });

  it("has the same classes and functions at each entry point", async () => {
    const names = MODULES.map(({ name }) => name.replace(".", "bootproof"));
    const program = `
      import { MalformedError, RejectedError } from "bootproof";
      import { RejectedActivityError } from "bootproof/client";
      import { measureImage } from "bootproof/image";
      const thrown = await measureImage((async function* () {})()).catch((error) => error);
      console.log(thrown instanceof MalformedError, RejectedActivityError.prototype instanceof RejectedError);
      const seen = new Map();
      for (const entry of ${JSON.stringify(names)})
        for (const [name, value] of Object.entries(await import(entry))) {
          if (seen.has(name) && seen.get(name) !== value) console.log(entry, name);
          seen.set(name, value);
        }`;
    expect(await printed(program)).toBe("true true");
  });

  it.each([
    [".", 4],
    ["./client", 9],
    ["./adapters", 4],
  ])("is for %s at most %d files of this package", (name, most) => {
    const files = filesOf(MODULES.find((entry) => entry.name === name)!.node, AT_ONCE);
    expect(files.size, [...files].join("\n")).toBeLessThanOrEqual(most);
    expect(files.size).toBeGreaterThan(1);
  });

  it("is for the client nothing of HPKE and @noble, until something is sealed or opened", () => {
    const texts = [...filesOf("dist/node/client/index.js", AT_ONCE)].map(textOf);
    expect(texts.filter((text) => /\b(?:from|import)"@(?:hpke|noble)/.test(text))).toEqual([]);
    expect(texts.filter((text) => text.includes('import("@hpke/core")'))).toHaveLength(1);
  });

  it("tells in a stack trace the function, and with maps its source and line", async () => {
    const program = `
      import { decodeBootProof } from "bootproof/decode";
      try { decodeBootProof({}); } catch ({ stack }) { console.log(stack); }`;
    expect(await printed(program)).toMatch(/ at (?:Module\.)?decodeBootProof \(.*\/merged\/\w+\.js:/);
    const mapped = await printed(program, "--enable-source-maps");
    const at = / at (?:Module\.)?decodeBootProof \(.*\/src\/decode\/boot-proof\.ts:(\d+):\d+\)/.exec(mapped);
    const called = textOf("src/decode/boot-proof.ts").split("\n")[Number(at?.[1]) - 1];
    expect(called, mapped).toMatch(/\w\(/);
  });
});
