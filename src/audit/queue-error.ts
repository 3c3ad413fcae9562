/** The caller can correct `url`, `prefix`, `tls` and `missing`; `unreachable` may pass; `judge`: a judge failed. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "prefix" | "tls" | "missing" | "unreachable" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
