/** `bootproof completion`: a completion script, made from the registered commands and options. */
import type { Command, Option } from "commander";
import type { CompletedCommand, CompletedOption, Values } from "./completion-script.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { UsageError } from "./io.js";
import { seeHelpOf } from "./options.js";

const EXAMPLES = `
Completes commands, options, their values, check ids and files. To enable it in every new shell:

  bash, in ~/.bashrc:
    eval "$(bootproof completion bash)"

  zsh, in ~/.zshrc, after compinit:
    eval "$(bootproof completion zsh)"

  fish, once:
    bootproof completion fish > ~/.config/fish/completions/bootproof.fish

Exit codes: 0 the script is on stdout, 2 no such shell.`;

const SHELLS = ["bash", "zsh", "fish"] as const;

/** This command has to be added after all others, since the script completes them. */
export const addCompletionCommand = commandOf<"completion", [shell: string]>(
  "completion",
  {
    description: "Write a script to stdout by which the shell completes commands, options and their values.",
    help: EXAMPLES,
  },
  async ({ command, io }, name) => {
    const shell = SHELLS.find((one) => one === name);
    if (shell === undefined)
      throw new UsageError([`${name}: expected one of ${SHELLS.join(", ")}`], seeHelpOf(command));
    const { SCRIPTS } = await import("./completion-script.js");
    io.stdout.write(SCRIPTS[shell](await completed(command.parent!, "")));
    return EXIT.good;
  },
);

/** Returns a command and all commands below it, in the order of the help. `beside` has the names of its siblings. */
async function completed(command: Command, words: string, beside: readonly string[] = []): Promise<CompletedCommand[]> {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const names = below.map((one) => one.name());
  const own: CompletedCommand = {
    words,
    commands: below.map((one) => ({ word: one.name(), what: help.subcommandDescription(one) })),
    options: await Promise.all(help.visibleOptions(command).map(completedOption)),
    operands: await operandsOf(command, beside),
  };
  const others: CompletedCommand[] = [];
  for (const one of below) others.push(...(await completed(one, `${words} ${one.name()}`.trim(), names)));
  return [own, ...others];
}

async function completedOption({ short, long, flags, description, variadic }: Option): Promise<CompletedOption> {
  const placeholder = /[<[]([\w-]+)/.exec(flags)?.[1];
  return {
    short: short ?? null,
    long: long!,
    what: description,
    takes: placeholder === undefined ? null : await (VALUES[placeholder]?.() ?? []),
    isVariadic: variadic,
  };
}

function operandsOf(command: Command, beside: readonly string[]): Values | Promise<Values> {
  const [argument] = command.registeredArguments;
  if (command.name() === "help") return beside;
  if (argument !== undefined) return (VALUES[argument.name()] ?? VALUES["file"]!)();
  // A command that allows an undeclared operand takes a file, as verify takes a bundle.
  return (command as unknown as { readonly _allowExcessArguments: boolean })._allowExcessArguments ? "files" : [];
}

/** Completions by the word of the help, such as `<format>`. Only the user knows the values of all other words. */
const VALUES: Readonly<Record<string, () => Values | Promise<Values>>> = {
  file: () => "files",
  policy: () => "files",
  folder: () => "folders",
  shell: () => SHELLS,
  format: async () => (await import("../report/report.js")).FORMATS,
  "report-format": async () => (await import("../report/report.js")).REPORT_FORMATS,
  algorithm: async () => (await import("../formats/signing-key.js")).ALGORITHMS,
  class: async () => (await import("../addresses/classes.js")).ACCEPTABLE_WORDS,
  kind: async () => (await import("../verify/commitment.js")).COMMITMENT_KINDS,
  when: () => ["document", "now"],
  member: async () => (await import("../review/members.js")).ACCEPTABLE,
  demand: async () => (await import("../appraise/siblings.js")).DROPPABLE,
  word: async () => (await import("../report/explanations.js")).explainedWords(),
  fault: async () => Object.keys((await import("../lab/lies.js")).LIES),
  version: async () => (await import("../decode/manifest/index.js")).MANIFEST_VERSIONS,
};
