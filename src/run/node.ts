/** Exports of `bootproof/run/node`: threads and files. */
export { auditFiles } from "./node-audit.js";
export type { AuditEnd, AuditFilesOptions } from "./node-audit.js";
export { ExpectedEntries } from "./node-expected.js";
export { RunFile, RunFileError, runStreams } from "./node-file.js";
export type { RunFileOptions } from "./node-file.js";
export { RunInputError, inputBytes } from "./node-inputs.js";
export { threadJudge } from "./node-threads.js";
export type { ThreadOptions } from "./node-threads.js";
export { SYSTEM, openLog } from "./node-watch.js";
export { runCommand } from "./node-command.js";
export { startHealth } from "./node-health.js";
export type { Health, HealthOptions } from "./node-health.js";
export { MetricsMissingError } from "./node-server.js";
export type { HealthState } from "./health.js";
