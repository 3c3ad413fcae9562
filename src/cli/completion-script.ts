/**
 * Makes shell completion scripts. The functions that know the commands are the same in bash and zsh, in a syntax that
 * both accept. fish has one line per option.
 */

/** The completions of a value: words, files, or folders. An empty list means that only the user knows the value. */
export type Values = readonly string[] | "files" | "folders";

export interface CompletedOption {
  readonly short: string | null;
  readonly long: string;
  readonly what: string;
  /** Completions of the option's value; null if it is a switch. */
  readonly takes: Values | null;
  readonly isVariadic: boolean;
}

export interface CompletedCommand {
  readonly words: string;
  readonly commands: readonly { readonly word: string; readonly what: string }[];
  readonly options: readonly CompletedOption[];
  readonly operands: Values;
}

type Commands = readonly CompletedCommand[];

export const SCRIPTS: Readonly<Record<"bash" | "zsh" | "fish", (commands: Commands) => string>> = {
  bash: (commands) => `# bash completion of bootproof: eval "$(bootproof completion bash)"
${candidates(commands)}
_bootproof() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  # --format=json is three words to bash.
  if [ "$current" = "=" ]; then current=; fi
  while IFS= read -r line; do
    case "$line" in
      # No reply: readline completes file names itself, with quotes and spaces.
      @files) return ;;
      @folders) compopt +o default -o dirnames 2>/dev/null; return ;;
    esac
    line=\${line%%$'\\t'*}
    if [ "\${line#"$current"}" != "$line" ] || [ -z "$current" ]; then COMPREPLY+=("$line"); fi
  done < <(_bootproof_candidates "$current" "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  compopt +o default 2>/dev/null
  return 0
}
complete -o default -F _bootproof bootproof
`,
  zsh: (commands) => `#compdef bootproof
# zsh completion of bootproof: eval "$(bootproof completion zsh)", after compinit
${candidates(commands)}
_bootproof() {
  local current=\${words[CURRENT]} line
  local -a before found
  before=("\${(@)words[2,CURRENT-1]}")
  if [[ $current == --*=* ]]; then
    before+=("\${current%%=*}")
    current=\${current#*=}
    compset -P '*='
  fi
  for line in "\${(@f)$(_bootproof_candidates "$current" "\${(@)before}")}"; do
    case "$line" in
      @files) _files; return ;;
      @folders) _files -/; return ;;
      *$'\\t'*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
      ?*) found+=("\${line//:/\\\\:}") ;;
    esac
  done
  _describe bootproof found
}
compdef _bootproof bootproof
# As a file in $fpath it is the function itself, the first time.
if [ "\${funcstack[1]}" = "_bootproof" ]; then _bootproof "$@"; fi
`,
  fish: (
    commands,
  ) => `# fish completion of bootproof: bootproof completion fish > ~/.config/fish/completions/bootproof.fish
function __bootproof_at
    set -l found ''
    for word in (commandline -opc)
        switch "$found $word"
            case ${deeper(commands).join(" ")}
                set found (string trim -- "$found $word")
        end
    end
    test "$found" = "$argv[1]"
end
complete -c bootproof -f
${commands.flatMap(fishLines).join("\n")}
`,
};

/** Quotes a text for bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns each command with the commands above it, such as `' verify'` and `'policy check'`. */
function deeper(commands: Commands): string[] {
  return commands.flatMap(({ words, commands: below }) => below.map(({ word }) => quoted(`${words} ${word}`)));
}

function candidates(commands: Commands): string {
  const options = commands.flatMap(({ words, options: own }) => own.map((option) => ({ words, option })));
  const waiting = (isVariadic: boolean): string[] =>
    options
      .filter(({ option }) => option.takes !== null && option.isVariadic === isVariadic)
      .map(({ words, option }) => quoted(`${words} ${option.long}`));
  const rows = [
    ...commands.map(({ words, options: own }) => row(`options ${words}`, own.flatMap(optionLines))),
    ...commands.map(({ words, commands: below, operands }) =>
      row(
        `operands ${words}`,
        below.length > 0 ? below.map(({ word, what }) => described(word, what)) : linesOf(operands),
      ),
    ),
    ...options.flatMap(({ words, option: { long, takes } }) =>
      takes === null ? [] : row(`value ${words} ${long}`, linesOf(takes)),
    ),
  ];
  return `_bootproof_table() {
  case "$1" in
${rows.join("\n")}
  esac
}
# The word at the cursor, and all before it behind the program: one candidate a line, behind a tab what it is.
_bootproof_candidates() {
  local current="$1" word found='' waiting='' many='' ended=''
  shift
  for word in "$@"; do
    if [ -n "$ended" ]; then continue; fi
    case "$word" in
      ''|=) continue ;;
      --) ended=1 waiting='' ; continue ;;
      --*=*) waiting='' ; continue ;;
    esac
    case "$found $word" in
      ${[...waiting(false)].join("|")}) waiting="$word" many='' ; continue ;;
      ${[...waiting(true)].join("|")}) waiting="$word" many=1 ; continue ;;
    esac
    case "$word" in
      -?*) waiting='' ; continue ;;
    esac
    if [ -n "$waiting" ]; then
      if [ -z "$many" ]; then waiting=''; fi
      continue
    fi
    case "$found $word" in
      ${deeper(commands).join("|")}) found="$found\${found:+ }$word" ;;
    esac
  done
  case "$current" in
    -*) if [ -z "$ended" ]; then _bootproof_table "options $found"; return; fi ;;
  esac
  if [ -n "$waiting" ]; then _bootproof_table "value $found $waiting"; else _bootproof_table "operands $found"; fi
}`;
}

function row(key: string, lines: readonly string[]): string {
  return `    ${quoted(key)}) ${lines.length === 0 ? ":" : `printf '%s\\n' ${lines.map(quoted).join(" ")}`} ;;`;
}

function optionLines({ short, long, what }: CompletedOption): string[] {
  return [long, ...(short === null ? [] : [short])].map((name) => described(name, what));
}

function described(word: string, what: string): string {
  return `${word}\t${what}`;
}

function linesOf(values: Values): readonly string[] {
  if (values === "files") return ["@files"];
  return values === "folders" ? ["@folders"] : values;
}

function fishLines({ words, commands, options, operands }: CompletedCommand): string[] {
  const start = `complete -c bootproof -n ${fishQuoted(`__bootproof_at '${words}'`)}`;
  const below = commands.map(({ word, what }) => `${start} -a ${word} -d ${fishQuoted(what)}`);
  const own = options.map(({ short, long, what, takes }) => {
    const names = `${short === null ? "" : `-s ${short.slice(1)} `}-l ${long.slice(2)}`;
    return `${start} ${names}${fishValues(takes, " -r -F", " -x")} -d ${fishQuoted(what)}`;
  });
  const beside = commands.length > 0 ? "" : fishValues(operands, " -F", "");
  return [...below, ...own, ...(beside === "" ? [] : [start + beside])];
}

function fishValues(values: Values | null, files: string, required: string): string {
  if (values === null) return "";
  if (values === "files") return files;
  if (values === "folders") return `${required} -a '(__fish_complete_directories)'`;
  return values.length === 0 ? required : `${required} -a ${fishQuoted(values.join(" "))}`;
}

/** Quotes a text for fish. */
function fishQuoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
