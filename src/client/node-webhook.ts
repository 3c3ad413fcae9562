/**
 * The webhook handler for servers of Node's http: `http.createServer`, Express, Connect, and the raw requests of
 * Fastify and Koa. This file declares Node's types itself, and imports nothing of Node.
 */
import { BoundedBytes } from "../door/bounded-bytes.js";
import { type WebhookHandlerOptions, webhookReceiver } from "./webhook.js";

interface NodeRequest {
  readonly method?: string | undefined;
  /** The headers as a list in which names and values alternate. */
  readonly rawHeaders: readonly string[];
  /** Whether any of the body was read. */
  readonly readableDidRead?: boolean;
  readonly destroyed?: boolean;
  /** The body as a framework read it. It is used only if it is bytes, as with `express.raw()`. */
  readonly body?: unknown;
  /** The raw bytes that some body parsers keep. */
  readonly rawBody?: unknown;
  on(event: "data" | "end" | "error" | "close", listener: (value?: unknown) => void): unknown;
  resume(): unknown;
}

interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

const BODY_WAS_READ =
  "the body was read before nodeWebhookHandler was called, but its bytes must be verified: put the handler before " +
  'body parsers such as express.json(), or after express.raw({ type: "*/*" })';
const CUT_OFF = "the request ended before its body was complete";

/**
 * Makes a `webhookHandler` for Node's http. The body must be unread, or its bytes must be in `request.body` or
 * `request.rawBody`. Otherwise the handler responds with 500 and an explanation, and calls `onError`.
 */
export function nodeWebhookHandler(
  options: WebhookHandlerOptions,
): (request: NodeRequest, response: NodeResponse) => void {
  const receive = webhookReceiver(options);
  return (request, response) => {
    if (!Array.isArray(request?.rawHeaders) || typeof response?.end !== "function")
      throw new TypeError(
        "expected request and response of Node's http; webhookHandler takes a Request as fetch has it",
      );
    const body = new NodeBody(request);
    void receive({
      method: request.method ?? "",
      headers: headersOf(request.rawHeaders),
      body: (limit) => body.read(limit),
    })
      // If `onError` throws, the process must go on.
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

/** Joins repeated headers as fetch's Headers do, because `request.headers` drops some. */
function headersOf(rawHeaders: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index]!.toLowerCase(), rawHeaders[index + 1]!];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/**
 * Limit of bytes that are read and dropped. They are read because some senders read the response only after they have
 * sent the whole body.
 */
const MAX_DROPPED_BYTES = 16 * 1024 * 1024;

class NodeBody {
  /** Whether other code read the body before. Its bytes are then lost. */
  wasReadBefore = false;
  /** Whether too many bytes were left unread. The connection then cannot be reused. */
  isLeft = false;
  readonly #request: NodeRequest;

  constructor(request: NodeRequest) {
    this.#request = request;
  }

  /**
   * Reads the body. Null if it exceeds the limit. Rejects if other code read it before, or if the request ended early.
   */
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
      // A paused request must be resumed: a new listener does not do that.
      this.#request.resume();
    });
  }

  #wasRead(): TypeError {
    this.wasReadBefore = true;
    return new TypeError(BODY_WAS_READ);
  }
}
