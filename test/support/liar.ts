/** A lying service: it asks the lab, and says what it wants. */
import { type ApiKeyPair, type Lab, stampWithApiKey } from "../../src/lab/index.js";
import type { Json } from "../lab/support.js";
import { loopback } from "../support/loopback.js";

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
  const { url, close } = await loopback(async (request, response, body) => {
    const { status, text } = await answered(request.url!.replace("/public/v1/", ""), body.toString());
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  });
  const liar: Liar = {
    url,
    asked,
    lie: honestly,
    keyOf,
    reset: () => void Object.assign(liar, { lie: honestly, keyOf, asked: asked.splice(0) && asked }),
    close,
  };
  async function answered(path: string, text: string): Promise<Said> {
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
  return liar;
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
