/**
 * Comparison of a policy's pins with one manifest, as far as a manifest shows them (review/README.md, "Which
 * deployment").
 */
import type { DeploymentPins, Policy } from "../appraise/parsed-policy.js";
import type { DocumentFacts } from "../appraise/facts.js";
import { PIN_NAMES, type PinName, comparePin } from "../appraise/pins.js";
import { withoutPrototype } from "../decode/input.js";
import { shownAnswer } from "../diff/pins.js";

/** For each pin, whether a manifest shows the pinned value. A pin without a line here is a type error. */
const OF_MANIFESTS: Readonly<Record<PinName, boolean>> = {
  pcrs: true,
  manifestHash: true,
  pivotHash: true,
  workloads: true,
  pivotArgs: true,
  pivotEnv: true,
  namespace: true,
  minNonce: true,
  quorumKey: true,
  manifestSet: true,
  shareSet: true,
  userData: false,
  publicKey: false,
  commitment: false,
  labels: false,
  provenance: false,
};

/** One pin of a deployment, compared with the manifest. */
interface ReviewedPin {
  readonly pin: string;
  readonly holds: boolean;
  /** A phrase for people. */
  readonly detail: string;
  /** The pinned value. Null if the pin is met, or if the manifest has no value to compare. */
  readonly expected: string | null;
  readonly actual: string | null;
}

export interface ReviewedDeployment {
  readonly name: string;
  /** Whether every pin that can be compared with a manifest is met. */
  readonly holds: boolean;
  readonly pins: readonly ReviewedPin[];
  /** Pins of values that no manifest shows, such as `commitment` and `pcrs.4`. Only a boot proof shows them. */
  readonly notCompared: readonly string[];
}

/** A deployment of the policy, with the result of its comparison. */
export interface Candidate {
  readonly pins: DeploymentPins;
  readonly reviewed: ReviewedDeployment;
}

/** Returns the deployments of kind `qos`. The other kind is for bare documents, which have no manifest. */
export function candidatesOf({ deployments }: Policy, facts: DocumentFacts): Candidate[] {
  return deployments
    .filter(({ kind }) => kind === "qos")
    .map((pins) => ({ pins, reviewed: reviewDeployment(pins, facts) }));
}

function reviewDeployment(pins: DeploymentPins, facts: DocumentFacts): ReviewedDeployment {
  const { pcrs = [], ...others } = pins;
  // An alternative without a PCR that the manifest or the image shows is left out: it would match every manifest.
  const known = pcrs
    .map((image) => image.filter(({ index }) => facts.pcrs.has(index)))
    .filter((image) => image.length > 0);
  const unknown = pcrs.flat().filter(({ index }) => !facts.pcrs.has(index));
  const comparable = withoutPrototype<DeploymentPins>(known.length === 0 ? others : { ...others, pcrs: known });
  const reviewed = PIN_NAMES.filter((name) => OF_MANIFESTS[name]).flatMap((pin) => {
    const answer = comparePin(pin, comparable, facts);
    return answer === null ? [] : [{ pin, ...shownAnswer(answer) }];
  });
  const unseen = PIN_NAMES.filter((name) => !OF_MANIFESTS[name] && pins[name] !== undefined);
  return {
    name: pins.name,
    holds: reviewed.every(({ holds }) => holds),
    pins: reviewed,
    notCompared: [...new Set(unknown.map(({ index }) => `pcrs.${index}`)), ...unseen],
  };
}
