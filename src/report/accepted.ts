/** The members that decide acceptance. Reports, results of an audit and entries of a watch's log have them. */
export interface Judged {
  readonly verdict: string;
  readonly refusedFor?: readonly string[];
}

export function isGoodVerdict(verdict: unknown): boolean {
  return verdict === "verified" || verdict === "authentic";
}

/** Whether `verify` would end with exit code 0. All programs, formats and exit codes use this function. */
export function isAccepted({ verdict, refusedFor }: Judged): boolean {
  return isGoodVerdict(verdict) && refusedFor === undefined;
}
