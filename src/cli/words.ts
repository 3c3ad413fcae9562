/** Refuses some words of a command line before any is parsed. */
import { lstatSync } from "node:fs";
import type { Command } from "commander";
import { type Problem, UsageError } from "./io.js";
import { seeHelpOf } from "./options.js";

/**
 * Throws {@link UsageError} for words that a glob may have added, and for help or version together with other words.
 * The former could loosen a verification; the latter would exit with 0 although nothing was verified.
 */
export function refuseStrayWords(program: Command, argv: readonly string[]): void {
  const end = argv.indexOf("--");
  const words = argv.slice(0, end < 0 ? argv.length : end + 1);
  const fromGlob = [...new Set(words.filter(isFileName))].map(globProblem);
  if (fromGlob.length > 0) throw new UsageError(fromGlob);
  const options = words.filter((word) => word !== "--");
  const asking = options.find((word) => /^(?:--help|-h|--version|-V.*)$/.test(word));
  if (asking !== undefined) refuseBesideOthers(program, asking, argv);
}

/**
 * Returns whether an option is also the name of a file in the current folder, so that the shell may have expanded `*`
 * to it.
 */
function isFileName(word: string): boolean {
  if (!word.startsWith("-")) return false;
  try {
    return lstatSync(word, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // lstat rejects a word that cannot be a file name.
    return false;
  }
}

function globProblem(word: string): Problem {
  return {
    message:
      `${word}: an option, and a file in this folder: the shell may have expanded * to it. ` +
      `Write ./* for files (this one: ./${word}), or run the command in another folder`,
  };
}

/** Refuses help or version together with other words. Help is valid only as the last word after a command. */
function refuseBesideOthers(program: Command, asking: string, argv: readonly string[]): void {
  let command: Command | undefined = program;
  for (const word of argv.slice(0, -1)) command = command?.commands.find((one) => one.name() === word);
  const isVersion = asking.startsWith("-V") || asking === "--version";
  const isAlone = argv.at(-1) === asking && command !== undefined && !(isVersion && command !== program);
  if (isAlone) return;
  throw new UsageError(
    [`${asking}: got other arguments, too: use it alone. Nothing was done`],
    seeHelpOf(command ?? program),
  );
}
