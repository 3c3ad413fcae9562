/** The package as it is published: packed from what was built, and unpacked as who installs it gets it. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const MANIFEST = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Record<"types" | "node" | "default", string>>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** The entry points that are code, by name; the others are JSON Schemas. */
export const MODULES = Object.entries(MANIFEST.exports).flatMap(([name, entry]) =>
  typeof entry === "string" ? [] : [{ name, ...entry }],
);

/** What npm tells its scripts is not what a user's npm would know. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const folders: string[] = [];

/** For the end of each file that makes some. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** An empty folder, outside of this repository where nothing else is said, with a package.json of somebody else. */
export function strangersFolder(parent = tmpdir()): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "bootproof-package-"));
  folders.push(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  return folder;
}

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(file: string, args: readonly string[], cwd: string): Promise<Ran> {
  const options = { cwd, env: ENVIRONMENT, encoding: "utf8", maxBuffer: 16 * 1024 * 1024 } as const;
  return promisify(execFile)(file, [...args], options).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ ...error, status: error.code }),
  );
}

/** npm, which has to succeed. */
export async function npm(args: readonly string[], cwd: string): Promise<Ran> {
  const ran = await run("npm", args, cwd);
  if (ran.status !== 0) throw new Error(`npm ${args.join(" ")}: ${ran.stderr}`);
  return ran;
}

export interface Packed {
  readonly tarball: string;
  /** Paths inside the package, sorted. */
  readonly files: readonly string[];
  /** All of its bytes, once it is unpacked. */
  readonly bytes: number;
}

/** Packs what `npm run build` made: the scripts are not run again, beside other tests that use it. */
export async function pack(folder: string): Promise<Packed> {
  const { stdout } = await npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], ROOT);
  const [{ filename, files, unpackedSize }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[]; unpackedSize: number },
  ];
  return { tarball: join(folder, filename), files: files.map(({ path }) => path).sort(), bytes: unpackedSize };
}

/** A stranger's folder with the package in its node_modules, and nothing else there. */
export async function unpacked(): Promise<string> {
  const folder = strangersFolder();
  const { tarball } = await pack(folder);
  const target = join(folder, "node_modules", "bootproof");
  mkdirSync(target, { recursive: true });
  const { status, stderr } = await run("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"], folder);
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  return folder;
}
