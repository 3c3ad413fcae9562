/** What the command's exit code says (cli/README.md, "Exit codes"). A public contract. */
import type { Verdict } from "../report/report.js";

export const EXIT = {
  /** `verified`; or `authentic`, which only `--no-policy` gives. Also help, and whatever else went as asked. */
  good: 0,
  /** The evidence was read, and it is not good. */
  rejected: 1,
  /** Of `diff`: the two are not the same. Of `measure`: no deployment of the policy pins what was measured. */
  different: 1,
  /** The command, an input file or the policy is at fault: nothing was judged. */
  usage: 2,
  /** The evidence could not be fetched. */
  unreachable: 3,
} as const;

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOf(verdict: Verdict): ExitCode {
  return verdict === "rejected" ? EXIT.rejected : EXIT.good;
}
