/** The exit codes. They are a public contract (cli/README.md, "Exit codes"). */
import { type Judged, isAccepted } from "../report/accepted.js";

export const EXIT = {
  /**
   * `verified`, or `authentic` with `--no-policy` only. Also the code of help, and of every success of other commands.
   */
  good: 0,
  /** The evidence was read, and is rejected or refused. */
  rejected: 1,
  /** For `diff`, the files differ. For `measure`, no deployment of the policy pins what was measured. */
  different: 1,
  /** The command, an input file or the policy is at fault: nothing was verified. */
  usage: 2,
  unreachable: 3,
} as const;

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOf(judged: Judged): ExitCode {
  return isAccepted(judged) ? EXIT.good : EXIT.rejected;
}
