/**
 * An error of a queue. The caller can correct `url`, `prefix`, `tls`, `missing`, and `eviction` (the server may drop
 * jobs). `unreachable` may pass. `lost` means that the server dropped a job three times, and `judge` that a judge
 * failed.
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "prefix" | "tls" | "missing" | "eviction" | "unreachable" | "lost" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
