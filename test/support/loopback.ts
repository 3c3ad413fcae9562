/** Servers of Node's http on the loopback. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Loopback {
  /** Without a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
}

/** Answers each request once its body is read. The connection ends where `answer` rejects. */
export async function loopback(
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer<ArrayBuffer>) => unknown,
): Promise<Loopback> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      void (async () => answer(request, response, Buffer.concat(pieces)))().catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
