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
  /** The exported names that are taken; null where they are not told one by one. */
  readonly named: readonly string[] | null;
}

interface Source {
  readonly file: string;
  readonly imports: readonly Import[];
  /** Every name that stands in the code, comments and texts left out. */
  readonly names: ReadonlySet<string>;
  /** The names that it exports. */
  readonly exports: readonly string[];
  /** Those of them that it does not pass on from another file, unchanged. */
  readonly declares: readonly string[];
}

const sources = new Map<string, Source>([...filesIn("src"), ...filesIn("bin")].map((file) => [file, readSource(file)]));

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts") && !file.includes("/node_modules/"));
}

function readSource(file: string): Source {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  const names = new Set<string>();
  const add = (
    specifier: ts.Node | undefined,
    typeOnly: boolean,
    dynamic: boolean,
    named: readonly string[] | null = null,
  ): void => {
    if (specifier === undefined) return;
    if (ts.isStringLiteralLike(specifier)) imports.push({ specifier: specifier.text, typeOnly, dynamic, named });
    else if (!file.startsWith("test/")) throw new Error(`${file}: an import that is computed: ${specifier.getText()}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node), false, namedIn(node.importClause));
    else if (ts.isExportDeclaration(node))
      add(node.moduleSpecifier, node.isTypeOnly, false, namesOf(node.exportClause)?.taken ?? null);
    else if (ts.isImportTypeNode(node)) add((node.argument as ts.LiteralTypeNode).literal, true, false);
    else if (ts.isImportEqualsDeclaration(node)) throw new Error(`${file}: import =`);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, true);
    else if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "require")
      add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const exports = source.statements.flatMap(exportsOf);
  const passedOn = new Set(source.statements.flatMap(passedOnBy));
  return { file, imports, names, exports, declares: exports.filter((name) => !passedOn.has(name)) };
}

function namedIn(clause: ts.ImportClause | undefined): readonly string[] | null {
  return clause?.name === undefined ? (namesOf(clause?.namedBindings)?.taken ?? null) : null;
}

/** The names between the braces of an import or export: as the other file, and as this one calls them. */
function namesOf(bindings: ts.Node | undefined): { readonly taken: string[]; readonly own: string[] } | null {
  if (bindings === undefined || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return null;
  const elements = [...bindings.elements];
  return {
    taken: elements.map(({ propertyName, name }) => (propertyName ?? name).text),
    own: elements.map(({ name }) => name.text),
  };
}

function exportsOf(statement: ts.Statement): string[] {
  if (ts.isExportDeclaration(statement)) return namesOf(statement.exportClause)?.own ?? [];
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.getText()];
}

/** The names of other files that a statement makes this file's own, unchanged. */
function passedOnBy(statement: ts.Statement): string[] {
  const isFrom = ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined;
  const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
  const both = namesOf(isFrom ? statement.exportClause : bindings);
  return both === null ? [] : both.own.filter((name, index) => name === both.taken[index]);
}

function isTypeOnly(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  if (clause.name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly);
}

/** A module that bin/ makes has a declaration in place of a source. */
function sourceOf(module: string): Source | undefined {
  return sources.get(module.replace(/\.js$/, ".ts")) ?? sources.get(module.replace(/\.js$/, ".d.ts"));
}

/** The source file that an import names; null for a package, and for this package's own package.json. */
function resolved(from: string, { specifier }: Pick<Import, "specifier">): string | null {
  if (!specifier.startsWith(".")) return null;
  const target = join(dirname(from), specifier).replaceAll("\\", "/");
  if (target === "package.json") return null;
  const source = sourceOf(target);
  if (source === undefined) throw new Error(`${from} imports ${specifier}, which is not there`);
  return source.file;
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

/** What the package exports from. */
const ENTRIES = [
  "src/index.ts",
  "src/adapters/index.ts",
  "src/audit/index.ts",
  "src/audit/node.ts",
  "src/audit/queue.ts",
  // What runs in a thread.
  "src/audit/node-thread.ts",
  "src/client/index.ts",
  "src/client/key-file.ts",
  "src/formats/index.ts",
  "src/health/node.ts",
  "src/image/index.ts",
  "src/lab/index.ts",
  "src/page/index.ts",
  "src/provenance/index.ts",
  "src/release/node.ts",
  "src/watch/index.ts",
  "src/watch/node.ts",
  // What runs in a page.
  "src/page/browser.ts",
];

/** What each room may import, beside itself. */
const BASE = ["bytes", "errors"];
const DECODE = [...BASE, "decode"];
const VERIFY = [...DECODE, "checks", "verify"];
const APPRAISE = [...VERIFY, "appraise"];
const REPORT = [...APPRAISE, "version", "report"];
const FACADE = [
  ...REPORT,
  "inputs",
  "plain-settings",
  "verification",
  "bootproof",
  "inspect",
  "bundle",
  "diff",
  "image",
];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  bytes: [],
  version: [],
  errors: [],
  checks: BASE,
  decode: BASE,
  verify: [...DECODE, "checks"],
  image: [...DECODE, "verify"],
  appraise: VERIFY,
  report: [...APPRAISE, "version"],
  inputs: VERIFY.concat("appraise"),
  "plain-settings": [...APPRAISE, "inputs"],
  verification: REPORT,
  bootproof: [...REPORT, "inputs", "verification"],
  inspect: [...REPORT, "inputs", "verification", "bootproof", "bundle", "image"],
  bundle: [...REPORT, "inputs", "plain-settings", "verification", "bootproof"],
  diff: [...REPORT, "inspect", "bundle"],
  release: [...REPORT, "diff", "disk"],
  review: [...REPORT, "diff", "inspect"],
  page: FACADE,
  formats: [...FACADE, "page"],
  index: [...FACADE, "release", "review"],
  provenance: ["errors", "decode", "verify"],
  exchange: REPORT,
  client: [...FACADE, "exchange"],
  adapters: [...FACADE, "exchange", "client"],
  // Files that outlive a process: for what runs on Node.
  disk: DECODE,
  watch: [...FACADE, "client", "disk"],
  health: [...DECODE, "version", "disk"],
  proxy: [...FACADE, "provenance", "exchange", "client", "disk"],
  audit: [...FACADE, "provenance", "disk"],
  lab: [...FACADE, "client", "disk"],
  cli: [
    ...FACADE,
    "release",
    "review",
    "formats",
    "page",
    "client",
    "disk",
    "health",
    "watch",
    "proxy",
    "audit",
    "provenance",
    "lab",
  ],
  bin: [...FACADE, "release", "review", "index", "formats", "page", "client", "watch", "audit", "lab", "cli"],
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
      specifier: "./noble.js",
      typeOnly: false,
      dynamic: true,
      named: null,
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

  it("is the one that CONTRIBUTING describes, from the bottom up", () => {
    const document = readFileSync(join(ROOT, ".github/CONTRIBUTING.md"), "utf8");
    const [, table] = /\n\| room \| imports \|\n\|---\|---\|\n(.*?)\n\n/s.exec(document)!;
    const documented = table!.split("\n").map((row) => {
      const [, cell, imports] = row.split("|").map((text) => text.trim()) as [string, string, string];
      const [, room] = /^(?:\[|`(?:src\/)?)([\w-]+)/.exec(cell)!;
      return [room!, imports === "none" ? [] : imports.split(", ")] as const;
    });
    const rooms = documented.map(([room]) => room);
    const importedBy = (room: string): string[] => {
      const targets = inRoom(room).flatMap(({ file, imports }) => imports.map((each) => resolved(file, each)));
      const imported = new Set(targets.filter((target) => target !== null).map(roomOf));
      return rooms.filter((other) => other !== room && imported.has(other));
    };
    expect([...rooms].sort()).toEqual(Object.keys(ALLOWED).sort());
    expect(documented).toEqual(rooms.map((room) => [room, importedBy(room)]));
    for (const [index, [room, imports]] of documented.entries()) {
      expect(rooms.slice(0, index), room).toEqual(expect.arrayContaining(imports));
      expect(ALLOWED[room], room).toEqual(expect.arrayContaining(imports));
    }
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
    const entries = [...ENTRIES, ...inRoom("bin").map(({ file }) => file)];
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

/** Exported for tests alone, with the reason. What else only tests need is in test/support. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  "src/page/page.ts pageWith": "makes a page with a given script, without a build",
  "src/page/page.ts verifierWith": "makes the page that verifies with a given script, without a build",
  "bin/schemas.ts SCHEMAS": "what the build writes, which no source imports: the shipped files are held against it",
  "src/decode/activity-rules.ts ACTIVITY_RULES": "each of its types has cases",
  "src/cli/commands.ts COMMANDS": "a table of the documentation is held against the options of all commands",
  "src/appraise/pin-writers.ts PIN_WRITERS": "which pins are written is compared with what is",
  "src/appraise/siblings.ts KEEPING": "each of its pins has a test",
  "src/cli/audit-text.ts progressText": "what is said depends on a clock",
  "src/cli/option-table.ts COMMAND_OPTIONS": "the table of the documentation is compared with it",
  "src/cli/option-table.ts OPTIONS": "the table of the documentation is compared with it",
  "src/audit/entry.ts TOO_LONG_REASON": "the reason of entries that are made too long",
  "src/client/operations.ts CAIP2_CHAINS": "each of them is sent",
  "src/client/operations.ts queryBody": "what is sent is read by it",
  "src/lab/faults.ts SUBTLE_FAULTS": "each of them has a test",
  "src/lab/faults.ts VERIFIED_CALLS": "which faults need them decides how a test calls",
  "src/lab/sigstore.ts LAB_BUILD": "policies demand the build that the lab attests",
  "src/report/report.ts ReportParts": "reports are made of parts that no verification has",
  "src/client/stamp.ts derSignature": "a unit with many cases",
  "src/disk/lock.ts thisProcess": "tests write locks of other processes",
  "src/lab/cbor.ts RawCbor": "the place for an encoding that the lab's encoder does not make",
  "src/lab/ethereum.ts encodeRlp": "transactions are damaged by members",
  "src/lab/ethereum.ts decodeRlp": "transactions are damaged by members",
  "src/lab/operations.ts LAB_OPERATIONS": "a plain caller of the lab submits by these names",
  "src/lab/operations.ts LabSubmitName": "a plain caller of the lab submits by these names",
  "src/lab/forge.ts LAB_ADDRESS": "what forged evidence speaks of",
  "src/lab/sigstore.ts sigstoreExtension": "certificates are forged with it",
  "src/lab/sigstore.ts rawSigstoreExtension": "certificates are forged with it",
  "src/lab/sigstore.ts uriName": "certificates are forged with it",
  "src/page/view.ts Shown": "what is drawn, which tests make of evidence in every verdict",
  "src/verify/commitment.ts commitmentPcr": "its register is compared with vectors of other implementations",
  "src/verify/commitment.ts manifestCommitmentPcr": "its register is compared with the one that the lab computes",
  "src/verify/contradictions.ts sameAddress": "a unit with many cases",
};

describe("exported names", () => {
  const takenBy = (users: readonly Source[]): ReadonlySet<string> =>
    new Set(
      users.flatMap(({ file, imports, names }) =>
        imports.flatMap((each) => {
          const taken = sourceOf(join(dirname(file), each.specifier).replaceAll("\\", "/"));
          if (taken === undefined || taken.file === file) return [];
          // Of what is loaded later each name counts that stands in the file.
          const named = each.named ?? (each.dynamic ? taken.exports.filter((name) => names.has(name)) : taken.exports);
          return named.map((name) => `${taken.file} ${name}`);
        }),
      ),
    );
  const used = takenBy(all);
  const unused = all
    .filter(({ file }) => !ENTRIES.includes(file))
    .flatMap(({ file, exports }) => exports.map((name) => `${file} ${name}`))
    .filter((name) => !used.has(name));

  it("were found", () => {
    expect(all.flatMap((each) => each.exports).length).toBeGreaterThan(500);
    expect(sources.get("src/bytes.ts")!.exports).toContain("toHex");
    expect(sources.get("src/index.ts")!.exports).toContain("verifyEvidence");
    expect(used.has("src/bytes.ts toHex")).toBe(true);
    expect(used.has("src/formats/unverified.ts RENDERERS")).toBe(true);
    expect(used.has("src/bytes.ts HEX_DIGITS")).toBe(false);
  });

  it("mean one thing: no two files outside the lab declare the same", () => {
    const files = new Map<string, string[]>();
    for (const { file, declares } of all.filter((each) => roomOf(each.file) !== "lab"))
      for (const name of new Set(declares)) files.set(name, [...(files.get(name) ?? []), file]);
    expect(files.get("verifyEvidence")).toEqual(["src/bootproof.ts"]);
    expect([...files].filter(([, declaring]) => declaring.length > 1)).toEqual([]);
  });

  it("are imported by another file, or listed as the tests' alone", () => {
    expect(unused.filter((name) => !(name in FOR_TESTS))).toEqual([]);
  });

  it("are listed where tests import them, and nobody else does", () => {
    const tested = takenBy(filesIn("test").map(readSource));
    expect(Object.keys(FOR_TESTS).filter((name) => !tested.has(name) || used.has(name))).toEqual([]);
  });
});

describe("the core", () => {
  it("imports nothing of Node, not even a type", () => {
    expect(
      core.filter(({ imports }) => imports.some(({ specifier }) => /^node:/.test(specifier))).map(({ file }) => file),
    ).toEqual([]);
    const bare = ["crypto", "fs", "path", "buffer", "util", "process", "os", "url", "module", "stream", "events"];
    expect(packagesOf(core).filter((name) => bare.includes(name.split("/")[0]!))).toEqual([]);
  });

  /** What takes of noble what is used, for who asks for it. */
  const NOBLE = [
    "src/verify/noble.ts",
    "src/verify/noble-ed25519.ts",
    "src/verify/noble-p521.ts",
    "src/verify/noble-signatures.ts",
  ];

  it("imports no package but noble, and noble only when it is asked for", () => {
    expect(packagesOf(core).filter((name) => !name.startsWith("@noble/"))).toEqual([]);
    const imports = all.flatMap(({ file, imports: its }) =>
      its.map((each) => ({ each, file, target: resolved(file, each) })),
    );
    // Loaded with what it uses.
    const late = ["src/verify/signatures.ts", "src/verify/signed-content.ts"];
    const atOnce = imports.filter(({ each, file }) => !each.dynamic && !each.typeOnly && !late.includes(file));
    expect(atOnce.filter(({ target }) => [...NOBLE, ...late].includes(target!))).toEqual([]);
    expect(packagesOf(core.filter(({ file }) => !NOBLE.includes(file)))).toEqual([]);
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

describe("the limits of the lint step", () => {
  it("hold without exceptions: comments switch nothing off but what types cannot say", () => {
    const comments = [...sources.keys()].flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(/eslint-disable.*|eslint .*:.*/g)].map(([text]) => text),
    );
    expect(comments.filter((text) => text !== "eslint-disable-next-line @typescript-eslint/no-explicit-any")).toEqual(
      [],
    );
  });
});

describe("packages", () => {
  it("cbor-x, whose settings are the whole process's, is for the tests alone", () => {
    expect(importersOf(/^cbor-x/)).toEqual([]);
  });

  it("the platform's cryptography, and noble's in the core, are used in one place", () => {
    const OWNER = ["src/verify/cryptography.ts"];
    const using = core
      .filter(({ names }) => names.has("getBuiltinModule") || names.has("subtle"))
      .map(({ file }) => file);
    expect(using).toEqual(OWNER);
    // The command, for a function that only newer versions of Node have.
    const PROXIES = "src/cli/environment-proxy.ts";
    expect(all.filter(({ names }) => names.has("getBuiltinModule")).map(({ file }) => file)).toEqual([
      PROXIES,
      ...OWNER,
    ]);
    expect(importersOf(/^@noble\//).filter((file) => core.some((each) => each.file === file))).toEqual([
      "src/verify/noble-ed25519.ts",
      "src/verify/noble-p521.ts",
      "src/verify/noble-signatures.ts",
      "src/verify/noble.ts",
    ]);
    expect(importersOf(/\/noble(?:-ed25519|-p521)?\.js$/)).toEqual(["src/client/p256.ts", ...OWNER]);
  });

  it("what is a policy is said by parsePolicy alone", () => {
    expect(all.filter(({ names }) => names.has("madePolicy")).map(({ file }) => file)).toEqual([
      "src/appraise/parsed-policy.ts",
      "src/appraise/policy.ts",
    ]);
  });

  it("commander and yaml are the command line's", () => {
    expect(importersOf(/^(?:commander|yaml)$/).filter((file) => !file.startsWith("src/cli/"))).toEqual([]);
  });

  it("Node is in cli, bin, lab, disk, two other files, and the files for Node of five rooms", () => {
    expect(
      importersOf(/^node:/).filter(
        (file) =>
          !/^(?:src\/cli|bin|src\/lab|src\/disk)\/|^src\/(?:watch|audit|health|proxy|release)\/node[\w-]*\.ts$/.test(
            file,
          ) &&
          file !== "src/client/key-file.ts" &&
          file !== "src/provenance/index.ts",
      ),
    ).toEqual([]);
  });

  it.each(["watch", "audit"])("what bootproof/%s exports imports nothing of Node", (room) => {
    const reached = reachableFrom(`src/${room}/index.ts`);
    expect(reached.length).toBeGreaterThan(20);
    expect(reached.filter(({ imports }) => imports.some(({ specifier }) => /^node:/.test(specifier)))).toEqual([]);
  });

  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Readonly<
    Record<"dependencies" | "devDependencies" | "peerDependencies", Record<string, string>>
  >;
  const namesOf = (files: readonly Source[]): string[] =>
    [
      ...new Set(
        packagesOf(files)
          // The script of pages is this package's own, and loaded from where it is shipped.
          .filter((specifier) => !/^(?:node:|#)/.test(specifier))
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
    const imported = Object.keys({ ...dependencies, ...peerDependencies });
    expect(namesOf(all.filter((source) => !ofCommand(source)))).toEqual(imported.sort());
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
  });

  it("what a queue takes is loaded by the one file that connects, and by none that is not asked for it", () => {
    const QUEUE = /^(?:bullmq|ioredis)$/;
    const values = all.filter(({ imports }) =>
      imports.some(({ specifier, typeOnly }) => QUEUE.test(specifier) && !typeOnly),
    );
    expect(values.map(({ file }) => file)).toEqual(["src/audit/node-redis.ts"]);
    const imports = values.flatMap(({ imports }) => imports.filter(({ specifier }) => QUEUE.test(specifier)));
    expect(imports.filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic)).toEqual([]);
    expect(importersOf(QUEUE).filter((file) => !file.startsWith("src/audit/node-"))).toEqual([]);
    expect(Object.keys(manifest.peerDependencies)).toEqual([
      "@sigstore/verify",
      "bullmq",
      "classic-level",
      "ioredis",
      "prom-client",
    ]);
  });

  it("@sigstore/verify is loaded by the verifier of provenance alone, and only when it is called", () => {
    const SIGSTORE = /^@sigstore\//;
    expect(importersOf(SIGSTORE)).toEqual(["src/provenance/index.ts"]);
    const imports = sources.get("src/provenance/index.ts")!.imports.filter(({ specifier }) => SIGSTORE.test(specifier));
    expect(imports.filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic)).toEqual([]);
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

describe("the page", () => {
  const page = inRoom("page");
  const script = "src/page/browser.ts";
  const files = page.filter(({ file }) => file !== script);

  it("knows a document and a clock in its script alone", () => {
    const names = [
      "createElement",
      "getElementById",
      "window",
      "location",
      "navigator",
      "setTimeout",
      "requestAnimationFrame",
    ];
    expect(
      files.flatMap(({ file, names: its }) => names.filter((name) => its.has(name)).map((name) => `${file}: ${name}`)),
    ).toEqual([]);
    expect(sources.get(script)!.names.has("createElement")).toBe(true);
  });

  it("makes no element of text, and asks for nothing", () => {
    const names = ["innerHTML", "outerHTML", "insertAdjacentHTML", "DOMParser", "eval", "fetch", "XMLHttpRequest"];
    expect(
      page.flatMap(({ file, names: its }) => names.filter((name) => its.has(name)).map((name) => `${file}: ${name}`)),
    ).toEqual([]);
  });

  it("takes its script from where it is shipped, and one file alone loads it", () => {
    expect(importersOf(/^(?:bootproof\/|#)/)).toEqual(["src/page/page.ts"]);
  });
});
