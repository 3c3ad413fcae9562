/** Names the command as the reader can type it, in any folder and terminal. Examples to paste use this name. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Io } from "./io.js";

const NAME = "bootproof";

/**
 * Returns `bootproof` if it is on the PATH. Otherwise returns the path of the script, with `node` before it if the
 * script cannot be executed. `npx bootproof` could download another package in a folder without an installation.
 */
export function programName({ env, started }: Pick<Io, "env" | "started">): string {
  if (started === undefined || started.script === "" || isOnPath(env["PATH"] ?? "")) return NAME;
  return isExecutable(started.script) ? shellWord(started.script) : `node ${shellWord(started.script)}`;
}

/** Returns whether the command is on the PATH. Other terminals lack npm's `node_modules/.bin`, so it does not count. */
function isOnPath(path: string): boolean {
  const isOfNpm = (folder: string): boolean => folder.endsWith(join("node_modules", ".bin"));
  return path.split(delimiter).some((folder) => folder !== "" && !isOfNpm(folder) && existsSync(join(folder, NAME)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Quotes a text for a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Removes the prompts from fitted text, so that its commands can be pasted. */
export function withoutPrompts(text: string): string {
  return text.replaceAll(/^( *)\$ /gm, "$1");
}
