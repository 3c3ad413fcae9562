/** One exchange with the service over HTTP/1.1: a connection of its own, no redirects, and limits of time and size. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { BoundedBytes } from "../client/bounded-bytes.js";
import { MAX_ANSWER_BYTES, type ReceivedAnswer } from "./answer.js";
import type { RefusalKind } from "./reply.js";
import type { ForwardedRequest } from "./request.js";

/** There is no answer. */
export class UpstreamFault extends Error {
  override readonly name = "UpstreamFault";
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const REFUSED = "the answer of the service is refused: ";
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 256;

export class Upstream {
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #agent: HttpAgent;

  constructor(url: string, timeoutMs: number) {
    this.#url = new URL(url);
    this.#timeoutMs = timeoutMs;
    // A kept connection could hold an answer before its request, and may close while a submit is sent.
    const options = { keepAlive: false, maxSockets: MAX_CONNECTIONS };
    this.#agent = this.#url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Rejects with {@link UpstreamFault}. `take` reports whether as many more bytes may be buffered. */
  async exchange(
    forwarded: ForwardedRequest,
    signal: AbortSignal,
    take: (bytes: number) => boolean,
  ): Promise<ReceivedAnswer> {
    const request = this.#request(forwarded, signal);
    let timer: NodeJS.Timeout | undefined;
    // The parser may already have read the whole answer, so ending the request is not enough.
    const refused = new Promise<never>((_, reject) => {
      const end = (kind: RefusalKind, message: string): void => reject(new UpstreamFault(kind, message));
      const seconds = this.#timeoutMs / 1000;
      timer = setTimeout(() => end("timeout", `the service did not answer within ${seconds} s`), this.#timeoutMs);
      request.on("information", ({ statusCode }) =>
        end("invalid-answer", `${REFUSED}it begins with HTTP ${statusCode}`),
      );
      request.on("upgrade", (_response, socket) => {
        socket.on("error", () => {}).destroy();
        end("invalid-answer", `${REFUSED}it changes the protocol`);
      });
    });
    const answer = responseTo(request, forwarded.body).then((response) => received(response, take));
    answer.catch(() => {});
    try {
      return await Promise.race([refused, answer]);
    } catch (error) {
      throw faultOf(error);
    } finally {
      clearTimeout(timer);
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

async function received(response: IncomingMessage, take: (bytes: number) => boolean): Promise<ReceivedAnswer> {
  const bytes = new BoundedBytes(MAX_ANSWER_BYTES);
  const { statusCode = 0, rawHeaders } = response;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    if (!take(piece.length)) throw new UpstreamFault("busy", "too many bytes are in transit: try again later");
    if (!bytes.add(piece)) return { status: statusCode, rawHeaders, rawTrailers: [], body: null };
  }
  return { status: statusCode, rawHeaders, rawTrailers: response.rawTrailers, body: bytes.bytes };
}

/** The platform's code only: its message may quote what was received. */
function faultOf(error: unknown): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason = typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "network error";
  if (reason.startsWith("HPE_")) return new UpstreamFault("invalid-answer", `${REFUSED}it is not HTTP (${reason})`);
  return new UpstreamFault("unreachable", `the service cannot be reached, or ended the connection early (${reason})`);
}
