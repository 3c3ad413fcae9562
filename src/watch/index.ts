/** Watching for new boots, in every JavaScript runtime. `node.ts` needs Node. */
export { watch } from "./watch.js";
export type { Silent, WatchOptions, WatchPoll, WatchStatus, WatchSummary } from "./watch.js";
export type { SettingRefusal, SettingReload, WatchSetting } from "./setting.js";
export { FetchError, askService } from "./outages.js";
export { acknowledgeEntry } from "./recorder.js";
export type { Delivered, Failure, WatchMessage } from "./outages.js";
export { compareCheckpoints, verifyLog } from "./log.js";
export type { CheckpointComparison, LogFile, LogStream, LogVerification } from "./log.js";
export type { LogFault, VerifyLogOptions } from "./chain.js";
export type { LogStep } from "./times.js";
export { CheckpointError, originOf, readCheckpoint, requireLogKey, signCheckpoint } from "./checkpoint.js";
export type { Checkpoint, ReadCheckpointOptions, SignedCheckpoint } from "./checkpoint.js";
export { LogChangedError, LogFullError, memoryStore } from "./store.js";
export type { LogStore, OutageEntry, RefusedSettingEntry, Standing, Undelivered } from "./store.js";
export { postTo } from "./post.js";
export type { PostOptions } from "./post.js";
export { isFinding } from "./entry.js";
export type {
  Acknowledged,
  Continued,
  EventEntry,
  FailedCheck,
  FailureKind,
  Finding,
  FindingEntry,
  Heartbeat,
  Line,
  LogEnd,
  LogEntry,
  LogEvent,
  LogLine,
  OutageBegan,
  OutageEnded,
  PollCount,
  ReloadedPart,
  SettingChanged,
  SettingFault,
  SettingRefused,
  Started,
  Stopped,
  UnrecordedFinding,
  UnrecordedLine,
  Watched,
} from "./entry.js";
