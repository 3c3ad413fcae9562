/** The caller can correct `url` and `missing`; `unreachable` may pass; `judge`: a worker's judge failed. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "missing" | "unreachable" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
