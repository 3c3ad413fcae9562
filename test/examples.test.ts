/** Every `@example` of `src/` compiles, with the exports of the package and a few values that a caller has. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
  manifestSet: 'NonNullable<import("../src/release/index.js").ReleasePolicyOptions["manifestSet"]>',
  myBytes: "Uint8Array",
  note: "string",
  organizationId: "string",
  payload: 'import("../src/decode/index.js").AppProofPayload',
  pem: "string",
  pivotHash: "Uint8Array",
  policy: 'import("../src/index.js").Policy',
  privateKey: "string",
  publicKey: "string",
  readFile: 'typeof import("node:fs/promises").readFile',
  release: 'import("../src/release/index.js").Release',
  releases: 'readonly import("../src/release/index.js").Release[]',
  response: "Response",
  signers: 'import("../src/signed-policy/index.js").PolicySigners',
  signingKey: 'import("../src/signed-policy/index.js").PolicyKey',
  source: "() => Promise<string>",
  setting: 'import("../src/run/index.js").AuditSetting',
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

const build = JSON.parse(readFileSync(join(ROOT, "tsconfig.build.json"), "utf8")) as {
  readonly files: readonly string[];
};
const entries = build.files.filter((file) => file.startsWith("src/"));
const sources = trackedFiles()
  .filter((file) => /^src\/.*\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));
const found = sources.flatMap(examplesOf);

function examplesOf({ file, text }: (typeof sources)[number]): Example[] {
  return [...text.matchAll(/^ *\* @example\n((?: *\*(?! @|\/).*\n)+)/gm)].map(({ index, 1: lines }) => ({
    place: `${file}:${text.slice(0, index).split("\n").length}`,
    code: lines!.replaceAll(/^ *\* ?/gm, "").replaceAll(/^```.*$/gm, ""),
  }));
}

/** The names that each public entry exports. */
const exported: ReadonlyMap<string, readonly string[]> = new Map(
  entries.map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => names!.split(","));
    const declared = [...text.matchAll(/^export (?:const|(?:async )?function|class|interface|type) (\w+)/gm)];
    const names = listed.map((name) => name.replace(/^.*\bas\b|^\s*type\b/, "").trim());
    return [path, [...names, ...declared.map(([, name]) => name!)]];
  }),
);

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
  const folder = join(ROOT, "node_modules/.cache/bootproof/examples");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, name), text.replaceAll('"../src/', `"${join(ROOT, "src")}/`));
  const given = Object.entries(GIVEN).map(([name, type]) => `  const ${name}: ${type};`);
  write("given.d.ts", `export {};\ndeclare global {\n${given.join("\n")}\n}\n`);
  for (const [index, example] of found.entries())
    write(`example-${index}.ts`, `${importsFor(example)}\n${example.code}\nexport {};\n`);
  const compilerOptions = { noEmit: true, rootDir: ROOT };
  write(
    "tsconfig.json",
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions,
      include: [".", join(ROOT, "bin/**/*.d.ts")],
    }),
  );
  const tsc = join(ROOT, "node_modules/typescript-native/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { encoding: "utf8" });
  const placed = stdout.replaceAll(/^.*\bexample-(\d+)\.ts\b/gm, (_, index: string) => found[Number(index)]!.place);
  expect(placed).toBe("");
});

it("examples are found, and use each of the given values", () => {
  const tags = sources.flatMap(({ text }) => text.match(/ @example$/gm) ?? []);
  expect([found.length > 10, found.length]).toEqual([true, tags.length]);
  const code = found.map((example) => example.code).join("\n");
  expect(Object.keys(GIVEN).filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});
