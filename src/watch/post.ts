import type { Fetch, Signal } from "../client/platform.js";
import { ownOptions } from "../decode/input.js";
import type { LogLine } from "./entry.js";

export interface PostOptions {
  readonly fetch: Fetch;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  /** Milliseconds. Default: 10,000. */
  readonly timeoutMs?: number;
}

const POST_OPTIONS: Readonly<Record<keyof PostOptions, true>> = { fetch: true, sleep: true, timeoutMs: true };
const TIMEOUT_MS = 10_000;

/**
 * Posts each refusal as `application/json`: the log's line, byte for byte. Rejects unless the status is 2xx. Redirects
 * are not followed, and the response body is not read. Throws TypeError for an address that is not http or https, or
 * has a user or password.
 */
export function postTo(url: string, options: PostOptions): (line: LogLine, signal: Signal) => Promise<void> {
  const post = posting(url, "application/json", ownOptions("options", options, POST_OPTIONS));
  return ({ bytes }, signal) => post(bytes as BodyInit, signal);
}

export interface WitnessOptions extends PostOptions {
  /** Called with the first failure of several, and when a checkpoint arrives again. */
  readonly onNote?: (text: string) => void;
}

/** Where the checkpoints of a log are sent. */
export interface Witness {
  /** Posts the note, or, while another is posted, the newest one after it. Never throws. */
  offer(note: string): void;
  /** Resolves when nothing is posted any more: to whether the newest note arrived. */
  settled(): Promise<boolean>;
}

/**
 * Posts each checkpoint as `text/plain`. A failure is a note, and the next checkpoint is the next attempt. C2SP
 * witnesses demand consistency proofs, which a hash chain cannot make: this is a plain POST to a receiver of your own.
 * Throws TypeError as {@link postTo}.
 * @example
 * ```ts
 * const witness = witnessAt("https://witness.example.com/boots", { fetch, sleep: SYSTEM.sleep });
 * const log = await openLog("boots.jsonl", { checkpoint: { key: pem, onCheckpoint: witness.offer } });
 * ```
 */
export function witnessAt(url: string, options: WitnessOptions): Witness {
  const given = ownOptions("options", options, { ...POST_OPTIONS, onNote: true });
  const post = posting(url, "text/plain; charset=utf-8", given);
  const { onNote = () => {} } = given;
  const never = new AbortController().signal;
  let next: string | null = null;
  let running: Promise<void> | null = null;
  let hasFailed = false;
  const run = async (): Promise<void> => {
    while (next !== null) {
      const note = next;
      next = null;
      const failure = await post(note, never).then(
        () => null,
        (error: Error) => error.message,
      );
      if (failure !== null && !hasFailed) onNote(`the checkpoint was not posted: ${failure}; the next one will be`);
      if (failure === null && hasFailed) onNote("checkpoints are posted again");
      hasFailed = failure !== null;
    }
  };
  return {
    offer: (note) => {
      next = note;
      running ??= run().finally(() => (running = null));
    },
    settled: async () => {
      while (running !== null) await running;
      return !hasFailed;
    },
  };
}

function posting(
  url: string,
  type: string,
  { fetch, sleep, timeoutMs = TIMEOUT_MS }: PostOptions,
): (body: BodyInit, signal: Signal) => Promise<void> {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol) || parsed.username + parsed.password !== "")
    throw new TypeError("url: expected an http or https address, without user and password");
  const { host } = parsed;
  return async (body, signal) => {
    const ended = new AbortController();
    const stop = (): void => ended.abort();
    signal.addEventListener("abort", stop);
    // Messages name only the host: the path of such an address is often secret.
    const timeUp = sleep(timeoutMs, ended.signal).then(() => {
      throw new Error(`${host} did not answer within ${timeoutMs} ms`);
    });
    try {
      await Promise.race([send({ fetch, url, host, type, signal: ended.signal }, body), timeUp]);
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
      timeUp.catch(() => {});
    }
  };
}

interface Sending {
  readonly fetch: Fetch;
  readonly url: string;
  readonly host: string;
  readonly type: string;
  readonly signal: Signal;
}

async function send({ fetch, url, host, type, signal }: Sending, body: BodyInit): Promise<void> {
  const request = {
    method: "POST",
    headers: { "content-type": type },
    body,
    redirect: "manual",
    signal,
  } as const;
  const response = await fetch(url, request).catch(() => {
    throw new Error(`${host} cannot be reached`);
  });
  await response.body
    ?.getReader()
    .cancel()
    .catch(() => {});
  if (response.status >= 200 && response.status < 300) return;
  // Some runtimes report status 0 for a redirect that was not followed.
  throw new Error(`${host} responded with HTTP ${response.status}`);
}
