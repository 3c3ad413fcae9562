/** What a watch knows of its file: the newest result of each name, open outages, and what is not announced yet. */
import { toUtf8 } from "../bytes.js";
import { printableJson } from "../decode/json.js";
import { isAccepted } from "../report/accepted.js";
import {
  NO_LINES,
  RUN_FORMAT,
  type RunContent,
  type RunEnd,
  type RunLine,
  type Watched,
  type WatchResult,
  announcedAs,
  isResult,
  isWatchResult,
  lineAfter,
  readLine,
  watchedName,
} from "./line.js";

/** What is announced: a refusal to `onRefusal`, or the beginning or the end of an outage to `onOutage`. */
export type Announced = "refusal" | "outage";

/** A file of results, such as a `RunFile` of `bootproof/run/node`. */
export interface RunStore {
  /** The last line. */
  readonly end: RunEnd;
  /** Number of bytes of all lines. */
  readonly size: number;
  /** Resolves once the line is durable. After a rejection the watch ends. */
  append(line: RunLine): Promise<void>;
  read(offset: number, length: number): Promise<Uint8Array>;
}

interface Pending {
  readonly what: Announced;
  readonly n: number;
  readonly at: string;
  readonly read: () => Promise<Uint8Array>;
}

interface Standing {
  /** Whether the newest result of the name is a refusal. */
  readonly isRefused: boolean;
  /** A result with the same text as the one before is no news. */
  readonly key: string;
}

/** Limit of lines without a file that wait to be announced. Over the limit, the oldest is dropped. */
const MOST_HELD = 100;

export class RunLog {
  #store: RunStore | null = null;
  #end: RunEnd = NO_LINES;
  readonly #standings = new Map<string, Standing>();
  readonly #outages = new Map<string, { readonly watched: Watched; readonly since: Date }>();
  readonly #pending = new Map<number, Pending>();
  #steps: Promise<unknown> = Promise.resolve();
  /** Time of the newest `started` or `alive`. */
  lastSign: string | undefined;

  /** Adds a line of the file, which begins at this offset: call it for each line before {@link begin}. */
  add(line: RunLine, offset: number): void {
    const { entry, bytes } = line;
    this.#end = { entries: entry.n, head: line.hash };
    const what = announcedAs(entry);
    const store = (): RunStore => this.#store!;
    const read = (): Promise<Uint8Array> => store().read(offset, bytes.length);
    if (what !== null) this.#pending.set(entry.n, { what, n: entry.n, at: entry.at, read });
    this.#note(entry, entry.at);
  }

  /** Sets the file, once all its lines were added. Without a file, lines are kept in memory only. */
  begin(store: RunStore): this {
    // A file without lines may go on with the chain of another one.
    [this.#store, this.#end] = [store, store.end];
    return this;
  }

  /** Whether the lines are in a file. */
  get isKept(): boolean {
    return this.#store !== null;
  }

  #note(content: RunContent, at: string): void {
    if (isResult(content)) {
      if (isWatchResult(content))
        this.#standings.set(watchedName(content), { isRefused: !isAccepted(content), key: standingOf(content) });
      return;
    }
    if (content.event === "announced") this.#pending.delete(content.of);
    else if (content.event === "started" || content.event === "alive") this.lastSign = at;
    else if (content.event === "outage-began")
      for (const watched of content.watched)
        this.#outages.set(watchedName(watched), { watched, since: new Date(content.since) });
    else if (content.event === "outage-ended")
      for (const watched of content.watched) this.#outages.delete(watchedName(watched));
  }

  standing(watched: Watched): Standing | undefined {
    return this.#standings.get(watchedName(watched));
  }

  /** Returns when the outage of a name began of which no line has the end. */
  outageSince(watched: Watched): Date | null {
    return this.#outages.get(watchedName(watched))?.since ?? null;
  }

  /** The lines of this kind that no line `announced` names, oldest first. */
  pending(what: Announced): readonly Pending[] {
    return [...this.#pending.values()].filter((one) => one.what === what);
  }

  /** Runs steps one after another, because each line has the hash of the line before it. */
  inOrder<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#steps.then(step);
    this.#steps = done.catch(() => {});
    return done;
  }

  /** Appends a line. Call it {@link inOrder}. Rejects with the error of the file, and then has not changed. */
  async record(at: Date, content: RunContent): Promise<RunLine> {
    const line = await lineAfter(this.#end, at.toISOString(), content);
    const offset = this.#store?.size ?? 0;
    await this.#store?.append(line);
    this.add(line, offset);
    if (this.#store === null) this.#hold(line);
    return line;
  }

  #hold(line: RunLine): void {
    const pending = this.#pending.get(line.entry.n);
    if (pending !== undefined) this.#pending.set(pending.n, { ...pending, read: () => Promise.resolve(line.bytes) });
    if (this.#pending.size > MOST_HELD) this.#pending.delete(this.#pending.keys().next().value!);
  }

  /** Does `reopen`, which may go on in a new file: what is not announced is read from the old one before. */
  reopen(reopen: () => Promise<void>): Promise<void> {
    return this.inOrder(async () => {
      for (const one of this.#pending.values()) {
        const bytes = await one.read();
        this.#pending.set(one.n, { ...one, read: () => Promise.resolve(bytes) });
      }
      await reopen();
    });
  }
}

/** Returns a text that identifies a result: the next one of the same name is news only if its text differs. */
export function standingOf({ entry, settingDigest, verdict, failed, refusedFor }: WatchResult): string {
  return JSON.stringify([entry, settingDigest, verdict, failed, refusedFor ?? null]);
}

/** Reads a line that waits. Rejects if it was changed since. */
export async function lineOf({ n, read }: Pending): Promise<RunLine> {
  const line = await readLine(await read());
  if (line.entry.n !== n) throw new Error(`line ${n} of the file is another one`);
  return line;
}

/** Returns a refusal that the file does not take: it has no number and no place in a chain. */
export function unrecorded(at: Date, content: RunContent): Uint8Array {
  const entry = { run: RUN_FORMAT, recorded: false, at: at.toISOString(), ...content };
  return toUtf8(printableJson(JSON.stringify(entry)));
}
