/** The corpus as verifiers read it: a folder for each case, and the index. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Index } from "./corpus.js";

export function readIndex(root: string): Index {
  return JSON.parse(readFileSync(join(root, "index.json"), "utf8")) as Index;
}

/** Every folder of a case, as the index names it. */
export function foldersIn(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  return files.filter((path) => path.endsWith("/input.json")).map((path) => path.slice(0, -"/input.json".length));
}

/** The common files that a case names, as the index names them. */
export function commonOf(root: string, folder: string): string[] {
  const text = readFileSync(join(root, folder, "input.json"), "utf8");
  return [...text.matchAll(/"\.\.\/\.\.\/(common\/[^"]+)"/g)].map(([, path]) => path!);
}

/** The bytes of all files of a folder. */
export function sizeOf(root: string): number {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
}
