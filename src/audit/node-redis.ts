/** The connection to Redis or Valkey. Its packages are loaded on demand. */
import type * as BullMq from "bullmq";
import type { Redis, RedisOptions } from "ioredis";
import { QueueError } from "./queue-error.js";

type ClientOptions = Omit<RedisOptions, "replyMapping">;

interface Address {
  /** Without user and password, for messages. */
  readonly shown: string;
  readonly options: ClientOptions;
}

/** A server without AUTH quotes the command with its arguments, possibly cut off. */
const QUOTED_ARGUMENTS = /,? with args beginning with\b.*$/s;

function messageOf(error: unknown, { password }: ClientOptions): string {
  const { message, code, name } = error as NodeJS.ErrnoException;
  const text = (message || code || name || String(error)).replace(QUOTED_ARGUMENTS, "");
  return password ? text.replaceAll(password, "[password]") : text;
}

/** Throws QueueError, which must not quote the URL: it may have a password. */
function parseQueueUrl(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : null;
  const database = /^\/?(\d{0,5})$/.exec(url?.pathname ?? "-")?.[1];
  if (url === null || database === undefined || !isQueue(url)) throw noUrl();
  const { protocol, hostname } = url;
  const port = Number(url.port || DEFAULT_PORT);
  const db = Number(database);
  return {
    shown: `${protocol}//${hostname}:${port}${db === 0 ? "" : `/${db}`}`,
    options: {
      host: hostname.replace(/^\[|\]$/g, ""),
      port,
      db,
      ...credentialsOf(url),
      ...(protocol === "rediss:" && { tls: {} }),
    },
  };
}

function credentialsOf({ username, password }: URL): ClientOptions {
  return {
    ...(username !== "" && { username: decoded(username) }),
    ...(password !== "" && { password: decoded(password) }),
  };
}

function isQueue({ protocol, hostname, search, hash }: URL): boolean {
  return /^rediss?:$/.test(protocol) && hostname !== "" && search + hash === "";
}

const DEFAULT_PORT = 6379;

function noUrl(): QueueError {
  return new QueueError(
    "url",
    "a URL such as redis://127.0.0.1:6379 wanted: redis:// or rediss://, host, port, /database",
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw noUrl();
  }
}

const START_MS = 10_000;
const RETRY_MS = 2000;
/** A server silent for longer counts as gone. No command here blocks for as long. */
const SILENCE_MS = 15_000;

const PATIENT: ClientOptions = {
  lazyConnect: true,
  // Commands wait while the server is away.
  maxRetriesPerRequest: null,
  retryStrategy: (attempt) => Math.min(100 * attempt, RETRY_MS),
  // The server became a replica: reconnect to the present primary.
  reconnectOnError: ({ message }) => (/^(?:READONLY|UNBLOCKED)/.test(message) ? 2 : false),
  connectTimeout: 5000,
  socketTimeout: SILENCE_MS,
};

/** A server that was reached once. Reports the begin and the end of each outage. */
export class RedisConnection {
  readonly shown: string;
  readonly client: Redis;
  readonly bullmq: typeof BullMq;
  readonly #options: ClientOptions;
  readonly #others: Redis[] = [];
  #isClosed = false;
  #isAway = false;

  constructor({ shown, options }: Address, client: Redis, bullmq: typeof BullMq, note: (text: string) => void) {
    this.shown = shown;
    this.#options = options;
    this.client = client;
    this.bullmq = bullmq;
    // BullMQ duplicates clients, and does not always close them.
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (...args) => {
      const other = duplicate(...args);
      this.#others.push(other);
      return other;
    };
    client.on("close", () => {
      if (!this.#isAway && !this.#isClosed)
        note(`${shown}: the connection is lost; it is tried again until it is there`);
      this.#isAway = true;
    });
    client.on("ready", () => {
      if (this.#isAway) note(`${shown}: connected again`);
      this.#isAway = false;
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  messageOf(error: unknown): string {
    return messageOf(error, this.#options);
  }

  /** Runs the first command. If it fails, closes and throws QueueError. */
  async first(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.close();
      throw new QueueError("unreachable", `${this.shown}: the queue cannot be used: ${this.messageOf(error)}`);
    }
  }

  /** For commands that block. */
  open(): Redis {
    const other = this.client.duplicate();
    other.on("error", () => {});
    return other;
  }

  close(): void {
    this.#isClosed = true;
    for (const client of [this.client, ...this.#others]) client.disconnect();
  }
}

export function isOutage(error: unknown): boolean {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return (
    /^E[A-Z]+$/.test(code) || /Connection is closed|Socket timeout|Socket closed|Stream isn't|LOADING/.test(message)
  );
}

/** An outage, or a server that refuses writes for a while. */
export function isPassing(error: unknown): boolean {
  const { message } = error as Error;
  const refuses = /\b(?:OOM|MISCONF|READONLY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;
  return isOutage(error) || refuses.test(message);
}

/** Throws QueueError if the packages are missing, or no server was reached within ten seconds. */
export async function connectRedis(
  url: string,
  note: (text: string) => void,
  startMs: number = START_MS,
): Promise<RedisConnection> {
  const address = parseQueueUrl(url);
  const { bullmq, Client } = await loadPackages();
  const client = new Client({ ...PATIENT, ...address.options });
  try {
    await firstReady(client, address, startMs);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  return new RedisConnection(address, client, bullmq, note);
}

/** Users without a queue need not install the packages. */
async function loadPackages(): Promise<{ bullmq: typeof BullMq; Client: typeof Redis }> {
  try {
    const [bullmq, { Redis: Client }] = await Promise.all([import("bullmq"), import("ioredis")]);
    return { bullmq, Client };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ERR_MODULE_NOT_FOUND" ? "are not both installed" : `cannot be loaded (${message})`;
    throw new QueueError(
      "missing",
      `a queue takes the packages bullmq and ioredis, which ${reason}: npm install bullmq@6 ioredis@6`,
      { cause: error },
    );
  }
}

function firstReady(client: Redis, { shown, options }: Address, startMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = "no answer";
    const fail = (): void => reject(new QueueError("unreachable", `${shown}: the queue cannot be reached: ${last}`));
    const timer = setTimeout(fail, startMs);
    client.on("error", (error) => {
      last = messageOf(error, options);
      // Waiting does not correct a wrong password.
      if (!/NOAUTH|WRONGPASS|NOPERM|invalid password|DB index/i.test(last)) return;
      clearTimeout(timer);
      fail();
    });
    client.once("ready", () => {
      clearTimeout(timer);
      resolve();
    });
    // Rejects at the first failure; ioredis goes on trying.
    client.connect().catch(() => {});
  });
}
