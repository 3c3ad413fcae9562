/** One exchange with the service over HTTP/1.1 on a new connection, without redirects, within time and size limits. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { MAX_ANSWER_BYTES } from "../door/http.js";
import type { ForwardedRequest, RawAnswer } from "./proxy.js";
import type { RefusalKind } from "./reply.js";
import { readWhole } from "./transit.js";

/** The service gave no answer that can be used. */
export class UpstreamFault extends Error {
  override readonly name = "UpstreamFault";
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export const NO_ROOM = "too many bytes are in transit, and no room became free in time: try again later";
const REFUSED = "the answer of the service is refused: ";
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 256;
const TICKS = 20;

export class Upstream {
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #agent: HttpAgent;

  constructor(url: string, timeoutMs: number) {
    this.#url = new URL(url);
    this.#timeoutMs = timeoutMs;
    // Connections are not reused: one could already hold an answer before the request is sent, and the service may
    // close one while a submit is being sent.
    const options = { keepAlive: false, maxSockets: MAX_CONNECTIONS };
    this.#agent = this.#url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Rejects with {@link UpstreamFault}. `take` resolves to whether `bytes` more bytes may be held in memory. */
  async exchange(
    forwarded: ForwardedRequest,
    signal: AbortSignal,
    take: (bytes: number) => Promise<boolean>,
  ): Promise<RawAnswer> {
    const request = this.#request(forwarded, signal);
    let clock: StopWatch | undefined;
    // Ending the request is not enough: the parser may already have read the whole answer, so this promise must reject.
    const refused = new Promise<never>((_, reject) => {
      const end = (kind: RefusalKind, message: string): void => reject(new UpstreamFault(kind, message));
      const seconds = this.#timeoutMs / 1000;
      clock = new StopWatch(this.#timeoutMs, () => end("timeout", `the service did not answer within ${seconds} s`));
      request.on("information", ({ statusCode }) =>
        end("invalid-answer", `${REFUSED}it begins with HTTP ${statusCode}`),
      );
      request.on("upgrade", (_response, socket) => {
        socket.on("error", () => {}).destroy();
        end("invalid-answer", `${REFUSED}it switches the protocol`);
      });
    });
    const room = (bytes: number): Promise<boolean> => clock!.without(() => take(bytes));
    const answer = responseTo(request, forwarded.body).then((response) => received(response, room));
    answer.catch(() => {});
    try {
      return await Promise.race([refused, answer]);
    } catch (error) {
      throw faultOf(error);
    } finally {
      clock!.stop();
      request.destroy();
    }
  }

  #request({ target, headers, body }: ForwardedRequest, signal: AbortSignal): ClientRequest {
    const { protocol, hostname, port, pathname } = this.#url;
    const send = protocol === "https:" ? httpsRequest : httpRequest;
    return send({
      agent: this.#agent,
      method: "POST",
      hostname: hostname.replace(/^\[|\]$/g, ""),
      ...(port !== "" && { port }),
      path: pathname.replace(/\/+$/, "") + target,
      headers: {
        ...headers,
        accept: "application/json",
        "accept-encoding": "identity",
        connection: "close",
        "content-length": body.length,
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
      signal,
    });
  }
}

function responseTo(request: ClientRequest, body: Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", resolve);
    request.end(body);
  });
}

async function received(response: IncomingMessage, take: (bytes: number) => Promise<boolean>): Promise<RawAnswer> {
  const { statusCode: status = 0, rawHeaders } = response;
  const bytes = await readWhole(response, { length: declaredLength(response), limit: MAX_ANSWER_BYTES, take });
  if (bytes === "busy") throw new UpstreamFault("busy", NO_ROOM);
  if (bytes === "too-large") return { status, rawHeaders, rawTrailers: [], body: null };
  return { status, rawHeaders, rawTrailers: response.rawTrailers, body: bytes };
}

/** Returns the declared length of a body. Null if the body is chunked or ends with its connection. */
export function declaredLength({ headers }: IncomingMessage): number | null {
  const length = headers["content-length"];
  return length === undefined ? null : Number(length);
}

/** Calls `end` after a time. Time in which the service waited for the proxy is not counted. */
class StopWatch {
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;
  #isStanding = false;

  constructor(ms: number, end: () => void) {
    // Ticks that a long computation of the proxy delays are lost, so its time is not counted as time of the service.
    this.#timer = setInterval(() => {
      if (!this.#isStanding && ++this.#ticks === TICKS) end();
    }, ms / TICKS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async without<T>(work: () => Promise<T>): Promise<T> {
    this.#isStanding = true;
    return work().finally(() => (this.#isStanding = false));
  }
}

/** Returns a fault with only the platform's error code, because the error's message may quote the received bytes. */
function faultOf(error: unknown): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason = typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "network error";
  if (reason.startsWith("HPE_")) return new UpstreamFault("invalid-answer", `${REFUSED}it is not HTTP (${reason})`);
  return new UpstreamFault("unreachable", `the service cannot be reached, or ended the connection early (${reason})`);
}
