/** Command-line arguments as values, with every fault told, not the first only. */
import type { Command } from "commander";
import { STDIN } from "./files.js";
import { type Problem, UsageError } from "./io.js";
import type { OptionName } from "./option-table.js";

/** `option`, `value`: such as `--policy`. */
export function tookOption(option: string, value: string): string {
  return `${option}: took ${value}, an option, for its value: is a variable of the shell not set?`;
}

const EMPTY = "empty: is a variable of the shell not set?";

/** Collects the faults of one command line. */
export class ArgumentReader {
  readonly faults: Problem[] = [];
  readonly #given = new Map<string, number>();
  /** Options that took nothing, or another option, for their value; and the sentence. */
  readonly #empty = new Map<string, string>();
  readonly #command: Command;

  /** Has to be made before the command line is parsed, for it listens. */
  constructor(command: Command) {
    this.#command = command;
    for (const option of command.options) {
      const name = option.name();
      command.on(`option:${name}`, (value: unknown) => {
        this.#given.set(name, (this.#given.get(name) ?? 0) + 1);
        if (typeof value === "string") this.#noteEmpty(name, value);
      });
    }
  }

  /** A variable of the shell that is not set is an empty word inside quotes; without them there is no word at all. */
  #noteEmpty(name: string, value: string): void {
    const isOption = this.#command.options.some(({ long }) => long === value);
    if (value !== "" && !isOption) return;
    this.#empty.set(name, isOption ? tookOption(`--${name}`, value) : `--${name}: ${EMPTY}`);
  }

  /** Whether the option stands there without a value: that is told, and nothing else has to be said of it. */
  isEmpty(name: OptionName): boolean {
    return this.#empty.has(name);
  }

  /** Whether the option stands on the command line; for a negated one by its own name, such as `no-policy`. */
  has(name: OptionName): boolean {
    return this.#given.has(name);
  }

  /** `advice`: what to do, where there is more to it than the command's help. */
  fault(message: string, advice?: string): undefined {
    this.faults.push({ message, ...(advice !== undefined && { advice }) });
    return undefined;
  }

  /** An option of one value that is given twice says two things. */
  refuseRepeated(): void {
    for (const option of this.#command.options) {
      if (!option.variadic && (this.#given.get(option.name()) ?? 0) > 1) this.fault(`${option.long} is given twice`);
    }
  }

  /** A value that is there twice in a list may have been meant for another. `option`: such as `--app`. */
  refuseTwice(option: string, values: readonly string[]): void {
    const twice = new Set(values.filter((value, index) => values.indexOf(value) !== index));
    for (const value of twice) this.fault(`${option} ${value}: given twice`);
  }

  /** There is one stdin, and what is read of it is gone. */
  refuseRepeatedStdin(paths: readonly (string | undefined)[]): void {
    if (paths.filter((path) => path === STDIN).length > 1) this.fault("- (stdin) can be given for one file only");
  }

  /** Operands that are empty words. */
  #emptyOperands(): string[] {
    const { args, registeredArguments } = this.#command;
    const names = args.flatMap((word, index) => {
      const argument = registeredArguments[index] ?? registeredArguments.at(-1);
      return word === "" && argument !== undefined ? argument.name().toUpperCase() : [];
    });
    return [...new Set(names)].map((name) => `${name}: ${EMPTY}`);
  }

  /** Throws {@link UsageError} where there was a fault. */
  throwFaults(): void {
    const empty = [...this.#empty.values(), ...this.#emptyOperands()].map((message) => ({ message }));
    const faults = [...empty, ...this.faults];
    if (faults.length > 0) throw new UsageError(faults, seeHelpOf(this.#command));
  }
}

/** Where the options of a command are told: `See bootproof policy check --help.` */
export function seeHelpOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  return `See ${names.join(" ")} --help.`;
}

/** Whether it is said what the evidence is held against; a fault where it is said twice. */
export function choosesPolicy(args: ArgumentReader): boolean {
  const given = (["policy", "no-policy", "bundle-policy"] as const).filter((name) => args.has(name));
  if (given.length > 1) args.fault(`${given.map((name) => `--${name}`).join(" and ")} contradict each other: give one`);
  return given.length > 0;
}

/** The name of an option, without what it was given: that may be a key. */
export function optionName(word: string): string {
  return /^--[A-Za-z0-9][A-Za-z0-9-]*/.exec(word)?.[0] ?? word.slice(0, 2);
}
