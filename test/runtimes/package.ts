/** The package as it is published, installed where nothing else of this repository is at hand. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const QUIETLY = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
/** What npm tells its scripts is not what a user's npm would know. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

function npm(args: readonly string[], cwd: string): string {
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return execFileSync("npm", [...args, ...QUIETLY], { cwd, env: ENVIRONMENT, encoding: "utf8", stdio: [...stdio] });
}

/** A new folder with the packed package, and what keeps a lab's state, in its node_modules. Needs `npm run build`. */
export function installPacked(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bootproof-packed-")));
  const packed = npm(["pack", "--json", "--pack-destination", folder], ROOT);
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  npm(["install", "--prefer-offline", `./${filename}`, `classic-level@${versionOf("classic-level")}`], folder);
  return folder;
}

/** The version of a package that this repository has installed. */
function versionOf(name: string): string {
  const manifest = readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
