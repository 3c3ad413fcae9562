/** Respells and refuses words of a command line before any is parsed. */
import { lstatSync } from "node:fs";
import type { Command } from "commander";
import type { CheckedCommand } from "./command.js";
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

/** Returns the command of that name. Refuses an unknown one where only a command can follow. */
function commandBelow(command: Command, word: string): Command | undefined {
  const found = command.commands.find((one) => one.name() === word);
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  if (found === undefined && isGroup && /^(?!help$)\w/.test(word)) (command as CheckedCommand).refuseUnknown(word);
  return found;
}

/** Refuses help or version together with other words. Help is valid only as the last word after a command. */
function refuseBesideOthers(program: Command, asking: string, argv: readonly string[]): void {
  let command: Command | undefined = program;
  for (const word of argv.slice(0, -1)) command = command && commandBelow(command, word);
  const isVersion = asking.startsWith("-V") || asking === "--version";
  const isAlone = argv.at(-1) === asking && command !== undefined && !(isVersion && command !== program);
  if (isAlone) return;
  throw new UsageError(
    [`${asking}: got other arguments, too: use it alone. Nothing was done`],
    seeHelpOf(command ?? program),
  );
}

/** The topic of the help that lists every command. */
const ALL_COMMANDS = "all";

/** Words that people try for `--version`. They count only alone. */
const VERSION_WORDS = ["-v", "version"];

/** Old spellings of commands, which this version still reads, and what replaces them. */
const OLD_SPELLINGS: readonly (readonly [old: string, now: string])[] = [
  ["keygen", "key new"],
  ["stamp", "key stamp"],
  ["release check", "policy check-releases"],
  ["worker", "audit worker"],
];

/** A command that another has below it beside its operands. Its name is one word, so that commander finds it first. */
const BELOW = "audit worker";

interface Words {
  readonly argv: readonly string[];
  /** The topic of the help that is asked for. Null if none is. */
  readonly helpTopic: string | null;
  /** What the user may type instead. */
  readonly note: string | null;
}

/** Returns the command line in the spelling of this version. `hasTopics` says whose help is by topic. */
export function respelt(line: readonly string[], hasTopics: (command: string) => boolean): Words {
  const words = line.length === 1 && VERSION_WORDS.includes(line[0]!) ? ["--version"] : line;
  const { argv: asked, helpTopic } = withoutTopic(words, hasTopics);
  const argv = helpLast(asked);
  const start = argv[0] === "help" ? 1 : 0;
  for (const [old, now] of OLD_SPELLINGS) {
    const end = start + old.split(" ").length;
    if (argv.slice(start, end).join(" ") !== old) continue;
    const spelt = helpLast([...argv.slice(0, start), ...now.split(" "), ...argv.slice(end)]);
    return { argv: withJoined(spelt), helpTopic, note: `note: bootproof ${old} is bootproof ${now} now\n` };
  }
  return { argv: withJoined(argv), helpTopic, note: null };
}

/** Joins the words of {@link BELOW}. */
export function withJoined(argv: readonly string[]): readonly string[] {
  return argv.slice(0, 2).join(" ") === BELOW ? [BELOW, ...argv.slice(2)] : argv;
}

/** Moves `help` behind the words of a command below another, as in `help policy sign`. */
function helpLast(line: readonly string[]): readonly string[] {
  const [first, ...words] = line;
  const isBelow = first === "help" && words.length > 1 && words.every((word) => /^[a-z]/.test(word));
  return isBelow ? [...words, "--help"] : line;
}

/** Separates the topic from a command line that asks for help on it, such as `verify --help formats`. */
function withoutTopic(argv: readonly string[], hasTopics: (command: string) => boolean): Omit<Words, "note"> {
  const [first = "", second = "", topic = "common"] = argv;
  if (argv.join(" ") === `help ${ALL_COMMANDS}`) return { argv: ["--help"], helpTopic: ALL_COMMANDS };
  if (argv.join(" ") === "help help") return { argv: ["--help"], helpTopic: null };
  const [name, asks] = first === "help" ? [second, true] : [first, second === "--help" || second === "-h"];
  const isTopic = asks && argv.length <= 3 && !topic.startsWith("-");
  return isTopic && hasTopics(name) ? { argv: [name, "--help"], helpTopic: topic } : { argv, helpTopic: null };
}
