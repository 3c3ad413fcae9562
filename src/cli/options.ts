/** Command-line arguments as values, with every fault told, not the first only. */
import type { Command } from "commander";
import { fromHex } from "../bytes.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { printable } from "../report/printable.js";
import { FORMATS, type Format, REPORT_FORMATS, type ReportFormat } from "../report/report.js";
import { STDIN } from "./files.js";
import { type Problem, UsageError } from "./io.js";

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
  isEmpty(name: string): boolean {
    return this.#empty.has(name);
  }

  /** Whether the option stands on the command line; for a negated one by its own name, such as `no-policy`. */
  has(name: string): boolean {
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

  format(text: string | undefined): Format {
    return this.#oneOf(FORMATS, text);
  }

  reportFormat(text: string | undefined): ReportFormat {
    return this.#oneOf(REPORT_FORMATS, text);
  }

  /** `text` where none is given. */
  #oneOf<F extends string>(formats: readonly F[], text = "text"): F | "text" {
    const format = formats.find((known) => known === text);
    return format ?? this.fault(`--format ${text}: one of ${formats.join(", ")} wanted`) ?? "text";
  }

  /** An RFC 3339 date and time, such as `2026-03-04T05:06:07Z`; `words`: what is taken in its place. */
  time(option: string, text: string, words = ""): Date | undefined {
    return (
      parseTime(text) ??
      this.fault(`${option} ${text}: ${words}an RFC 3339 date and time wanted, such as 2026-03-04T05:06:07Z`)
    );
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
  const given = ["policy", "no-policy", "bundle-policy"].filter((name) => args.has(name));
  if (given.length > 1) args.fault(`${given.map((name) => `--${name}`).join(" and ")} contradict each other: give one`);
  return given.length > 0;
}

const KEY_IS_NOT_SHOWN = "[not shown: it looks like a key]";

/**
 * What takes the words of a command line that could be keys out of a message: a terminal is scrolled back, and logs are
 * kept. Whoever puts a key at a wrong place is told where, and not what.
 */
export function withoutKeys(argv: readonly string[]): (message: string) => string {
  const whole = argv
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1), word.replace(/^-+/, "")])
    .filter(couldBeKey);
  const words = [...whole, ...argv.flatMap(keysInside)];
  // As messages may have them; the longest first, since one may hold another.
  const spellings = [...new Set(words.flatMap((word) => [word, printable(word), JSON.stringify(word).slice(1, -1)]))];
  spellings.sort((a, b) => b.length - a.length);
  return (message) => spellings.reduce((text, spelling) => text.replaceAll(spelling, KEY_IS_NOT_SHOWN), message);
}

/** Hex or base64 of 16 bytes and more without a name's dot or the look of one, a PEM or a key file's JSON. */
function couldBeKey(word: string): boolean {
  if (/privateKey|PRIVATE KEY/.test(word) || /^(?:0x)?[0-9a-fA-F]{32,}$/.test(word)) return true;
  return /^[A-Za-z0-9+/_=-]{24,}$/.test(word) && [/[a-z]/, /[A-Z]/, /[0-9]/].every((kind) => kind.test(word));
}

/**
 * 32 bytes among other things, as in `PRIVATE:p256`: hex, with colons or without, and base64. Shorter is a path's
 * digest.
 */
function keysInside(word: string): string[] {
  const hex = word.match(/[0-9a-fA-F]{64,}|(?:[0-9a-fA-F]{2}:){31,}[0-9a-fA-F]{2}/g) ?? [];
  const base64 = (word.match(/[A-Za-z0-9+_=]{43,}/g) ?? []).filter(couldBeKey);
  return [...hex, ...base64];
}

/** The name of an option, without what it was given: that may be a key. */
export function optionName(word: string): string {
  return /^--[A-Za-z0-9][A-Za-z0-9-]*/.exec(word)?.[0] ?? word.slice(0, 2);
}

/** The ephemeral key of an option. */
export function ephemeralKeyOf(args: ArgumentReader, text: string): Uint8Array | undefined {
  const key = fromHex(text);
  if (key?.length === QOS_PUBLIC_KEY_LENGTH) return key;
  const found = /^[0-9a-fA-F]*$/.test(text) ? `${text.length} hex digits` : "not hex";
  return args.fault(`--ephemeral-key: ${found}, ${2 * QOS_PUBLIC_KEY_LENGTH} hex digits wanted`);
}

/** The nonce of an option. */
export function nonceOf(args: ArgumentReader, text: string): Uint8Array | undefined {
  const nonce = fromHex(text);
  return nonce !== null && nonce.length > 0
    ? nonce
    : args.fault("--nonce: bytes in hex wanted, without 0x, as they were asked for");
}

/** RFC 3339 section 5.6, without leap seconds; null for any other text and for days that do not exist. */
export function parseTime(text: string): Date | null {
  const parts = /^(\d{4}-\d{2}-)(\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(
    text,
  );
  if (parts === null) return null;
  const [, month, day, clock] = parts;
  // Date turns 30 February into March: parsed without the offset, the day has to stay the same.
  const local = new Date(`${month}${day}T${clock}Z`);
  if (Number.isNaN(local.getTime()) || local.getUTCDate() !== Number(day)) return null;
  const time = new Date(text.toUpperCase());
  return Number.isNaN(time.getTime()) ? null : time;
}
