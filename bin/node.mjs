/**
 * Builds the library for the condition "node" of package.json. Node needs a third of a millisecond for each module that
 * it loads, so the sources are merged into a few files there. Bundlers get the modules: they leave out what is not
 * used, and load what is needed later, module by module. Entries that need Node have no modules for bundlers.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { notices } from "./notices.mjs";

const OUT = "dist/node";
const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const ENTRIES = Object.values(exports).flatMap(
  ({ types }) => types?.replace("./dist/", "").replace(/\.d\.ts$/, ".ts") ?? [],
);

const shared = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "es2022",
  // The packages of the lab that an installation does not have are bundled.
  external: [
    ...Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    "#page-script",
  ],
  logLevel: "warning",
};
const scan = { ...shared, entryPoints: ENTRIES, splitting: true, outdir: OUT, write: false, metafile: true };
const { metafile } = await build(scan);
const { inputs } = metafile;
const isOwn = (file) => file in inputs && !file.startsWith("node_modules/");

/** Returns the sources that these ones load, but for what they load later. */
function closureOf(files, reached = new Set()) {
  for (const file of files.filter((one) => !reached.has(one))) {
    reached.add(file);
    const imports = inputs[file].imports.filter(({ path, kind }) => kind !== "dynamic-import" && isOwn(path));
    closureOf(
      imports.map(({ path }) => path),
      reached,
    );
  }
  return reached;
}

/** Returns the sources that each of these loads: an entry, or several. */
const common = (...entries) => {
  const [first, ...others] = entries.map((entry) => closureOf([entry].flat()));
  return [...first].filter((file) => others.every((other) => other.has(file)));
};
const later = Object.values(inputs)
  .flatMap(({ imports }) => imports)
  .flatMap(({ path, kind }) => (kind === "dynamic-import" && isOwn(path) ? [path] : []));
const nameOf = (file) => file.replace(/^src\/|\/index\.ts$|\.[jt]s$/g, "").replaceAll("/", "-");

/**
 * The merged files. Each has what its sources load, except what an earlier one has: a source is in one file only, so
 * that its state and its classes exist once.
 */
const MERGED = new Map([
  ["base", common("src/index.ts", "src/client/index.ts", "src/adapters/index.ts")],
  ["core", common("src/index.ts", "src/client/index.ts")],
  ["index", ["src/index.ts"]],
  ["door", common("src/client/index.ts", "src/adapters/index.ts")],
  ["adapters", ["src/adapters/index.ts"]],
  // What a client loads at once, and adapters with the first answer.
  [
    "answers",
    common(
      "src/client/index.ts",
      later.filter((file) => /^src\/(?:door|verify)\//.test(file)),
    ),
  ],
  ...[...later, ...ENTRIES].map((file) => [nameOf(file), [file]]),
]);
const mergedOf = new Map();
for (const [name, files] of MERGED)
  for (const file of closureOf(files)) if (!mergedOf.has(file)) mergedOf.set(file, name);

/** Returns a plugin that resolves an import to the file that has the source. `own` is the file that is built. */
const between = (own) => ({
  name: "between files",
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const made = relative("", join(resolveDir, path));
      const name = mergedOf.get(made in inputs ? made : made.replace(/\.js$/, ".ts"));
      return name === own || name === undefined
        ? undefined
        : { path: `./${name}.js`, external: true, sideEffects: false };
    });
    bundler.onResolve({ filter: /^#page-script$/ }, () => ({ path: "../../page/script.js", external: true }));
  },
});

for (const name of new Set(mergedOf.values())) {
  const own = [...mergedOf].filter(([, of]) => of === name);
  const contents = own.map(([file]) => `export * from "./${file}";`).join("\n");
  await build({
    ...shared,
    stdin: { contents, resolveDir: ".", sourcefile: `${name}.ts` },
    outfile: `${OUT}/merged/${name}.js`,
    plugins: [between(name)],
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    minifySyntax: true,
    // Node shows the line of an error that nobody caught.
    lineLimit: 120,
  });
}
const namesOf = new Map(Object.values(metafile.outputs).map(({ entryPoint, exports }) => [entryPoint, exports]));
for (const entry of ENTRIES) {
  const file = `${OUT}/${relative("src", entry).replace(/\.ts$/, ".js")}`;
  const merged = relative(dirname(file), `${OUT}/merged/${mergedOf.get(entry)}.js`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `export {${namesOf.get(entry).join(",")}} from"${merged.startsWith(".") ? merged : `./${merged}`}";\n`,
  );
}
writeFileSync(`${OUT}/THIRD-PARTY.txt`, notices("The lab", [metafile]));

/** Deletes the modules that only entries for Node load. */
const modules = Object.values(exports).flatMap((entry) =>
  entry.default?.startsWith("./dist/src/") ? entry.default : [],
);
const loaded = (await build({ ...scan, entryPoints: modules, outdir: "dist/unused" })).metafile.inputs;
for (const name of readdirSync("dist/src", { recursive: true }))
  if (name.endsWith(".js") && !(join("dist/src", name) in loaded)) rmSync(join("dist/src", name));
