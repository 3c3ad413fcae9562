/** Description of a policy without evidence: the pins that decide the three questions, and what is left open. */
import { type Fault, MalformedError } from "../errors.js";
import { type TrustAnchor, isAwsNitroRoot } from "../verify/trust-anchor.js";
import { type DeploymentPins, ParsedPolicy, type Policy } from "./parsed-policy.js";
import { PIN_NAMES, type PinName, commonPcrs } from "./pins.js";
import { type ParsePolicyOptions, parsePolicy } from "./policy.js";
import { type Answers, scopeOf } from "./questions.js";

/** A policy's description as plain data. Durations are in milliseconds, as in {@link Policy}. */
export interface PolicyDescription extends Pick<Policy, "name" | "maxAge" | "appProofs" | "allowDebug"> {
  readonly trustAnchors: readonly DescribedAnchor[];
  /** Sentences on weaknesses of the policy as a whole. */
  readonly warnings: readonly string[];
  /** Sentences on what the policy does not limit. */
  readonly notes: readonly string[];
  readonly deployments: readonly DescribedDeployment[];
}

interface DescribedAnchor {
  readonly name: string;
  /** Whether it is AWS's root. If not, the holder of this root's key can make evidence that passes. */
  readonly awsNitroRoot: boolean;
  /** End of the certificate's validity in RFC 3339. It was not compared with the current time. */
  readonly notAfter: string;
}

export interface DescribedDeployment extends Pick<
  DeploymentPins,
  "name" | "kind" | "open" | "appProofTypes" | "appProofBytes"
> {
  /** The pins that decide each question. The list is empty if none does. */
  readonly answers: Answers;
  /** Warnings of `policy.scope` as sentences: what is open or weakly pinned, and what an attacker can do. */
  readonly reasons: readonly string[];
  readonly pinned: readonly PinName[];
  /** The PCRs pinned for every accepted image. */
  readonly pcrs: readonly number[];
}

/**
 * Describes for a reviewer what a policy pins, which questions its deployments leave open, and what an attacker can do
 * with each. Throws TypeError for anything but a policy from `parsePolicy`.
 */
export function describePolicy(policy: Policy): PolicyDescription {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: expected a policy from parsePolicy");
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
    notes: maxAge === null ? [NO_MAX_AGE] : [],
    deployments: deployments.map(describeDeployment),
  };
}

const NO_MAX_AGE =
  "there is no maxAge, so an enclave passes however long ago it started; a maxAge limits how long it may run";
const ANCHOR_ATTACK = "anyone who holds its key can make evidence that passes for every deployment";

function describeAnchor(anchor: TrustAnchor): DescribedAnchor {
  return {
    name: anchor.name,
    awsNitroRoot: isAwsNitroRoot(anchor),
    notAfter: anchor.certificate.notAfter.toISOString(),
  };
}

function describeDeployment(deployment: DeploymentPins): DescribedDeployment {
  const { answers, open, reasons } = scopeOf(deployment, null);
  const { name, kind, appProofTypes, appProofBytes } = deployment;
  return {
    name,
    kind,
    answers,
    open,
    reasons,
    pinned: PIN_NAMES.filter((pin) => deployment[pin] !== undefined),
    pcrs: commonPcrs(deployment),
    appProofTypes,
    appProofBytes,
  };
}

export interface PolicyCheck extends Partial<Omit<PolicyDescription, "deployments">> {
  readonly format: "bootproof-policy-check/1";
  /** The first 100 faults. If there are any, `deployments` is the only other member of the description. */
  readonly faults: readonly Fault[];
  readonly deployments: readonly DescribedDeployment[];
}

/**
 * Reads a policy as `parsePolicy` does. Returns its faults or the result of {@link describePolicy}, and never throws
 * for faults.
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
