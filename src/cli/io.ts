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

const DEFAULT_COLUMNS = 80;

/** How text is rendered for stdout. */
export function textOptions(io: Io): { readonly color: boolean; readonly width: number } {
  return { color: wantsColor(io), width: columnsOf(io.stdout, io) };
}

/** Those of the terminal, else what the environment says. */
function columnsOf({ isTTY, columns }: Io["stderr"], { env }: Io): number {
  const own = isTTY === true ? columns : undefined;
  return wholeNumber(own) ?? wholeNumber(env["COLUMNS"]) ?? DEFAULT_COLUMNS;
}

/** A terminal that does not know its size says 0. */
function wholeNumber(value: string | number | undefined): number | undefined {
  return /^[1-9][0-9]{0,8}$/.test(String(value ?? "")) ? Number(value) : undefined;
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
