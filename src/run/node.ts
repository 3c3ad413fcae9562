/** Exports of `bootproof/audit/node`: threads, files, and a state that survives a kill. */
export { ExpectedEntries } from "./node-expected.js";
export type { UnmetExpectation } from "./node-expected.js";
export { AuditInputError, inputBytes } from "./node-inputs.js";
export { inputBatches } from "./node-source.js";
export type { AuditPosition, InputBatch, InputOptions } from "./node-source.js";
export { AuditFileError } from "./node-results.js";
export { auditFiles } from "./node-run.js";
export type { AuditFilesEnd, AuditFilesOptions, AuditFilesProgress, BegunSegment } from "./node-run.js";
export { threadJudge } from "./node-threads.js";
export type { ThreadOptions } from "./node-threads.js";
