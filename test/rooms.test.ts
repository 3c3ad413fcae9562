/** Which room of src/ may know of which (each says so in its README), read from the sources' imports. */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

interface Import {
  /** As written. */
  readonly specifier: string;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
  /** `import(…)`: loaded when it is asked for. */
  readonly dynamic: boolean;
}

interface Source {
  readonly file: string;
  readonly imports: readonly Import[];
  /** Every name that stands in the code, comments and texts left out. */
  readonly names: ReadonlySet<string>;
}

const sources = new Map<string, Source>(
  ["src", "bin"]
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file.replaceAll("\\", "/")}`,
      ),
    )
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file, readSource(file)]),
);

function readSource(file: string): Source {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  const names = new Set<string>();
  const add = (specifier: ts.Node | undefined, typeOnly: boolean, dynamic: boolean): void => {
    if (specifier === undefined) return;
    if (!ts.isStringLiteralLike(specifier))
      throw new Error(`${file}: an import that is computed: ${specifier.getText()}`);
    imports.push({ specifier: specifier.text, typeOnly, dynamic });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node), false);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly, false);
    else if (ts.isImportTypeNode(node)) add((node.argument as ts.LiteralTypeNode).literal, true, false);
    else if (ts.isImportEqualsDeclaration(node)) throw new Error(`${file}: import =`);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, true);
    else if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "require")
      add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { file, imports, names };
}

function isTypeOnly(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  if (clause.name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly);
}

/** The source file that an import names; null for a package, and for this package's own package.json. */
function resolved(from: string, { specifier }: Import): string | null {
  if (!specifier.startsWith(".")) return null;
  const target = join(dirname(from), specifier).replaceAll("\\", "/").replace(/\.js$/, ".ts");
  if (target === "package.json") return null;
  if (!sources.has(target)) throw new Error(`${from} imports ${specifier}, which is not there`);
  return target;
}

/** `decode` of `src/decode/…`, `bytes` of `src/bytes.ts`, `bin` of all in it. */
function roomOf(file: string): string {
  const [top, second] = file.split("/");
  return top === "bin" ? "bin" : second!.replace(/\.ts$/, "");
}

function reachableFrom(entry: string): Source[] {
  const seen = new Set([entry]);
  for (const file of seen)
    for (const each of sources.get(file)!.imports) {
      const target = resolved(file, each);
      if (target !== null) seen.add(target);
    }
  return [...seen].map((file) => sources.get(file)!);
}

const all = [...sources.values()];
const core = reachableFrom("src/index.ts");
const inRoom = (room: string): Source[] => all.filter(({ file }) => roomOf(file) === room);
const packagesOf = (files: readonly Source[], kept: (each: Import) => boolean = () => true): string[] =>
  [
    ...new Set(
      files
        .flatMap(({ imports }) => imports.filter(kept).map(({ specifier }) => specifier))
        .filter((specifier) => !specifier.startsWith(".")),
    ),
  ].sort();
const importersOf = (pattern: RegExp): string[] =>
  all
    .filter(({ imports }) => imports.some(({ specifier }) => pattern.test(specifier)))
    .map(({ file }) => file)
    .sort();

/** What each room may import, beside itself. */
const BASE = ["bytes", "errors"];
const DECODE = [...BASE, "decode"];
const VERIFY = [...DECODE, "checks", "verify"];
const APPRAISE = [...VERIFY, "appraise"];
const REPORT = [...APPRAISE, "version", "report"];
const FACADE = [...REPORT, "inputs", "bootproof", "inspect", "bundle", "formats"];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  bytes: [],
  version: [],
  errors: [],
  checks: BASE,
  decode: BASE,
  verify: [...DECODE, "checks"],
  appraise: VERIFY,
  report: [...APPRAISE, "version"],
  inputs: VERIFY.concat("appraise"),
  bootproof: [...REPORT, "inputs"],
  inspect: REPORT,
  bundle: [...REPORT, "bootproof"],
  formats: [...REPORT, "inspect", "bundle"],
  index: FACADE,
  client: FACADE,
  lab: [...FACADE, "client"],
  cli: [...FACADE, "client", "lab"],
  bin: [...FACADE, "index", "client", "lab", "cli"],
};

describe("the graph of imports", () => {
  it("was found", () => {
    expect(sources.size).toBeGreaterThan(60);
    expect(core.map(({ file }) => roomOf(file))).toEqual(
      expect.arrayContaining([
        "bytes",
        "errors",
        "checks",
        "decode",
        "verify",
        "appraise",
        "report",
        "bootproof",
        "index",
      ]),
    );
    expect(all.flatMap(({ imports }) => imports).length).toBeGreaterThan(300);
    expect(sources.get("src/verify/cryptography.ts")!.imports).toContainEqual({
      specifier: "@noble/curves/nist.js",
      typeOnly: false,
      dynamic: true,
    });
  });

  it("knows every room", () => {
    expect([...new Set(all.map(({ file }) => roomOf(file)))].filter((room) => !(room in ALLOWED))).toEqual([]);
  });

  it.each(Object.entries(ALLOWED))("points one way: %s", (room, allowed) => {
    const wrong = inRoom(room).flatMap(({ file, imports }) =>
      imports
        .map((each) => resolved(file, each))
        .filter((target) => target !== null && roomOf(target) !== room && !allowed.includes(roomOf(target)))
        .map((target) => `${file} → ${target!}`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no circle of rooms, types included", () => {
    const rooms = [...new Set(all.map(({ file }) => roomOf(file)))];
    const edges = new Map(
      rooms.map((room) => [
        room,
        new Set(
          inRoom(room)
            .flatMap(({ file, imports }) =>
              imports
                .map((each) => resolved(file, each))
                .filter((target) => target !== null)
                .map(roomOf),
            )
            .filter((target) => target !== room),
        ),
      ]),
    );
    expect(circlesOf(edges)).toEqual([]);
  });

  it("has no circle of files, types and what is loaded later included", () => {
    const edges = new Map(
      all.map(({ file, imports }) => [
        file,
        new Set(imports.map((each) => resolved(file, each)).filter((target) => target !== null)),
      ]),
    );
    expect(circlesOf(edges)).toEqual([]);
  });

  it("finds a circle where there is one", () => {
    expect(
      circlesOf(
        new Map([
          ["a", new Set(["b"])],
          ["b", new Set(["c"])],
          ["c", new Set(["a"])],
          ["d", new Set(["a"])],
        ]),
      ),
    ).toEqual(["a → b → c → a"]);
  });

  it("has no file that nothing leads to", () => {
    const entries = [
      "src/index.ts",
      "src/client/index.ts",
      "src/client/key-file.ts",
      "src/lab/index.ts",
      ...inRoom("bin").map(({ file }) => file),
    ];
    const reached = new Set(
      entries.flatMap((entry) => (sources.has(entry) ? reachableFrom(entry) : [])).map(({ file }) => file),
    );
    // The forge, the lab's encoders of all that is wrong, is what the tests reach for.
    expect(all.map(({ file }) => file).filter((file) => !reached.has(file) && !file.startsWith("src/lab/"))).toEqual(
      [],
    );
  });
});

/** Each circle once, from where the walk enters it. */
function circlesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): void => {
    const start = path.indexOf(node);
    if (start >= 0) circles.push([...path.slice(start), node].join(" → "));
    if (start >= 0 || done.has(node)) return;
    for (const next of edges.get(node) ?? []) walk(next, [...path, node]);
    done.add(node);
  };
  for (const node of edges.keys()) walk(node, []);
  return circles;
}

describe("the core", () => {
  it("imports nothing of Node, not even a type", () => {
    expect(
      core.filter(({ imports }) => imports.some(({ specifier }) => /^node:/.test(specifier))).map(({ file }) => file),
    ).toEqual([]);
    const bare = ["crypto", "fs", "path", "buffer", "util", "process", "os", "url", "module", "stream", "events"];
    expect(packagesOf(core).filter((name) => bare.includes(name.split("/")[0]!))).toEqual([]);
  });

  it("imports no package but noble, and noble only when it is asked for", () => {
    expect(packagesOf(core).filter((name) => !name.startsWith("@noble/"))).toEqual([]);
    expect(packagesOf(core, ({ dynamic }) => !dynamic)).toEqual([]);
  });

  it("knows neither client nor lab nor command line", () => {
    expect(
      core.map(({ file }) => roomOf(file)).filter((room) => ["client", "lab", "cli", "bin"].includes(room)),
    ).toEqual([]);
  });

  it("uses no clock, no chance, no timer, no network and no global of Node", () => {
    const foreign = [
      "Buffer",
      "require",
      "setTimeout",
      "setInterval",
      "setImmediate",
      "fetch",
      "XMLHttpRequest",
      "WebSocket",
      "__dirname",
      "__filename",
      "performance",
      "eval",
    ];
    expect(
      core.flatMap(({ file, names }) => foreign.filter((name) => names.has(name)).map((name) => `${file}: ${name}`)),
    ).toEqual([]);
  });

  it("writes nothing to the console", () => {
    expect(core.filter(({ names }) => names.has("console")).map(({ file }) => file)).toEqual([]);
  });
});

describe("packages", () => {
  it("cbor-x, whose settings are the whole process's, is for the tests alone", () => {
    expect(importersOf(/^cbor-x/)).toEqual([]);
  });

  it("the platform's cryptography, and noble's in the core, are used in one file", () => {
    const OWNER = ["src/verify/cryptography.ts"];
    const using = core
      .filter(({ names }) => names.has("getBuiltinModule") || names.has("subtle"))
      .map(({ file }) => file);
    expect(using).toEqual(OWNER);
    expect(all.filter(({ names }) => names.has("getBuiltinModule")).map(({ file }) => file)).toEqual(OWNER);
    expect(importersOf(/^@noble\//).filter((file) => core.some((each) => each.file === file))).toEqual(OWNER);
  });

  it("commander and yaml are the command line's", () => {
    expect(importersOf(/^(?:commander|yaml)$/).filter((file) => !file.startsWith("src/cli/"))).toEqual([]);
  });

  it("Node is in cli, bin, lab and the client's key file alone", () => {
    expect(
      importersOf(/^node:/).filter(
        (file) => !/^(?:src\/cli|bin|src\/lab)\//.test(file) && file !== "src/client/key-file.ts",
      ),
    ).toEqual([]);
  });

  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Readonly<
    Record<"dependencies" | "devDependencies" | "peerDependencies", Record<string, string>>
  >;
  const namesOf = (files: readonly Source[]): string[] =>
    [
      ...new Set(
        packagesOf(files)
          .filter((specifier) => !specifier.startsWith("node:"))
          .map((specifier) =>
            specifier
              .split("/")
              .slice(0, specifier.startsWith("@") ? 2 : 1)
              .join("/"),
          ),
      ),
    ].sort();
  const ofCommand = ({ file }: Source): boolean => /^(?:src\/cli|bin)\//.test(file);

  it("of the library are all named in package.json, with one version each", () => {
    const { dependencies, peerDependencies } = manifest;
    expect(namesOf(all.filter((source) => !ofCommand(source)))).toEqual(
      Object.keys({ ...dependencies, ...peerDependencies }).sort(),
    );
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("of the command alone are bundled into it: nobody installs them", () => {
    const { dependencies, devDependencies } = manifest;
    const bundled = namesOf(all.filter(ofCommand)).filter((name) => !(name in dependencies));
    expect(bundled.filter((name) => !(name in devDependencies))).toEqual([]);
    expect(bundled).toEqual(["commander", "yaml"]);
  });

  it("classic-level, which has compiled code and an install script, is the lab's store's alone", () => {
    expect(importersOf(/^classic-level/)).toEqual(["src/lab/store.ts"]);
    expect(Object.keys(manifest.peerDependencies)).toEqual(["classic-level"]);
  });
});

describe("the lab", () => {
  it("is used by the command line alone, and by the demo, which plays both sides", () => {
    const users = all
      .filter(
        ({ file, imports }) =>
          roomOf(file) !== "lab" &&
          imports.some((each) => {
            const target = resolved(file, each);
            return target !== null && roomOf(target) === "lab";
          }),
      )
      .map(({ file }) => file);
    expect(users.filter((file) => roomOf(file) !== "cli" && file !== "bin/demo.ts")).toEqual([]);
  });
});
