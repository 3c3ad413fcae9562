/** How commander reads the options of a command, and the types of what it reads. */
import { type Command, Option } from "commander";
import { COMMAND_OPTIONS } from "./command-options.js";
import { READERS, type Reader } from "./option-values.js";

/** The name of a command with options, such as `verify` or `policy check`. */
export type CommandName = keyof typeof COMMAND_OPTIONS;

type OwnFlags<C extends CommandName> = keyof (typeof COMMAND_OPTIONS)[C] & string;
type NameOf<F> = F extends `--${infer N} ${string}` ? N : F extends `--${infer N}` ? N : never;
export type OptionName = { [C in CommandName]: NameOf<OwnFlags<C>> }[CommandName];

type ListFlags = `${string}...>` | `${string}+>`;
type WordOf<F> = F extends `${string} <${infer W}>` ? (W extends `${infer L}${"..." | "+"}` ? L : W) : never;
type ReaderOf<F> = (typeof READERS)[keyof typeof READERS & (`--${NameOf<F>}` | WordOf<F>)];
type Result<R> = R extends readonly (infer T)[] ? T : R extends (text: string) => infer T ? T : never;
type ValueOf<F> = [ReaderOf<F>] extends [never] ? string : Result<ReaderOf<F>>;
type Camel<S> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S & string;
type FlagName<F> = NameOf<F> extends `no-${infer P}` ? Camel<P> : Camel<NameOf<F>>;
type FlagOf<F> = F extends `--no-${string}`
  ? false
  : F extends `${string} <${string}`
    ? ValueOf<F>
    : F extends `${string} [${string}`
      ? string | true
      : boolean;
type WithDefault = `--format ${string}`;
/**
 * The flags that commander parses. `--no-policy` is `policy: false`, a list that is not given is empty, and `--format`
 * is text.
 */
export type Flags<C extends CommandName> = {
  readonly [F in Exclude<OwnFlags<C>, ListFlags | WithDefault> as FlagName<F>]?: FlagOf<F>;
} & { readonly [F in OwnFlags<C> & ListFlags as FlagName<F>]: readonly ValueOf<F>[] } & {
  readonly [F in OwnFlags<C> & WithDefault as FlagName<F>]: ValueOf<F>;
};

const ROWS = Object.entries(COMMAND_OPTIONS).flatMap(([command, rows]) =>
  Object.entries(rows).map(([flags, help]) => ({ command: command as CommandName, flags, help })),
);

/** Adds the options of the command with this name, if it has any. */
export function addOptions(command: Command, name: string): Command {
  for (const { flags, help } of ROWS.filter((row) => row.command === name)) {
    const option = new Option(flags.replace("+>", ">"), help).hideHelp(help === "");
    const [, word = ""] = /<([\w-]+)/.exec(flags) ?? [];
    const readers: Readonly<Record<string, Reader>> = READERS;
    const reader = readers[option.long!] ?? readers[word];
    if (typeof reader === "function") option.argParser(reader);
    else if (reader !== undefined) option.choices(reader);
    command.addOption(option);
    const isList = /(?:\.\.\.|\+)>$/.test(flags);
    if (isList || option.long === "--format")
      command.setOptionValueWithSource(option.attributeName(), isList ? [] : "text", "default");
  }
  return command;
}

/** Returns the commands that show an option, in the order of the help, with what they say of it. */
export function commandsWith(option: string): (typeof ROWS)[number][] {
  return ROWS.filter(({ flags, help }) => flags.split(" ", 1)[0] === `--${option}` && help !== "");
}

export const OPTION_NAMES = [
  ...new Set(ROWS.flatMap(({ flags, help }) => (help === "" ? [] : flags.split(" ", 1)[0]!.slice(2)))),
];
