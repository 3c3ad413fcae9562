/** Names the command as the reader can type it. Examples use this name. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, sep } from "node:path";
import type { Io } from "./io.js";

const NAME = "bootproof";

/**
 * Returns `bootproof` if it is on the PATH, or `npx bootproof` (with a version) if npx finds it again. Otherwise
 * returns `node` and the path of the script.
 */
export function programName({ env, started }: Pick<Io, "env" | "started">): string {
  if (started === undefined || started.script === "") return env["npm_command"] === "exec" ? `npx ${NAME}` : NAME;
  if (isOnPath(env["PATH"] ?? "")) return NAME;
  const script = realOf(started.script);
  if (isLocal(script, started.folder)) return `npx ${NAME}`;
  return cachedByNpx(script) ?? `node ${shellWord(script)}`;
}

/** Returns whether the command is on the PATH. Other terminals lack npm's `node_modules/.bin`, so it does not count. */
function isOnPath(path: string): boolean {
  const isOfNpm = (folder: string): boolean => folder.endsWith(join("node_modules", ".bin"));
  return path.split(delimiter).some((folder) => folder !== "" && !isOfNpm(folder) && existsSync(join(folder, NAME)));
}

/**
 * Returns whether npx, started in the folder, finds this script: the package is installed there or in a parent folder,
 * or the folder belongs to the package itself.
 */
function isLocal(script: string, folder: string): boolean {
  for (let at = realOf(folder); ; at = dirname(at)) {
    if (realOf(join(at, "node_modules", ".bin", NAME)) === script) return true;
    if (script.startsWith(at + sep) && packageAt(at)?.["name"] === NAME) return true;
    if (dirname(at) === at) return false;
  }
}

/** Returns `npx` and the package's name, if the script is in npx's cache of registry packages; otherwise null. */
function cachedByNpx(script: string): string | null {
  const [root, ...inside] = script.split(join(sep, "node_modules", sep));
  if (inside.length === 0) return null;
  const { packages } = (packageAt(root!)?.["_npx"] ?? {}) as { readonly packages?: unknown };
  const [spec, ...others] = Array.isArray(packages) ? (packages as unknown[]) : [];
  const isRegistry = typeof spec === "string" && /^bootproof(?:@[\w.-]+)?$/.test(spec);
  return isRegistry && others.length === 0 ? `npx ${spec}` : null;
}

function packageAt(folder: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Quotes a text for a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
