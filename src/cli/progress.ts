/** What a command is doing, in the last line of a terminal, once it takes longer than a second; removed at the end. */
import { printable } from "../report/printable.js";
import { piecesOf } from "../report/width.js";

const PATIENCE_MS = 1000;
const DEFAULT_COLUMNS = 80;
/** To the start of the line, and all of it away. */
const ERASE = "\r\u001b[K";

interface Clock {
  /** Milliseconds since whenever. */
  readonly now: () => number;
  /** Calls back after so many milliseconds, but for the sake of nothing else; answers what calls that off. */
  readonly after: (milliseconds: number, call: () => void) => () => void;
}

const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

interface Terminal {
  write(text: string): unknown;
  readonly columns?: number | undefined;
}

export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  #startedAt: number | null = null;
  #callOff: () => void = () => {};
  #what = "";
  #isShown = false;
  #hasEnded = false;

  constructor(terminal: Terminal, clock: Clock = REAL_CLOCK) {
    this.#terminal = terminal;
    this.#clock = clock;
  }

  /** What is being done from now on. */
  say(what: string): void {
    if (this.#hasEnded) return;
    this.#what = what;
    if (this.#startedAt === null) {
      this.#startedAt = this.#clock.now();
      this.#callOff = this.#clock.after(PATIENCE_MS, () => this.#show());
    } else if (this.#clock.now() - this.#startedAt >= PATIENCE_MS) this.#show();
  }

  /** For whatever else is to be written. What is said next shows again. */
  clear(): void {
    if (this.#isShown) this.#terminal.write(ERASE);
    this.#isShown = false;
  }

  /** For good. */
  end(): void {
    this.#hasEnded = true;
    this.#callOff();
    this.clear();
  }

  #show(): void {
    if (this.#hasEnded) return;
    this.#terminal.write(ERASE + fitting(`${printable(this.#what)}…`, this.#terminal.columns || DEFAULT_COLUMNS));
    this.#isShown = true;
  }
}

/** In one line, whose last column stays free, or a terminal goes on in the next. */
function fitting(text: string, columns: number): string {
  const [start] = piecesOf(text, Math.max(2, columns - 2));
  return start === text ? text : `${start}…`;
}
