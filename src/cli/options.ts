/** The arguments of one command line, and all its faults. */
import type { Command } from "commander";
import { STDIN } from "./files.js";
import { type Problem, UsageError } from "./io.js";
import type { OptionName } from "./option-table.js";

/** `option` and `value` are words such as `--policy`. */
export function tookOption(option: string, value: string): string {
  return `${option}: took ${value}, an option, as its value: a shell variable may be unset`;
}

const EMPTY = "empty: a shell variable may be unset";

/** Collects the faults of one command line. */
export class ArgumentReader {
  readonly faults: Problem[] = [];
  readonly #given = new Map<string, number>();
  /** The sentence for each option without a value, or with another option as its value. */
  readonly #empty = new Map<string, string>();
  readonly #command: Command;

  /** Must be created before the command line is parsed, to receive its events. */
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

  /** An unset shell variable is an empty word inside quotes, and no word without them. */
  #noteEmpty(name: string, value: string): void {
    const isOption = this.#command.options.some(({ long }) => long === value);
    if (value !== "" && !isOption) return;
    this.#empty.set(name, isOption ? tookOption(`--${name}`, value) : `--${name}: ${EMPTY}`);
  }

  /** Whether the option lacks its value: that fault is reported already. */
  isEmpty(name: OptionName): boolean {
    return this.#empty.has(name);
  }

  /** Whether the option is on the command line; a negated one by its own name, such as `no-policy`. */
  has(name: OptionName): boolean {
    return this.#given.has(name);
  }

  /** `advice`: only where the command's help is not enough. */
  fault(message: string, advice?: string): undefined {
    this.faults.push({ message, ...(advice !== undefined && { advice }) });
    return undefined;
  }

  refuseRepeated(): void {
    for (const option of this.#command.options) {
      if (!option.variadic && (this.#given.get(option.name()) ?? 0) > 1)
        this.fault(`${option.long} is repeated: give it once`);
    }
  }

  /** A repeated value may be a typo for another. `option`: such as `--app`. */
  refuseTwice(option: string, values: readonly string[]): void {
    const twice = new Set(values.filter((value, index) => values.indexOf(value) !== index));
    for (const value of twice) this.fault(`${option} ${value}: repeated: give it once`);
  }

  /** stdin can be read once. */
  refuseRepeatedStdin(paths: readonly (string | undefined)[]): void {
    if (paths.filter((path) => path === STDIN).length > 1) this.fault("only one file can be - (stdin)");
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
    const empty = [...this.#empty.values(), ...this.#emptyOperands()].map((message) => ({ message }));
    const faults = [...empty, ...this.faults];
    if (faults.length > 0) throw new UsageError(faults, seeHelpOf(this.#command));
  }
}

/** `See bootproof policy check --help.` */
export function seeHelpOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  return `See ${names.join(" ")} --help.`;
}

/** Whether the command line chooses a policy; a fault if it chooses twice. */
export function choosesPolicy(args: ArgumentReader): boolean {
  const given = (["policy", "no-policy", "bundle-policy"] as const).filter((name) => args.has(name));
  if (given.length > 1) args.fault(`${given.map((name) => `--${name}`).join(" and ")} exclude each other: give one`);
  return given.length > 0;
}

/** The name of an option without its value: the value may be a key. */
export function optionName(word: string): string {
  return /^--[A-Za-z0-9][A-Za-z0-9-]*/.exec(word)?.[0] ?? word.slice(0, 2);
}
