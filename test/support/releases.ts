/** The genuine releases of `test-vectors/releases/`: as texts by path, and as a folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readVector, readVectorJson, vectorFiles } from "./vectors.js";

const FOLDER = "releases/";
const FILE = /^releases\/\d+\.\d+\.\d+\/[^/]+\/[^/]+$/;

let known: ReadonlyMap<string, Uint8Array> | undefined;

/** By path below the folder of releases: `2026.9.0/signer/manifest`. */
export function releaseFiles(): ReadonlyMap<string, Uint8Array> {
  known ??= readFiles();
  return known;
}

function readFiles(): ReadonlyMap<string, Uint8Array> {
  const own = vectorFiles().filter((path) => FILE.test(path));
  const more = Object.entries(readVectorJson<Record<string, string>>(`${FOLDER}more.json`));
  return new Map([
    ...own.map((path): [string, Uint8Array] => [path.slice(FOLDER.length), readVector(path)]),
    ...more.map(([path, text]): [string, Uint8Array] => [path, new TextEncoder().encode(text)]),
  ]);
}

/** The files of one release of an application, by name. */
export function releaseOf(version: string, app = "signer"): Map<string, Uint8Array> {
  const start = `${version}/${app}/`;
  const entries = [...releaseFiles()].filter(([path]) => path.startsWith(start));
  if (entries.length === 0) throw new Error(`no release ${version} of ${app}`);
  return new Map(entries.map(([path, bytes]) => [path.slice(start.length), bytes]));
}

/** `2026.9.0/signer` and its like. */
export function releaseNames(): string[] {
  return [...new Set([...releaseFiles().keys()].map((path) => dirname(path)))].sort();
}

/** Writes all of them into a folder. */
export function unpackReleases(folder: string): void {
  for (const [path, bytes] of releaseFiles()) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}
