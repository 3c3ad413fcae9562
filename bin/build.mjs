/**
 * Bundles the command: one file for `verify`, which starts fast, one for all commands, each self-contained, and the
 * large parts, which only some commands load. The two are CommonJS, which Node starts faster; the others are ES modules
 * and may share code. Also makes the demo, which is not in the package, and the JSON Schemas of policy and report.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";
import "./texts.mjs";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));

const shared = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  // Dependencies are installed once, in the version of the user's lock file. This file makes the script of pages.
  external: [
    ...Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    "bootproof/page/script",
  ],
  // Its build for Node is CommonJS with calls of require; the other is the same code in ES modules.
  alias: { yaml: "./node_modules/yaml/browser/index.js" },
  metafile: true,
  logLevel: "warning",
};

/** Modules that are loaded when needed: those of large rooms, and those that need a package of their own. */
const LOADED_LATER = new RegExp(
  [
    String.raw`^\.\.\/(?:audit|client|health|lab|page|provenance|proxy|watch)\/`,
    String.raw`^\.\.\/image\/measure\.js$`,
    String.raw`^\.\.\/report\/explanations\.js$`,
    String.raw`^\.\/(?:completion-script|yaml|noble|noble-ed25519|noble-p521|signatures|provenance-checks)\.js$`,
    String.raw`^(?:\.|\.\.\/formats)\/(?:junit|sarif|github|markdown|ear|vsa)\.js$`,
  ].join("|"),
);

/**
 * What the library loads when it needs it, each bundled with what it imports. A bundler that splits code would put what
 * they share with an entry into a chunk of that entry, whether the entry uses it or not.
 */
const LOADED_WHOLE = [
  { names: ["app-proof-checks", "activity-checks"], external: ["./signatures.js"] },
  { names: ["signatures"], external: [] },
  { names: ["provenance-checks"], external: [] },
];
for (const { names, external } of LOADED_WHOLE) {
  const built = await build({
    bundle: true,
    entryPoints: names.map((name) => `src/verify/${name}.ts`),
    outdir: "dist/src/verify",
    chunkNames: "checks",
    // Only cryptography, which is none of this, and signatures load them.
    external: ["./noble*.js", ...external],
    format: "esm",
    target: "es2022",
    splitting: true,
    metafile: true,
    logLevel: "warning",
  });
  refuseSecondCopies(built.metafile);
}

function refuseSecondCopies({ outputs }) {
  for (const [file, { inputs }] of Object.entries(outputs))
    for (const [input, { bytesInOutput }] of Object.entries(inputs))
      if (/verify\/(?:cryptography|signature-cache)\.ts$/.test(input) && bytesInOutput > 0)
        throw new Error(`${file}: a second copy of ${input}, which keeps state`);
}

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

/** The file of all commands: the file of `verify` loads it for any other command. */
const allCommands = {
  name: "all commands",
  setup(bundler) {
    bundler.onResolve({ filter: /\/cli\/commands\.js$/ }, ({ kind }) => {
      return kind === "entry-point" ? undefined : { path: "./commands.cjs", external: true };
    });
  },
};

/** commander loads node:child_process at once, for subcommands in separate files, which this command does not have. */
const childProcess = {
  name: "child_process",
  setup(bundler) {
    bundler.onResolve({ filter: /^node:child_process$/ }, () => ({ path: "child_process", namespace: "lazy" }));
    const contents =
      'module.exports = new Proxy({}, { get: (_, name) => process.getBuiltinModule("node:child_process")[name] });';
    bundler.onLoad({ filter: /.*/, namespace: "lazy" }, () => ({ contents }));
  },
};

/** Name, version and licence of every package in the bundles, as the licences require. */
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
 * The module as a function with an import function, `bring`: code from a cache cannot import in Node 20. In
 * parentheses, V8 compiles it at once, without parsing it twice.
 */
function imported(text) {
  return `module.exports=(function(bring){${text.trimEnd().replace(/\bimport\("/g, 'bring("')}});\n`;
}

/** Writes V8's compiled form of the command after it verified the genuine pair, and returns what identifies it. */
function codeCache(file, cache) {
  const evidence = ["boot", "app"].flatMap((kind) => [
    `--${kind}-proof`,
    `test-vectors/boot-proofs/${kind}proof-1.json`,
  ]);
  const args = ["bin/code-cache.mjs", resolve(file), resolve(cache), "verify", ...evidence, "--no-policy"];
  // A cache is valid only for the same flags of V8.
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

/** The script of a page: all verification in one script, since a page loads nothing. */
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
// Escapes controls, and characters that could end the element or change how a parser reads it.
const escaped = (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
const scriptText = script.outputFiles[0].text.trim().replace(/<(?=\/|!--|script)|[^\n\x20-\x7e]/gi, escaped);
mkdirSync("dist/page", { recursive: true });
writeFileSync("dist/page/script.js", `export const PAGE_SCRIPT = ${JSON.stringify(scriptText)};\n`);
writeFileSync(
  "dist/page/script.d.ts",
  "/** What runs in a page: for `renderPage` and its like. */\nexport declare const PAGE_SCRIPT: string;\n",
);
writeFileSync("dist/page/THIRD-PARTY.txt", notices("The script of pages", [script.metafile]));

/** The code of an audit's threads, in one file, since each thread reads it; other packages stay external. */
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
