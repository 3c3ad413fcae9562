/** Exit codes (cli/README.md, "Exit codes"). A public contract. */
import { type Judged, isAccepted } from "../report/accepted.js";

export const EXIT = {
  /** `verified`; or `authentic`, with `--no-policy` only. Also help, and any other success. */
  good: 0,
  /** The evidence was read, and is rejected or refused. */
  rejected: 1,
  /** `diff`: the files differ. `measure`: no deployment of the policy pins what was measured. */
  different: 1,
  /** The command, an input file or the policy is at fault: nothing was verified. */
  usage: 2,
  unreachable: 3,
} as const;

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOf(judged: Judged): ExitCode {
  return isAccepted(judged) ? EXIT.good : EXIT.rejected;
}
