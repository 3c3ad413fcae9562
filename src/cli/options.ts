/** Collects the faults of one command line. */
import { type Command, InvalidArgumentError, type Option } from "commander";
import { STDIN } from "./files.js";
import { type Problem, UsageError } from "./io.js";
import { brokenRules } from "./option-rules.js";
import type { CommandName, OptionName } from "./option-table.js";

/** Returns the fault that an option took another option as its value. Both are words such as `--policy`. */
export function tookOption(option: string, value: string): string {
  return `${option}: took ${value}, an option, as its value: a shell variable may be unset`;
}

const EMPTY = "empty: a shell variable may be unset";

/** The options whose files are written. */
const WRITTEN: readonly string[] = ["health-file", "log", "policy-state"];
/** The options that never read stdin. */
const NOT_STDIN: readonly string[] = ["api-key-file", "out", ...WRITTEN];

/** Collects the faults of one command line. */
export class ArgumentReader {
  readonly faults: Problem[] = [];
  readonly #given = new Map<string, number>();
  readonly #empty = new Set<string>();
  readonly #command: Command;

  /** Replaces commander's readers of values, so it must be created before the command line is parsed. */
  constructor(command: Command) {
    this.#command = command;
    for (const option of command.options) {
      const name = option.name();
      command.on(`option:${name}`, () => this.#given.set(name, (this.#given.get(name) ?? 0) + 1));
      if (!option.required && !option.optional) continue;
      const { parseArg } = option;
      option.argParser((text: string, before: unknown) => {
        const value = this.#read(option, parseArg, text);
        return Array.isArray(before) ? [...(before as unknown[]), ...(value === undefined ? [] : [value])] : value;
      });
    }
  }

  /**
   * Reads a value. A fault is added to those of the command line, and not thrown. An unset shell variable leaves an
   * empty word inside quotes, and no word without quotes, so that the option takes the next word.
   */
  #read({ long, argChoices }: Option, parseArg: Option["parseArg"], text: string): unknown {
    const isOption = this.#command.options.some((other) => other.long === text);
    if (text === "" || isOption) {
      const name = long!.slice(2);
      if (!this.#empty.has(name)) this.fault(isOption ? tookOption(long!, text) : `${long}: ${EMPTY}`);
      this.#empty.add(name);
      return parseArg === undefined ? text : undefined;
    }
    if (argChoices !== undefined && !argChoices.includes(text))
      return this.fault(`${long} ${text}: expected one of ${argChoices.join(", ")}`);
    try {
      return parseArg === undefined ? text : parseArg<unknown>(text, undefined);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      return this.fault(`${long}${error.message}`);
    }
  }

  /** Returns whether the option has no value. That fault is already reported. */
  isEmpty(name: OptionName): boolean {
    return this.#empty.has(name);
  }

  /** Returns whether the option is on the command line. A negated option has its own name, such as `no-policy`. */
  has(name: OptionName): boolean {
    return this.#given.has(name);
  }

  /** Adds a fault. `advice` is needed only if the command's help is not enough. */
  fault(message: string, advice?: string): undefined {
    this.faults.push({ message, ...(advice !== undefined && { advice }) });
    return undefined;
  }

  /** Adds what the rules of the command say about the options that are given. */
  refuseByRules(name: CommandName): void {
    const { out, format } = this.#command.opts();
    const broken = brokenRules(name, (rule) => {
      const [option = "", value] = rule.split(" ");
      // The result then goes to stdout, as without the option.
      const isGiven = this.#given.has(option) && !(option === "out" && out === STDIN);
      return isGiven && (value === undefined || value === format);
    });
    for (const message of broken) this.fault(message);
  }

  refuseRepeated(): void {
    for (const option of this.#command.options) {
      const isList = Array.isArray(this.#command.getOptionValue(option.attributeName()));
      if (!isList && (this.#given.get(option.name()) ?? 0) > 1) this.fault(`${option.long} is repeated: give it once`);
    }
  }

  /** Refuses a repeated value, because one of the two may be a typo. `option` is a word such as `--app`. */
  refuseTwice(option: string, values: readonly string[]): void {
    const twice = new Set(values.filter((value, index) => values.indexOf(value) !== index));
    for (const value of twice) this.fault(`${option} ${value}: repeated: give it once`);
  }

  /** Refuses `-` for more than one file, since stdin can be read only once, and for files that are written. */
  refuseRepeatedStdin(): void {
    for (const option of this.#command.options)
      if (WRITTEN.includes(option.name()) && this.#command.getOptionValue(option.attributeName()) === STDIN)
        this.fault(`${option.long} -: a file is required`);
    if (this.#named(/<(?:file|policy)/, NOT_STDIN).filter((path) => path === STDIN).length > 1)
      this.fault("only one file can be - (stdin)");
  }

  /** Returns the files that the command line names, without that of `--out`, and the policy of `--add-to`. */
  namedFiles(): readonly string[] {
    return this.#named(/<file/, ["out"]);
  }

  #named(value: RegExp, except: readonly string[]): readonly string[] {
    const options = this.#command.options.filter((one) => value.test(one.flags) && !except.includes(one.name()));
    const named = options.map(
      (one) => this.#command.getOptionValue(one.attributeName()) as string | string[] | undefined,
    );
    return [...this.#command.args, ...named.flatMap((value) => value ?? [])];
  }

  #emptyOperands(): string[] {
    const { args, registeredArguments } = this.#command;
    const names = args.flatMap((word, index) => {
      const argument = registeredArguments[index] ?? registeredArguments.at(-1);
      return word === "" && argument !== undefined ? argument.name().toUpperCase() : [];
    });
    return [...new Set(names)].map((name) => `${name}: ${EMPTY}`);
  }

  throwFaults(): void {
    const faults = [...this.#emptyOperands().map((message) => ({ message })), ...this.faults];
    if (faults.length > 0) throw new UsageError(faults, seeHelpOf(this.#command));
  }
}

/** Returns a sentence such as `See bootproof policy check --help.` */
export function seeHelpOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  return `See ${names.join(" ")} --help.`;
}

/** Returns each value of an option, wherever it is on the command line and whatever else is wrong. */
export function valuesOn(argv: readonly string[], option: string): string[] {
  const end = argv.indexOf("--");
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.flatMap((word, index) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    return words[index - 1] === option ? [word] : [];
  });
}

/** Returns whether the command line says under which policy evidence is judged. */
export function choosesPolicy(args: ArgumentReader): boolean {
  return (["policy", "no-policy", "bundle-policy"] as const).some((name) => args.has(name));
}

interface JudgingFlags {
  readonly maxAge?: number;
  readonly allowDebug?: boolean;
  readonly failOnWarning?: boolean;
}

/** Returns the options of a verification that loosen or demand, whatever the policy says. */
export function judgingOf({ maxAge, allowDebug = false, failOnWarning = false }: JudgingFlags): {
  readonly maxAgeMs?: number;
  readonly allowDebug?: true;
  readonly acceptance?: "strict";
} {
  return {
    ...(maxAge !== undefined && { maxAgeMs: maxAge }),
    ...(allowDebug && { allowDebug }),
    ...(failOnWarning && { acceptance: "strict" }),
  };
}

/** Returns the name of an option without its value, which may be a key. */
export function optionName(word: string): string {
  return /^--[A-Za-z0-9][A-Za-z0-9-]*/.exec(word)?.[0] ?? word.slice(0, 2);
}
