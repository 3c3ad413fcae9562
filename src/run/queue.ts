/** Exports of `bootproof/run/queue`: other machines judge the entries, by way of Redis. */
export { queueJudge } from "./node-queue.js";
export { QueueError } from "./queue-options.js";
export type { QueuePlaceOptions } from "./queue-options.js";
export { runWorker } from "./node-worker.js";
export type { RunWorkerOptions } from "./node-worker.js";
