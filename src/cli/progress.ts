/** Shows the current work in the last line of a terminal after one second, and removes it at the end. */
import { printable } from "../report/printable.js";
import { piecesOf } from "../show/width.js";

const PATIENCE_MS = 1000;
const DEFAULT_COLUMNS = 80;
/** The sequence that erases the line. */
const ERASE = "\r\u001b[K";

interface Terminal {
  write(text: string): unknown;
  readonly columns?: number | undefined;
}

export class Progress {
  readonly #terminal: Terminal;
  #startedAt: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #what = "";
  #isShown = false;
  #hasEnded = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  say(what: string): void {
    if (this.#hasEnded) return;
    this.#what = what;
    if (this.#startedAt === null) {
      this.#startedAt = performance.now();
      this.#timer = setTimeout(() => this.#show(), PATIENCE_MS).unref();
    } else if (performance.now() - this.#startedAt >= PATIENCE_MS) this.#show();
  }

  /** Erases the line before other output. The next {@link say} shows it again. */
  clear(): void {
    if (this.#isShown) this.#terminal.write(ERASE);
    this.#isShown = false;
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.clear();
  }

  #show(): void {
    if (this.#hasEnded) return;
    this.#terminal.write(ERASE + fitting(`${printable(this.#what)}…`, this.#terminal.columns || DEFAULT_COLUMNS));
    this.#isShown = true;
  }
}

/** Shortens a text to fit a line. The last column stays free, since terminals wrap there. */
function fitting(text: string, columns: number): string {
  const [start] = piecesOf(text, Math.max(2, columns - 2));
  return start === text ? text : `${start}…`;
}
