/**
 * The caller can correct `url`, `prefix`, `tls`, `missing`, and `eviction`, a server that may drop jobs. `unreachable`
 * may pass. `lost`: the server dropped a job three times. `judge`: a judge failed.
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "prefix" | "tls" | "missing" | "eviction" | "unreachable" | "lost" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
