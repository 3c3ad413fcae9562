/** Servers that go wrong, on the loopback: raw sockets, so that what is on the wire is what the test says. */
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";

export interface FaultyServer {
  readonly port: number;
  /** The head of each request that came in whole, as it came. */
  readonly heads: readonly string[];
  /** Connections that were made. */
  readonly connections: number;
  close(): Promise<void>;
}

export interface Ways {
  /** As soon as somebody connects. */
  readonly connected?: (socket: Socket) => void;
  /** For each request that came in whole; `count` from 1. */
  readonly asked?: (socket: Socket, head: string, count: number) => void;
}

export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

export async function faultyServer({ connected, asked }: Ways): Promise<FaultyServer> {
  const sockets = new Set<Socket>();
  const heads: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    connected?.(socket);
    let read = Buffer.alloc(0);
    socket.on("data", (piece) => {
      read = Buffer.concat([read, piece]);
      const request = requestIn(read);
      if (request === null) return;
      read = read.subarray(request.length);
      heads.push(request.head);
      asked?.(socket, request.head, heads.length);
    });
  });
  const port = await listening(server);
  return {
    port,
    heads,
    get connections() {
      return connections;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function requestIn(read: Buffer): { readonly head: string; readonly length: number } | null {
  const end = read.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = read.subarray(0, end).toString("latin1");
  const length = end + 4 + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  return read.length < length ? null : { head, length };
}

/** The value of the stamp in a request's head. */
export function stampIn(head: string): string {
  return /^x-stamp: (.*)$/im.exec(head)![1]!;
}

/** A whole answer on the wire; `length` as it is said to be, null where nothing is said of it. */
export function answer(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array = "",
  length: number | null = Buffer.from(body as string).length,
): Buffer {
  const said = length === null ? {} : { "content-length": `${length}` };
  const lines = Object.entries({ connection: "close", ...said, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${lines.join("\r\n")}\r\n\r\n`, "latin1"),
    Buffer.from(body as string),
  ]);
}

/** Writes pieces without an end, no faster than they are taken. */
export function writeForever(socket: Socket, piece: string | Uint8Array): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", more);
  more();
}

/** A byte of it at a time, and then nothing. */
export function trickle(socket: Socket, text: string | Uint8Array): void {
  const bytes = Buffer.from(text as string);
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || at >= bytes.length) return clearInterval(timer);
    socket.write(bytes.subarray(at, ++at));
  }, 20);
  timer.unref();
  socket.on("close", () => clearInterval(timer));
}
