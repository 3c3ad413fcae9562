/**
 * Bundles the command: one file for `verify`, so that it starts fast, and one for all commands, each complete in
 * itself; and beside them, loaded only by the commands that need them, the parts that are large. CommonJS for the two,
 * since Node starts it faster; ES modules for the others, which may share code. The demo too, which is for a checkout
 * and in no package; and the JSON Schemas of policy and report, from the tables that read the one and make the other.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));

const shared = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  // What the library depends on is there once, in the version that the user's lock file names, for the command too.
  // And so is the script of pages, which this file makes.
  external: [
    ...Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    "bootproof/page/script",
  ],
  // Its build for Node is CommonJS that asks for modules when it runs; the other is the same code in ES modules.
  alias: { yaml: "./node_modules/yaml/browser/index.js" },
  metafile: true,
  logLevel: "warning",
};

/** What the command loads when it needs it: modules of large rooms, and those that take a package of their own. */
const LOADED_LATER = new RegExp(
  [
    String.raw`^\.\.\/(?:audit|client|lab|page|release|watch)\/`,
    String.raw`^\.\.\/image\/measure\.js$`,
    String.raw`^\.\.\/report\/explanations\.js$`,
    String.raw`^\.\/(?:completion-script|yaml|noble|noble-ed25519|noble-p521)\.js$`,
    String.raw`^(?:\.|\.\.\/formats)\/(?:junit|sarif|github|markdown|ear|vsa)\.js$`,
  ].join("|"),
);
const entries = new Set();
const rooms = {
  name: "rooms",
  setup(bundler) {
    bundler.onResolve({ filter: LOADED_LATER }, ({ path, kind, importer, resolveDir }) => {
      if (kind !== "dynamic-import")
        return { errors: [{ text: `${path} is loaded when it is needed: await import it in ${importer}` }] };
      const file = relative("src", join(resolveDir, path));
      entries.add(join("src", file.replace(/\.js$/, ".ts")));
      return { path: `./rooms/${file.replaceAll("\\", "/")}`, external: true };
    });
  },
};

/** The file of all commands, which that of `verify` loads for any other one. */
const allCommands = {
  name: "all commands",
  setup(bundler) {
    bundler.onResolve({ filter: /\/cli\/commands\.js$/ }, ({ kind }) => {
      return kind === "entry-point" ? undefined : { path: "./commands.cjs", external: true };
    });
  },
};

/**
 * commander asks for node:child_process at once, for subcommands in files of their own, which this command has none of.
 */
const childProcess = {
  name: "child_process",
  setup(bundler) {
    bundler.onResolve({ filter: /^node:child_process$/ }, () => ({ path: "child_process", namespace: "lazy" }));
    const contents =
      'module.exports = new Proxy({}, { get: (_, name) => process.getBuiltinModule("node:child_process")[name] });';
    bundler.onLoad({ filter: /.*/, namespace: "lazy" }, () => ({ contents }));
  },
};

/** Name, version and licence of every package that the bundles have code of: their licences ask for that. */
function notices(what, metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const found = inputs.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const texts = [...new Set(found)].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const [file] = readdirSync(folder).filter((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  });
  return `${what} has code of these packages in it.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/**
 * The module as a function of what imports for it, `bring`: in Node 20 code from a cache cannot import. In parentheses,
 * by which V8 compiles it at once, where it would read it twice.
 */
function imported(text) {
  return `module.exports=(function(bring){${text.trimEnd().replace(/\bimport\("/g, 'bring("')}});\n`;
}

/** Writes what V8 compiles of the command for the genuine pair, and answers how `bin/start.ts` knows it again. */
function codeCache(file, cache) {
  const evidence = ["boot", "app"].flatMap((kind) => [
    `--${kind}-proof`,
    `test-vectors/boot-proofs/${kind}proof-1.json`,
  ]);
  const args = ["bin/code-cache.mjs", resolve(file), resolve(cache), "verify", ...evidence, "--no-policy"];
  // Flags of V8 would be part of what the cache is for.
  const env = { ...process.env, NODE_OPTIONS: "", NODE_V8_COVERAGE: "" };
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`no code cache: ${stderr}`);
  const { version, versions, platform, arch } = process;
  const sha256 = createHash("sha256").update(readFileSync(file)).update(readFileSync(cache)).digest("hex");
  return { node: [version, versions.v8, platform, arch].join(" "), sha256 };
}

rmSync("dist/bin", { recursive: true, force: true });
const command = await build({
  ...shared,
  minify: true,
  entryPoints: { main: "bin/bootproof.ts", commands: "src/cli/commands.ts" },
  format: "cjs",
  outdir: "dist/bin",
  outExtension: { ".js": ".cjs" },
  plugins: [rooms, allCommands, childProcess],
});
const loadedLater = await build({
  ...shared,
  minify: true,
  entryPoints: [...entries],
  format: "esm",
  splitting: true,
  outbase: "src",
  outdir: "dist/bin/rooms",
});
writeFileSync("dist/bin/main.cjs", imported(readFileSync("dist/bin/main.cjs", "utf8")));
await build({
  ...shared,
  minify: true,
  entryPoints: { bootproof: "bin/start.ts" },
  banner: { js: '"use strict";const bring=name=>import(name);' },
  format: "cjs",
  outdir: "dist/bin",
  outExtension: { ".js": ".cjs" },
  define: { CODE_CACHE: JSON.stringify(codeCache("dist/bin/main.cjs", "dist/bin/main.cache")) },
});
writeFileSync("dist/bin/THIRD-PARTY.txt", notices("The command", [command.metafile, loadedLater.metafile]));

/** What runs in a page: everything that verifies, in one script, since a page loads nothing. */
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
// What could end the element, or change how a parser reads it, and controls: as escapes that mean the same.
const escaped = (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
const scriptText = script.outputFiles[0].text.trim().replace(/<(?=\/|!--|script)|[^\n\x20-\x7e]/gi, escaped);
mkdirSync("dist/page", { recursive: true });
writeFileSync("dist/page/script.js", `export const PAGE_SCRIPT = ${JSON.stringify(scriptText)};\n`);
writeFileSync(
  "dist/page/script.d.ts",
  "/** What runs in a page: for `renderPage` and its like. */\nexport declare const PAGE_SCRIPT: string;\n",
);
writeFileSync("dist/page/THIRD-PARTY.txt", notices("The script of pages", [script.metafile]));

/** What runs in a thread of an audit, in one file, since each thread reads it anew; other packages it finds beside. */
await build({
  ...shared,
  minify: true,
  packages: "external",
  entryPoints: ["src/audit/node-thread.ts"],
  format: "esm",
  outfile: "dist/audit/thread.js",
});
writeFileSync(
  "dist/audit/thread.d.ts",
  "/** What runs in a thread of an audit: for its pool, and nobody else. */\n" +
    "export default function judge(batch: object): Promise<object>;\n",
);
await build({ ...shared, entryPoints: ["bin/demo.ts"], format: "esm", outfile: "dist/demo/demo.js" });

const { outputFiles } = await build({ ...shared, entryPoints: ["bin/schemas.ts"], format: "esm", write: false });
const { SCHEMAS } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);
mkdirSync("dist/schemas", { recursive: true });
for (const [name, schema] of Object.entries(SCHEMAS))
  writeFileSync(`dist/schemas/${name}`, `${JSON.stringify(schema, undefined, 2)}\n`);
