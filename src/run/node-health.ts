/** The health of one process, in a file and over HTTP. */
import { callable, options, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, flag, list, nonEmptyText, optional, text } from "../decode/shapes.js";
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { diskReason } from "../disk/reason.js";
import { replaceWhole } from "../disk/whole.js";
import { type HealthAddress, serveHealth } from "./node-server.js";
import { HealthRecord, type HealthState, type HealthSubject } from "./health.js";

export interface HealthOptions {
  readonly subject: HealthSubject;
  /**
   * Path of a file that is replaced in the second after a success, and every ten seconds as a sign of life.
   */
  readonly file?: string;
  /** Address that serves `/metrics`, `/healthz` and `/readyz`. It requires the package `prom-client`. */
  readonly metrics?: HealthAddress;
  readonly now: () => Date;
  /** Milliseconds of a clock that is never set. Default: `performance.now()`. */
  readonly monotonic?: () => number;
  /** Receives each reason why the file cannot be written, once. */
  readonly onNote?: (text: string) => void;
}

const OPTIONS: MembersOf<HealthOptions> = {
  subject: options<HealthSubject>({
    command: plain,
    watched: optional(list(plain)),
    inputs: optional(list(text)),
    hasQueue: optional(flag),
  }),
  file: optional(nonEmptyText),
  metrics: optional(plain),
  now: callable,
  monotonic: optional(callable),
  onNote: optional(callable),
};

/** What {@link HealthRecord} takes, and the last state. */
export interface Health extends Pick<HealthRecord, keyof HealthRecord> {
  /** Address of the metrics; null without them. */
  readonly url: string | null;
  /** Writes the last state to the file, if it was not written, and stops serving. The file is not removed. */
  close(): Promise<void>;
}

/**
 * Keeps the health of one watch, worker or audit. Rejects with {@link MetricsMissingError} if `prom-client` is missing,
 * and with the platform's error if the address or the file cannot be used.
 *
 * @example
 * ```ts
 * const subject = { command: "watch", watched: [{ app: "signer" }] } as const;
 * const health = await startHealth({ subject, metrics: { host: "127.0.0.1", port: 9464 }, now: SYSTEM.now });
 * const { poll: onPoll, status: onStatus } = health;
 * await watch({ policy, apps: ["signer"], newest: askService(client), onPoll, onStatus, ...SYSTEM });
 * await health.close();
 * ```
 */
export async function startHealth(given: HealthOptions): Promise<Health> {
  const own = typedOptions("options", given, OPTIONS);
  const { subject, file, metrics, now, monotonic = () => performance.now(), onNote = () => {} } = own;
  let written: HealthFile | null = null;
  const { state, ...record } = new HealthRecord(subject, { now, monotonic, onGood: () => written?.want() });
  if (file !== undefined) await requireWritable(file);
  const server = metrics === undefined ? null : await serveHealth(metrics, state);
  if (file !== undefined) written = new HealthFile(file, state, onNote);
  const close = async (): Promise<void> => void (await Promise.all([written?.close(), server?.close()]));
  return { ...record, state, url: server && server.url, close };
}

/** Rejects before the work starts if the file cannot be written. Later that would look like an outage. */
async function requireWritable(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile())
    throw Object.assign(new Error("not a regular file"), { code: found.isDirectory() ? "EISDIR" : "EINVAL" });
  await access(dirname(path), constants.W_OK);
}

const WRITE_MS = 1000;
/** The number of these periods after which the file is written without a success. */
const ALIVE_PERIODS = 10;

/** Writes the file, one write at a time. A timer of the main thread does it, so the file ages if that thread hangs. */
class HealthFile {
  readonly #path: string;
  readonly #state: () => HealthState;
  readonly #onNote: (text: string) => void;
  readonly #timer = setInterval(() => this.#tick(), WRITE_MS).unref();
  #periods = 0;
  #isWanted = false;
  #writing: Promise<void> | null = null;
  #fault = "";

  constructor(path: string, state: () => HealthState, onNote: (text: string) => void) {
    [this.#path, this.#state, this.#onNote] = [path, state, onNote];
  }

  /** Has the next period write the file. */
  want(): void {
    this.#isWanted = true;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    if (this.#isWanted) await this.#write();
  }

  #tick(): void {
    if (++this.#periods % ALIVE_PERIODS === 0) this.want();
    if (this.#isWanted) this.#writing ??= this.#write().finally(() => (this.#writing = null));
  }

  async #write(): Promise<void> {
    this.#isWanted = false;
    try {
      await replaceWhole(this.#path, `${JSON.stringify(this.#state())}\n`);
      this.#fault = "";
    } catch (error) {
      const reason = diskReason(error) ?? String(error);
      if (reason !== this.#fault) this.#onNote(`${this.#path}: the health file cannot be written: ${reason}`);
      this.#fault = reason;
    }
  }
}
