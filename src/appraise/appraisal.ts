/** What appraisal takes and what it answers. */
import type { CheckSubject, Checklist } from "../checks.js";
import type { PinName } from "./pins.js";
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
  /** The pin that says which manifest it is, or who approves it, as far as that counts for this evidence. */
  readonly manifestPin: ManifestPin | null;
}

/** Pins that a manifest rests on where the document does not commit to it, the stronger first. */
export const MANIFEST_PINS = ["manifestHash", "manifestSet"] as const satisfies readonly PinName[];
type ManifestPin = (typeof MANIFEST_PINS)[number];

export interface Appraisal {
  readonly checklists: readonly Checklist[];
  /** One for each boot proof; null where it matches none, or was rejected before. */
  readonly deployments: readonly (MatchedDeployment | null)[];
  /** The rules about app proofs and activities that were not applied, such as `appProofs.required`. */
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
  /** An activity was given, to which the rule about coverage is applied. */
  readonly hasActivity: boolean;
  /** The caller's names of the pieces; null, or not there, where it has none. */
  readonly names: ReadonlyMap<CheckSubject, string | null>;
}
