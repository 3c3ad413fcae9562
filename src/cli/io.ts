/** What a command uses of its process, so that a test can hand it something else. */

export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The result. */
  readonly stdout: {
    write(text: string): unknown;
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  /** Messages. */
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The clock. */
  readonly now: () => Date;
}

/** Colour for a terminal, unless NO_COLOR (no-color.org) is set to something. */
export function wantsColor(io: Io): boolean {
  return io.stdout.isTTY === true && (io.env["NO_COLOR"] ?? "") === "";
}

/** The terminal's columns, else those of COLUMNS, else 80; 60 to 200 of them. */
export function widthOf(io: Io): number {
  const columns = io.stdout.columns ?? (Number.parseInt(io.env["COLUMNS"] ?? "", 10) || 80);
  return Math.min(Math.max(columns, 60), 200);
}

/** The command ends here, with these lines on stderr and no stack trace. */
export class CommandError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join("\n"));
    this.lines = lines;
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
