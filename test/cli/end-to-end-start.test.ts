/** How the built command starts: with its code cache, and the same without one that is right. Needs `npm run build`. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { afterAll, beforeEach, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FILES = ["bootproof.cjs", "main.cjs", "main.cache", "commands.cjs"] as const;
const base = mkdtempSync(join(tmpdir(), "bootproof-start-"));
afterAll(() => rmSync(base, { recursive: true }));

const folder = join(base, "bin");
const at = (file: (typeof FILES)[number]): string => join(folder, file);
/** Says of each script that is compiled with a code cache whether V8 took it. */
const probe = join(base, "probe.cjs");
writeFileSync(
  probe,
  `const vm = require("node:vm");
   vm.Script = class extends vm.Script {
     constructor(code, options) {
       super(code, options);
       if (options.cachedData) process.stderr.write(this.cachedDataRejected ? "rejected" : "taken");
     }
   };`,
);

beforeEach(() => {
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(ROOT, "dist/bin", file), at(file));
});

const VERIFY = [
  "verify",
  "--boot-proof",
  join(ROOT, "test-vectors/boot-proofs/bootproof-1.json"),
  "--app-proof",
  join(ROOT, "test-vectors/boot-proofs/appproof-1.json"),
  "--no-policy",
  "--now",
  "2026-01-01T00:00:00Z",
];

function start(args: readonly string[] = VERIFY, flags: readonly string[] = []) {
  const all = ["--require", probe, ...flags, at("bootproof.cjs"), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8" });
  return { status, stdout, cache: stderr };
}

const good = { ...expectedOf(), cache: "" };

/** What the same code says that never saw a cache. */
function expectedOf(): { readonly status: number | null; readonly stdout: string } {
  const program = `require(${JSON.stringify(join(ROOT, "dist/bin/main.cjs"))})((name) => import(name))`;
  const { status, stdout } = spawnSync(process.execPath, ["-e", program, "bootproof", ...VERIFY], { encoding: "utf8" });
  return { status, stdout };
}

function damage(file: (typeof FILES)[number], change: (bytes: Buffer) => Uint8Array): void {
  writeFileSync(at(file), change(readFileSync(at(file))));
}

describe("the code cache", () => {
  it("is taken by the Node that built it", () => {
    expect(good.stdout).toMatch(/^AUTHENTIC/);
    expect(start()).toEqual({ ...good, cache: "taken" });
  });

  it("is refused by V8 where flags differ, and nothing else changes", () => {
    expect(start(VERIFY, ["--no-lazy"])).toEqual({ ...good, cache: "rejected" });
  });

  it("leaves failures as they are, and what is loaded later", () => {
    expect(start(["verify"])).toMatchObject({ status: 2, stdout: "" });
    expect(start(["--version"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });

  it.each([
    ["missing", () => rmSync(at("main.cache"))],
    ["empty", () => damage("main.cache", () => new Uint8Array())],
    ["cut off", () => damage("main.cache", (bytes) => bytes.subarray(0, bytes.length >> 1))],
    ["no cache", () => damage("main.cache", (bytes) => bytes.fill(0x41))],
    ...[0, 9, 100, 4_000, 100_000].map(
      (offset) => [`damaged at ${offset}`, () => damage("main.cache", (bytes) => flipped(bytes, offset))] as const,
    ),
    ["that of other code", () => writeFileSync(at("main.cache"), cacheOfOtherCode())],
    ["for another Node", () => damage("bootproof.cjs", (bytes) => replaced(bytes, process.version, "v20.0.0"))],
  ] as const)("%s is not taken, and nothing else changes", (_, change) => {
    change();
    expect(start()).toEqual(good);
  });

  it("is not taken for source that was changed, by as many bytes", () => {
    damage("main.cjs", (bytes) => replaced(bytes, "every check passed", "EVERY CHECK PASSED"));
    const { status, stdout, cache } = start();
    expect([status, cache]).toEqual([0, ""]);
    expect(stdout).toContain("EVERY CHECK");
  });
});

function flipped(bytes: Buffer, offset: number): Buffer {
  bytes[offset]! ^= 1;
  return bytes;
}

function replaced(bytes: Buffer, old: string, other: string): Buffer {
  const text = bytes.toString("latin1");
  expect(text).toContain(old);
  return Buffer.from(text.replaceAll(old, other), "latin1");
}

/** One that V8 takes: of code as long as the command's, as far as V8 compares the two. */
function cacheOfOtherCode(): Buffer {
  const { length } = Module.wrap(readFileSync(at("main.cjs"), "latin1"));
  const program = Module.wrap("module.exports=()=>process.stdout.write('VERIFIED');");
  return new Script(program.padEnd(length, " ")).createCachedData();
}
