/** A commander Command that reports faults in this package's own sentences. */
import { capitalized } from "../report/printable.js";
import {
  type Argument,
  Command,
  CommanderError,
  type Option,
  type OptionValues,
  type ParseOptionsResult,
} from "commander";
import { EXIT } from "./exit-codes.js";
import { InputFiles } from "./files.js";
import { type Io, type Problem, UsageError } from "./io.js";
import { type CommandName, type Flags, type OptionName, addOptions, commandsWith } from "./option-table.js";
import { ArgumentReader, optionName, seeHelpOf, tookOption } from "./options.js";

/** Gives a registered command its texts and its action, which passes the exit code to `finish`. */
export type AddCommand = (command: Command, io: Io, finish: (code: number) => void) => void;

interface CommandText {
  /** Where the summary, as a sentence, does not say enough. */
  readonly description?: string;
  readonly usage?: string;
  /** Whether the command takes files without an option, which the help does not list. */
  readonly takesFiles?: boolean;
  /** Whether the command takes the names of other options as operands. */
  readonly takesOptions?: boolean;
  /** The part of the help after the options. */
  readonly help?: string;
  /** A help by topic, for a command with too many options for a screen. `common` is shown without a topic. */
  readonly topics?: Topics;
}

/** The topics by name. Each has the options from the one that it names to that of the next topic. */
export type Topics = Readonly<Record<string, Readonly<{ about: string; from: OptionName; examples: string }>>>;
/** The topic of all options. */
const ALL = "all";

/** Hides the options of other topics in the help, and returns the text after the options. */
function topicHelp(command: Command, topics: Topics, topic: string): string {
  const rows = Object.entries(topics);
  const chosen = rows.filter(([name]) => topic === ALL || topic === name);
  if (chosen.length === 0) {
    const known = [...Object.keys(topics), ALL].join(", ");
    throw new UsageError([`--help ${topic}: expected one of ${known}`], seeHelpOf(command));
  }
  let isShown = false;
  for (const option of command.options) {
    const begun = rows.find(([, { from }]) => option.long === `--${from}`);
    if (begun) isShown = chosen.includes(begun);
    if (!isShown) option.hideHelp();
  }
  return [
    ...chosen.map(([, { examples }]) => examples),
    `\nMore: bootproof ${command.name()} --help TOPIC, where TOPIC is`,
    ...rows.map(([name, { about }]) => `  ${name.padEnd(12)}${about}`),
    `  ${ALL.padEnd(12)}everything`,
  ].join("\n");
}

/** One command line of the command C. */
export interface Task<C extends CommandName> {
  readonly command: Command;
  /** Collects faults of the command line. It already has those of repeated options and repeated stdin. */
  readonly args: ArgumentReader;
  readonly flags: Flags<C>;
  readonly files: InputFiles;
  readonly io: Io;
}

/** Makes a command. `work` returns the exit code. */
export function commandOf<C extends CommandName, Operands extends unknown[] = []>(
  name: C,
  { description, usage, takesFiles = false, takesOptions = false, help = "", topics }: CommandText,
  work: (task: Task<C>, ...operands: Operands) => Promise<number>,
): AddCommand {
  return (command, io, finish) => {
    const topic = io.helpTopic ?? null;
    const after = topics !== undefined && topic !== null ? topicHelp(command, topics, topic) : help;
    command.allowExcessArguments(takesFiles).addHelpText("after", after);
    if (description !== undefined) command.description(description);
    command.allowUnknownOption(takesOptions);
    if (usage !== undefined) command.usage(usage);
    const args = new ArgumentReader(command);
    command.action(async () => {
      args.refuseRepeated();
      args.refuseRepeatedStdin();
      args.refuseByRules(name);
      const task = { command, args, flags: command.opts<Flags<C>>(), files: new InputFiles(io, name), io };
      finish(await work(task, ...(command.processedArgs as Operands)));
    });
  };
}

/** The help of a command in the list of commands. */
export interface CommandSummary {
  readonly summary: string;
  /** The operands, by their word in the help, such as `[file]`. */
  readonly operands?: Readonly<Record<string, string>>;
}

/** Registers a command with its operands and options. */
export function registered(
  parent: Command,
  name: string,
  { summary, operands = {} }: CommandSummary,
  hidden = false,
): Command {
  const command = parent.createCommand(name).copyInheritedSettings(parent);
  command.summary(summary).description(`${capitalized(summary)}.`);
  parent.addCommand(command, { hidden });
  for (const [word, what] of Object.entries(operands)) command.argument(word, what);
  return addOptions(command, parent.parent === null ? name : `${parent.name()} ${name}`);
}

/** Makes a command that only has commands below it. */
export function groupOf(
  { help = "" }: CommandText,
  below: Readonly<Record<string, CommandSummary & { readonly add: AddCommand }>>,
): AddCommand {
  return (command, io, finish) => {
    command.addHelpText("after", help);
    for (const [name, one] of Object.entries(below)) one.add(registered(command, name, one), io, finish);
  };
}

/** The method of commander that suggests similar names. */
const { unknownOption } = Command.prototype as unknown as { unknownOption(this: Command, flag: string): void };

/** Overrides what commander calls on a fault. Its types do not declare these methods, so the tests cover them. */
export class CheckedCommand extends Command {
  override createCommand(name?: string): CheckedCommand {
    return new CheckedCommand(name);
  }

  /** Returns an object without a prototype, so that options come only from the command line. */
  override opts<T extends OptionValues>(): T {
    return Object.assign(Object.create(null), super.opts<T>()) as T;
  }

  /** commander calls this for the words of every command. An option must not take the next option as its value. */
  override parseOptions(words: string[]): ParseOptionsResult {
    const faults = swallowedOptions(this, words);
    if (faults.length > 0) throw new UsageError(faults, seeHelpOf(this));
    return super.parseOptions(words);
  }

  /**
   * Reports a message of commander, such as `error: unknown command 'verfy'
   * (Did you mean verify?)`.
   */
  override error(message: string): never {
    const sentence = message
      .replace(/^error: /, "")
      .replace(
        /^unknown command '(.*\.(?:jsonl?|html|ya?ml|pem))'/,
        "$1: expected a command first: bootproof verify $1",
      )
      .replace(/^(unknown \w+) '(.*?)'(?=\n|$)/s, "$1 $2")
      .replace(/\n\(Did you mean/, " (did you mean");
    throw new UsageError([sentence], seeHelpOf(this));
  }

  /** Writes the help to stdout. An empty command line is a fault, since exit code 0 would mean verified. */
  override help(context?: unknown): never {
    const isFault = typeof context === "object" && context !== null && "error" in context && context.error === true;
    const [first, other] = this.args;
    if (isFault && first === "help" && other !== undefined) this.refuseUnknown(other);
    this.outputHelp();
    throw new CommanderError(isFault ? EXIT.usage : EXIT.good, "commander.help", "help was shown");
  }

  /** Reports a word that is no command, with similar names. */
  refuseUnknown(word: string): void {
    this.args = [word];
    (this as unknown as { unknownCommand(): void }).unknownCommand();
  }

  /** Reports a misused option, or suggests similar names for an unknown one. Never quotes the value. */
  unknownOption(flag: string): void {
    const [name = ""] = flag.split("=", 1);
    const isKnown = (long: string): boolean => this.options.some((option) => option.long === long);
    if (isKnown(name)) this.error(`${name} takes no value`);
    if ((this as unknown as { readonly _allowUnknownOption: boolean })._allowUnknownOption) return;
    const [first] = commandsWith(name.slice(2));
    const [start, end] = this.parent === null ? ["a command comes first, such as ", ""] : ["", " takes it"];
    if (first) this.error(`unknown option ${name} here: ${start}bootproof ${first.command} ${name}${end}`);
    if (isKnown(`-${name}`)) this.error(`unknown option ${name} (did you mean -${name}?)`);
    unknownOption.call(this, optionName(flag));
  }

  missingArgument(name: string): void {
    const argument = this.registeredArguments.find((one) => one.name() === name);
    this.error(`${name.toUpperCase()} is required${descriptionOf(argument)}`);
  }

  optionMissingArgument(option: Option): void {
    const word = (/[<[]([\w-]+)/.exec(option.flags)?.[1] ?? "value").toUpperCase();
    this.error(`${option.long ?? option.flags}: ${word} is required after it${descriptionOf(option)}`);
  }

  _excessArguments(words: readonly string[]): void {
    if ((this as unknown as { readonly _allowExcessArguments: boolean })._allowExcessArguments) return;
    const taken = this.registeredArguments;
    const names = taken.map((one) => one.name().toUpperCase()).join(" ");
    const excess = words.slice(taken.length).join(", ");
    this.error(`too many arguments: ${this.name()} takes ${names === "" ? "none" : `only ${names}`}, not ${excess}`);
  }
}

/**
 * Returns faults of options whose value is a separate word that begins with "-", except stdin. If a shell variable is
 * unset, its word is missing, and the option takes the next one. Words are read as commander reads them.
 */
function swallowedOptions({ options }: Command, words: readonly string[]): Problem[] {
  const faults: Problem[] = [];
  for (let index = 0; index < words.length && words[index] !== "--"; index++) {
    const option = options.find(({ long, short }) => [long, short].includes(words[index]));
    if (option?.required !== true) continue;
    index++;
    const value = words[index] ?? "";
    if (!/^-./.test(value)) continue;
    const name = optionName(value);
    const isOption = options.some(({ long }) => long === name);
    faults.push({ message: isOption ? tookOption(option.long!, name) : tookDash(option.long!, name) });
  }
  return faults;
}

function tookDash(option: string, value: string): string {
  return (
    `${option}: took ${value} as its value: a shell variable may be unset. For a value that begins with "-", ` +
    `write ${option}=VALUE`
  );
}

function descriptionOf(one: Argument | Option | undefined): string {
  return one === undefined || one.description === "" ? "" : `: ${one.description}`;
}
