/** Policies: what each deployment pins, and which of the three questions that answers. */
import { type DeploymentPins, parsePolicy } from "../appraise/policy.js";
import { QUESTIONS, scopeOf } from "../appraise/questions.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { attempt } from "../errors.js";
import { AWS_NITRO_ROOT_G1, certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";
import { describeCertificate } from "./certificates.js";
import { type Described, type DescribedObject, type Inspected, faultList, besideOurs } from "./described.js";

/** As many as a policy may have. */
const MAX_DEPLOYMENTS = 1000;
const MAX_TRUST_ANCHORS = 100;

export async function inspectPolicy(json: JsonValue): Promise<Inspected> {
  const faults = faultList(attempt(() => parsePolicy(json as object, WITHOUT_FILES)).faults);
  const says = isJsonObject(json) ? await describePolicy(json) : (json as Described);
  return { kind: "policy", encoding: "JSON", faults, says };
}

/** Trust anchors that are files are told by their names: reading them is not looking at this file. */
const WITHOUT_FILES = { readFile: () => certificatePem(AWS_NITRO_ROOT_G1.certificate.der) };

async function describePolicy(policy: JsonObject): Promise<DescribedObject> {
  const { trustAnchors, deployments } = policy;
  const anchors = Array.isArray(trustAnchors) && trustAnchors.length <= MAX_TRUST_ANCHORS ? trustAnchors : [];
  const described = await Promise.all(anchors.map(describeAnchor));
  return {
    ...(policy as DescribedObject),
    ...(described.length > 0 && { trustAnchors: described }),
    ...(Array.isArray(deployments) && {
      deployments: deployments.map((one, index) =>
        index < MAX_DEPLOYMENTS ? describeDeployment(one) : one,
      ) as Described[],
    }),
  };
}

/** The certificate of a PEM in its place. */
async function describeAnchor(anchor: JsonValue): Promise<Described> {
  if (!isJsonObject(anchor) || typeof anchor["pem"] !== "string") return anchor as Described;
  const { pem, ...others } = anchor;
  const parsed = attempt(() => parseTrustAnchor("", pem)).value;
  if (parsed === undefined) return anchor as Described;
  return { pem: await describeCertificate(parsed.certificate), ...(others as DescribedObject) };
}

function describeDeployment(deployment: JsonValue): Described {
  const pins = isJsonObject(deployment) ? pinsOf(deployment) : undefined;
  if (pins === undefined) return deployment as Described;
  const { answers, unanswered, reasons } = scopeOf(pins, null);
  const ours = { "(what answers)": { ...answers }, "(what is open)": unanswered, "(what that means)": reasons };
  return { ...besideOurs(ours, deployment as DescribedObject), ...ours };
}

/**
 * The pins of a deployment that can be read alone, whatever is wrong with the rest of the policy; one that leaves a
 * question open and does not say so is read as if it did. Undefined where its pins cannot be read.
 */
function pinsOf(deployment: JsonObject): DeploymentPins | undefined {
  const said = (more: JsonObject): DeploymentPins | undefined =>
    attempt(() => parsePolicy({ policy: "bootproof/1", deployments: [{ ...deployment, ...more }] })).value
      ?.deployments[0];
  return said({}) ?? said({ open: [...QUESTIONS] });
}
