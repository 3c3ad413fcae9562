/**
 * The webhook handler for servers of Node's http: `http.createServer`, and frameworks that hand on its request and
 * response (Express, Connect, Fastify's and Koa's `raw`). Of Node it knows shapes only, and imports nothing.
 */
import { BoundedBytes } from "./bounded-bytes.js";
import { type WebhookHandlerOptions, webhookReceiver } from "./webhook.js";

/** What is read of a request of Node's http (http.IncomingMessage). */
export interface NodeRequest {
  readonly method?: string | undefined;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** Some of the body was read, or all of it was, however short. */
  readonly readableDidRead?: boolean;
  readonly destroyed?: boolean;
  /** What a framework made of the body: of use where it is bytes, as `express.raw()` makes it. */
  readonly body?: unknown;
  /** The same, where a parser keeps the bytes beside what it made of them. */
  readonly rawBody?: unknown;
  on(event: "data" | "end" | "error" | "close", listener: (value?: unknown) => void): unknown;
  resume(): unknown;
}

/** What is used of a response of Node's http (http.ServerResponse). */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

const BODY_WAS_READ =
  "the body was read before nodeWebhookHandler was called, and what was signed is its bytes: put the handler before " +
  'body parsers such as express.json(), or behind express.raw({ type: "*/*" })';
const CUT_OFF = "the request was cut off before its end";

/**
 * `webhookHandler` for Node's http: the same options, the same answers. The body has to be unread, or its bytes
 * in `request.body` or `request.rawBody`: where a framework has parsed it, the answer is 500, with text that says so,
 * and `onError` is told.
 */
export function nodeWebhookHandler(
  options: WebhookHandlerOptions,
): (request: NodeRequest, response: NodeResponse) => void {
  const receive = webhookReceiver(options);
  return (request, response) => {
    if (!Array.isArray(request?.rawHeaders) || typeof response?.end !== "function")
      throw new TypeError("request and response of Node's http wanted; webhookHandler takes a Request as fetch has it");
    const body = new NodeBody(request);
    void receive({
      method: request.method ?? "",
      headers: headersOf(request.rawHeaders),
      body: (limit) => body.read(limit),
    })
      // What `onError` threw: there is nobody left to tell, and the process is not ended for it.
      .catch(() => 500)
      .then((status) => answer(response, status, body));
  };
}

function answer(response: NodeResponse, status: number, body: NodeBody): void {
  if (response.headersSent) return;
  response.statusCode = status;
  if (body.isLeft) response.setHeader("Connection", "close");
  response.end(body.wasReadBefore ? BODY_WAS_READ : "");
}

/** Repeated ones are joined, as fetch's Headers have them: some of those that `request.headers` has are dropped. */
function headersOf(rawHeaders: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index]!.toLowerCase(), rawHeaders[index + 1]!];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** Of a body that is too long so much is read and dropped, for senders that read the answer only when all is sent. */
const MAX_DROPPED_BYTES = 16 * 1024 * 1024;

class NodeBody {
  /** Something else has read the body, and its bytes are gone. */
  wasReadBefore = false;
  /** So much of it is left that the connection is of no more use. */
  isLeft = false;
  readonly #request: NodeRequest;

  constructor(request: NodeRequest) {
    this.#request = request;
  }

  /** The bytes as they came; null where there are more. Throws where they are not to be had. */
  async read(limit: number): Promise<Uint8Array | null> {
    const { body, rawBody, readableDidRead = body !== undefined, destroyed } = this.#request;
    const bytes = [rawBody, body].find((each) => each instanceof Uint8Array);
    if (bytes !== undefined) return bytes.length > limit ? null : new Uint8Array(bytes);
    if (readableDidRead) throw this.#wasRead();
    if (destroyed === true) throw new Error(CUT_OFF);
    return this.#receive(limit);
  }

  #receive(limit: number): Promise<Uint8Array | null> {
    let kept: BoundedBytes | null = new BoundedBytes(limit);
    let dropped = 0;
    return new Promise((resolve, reject) => {
      this.#request.on("data", (piece) => {
        if (!(piece instanceof Uint8Array)) return reject(this.#wasRead());
        if (kept?.add(piece)) return;
        kept = null;
        dropped += piece.length;
        if (dropped <= MAX_DROPPED_BYTES) return;
        this.isLeft = true;
        resolve(null);
      });
      this.#request.on("end", () => resolve(kept && kept.bytes));
      this.#request.on("error", reject);
      this.#request.on("close", () => reject(new Error(CUT_OFF)));
      // A listener alone does not, where somebody has paused it.
      this.#request.resume();
    });
  }

  #wasRead(): TypeError {
    this.wasReadBefore = true;
    return new TypeError(BODY_WAS_READ);
  }
}
