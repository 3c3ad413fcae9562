/** `bootproof completion`: a script by which a shell asks `bootproof __complete` for the words that fit. */
import type { Argument, Command, Option } from "commander";
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

const SCRIPTS = {
  // To bash, --format=json is three words.
  bash: `_bootproof() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  if [ "$current" = "=" ]; then current=; fi
  while IFS= read -r line; do
    case "$line" in
      # Without a reply, readline completes file names itself, with quotes and spaces.
      @files) return ;;
      @folders) compopt +o default -o dirnames 2>/dev/null; return ;;
    esac
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(bootproof __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
  compopt +o default 2>/dev/null
  return 0
}
complete -o default -F _bootproof bootproof
`,
  zsh: `#compdef bootproof
_bootproof() {
  local line
  local -a found
  for line in "\${(@f)$(bootproof __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      @files) compset -P '--*='; _files; return ;;
      @folders) compset -P '--*='; _files -/; return ;;
      ?*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  _describe bootproof found
}
compdef _bootproof bootproof
# As a file in $fpath it is the function itself, the first time.
if [ "\${funcstack[1]}" = "_bootproof" ]; then _bootproof "$@"; fi
`,
  fish: `function __bootproof_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (bootproof __complete $words[2..-1] 2>/dev/null)
        switch $line
            case @files
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- $words[-1])
            case @folders
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $words[-1])
            case '*'
                echo $line
        end
    end
end
complete -c bootproof -f -a '(__bootproof_complete)'
`,
} as const;

export const addCompletionCommand = commandOf<"completion", [shell: string]>(
  "completion",
  { help: EXAMPLES },
  ({ command, io }, name) => {
    if (!Object.hasOwn(SCRIPTS, name))
      throw new UsageError([`${name}: expected one of ${Object.keys(SCRIPTS).join(", ")}`], seeHelpOf(command));
    io.stdout.write(SCRIPTS[name as keyof typeof SCRIPTS]);
    return Promise.resolve(EXIT.good);
  },
);

/** Words, files, or folders. An empty list means that only the user knows the value. */
type Values = readonly string[] | "@files" | "@folders";

/**
 * Returns what fits at the last word, a line each: a word, then perhaps a tab and what it is; or `@files` or
 * `@folders`.
 */
export async function candidates(program: Command, typed: readonly string[]): Promise<string> {
  // Words of bash alone.
  const words = typed.slice(0, -1).filter((word) => word !== "" && word !== "=");
  const current = typed.at(-1) ?? "";
  const [, assigned, start = current] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const { command, option, ended } = placeAfter(program, assigned === undefined ? words : [...words, assigned]);
  const found =
    start.startsWith("-") && !ended && assigned === undefined ? optionsOf(command) : await valuesOf(command, option);
  if (typeof found === "string") return `${found}\n`;
  const before = assigned === undefined ? "" : `${assigned}=`;
  return found.flatMap((word) => (word.startsWith(start) ? `${before}${word}\n` : [])).join("");
}

interface Place {
  readonly command: Command;
  /** The option that waits for a value. */
  readonly option: Option | undefined;
  /** Whether `--` has ended the options. */
  readonly ended: boolean;
}

function placeAfter(program: Command, words: readonly string[]): Place {
  let command = program;
  let option: Option | undefined;
  for (const word of words) {
    if (word === "--") return { command, option: undefined, ended: true };
    if (/^-./.test(word)) {
      option = command.options.find(({ long, short, required }) => required && [long, short].includes(word));
    } else if (option === undefined) {
      command = command.commands.find((one) => one.name() === word) ?? command;
    } else if (!option.variadic) option = undefined;
  }
  return { command, option, ended: false };
}

function optionsOf(command: Command): string[] {
  const options = command.createHelp().visibleOptions(command);
  return options.flatMap(({ long, short, description }) =>
    [long, short].flatMap((name) => (name ? `${name}\t${description}` : [])),
  );
}

async function valuesOf(command: Command, option: Option | undefined): Promise<Values> {
  if (option !== undefined)
    return option.argChoices ?? (await VALUES[/[<[]([\w-]+)/.exec(option.flags)?.[1] ?? ""]?.()) ?? [];
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  if (below.length > 0) return below.map((one) => `${one.name()}\t${help.subcommandDescription(one)}`);
  // A command that allows an undeclared operand takes a file, as verify takes a bundle.
  const [argument] = command.registeredArguments as (Argument | undefined)[];
  const takesFiles = (command as unknown as { readonly _allowExcessArguments: boolean })._allowExcessArguments;
  if (argument === undefined) return takesFiles ? "@files" : [];
  return (await VALUES[argument.name()]?.()) ?? "@files";
}

/** Completions by the word of the help, such as `<version>`, of values without choices. Others are the user's own. */
const VALUES: Readonly<Record<string, () => Values | Promise<Values>>> = {
  file: () => "@files",
  policy: () => "@files",
  folder: () => "@folders",
  shell: () => Object.keys(SCRIPTS),
  when: () => ["document", "now"],
  algorithm: async () => (await import("../formats/signing-key.js")).ALGORITHMS,
  class: async () => (await import("../addresses/classes.js")).ACCEPTABLE_WORDS,
  member: async () => (await import("../review/members.js")).ACCEPTABLE,
  demand: async () => (await import("../appraise/siblings.js")).DROPPABLE,
  word: async () => (await import("../report/explanations.js")).explainedWords(),
  fault: async () => Object.keys((await import("../lab/lies.js")).LIES),
  version: async () => (await import("../decode/manifest/index.js")).MANIFEST_VERSIONS,
};
