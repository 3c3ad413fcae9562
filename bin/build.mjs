/**
 * Bundles the command, the checks that the library loads when it needs them, the script of pages, and what runs in
 * threads. Also makes the JSON Schemas of policy and report. `node bin/build.mjs command` makes the command alone,
 * which needs nothing of the compiler (`npm start`).
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { notices } from "./notices.mjs";
import "./texts.mjs";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));

const shared = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  // Dependencies stay external: they are installed once, in the version of the user's lock file. "#page-script" is
  // built below.
  external: [
    ...Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    "#page-script",
  ],
  // The build of yaml for Node is CommonJS and calls require, which ES modules lack. The build for browsers has the
  // same code as ES modules, so it is bundled instead.
  alias: { yaml: "./node_modules/yaml/browser/index.js" },
  metafile: true,
  logLevel: "warning",
};

const scan = {
  ...shared,
  entryPoints: ["bin/bootproof.ts"],
  format: "esm",
  splitting: true,
  outdir: "dist",
  write: false,
};
/** Every source of the command, with what it imports. */
const { inputs } = (await build(scan)).metafile;
const importsOf = (file) =>
  inputs[file].imports.filter(({ path, kind }) => kind !== "dynamic-import" && path in inputs).map(({ path }) => path);

/** The sources that keep state, or have classes of errors. Bundles import them, so that there is one copy. */
const STATEFUL = ["src/errors.ts", "src/verify/cryptography.ts", "src/verify/signature-cache.ts"];
/** The modules that the library loads on demand. */
const LATER = [
  ...["app-proof-checks", "signed-bytes", "activity-checks", "signatures", "provenance-checks", "revocation"],
  ...["address-formats", "output-scripts", "bitcoin"],
];

/**
 * Bundles each of them with its imports. A bundler with code splitting would move code that they share with an entry
 * into a chunk, and always load that chunk with the entry.
 */
async function buildLaterModules() {
  await build({
    bundle: true,
    entryPoints: LATER.map((name) => `src/verify/${name}.ts`),
    outdir: "dist/src/verify",
    format: "esm",
    target: "es2022",
    logLevel: "warning",
    plugins: [{ name: "stateful", setup: (bundler) => bundler.onResolve({ filter: /^\.\.?\// }, besideState) }],
  });
}

function besideState({ path, kind, resolveDir }) {
  const file = relative("", join(resolveDir, path)).replace(/\.js$/, ".ts");
  if (kind === "entry-point" || (kind !== "dynamic-import" && !STATEFUL.includes(file))) return undefined;
  return { path: `../${relative("src", file).replace(/\.ts$/, ".js")}`, external: true, sideEffects: false };
}

const command = {
  ...shared,
  minify: true,
  format: "esm",
  outdir: "dist/bin",
  // commander calls require, which ES modules lack. It gets an empty child_process, which it uses only for subcommands
  // in files of their own: there are none.
  banner: { js: 'const require=name=>name==="node:child_process"?{}:process.getBuiltinModule(name);' },
};
/**
 * Files that are always loaded whole, with their entries. Each contains what its entries import statically, except what
 * an earlier file contains. esbuild alone would make about a hundred chunks, and Node needs a third of a millisecond
 * for each.
 */
const WHOLE = {
  main: ["bin/bootproof.ts"],
  verify: ["src/cli/verify.ts", "src/inspect/kinds.ts"],
  policy: ["src/appraise/policy.ts", "src/appraise/appraise.ts", "src/bundle/file.ts"],
};
/** The name in `WHOLE` of the file that contains each source. */
const wholeOf = new Map();
function addTo(whole, file) {
  if (wholeOf.has(file)) return;
  if (inputs[file] === undefined) throw new Error(`${file} is not a source of the command`);
  wholeOf.set(file, whole);
  for (const path of importsOf(file)) addTo(whole, path);
}
for (const [whole, entryPoints] of Object.entries(WHOLE)) entryPoints.forEach((file) => addTo(whole, file));

const later = Object.values(inputs)
  .flatMap(({ imports }) => imports)
  .filter(({ path, kind }) => kind === "dynamic-import" && path in inputs && !wholeOf.has(path));
const nameOf = (file) => file.replace(/^src\/|\.[jt]s$/g, "").replaceAll("/", "-");

/**
 * Returns a plugin that resolves an import to the built file that contains the source. `own` is the file that is built.
 */
const between = (own) => ({
  name: "between files",
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
      const made = relative("", join(resolveDir, path));
      const file = made in inputs ? made : made.replace(/\.js$/, ".ts");
      const whole = wholeOf.get(file);
      if (whole !== own && whole !== undefined) return { path: `./${whole}.js`, external: true, sideEffects: false };
      // Only this source has side effects when it is loaded, although package.json says that no file has any.
      if (file === "bin/bootproof.ts") return { path: resolve(file) };
      if (whole === own || kind !== "dynamic-import") return undefined;
      return { path: `./${nameOf(file)}.js`, external: true };
    });
  },
});

rmSync("dist/bin", { recursive: true, force: true });
const built = [];
for (const whole of Object.keys(WHOLE)) {
  const files = [...wholeOf].filter(([file, of]) => of === whole && !file.startsWith("node_modules/"));
  const contents = files.map(([file]) => `export * from "./${file}";`).join("\n");
  const stdin = { contents, resolveDir: ".", sourcefile: whole };
  built.push(
    await build({ ...command, stdin, outdir: undefined, outfile: `dist/bin/${whole}.js`, plugins: [between(whole)] }),
  );
}
const entryPoints = Object.fromEntries(later.map(({ path }) => [nameOf(path), path]));
built.push(await build({ ...command, entryPoints, splitting: true, plugins: [between(undefined)] }));
writeFileSync("dist/bin/bootproof.cjs", `#!/usr/bin/env node\nimport("./main.js");\n`);
chmodSync("dist/bin/bootproof.cjs", 0o755);
writeFileSync(
  "dist/bin/THIRD-PARTY.txt",
  notices(
    "The command",
    built.map(({ metafile }) => metafile),
  ),
);

/** The script of a page: all verification in one script, since a page loads nothing. */
async function buildPageScript() {
  const script = await build({
    bundle: true,
    minify: true,
    entryPoints: ["src/page/browser.ts"],
    platform: "browser",
    format: "iife",
    target: "es2022",
    legalComments: "eof",
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  // Escapes control characters, and characters that could end the script element or change how a parser reads it.
  const escaped = (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const scriptText = script.outputFiles[0].text.trim().replace(/<(?=\/|!--|script)|[^\n\x20-\x7e]/gi, escaped);
  mkdirSync("dist/page", { recursive: true });
  writeFileSync("dist/page/script.js", `export const PAGE_SCRIPT = ${JSON.stringify(scriptText)};\n`);
  // The import is replaced by a relative path, since some bundlers do not read "imports" of package.json.
  const page = readFileSync("dist/src/page/page.js", "utf8");
  writeFileSync("dist/src/page/page.js", page.replace('"#page-script"', '"../../page/script.js"'));
  writeFileSync("dist/page/THIRD-PARTY.txt", notices("The script of pages", [script.metafile]));
}

/** The code of an audit's threads, in one file, since each thread reads it; other packages stay external. */
async function buildThread() {
  await build({
    ...shared,
    minify: true,
    packages: "external",
    entryPoints: ["src/run/node-thread.ts"],
    format: "esm",
    outfile: "dist/run/thread.js",
  });
}

/** The JSON Schemas of policy and report. */
async function writeSchemas() {
  const { outputFiles } = await build({ ...shared, entryPoints: ["bin/schemas.ts"], format: "esm", write: false });
  const { SCHEMAS } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
  mkdirSync("dist/schemas", { recursive: true });
  for (const [name, schema] of Object.entries(SCHEMAS))
    writeFileSync(`dist/schemas/${name}`, `${JSON.stringify(schema, undefined, 2)}\n`);
}

if (process.argv[2] !== "command") {
  await buildLaterModules();
  await buildPageScript();
  await buildThread();
  await writeSchemas();
}
