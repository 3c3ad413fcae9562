/** The command line: which command, and what its exit code is. Commands load what they need when they run. */
import { Command, CommanderError } from "commander";
import { printable } from "../report/printable.js";
import { TOOL } from "../version.js";
import { addBundleCommand } from "./bundle.js";
import { EXIT } from "./exit-codes.js";
import { addFetchCommand } from "./fetch.js";
import { addInspectCommand } from "./inspect.js";
import { CommandError, type Io, UnreachableError } from "./io.js";
import { addKeygenCommand } from "./keygen.js";
import { addLabCommand } from "./lab.js";
import { optionName, withoutKeys } from "./options.js";
import { addPinCommand } from "./pin.js";
import { addStampCommand } from "./stamp.js";
import { addVerifyCommand } from "./verify.js";

/** Carries out one command line (without the program's name) and answers its exit code. Never throws. */
export async function run(argv: readonly string[], given: Io): Promise<number> {
  const shown = withoutKeys(argv);
  // A prototype and no copy: reading the property `stdin` would open it.
  const io: Io = Object.create(given, {
    stderr: {
      value: Object.create(given.stderr, { write: { value: (text: string) => given.stderr.write(shown(text)) } }),
    },
  });
  let code: number = EXIT.good;
  try {
    await programOf(argv[0], io, (answer) => (code = answer)).parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return exitCodeOfError(error, io);
  }
}

/** commander's own, which quotes an unknown option with what it was given. */
const { unknownOption } = Command.prototype as unknown as { unknownOption(this: Command, flag: string): void };

class CommandWithoutEcho extends Command {
  override createCommand(name?: string): CommandWithoutEcho {
    return new CommandWithoutEcho(name);
  }

  unknownOption(flag: string): void {
    unknownOption.call(this, optionName(flag));
  }
}

const COMMANDS = new Map([
  ["verify", addVerifyCommand],
  ["pin", addPinCommand],
  ["inspect", addInspectCommand],
  ["fetch", addFetchCommand],
  ["bundle", addBundleCommand],
  ["stamp", addStampCommand],
  ["keygen", addKeygenCommand],
  ["lab", addLabCommand],
]);

/** The command that is named, alone: the options of the others would cost each start of a process. Else all of them. */
function programOf(named: string | undefined, io: Io, finish: (code: number) => void): Command {
  const program = new CommandWithoutEcho("bootproof")
    .description("Proves, before anyone trusts a result, which code in which enclave produced it.")
    .version(TOOL.version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => writeMessage(io, text) })
    .showHelpAfterError("See bootproof --help.");
  const add = COMMANDS.get(named ?? "");
  for (const one of add === undefined ? COMMANDS.values() : [add]) one(program, io, finish);
  return program;
}

/** Errors that a user can do something about are told in their own words; any other in one line, without a stack. */
function exitCodeOfError(error: unknown, io: Io): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.usage;
  const lines =
    error instanceof CommandError
      ? error.lines
      : [`unexpected: ${error instanceof Error ? error.message : String(error)}`];
  writeMessage(io, `${lines.map((line) => `bootproof: ${line}`).join("\n")}\n`);
  return error instanceof UnreachableError ? EXIT.unreachable : EXIT.usage;
}

/** Messages quote file names and evidence: line feeds are ours, whatever else steers a terminal is not. */
function writeMessage(io: Io, text: string): void {
  io.stderr.write(text.split("\n").map(printable).join("\n"));
}
