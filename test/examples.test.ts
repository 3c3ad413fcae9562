/** Every `@example` of `src/` compiles, with the exports of the package and a few values that a caller has. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { ROOT, trackedFiles } from "./tracked.mjs";

/** The values that examples use without declaring them, and their types. */
const GIVEN: Readonly<Record<string, string>> = {
  activityId: "string",
  appProof: "unknown",
  appProofs: "readonly unknown[]",
  approval10: "Uint8Array",
  approval6: "Uint8Array",
  baseUrl: "string",
  bootProof: "unknown",
  bundle: "unknown",
  bytes: "Uint8Array",
  challenge: "string",
  client: 'import("../src/client/index.js").Client',
  coseSign1: "Uint8Array",
  createReadStream: 'typeof import("node:fs").createReadStream',
  envelope: "string",
  evidence: 'import("../src/index.js").Evidence',
  entries: "number",
  feed: "string",
  head: "string",
  key: 'import("../src/client/index.js").ApiKey',
  line: "Uint8Array",
  manifest: "Uint8Array",
  manifestSet: 'NonNullable<import("../src/index.js").ReleasePolicyOptions["manifestSet"]>',
  note: "string",
  organizationId: "string",
  payload: 'import("../src/index.js").AppProofPayload',
  pem: "string",
  pivotHash: "Uint8Array",
  policy: 'import("../src/index.js").Policy',
  privateKey: "string",
  publicKey: "string",
  readFile: 'typeof import("node:fs/promises").readFile',
  release: 'import("../src/index.js").Release',
  releases: 'readonly import("../src/index.js").Release[]',
  response: "Response",
  signers: 'import("../src/index.js").PolicySigners',
  signingKey: 'import("../src/signed-policy/index.js").PolicyKey',
  source: "() => Promise<string>",
  setting: 'import("../src/audit/index.js").AuditSetting',
  text: "string",
  turnkey: `import("../src/adapters/index.js").ForeignClient & {
    getActivity(input: object): Promise<{ readonly activity: object }>;
    readonly stamper: import("../src/adapters/index.js").ForeignStamper;
  }`,
  userId: "string",
  writeFile: 'typeof import("node:fs/promises").writeFile',
  token: "string",
};

interface Example {
  /** The source file, and its line. */
  readonly place: string;
  readonly code: string;
}

const options: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent(ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile).config, ts.sys, ROOT)
    .options,
  noEmit: true,
};
const entries = (
  ts.readConfigFile(join(ROOT, "tsconfig.build.json"), ts.sys.readFile).config as { readonly files: readonly string[] }
).files.filter((file) => file.startsWith("src/"));
const found = trackedFiles()
  .filter((file) => /^src\/.*\.ts$/.test(file))
  .flatMap(examplesOf);

function examplesOf(file: string): Example[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  if (!text.includes("@example")) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const tags = new Set<ts.JSDocTag>();
  const visit = (node: ts.Node): void => {
    for (const tag of ts.getJSDocTags(node)) if (tag.tagName.text === "example") tags.add(tag);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...tags].map((tag) => {
    const { line } = source.getLineAndCharacterOfPosition(tag.getStart());
    const comment = ts.getTextOfJSDocComment(tag.comment) ?? "";
    return { place: `${file}:${line + 1}`, code: comment.replaceAll(/^```.*$/gm, "") };
  });
}

/** Source files in memory beside those on the disk, each parsed once for all programs. */
class Host {
  readonly #texts = new Map<string, string>();
  readonly #parsed = new Map<string, ts.SourceFile | undefined>();
  readonly host = ts.createCompilerHost(options);
  #program: ts.Program | undefined;

  constructor() {
    const { getSourceFile, fileExists, readFile } = this.host;
    this.host.fileExists = (name) => this.#texts.has(name) || fileExists(name);
    this.host.readFile = (name) => this.#texts.get(name) ?? readFile(name);
    this.host.getSourceFile = (name, language, ...rest) => {
      const text = this.#texts.get(name);
      if (text !== undefined) return ts.createSourceFile(name, text, language);
      if (!this.#parsed.has(name)) this.#parsed.set(name, getSourceFile(name, language, ...rest));
      return this.#parsed.get(name);
    };
  }

  write(name: string, text: string): string {
    const path = join(ROOT, "test", name);
    this.#texts.set(path, text);
    return path;
  }

  /** The next program takes over what the one before it has resolved. */
  program(paths: readonly string[]): ts.Program {
    this.#program = ts.createProgram(paths, options, this.host, this.#program);
    return this.#program;
  }
}

const host = new Host();

/** The names that each public entry exports. */
function exportsOf(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const program = host.program(paths.map((path) => join(ROOT, path)));
  const checker = program.getTypeChecker();
  return new Map(
    paths.map((path) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(join(ROOT, path))!)!;
      return [path, checker.getExportsOfModule(module).map(({ name }) => name)];
    }),
  );
}

const exported = exportsOf(entries);

/** Imports of what the code names: from the entry of its own room where that exports the name, too. */
function importsFor({ place, code }: Example): string {
  const isOwn = (entry: string): number => Number(place.startsWith(entry.replace(/[^/]+$/, "")));
  const sorted = [...exported].sort(([one], [other]) => isOwn(other) - isOwn(one));
  const names = new Set(code.match(/\b[A-Za-z_]\w*\b/g));
  return [...names]
    .flatMap((name) => {
      const [entry] = sorted.find(([, all]) => all.includes(name)) ?? [];
      return entry === undefined ? [] : [`import { ${name} } from "../${entry.replace(/\.ts$/, ".js")}";`];
    })
    .join("\n");
}

it("examples compile as written", () => {
  const given = Object.entries(GIVEN).map(([name, type]) => `  const ${name}: ${type};`);
  const globals = host.write("examples.d.ts", `export {};\ndeclare global {\n${given.join("\n")}\n}\n`);
  const files = found.map((example, index) => ({
    ...example,
    path: host.write(`example-${index}.ts`, `${importsFor(example)}\n${example.code}\nexport {};\n`),
  }));
  const program = host.program([globals, ...files.map(({ path }) => path)]);
  const faults = files.flatMap(({ place, path }) => {
    const source = program.getSourceFile(path)!;
    const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return diagnostics.map(({ messageText }) => `${place}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
  });
  expect(faults).toEqual([]);
});

it("examples are found, and use each of the given values", () => {
  expect(found.length).toBeGreaterThan(10);
  const code = found.map((example) => example.code).join("\n");
  expect(Object.keys(GIVEN).filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});
