/**
 * redis-server for tests, where it is installed, each with its own folder and port. `BOOTPROOF_REDIS` names it or, as
 * `required`, demands it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

const WANTED = process.env["BOOTPROOF_REDIS"] ?? "";
const PLACES = ["/usr/bin/redis-server", "/usr/bin/valkey-server", "/usr/local/bin/redis-server"];
/** Tested beside Redis, where it is installed. */
export const VALKEY = ["/usr/bin/valkey-server", "/usr/local/bin/valkey-server"].find((place) => existsSync(place));
const executable = ["", "required"].includes(WANTED) ? PLACES.find((place) => existsSync(place)) : WANTED;

/** Tests of a queue are skipped: the server is not installed, and not required. */
export const NO_REDIS = executable === undefined && WANTED !== "required";

export const WITHOUT_REDIS =
  `No server at ${PLACES.join(", ")}: what goes through a queue is not tested here (Debian: apt-get install ` +
  `redis-server; or BOOTPROOF_REDIS=/path/to/one).`;

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Removed with the server. */
  readonly folder: string;
  /** A client, closed with the server. */
  readonly client: Redis;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** After a kill, at the same port, with what it stored. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** `keeps`: every write is on the disk, so a kill loses nothing. `args`: more of them, also by its folder. */
export async function redisServer({
  keeps = false,
  password,
  args: more = [],
  program = executable,
}: {
  readonly program?: string | undefined;
  readonly keeps?: boolean;
  readonly password?: string;
  readonly args?: readonly string[] | ((folder: string) => readonly string[]);
} = {}): Promise<RedisServer> {
  if (program === undefined) throw new Error(`BOOTPROOF_REDIS=required, and there is none at ${PLACES.join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "bootproof-redis-"));
  let port = 0;
  const args = ["--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  if (keeps) args.push("--appendonly", "yes", "--appendfsync", "always");
  if (password !== undefined) args.push("--requirepass", password);
  args.push(...(typeof more === "function" ? more(folder) : more));
  let server: ChildProcess | undefined;
  const listen = async (): Promise<void> => {
    server = await listening(program, ["--port", `${port}`, ...args]);
  };
  const start = async (): Promise<void> => {
    await listen();
    if (server === undefined) throw new Error(`${program} ended before it listened at ${port}`);
  };
  const kill = async (): Promise<void> => {
    if (server === undefined) return;
    const ended = new Promise((resolve) => server!.once("exit", resolve));
    server.kill("SIGKILL");
    await ended;
    server = undefined;
  };
  // Another test may take a port that was free.
  for (let tries = 0; server === undefined && tries < 5; tries++) {
    port = await freePort();
    await listen();
  }
  if (server === undefined) throw new Error(`${program} ended each time before it listened`);
  const client = new Redis({
    port,
    host: "127.0.0.1",
    maxRetriesPerRequest: null,
    ...(password !== undefined && { password }),
  });
  client.on("error", () => {});
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    folder,
    client,
    kill,
    start,
    async close() {
      client.disconnect();
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The server, once it says that it listens, or `undefined` where it ended before. */
async function listening(program: string, args: readonly string[]): Promise<ChildProcess | undefined> {
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve) => {
    server.once("exit", () => resolve(undefined));
    let text = "";
    server.stdout.on("data", (piece: Buffer) => {
      text = `${text}${piece.toString()}`.slice(-1000);
      if (text.includes("Ready to accept connections")) resolve(server);
    });
  });
}

export interface Proxy {
  readonly url: string;
  /** Ends all connections; new ones are accepted, or refused for so long. */
  drop(milliseconds?: number): Promise<void>;
  close(): Promise<void>;
}

/** A network between a client and the server. */
export async function proxyTo(port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isAway = false;
  const server = createServer((near) => {
    if (isAway) return void near.destroy();
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const drop = async (milliseconds = 0): Promise<void> => {
    isAway = true;
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    isAway = false;
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop,
    async close() {
      await drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
