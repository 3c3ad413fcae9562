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
}

/** Colour for a terminal, unless NO_COLOR (no-color.org) is set to something. */
export function wantsColor(io: Io): boolean {
  return io.stdout.isTTY === true && (io.env["NO_COLOR"] ?? "") === "";
}

const DEFAULT_WIDTH = 80;
const NARROWEST = 60;
const WIDEST = 200;

/** Columns of the result: the terminal's, else COLUMNS, else 80; between 60 and 200. */
export function widthOf({ stdout, env }: Pick<Io, "stdout" | "env">): number {
  const named = /^[1-9][0-9]{0,4}$/.test(env["COLUMNS"] ?? "") ? Number(env["COLUMNS"]) : DEFAULT_WIDTH;
  // A terminal that does not know its width says 0.
  return Math.min(Math.max(stdout.columns || named, NARROWEST), WIDEST);
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
