/** Inspects policies: the pins of each deployment, and which of the three questions they answer. */
import { type DeploymentPins, parsePolicy } from "../appraise/policy.js";
import { QUESTIONS, scopeOf } from "../appraise/questions.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { attempt } from "../errors.js";
import { AWS_NITRO_ROOT_G1, certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";
import { type Described, type DescribedObject, type Inspected, besideOurs } from "./described.js";
import { shownCertificate } from "./shown.js";

const MAX_DEPLOYMENTS = 1000;
const MAX_TRUST_ANCHORS = 100;

export async function inspectPolicy(json: JsonValue): Promise<Inspected> {
  const { faults } = attempt(() => parsePolicy(json as object, WITHOUT_FILES));
  return { faults, says: isJsonObject(json) ? await describePolicy(json) : (json as Described) };
}

/**
 * Options under which anchor files are not read. The AWS root is used in their place, and only their names are shown.
 */
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

/** Returns the anchor with the described certificate instead of its PEM. */
async function describeAnchor(anchor: JsonValue): Promise<Described> {
  if (!isJsonObject(anchor) || typeof anchor["pem"] !== "string") return anchor as Described;
  const { pem, ...others } = anchor;
  const parsed = attempt(() => parseTrustAnchor("", pem)).value;
  if (parsed === undefined) return anchor as Described;
  return { pem: await shownCertificate(parsed.certificate), ...(others as DescribedObject) };
}

function describeDeployment(deployment: JsonValue): Described {
  const pins = isJsonObject(deployment) ? pinsOf(deployment) : undefined;
  if (pins === undefined) return deployment as Described;
  const { answers, unanswered, reasons } = scopeOf(pins, null);
  const ours = { "(what answers)": { ...answers }, "(what is open)": unanswered, "(what that means)": reasons };
  return { ...besideOurs(ours, deployment as DescribedObject), ...ours };
}

/**
 * Returns the pins of a deployment, even if the rest of the policy is invalid. A deployment that must declare open
 * questions is read as if all were open. Returns undefined for invalid pins.
 */
function pinsOf(deployment: JsonObject): DeploymentPins | undefined {
  const said = (more: JsonObject): DeploymentPins | undefined =>
    attempt(() => parsePolicy({ policy: "bootproof/1", deployments: [{ ...deployment, ...more }] })).value
      ?.deployments[0];
  return said({}) ?? said({ open: [...QUESTIONS] });
}
