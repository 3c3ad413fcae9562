/** What a policy pins, compared with unverified evidence by the comparison of the appraisal. */
import { type ComparedDeployment, compareDeployments, nearestOf } from "../appraise/appraise.js";
import type { DocumentFacts } from "../appraise/facts.js";
import { PIN_WRITERS, WRITTEN_PCRS } from "../appraise/pin-writers.js";
import { type PinAnswer, PINS, PIN_NAMES, commonPcrs, isZeroPcr } from "../appraise/pins.js";
import type { Policy } from "../appraise/policy.js";
import { withoutPrototype } from "../decode/input.js";

export interface PinDifference {
  readonly pin: string;
  readonly holds: boolean;
  /** A phrase for people. */
  readonly detail: string;
  /** The pinned value. Null if the pin is met, or if the evidence has no value to compare. */
  readonly expected: string | null;
  readonly found: string | null;
}

/** The deployment that differs least from the evidence. */
interface NearestDeployment {
  readonly name: string;
  /** Whether every pin that can be compared is met, and the pins decide what the policy says that they do. */
  readonly holds: boolean;
  readonly pins: readonly PinDifference[];
  /** Reasons for which the pins do not decide what the policy says that they do. */
  readonly scope: readonly string[];
  /** Pins that the deployment does not have, so that any value passes. */
  readonly notPinned: readonly string[];
  /** Pins that nothing in the evidence can be compared with. */
  readonly notCompared: readonly string[];
}

/** Of a policy and evidence: which pins hold, and which do not. */
export interface PinsDifference {
  /** Null if no deployment is for evidence of this kind. */
  readonly nearest: NearestDeployment | null;
  /** The other deployments for evidence of this kind, and the names of the pins that differ. */
  readonly others: readonly { readonly name: string; readonly differing: readonly string[] }[];
}

export function pinsDifference(policy: Policy, facts: DocumentFacts): PinsDifference {
  const compared = compareDeployments(policy, facts);
  if (compared.length === 0) return { nearest: null, others: [] };
  const nearest = nearestOf(compared);
  const others = compared.filter((one) => one !== nearest);
  return {
    nearest: nearestDeployment(nearest, facts),
    others: others.map(({ pins: { name }, answers }) => {
      return { name, differing: [...answers].filter(([, { met }]) => !met).map(([pin]) => pin) };
    }),
  };
}

/** Returns an answer as plain data. The pinned value is null if the pin is met, or if there is none to compare. */
export function shownAnswer({ met, explain }: PinAnswer): Omit<PinDifference, "pin" | "found"> & {
  readonly actual: string | null;
} {
  const { detail, compared = {} } = explain();
  const { expected = null, actual = null } = withoutPrototype(compared);
  return { holds: met, detail, expected, actual };
}

function nearestDeployment(compared: ComparedDeployment, facts: DocumentFacts): NearestDeployment {
  const { pins, answers, scope, differing } = compared;
  return {
    name: pins.name,
    holds: differing.length === 0,
    pins: [...answers].map(([pin, answer]) => {
      const { actual: found, ...others } = shownAnswer(answer);
      return { pin, ...others, found };
    }),
    scope: [...scope.faults],
    notPinned: notPinned(compared, facts),
    notCompared: PIN_NAMES.filter((name) => pins[name] !== undefined && !answers.has(name)),
  };
}

/** Returns the pins that the deployment could have, and the PCRs that it does not name for every image. */
function notPinned({ pins }: ComparedDeployment, facts: DocumentFacts): string[] {
  const { bootProof, pcrs } = facts;
  const names = PIN_NAMES.filter((name) => {
    const write = PIN_WRITERS[name];
    const isThere = bootProof === null || write === null || write(bootProof, facts) !== undefined;
    return pins[name] === undefined && isThere && PINS[name].kinds.includes(pins.kind);
  });
  const common = commonPcrs(pins);
  const others = WRITTEN_PCRS.filter((index) => !isZeroPcr(pcrs.get(index)) && !common.includes(index));
  return [...names, ...(pins.pcrs === undefined ? [] : others.map((index) => `pcrs.${index}`))];
}
