/** Exports of `bootproof/audit`, for any JavaScript platform. */
export { Auditor } from "./auditor.js";
export type { Batch, Judge, JudgedBatch } from "./batch.js";
export { judgeBatch, localJudge } from "./judge.js";
export { isAccepted } from "../report/accepted.js";
export { resultLine } from "./result.js";
export type { AuditResult, EntryResult } from "./result.js";
export { NO_ENTRIES, runAudit } from "./run.js";
export type { AuditEnd, AuditRun, AuditSummary, AuditedPart, Slowest } from "./run.js";
export { auditSetting, policyDigest, settingDigest } from "./setting.js";
export type { PlainPolicy } from "../plain-settings.js";
export type { AuditOptions, AuditSetting } from "./setting.js";
