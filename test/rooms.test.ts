/** Which room of src/ may know of which (each says so in its README), read from the sources' imports. */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { trackedFiles } from "./tracked.mjs";

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
  /** Where it reads the clock, or draws by chance. */
  readonly ambient: readonly string[];
}

const sources = new Map<string, Source>([...filesIn("src"), ...filesIn("bin")].map((file) => [file, readSource(file)]));

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts") && !file.includes("/node_modules/"));
}

/** Which names a test takes. Only one that loads something later has to be parsed: the others have an import clause. */
function readTest(file: string): Pick<Source, "file" | "imports" | "names"> {
  const text = readFileSync(join(ROOT, file), "utf8");
  const needsParser = /\bimport\(|\bexport [*{]|\bimport (?:type )?(?:\w+,? )*(?:\* as|\w+ from)/;
  if (needsParser.test(text)) return readSource(file, text);
  const clauses = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from "([^"]*)"/gm)];
  const imports = clauses.map(([, names, specifier]): Import => ({
    ...{ specifier: specifier!, typeOnly: false, dynamic: false },
    named: names!.split(",").map((name) => /^\s*(?:type )?(\w*)/.exec(name)![1]!),
  }));
  return { file, imports, names: new Set() };
}

function readSource(file: string, text = readFileSync(join(ROOT, file), "utf8")): Source {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  const names = new Set<string>();
  const ambient: string[] = [];
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
    if (isAmbient(node)) ambient.push(node.getText());
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
  return { file, imports, names, exports, declares: exports.filter((name) => !passedOn.has(name)), ambient };
}

function isAmbient(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return node.expression.getText() === "Date" && (node.arguments ?? []).length === 0;
  return ts.isCallExpression(node) && /^(?:Date\.now|Math\.random)$/.test(node.expression.getText());
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

function reachableFrom(...entries: readonly string[]): Source[] {
  const seen = new Set(entries);
  for (const file of seen)
    for (const each of sources.get(file)!.imports) {
      const target = resolved(file, each);
      if (target !== null) seen.add(target);
    }
  return [...seen].map((file) => sources.get(file)!);
}

const all = [...sources.values()];
/** The subpaths that are of the core, as the root is. */
const OF_CORE = ["addresses", "author", "bundle", "decode", "diff", "inspect", "release", "review", "signed-policy"];
const core = reachableFrom("src/index.ts", ...[...OF_CORE, "token"].map((room) => `src/${room}/index.ts`));
const inRoom = (room: string): Source[] => all.filter(({ file }) => roomOf(file) === room);
const packagesOf = (files: readonly Source[]): string[] =>
  [
    ...new Set(
      files
        .flatMap(({ imports }) => imports.map(({ specifier }) => specifier))
        .filter((specifier) => !specifier.startsWith(".")),
    ),
  ].sort();
const PACKAGE = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Readonly<
  Record<"dependencies" | "devDependencies" | "peerDependencies", Record<string, string>>
> & { readonly exports: Readonly<Record<string, string | { readonly types: string }>> };
/** What the package exports from, and what runs in a thread and in a page. */
const ENTRIES = [
  ...Object.values(PACKAGE.exports).flatMap((entry) => (typeof entry === "string" ? [] : sourceAt(entry.types))),
  ...["src/run/node-thread.ts", "src/page/browser.ts"],
];

function sourceAt(built: string): string {
  return built.replace(/^\.\/dist\//, "").replace(/\.d\.ts$/, ".ts");
}

describe("the graph of imports", () => {
  it("was found", () => {
    expect(sources.size).toBeGreaterThan(60);
    const rooms = ["bytes", "errors", "checks", "decode", "verify", "appraise", "report", "bootproof", "index"];
    expect(core.map(({ file }) => roomOf(file))).toEqual(expect.arrayContaining(rooms));
    expect(all.flatMap(({ imports }) => imports).length).toBeGreaterThan(300);
    const noble = { specifier: "./noble.js", typeOnly: false, dynamic: true, named: null };
    expect(sources.get("src/verify/cryptography.ts")!.imports).toContainEqual(noble);
  });

  it("is the one that CONTRIBUTING describes: each room imports only rooms above it in the table", () => {
    const document = readFileSync(join(ROOT, ".github/CONTRIBUTING.md"), "utf8");
    const [, table] = /\n\| room \| imports \|\n\|---\|---\|\n(.*?)\n\n/s.exec(document)!;
    const documented = table!.split("\n").map((row) => {
      const [, cell, imports] = row.split("|").map((text) => text.trim()) as [string, string, string];
      const [, room] = /^(?:\[|`(?:src\/)?)([\w-]+)/.exec(cell)!;
      return [room!, imports === "none" ? [] : imports.split(", ")] as const;
    });
    const rooms = documented.map(([room]) => room);
    expect([...rooms].sort()).toEqual([...new Set(all.map(({ file }) => roomOf(file)))].sort());
    const importedBy = (room: string): string[] => {
      const targets = inRoom(room).flatMap(({ file, imports }) => imports.map((each) => resolved(file, each)));
      const imported = new Set(targets.filter((target) => target !== null).map(roomOf));
      return rooms.filter((other) => other !== room && imported.has(other));
    };
    expect(documented).toEqual(rooms.map((room) => [room, importedBy(room)]));
    for (const [index, [room, imports]] of documented.entries())
      expect(rooms.slice(0, index), room).toEqual(expect.arrayContaining(imports));
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
  "src/door/rejection.ts OPERATIONS_WITHOUT_APP_PROOFS": "the interface of another SDK is compared with it",
  "src/cli/watch.ts watchExitCode": "which of 1, 2 and 3 wins is compared case by case",
  "src/page/page.ts pageWith": "makes a page with a given script, without a build",
  "src/page/page.ts verifierWith": "makes the page that verifies with a given script, without a build",
  "bin/schemas.ts SCHEMAS": "what the build writes, which no source imports: the shipped files are held against it",
  "src/verify/address-formats.ts ADDRESS_FORMATS": "each format is compared with the interface, and has vectors",
  "src/decode/activity-rules.ts ACTIVITY_RULES": "each of its types has cases",
  "src/cli/commands.ts COMMANDS": "a table of the documentation is held against the options of all commands",
  "src/appraise/siblings.ts KEEPING": "each of its pins has a test",
  "src/cli/audit-text.ts progressText": "what is said depends on a clock",
  "src/run/node-seal.ts sealedFacts": "jobs and answers are forged with it",
  "src/run/line.ts NO_LINE": "a unit with many cases",
  "src/run/watch.ts watchResultOf": "lines of a watch are made of reports",
  "src/run/entry.ts TOO_LONG_REASON": "the reason of entries that are made too long",
  "src/client/operations.ts CAIP2_CHAINS": "each of them is sent",
  "src/client/operations.ts queryBody": "what is sent is read by it",
  "src/client/operations.ts submitBody": "what is sent is read by it",
  "src/lab/addresses-of.ts FORMATS_OF_ADDRESSES": "an account of each format signs",
  "src/lab/sigstore.ts LAB_BUILD": "policies demand the build that the lab attests",
  "src/report/report.ts ReportParts": "reports are made of parts that no verification has",
  "src/client/stamp.ts derSignature": "a unit with many cases",
  "src/disk/lock.ts thisProcess": "tests write locks of other processes",
  "src/lab/borsh.ts BORSH_MANIFESTS": "the decoder is compared with the package that writes by it",
  "src/lab/borsh.ts borshEnvelope": "the decoder is compared with the package that writes by it",
  "src/lab/borsh.ts borshForm": "the decoder is compared with the package that writes by it",
  "src/lab/ethereum.ts encodeRlp": "transactions are damaged by members",
  "src/lab/ethereum.ts decodeRlp": "transactions are damaged by members",
  "src/lab/operations.ts LabSubmitName": "a plain caller of the lab submits by these names",
  "src/lab/forge.ts LAB_ADDRESS": "what forged evidence speaks of",
  "src/lab/sigstore.ts sigstoreExtension": "certificates are forged with it",
  "src/lab/sigstore.ts uriName": "certificates are forged with it",
  "src/lab/sigstore.ts LabBuild": "builds of other identities are forged with it",
  "src/lab/sigstore.ts LabRelease": "releases of other identities are forged with it",
  "src/lab/sigstore.ts ProvenanceAlterations": "bundles are damaged by its members",
  "src/lab/sigstore.ts ProvenanceOptions": "bundles are forged with it",
  "src/lab/sigstore.ts SavedSigstore": "attested bundles are made in advance with it",
  "src/client/payload-schemas.ts SchemaResult": "schemas of every answer are tried",
  "src/client/payload-schemas.ts StandardSchema": "schemas of every answer are tried",
  "src/page/view.ts reportView": "the same, of a report alone",
  "src/page/view.ts Shown": "what is drawn, which tests make of evidence in every verdict",
  "src/verify/commitment.ts commitmentPcr": "its register is compared with vectors of other implementations",
  "src/verify/commitment.ts manifestCommitmentPcr": "its register is compared with the one that the lab computes",
  "src/verify/contradictions.ts sameAddress": "a unit with many cases",
};

describe("what the package exports", () => {
  const entries = Object.entries(PACKAGE.exports).flatMap(([path, entry]) =>
    typeof entry === "string" ? [] : [{ path, names: new Set(sources.get(sourceAt(entry.types))!.exports) }],
  );

  it("is at most 90 names at the root, and 420 in all", () => {
    expect(entries.find(({ path }) => path === ".")!.names.size).toBeLessThanOrEqual(90);
    const sizes = entries.map(({ names }) => names.size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(420);
  });

  it("has one place: only parsePolicy has a second, for adapters that are all that an application imports", () => {
    const names = entries.flatMap((entry) => [...entry.names]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual(["parsePolicy"]);
  });

  it("is compiled, entry by entry", () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, "tsconfig.build.json"), "utf8")) as { files: string[] };
    const code = ENTRIES.filter((file) => !["src/run/node-thread.ts", "src/page/browser.ts"].includes(file));
    expect(files.filter((file) => file.startsWith("src/")).sort()).toEqual([...code].sort());
  });
});

describe("exported names", () => {
  const takenBy = (users: readonly ReturnType<typeof readTest>[]): ReadonlySet<string> =>
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
    expect(used.has("src/formats/reports.ts REPORT_RENDERERS")).toBe(true);
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
    const tested = takenBy(filesIn("test").map(readTest));
    expect(Object.keys(FOR_TESTS).filter((name) => !tested.has(name) || used.has(name))).toEqual([]);
  });
});

/** Which files import a package, or a file; of all sources, or of the core. */
const IMPORTERS: readonly (readonly [what: string, imported: RegExp, files: RegExp])[] = [
  ["cbor-x, whose decoder is no verifier, only to write the lab's documents", /^cbor-x/, /^src\/lab\/enclave\.ts$/],
  ["commander and yaml only in the command line", /^(?:commander|yaml)$/, /^src\/cli\//],
  [
    "Node in cli, bin, lab, disk, and the files for Node of six rooms",
    /^node:/,
    RegExp(
      "^(?:bin|src/(?:cli|lab|disk))/|^src/(?:run|proxy|release|signed-policy)/node[^/]*$|" +
        "^src/(?:client/key-file|provenance/index)\\.ts$",
    ),
  ],
  ["what a queue takes in the queue's files", /^(?:bullmq|ioredis)$/, /^src\/run\/node-/],
  ["@sigstore/verify only in the verifier of provenance", /^@sigstore\/verify/, /^src\/provenance\/index\.ts$/],
  [
    "noble's curves only for cryptography",
    /\/noble(?:-ed25519|-p521)?\.js$/,
    /^src\/(?:client\/p256|verify\/(?:cryptography|noble-signatures))\.ts$/,
  ],
  ["what this package ships, loaded by one file", /^(?:bootproof\/|#)/, /^src\/page\/page\.ts$/],
  ["the lab only in the command line", /\/lab\//, /^src\/(?:cli|lab)\//],
];

it.each(IMPORTERS)("imports: %s", (_, imported, files) => {
  const importers = all.filter(({ imports }) => imports.some(({ specifier }) => imported.test(specifier)));
  if (files.source !== "^$") expect(importers).not.toEqual([]);
  expect(importers.map(({ file }) => file).filter((file) => !files.test(file))).toEqual([]);
});

const page = inRoom("page");
const SCRIPT = "src/page/browser.ts";
/** Names that stand in no file of some, but for those that own them. */
const NAMES: readonly (readonly [what: string, of: readonly Source[], names: string, owners: readonly string[]])[] = [
  ["no global of Node in the core", core, "Buffer require __dirname __filename performance eval", []],
  ["no timer in the core but for turns", core, "setTimeout setInterval setImmediate", ["src/verify/in-turns.ts"]],
  ["no network in the core", core, "fetch XMLHttpRequest WebSocket", []],
  [
    "no console in the core, but for a signed policy that cannot be refreshed",
    core,
    "console",
    ["src/signed-policy/open.ts"],
  ],
  ["the platform's cryptography in one file of the core", core, "subtle", ["src/verify/cryptography.ts"]],
  [
    "what only newer versions of Node have, in two files",
    all,
    "getBuiltinModule",
    ["src/cli/environment-proxy.ts", "src/verify/cryptography.ts"],
  ],
  [
    "what is a policy, as parsePolicy alone says",
    all,
    "madePolicy",
    ["src/appraise/parsed-policy.ts", "src/appraise/policy.ts"],
  ],
  [
    "a document and a clock in the page's script alone",
    page,
    "createElement getElementById window location navigator",
    [SCRIPT],
  ],
  ["a timer in the page's script alone", page, "setTimeout requestAnimationFrame", [SCRIPT]],
  ["no element made of text in the page", page, "innerHTML outerHTML insertAdjacentHTML DOMParser eval", []],
  ["no request by the page", page, "fetch XMLHttpRequest", []],
];

it.each(NAMES)("names: %s", (_, of, names, owners) => {
  const holders = of.filter((source) => names.split(" ").some((name) => source.names.has(name)));
  expect(holders.map(({ file }) => file).sort()).toEqual(owners);
});

const notOfNode = [
  ["the core", core],
  ["bootproof/run", reachableFrom("src/run/index.ts")],
] as const;
it.each(notOfNode)("%s imports nothing of Node, not even a type", (_, files) => {
  expect(files.length).toBeGreaterThan(20);
  const bare = /^(?:node:|(?:crypto|fs|path|buffer|util|process|os|url|module|stream|events)(?:\/|$))/;
  expect(files.filter(({ imports }) => imports.some(({ specifier }) => bare.test(specifier)))).toEqual([]);
});

it("rooms that phones load use no method that an older Hermes lacks", () => {
  const isForPhones = (file: string): boolean =>
    !/^(?:bin|src\/(?:cli|lab|disk|run|proxy|image|page))\/|\/node[^/]*$|^src\/client\/node-/.test(file);
  const lacking = /\.(?:at\(-\d|toSorted\(|toReversed\(|toSpliced\(|with\(\d)|structuredClone\(|Array\.fromAsync/;
  const files = [...sources.values()].map(({ file }) => file).filter(isForPhones);
  expect(files.length).toBeGreaterThan(150);
  expect(files.filter((file) => lacking.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});

it("the core imports no package but noble and scure's codecs, and those only when they are asked for", () => {
  const isNoble = (file: string): boolean => /^src\/verify\/noble[\w-]*\.ts$/.test(file);
  expect(packagesOf(core).filter((name) => !name.startsWith("@noble/"))).toEqual(["@scure/base"]);
  expect(packagesOf(core.filter(({ file }) => !isNoble(file)))).toEqual([]);
  // These are loaded with what they use.
  const names = [
    "signatures",
    "signed-content",
    "signers",
    "signed-transactions",
    "address-formats",
    "output-scripts",
    "bitcoin",
  ];
  const late = names.map((name) => `src/verify/${name}.ts`);
  const atOnce = all
    .filter(({ file }) => !late.includes(file) && !isNoble(file))
    .flatMap(({ file, imports }) =>
      imports.filter(({ dynamic, typeOnly }) => !dynamic && !typeOnly).map((each) => resolved(file, each)),
    );
  expect(atOnce.filter((target) => target !== null && (isNoble(target) || late.includes(target)))).toEqual([]);
});

it("the core knows neither client nor lab nor command line", () => {
  const rooms = core.map(({ file }) => roomOf(file));
  expect(rooms.filter((room) => ["client", "lab", "cli", "bin"].includes(room))).toEqual([]);
});

it("comments switch no limit of the lint step off but what types cannot say", () => {
  const comments = [...sources.keys()].flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/(?:es|ox)lint-disable.*/g)].map(([text]) => text),
  );
  expect(comments.filter((text) => text !== "oxlint-disable-next-line typescript/no-explicit-any")).toEqual([]);
});

it("time and randomness are arguments everywhere but where a program starts", () => {
  const starts = /^src\/(?:cli|lab|client|door\/door|adapters|disk|page\/browser\.ts|run\/node)|^bin\//;
  const inner = [...sources.values()].filter(({ file }) => !starts.test(file));
  expect(inner.flatMap(({ file, ambient }) => ambient.map((text) => `${file}: ${text}`))).toEqual([]);
});

// The formatter breaks code, and neither comments nor texts.
it("no line of a source or a test has more than 120 columns", () => {
  const files = trackedFiles().filter((file) => /\.[cm]?[jt]s$/.test(file) && !file.startsWith("test-vectors/"));
  const tooLong = (line: string): boolean => line.length > 120;
  expect(files.filter((file) => readFileSync(join(ROOT, file), "utf8").split("\n").some(tooLong))).toEqual([]);
});

describe("packages", () => {
  const { dependencies, devDependencies, peerDependencies } = PACKAGE;
  /** Without the script of pages, which is this package's own. */
  const namesOf = (files: readonly Source[]): string[] => {
    const names = packagesOf(files).filter((specifier) => !/^(?:node:|#)/.test(specifier));
    return [...new Set(names.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]))].sort();
  };
  const ofCommand = ({ file }: Source): boolean => /^(?:src\/cli|bin)\//.test(file);
  /** Bundled into the lab's files, in the library and in the command. */
  const OF_LAB = ["@sigstore/protobuf-specs", "asn1js", "borsh", "cbor-x"];

  it("of the library are all named in package.json, with one version each", () => {
    const imported = Object.keys({ ...dependencies, ...peerDependencies });
    expect(namesOf(all.filter((source) => !ofCommand(source)))).toEqual([...imported, ...OF_LAB].sort());
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    const peers = ["@sigstore/verify", "bullmq", "ioredis", "prom-client"];
    expect(Object.keys(peerDependencies)).toEqual(peers);
  });

  it("of the lab's evidence are bundled into it: nobody installs them", () => {
    const others = all.filter(({ file }) => roomOf(file) !== "lab");
    expect(namesOf(others).filter((name) => OF_LAB.includes(name))).toEqual([]);
    for (const name of OF_LAB) expect(devDependencies, name).toHaveProperty([name], expect.stringMatching(/^[\d.]+$/));
  });

  it("of the command alone are bundled into it: nobody installs them", () => {
    const bundled = namesOf(all.filter(ofCommand)).filter((name) => !(name in dependencies));
    expect(bundled.filter((name) => !(name in devDependencies))).toEqual([]);
    expect(bundled).toEqual(["commander", "yaml"]);
  });

  it.each([
    ["a queue", /^(?:bullmq|ioredis)$/, "src/run/node-redis.ts"],
    ["provenance", /^@sigstore\/verify/, "src/provenance/index.ts"],
  ])("of %s are loaded by one file, and only when it is called", (_, packages, owner) => {
    const imports = all.flatMap(({ file, imports: its }) => its.map((each) => ({ file, ...each })));
    const values = imports.filter(({ specifier, typeOnly }) => packages.test(specifier) && !typeOnly);
    expect([...new Set(values.map(({ file }) => file))]).toEqual([owner]);
    expect(values.filter(({ dynamic }) => !dynamic)).toEqual([]);
  });
});
