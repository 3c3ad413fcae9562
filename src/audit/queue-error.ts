/** The errors of a queue. The type is public, so this file imports none of the queue's packages. */

/**
 * Why a queue cannot be used: the caller can correct `url` and `missing`, `unreachable` may pass, and `judge` is a
 * worker whose judge failed.
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "missing" | "unreachable" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
