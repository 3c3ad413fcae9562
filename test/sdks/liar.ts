/** A lying service: it asks the lab, and says what it wants. */
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ApiKeyPair, type Lab, stampWithApiKey } from "../../src/lab/index.js";
import type { Json } from "../lab/support.js";

export interface Asked {
  /** Such as `submit/update_wallet`. */
  readonly path: string;
  readonly text: string;
  readonly body: Json;
  /** Number of earlier requests of this path. */
  readonly index: number;
}

export interface Said {
  readonly status: number;
  readonly text: string;
}

/** `honest` asks the lab, with another path and body where they are given. */
export type Lie = (asked: Asked, honest: (path?: string, body?: Json) => Promise<Said>) => Said | Promise<Said>;

export interface Liar {
  readonly url: string;
  /** Since the last reset. */
  readonly asked: readonly Asked[];
  lie: Lie;
  /** The key that stamps what the lab gets. The stamps of callers go no further. */
  keyOf: (asked: Asked) => ApiKeyPair;
  /** Honest again. */
  reset(): void;
  close(): Promise<void>;
}

export const honestly: Lie = (_, honest) => honest();

export async function startLiar(lab: Lab): Promise<Liar> {
  const keyOf = ({ body }: Asked): ApiKeyPair =>
    body["organizationId"] === lab.childOrganizationId ? lab.child.apiKey : lab.apiKey;
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void answered(request).then(
      ({ status, text }) => response.writeHead(status, { "content-type": "application/json" }).end(text),
      () => response.destroy(),
    );
  });
  const liar: Liar = {
    url: "",
    asked,
    lie: honestly,
    keyOf,
    reset: () => void Object.assign(liar, { lie: honestly, keyOf, asked: asked.splice(0) && asked }),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
  async function answered(request: IncomingMessage): Promise<Said> {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const path = request.url!.replace("/public/v1/", "");
    const index = asked.filter((one) => one.path === path).length;
    const one: Asked = { path, text, body: JSON.parse(text) as Json, index };
    asked.push(one);
    return liar.lie(one, async (to = path, body) => {
      const sent = body === undefined ? text : JSON.stringify(body);
      const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(liar.keyOf(one), sent) };
      const answer = await fetch(`${lab.baseUrl}/public/v1/${to}`, { method: "POST", body: sent, headers });
      return { status: answer.status, text: await answer.text() };
    });
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(liar, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

export const said = (value: unknown): Said => ({ status: 200, text: JSON.stringify(value) });

export const isSubmit = ({ path }: Asked): boolean => path.startsWith("submit/");
export const isGet = ({ path }: Asked): boolean => path === "query/get_activity";

/** Answers to requests that `where` selects are changed; all others are honest. */
export function changed(where: (asked: Asked) => boolean, change: (answer: Json, asked: Asked) => unknown): Lie {
  return async (asked, honest) => {
    const answer = await honest();
    return where(asked) && answer.status === 200 ? said(await change(JSON.parse(answer.text) as Json, asked)) : answer;
  };
}
