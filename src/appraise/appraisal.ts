/** What appraisal takes and what it answers. */
import type { CheckSubject, Checklist } from "../checks.js";
import type { Question } from "./questions.js";

/** The pinned deployment that a piece of evidence is. */
export interface MatchedDeployment {
  readonly name: string;
  /** What the policy says that it leaves open. */
  readonly open: readonly Question[];
  /** Sentences of `policy.scope`: what is open or answered weakly, and what an attacker could do. */
  readonly scope: readonly string[];
  /** The PCRs that every image which it accepts is pinned by, in order. */
  readonly pcrs: readonly number[];
}

export interface Appraisal {
  readonly checklists: readonly Checklist[];
  /** One for each boot proof; null where it matches none, or was rejected before. */
  readonly deployments: readonly (MatchedDeployment | null)[];
  /** The rules about app proofs that were not applied, such as `appProofs.required`. */
  readonly notApplied: readonly string[];
}

/** What appraisal takes from its caller beside evidence and policy. */
export interface AppraisalSetting {
  /** The present, for ages. */
  readonly now: Date;
  /** Whose decision a policy demands: the activity's organization, or the one that was asked for; null: anybody's. */
  readonly organizationId: string | null;
  /** What alone was asked for, as in `boot proofs were`: the rules about app proofs are not applied. Null: all. */
  readonly onlyAsked: string | null;
  /** The caller's names of the pieces; null, or not there, where it has none. */
  readonly names: ReadonlyMap<CheckSubject, string | null>;
}
