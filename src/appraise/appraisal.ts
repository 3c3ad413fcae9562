/** The input and result of appraisal. */
import type { CheckSubject, Checklist } from "../checks.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { Remembered } from "../verify/approved-manifests.js";
import type { SignedBytesResult } from "../verify/signed-bytes.js";
import type { PinName } from "./pins.js";
import type { Question } from "./questions.js";

/** A legacy document without a role. For such a document, fewer pins decide the three questions. */
export interface MatchedDeployment {
  readonly name: string;
  /** The questions that are declared open. */
  readonly open: readonly Question[];
  /** Sentences of `policy.scope` about what is open or weakly pinned, and what an attacker could do. */
  readonly scope: readonly string[];
  /** The PCRs pinned for every accepted image, in order. */
  readonly pcrs: readonly number[];
  /** The pin that decides the manifest for this evidence, or null if none does. */
  readonly manifestPin: ManifestPin | null;
}

/** Pins that decide the manifest if the document does not commit to it, the stronger first. */
export const MANIFEST_PINS = ["manifestHash", "manifestSet"] as const satisfies readonly PinName[];
type ManifestPin = (typeof MANIFEST_PINS)[number];

/** What a deployment says of the signatures of its enclaves. */
interface SignerRules {
  readonly name: string;
  readonly appProofTypes: readonly string[] | null;
  readonly appProofBytes: boolean;
}

/** The comparison of evidence with the deployments. Members are null if it was rejected or none matched. */
export interface AppraisedPiece {
  readonly checklist: Checklist;
  readonly pins: SignerRules | null;
  readonly deployment: MatchedDeployment | null;
}

export interface Appraisal {
  readonly checklists: readonly Checklist[];
  /** The deployment of each boot proof. Null if the boot proof was rejected or matched no deployment. */
  readonly deployments: readonly (MatchedDeployment | null)[];
  /** The app proofs for which `policy.app-proof` fails, each by itself. */
  readonly refused: ReadonlySet<VerifiedAppProof | null>;
  /** The rules about app proofs and activities that were not applied, for example `appProofs.required`. */
  readonly notApplied: readonly string[];
}

/** The limit of the age of boot proofs that counts: the smaller of the policy's and the caller's. */
export interface AgeLimit {
  readonly milliseconds: number;
  readonly from: "policy" | "caller";
}

/** Returns the limit that counts, or null if neither is set. */
export function ageLimit(ofPolicy: number | null, ofCaller: number | null): AgeLimit | null {
  if (ofCaller !== null && ofCaller < (ofPolicy ?? Infinity)) return { milliseconds: ofCaller, from: "caller" };
  return ofPolicy === null ? null : { milliseconds: ofPolicy, from: "policy" };
}

export interface AppraisalSetting {
  readonly now: Date;
  /** The caller's limit of the age of boot proofs, in milliseconds. Null means that the caller sets none. */
  readonly maxAgeMs: number | null;
  /** The activity's or request's organization, whose decision the policy demands. Null means any organization. */
  readonly organizationId: string | null;
  /**
   * A phrase such as `boot proofs were` if only such evidence was requested, otherwise null. Rules about app proofs are
   * then not applied.
   */
  readonly onlyAsked: string | null;
  readonly hasActivity: boolean;
  /** What an unfinished activity waits for, as a phrase. It has no app proofs yet. Null for any other evidence. */
  readonly unfinished: string | null;
  /** The caller's name of each piece of evidence, null or absent if the caller gave none. */
  readonly names: ReadonlyMap<CheckSubject, string | null>;
  /** Signed bytes of the first boot proof, with null if they were rejected. Absent if there are none. */
  readonly signedBytes?: SignedBytesResult | undefined;
  /** Cache of comparisons of boot proofs. Default: no cache. */
  readonly appraised?: Remembered<AppraisedPiece> | undefined;
}
