/** What doors, formats and exit codes decide by: a report, the result of an audit, or an entry of a watch's log. */
export interface Judged {
  readonly verdict: string;
  readonly refusedFor?: readonly string[];
}

export function isGoodVerdict(verdict: unknown): boolean {
  return verdict === "verified" || verdict === "authentic";
}

/** Whether `verify` would end with exit code 0. Every door, every format and every exit code decides by this. */
export function isAccepted({ verdict, refusedFor }: Judged): boolean {
  return isGoodVerdict(verdict) && refusedFor === undefined;
}
