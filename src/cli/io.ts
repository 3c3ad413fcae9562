/** What a command uses of its process, so that a test can hand it something else. */

export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The result. */
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Messages. */
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The clock. */
  readonly now: () => Date;
}

/** Colour for a terminal, unless NO_COLOR (no-color.org) is set to something. */
export function wantsColor(io: Io): boolean {
  return io.stdout.isTTY === true && (io.env["NO_COLOR"] ?? "") === "";
}

/** The command cannot be carried out as it was given: exit code 2, and these lines on stderr, no stack trace. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join("\n"));
    this.lines = lines;
  }
}

/** What was asked for could not be fetched: exit code 3, and these lines on stderr. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join("\n"));
    this.lines = lines;
  }
}
