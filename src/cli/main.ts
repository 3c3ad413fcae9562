/** Selects, loads and runs the command. */
import { type Command, CommanderError } from "commander";
import { TOOL } from "../version.js";
import { type AddCommand, CheckedCommand, type CommandSummary, registered } from "./command.js";
import { EXIT } from "./exit-codes.js";
import type { ReportFormat } from "../report/report.js";
import { isFailureFormat, reportFailure } from "./failure.js";
import { fitted, helpWidth } from "./help.js";
import { type Io, type ProcessIo, textOptions } from "./io.js";
import { valuesOn } from "./options.js";
import { programName, withoutPrompts } from "./program-name.js";
import { ioOf } from "./process-io.js";
import { withoutKeys } from "./shown-keys.js";
import { withJoined, refuseStrayWords, respelt } from "./words.js";

/** Asks for the words that fit at the last one, as the scripts of `completion` do. */
const COMPLETE = "__complete";

/** Runs one command line (without the program's name), and returns its exit code. Never throws. */
export async function run(line: readonly string[], given: ProcessIo, commands: Commands): Promise<number> {
  const shown = withoutKeys(line);
  const isAsked = line[0] === COMPLETE;
  const hasTopics = (name: string): boolean =>
    Object.values(commands).some((group) => Object.hasOwn(group, name) && group[name]!.hasTopics);
  const { argv, helpTopic, note } = isAsked
    ? { argv: withJoined(line.slice(1)), helpTopic: null, note: null }
    : respelt(line, hasTopics);
  const { io, progress } = await ioOf(given, { argv, shown, helpTopic });
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
