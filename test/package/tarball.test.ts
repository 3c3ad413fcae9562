/** The tarball: exactly what is needed, and nothing that runs when it is installed. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { GLOSSARY, TERMS, explainCheck } from "../../src/report/explanations.js";
import { MANIFEST, MODULES, type Packed, ROOT, npm, pack, removeFolders, run, strangersFolder } from "./support.js";

const folder = strangersFolder();
let packed: Packed;
let installing: string;
afterAll(removeFolders);
beforeAll(async () => {
  packed = await pack(folder);
  const { stdout, stderr } = await npm(["install", "--prefer-offline", "--no-audit", packed.tarball], folder);
  installing = stdout + stderr;
});

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** The files that these ones load, and so on: of this package, by what their imports say. */
function closureOf(entries: readonly string[], namesIn: (file: string) => readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const name of namesIn(file)) if (name.startsWith(".")) visit(join(dirname(file), name).replaceAll("\\", "/"));
  };
  entries.forEach(visit);
  return [...reached];
}

/** Of the files of types: one of each entry point, and those that they share. */
const importsOfTypes = (file: string): string[] =>
  ts.preProcessFile(read(file), true, true).importedFiles.map(({ fileName }) => fileName.replace(/\.js$/, ".d.ts"));
/** The imports in a file of code. */
const importsOf = (file: string): string[] =>
  [...read(file).matchAll(/(?:\bfrom ?|\bimport ?|\bimport\()"(\.[^"]+)"/g)].map(([, name]) => name!);

/** What Node loads: the sources, merged into few files. */
const MERGED = "dist/node/merged/";

describe("the tarball", () => {
  it("holds what its entry points load, and nothing else", () => {
    // The script of pages and what runs in threads are made by the build, of all that verifies.
    const entries = MODULES.map((entry) => entry.default.slice(2)).filter((file) => file.startsWith("dist/src/"));
    expect(MODULES.length - entries.length, "entries that need Node").toBe(7);
    const script = ["dist/page/THIRD-PARTY.txt", "dist/page/script.js"];
    const thread = ["dist/run/thread.js"];
    const library = closureOf(entries, importsOf).filter((file) => !script.includes(file));
    const types = closureOf(
      MODULES.map((entry) => entry.types.replace("./", "")),
      importsOfTypes,
    );
    const command = closureOf(Object.values(MANIFEST.bin), importsOf);
    const merged = closureOf(
      MODULES.map((entry) => entry.node.replace("./", "")),
      importsOf,
    ).filter((file) => !script.includes(file));
    const maps = merged.filter((file) => file.startsWith(MERGED)).map((file) => `${file}.map`);
    const schemas = Object.values(MANIFEST.exports).flatMap((entry) =>
      typeof entry === "string" ? entry.slice(2) : [],
    );
    const documents = [
      ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`),
      ...readdirSync(join(ROOT, "src"), { withFileTypes: true })
        .filter((room) => room.isDirectory())
        .map(({ name }) => `src/${name}/README.md`),
    ];
    const notices = ["dist/bin/THIRD-PARTY.txt", "dist/node/THIRD-PARTY.txt"];
    const beside = ["LICENSE", "README.md", "package.json", ...notices, ...schemas, ...documents];
    expect(schemas).toEqual(["dist/schemas/policy.schema.json", "dist/schemas/report.schema.json"]);
    const changelog = existsSync(join(ROOT, "CHANGELOG.md")) ? ["CHANGELOG.md"] : [];
    expect(packed.files).toEqual(
      [library, types, merged, maps, command, script, thread, beside, changelog].flat().sort(),
    );
    expect(types.length).toBeLessThanOrEqual(65);
    expect(command.length).toBeGreaterThan(5);
  });

  it("has at most 9.3 MB, source maps with it, in 755 files", () => {
    expect(packed.bytes).toBeLessThanOrEqual(9_300_000);
    expect(packed.files.length).toBeLessThanOrEqual(755);
  });

  it("holds each file that explain names", () => {
    const named = [
      ...CHECK_IDS.flatMap((id) => explainCheck(id).sources),
      ...CHECK_IDS.map((id) => JSON.stringify(explainCheck(id))),
      JSON.stringify([TERMS, GLOSSARY]),
    ].flatMap((text) => text.match(/\b(?:src|docs|test|bin|\.github)\/[\w./-]*\w|\b\w+\.md\b/g) ?? []);
    expect(named.length).toBeGreaterThan(100);
    const shipped = new Set(packed.files);
    expect(named.filter((file) => !shipped.has(file) && !(file === "README.md"))).toEqual([]);
  });

  it("holds each file that README and docs/ link to, but for the pictures", () => {
    const documents = packed.files.filter((file) => file === "README.md" || file.startsWith("docs/"));
    const linked = documents.flatMap((file) =>
      [...read(file).matchAll(/(!?)\[[^\]]*\]\((?![a-z]+:|#)([^)#\s]+)/g)]
        .filter(([, picture]) => picture === "" || file === "README.md")
        .map(([, , target]) => join(dirname(file), target!).replaceAll("\\", "/")),
    );
    expect(linked.length).toBeGreaterThan(30);
    expect(linked.filter((file) => !packed.files.includes(file))).toEqual([]);
  });

  it("has the command bundled, and nothing of it unbundled; no second package.json", () => {
    expect(packed.files.filter((file) => /^dist\/bin\/.*(?<!\.js)$/.test(file))).toEqual([
      "dist/bin/THIRD-PARTY.txt",
      "dist/bin/bootproof.cjs",
    ]);
    expect(packed.files.filter((file) => /dist\/src\/cli\/|\.ts$(?<!\.d\.ts)|.\/package\.json$/.test(file))).toEqual(
      [],
    );
    const code = packed.files.filter((file) => /\.(?:js|cjs|d\.ts)$/.test(file));
    expect(code.filter((file) => /["']cbor-(?:x|extract)/.test(read(file)))).toEqual([]);
  });

  it("has maps of the files that are merged for Node, of names and places alone", () => {
    const mapped = packed.files.filter(
      (file) => /\.(?:js|cjs)$/.test(file) && read(file).includes("sourceMappingURL="),
    );
    const maps = packed.files.filter((file) => file.endsWith(".map"));
    expect(mapped.map((file) => `${file}.map`)).toEqual(maps);
    for (const map of maps) {
      const { sources, sourcesContent } = JSON.parse(read(map)) as { sources: string[]; sourcesContent?: string[] };
      expect(map.startsWith(MERGED)).toBe(true);
      expect(sourcesContent).toBeUndefined();
      expect(sources.filter((source) => !existsSync(join(ROOT, MERGED, source)))).toEqual([]);
    }
  });

  it.each([
    ["page", ["@noble/curves", "@noble/hashes", "@scure/base"]],
    ["node", ["@sigstore/protobuf-specs", "asn1js", "borsh", "cbor-x"]],
    // The command attests no builds.
    ["bin", ["asn1js", "borsh", "cbor-x", "commander", "yaml"]],
  ])("names the packages whose code is in dist/%s, with their licences", (place, packages) => {
    const names = [...read(`dist/${place}/THIRD-PARTY.txt`).matchAll(/^(\S+) [0-9]+\.[0-9]+\.[0-9]+$/gm)];
    expect(names.map(([, name]) => name)).toEqual(packages);
  });

  it("is clean for publint", async () => {
    const { messages } = await publint({
      pkgDir: join(folder, "node_modules", "bootproof"),
      strict: true,
      pack: false,
    });
    expect(messages).toEqual([]);
  });

  it("has types that are found wherever its code is", async () => {
    const data = new Uint8Array(readFileSync(packed.tarball));
    const analysis = await checkPackage(createPackageFromTarballData(data));
    if (analysis.types === false) throw new Error("no types");
    // ES modules only: Node 20.19 and later take them by require too, which TypeScript before 5.8 does not know; and
    // the resolution of Node 10 knows no exports.
    const known = analysis.problems.filter(
      ({ kind, ...problem }) =>
        (kind === "CJSResolvesToESM" && "resolutionKind" in problem && problem.resolutionKind === "node16-cjs") ||
        (kind === "NoResolution" && "resolutionKind" in problem && problem.resolutionKind === "node10"),
    );
    expect(analysis.problems.filter((problem) => !known.includes(problem))).toEqual([]);
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(MANIFEST.exports));
  });
});

describe("who installs it", () => {
  interface Installed {
    readonly scripts?: Readonly<Record<string, string>>;
    readonly gypfile?: boolean;
  }

  const roots = (): string[] =>
    Object.keys(
      (
        JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as {
          packages: Record<string, unknown>;
        }
      ).packages,
    );

  it("runs no script, compiles nothing and approves nothing", () => {
    expect(installing).not.toMatch(/script|approve|gyp/i);
    const running = roots().filter((root) => {
      const { scripts = {}, gypfile } = JSON.parse(
        readFileSync(join(folder, root, "package.json"), "utf8"),
      ) as Installed;
      const isRun = ["preinstall", "install", "postinstall", "prepare"].some((name) => scripts[name] !== undefined);
      // A registry's package may have `prepare`: npm runs it in a checkout only. Ours comes as a file, and may not.
      const ran = root.endsWith("/bootproof") ? isRun : isRun && scripts["prepare"] === undefined;
      return ran || gypfile === true || existsSync(join(folder, root, "binding.gyp"));
    });
    expect(running).toEqual([]);
  });

  it("gets these packages and no others", () => {
    expect(roots().map((root) => root.replace("node_modules/", ""))).toEqual([
      "@hpke/common",
      "@hpke/core",
      "@noble/curves",
      "@noble/hashes",
      "@scure/base",
      "bootproof",
      "jose",
    ]);
  });

  const command = (...args: string[]) => run(join(folder, "node_modules/.bin/bootproof"), args, folder);
  const evidence = (name: string): string => join(ROOT, "test-vectors", name);

  it("has the command", async () => {
    expect(await command("--version")).toMatchObject({ status: 0, stdout: `${MANIFEST.version}\n`, stderr: "" });
    const verified = await command("verify", "--boot-proof", evidence("boot-proofs/bootproof-1.json"), "--no-policy");
    expect(verified.stdout).toMatch(/^AUTHENTIC/);
    expect(verified.status).toBe(0);
    const pinned = await command("pin", "--release", evidence("releases/r2025.9.3.yaml"), "--app", "signer");
    expect(JSON.parse(pinned.stdout)).toMatchObject({ policy: "bootproof/1" });
  });

  it("has the library, at each entry point", async () => {
    const imports = Object.keys(MANIFEST.exports).map((entry) =>
      entry.endsWith(".json")
        ? `(await import("${entry.replace(".", "bootproof")}", { with: { type: "json" } })).default`
        : `await import("${entry.replace(".", "bootproof")}")`,
    );
    const program = `for (const one of [${imports.join(", ")}]) console.log(Object.keys(one).length > 0)`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], folder);
    expect(stdout).toBe("true\n".repeat(imports.length));
  });

  it("has a lab in memory, by the command and by code", async () => {
    const child = spawn(join(folder, "node_modules/.bin/bootproof"), ["lab"], { cwd: folder });
    const greeting = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += String(chunk);
        if (text.includes("Ctrl-C ends it.")) resolve(text);
      });
      child.on("exit", () => reject(new Error(text)));
    });
    expect(greeting).toContain("The lab listens.");
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    const program =
      'import { startLab } from "bootproof/lab"; const lab = await startLab(); console.log(lab.enclaves.length); ' +
      "await lab.close();";
    expect((await run(process.execPath, ["--input-type=module", "-e", program], folder)).stdout).toMatch(/^[1-9]\n$/);
  });

  it("has a lab with a folder, without another package", async () => {
    const program =
      'import { startLab } from "bootproof/lab"; const lab = await startLab({ dataFolder: "./lab" }); ' +
      "console.log(lab.enclaves.length); await lab.close();";
    expect((await run(process.execPath, ["--input-type=module", "-e", program], folder)).stdout).toMatch(/^[1-9]\n$/);
    expect(existsSync(join(folder, "lab/lab-state.json"))).toBe(true);
  });
});
