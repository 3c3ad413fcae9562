/** Every command with its options, as they are registered. */
import type { Command } from "commander";
import { COMMANDS } from "../../src/cli/commands.js";
import { CheckedCommand, registered } from "../../src/cli/command.js";

export interface CommandOption {
  /** Such as `policy check`. */
  readonly command: string;
  /** Such as `--format`. */
  readonly name: string;
  readonly takesValue: boolean;
  /** Whether the help shows it. */
  readonly isShown: boolean;
}

export async function optionsOfCommands(): Promise<CommandOption[]> {
  const program = new CheckedCommand("bootproof");
  const io = { env: {}, stdout: {}, stderr: {} } as never;
  for (const [name, row] of Object.values(COMMANDS).flatMap((group) => Object.entries(group)))
    (await row.load())(registered(program, name, row), io, () => undefined);
  return program.commands.flatMap((command) => optionsBelow(command, ""));
}

function optionsBelow(command: Command, before: string): CommandOption[] {
  const name = `${before} ${command.name()}`.trim();
  const own = command.options.map(({ long, required, hidden }) => {
    return { command: name, name: long!, takesValue: required, isShown: !hidden };
  });
  return [...own, ...command.commands.flatMap((one) => optionsBelow(one, name))];
}
