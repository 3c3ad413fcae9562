/** What a policy is worth, before any evidence: what answers the three questions, and what is left open. */
import { type Fault, MalformedError } from "../errors.js";
import { type TrustAnchor, isAwsNitroRoot } from "../verify/trust-anchor.js";
import { type AppProofRules, type DeploymentPins, ParsedPolicy, type Policy } from "./parsed-policy.js";
import { type DeploymentKind, PIN_NAMES, type PinName, commonPcrs } from "./pins.js";
import { type ParsePolicyOptions, parsePolicy } from "./policy.js";
import { type Answers, type Question, scopeOf } from "./questions.js";

/** Data only; durations in milliseconds, as in {@link Policy}. */
export interface PolicyDescription {
  readonly name: string | null;
  readonly trustAnchors: readonly DescribedAnchor[];
  /** Null: evidence of any age passes. */
  readonly maxAge: number | null;
  readonly appProofs: AppProofRules;
  readonly allowDebug: boolean;
  /** Sentences of what is weak in the policy as a whole. */
  readonly warnings: readonly string[];
  readonly deployments: readonly DescribedDeployment[];
}

export interface DescribedAnchor {
  readonly name: string;
  /** Otherwise whoever holds its key makes evidence that passes. */
  readonly awsNitroRoot: boolean;
  /** RFC 3339: nobody's clock was asked. */
  readonly notAfter: string;
}

export interface DescribedDeployment {
  readonly name: string;
  readonly kind: DeploymentKind;
  /** The pins that answer each question; empty where none does. */
  readonly answers: Answers;
  /** What it says that it leaves open. */
  readonly open: readonly Question[];
  /** What `policy.scope` will warn of, a sentence each: what is open or answered weakly, and what an attacker does. */
  readonly reasons: readonly string[];
  /** Everything that is compared, in the order of reports. */
  readonly pinned: readonly PinName[];
  /** The PCRs that every accepted image is pinned by. */
  readonly pcrs: readonly number[];
  /** The types of app proof that its enclaves may sign; null: any that the policy allows. */
  readonly appProofTypes: readonly string[] | null;
}

/**
 * What a policy pins, what each of its deployments answers, and what it leaves open, with what an attacker makes of
 * that: what a reviewer reads before the policy is relied on. Throws TypeError for anything but a policy as
 * `parsePolicy` answers it.
 */
export function describePolicy(policy: Policy): PolicyDescription {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: a policy as parsePolicy answers it wanted");
  const { name, trustAnchors, maxAge, appProofs, allowDebug, deployments } = policy;
  return {
    name,
    trustAnchors: trustAnchors.map(describeAnchor),
    maxAge,
    appProofs,
    allowDebug,
    warnings: [
      ...trustAnchors
        .filter((anchor) => !isAwsNitroRoot(anchor))
        .map((anchor) => `trusts ${anchor.name}, which is not the AWS Nitro root: ${ANCHOR_ATTACK}`),
      ...(allowDebug ? ["allows debug mode: nothing is proven about the code of an enclave that runs in it"] : []),
    ],
    deployments: deployments.map(describeDeployment),
  };
}

const ANCHOR_ATTACK = "whoever holds its key makes evidence that passes for every deployment here";

function describeAnchor(anchor: TrustAnchor): DescribedAnchor {
  return {
    name: anchor.name,
    awsNitroRoot: isAwsNitroRoot(anchor),
    notAfter: anchor.certificate.notAfter.toISOString(),
  };
}

function describeDeployment(deployment: DeploymentPins): DescribedDeployment {
  const { answers, open, reasons } = scopeOf(deployment, null);
  const { name, kind, appProofTypes } = deployment;
  return {
    name,
    kind,
    answers,
    open,
    reasons,
    pinned: PIN_NAMES.filter((pin) => deployment[pin] !== undefined),
    pcrs: commonPcrs(deployment),
    appProofTypes,
  };
}

/** What became of a policy file, as data. */
export interface PolicyCheck extends Partial<Omit<PolicyDescription, "deployments">> {
  readonly format: "bootproof-policy-check/1";
  /** Empty where it is well-formed; the first hundred otherwise, and no more than `deployments` beside them. */
  readonly faults: readonly Fault[];
  readonly deployments: readonly DescribedDeployment[];
}

/**
 * Reads a policy as `parsePolicy` does, and answers its faults, or what it pins and leaves open ({@link
 * describePolicy}). Never throws for what is wrong with the policy.
 */
export function checkPolicy(input: string | Uint8Array | object, options: ParsePolicyOptions = {}): PolicyCheck {
  const format = "bootproof-policy-check/1";
  try {
    return { format, faults: [], ...describePolicy(parsePolicy(input, options)) };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const what = error.code === "json" ? "not strict JSON: " : "";
    return {
      format,
      faults: error.faults.map(({ path, message }) => ({ path, message: what + message })),
      deployments: [],
    };
  }
}
