/** Selects, loads and runs the command. */
import { type Command, CommanderError } from "commander";
import { fstatSync } from "node:fs";
import { pageOf, wrapped } from "../show/terminal.js";
import { TOOL } from "../version.js";
import { type AddCommand, CheckedCommand, type CommandSummary, registered } from "./command.js";
import { EXIT } from "./exit-codes.js";
import type { ReportFormat } from "../report/report.js";
import { isFailureFormat, reportFailure } from "./failure.js";
import { fitted, helpWidth } from "./help.js";
import { type Io, type ProcessIo, messageOptions, textOptions } from "./io.js";
import type * as MessageLines from "./message-lines.js";
import { valuesOn } from "./options.js";
import { programName, withoutPrompts } from "./program-name.js";
import type { Progress } from "./progress.js";
import { withoutKeys } from "./shown-keys.js";
import { refuseStrayWords } from "./words.js";

/** The topic of the help that lists every command. */
const ALL_COMMANDS = "all";

/** Asks for the words that fit at the last one, as the scripts of `completion` do. */
const COMPLETE = "__complete";

/** Words that people try for `--version`. They count only alone. */
const VERSION_WORDS = ["-v", "version"];

/** Runs one command line (without the program's name), and returns its exit code. Never throws. */
export async function run(line: readonly string[], given: ProcessIo, commands: Commands): Promise<number> {
  const words = line.length === 1 && VERSION_WORDS.includes(line[0]!) ? ["--version"] : line;
  const shown = withoutKeys(words);
  const { argv: asked, helpTopic } = withoutTopic(words, commands);
  const isAsked = line[0] === COMPLETE;
  const { argv: spelt, note } = isAsked ? { argv: line.slice(1), note: null } : respelt(helpLast(asked));
  const argv = spelt.slice(0, 2).join(" ") === BELOW ? [BELOW, ...spelt.slice(2)] : spelt;
  const progress = await progressAt(given, argv);
  const io = ioOf(given, { progress, shown, helpTopic, lines: await jsonLinesFor(argv) });
  // The exit code if no command sets one: it must not mean success.
  let code: number = EXIT.usage;
  if (note !== null) io.stderr.write(note);
  const program = programOf(io);
  try {
    await addCommands(program, commands, { argv, helpTopic }, (command, add) =>
      add(command, io, (answer) => (code = answer)),
    );
    if (isAsked) {
      io.stdout.write(await (await import("./completion.js")).candidates(program, argv));
      return EXIT.good;
    }
    refuseStrayWords(program, argv);
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.usage;
    return await reportFailure(error, io, { format: failureFormatOf(program, argv), argv, shown });
  } finally {
    progress?.end();
  }
}

/** Old spellings of commands, which this version still reads, and what replaces them. */
const OLD_SPELLINGS: readonly (readonly [old: string, now: string])[] = [
  ["keygen", "key new"],
  ["stamp", "key stamp"],
  ["release check", "policy check-releases"],
  ["worker", "audit worker"],
];

/** A command that another has below it beside its operands. Its name is one word, so that commander finds it first. */
const BELOW = "audit worker";

/** Replaces an old spelling, and says the new one. */
function respelt(argv: readonly string[]): { readonly argv: readonly string[]; readonly note: string | null } {
  const start = argv[0] === "help" ? 1 : 0;
  for (const [old, now] of OLD_SPELLINGS) {
    const end = start + old.split(" ").length;
    if (argv.slice(start, end).join(" ") !== old) continue;
    const words = helpLast([...argv.slice(0, start), ...now.split(" "), ...argv.slice(end)]);
    return { argv: words, note: `note: bootproof ${old} is bootproof ${now} now\n` };
  }
  return { argv, note: null };
}

/** Moves `help` behind the words of a command below another, as in `help policy sign`. */
function helpLast(line: readonly string[]): readonly string[] {
  const [first, ...words] = line;
  const isBelow = first === "help" && words.length > 1 && words.every((word) => /^[a-z]/.test(word));
  return isBelow ? [...words, "--help"] : line;
}

/** Separates the topic from a command line that asks for help on it, such as `verify --help formats`. */
function withoutTopic(
  argv: readonly string[],
  commands: Commands,
): Pick<Shown, "helpTopic"> & { argv: readonly string[] } {
  const [first = "", second = "", topic = "common"] = argv;
  if (argv.join(" ") === `help ${ALL_COMMANDS}`) return { argv: ["--help"], helpTopic: ALL_COMMANDS };
  const [name, asks] = first === "help" ? [second, true] : [first, second === "--help" || second === "-h"];
  const isTopic = asks && argv.length <= 3 && !topic.startsWith("-");
  const hasTopics = Object.values(commands).some((group) => Object.hasOwn(group, name) && group[name]!.hasTopics);
  if (!isTopic || !hasTopics) return { argv, helpTopic: null };
  return { argv: [name, "--help"], helpTopic: topic };
}

/**
 * Returns the progress line. Null with `--quiet` or `--log-format`, or if stderr is not a terminal that can erase a
 * line.
 */
async function progressAt({ stderr, env }: ProcessIo, argv: readonly string[]): Promise<Progress | null> {
  const isQuiet = argv.includes("--quiet") || namesLogFormat(argv);
  if (stderr.isTTY !== true || env["TERM"] === "dumb" || isQuiet) return null;
  const { Progress } = await import("./progress.js");
  return new Progress(stderr);
}

/** Returns the functions for JSON messages. Null if messages are text. */
async function jsonLinesFor(argv: readonly string[]): Promise<Shown["lines"]> {
  if (!namesLogFormat(argv)) return null;
  const lines = await import("./message-lines.js");
  return lines.wantsJsonLines(argv) ? lines : null;
}

function namesLogFormat(argv: readonly string[]): boolean {
  return argv.some((word) => word.startsWith("--log-format"));
}

interface Shown {
  readonly progress: Progress | null;
  readonly shown: (text: string) => string;
  /** The topic of the help that is asked for, of a command that has topics. Null if none is. */
  readonly helpTopic: string | null;
  /** The functions for JSON messages; null if messages are text. */
  readonly lines: Pick<typeof MessageLines, "eventLine" | "messageLines"> | null;
}

/**
 * Returns an `io` that erases the progress line before any output. Output on stdout also ends the line, unless stdout
 * is a file: a pipe may lead to the same terminal. Messages never show a key.
 */
function ioOf(given: ProcessIo, { progress, shown, helpTopic, lines }: Shown): Io {
  const { isTTY, columns, rows } = given.stdout;
  const endsProgress = progress !== null && !isFile(given.stdout);
  const stdout: Io["stdout"] = {
    isTTY,
    columns,
    rows,
    get writableNeedDrain() {
      return given.stdout.writableNeedDrain;
    },
    once: (event, listener) => given.stdout.once?.(event, listener),
    write: (text) => {
      if (endsProgress) progress.end();
      return given.stdout.write(text);
    },
  };
  const stderr: Io["stderr"] = {
    isTTY: given.stderr.isTTY,
    columns: given.stderr.columns,
    write: (text) => {
      progress?.clear();
      const message = lines === null ? fittedMessage(shown(text), given) : lines.messageLines(shown(text), given.now());
      return given.stderr.write(message);
    },
  };
  const report: Io["report"] = (text, event) => {
    if (lines === null) stderr.write(text);
    else given.stderr.write(shown(lines.eventLine(text, event, given.now())));
  };
  // This is a prototype and not a copy, since reading the property `stdin` would open it.
  return Object.create(given, {
    helpTopic: { value: helpTopic },
    stdout: { value: stdout },
    stderr: { value: stderr },
    progress: { value: (what: string) => progress?.say(shown(what)) },
    report: { value: report },
  }) as Io;
}

function isFile({ fd }: ProcessIo["stdout"]): boolean {
  try {
    return fd !== undefined && fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/**
 * Fits sentences to the terminal, which would break them inside words. Indented lines are for copying and stay as is.
 */
function fittedMessage(text: string, { stderr, env }: ProcessIo): string {
  if (stderr.isTTY !== true) return text;
  const page = pageOf(messageOptions({ stderr, env }));
  // A line with a word that is longer than a line, such as a path, also stays as it is.
  const isKept = (line: string): boolean =>
    line.startsWith(" ") || line.split(" ").some((word) => word.length > page.width);
  const lines = text.split("\n").flatMap((line) => (isKept(line) ? [line] : wrapped(page, "", line)));
  return lines.join("\n");
}

/** The heading of the commands that the help shows. `help all` shows the others, too. */
export const FRONT_GROUP = "Commands:";

/** The help of a command, and how it is loaded. */
interface CommandRow extends CommandSummary {
  /** Whether its help is by topic. */
  readonly hasTopics?: true;
  readonly load: () => Promise<AddCommand>;
}

/** Commands by the heading of their group, then by name. */
export type Commands = Readonly<Record<string, Readonly<Record<string, CommandRow>>>>;

function programOf(io: Io): Command {
  const width = helpWidth(textOptions(io).width);
  return new CheckedCommand("bootproof")
    .description("Proves, before anyone trusts a result, which code in which enclave produced it.")
    .usage("COMMAND [options]")
    .version(TOOL.version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .commandsGroup(FRONT_GROUP)
    .helpCommand("help [command]", "show this help, that of a command, or with all every command")
    .exitOverride()
    .configureHelp({ optionDescription: ({ description }) => description })
    .configureOutput({
      writeOut: (text) => io.stdout.write(fitted(text, width)),
      getOutHelpWidth: () => width,
      getOutHasColors: () => false,
    })
    .addHelpText("after", withoutPrompts(fitted(startHere(programName(io)), width)));
}

type Complete = (command: Command, add: AddCommand) => void;

/** Loads and adds only the command that the command line names. Loading all commands would delay each start. */
async function addCommands(
  program: Command,
  all: Commands,
  { argv, helpTopic }: { readonly argv: readonly string[]; readonly helpTopic: string | null },
  complete: Complete,
): Promise<void> {
  const isShort = helpTopic === null && argv.every((word) => /^(?:help|--help|-h)$/.test(word));
  const words = argv.filter((word) => word !== "--");
  const named = words[0] === "help" ? words[1] : words[0];
  const rows = Object.entries(all).flatMap(([heading, group]) =>
    Object.entries(group).map(([name, row]) => ({ heading, name, row })),
  );
  const isAlone = named === words[0] && rows.some(({ name }) => name === named);
  for (const { heading, name, row } of rows) {
    if (isAlone && name !== named) continue;
    const command = registered(program.commandsGroup(heading), name, row, isShort && heading !== FRONT_GROUP);
    if (name === named) complete(command, await row.load());
  }
}

/** The help for first steps, which work in an empty folder. */
const startHere = (bootproof: string): string => `
Other commands: ${bootproof} help all

Start here; no account is needed. See genuine evidence verified, and refused once a byte of it is changed:
    $ ${bootproof} demo
Run a service with software enclaves on this machine. It prints commands to paste into another terminal, up to a first
VERIFIED and a first REJECTED:
    $ ${bootproof} lab

Exit codes: 0 verified, 1 rejected, 2 wrong usage or unreadable file, 3 evidence could not be fetched.`;

/** Returns the last format on the command line, even if other parts of the line are faulty. */
function failureFormatOf(program: Command, argv: readonly string[]): ReportFormat | null {
  const end = argv.indexOf("--");
  const words = end < 0 ? argv : argv.slice(0, end);
  let command = program;
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
  const option = command.options.find(({ long }) => long === "--format");
  if (command !== program && option === undefined) return null;
  const format = valuesOn(argv, "--format").findLast(isFailureFormat) ?? null;
  // A document for people takes the place of a report, and other commands write none in these formats.
  const isForPeople = format === "html" || format === "markdown";
  return isForPeople && option?.argChoices?.includes(format) !== true ? null : format;
}
