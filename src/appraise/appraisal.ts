/** The input and result of appraisal. */
import type { CheckSubject, Checklist } from "../checks.js";
import type { Remembered } from "../verify/approved-manifests.js";
import type { PinName } from "./pins.js";
import type { Question } from "./questions.js";

/** The deployment that evidence matched. */
export interface MatchedDeployment {
  readonly name: string;
  /** The questions that are declared open. */
  readonly open: readonly Question[];
  /** Sentences of `policy.scope` about what is open or weakly pinned, and what an attacker could do. */
  readonly scope: readonly string[];
  /** The PCRs pinned for every accepted image, in order. */
  readonly pcrs: readonly number[];
  /** The pin of the manifest or of its approvers, if it counts for this evidence. */
  readonly manifestPin: ManifestPin | null;
}

/** Pins that decide the manifest if the document does not commit to it, the stronger first. */
export const MANIFEST_PINS = ["manifestHash", "manifestSet"] as const satisfies readonly PinName[];
type ManifestPin = (typeof MANIFEST_PINS)[number];

/** The comparison of evidence with the deployments. Null members mean that it was rejected or matched none. */
export interface AppraisedPiece {
  readonly checklist: Checklist;
  readonly pins: { readonly name: string; readonly appProofTypes: readonly string[] | null } | null;
  readonly deployment: MatchedDeployment | null;
}

export interface Appraisal {
  readonly checklists: readonly Checklist[];
  /** The deployment of each boot proof, or null if it matched none or was rejected before. */
  readonly deployments: readonly (MatchedDeployment | null)[];
  /** The rules about app proofs and activities that were not applied, for example `appProofs.required`. */
  readonly notApplied: readonly string[];
}

export interface AppraisalSetting {
  readonly now: Date;
  /** The activity's or request's organization, whose decision the policy demands. Null means any. */
  readonly organizationId: string | null;
  /** A phrase such as `boot proofs were` if only that part was requested. Rules about app proofs do not apply then. */
  readonly onlyAsked: string | null;
  readonly hasActivity: boolean;
  /** The caller's names of the evidence, null or absent where there is none. */
  readonly names: ReadonlyMap<CheckSubject, string | null>;
  /** Comparisons of earlier boot proofs. Default: none. */
  readonly appraised?: Remembered<AppraisedPiece> | undefined;
}
