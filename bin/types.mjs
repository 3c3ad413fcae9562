/**
 * Rolls up the declarations that the compiler wrote into one file for each entry point, and files for what several of
 * them share: an editor reads tens of files instead of hundreds, and what no entry exports is left out.
 */
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const COMPILED = "dist/types";

// The public types of explanations name types of these declarations, which the compiler does not copy.
for (const name of ["advice", "texts"]) copyFileSync(`src/report/${name}.d.ts`, `${COMPILED}/src/report/${name}.d.ts`);

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const entries = Object.values(exports).flatMap(({ types }) => types?.replace(/^\.\/dist\/src\/|\.d\.ts$/g, "") ?? []);
const bundle = await rollup({
  input: Object.fromEntries(entries.map((name) => [name, `${COMPILED}/src/${name}.d.ts`])),
  plugins: [dts()],
  external: (name) => !/^[./]/.test(name),
  onLog(level, { message }) {
    // Types that entries use and do not export could not be imported before either.
    if (!message.includes("private shared type exports")) throw new Error(`${level}: ${message}`);
  },
});
await bundle.write({
  dir: "dist/src",
  format: "es",
  entryFileNames: "[name].d.ts",
  chunkFileNames: ({ name }) => `types/${name.replace(/\.d$/, "")}.d.ts`,
});
await bundle.close();
rmSync(COMPILED, { recursive: true });
