/** Why there is no queue. In a file that names no package of the queue's: its type is public. */

/**
 * Why a queue is not used, or no more: `url` and `missing` are the caller's to mend, `unreachable` may pass; `judge`: a
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
