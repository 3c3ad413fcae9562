/** What a command uses of its process, so that a test can hand it something else. */

/** A stream; `columns` (and `rows`) are those of a terminal. */
interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  /** Of a stream: whether it has more to write than it should hold. */
  readonly writableNeedDrain?: boolean | undefined;
  /** Of a stream: `drain`, when it has written what it held; `error`, when nobody reads it any more. */
  once?(event: "drain" | "error", listener: () => void): unknown;
}

export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The result. */
  readonly stdout: Output & { readonly rows?: number | undefined };
  /** Messages. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file that the process was started with, and where; not given where there is none. */
  readonly started?: { readonly script: string; readonly folder: string };
  /** The clock. */
  readonly now: () => Date;
  /** What the command does from now on, for who waits at a terminal. */
  readonly progress: (what: string) => void;
}

/** What the process has. */
export type ProcessIo = Omit<Io, "progress">;

/**
 * Colour for a terminal that has it. NO_COLOR (no-color.org) forbids it, whatever else is said; FORCE_COLOR
 * (force-color.org) asks for it also where there is no terminal, or forbids it with `0`.
 */
function wantsColor({ env, stdout }: Io): boolean {
  const { NO_COLOR: none = "", FORCE_COLOR: force = "", TERM: terminal } = env;
  if (none !== "") return false;
  if (force !== "") return force !== "0";
  return stdout.isTTY === true && terminal !== "dumb";
}

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** How text is rendered for stdout. */
export function textOptions(io: Io): { readonly color: boolean; readonly width: number; readonly height: number } {
  const { isTTY, rows } = io.stdout;
  const own = isTTY === true ? rows : undefined;
  const height = wholeNumber(own) ?? wholeNumber(io.env["LINES"]) ?? DEFAULT_ROWS;
  return { color: wantsColor(io), width: columnsOf(io.stdout, io), height };
}

/** How text is rendered for stderr: messages stand among others, and have no colour. */
export function messageOptions(io: Pick<Io, "stderr" | "env">): { readonly width: number } {
  return { width: columnsOf(io.stderr, io) };
}

/** Those of the terminal, else what the environment says. */
function columnsOf({ isTTY, columns }: Output, { env }: Pick<Io, "env">): number {
  const own = isTTY === true ? columns : undefined;
  return wholeNumber(own) ?? wholeNumber(env["COLUMNS"]) ?? DEFAULT_COLUMNS;
}

/** A terminal that does not know its size says 0. */
function wholeNumber(value: string | number | undefined): number | undefined {
  return /^[1-9][0-9]{0,8}$/.test(String(value ?? "")) ? Number(value) : undefined;
}

/** One thing that keeps a command from being carried out. */
export interface Problem {
  readonly message: string;
  /** The file that it is about, or `stdin`. */
  readonly file?: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** The command ends here, with these problems on stderr and no stack trace. */
export class CommandError extends Error {
  readonly problems: readonly Problem[];
  /** Where to read on, whatever the problems are. */
  readonly see: string | null;

  constructor(problems: readonly (string | Problem)[], see: string | null = null) {
    const whole = problems.map((problem) => (typeof problem === "string" ? { message: problem } : problem));
    super(whole.map(({ message }) => message).join("\n"));
    this.problems = whole;
    this.see = see;
  }
}

/** The command cannot be carried out as it was given: exit code 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}

/** What was asked for could not be fetched: exit code 3. */
export class UnreachableError extends CommandError {
  override readonly name = "UnreachableError";
}
