/** Exports of `bootproof/run/node`: threads and files. */
export { auditFiles } from "./node-audit.js";
export type { AuditEnd, AuditFilesOptions, AuditProgress } from "./node-audit.js";
export { ExpectedEntries } from "./node-expected.js";
export type { UnmetExpectation } from "./node-expected.js";
export { RunFile, RunFileError, runStreams } from "./node-file.js";
export type { CheckpointOptions, RunFileOptions } from "./node-file.js";
export { RunInputError, inputBytes } from "./node-inputs.js";
export { inputBatches } from "./node-source.js";
export type { InputBatch, InputOptions } from "./node-source.js";
export { threadJudge } from "./node-threads.js";
export type { ThreadOptions } from "./node-threads.js";
