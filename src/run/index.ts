/** Exports of `bootproof/run`, for any JavaScript platform. */
export { Auditor } from "./auditor.js";
export type { Batch, Judge, JudgedBatch } from "./judge.js";
export { judgeBatch, localJudge } from "./judge.js";
export { isAccepted } from "../report/accepted.js";
export type { EntryResult } from "./result.js";
export type { AuditSummary } from "./summary.js";
export { auditSetting, policyDigest, settingDigest } from "./setting.js";
export type { PlainPolicy } from "../plain-settings.js";
export type { AuditOptions, AuditSetting } from "./setting.js";
export { verifyRun } from "./chain.js";
export type { RunFault, RunStep, RunStream, RunVerification, VerifyRunOptions } from "./chain.js";
export { isResult, readLine } from "./line.js";
export type {
  AuditResult,
  EntryPlace,
  FailedCheck,
  FailureKind,
  PollCount,
  ReloadedPart,
  RunContent,
  RunEnd,
  RunEntry,
  RunEvent,
  RunEvents,
  RunLine,
  SettingFault,
  WatchResult,
  Watched,
} from "./line.js";
export { CheckpointError, originOf, readCheckpoint, requireLogKey, signCheckpoint, vkeyOf } from "./checkpoint.js";
export type { Checkpoint, ReadCheckpointOptions, SignedCheckpoint } from "./checkpoint.js";
export { watch } from "./watch.js";
export type { Silent, WatchOptions, WatchSummary } from "./watch.js";
export type { WatchPoll, WatchStatus } from "./health.js";
export { RunLog } from "./log.js";
export type { Announced, RunStore, Standing } from "./log.js";
export type { Deliver } from "./announce.js";
export type { SettingRefusal, SettingReload, WatchSetting } from "./reload.js";
export { FetchError, askService } from "./outages.js";
export type { Failure, WatchMessage } from "./outages.js";
export { postTo } from "./post.js";
export type { PostOptions } from "./post.js";
