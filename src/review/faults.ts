/** What fails a review, by a stable code, and what to do about it (review/README.md, "What fails"). */
import { withoutPrototype } from "../decode/input.js";

/** The advice by the code of a fault. */
const ADVICE = {
  pin: "Do not approve it, or correct the policy if the policy is out of date.",
  "no-deployment": "Pin the deployment that this manifest is meant for, or do not approve the manifest.",
  "several-deployments": "Review it under a policy with one of these deployments, or pin what tells them apart.",
  image: "Find out which image the manifest names: it is not the one that was given.",
  "image-not-compared": "Give PCR0, 1 and 2 of the image, and PCR3 of the role: a manifest has no others.",
  binary: "Find out which program the manifest names: it is not the one that was given.",
  "binary-not-compared": "Leave the binary out: workloads are container images, which the policy pins by digest.",
  "approval-invalid": "Do not count the approval: its signer approved something else, or it was damaged.",
  "approval-repeated": "Count the approval once, and find out who added the second one.",
  "approval-stranger": "Find out who signed it: only members of the set count, by alias and key.",
  set: "Correct the set in the manifest: every verifier refuses it as it is.",
  "debug-mode": "Set debugMode to false: the application's output can be read outside the enclave.",
  "zero-pcr": "Name the measurement: zeros match every debug enclave, or every enclave without a role.",
  "pcr-length": "Correct the measurement: a PCR has 48 bytes.",
  "aws-root": "Name the root that the policy trusts: the enclave would trust documents of another authority.",
  "previous-namespace": "Give the manifest that this one replaces: each namespace has its own history.",
  "previous-quorum-key": "Find out why the key changes: the enclave could not read what it stored before.",
  "previous-nonce": "Raise the nonce: a manifest replaces only those with a lower one.",
  service: "Ask the service: an approval signs the manifest, and not what is said of it.",
  "open-member": "Read both values. If the new one is right, pin it, or name it with --accept (accept in code).",
  "unused-accept": "Omit the name: no such member is open, and a later value would be accepted unread.",
};

/** Codes of faults. They are stable. */
export type ReviewFaultCode = keyof typeof ADVICE;

export interface ReviewFault {
  readonly code: ReviewFaultCode;
  /** The member of the manifest, the pin, or the alias of the approval. It is empty if the fault is about the whole. */
  readonly about: string;
  /** The deployment that has the pin. Null for any other fault. */
  readonly deployment: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
  /** A sentence for people. */
  readonly message: string;
  readonly advice: string;
}

type Facts = Partial<Pick<ReviewFault, "deployment" | "expected" | "actual">>;

/** What a review finds, in the order in which it looks. */
export class Findings {
  readonly faults: ReviewFault[] = [];
  readonly notes: string[] = [];

  fault(code: ReviewFaultCode, about: string, message: string, facts: Facts = {}): void {
    const { deployment = null, expected = null, actual = null } = withoutPrototype(facts);
    this.faults.push({ code, about, deployment, expected, actual, message, advice: ADVICE[code] });
  }

  compare(code: ReviewFaultCode, about: string, message: string, [expected, actual]: readonly [string, string]): void {
    if (expected !== actual) this.fault(code, about, message, { expected, actual });
  }
}
