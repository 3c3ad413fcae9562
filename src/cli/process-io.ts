/** What the commands see of the process: messages without keys, fitted or as JSON, and the progress line. */
import { fstatSync } from "node:fs";
import { pageOf, wrapped } from "../show/terminal.js";
import { type Io, type ProcessIo, messageOptions } from "./io.js";
import type * as MessageLines from "./message-lines.js";
import type { Progress } from "./progress.js";

/**
 * Returns the progress line. Null with `--quiet` or `--log-format`, or if stderr is not a terminal that can erase a
 * line.
 */
async function progressAt({ stderr, env }: ProcessIo, argv: readonly string[]): Promise<Progress | null> {
  const isQuiet = argv.includes("--quiet") || namesLogFormat(argv);
  if (stderr.isTTY !== true || env["TERM"] === "dumb" || isQuiet) return null;
  const { Progress } = await import("./progress.js");
  return new Progress(stderr);
}

/** Returns the functions for JSON messages. Null if messages are text. */
async function jsonLinesFor(
  argv: readonly string[],
): Promise<Pick<typeof MessageLines, "eventLine" | "messageLines"> | null> {
  if (!namesLogFormat(argv)) return null;
  const lines = await import("./message-lines.js");
  return lines.wantsJsonLines(argv) ? lines : null;
}

function namesLogFormat(argv: readonly string[]): boolean {
  return argv.some((word) => word.startsWith("--log-format"));
}

interface Shown {
  readonly argv: readonly string[];
  /** Removes keys from a text. */
  readonly shown: (text: string) => string;
  readonly helpTopic: string | null;
}

/**
 * Returns an `io` that erases the progress line before any output. Output on stdout also ends the line, unless stdout
 * is a file: a pipe may lead to the same terminal. Messages never show a key.
 */
export async function ioOf(
  given: ProcessIo,
  { argv, shown, helpTopic }: Shown,
): Promise<{ readonly io: Io; readonly progress: Progress | null }> {
  const [progress, lines] = [await progressAt(given, argv), await jsonLinesFor(argv)];
  const { isTTY, columns, rows } = given.stdout;
  const endsProgress = progress !== null && !isFile(given.stdout);
  const stdout: Io["stdout"] = {
    isTTY,
    columns,
    rows,
    get writableNeedDrain() {
      return given.stdout.writableNeedDrain;
    },
    once: (event, listener) => given.stdout.once?.(event, listener),
    write: (text) => {
      if (endsProgress) progress.end();
      return given.stdout.write(text);
    },
  };
  const stderr: Io["stderr"] = {
    isTTY: given.stderr.isTTY,
    columns: given.stderr.columns,
    write: (text) => {
      progress?.clear();
      const message = lines === null ? fittedMessage(shown(text), given) : lines.messageLines(shown(text), given.now());
      return given.stderr.write(message);
    },
  };
  const report: Io["report"] = (text, event) => {
    if (lines === null) stderr.write(text);
    else given.stderr.write(shown(lines.eventLine(text, event, given.now())));
  };
  // This is a prototype and not a copy, since reading the property `stdin` would open it.
  const io = Object.create(given, {
    helpTopic: { value: helpTopic },
    stdout: { value: stdout },
    stderr: { value: stderr },
    progress: { value: (what: string) => progress?.say(shown(what)) },
    report: { value: report },
  }) as Io;
  return { io, progress };
}

function isFile({ fd }: ProcessIo["stdout"]): boolean {
  try {
    return fd !== undefined && fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/**
 * Fits sentences to the terminal, which would break them inside words. Indented lines are for copying and stay as is.
 */
function fittedMessage(text: string, { stderr, env }: ProcessIo): string {
  if (stderr.isTTY !== true) return text;
  const page = pageOf(messageOptions({ stderr, env }));
  // A line with a word that is longer than a line, such as a path, also stays as it is.
  const isKept = (line: string): boolean =>
    line.startsWith(" ") || line.split(" ").some((word) => word.length > page.width);
  const lines = text.split("\n").flatMap((line) => (isKept(line) ? [line] : wrapped(page, "", line)));
  return lines.join("\n");
}
