/** `npm start` in a clone: builds the command where it is missing or older than its sources, and runs its demo. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const COMMAND = "dist/bin/bootproof.cjs";
/** What the bundle of the command is made of. */
const SOURCES = ["src", "bin", "docs", "package-lock.json"];

const timeOf = (path) => statSync(path).mtimeMs;
const newest = (path) =>
  statSync(path).isDirectory()
    ? Math.max(...readdirSync(path).map((name) => newest(join(path, name))), 0)
    : timeOf(path);

function run(...args) {
  const { status, error } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync("node_modules/esbuild")) {
  console.error("The packages are missing: run npm ci first.");
  process.exit(2);
}
// bin/texts.mjs writes modules into src, but only if they change.
if (!existsSync(COMMAND) || Math.max(...SOURCES.map(newest)) > timeOf(COMMAND)) run("bin/build.mjs", "command");
run(COMMAND, "demo");
console.log(`
Next:
  node ${COMMAND} lab       a local service with software enclaves, and commands to paste
  npm pack                          the package, to install elsewhere (README.md, "Install")
  npm test                          the tests`);
