/** The parts of its process that a command uses. Tests pass their own. */

/** A stream. `columns` and `rows` are those of a terminal. */
interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly fd?: number | undefined;
  readonly columns?: number | undefined;
  /** Whether the buffer is over its limit. */
  readonly writableNeedDrain?: boolean | undefined;
  /** `drain` means that the buffer is empty, and `error` that the reader is gone. */
  once?(event: "drain" | "error", listener: () => void): unknown;
}

export interface Io {
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean | undefined };
  readonly stdout: Omit<Output, "write"> & {
    write(text: string | Uint8Array): unknown;
    readonly rows?: number | undefined;
  };
  /** The stream of messages. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute path of the script with which the process was started, if known. */
  readonly started?: { readonly script: string };
  readonly now: () => Date;
  /** The topic of the help that the command line asks for, of a command that has topics. */
  readonly helpTopic: string | null;
  /** Shows the current work at a terminal. */
  readonly progress: (what: string) => void;
  /** Writes a message to stderr: the text, or with `--log-format json` the event. */
  readonly report: (text: string, event: ReportedEvent) => void;
}

/** A message for programs. The fields are plain data and dates. */
export interface ReportedEvent {
  /** The kind of the event in words with hyphens, such as `outage`. */
  readonly event: string;
  readonly fields?: object;
}

export type ProcessIo = Omit<Io, "helpTopic" | "progress" | "report">;

/**
 * Whether texts have colours. NO_COLOR (no-color.org) always turns them off. FORCE_COLOR (force-color.org) turns them
 * on, or off if it is `0`.
 */
function wantsColor({ env, stdout }: Io): boolean {
  const { NO_COLOR: none = "", FORCE_COLOR: force = "", TERM: terminal } = env;
  if (none !== "") return false;
  if (force !== "") return force !== "0";
  return stdout.isTTY === true && terminal !== "dumb";
}

/** Asks on stderr. Returns the first line on stdin. */
export async function answerTo(question: string, { stdin, stderr }: Pick<Io, "stdin" | "stderr">): Promise<string> {
  stderr.write(question);
  let answer = "";
  for await (const chunk of stdin) {
    answer += Buffer.from(chunk).toString();
    if (answer.includes("\n")) break;
  }
  return answer.split("\n", 1)[0]!.trim().toLowerCase();
}

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export function textOptions(io: Io): { readonly color: boolean; readonly width: number; readonly height: number } {
  const { isTTY, rows } = io.stdout;
  const own = isTTY === true ? rows : undefined;
  const height = wholeNumber(own) ?? wholeNumber(io.env["LINES"]) ?? DEFAULT_ROWS;
  return { color: wantsColor(io), width: columnsOf(io.stdout, io), height };
}

/** Returns the options for messages, which have no colours. */
export function messageOptions(io: Pick<Io, "stderr" | "env">): { readonly width: number } {
  return { width: columnsOf(io.stderr, io) };
}

/** Returns the options for texts in files, which have neither colours nor a screen. */
export function fileOptions(io: Pick<Io, "env">): { readonly width: number } {
  return { width: columnsOf({}, io) };
}

function columnsOf({ isTTY, columns }: Pick<Output, "isTTY" | "columns">, { env }: Pick<Io, "env">): number {
  const own = isTTY === true ? columns : undefined;
  return wholeNumber(own) ?? wholeNumber(env["COLUMNS"]) ?? DEFAULT_COLUMNS;
}

/** Reads a positive whole number. Undefined for 0, which a terminal of unknown size reports. */
function wholeNumber(value: string | number | undefined): number | undefined {
  return /^[1-9][0-9]{0,8}$/.test(String(value ?? "")) ? Number(value) : undefined;
}

/** One fault that stops a command. */
export interface Problem {
  readonly message: string;
  /** The file's name, or `stdin`. */
  readonly file?: string;
  readonly advice?: string;
  /** The stable code of a signed policy that is refused. */
  readonly code?: string;
}

/** Ends the command with these problems on stderr, and without a stack trace. */
export class CommandError extends Error {
  readonly exitCode: 1 | 2 | 3 = 2;
  readonly problems: readonly Problem[];
  /** A sentence that names the help to read; null if none helps. */
  readonly see: string | null;

  constructor(problems: readonly (string | Problem)[], see: string | null = null) {
    const whole = problems.map((problem) => (typeof problem === "string" ? { message: problem } : problem));
    super(whole.map(({ message }) => message).join("\n"));
    this.problems = whole;
    this.see = see;
  }
}

/** Ends the command with exit code 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}

export class RefusedError extends CommandError {
  override readonly name = "RefusedError";
  override readonly exitCode = 1;
}

export class UnreachableError extends CommandError {
  override readonly name = "UnreachableError";
  override readonly exitCode = 3;
}
