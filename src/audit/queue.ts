/** Exports of `bootproof/audit/queue`: entries are judged on other machines, by way of Redis. */
export { queueJudge } from "./node-queue.js";
export type { QueueJudgeOptions } from "./node-queue.js";
export type { QueuePlaceOptions } from "./node-queue-member.js";
export { QueueError } from "./queue-error.js";
export { runWorker } from "./node-worker.js";
export type { QueueContact, QueueTls } from "./node-queue-url.js";
export type { RunWorkerOptions, WorkerProgress, WorkerSummary } from "./node-worker.js";
