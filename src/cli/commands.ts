/** All commands, in the order of the help, each with its heading. */
import { addAuditCommand } from "./audit.js";
import { addBundleCommand } from "./bundle.js";
import { addCompletionCommand } from "./completion.js";
import { addDiffCommand } from "./diff.js";
import { addExplainCommand } from "./explain.js";
import { addFetchCommand } from "./fetch.js";
import { addInspectCommand } from "./inspect.js";
import type { ProcessIo } from "./io.js";
import { addKeygenCommand } from "./keygen.js";
import { addLabCommand } from "./lab.js";
import { addLogCommand } from "./log.js";
import { type CommandRow, run } from "./main.js";
import { addMeasureCommand } from "./measure.js";
import { addPageCommand } from "./page.js";
import { addPinCommand } from "./pin.js";
import { addPolicyCommand } from "./policy.js";
import { addProxyCommand } from "./proxy.js";
import { addReleaseCommand } from "./release.js";
import { addReviewCommand } from "./review.js";
import { addStampCommand } from "./stamp.js";
import { addVerifyCommand } from "./verify.js";
import { addWatchCommand } from "./watch.js";
import { addWorkerCommand } from "./worker.js";

export const COMMANDS: readonly CommandRow[] = [
  ["verify", "evidence", addVerifyCommand],
  ["audit", "evidence", addAuditCommand],
  ["worker", "evidence", addWorkerCommand],
  ["fetch", "evidence", addFetchCommand],
  ["bundle", "evidence", addBundleCommand],
  ["page", "evidence", addPageCommand],
  ["watch", "evidence", addWatchCommand],
  ["log", "evidence", addLogCommand],
  ["pin", "policy", addPinCommand],
  ["policy", "policy", addPolicyCommand],
  ["release", "policy", addReleaseCommand],
  ["review", "policy", addReviewCommand],
  ["measure", "policy", addMeasureCommand],
  ["explain", "explain", addExplainCommand],
  ["inspect", "explain", addInspectCommand],
  ["diff", "explain", addDiffCommand],
  ["completion", "explain", addCompletionCommand],
  ["proxy", "service", addProxyCommand],
  ["lab", "service", addLabCommand],
  ["keygen", "service", addKeygenCommand],
  ["stamp", "service", addStampCommand],
];

/** Runs one command line of any command: see `run`. */
export function runAny(argv: readonly string[], io: ProcessIo): Promise<number> {
  return run(argv, io, COMMANDS);
}
