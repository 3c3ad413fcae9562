/**
 * Bundles the command: one file, so that it starts fast; and beside it, loaded only by the commands that need them, the
 * rooms that are large. CommonJS for the one, since Node starts it faster; ES modules for the others, which may share
 * code.
 */
import { rmSync } from "node:fs";
import { build } from "esbuild";

const shared = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  minify: true,
  // Loaded by few commands, or not by any in Node; classic-level has a compiled part.
  external: ["yaml", "@noble/*", "classic-level"],
  logLevel: "warning",
};

/** The modules of those rooms that the command imports. */
const entries = new Set();
const rooms = {
  name: "rooms",
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\.\/(?:client|lab)\// }, ({ path, kind, importer }) => {
      if (kind !== "dynamic-import")
        return { errors: [{ text: `${path} is loaded when it is needed: await import it in ${importer}` }] };
      entries.add(path.replace(/^\.\.\/(.*)\.js$/, "src/$1.ts"));
      return { path: path.replace("..", "./rooms"), external: true };
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

rmSync("dist/bin/rooms", { recursive: true, force: true });
await build({
  ...shared,
  entryPoints: ["bin/bootproof.ts"],
  format: "cjs",
  outfile: "dist/bin/bootproof.cjs",
  plugins: [rooms, childProcess],
});
await build({
  ...shared,
  entryPoints: [...entries],
  format: "esm",
  splitting: true,
  outbase: "src",
  outdir: "dist/bin/rooms",
});
