/** What a command uses of its process, so that a test can hand it something else. */

export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The result. */
  readonly stdout: {
    write(text: string): unknown;
    readonly isTTY?: boolean | undefined;
    readonly columns?: number | undefined;
    readonly rows?: number | undefined;
  };
  /** Messages. */
  readonly stderr: {
    write(text: string): unknown;
    readonly isTTY?: boolean | undefined;
    readonly columns?: number | undefined;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The clock. */
  readonly now: () => Date;
  /** What the command does from now on, for who waits at a terminal. */
  readonly progress: (what: string) => void;
}

/** What the process has. */
export type ProcessIo = Omit<Io, "progress">;

/** Colour for a terminal, unless NO_COLOR (no-color.org) is set to something. */
export function wantsColor(io: Io): boolean {
  return io.stdout.isTTY === true && (io.env["NO_COLOR"] ?? "") === "";
}

const DEFAULT_COLUMNS = 80;

/** How text is rendered for stdout. */
export function textOptions(io: Io): { readonly color: boolean; readonly width: number } {
  return { color: wantsColor(io), width: columnsOf(io.stdout, io) };
}

/** Those of the terminal, else what the environment says. */
function columnsOf({ isTTY, columns }: Io["stdout"], { env }: Io): number {
  const own = isTTY === true ? columns : undefined;
  return wholeNumber(own) ?? wholeNumber(env["COLUMNS"]) ?? DEFAULT_COLUMNS;
}

/** A terminal that does not know its size says 0. */
function wholeNumber(value: string | number | undefined): number | undefined {
  return /^[1-9][0-9]{0,8}$/.test(String(value ?? "")) ? Number(value) : undefined;
}

/**
 * How the command was started, for examples that are to be copied: who ran it by npx has no `bootproof` on the PATH.
 */
export function programName({ env }: Pick<Io, "env">): string {
  return env["npm_command"] === "exec" ? "npx bootproof" : "bootproof";
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
