/** `node test/conformance/make.mjs`, or with `--all`: the tables are TypeScript, and are bundled before they run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "bootproof-conformance-"));
const outfile = join(folder, "make.mjs");
await build({
  entryPoints: [fileURLToPath(new URL("make.ts", import.meta.url))],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  // Modules of a bundle have no folder of their own, and look for files where they were written.
  // Packages in the older form of modules call it.
  banner: {
    js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);',
  },
  define: { "import.meta.url": JSON.stringify(new URL("make.ts", import.meta.url).href) },
});
try {
  const { makeCorpus } = await import(pathToFileURL(outfile).href);
  const root = fileURLToPath(new URL("../../test-vectors/conformance/", import.meta.url));
  console.log(await makeCorpus(root, process.argv.includes("--all")));
} finally {
  rmSync(folder, { recursive: true });
}
